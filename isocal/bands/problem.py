"""What every band is asked, what it answers, and the degrees that the rows choose for it."""

from dataclasses import dataclass

import numpy as np

from ..numerics.basis import design, evaluate
from ..numerics.cone import cone
from ..numerics.moments import gram, moments, rhs
from ..numerics.partial_order import near_rows
from ..numerics.qp import tie_break
from ..numerics.sieve import fit_degree

TIE_BREAK = 1e-10
DEGREES = {1: (2, 4, 6, 9, 13, 19, 28), 2: (1, 2, 3, 4, 6, 8), 3: (1, 2, 3, 4)}
PILOT = {1: 60, 2: 24, 3: 8}  # the highest pilot degree
ROWS_NEAR = 5  # that make a place supported
SIDE = {1: 201, 2: 25, 3: 9}  # places along each axis of the grid on which a band is simultaneous


@dataclass(frozen=True)
class Problem:
    """s (n, M) and places (g, M) in [0, 1] with every directed axis rising, y (n,), w (n,) or None.

    grid: the standard grid, then the places; directions of +1 and 0; level, kind, n_draws, rng (a Generator),
    progress.
    """

    s: np.ndarray
    y: np.ndarray
    w: np.ndarray | None
    places: np.ndarray
    grid: np.ndarray
    directions: tuple
    level: float
    kind: str
    n_draws: int
    rng: np.random.Generator
    progress: bool

    @property
    def M(self):
        """Number of scores."""
        return self.s.shape[1]

    @property
    def asked(self):
        """The part of the grid that was asked for."""
        return slice(len(self.grid) - len(self.places), None)

    def sums(self, degree):
        """Moments that serve fits up to a degree."""
        return moments(self.s, self.y, self.w, (2 * degree,) * self.M)

    def supported(self):
        """(grid,) True where at least five rows lie in the cube of half-width min(1, (20/n)^(1/M))/2."""
        half = 0.5 * min(1.0, (20 / len(self.s)) ** (1 / self.M))
        return near_rows(self.s, self.grid, half) >= ROWS_NEAR


@dataclass(frozen=True)
class Band:
    """low, high, se (g,) at the places asked for, se NaN where the method has none; degree of its fits or None."""

    low: np.ndarray
    high: np.ndarray
    se: np.ndarray
    degree: int | None


@dataclass(frozen=True)
class Degrees:
    """chosen by the rows; of the band's fits; of the pilot from which draws are made."""

    chosen: int
    band: int
    pilot: int


def highest(M):
    """The highest degree of any fit of a band of M scores."""
    return PILOT.get(M, 4)


def degrees_of(sums, directions):
    """Degrees by generalised cross-validation, RSS/(1 - df/n)^2, whatever degree the user's fit has."""
    M, n = len(directions), sums.n
    if M > 3:
        return Degrees(3, 3, 4)
    scores = []
    for K in DEGREES[M]:
        fit = fit_degree(sums, (K,) * M, directions, TIE_BREAK)
        low = sums.lower((2 * K,) * M)
        t, G = rhs(low.T1, (K,) * M), gram(low.T0, (K,) * M)
        loss = sums.events - 2 * fit.beta @ t + fit.beta @ G @ fit.beta
        scores.append(loss / (1 - min(fit.df / n, 0.99)) ** 2)
    chosen = DEGREES[M][int(np.argmin(scores))]
    if M == 1:
        band = int(np.clip(4 * chosen, 16, 60))
        return Degrees(chosen, band, band)
    band = int(np.clip(4 * chosen, 9, 18)) if M == 2 else int(np.clip(2 * chosen, 5, 6))
    return Degrees(chosen, band, min(int(np.ceil(1.5 * band)), PILOT[M]))


def standard_grid(M):
    """Places on which a band is simultaneous, (g, M); beyond three scores only the places asked for."""
    if M not in SIDE:
        return np.zeros((0, M))
    axes = np.meshgrid(*[np.linspace(0.0, 1.0, SIDE[M])] * M, indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1)


def polynomial(beta, shape, directions):
    """The map of coefficients beta (p,), made monotone to the last bit, as a function of scores."""
    restored = cone(tuple(shape), tuple(directions)).restore(beta)
    return lambda x: np.clip(evaluate(restored, x), 0.0, 1.0)


def fitted(sums, K, directions, rough=False):
    """The least-squares map of degree K as a function of scores; rough: right to about 1e-7, for draws."""
    M = len(directions)
    return polynomial(fit_degree(sums, (K,) * M, directions, TIE_BREAK, rough).beta, (K + 1,) * M, directions)


def local_size(problem, K):
    """A function of places: effective number of rows there, 1/[b'(X'WX)^-1 b] at a low degree K.

    Rows, not weights, are what varies: sum w / sum w^2 of a row for a unit of weight.
    """
    shape, w = (K,) * problem.M, problem.w
    G = gram(problem.sums(K).T0, shape)
    inverse = np.linalg.inv(G + np.trace(G) / len(G) * tie_break(tuple(k + 1 for k in shape), TIE_BREAK))
    rows = 1.0 if w is None else w.sum() / (w @ w)

    def at(x):
        b = design(x, shape)
        return rows / np.maximum(np.einsum("ij,ij->i", b @ inverse, b), 1e-300)

    return at


def rank_of_level(n_draws, level):
    """Position, from 0, of the ceil((n + 1) level)-th smallest of n draws."""
    rank = int(np.ceil((n_draws + 1) * level - 1e-9)) - 1
    if rank >= n_draws:
        least = int(np.ceil(level / (1 - level) - 1e-9))
        raise ValueError(f"n_draws={n_draws} is too few for level={level}: use at least {least}")
    return rank

"""The default band: draws from an undersmoothed model, on the arcsine scale, with two centres.

It undersmooths: its degree is a multiple of the one the rows choose, because the bias of the sieve, not its boundary,
is what makes bootstrap bands miss. Draws come from a fit of still higher degree, so that they reproduce the bias, and
shrunk toward one half where few rows lie, since resampling collapses at probabilities near 0 and 1.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from ..numerics.basis import design
from ..numerics.batch_qp import solve_many
from ..numerics.cone import cone
from ..numerics.moments import gram, moment_matrix
from ..numerics.partial_order import hull
from ..numerics.progress import counted
from ..numerics.qp import solve, tie_break
from .problem import TIE_BREAK, Band, degrees_of, fitted, highest, local_size, polynomial, rank_of_level

ADDED = 1.0  # successes and failures added to the local sample
SMALLEST_SCALE = 1e-3  # of a standard deviation on the arcsine scale
LEVELLED = 0.25  # share of the median in the scale, two scores or more
ROOM, PLACES, KEPT = 4_000_000, 2_000, 4  # numbers in a piece of draws; places in a part; parts that are kept


def model_band(problem):
    """The default band of a Problem, as a Band.

    Assumes independent rows and a continuous, monotone truth. Fails at jumps, and at steep L-shaped corners of two
    scores once rows are many. Measured for 95 %, simultaneous (benchmarks/results/coverage.md has cells and limits):
    one score, eight truths and three designs, .99, .98, .97 on average at n = 300, 1000, 3000, the least .88 to .93;
    two scores, smooth, kinked and rare, .98 and 1.00 at n = 300 and 1000; corners of slope 4 about .90, .57 and .01
    at n = 300, 1000 and 3000; staircases below .1 with one score, .45 and 0 with two. Of the width of the honest
    band it has about .6.
    """
    M, directions = problem.M, problem.directions
    if M > 3:
        warnings.warn(f"the default band is untested for {M} scores: read conf_band(method='honest') beside it",
                      UserWarning, stacklevel=5)  # fmt: skip
    rank = rank_of_level(problem.n_draws, problem.level)
    sums = problem.sums(highest(M))
    degrees = degrees_of(sums, directions)
    n_e = local_size(problem, int(np.clip(degrees.chosen, 4, 10) if M == 1 else np.clip(degrees.chosen, 1, 2)))
    fit = fitted(sums, degrees.band, directions)
    truth = _truth(problem, sums, n_e, degrees.pilot)
    refits = _refits(problem, sums, truth, degrees.band)
    supported = problem.supported()
    at = fit(problem.grid)
    local = n_e(problem.grid)
    centres = np.stack([_angle(at), _angle((local * at + ADDED) / (local + 2 * ADDED))])
    half, se = _half_width(_Deviations.of(problem, refits, truth, degrees.band), supported, problem, rank)
    low = np.sin(np.clip(centres.min(axis=0) - half, 0.0, np.pi / 2)) ** 2
    high = np.sin(np.clip(centres.max(axis=0) + half, 0.0, np.pi / 2)) ** 2
    low, high = hull(problem.grid, np.where(supported, low, 0.0), np.where(supported, high, 1.0), directions)
    return Band(low[problem.asked], high[problem.asked], se[problem.asked], degrees.band)


def _angle(p):
    return np.arcsin(np.sqrt(np.clip(p, 0.0, 1.0)))


def _truth(problem, sums, n_e, K):
    """The truth of the draws: the map of degree K nearest to the shrunk pilot fit at the rows."""
    M, s, w = problem.M, problem.s, problem.w
    local = n_e(s)
    p = (local * fitted(sums, K, problem.directions, rough=True)(s) + ADDED) / (local + 2 * ADDED)
    weighted = p if w is None else w * p
    shape = (K + 1,) * M
    t = moment_matrix(s, weighted[:, None], (K,) * M).ravel()
    G = gram(sums.lower((2 * K,) * M).T0, (K,) * M)
    limits = cone(shape, problem.directions)
    mean = float(weighted.sum() / sums.weight)
    found = solve(G, t, sums.weight, mean, limits, tie_break(shape, TIE_BREAK), rough=True)
    return polynomial(found.beta, shape, problem.directions)


def _refits(problem, sums, truth, K):
    """Coefficients (p, n_draws) of degree K refitted to draws Y* ~ Bernoulli(truth) at the rows."""
    shape = (K + 1,) * problem.M
    T = _simulated(problem, truth(problem.s), (K,) * problem.M)
    G = gram(sums.lower((2 * K,) * problem.M).T0, (K,) * problem.M)
    return solve_many(G, T, shape, problem.directions, tie_break(shape, TIE_BREAK))


def _simulated(problem, p, K):
    """sum_i w_i Y*_i b_k(s_i) of every draw: (p, n_draws), rows in pieces of fixed size."""
    n, n_draws, w = len(p), problem.n_draws, problem.w
    step = max(1, min(4096, ROOM // n_draws))
    p = p.astype(np.float32)
    total = 0.0
    for i in counted(-(-n // step), "draws", problem.progress):
        rows = slice(i * step, (i + 1) * step)
        drawn = problem.rng.random((len(p[rows]), n_draws), dtype=np.float32) < p[rows, None]
        X = design(problem.s[rows], K) if w is None else design(problem.s[rows], K) * w[rows, None]
        total = total + (X.T.astype(np.float32) @ drawn.astype(np.float32)).astype(np.float64)
    return total


@dataclass(frozen=True)
class _Deviations:
    """g(refit) - g(truth) and the refits, (n_draws, part) for each part of the grid; few parts are kept."""

    grid: np.ndarray
    refits: np.ndarray
    truth: object
    degrees: tuple
    kept: list

    @classmethod
    def of(cls, problem, refits, truth, K):
        made = cls(problem.grid, refits.astype(np.float32), truth, (K,) * problem.M, [])
        if len(problem.grid) <= KEPT * PLACES:
            made.kept.extend(made._make())
        return made

    def __iter__(self):
        return iter(self.kept or self._make())

    def _make(self):
        for a in range(0, len(self.grid), PLACES):
            x = self.grid[a : a + PLACES]
            f = np.clip(design(x, self.degrees).astype(np.float32) @ self.refits, 0.0, 1.0).T
            yield slice(a, a + PLACES), np.arcsin(np.sqrt(f)) - _angle(self.truth(x)).astype(np.float32), f


def _half_width(deviations, supported, problem, rank):
    """(half-width of the band on the arcsine scale, standard error of the refits), both (grid,)."""
    sd, se = np.empty(len(supported)), np.empty(len(supported))
    for part, deviation, f in deviations:
        sd[part] = deviation.std(axis=0, ddof=1, dtype=np.float64)
        se[part] = f.std(axis=0, ddof=1, dtype=np.float64)
    scale = np.maximum(sd if problem.M == 1 else _levelled(sd, supported, problem), SMALLEST_SCALE)
    if problem.kind == "pointwise":
        c = np.empty(len(scale))
        for part, deviation, _ in deviations:
            c[part] = np.partition(np.abs(deviation) / scale[part], rank, axis=0)[rank]
        return c * scale, se
    largest = np.zeros(problem.n_draws)
    for part, deviation, _ in deviations:
        ratio = np.abs(deviation[:, supported[part]]) / scale[part][supported[part]]
        np.maximum(largest, ratio.max(axis=1, initial=0.0), out=largest)
    return np.sort(largest)[rank] * scale, se


def _levelled(sd, supported, problem):
    """Pulled toward the median over the supported places of the standard grid, or of all there are."""
    standard = supported.copy()
    standard[problem.asked] = False
    usual = sd[standard] if standard.any() else sd[supported] if supported.any() else sd
    return (1 - LEVELLED) * sd + LEVELLED * np.median(usual)

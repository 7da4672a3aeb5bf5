"""One degree of the isotonic Bernstein sieve, fitted from moments or rows; and the support of its nodes."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .basis import along_axes, basis, elevation
from .cone import cone
from .likelihood_fit import inward, maximise
from .moments import KEEP_INDEX_UP_TO, Moments, gram, rhs
from .qp import solve, tie_break


@dataclass(frozen=True)
class Sieve:
    """What the fits of all degrees share: directions (M,) of +1, -1, 0; strength of the tie-break; loss "brier" or
    "log"; shrink >= 0, the weight of the anchor relative to that of the rows.
    """

    directions: tuple
    strength: float
    loss: str = "brier"
    shrink: float = 0.0


@dataclass(frozen=True, eq=False)
class Part:
    """Rows to fit: sums, their moments; pull, the moments with the anchor's probabilities in place of labels, or None;
    rows (s, y, w, anchor's probabilities or None), which the likelihood needs, or None.
    """

    sums: Moments
    pull: Moments | None = None
    rows: tuple | None = None

    def shrunk(self, weight):
        """Moments with responses (y + weight p0)/(1 + weight): the pseudo-data, scaled back to the weight of the rows.

        Least squares on G (1 + weight), T1 + weight T1(p0) has the same solution.
        """
        if self.pull is None or weight == 0:
            return self.sums
        share = weight / (1 + weight)
        T1 = (1 - share) * self.sums.T1 + share * self.pull.T1
        return replace(self.sums, T1=T1, events=(1 - share) * self.sums.events + share * self.pull.events)

    def responses(self, weight):
        """(n,) labels pulled to the anchor."""
        _, y, _, p0 = self.rows
        return y if p0 is None or weight == 0 else (y + weight * p0) / (1 + weight)


def fit_part(part, K, sieve, rough=False, near=None):
    """The ConeFit of one degree K (a tuple) under the loss and the shrinkage of the sieve.

    near: coefficients (p,) of the likelihood's fit to rows that include these, where Newton's method may start.
    """
    sums = part.shrunk(sieve.shrink)
    mean = sums.events / sums.weight
    if sieve.loss == "brier" or mean <= 0.0 or mean >= 1.0:
        return fit_degree(sums, K, sieve.directions, sieve.strength, rough)
    if near is None:
        near = inward(fit_degree(sums, K, sieve.directions, sieve.strength, rough=True).beta, mean)
    s, _, w, _ = part.rows
    limits = cone(tuple(k + 1 for k in K), tuple(sieve.directions))
    penalty = tie_break(limits.shape, float(sieve.strength)) if sieve.strength else None
    return maximise(s, part.responses(sieve.shrink), w, sums, limits, penalty, near, rough)


def fit_degree(sums, K, directions, strength, rough=False):
    """Least squares over the cone at degree K (a tuple) from moments of degree 2K or more; returns ConeFit."""
    sums = sums.lower([2 * k for k in K])
    limits = cone(tuple(k + 1 for k in K), tuple(directions))
    penalty = tie_break(limits.shape, float(strength)) if strength else None
    mean = sums.events / sums.weight
    return solve(gram(sums.T0, K), rhs(sums.T1, K), sums.weight, mean, limits, penalty, rough)


def node_support(sums, K):
    """Weight of the rows at each node relative to its basis function's peak, the shape of the grid.

    Below one the rows say nothing about that coefficient: the tie-break and the order alone settle it.
    """
    peaks, sums = _peaks(tuple(K)), sums.lower([2 * k for k in K])
    if peaks.size <= KEEP_INDEX_UP_TO:  # the basis sums to one, so rows of the Gram matrix sum to the weights
        return gram(sums.T0, K).sum(axis=1).reshape(peaks.shape) / peaks
    return along_axes(sums.T0, [elevation(k, 2 * k) for k in K]) / peaks


@lru_cache(maxsize=64)
def _peaks(K):
    """Largest value of each product of basis functions, the shape of the grid."""
    out = np.ones(())
    for k in K:
        out = np.multiply.outer(out, np.diag(basis(np.linspace(0.0, 1.0, k + 1), k)))
    return out

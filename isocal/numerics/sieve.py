"""One degree of the isotonic Bernstein sieve, fitted from moments; and the support of its nodes."""

from functools import lru_cache

import numpy as np

from .basis import along_axes, basis, elevation
from .cone import cone
from .moments import gram, rhs
from .qp import solve, tie_break


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
    sums = sums.lower([2 * k for k in K])
    return along_axes(sums.T0, [elevation(k, 2 * k) for k in K]) / _peaks(tuple(K))


@lru_cache(maxsize=64)
def _peaks(K):
    """Largest value of each product of basis functions, the shape of the grid."""
    out = np.ones(())
    for k in K:
        out = np.multiply.outer(out, np.diag(basis(np.linspace(0.0, 1.0, k + 1), k)))
    return out

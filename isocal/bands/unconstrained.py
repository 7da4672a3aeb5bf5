"""The unconstrained series band, made monotone afterwards."""

import numpy as np

from ..numerics.basis import design
from ..numerics.moments import gram, moments
from ..numerics.partial_order import hull
from .problem import Band, degrees_of, highest, rank_of_level

MOST_PER_ROW = 0.1  # coefficients
SINGULAR = 1e-13  # eigenvalues of the Gram matrix below this share of the largest are left out


def unconstrained_band(problem):
    """Least squares without constraints, its model variance, a sup-t constant from normal draws; then the hull.

    The degree is twice the one the rows choose, at least 10 for one score, with at most a coefficient for ten rows.
    Assumes independent rows and a truth that polynomials of this degree follow more closely than its standard error;
    monotonicity only makes it narrower. Fails where they do not: jumps, corners, steep truths with few rows. Measured
    for 95 %, simultaneous: one score .97 to 1.00 at n = 300 and 1000, two scores .90 at n = 300 (20 runs), at 1.4 to 2
    times the width of the default.
    """
    M, s, w = problem.M, problem.s, problem.w
    rank = rank_of_level(problem.n_draws, problem.level)
    K = _degree(degrees_of(problem.sums(highest(M)), problem.directions).chosen, M, len(s))
    sums = problem.sums(K)
    G = gram(sums.T0, (K,) * M)
    bread = np.linalg.pinv(G, rcond=SINGULAR, hermitian=True)  # no tie-break: it would bias what rows identify
    X = design(s, (K,) * M)
    wy = problem.y if w is None else w * problem.y
    beta = bread @ (X.T @ wy)
    n_e = 1.0 / np.maximum(np.einsum("ij,jk,ik->i", X, bread, X, optimize=True), 1e-300)
    p = (n_e * np.clip(X @ beta, 0.0, 1.0) + 2) / (n_e + 4)
    v = p * (1 - p) if w is None else w**2 * p * (1 - p)
    meat = gram(moments(s, problem.y, v, (2 * K,) * M).T0, (K,) * M)
    B = design(problem.grid, (K,) * M)
    low, high, se = _edges(problem, B, beta, bread @ meat @ bread, rank)
    low, high = hull(problem.grid, low, high, problem.directions)
    return Band(low[problem.asked], high[problem.asked], se[problem.asked], K)


def _degree(chosen, M, n):
    K = max(2 * chosen, 10 if M == 1 else 4)
    return max(1, min(K, int((MOST_PER_ROW * n) ** (1 / M)) - 1, 30))


def _edges(problem, B, beta, covariance, rank):
    supported = problem.supported()
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = B @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    se = np.maximum(np.sqrt(np.einsum("ij,ij->i", root, root)), 1e-12)
    t = np.abs(root @ problem.rng.standard_normal((root.shape[1], problem.n_draws))) / se[:, None]
    if problem.kind == "pointwise":
        c = np.sort(t, axis=1)[:, rank]
    else:
        c = np.sort(t[supported].max(axis=0, initial=0.0))[rank]
    f = B @ beta
    low, high = np.clip(f - c * se, 0.0, 1.0), np.clip(f + c * se, 0.0, 1.0)
    return np.where(supported, low, 0.0), np.where(supported, high, 1.0), se

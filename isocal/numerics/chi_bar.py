"""Chi-bar-squared laws: how likely a normal vector projects on a face of each dimension of a cone.

Simple orders: Robertson, Wright & Dykstra (1988), Order Restricted Statistical Inference, section 2.3, with the
integrals of a normal chain done on a grid, so that any weights are served and nothing is drawn. Other cones: by draws.
"""

import numpy as np
from scipy.optimize import nnls
from scipy.special import chdtrc

REACH, PER_SD, MOST_PLACES = 8.0, 10, 40_001  # grid of the integrals: standard deviations, places in the smallest, cap


def simple_order_weights(w):
    """P(l, k): the chance that k independent normal means of precisions w (k,) pool to l level sets, l = 1..k.

    Under equal means; equal precisions give |s(k, l)|/k! with Stirling numbers of the first kind. Returns (k,).
    """
    w = np.asarray(w, dtype=np.float64)
    k, W = len(w), np.r_[0.0, np.cumsum(w)]
    spread, narrow = 1 / np.sqrt(w.min()), 1 / np.sqrt(W[-1])
    x = np.linspace(-REACH * spread, REACH * spread, int(min(2 * REACH * PER_SD * spread / narrow, MOST_PLACES)) | 1)
    density = {(i, j): _normal(x, W[j] - W[i]) for i in range(k) for j in range(i + 1, k + 1)}
    pooled = _pooled(density, x, k)
    levels = np.zeros(k)
    below = {0: np.ones_like(x)}  # chance that l ordered level sets cover the first j means, the last one below x
    for level in range(k):
        above = {}
        for j in range(level + 1, k + 1):
            joint = sum(pooled[i, j] * density[i, j] * below[i] for i in below if i < j)
            above[j] = _cumulated(joint, x)
        levels[level] = above[k][-1]
        below = above
    return levels / levels.sum()


def _pooled(density, x, k):
    """{(i, j): chance that the means i + 1..j pool to one level set}: one minus that of any finer pooling."""
    out = {}
    for size in range(1, k + 1):
        for a in range(k - size + 1):
            out[a, a + size] = 1.0
            if size > 1:
                out[a, a + size] = 1.0 - _finer(density, x, out, a, a + size)
    return out


def _finer(density, x, pooled, a, b):
    below = {}
    for j in range(a + 1, b + 1):
        joint = 0.0 if j == b else pooled[a, j] * density[a, j]
        joint = joint + sum(pooled[i, j] * density[i, j] * below[i] for i in below)
        below[j] = _cumulated(joint, x)
    return below[b][-1]


def _normal(x, precision):
    return np.sqrt(precision / (2 * np.pi)) * np.exp(-precision * x * x / 2)


def _cumulated(f, x):
    """Integral of f from the first place to each: the trapezoidal rule with its first correction."""
    h = x[1] - x[0]
    sums = np.cumsum(f)
    return h * (sums - f / 2 - sums[0] + f[0] / 2) - h / 12 * np.gradient(f) + h / 12 * (f[1] - f[0])


def orthant_dimensions(p):
    """Weights of the orthant of p independent coordinates by dimension 0..p: binomial."""
    row = np.ones(1)
    for _ in range(p):
        row = (np.r_[row, 0.0] + np.r_[0.0, row]) / 2
    return row


def cone_weights(A, S, rng, n_draws=1000):
    """Chance that N(0, S) projects, in the metric of S^-1, on a face of {x: A x >= 0} of dimension 0..p, by draws."""
    B = np.asarray(A) @ np.linalg.cholesky(S)
    counts = np.zeros(B.shape[1] + 1)
    for z in rng.standard_normal((n_draws, B.shape[1])):
        counts[B.shape[1] - np.count_nonzero(nnls(B.T, -z)[0])] += 1  # Lawson & Hanson keep independent rows only
    return counts / n_draws


def project(b, S, A):
    """(nearest x to b (p,) with A x >= 0 in the metric of S^-1, squared distance)."""
    L = np.linalg.cholesky(S)
    B = np.asarray(A) @ L
    multipliers = nnls(B.T, -np.linalg.solve(L, b))[0]
    return b + L @ (B.T @ multipliers), float(np.sum((B.T @ multipliers) ** 2))


def tail(t, weights, df):
    """sum_j weights_j P(chi-squared with df_j degrees of freedom >= t); none at all is the constant 0."""
    if t <= 0:
        return 1.0
    df = np.asarray(df)
    return float(np.sum(np.where(df > 0, weights * chdtrc(np.maximum(df, 1), t), 0.0)))

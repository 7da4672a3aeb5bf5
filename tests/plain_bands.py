"""Bands of one score written out from their specification, with loops and scipy's nnls, apart from isocal."""

from math import comb

import numpy as np
from scipy.optimize import nnls

BIG = 1e4  # weight of the equation that the increments sum to one


def bernstein(x, K):
    """(n, K + 1) design."""
    return np.stack([comb(K, k) * x**k * (1 - x) ** (K - k) for k in range(K + 1)], axis=1)


def fit(x, y, K, w=None):
    """(coefficients, df) of monotone least squares: increments b_0, db_1, ..., db_K, 1 - b_K >= 0 that sum to one."""
    root = np.ones(len(x)) if w is None else np.sqrt(w)
    B = bernstein(x, K)
    tails = np.cumsum(B[:, ::-1], axis=1)[:, ::-1] * root[:, None]
    A = np.vstack([np.c_[tails, np.zeros(len(x))], np.full(K + 2, BIG)])
    increments = nnls(A, np.r_[y * root, BIG], maxiter=10_000)[0]
    return np.cumsum(increments[:-1]), int(np.count_nonzero(increments > 1e-9)) - 1


def degrees(x, y):
    """(chosen, of the band) by generalised cross-validation."""
    scores = {}
    for K in (2, 4, 6, 9, 13, 19, 28):
        beta, df = fit(x, y, K)
        scores[K] = np.sum((y - bernstein(x, K) @ beta) ** 2) / (1 - df / len(x)) ** 2
    chosen = min(scores, key=scores.get)
    return chosen, int(np.clip(4 * chosen, 16, 60))


def supported(x, grid):
    """At least five rows within half of min(1, 20/n)."""
    half = 0.5 * min(1.0, 20 / len(x))
    return np.array([np.sum((x >= g - half) & (x <= g + half)) >= 5 for g in grid])


def default_band(x, y, places, level, n_draws, rng, kind="simultaneous"):
    """(low, high) at the places, step by step; the draws in the order that isocal documents: row by row."""
    chosen, K = degrees(x, y)
    grid = np.r_[np.linspace(0, 1, 201), places]
    local = int(np.clip(chosen, 4, 10))
    inverse = np.linalg.inv(bernstein(x, local).T @ bernstein(x, local))

    def n_e(at):
        b = bernstein(at, local)
        return 1 / np.sum((b @ inverse) * b, axis=1)

    def g(p):
        return np.arcsin(np.sqrt(np.clip(p, 0, 1)))

    f = bernstein(grid, K) @ fit(x, y, K)[0]
    pilot = bernstein(x, K) @ fit(x, y, K)[0]
    truth = fit(x, (n_e(x) * pilot + 1) / (n_e(x) + 2), K)[0]
    at_rows, at_grid = bernstein(x, K) @ truth, bernstein(grid, K) @ truth
    Y = rng.random((len(x), n_draws), dtype=np.float32) < at_rows.astype(np.float32)[:, None]
    A = np.array([g(bernstein(grid, K) @ fit(x, column, K)[0]) - g(at_grid) for column in Y.T.astype(float)])
    scale = np.maximum(A.std(axis=0, ddof=1), 1e-3)
    rank = int(np.ceil((n_draws + 1) * level)) - 1
    near = supported(x, grid)
    ratio = np.abs(A) / scale
    c = np.sort(ratio[:, near].max(axis=1))[rank] if kind == "simultaneous" else np.sort(ratio, axis=0)[rank]
    first, second = g(f), g((n_e(grid) * f + 1) / (n_e(grid) + 2))
    low = np.sin(np.clip(np.minimum(first, second) - c * scale, 0, np.pi / 2)) ** 2
    high = np.sin(np.clip(np.maximum(first, second) + c * scale, 0, np.pi / 2)) ** 2
    return hull(grid, np.where(near, low, 0), np.where(near, high, 1), places)


def hull(grid, low, high, places):
    """Largest low at or below, smallest high at or above each place."""
    return (np.array([low[grid <= p].max() for p in places]), np.array([high[grid >= p].min() for p in places]))


def refits(x, y, counts, K, grid):
    """(draws, grid) values of fits to the rows counted by each column of counts."""
    return np.array([bernstein(grid, K) @ fit(x, y, K, w)[0] for w in counts.T])

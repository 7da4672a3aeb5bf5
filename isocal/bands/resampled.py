"""Bands from refits to resampled rows or to parts of them: how the estimator varies, not where the truth is."""

import numpy as np

from ..numerics.basis import design
from ..numerics.cone import cone
from ..numerics.moments import gram, moment_matrix
from ..numerics.partial_order import hull
from ..numerics.progress import counted
from ..numerics.qp import solve, tie_break
from .problem import TIE_BREAK, Band, degrees_of, fitted, highest, rank_of_level

AT_ONCE = 32  # resamples whose moments are taken together
SMALLEST_SHARE = 0.25  # of the median standard deviation
BATCH = 20  # rows of a batch, at least
HIGHEST = {1: 60, 2: 9, 3: 5}  # degree of refits: each resample is a programme of its own


def percentile_band(problem):
    """Quantiles of refits to resampled rows; simultaneous: between the extreme ranks that hold whole refits.

    Describes how the estimator varies, not where the truth is: refits repeat neither its bias nor, at constraints that
    bind, its law (Andrews 2000). Measured for 95 %, simultaneous, n = 300 and 1000: one score .28 to .55, two scores
    .05 to .20; share of the truth held, .92 to .98.
    """
    refits, _, K = _pairs(problem)
    low, high = _quantiles(refits, problem)
    return _band(problem, low, high, refits, K)


def basic_band(problem):
    """The quantiles of `percentile_band` reflected at the fit.

    Fails as that does, and worse near 0 and 1. Measured for 95 %, simultaneous: one score .08 to .35, two scores 0;
    share of the truth held, .82 to .97.
    """
    refits, f, K = _pairs(problem)
    low, high = _quantiles(refits, problem)
    return _band(problem, 2 * f - high, 2 * f - low, refits, K)


def studentized_band(problem):
    """Fit +- c sd of refits to resampled rows, sd at least a quarter of its median.

    Assumes that refits vary about the fit as the fit does about the truth; fails where the truth is steep or near 0
    or 1, where no refit shows the bias. Measured for 95 %, simultaneous: one score .28 to .75, two scores .30 to .45;
    share of the truth held, .91 to .98.
    """
    rank = rank_of_level(problem.n_draws, problem.level)
    refits, f, K = _pairs(problem)
    supported = problem.supported()
    sd = refits.std(axis=0, ddof=1)
    scale = np.maximum(sd, max(SMALLEST_SHARE * np.median(sd), 1e-9))
    t = np.abs(refits - f) / scale
    c = np.sort(t, axis=0)[rank] if problem.kind == "pointwise" else \
        np.sort(t[:, supported].max(axis=1, initial=0.0))[rank]  # fmt: skip
    low, high = np.where(supported, f - c * scale, 0.0), np.where(supported, f + c * scale, 1.0)
    return _band(problem, low, high, refits, K)


def hulc_band(problem):
    """The hull of fits to B random batches of rows, 2^(1 - B) <= 1 - level: needs no variance and no resampling.

    Assumes that a fit to a batch lies above and below the truth equally often (Kuchibhotla, Balakrishnan & Wasserman
    2024); fails where the truth is too steep for batches or near 0 and 1. Measured for 95 %, pointwise, on average
    over places: one score .86 to .96, two scores .91 to .94.
    """
    batches = 1 + int(np.ceil(np.log2(1 / (1 - problem.level)) - 1e-9))
    n = len(problem.s)
    if n < BATCH * batches:
        raise ValueError(f"method='hulc' at level={problem.level} splits the rows into {batches} batches of at least "
                         f"{BATCH}: it needs {BATCH * batches} rows, got {n}")  # fmt: skip
    K = _degree(problem, problem.sums(highest(problem.M)))
    batch = problem.rng.permutation(n) % batches
    refits = _refit(problem, lambda b: (batch == b).astype(float), batches, K)
    return _band(problem, refits.min(axis=0), refits.max(axis=0), refits / np.sqrt(batches), K)


def _pairs(problem):
    """(refits (n_draws, grid) to rows drawn with replacement, fit (grid,), their degree)."""
    rank_of_level(problem.n_draws, problem.level)
    n, sums = len(problem.s), problem.sums(highest(problem.M))
    K = _degree(problem, sums)
    refits = _refit(problem, lambda b: np.bincount(problem.rng.integers(n, size=n), minlength=n), problem.n_draws, K)
    return refits, fitted(sums, K, problem.directions)(problem.grid), K


def _degree(problem, sums):
    return min(degrees_of(sums, problem.directions).band, HIGHEST.get(problem.M, 3))


def _refit(problem, counts, r, K):
    """Values (r, grid) of fits of degree K to the rows counted counts(b) times, b < r; quick, not for reports."""
    M, s, y = problem.M, problem.s, problem.y
    shape = (K + 1,) * M
    limits, penalty = cone(shape, problem.directions), tie_break(shape, TIE_BREAK)
    at_grid = design(problem.grid, (K,) * M)
    out = np.empty((r, len(at_grid)))
    for piece in counted(-(-r // AT_ONCE), "refits", problem.progress):
        which = range(piece * AT_ONCE, min(r, (piece + 1) * AT_ONCE))
        W = np.stack([counts(b) for b in which], axis=1).astype(np.float64)
        W = W if problem.w is None else W * problem.w[:, None]
        T0 = moment_matrix(s, W, (2 * K,) * M)
        T1 = moment_matrix(s, W * y[:, None], (K,) * M)
        for b, a, t, w in zip(which, T0, T1, W.T, strict=True):
            fit = solve(gram(a, (K,) * M), t.ravel(), w.sum(), float(w @ y / w.sum()), limits, penalty, rough=True)
            out[b] = at_grid @ limits.restore(fit.beta).ravel()
    return np.clip(out, 0.0, 1.0)


def _quantiles(refits, problem):
    """(low, high): order statistics r and n + 1 - r, r the largest rank that keeps the level.

    Pointwise the usual quantiles; else the largest r for which a share `level` of refits lies between them everywhere.
    """
    n = len(refits)
    ordered = np.sort(refits, axis=0)
    if problem.kind == "pointwise":
        r = max(int(np.floor((n + 1) * (1 - problem.level) / 2 + 1e-9)), 1)
        return ordered[r - 1], ordered[n - r]
    inside = n
    least, most = 1, n // 2
    while least < most:  # the largest r with enough refits inside
        r = (least + most + 1) // 2
        inside = np.count_nonzero(np.all((refits >= ordered[r - 1]) & (refits <= ordered[n - r]), axis=1))
        least, most = (r, most) if inside >= np.ceil(problem.level * n) else (least, r - 1)
    return ordered[least - 1], ordered[n - least]


def _band(problem, low, high, refits, K):
    low, high = hull(problem.grid, np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), problem.directions)
    sd = refits.std(axis=0, ddof=1)
    return Band(low[problem.asked], high[problem.asked], sd[problem.asked], K)

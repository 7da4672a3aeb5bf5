"""Bootstrap confidence intervals from replicates of an estimate, with the quantiles of R's package boot.

Davison & Hinkley (1997), Bootstrap Methods and their Application, sections 5.2 and 5.3, doi:10.1017/CBO9780511802843;
DiCiccio & Efron (1996), doi:10.1214/ss/1032280214. Each function takes replicates t (r, ...) along the first axis and
the estimate t0 (...), and returns (low, high) of shape (...).
"""

import numpy as np
from scipy.special import ndtr, ndtri


def tails(level):
    """Probabilities below the two ends of an interval of this coverage."""
    return (1 - level) / 2, (1 + level) / 2


def quantile(t, q):
    """Quantile q (a number, or one for each column) of replicates t (r, ...), interpolated on the normal scale.

    The order statistic (r + 1) q; between two of them linear in the normal quantile, beyond the last the last (boot's
    norm.inter). NaN for q NaN.
    """
    t = np.sort(t, axis=0)
    r = len(t)
    rank = (r + 1) * np.broadcast_to(np.asarray(q, dtype=np.float64), t.shape[1:])
    known = ~np.isnan(rank)
    k = np.clip(np.where(known, rank, 0.0).astype(np.intp), 0, r)
    inside = (k > 0) & (k < r)
    low = np.take_along_axis(t, np.clip(k - 1, 0, r - 1)[None], axis=0)[0]
    high = np.take_along_axis(t, np.clip(k, 0, r - 1)[None], axis=0)[0]
    a, b = (ndtri(np.clip(v, 1, r) / (r + 1)) for v in (k, k + 1))
    whole = rank == k
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(inside & ~whole, (ndtri(rank / (r + 1)) - a) / (b - a), 0.0)
    return np.where(known, low + part * (high - low), np.nan)


def percentile(t, t0, level):
    """Quantiles of the replicates."""
    low, high = tails(level)
    return quantile(t, low), quantile(t, high)


def basic(t, t0, level):
    """The estimate minus the quantiles of replicate minus estimate."""
    low, high = tails(level)
    return 2 * t0 - quantile(t, high), 2 * t0 - quantile(t, low)


def normal(t, t0, level):
    """Estimate minus bias, plus and minus normal quantiles of the standard deviation of the replicates."""
    half = ndtri(tails(level)[1]) * t.std(axis=0, ddof=1)
    middle = 2 * t0 - t.mean(axis=0)
    return middle - half, middle + half


def studentized(t, t0, level, variance, variance0):
    """From quantiles of (t - t0)/sqrt(variance); variance (r, ...) of each replicate, variance0 of the estimate."""
    low, high = tails(level)
    z = (t - t0) / np.sqrt(variance)
    sd = np.sqrt(variance0)
    return t0 - sd * quantile(z, high), t0 - sd * quantile(z, low)


def bca(t, t0, level, acceleration):
    """Bias-corrected and accelerated; NaN where all replicates lie on one side of the estimate.

    The bias correction is the normal quantile of the share of replicates below the estimate: infinite where there is
    none or all are. acceleration: of `acceleration`.
    """
    z0 = ndtri(np.mean(t < t0, axis=0))
    ends = []
    for tail in tails(level):
        with np.errstate(invalid="ignore"):
            moved = z0 + ndtri(tail)
            place = ndtr(z0 + moved / (1 - acceleration * moved))
        ends.append(quantile(t, np.where(np.isfinite(z0), place, np.nan)))
    return tuple(ends)


def acceleration(left_out):
    """Acceleration from the estimates (n, ...) with each row, or group of rows, left out in turn."""
    influence = left_out.mean(axis=0) - left_out
    square = np.sum(influence**2, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(square > 0, np.sum(influence**3, axis=0) / (6 * square**1.5), 0.0)


def simultaneous_percentile(t, level):
    """Band (low, high) of order statistics that holds a share `level` of whole replicate curves t (r, g).

    The same number of order statistics is cut from both ends at every place, as many as leave that share of the
    curves inside everywhere (Mandel & Betensky 2008, doi:10.1016/j.csda.2007.07.016).
    """
    r = len(t)
    low = np.empty(t.shape, dtype=np.int64)
    high = np.empty(t.shape, dtype=np.int64)
    s = np.sort(t, axis=0)
    for j in range(t.shape[1]):  # ties count to the curve's favour
        low[:, j] = np.searchsorted(s[:, j], t[:, j], side="right")
        high[:, j] = r - np.searchsorted(s[:, j], t[:, j], side="left")
    depth = np.sort(np.minimum(low.min(axis=1), high.min(axis=1)))
    cut = max(1, int(depth[r - int(np.ceil(r * level))]))
    return s[cut - 1], s[r - cut]


def sup_t(t, t0, level, kind):
    """Half width (g,) of a band t0 +- c scale: c from the largest, or each, |t - t0|/scale.

    scale: the standard deviation of the replicates, at least a quarter of its median (where a constraint binds it
    falls to 0, and one such place would set the width everywhere).
    """
    sd = t.std(axis=0, ddof=1)
    scale = np.maximum(sd, max(0.25 * float(np.median(sd)), 1e-12))
    ratio = np.abs(t - t0) / scale
    rank = min(int(np.ceil((len(t) + 1) * level)), len(t)) - 1
    worst = np.sort(ratio.max(axis=1) if kind == "simultaneous" else ratio, axis=0)
    return worst[rank] * scale

"""Local regression (loess) on one variable as R's loess fits it with surface = "direct": gaussian, no iterations.

At a place x0 the neighbourhood holds q = floor(span n + 1e-5) rows, h is the distance to its farthest row, row
weights are w (1 - (|x - x0|/h)^3)^3, and the fit is the value at x0 of the least-squares parabola (degree 2) or line.
Cleveland, W. S. & Devlin, S. J. (1988). JASA 83(403), 596-610. doi:10.1080/01621459.1988.10478639

Departures: a weight counts rows (R's weights leave q alone; with broken weights q is not rounded); where more than
the neighbourhood is tied at x0, so that h = 0 and R stops, the fit is the mean there.
"""

import numpy as np

CHUNK = 4_000_000  # entries of a design handled at a time


def loess(x, mean, w, places, span=0.75, degree=2):
    """Fitted values at places (m,) from distinct sorted x (k,), mean response (k,) and weight (k,) at each."""
    upto = np.r_[0.0, np.cumsum(w)]
    rows = span * upto[-1]
    if np.all(w == np.floor(w)):
        rows = max(1.0, np.floor(rows + 1e-5))
    h = bandwidths(x, upto, places, rows)
    out = np.empty(len(places))
    tied = h <= 0
    out[tied] = mean[np.searchsorted(x, places[tied])] if tied.any() else 0.0
    todo = np.flatnonzero(~tied)
    first = np.searchsorted(x, places - h, side="left")
    last = np.searchsorted(x, places + h, side="right")
    start = 0
    while start < len(todo):  # runs of places whose windows together stay small
        size = max(1, CHUNK // (max(1, int((last - first)[todo[start:]].max())) * (degree + 2)))
        part = todo[start : start + size]
        low, high = first[part].min(), last[part].max()
        out[part] = _local(x[low:high], mean[low:high], w[low:high], places[part], h[part], degree)
        start += size
    return out


def bandwidths(x, upto, places, rows):
    """Smallest h (m,) such that [place - h, place + h] holds the given weight of sorted x (k,)."""
    ends = np.searchsorted(upto[1:], upto[:-1] + rows * (1 - 1e-12))  # of the shortest run from each x on
    starts = np.flatnonzero(ends < len(x))
    left, right = x[starts], x[ends[starts]]
    # max(place - left, right - place) falls, then rises in the start of the run: search for the turn
    low, high = np.zeros(len(places), dtype=np.intp), np.full(len(places), len(starts) - 1)
    while np.any(low < high):
        middle = (low + high) // 2
        turned = right[middle] - places >= places - left[middle]
        high, low = np.where(turned, middle, high), np.where(turned, low, np.minimum(middle + 1, high))
    before = np.maximum(low - 1, 0)
    reach = [np.maximum(places - left[at], right[at] - places) for at in (low, before)]
    return np.minimum(*reach)


def _local(x, mean, w, places, h, degree):
    """Local fits at places (m,) whose windows lie in x (k,)."""
    u = (x - places[:, None]) / h[:, None]
    distance = np.minimum(np.abs(u), 1.0)
    root = np.sqrt(w * (1 - distance**3) ** 3)  # (m, k)
    design = np.stack([root, *(root * u**d for d in range(1, degree + 1)), root * mean], axis=2)
    R = np.linalg.qr(design, mode="r")
    return _value_at_zero(R[:, : degree + 1, : degree + 1], R[:, : degree + 1, -1])


def _value_at_zero(R, z):
    """First coefficient of the least-squares problems R b = z by pseudo-inverses of R with columns of length one."""
    length = np.linalg.norm(R, axis=1)
    length = np.where(length > 0, length, 1.0)
    U, sigma, Vt = np.linalg.svd(R / length[:, None, :], full_matrices=False)
    good = sigma > 100 * np.finfo(np.float64).eps * sigma[:, :1]
    solved = np.where(good, np.einsum("mij,mi->mj", U, z) / np.where(good, sigma, 1.0), 0.0)
    return np.einsum("mj,mj->m", Vt[:, :, 0], solved) / length[:, 0]

"""Quantiles of weighted samples."""

import numpy as np


def weighted_quantile(x, w, q):
    """Type 7 quantiles q (k,) of x (n,) with each value repeated w (n,) times; broken weights sum to n first."""
    if not np.all(w == np.floor(w)):
        w = w * (len(w) / w.sum())
    order = np.argsort(x, kind="stable")
    x, upto = x[order], np.cumsum(w[order])
    place = (upto[-1] - 1) * np.asarray(q, dtype=np.float64)  # counted from 0
    low = np.floor(np.maximum(place, 0.0))
    left, right = (x[np.minimum(np.searchsorted(upto, k, side="right"), len(x) - 1)] for k in (low, low + 1))
    return left + np.clip(place - low, 0.0, 1.0) * (right - left)

"""Smoothing with the Gaussian kernel reflected at 0 and 1, by cosine series.

The reflected kernel is the heat kernel of [0, 1] without flow through the ends: it multiplies the cosine coefficient
of frequency k by exp(-(k pi sigma)^2/2), so all bandwidths share one transform of the residuals.
"""

import numpy as np
from scipy.fft import dct, next_fast_len

GRID = 1 << 14  # intervals of the grid


def on_grid(p, mass, intervals=GRID):
    """Mass (n,) at p (n,) moved to the grid 0, 1/m, ..., 1, split linearly between neighbours. Returns (m + 1,)."""
    place = p * intervals
    low = np.minimum(place.astype(np.intp), intervals - 1)
    upper = (place - low) * mass
    return np.bincount(low, mass - upper, intervals + 1) + np.bincount(low + 1, upper, intervals + 1)


def cosine_coefficients(values):
    """sum_j values_j cos(pi k j/m) for k = 0..m, from values (m + 1,) on the grid."""
    padded = values.copy()
    padded[1:-1] /= 2  # the transform counts inner places twice
    return dct(padded, type=1)


def smoothed_l1(coefficients, sigma):
    """Integral over [0, 1] of |smoothed mass| for a bandwidth sigma > 0."""
    m = len(coefficients) - 1
    k = np.arange(m + 1)
    used = min(m, int(np.ceil(9.0 / (np.pi * sigma))) + 1)  # beyond: damped by exp(-40)
    damped = coefficients[: used + 1] * np.exp(-((k[: used + 1] * np.pi * sigma) ** 2) / 2)
    places = min(m, next_fast_len(max(256, 16 * used)))
    series = np.zeros(places + 1)
    series[: used + 1] = damped
    values = dct(series, type=1)  # a_0 + 2 sum a_k cos(pi k t), and +- a_m, which is 0
    return float((np.abs(values).sum() - np.abs(values[[0, -1]]).sum() / 2) / places)

"""Survival function of a chi-squared variable plus squares of normals known to be large (law of the GiViTI test).

T = X + Z_1 + ... + Z_k, all independent: X chi-squared with df 1 or 2, Z_j chi-squared with df 1 given that it is above
a cut. Every integrand below is positive and of the size of exp(-t/2), so a small tail keeps its digits.
"""

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, erfc

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
HALF_NORMAL = np.sqrt(2 / np.pi)
LARGEST = 1400.0  # beyond it exp(-t/2) underflows


def survival(t, df, k, cut):
    """P(T > t) for scalar t; df 1 or 2, k >= 0, cut > 0."""
    if t <= k * cut:
        return 1.0
    if k == 0:
        return float(chdtrc(df, t))
    above = t - k * cut  # X beyond it: T > t for sure
    x, dx = _between(0.0, above)
    if df == 2:
        inner = np.sum(dx * np.exp(-x / 2) / 2 * _large_squares(t - x, k, cut))
    else:
        root, step = _between(0.0, np.sqrt(above))
        inner = np.sum(step * HALF_NORMAL * np.exp(-(root**2) / 2) * _large_squares(t - root**2, k, cut))
    return float(chdtrc(df, above) + inner)


@lru_cache(maxsize=64)
def quantile(level, df, k, cut):
    """The t with P(T > t) = 1 - level."""
    if k == 0:
        return float(chdtri(df, 1 - level))
    return brentq(lambda t: survival(t, df, k, cut) - (1 - level), k * cut, LARGEST, xtol=1e-12, rtol=1e-14)


def _large_squares(s, k, cut):
    """P(Z_1 + ... + Z_k > s) elementwise for s (r,) >= k cut.

    The last variable is (sqrt(s) cos a)^2: in the angle a the integrand has no singularity near the interval.
    """
    share = erfc(np.sqrt(cut / 2))  # P(Z above the cut)
    if k == 1:
        return erfc(np.sqrt(s / 2)) / share
    least = (k - 1) * cut
    radius = np.sqrt(s)[:, None]
    angle, step = _between(np.arcsin(np.sqrt(least / s)), np.arccos(np.sqrt(cut / s)))
    rest = np.maximum(s[:, None] * np.sin(angle) ** 2, least)
    tail = _large_squares(rest.ravel(), k - 1, cut).reshape(rest.shape)
    density = HALF_NORMAL * np.exp(-((radius * np.cos(angle)) ** 2) / 2) * radius * np.sin(angle)
    return (erfc(np.sqrt((s - least) / 2)) + np.sum(step * density * tail, axis=1)) / share


def _between(low, high):
    """Gauss-Legendre nodes and weights, one row an interval."""
    middle, half = (np.add(low, high) / 2)[..., None], (np.subtract(high, low) / 2)[..., None]
    return middle + half * NODES, half * WEIGHTS

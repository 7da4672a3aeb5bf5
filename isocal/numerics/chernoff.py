"""Quantiles of Chernoff's distribution, the law of argmax_t {W(t) - t^2} for two-sided Brownian motion W.

Its density is g(z) g(-z)/2, where g has the Fourier transform 2^(1/3)/Ai(i 2^(-1/3) u).
Groeneboom, P. & Wellner, J. A. (2001). JCGS 10(2), 388-400. doi:10.1198/10618600152627997
"""

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import airy

FARTHEST = 3.0  # P(|Z| > 3) < 1e-9
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


@lru_cache(maxsize=1)
def _transform():
    """Frequencies (m,) and the transform of g there; beyond 30 it is below 1e-20."""
    u = np.arange(-30.0, 30.0 + 1e-9, 0.05)
    return u, 2 ** (1 / 3) / airy(1j * u / 2 ** (1 / 3))[0]


def density(z):
    """Density at z (n,), |z| <= 3, to about 1e-13."""
    u, transform = _transform()
    wave = np.exp(-1j * np.outer(z, u))
    scale = (u[1] - u[0]) / (2 * np.pi)
    g = (wave @ transform).real * scale
    mirrored = (wave.conj() @ transform).real * scale
    return np.maximum(g * mirrored / 2, 0.0)


def _upper_half(z):
    """P(0 < Z <= z)."""
    return z / 2 * (WEIGHTS @ density(z / 2 * (NODES + 1)))


@lru_cache(maxsize=64)
def chernoff_quantile(q):
    """Quantile for q in [1/2, 1 - 1e-9)."""
    if q <= 0.5:
        return 0.0
    return brentq(lambda z: _upper_half(z) - (q - 0.5), 0.0, FARTHEST, xtol=1e-12)

"""Kendall's tau and tail dependence of a pair of scores under each family."""

import numpy as np
from scipy.special import stdtr


def arcsine_tau(r):
    """Gaussian and student."""
    return float(2.0 / np.pi * np.arcsin(r))


def frank_tau(t):
    """1 - 4 (1 - D(t))/t, D(t) the mean of x/(e^x - 1) over [0, t]; t/9 to second order."""
    if abs(t) < 1e-3:
        return t / 9.0
    x, weight = np.polynomial.legendre.leggauss(64)
    x = abs(t) * (x + 1.0) / 2.0
    return float(np.sign(t) * (1.0 - 4.0 * np.sum(weight * (1.0 - x / np.expm1(x))) / 2.0 / abs(t)))


def plackett_tau(t):
    """1 - 4 times the integral of dC/du dC/dv, by Gauss-Legendre on one side of the diagonal."""
    if t < 1.0:
        return -plackett_tau(1.0 / t)
    if abs(t - 1.0) < 1e-6:
        return 2.0 / 9.0 * float(np.log(t))
    x, weight = np.polynomial.legendre.leggauss(80)
    x, weight = (x + 1.0) / 2.0, weight / 2.0
    # u = v (1 - g), jacobian v; the density is steepest on the diagonal and at its ends, so places crowd there
    v, dv = (x * x * (3.0 - 2.0 * x))[:, None], (6.0 * x * (1.0 - x) * weight)[:, None]
    g, dg = (x**3)[None, :], (3.0 * x * x * weight)[None, :]
    u, e = v * (1.0 - g), t - 1.0
    root = np.sqrt(1.0 + 2.0 * e * (u * (1.0 - v) + v * (1.0 - u)) + (e * v * g) ** 2)
    along = (1.0 - (1.0 + e * (u + v) - 2.0 * t * v) / root) * (1.0 - (1.0 + e * (u + v) - 2.0 * t * u) / root) / 4.0
    return float(1.0 - 8.0 * np.sum(dv * dg * v * along))


def student_tail(r, nu):
    """Both tails of student."""
    return float(2.0 * stdtr(nu + 1.0, -np.sqrt((nu + 1.0) * (1.0 - r) / (1.0 + r))))

"""Maximum likelihood of the correlations of gaussian and student copulas, for two scores and for more."""

import numpy as np
from scipy.optimize import brentq, minimize

from . import MOST_CORRELATION
from .elliptical import gaussian, gaussian_many, student, student_many

LEAST = 1.0 - MOST_CORRELATION  # smallest eigenvalue, so that no correlation goes beyond +-.999

START = 25  # places of the first search for the correlation of student, on the scale of atanh


def total(w, x):
    """Sum of w x, without BLAS: its threads would wait for each other beside other processes."""
    return float(np.einsum("i,i", w, x))


def gaussian_pair(x, w):
    """(r, log-likelihood) at normal scores x, two columns: the score is n r (1 - r^2) + (1 + r^2) P - r S = 0."""
    n, P, S = w.sum(), total(w, x[0] * x[1]), total(w, x[0] ** 2 + x[1] ** 2)
    roots = np.roots([-n, P, n - S, P])
    real = roots.real[np.abs(roots.imag) < 1e-9]
    places = np.clip(np.r_[real, -1.0, 1.0], -MOST_CORRELATION, MOST_CORRELATION)
    values = [total(w, gaussian(x, r)) for r in places]
    k = int(np.argmax(values))
    return float(places[k]), values[k]


def student_pair(x, w, nu, start=None):
    """(r, log-likelihood) at quantiles x of t_nu, two columns: the zero of the score next to start."""
    end = float(np.arctanh(MOST_CORRELATION))
    both, square = x[0] * x[1], x[0] ** 2 + x[1] ** 2
    n = w.sum()

    def slope(z):
        """Derivative in r, up to a positive factor."""
        r = np.tanh(z)
        rest = (1.0 - r) * (1.0 + r)
        pull = (r * square - (1.0 + r * r) * both) / (nu * rest + square - 2.0 * r * both)
        return float(n * r - (nu + 2.0) * total(w, pull))

    if start is None:
        places = np.linspace(-end, end, START)
        values = [total(w, student(x, float(np.tanh(z)), nu)) for z in places]
        start, reach = float(places[np.argmax(values)]), end / 12
    else:
        start, reach = float(np.arctanh(start)), 0.05
    low, high = _around(slope, start, reach, end)
    z = low if low == high else brentq(slope, low, high, xtol=1e-12)
    r = min(max(float(np.tanh(z)), -MOST_CORRELATION), MOST_CORRELATION)
    return r, total(w, student(x, r, nu))


def _around(slope, z, reach, end):
    """Two places about z between which the slope turns from rising to falling; one twice where that is the end."""
    rising = slope(z) > 0
    while True:
        ahead = min(z + reach, end) if rising else max(z - reach, -end)
        if (slope(ahead) > 0) != rising:
            return (z, ahead) if rising else (ahead, z)
        if abs(ahead) == end:
            return ahead, ahead
        z, reach = ahead, 2.0 * reach


def fit_correlation(x, w, nu=None, start=None):
    """(R (d, d), log-likelihood) at x, d columns of normal scores or, with nu, of quantiles of t_nu.

    R = (1 - e) L L' + e I, the rows of L of length one: every correlation matrix with eigenvalues >= e = .001. The
    search (BFGS) goes over rows of any length, whose directions are L.
    """
    X, d, n = np.stack(x, axis=1), len(x), w.sum()
    S = (X.T * w) @ X / n
    size = np.sqrt(np.diag(S))
    lower = np.tril_indices(d)
    v = _root(S / np.outer(size, size) if start is None else start)[lower]

    def loss(v):
        L, lengths = _rows(v, d, lower)
        R = (1.0 - LEAST) * (L @ L.T) + LEAST * np.eye(d)
        inverse = np.linalg.inv(R)
        half_log_det = 0.5 * np.linalg.slogdet(R)[1]
        if nu is None:
            value, spread = half_log_det + 0.5 * np.sum(inverse * S), S
        else:
            form = np.sum((X @ inverse) * X, axis=1)
            value = half_log_det + 0.5 * (nu + d) * total(w, np.log1p(form / nu)) / n
            spread = (X.T * (w * (nu + d) / (nu + form))) @ X / n
        G = 0.5 * (inverse - inverse @ spread @ inverse)
        slope = 2.0 * (1.0 - LEAST) * (G @ L)
        slope = (slope - L * np.sum(slope * L, axis=1, keepdims=True)) / lengths
        return value, slope[lower]

    found = minimize(loss, v, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 500})
    L, _ = _rows(found.x, d, lower)
    R = (1.0 - LEAST) * (L @ L.T) + LEAST * np.eye(d)
    R = (R + R.T) / 2.0
    np.fill_diagonal(R, 1.0)
    logs = gaussian_many(x, R) if nu is None else student_many(x, R, nu)
    return R, total(w, logs)


def _rows(v, d, lower):
    """(L with rows of length one, their lengths before)."""
    L = np.zeros((d, d))
    L[lower] = v
    lengths = np.sqrt(np.sum(L * L, axis=1, keepdims=True))
    return L / lengths, lengths


def _root(R):
    """A lower triangle near to which R = (1 - e) L L' + e I; R is shrunk where it is nearly singular."""
    d = len(R)
    inner = (R - LEAST * np.eye(d)) / (1.0 - LEAST)
    smallest = np.linalg.eigvalsh(inner)[0]
    mix = 0.0 if smallest > 1e-6 else (1e-6 - smallest) / (1.0 - smallest)
    return np.linalg.cholesky((1.0 - mix) * inner + mix * np.eye(d))

"""Bernstein polynomials on [0, 1]^M: basis, evaluation, gradient, degree elevation.

Paper: Wang & Liu (2020), eq. 8, 9, 16 and 17. Departure: a polynomial is evaluated from coefficient *steps* and
cumulated basis functions, S_k(s) = sum_{j >= k} b_{j,K}(s), so that a plateau of coefficients is a plateau of
floating-point numbers and round-off cannot make a non-decreasing polynomial fall by more than a few 1e-16.
"""

from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

CHUNK = 4096  # rows at a time: some forty vectors of this length stay in the second-level cache
POWERS_UP_TO = 500  # above this degree powers underflow and binomials overflow: logarithms instead


def basis(x, K):
    """Bernstein basis b_{k,K}(x) of eq. 9 as a (K + 1, n) array; x (n,) in [0, 1]."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    if K > POWERS_UP_TO:
        k = np.arange(K + 1.0)[:, None]
        return np.exp(log_binomial(K)[:, None] + xlogy(k, x) + xlog1py(K - k, -x))
    b = bare_basis(x, K)
    b *= binomial(K)[:, None]
    return b


def bare_basis(x, K):
    """The basis without its binomial factors, x^k (1 - x)^(K - k) as a (K + 1, n) array; K up to POWERS_UP_TO."""
    b = np.empty((K + 1, len(x)))
    b[0] = 1.0
    for k in range(K):
        np.multiply(b[k], x, out=b[k + 1])
    q = 1.0 - x
    power = np.ones_like(x)
    for k in range(K - 1, -1, -1):
        power *= q
        b[k] *= power
    return b


def design(s, K):
    """The (n, p) design of degrees K at scores s (n, M) in [0, 1], C order of the coefficient grid."""
    out = np.ones((len(s), 1))
    for m, k in enumerate(K):
        out = (out[:, :, None] * basis(s[:, m], k).T[:, None, :]).reshape(len(s), -1)
    return out


@lru_cache(maxsize=256)
def binomial(K):
    """Row K of Pascal's triangle as a float64 array, correctly rounded up to K = 56 and to a few ulp beyond."""
    row = [1]
    for k in range(K):
        row.append(row[-1] * (K - k) // (k + 1))
    out = np.array([float(c) for c in row]) if K <= 1000 else np.exp(log_binomial(K))
    out.setflags(write=False)
    return out


def log_binomial(K):
    k = np.arange(K + 1.0)
    return gammaln(K + 1) - gammaln(k + 1) - gammaln(K - k + 1)


def cumulated_basis(x, K):
    """S_k(x) = sum_{j >= k} b_{j,K}(x) for k = 1..K as a (K, n) array: what a step at k contributes."""
    b = basis(x, K)
    for k in range(K - 1, -1, -1):  # in place, from the top
        b[k] += b[k + 1]
    b[1:] /= b[0]  # b[0] is 1 up to round-off: dividing removes the error all S_k share
    return b[1:]


def evaluate(beta, s):
    """f(s) of eq. 8 for s (n, M) in [0, 1]; beta has M axes. NaN in a row gives NaN. Returns (n,).

    Axis by axis, elementwise, in a fixed order: a row's value never depends on the rows beside it.
    """
    out = np.empty(len(s))
    for a in range(0, len(s), CHUNK):
        part = s[a : a + CHUNK]
        cumulated = [cumulated_basis(part[:, m], size - 1) for m, size in enumerate(beta.shape)]
        out[a : a + CHUNK] = np.where(np.isnan(part).any(axis=1), np.nan, _contract(beta, cumulated))
    return out


def _contract(beta, cumulated):
    """sum over all axes of beta with the cumulated bases, the last axis first."""
    if beta.ndim == 1:
        return _along(beta[0], np.diff(beta), cumulated[0])
    rows = [_contract(b, cumulated[1:]) for b in beta]
    return _along(rows[0], (hi - lo for lo, hi in pairwise(rows)), cumulated[0])


def _along(first, steps, cumulated):
    total = first
    for step, S in zip(steps, cumulated, strict=True):
        if np.ndim(step) or step != 0.0:
            total = total + step * S
    return total


def gradient(beta, s):
    """Partial derivatives of eq. 8 at s (n, M) as an (n, M) array: K_m times the polynomial of the steps."""
    out = np.empty((len(s), beta.ndim))
    for m, size in enumerate(beta.shape):
        out[:, m] = (size - 1) * evaluate(np.diff(beta, axis=m), s)
    return out


@lru_cache(maxsize=512)
def elevation(K, D):
    """(K + 1, D + 1) matrix E with b_{j,K} = sum_i E[j, i] b_{i,D} (eq. 17 repeated); D >= K."""
    i, j = np.arange(D + 1)[None, :], np.arange(K + 1)[:, None]
    inside = (i >= j) & (i - j <= D - K)
    if D <= POWERS_UP_TO:
        E = np.where(inside, binomial(K)[:, None] * binomial(D - K)[np.clip(i - j, 0, D - K)] / binomial(D), 0.0)
    else:
        logs = log_binomial(K)[:, None] + log_binomial(D - K)[np.clip(i - j, 0, D - K)] - log_binomial(D)
        E = np.where(inside, np.exp(logs), 0.0)
    E.setflags(write=False)
    return E


def along_axes(array, matrices):
    """Multiply the axes of an array by matrices: out[j..] = sum_i A_1[j_1, i_1] ... array[i..]."""
    for m, A in enumerate(matrices):
        array = np.moveaxis(np.tensordot(A, array, axes=(1, m)), 0, m)
    return array


def elevate(beta, degrees):
    """Coefficients of the same polynomial at higher degrees (eq. 17); the shape survives up to round-off."""
    if any(D < size - 1 for D, size in zip(degrees, beta.shape, strict=True)):
        raise ValueError(f"degrees {tuple(degrees)} are lower than {tuple(k - 1 for k in beta.shape)}")
    return along_axes(beta, [elevation(size - 1, D).T for D, size in zip(degrees, beta.shape, strict=True)])

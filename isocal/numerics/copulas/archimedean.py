"""Log densities of the Archimedean copulas clayton, frank and gumbel for two or more scores.

`t` is a number or an array that broadcasts against the columns, so that a grid of parameters is one call. The forms
keep 1e-12 of relative accuracy from one end of the fitted ranges to the other (METHODS section 4).
"""

import numpy as np


def clayton(x, t):
    """log c at x = -log u, a list of d arrays; t > 0."""
    d = len(x)
    total, top = sum(x[1:], x[0]), x[0]
    for a in x[1:]:
        top = np.maximum(top, a)
    with np.errstate(over="ignore"):  # exp(t x) of rows that take the other branch
        near = np.log1p(sum(np.expm1(t * a) for a in x))  # sum u^-t - d + 1 as 1 + small parts
        far = t * top + np.log(sum(np.exp(t * (a - top)) for a in x) - (d - 1) * np.exp(-t * top))
    log_sum = np.where(t * top < 1.0, near, far)
    front = sum(np.log1p(k * t) for k in range(1, d))
    return front + (1.0 + t) * total - (d + 1.0 / t) * log_sum


def gumbel(logs, t):
    """log c at logs = (x, log x), x = -log u, two lists of d arrays; t >= 1."""
    x, log_x = logs
    d = len(x)
    top = log_x[0]
    for a in log_x[1:]:
        top = np.maximum(top, a)
    log_A = top + np.log(sum(np.exp(t * (a - top)) for a in log_x)) / t
    A = np.exp(log_A)
    # log(P_d(A) t^d / A) by Horner; d = 2: log(A + t - 1)
    coef = _gumbel_polynomial(d, t)
    value = coef[-1] + 0.0 * A
    for c in coef[-2::-1]:
        value = value * A + c
    return np.log(value) + (1.0 - d * t) * log_A - A + (t - 1.0) * sum(log_x[1:], log_x[0]) + sum(x[1:], x[0])


def _gumbel_polynomial(d, t):
    """Coefficients of P_d(A) t^d / A in rising powers, from P_1 = A/t, P_{k+1} = (A/t + k) P_k - (A/t) P_k'."""
    coef = [1.0 + 0.0 * t]
    for k in range(1, d):
        same = [(k * (t - 1.0) + (k - 1 - j)) * c for j, c in enumerate(coef)]  # none is negative, since t >= 1, j < k
        coef = [a + b for a, b in zip([*same, 0.0], [0.0, *coef], strict=True)]
    return coef


def frank(u, t):
    """log c at u, a list of d arrays; any t for two scores, t >= 0 for more; t = 0 is independence."""
    d = len(u)
    a = np.abs(t)
    safe = np.where(a == 0, 1.0, a)
    first = np.where(np.less(t, 0), 1.0 - u[0], u[0]) if d == 2 else u[0]
    if d == 2:
        below = -safe * first + np.log(-np.expm1(-safe * u[1]))
        above = -safe * u[1] + np.log(-np.expm1(-safe * (1.0 - u[1])))
        log_all = np.log(-np.expm1(-safe))
        found = np.log(safe) + log_all - safe * (first + u[1]) - 2.0 * np.logaddexp(below, above)
    else:
        log_all = _log1mexp(safe)
        log_h = sum(_log1mexp(safe * v) for v in u) - (d - 1) * log_all
        log_h = np.minimum(log_h, -np.finfo(float).tiny)
        tail = np.log(_eulerian(d - 1, np.exp(log_h))) - d * _log1mexp(-log_h)
        found = (d - 1) * np.log(safe) - safe * sum(u[1:], u[0]) - (d - 1) * log_all + tail
    return np.where(a == 0, 0.0, found)


def _log1mexp(a):
    """log(1 - exp(-a)), a > 0, of full relative accuracy also where it is nearly 0."""
    return np.where(a < 0.6931, np.log(-np.expm1(-np.minimum(a, 1.0))), np.log1p(-np.exp(-np.maximum(a, 0.5))))


def _eulerian(n, h):
    """The Eulerian polynomial 1, 1 + h, 1 + 4 h + h^2, ... of degree n - 1, by Horner; N_d of METHODS is n = d - 1."""
    coef = [1]
    for m in range(2, n + 1):
        coef = [(k + 1) * a + (m - k) * b for k, (a, b) in enumerate(zip([*coef, 0], [0, *coef], strict=True))]
    value = float(coef[-1])
    for c in coef[-2::-1]:
        value = value * h + c
    return value

"""Log densities of the elliptical copulas gaussian and student for two or more scores."""

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit


def gaussian(x, r):
    """log c at normal scores x, a list of two arrays; r in (-1, 1), a number or an array that broadcasts."""
    x, y = x
    rest = (1.0 - r) * (1.0 + r)
    return -0.5 * np.log(rest) - (r * r * (x - y) ** 2 - 2.0 * r * (1.0 - r) * x * y) / (2.0 * rest)


def gaussian_many(x, R):
    """log c at normal scores x, a list of d arrays; R (d, d) a correlation matrix."""
    half_log_det, form = quadratic(x, R)
    return -half_log_det - 0.5 * (form - sum(a * a for a in x))


def student(x, r, nu):
    """log c at quantiles x = t_nu^-1(u), a list of two arrays; r in (-1, 1), nu > 0."""
    a, b = x
    rest = (1.0 - r) * (1.0 + r)
    form = ((a - b) ** 2 + 2.0 * (1.0 - r) * a * b) / rest
    return _student(x, form, 0.5 * np.log(rest), nu)


def student_many(x, R, nu):
    """log c at quantiles x = t_nu^-1(u), a list of d arrays; R (d, d) a correlation matrix."""
    half_log_det, form = quadratic(x, R)
    return _student(x, form, half_log_det, nu)


def _student(x, form, half_log_det, nu):
    d = len(x)
    front = gammaln((nu + d) / 2) + (d - 1) * gammaln(nu / 2) - d * gammaln((nu + 1) / 2)
    margins = sum(np.log1p(a * a / nu) for a in x)
    return front - half_log_det - 0.5 * (nu + d) * np.log1p(form / nu) + 0.5 * (nu + 1) * margins


def quadratic(x, R):
    """(log|R|/2, x' R^-1 x (n,)) row by row in a fixed order, so that a row alone has the same value."""
    L = np.linalg.cholesky(R)
    form = 0.0
    solved = []
    for i, a in enumerate(x):
        z = a
        for j in range(i):
            z = z - L[i, j] * solved[j]
        z = z / L[i, i]
        solved.append(z)
        form = form + z * z
    return float(np.sum(np.log(np.diag(L)))), form


def matrix(correlations, d):
    """(d, d) from the d (d - 1)/2 correlations (1,2), (1,3), ..., (2,3), ..."""
    R = np.eye(d)
    R[np.triu_indices(d, 1)] = correlations
    return np.triu(R) + np.triu(R, 1).T


def t_quantile(nu, u):
    """t_nu^-1(u), sharpened by a step of Newton: some versions of scipy's stdtrit stop at a relative 5e-9."""
    u = np.asarray(u, dtype=np.float64)
    p = np.minimum(u, 1.0 - u)
    x = stdtrit(nu, p)
    front = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    with np.errstate(invalid="ignore"):
        x = x - (stdtr(nu, x) - p) / np.exp(front - (nu + 1) / 2 * np.log1p(x * x / nu))
    return np.where(u > 0.5, -x, x)

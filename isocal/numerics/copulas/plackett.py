"""Log density of the Plackett copula of two scores."""

import numpy as np


def plackett(u, t):
    """log c at u, a list of two arrays; t > 0, a number or an array that broadcasts; t = 1 is independence."""
    small = np.less(t, 1.0)
    t = np.where(small, 1.0 / t, t)  # c_t(u, v) = c_{1/t}(1 - u, v)
    a, b = np.where(small, 1.0 - u[0], u[0]), u[1]
    w = np.where(small, u[0] * b + (1.0 - b) * (1.0 - u[0]), u[0] * (1.0 - b) + b * (1.0 - u[0]))
    e = t - 1.0
    return np.log(t) + np.log1p(e * w) - 1.5 * np.log1p(2.0 * e * w + (e * (a - b)) ** 2)

"""Quantiles of mixtures of Beta distributions."""

import numpy as np
from scipy.special import betainc

HALVINGS = 60  # of [0, 1]: below the spacing of float64 near 1


def mixture_quantile(weights, alpha, beta, q):
    """q-quantiles of mixtures with weights (k,) of Beta(alpha, beta), both (n, k); bisection. Returns (n,).

    Rows with NaN parameters give NaN.
    """
    low, high = np.zeros(len(alpha)), np.ones(len(alpha))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = betainc(alpha, beta, middle[:, None]) @ weights < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(np.isnan(alpha).any(axis=1), np.nan, (low + high) / 2)

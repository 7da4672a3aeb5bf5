"""Weights of a mixture of given distributions by expectation-maximisation, stopped early on purpose."""

import numpy as np

TINY = 1e-300


def em_weights(likelihood, w=None, steps=300):
    """(J,) weights on the simplex after some EM steps from equal ones for sum_i w_i log sum_j a_j L_ij.

    likelihood (n, J) >= 0, floored at 1e-300; w (n,) weights of rows or None. Each step is
    a_j <- mean_i w_i a_j L_ij / sum_k a_k L_ik; none of them lowers the likelihood. Few steps keep the weights near
    equal: that is the regularisation, not a lack of convergence.
    """
    n, J = likelihood.shape
    L = np.maximum(likelihood, TINY)
    share = np.full(n, 1.0 / n) if w is None else w / w.sum()
    a = np.full(J, 1.0 / J)
    for _ in range(steps):
        a = a * ((share / (L @ a)) @ L)
        a /= a.sum()
    return a


def bernoulli_likelihood(p, y):
    """Probability (n, J) that forecasts p (n, J) gave to labels y (n,)."""
    return np.where(y[:, None] == 1, p, 1.0 - p)

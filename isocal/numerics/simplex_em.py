"""Weights of a mixture of given distributions: exponential in their likelihoods, then a few steps of
expectation-maximisation, stopped early on purpose.
"""

import numpy as np

TINY = 1e-300


def exponential_weights(likelihood, w=None, rate=0.25):
    """(J,) weights proportional to exp(rate sum_i w_i log L_ij); likelihood (n, J), w (n,) weights of rows or None.

    Each row's L is floored at half a row, .5/(weight + 1), so that no single row decides. rate 0: equal weights.
    """
    total = len(likelihood) if w is None else w.sum()
    each = np.log(np.maximum(likelihood, 0.5 / (total + 1.0)))
    value = rate * (each.sum(axis=0) if w is None else w @ each)
    a = np.exp(value - value.max())
    return a / a.sum()


def em_weights(likelihood, w=None, steps=100, start=None):
    """(J,) weights on the simplex after some EM steps from start (J,), or equal ones, for sum_i w_i log sum_j a_j L_ij.

    likelihood (n, J) >= 0, floored at 1e-300; w (n,) weights of rows or None. Each step is
    a_j <- mean_i w_i a_j L_ij / sum_k a_k L_ik; none of them lowers the likelihood. Few steps keep the weights near
    the start: that is the regularisation, not a lack of convergence.
    """
    n, J = likelihood.shape
    L = np.maximum(likelihood, TINY)
    share = np.full(n, 1.0 / n) if w is None else w / w.sum()
    a = np.full(J, 1.0 / J) if start is None else start
    for _ in range(steps):
        a = a * ((share / (L @ a)) @ L)
        a /= a.sum()
    return a


def bernoulli_likelihood(p, y):
    """Probability (n, J) that forecasts p (n, J) gave to labels y (n,)."""
    return np.where(y[:, None] == 1, p, 1.0 - p)

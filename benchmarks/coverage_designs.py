"""Truths and designs of the coverage simulation: maps of scores (n, M) in [0, 1], and draws of such scores."""

import numpy as np
from scipy.special import expit, logit, ndtr


def _one(f):
    return lambda s: f(s[:, 0])


def _staircase(x):
    return 0.1 + 0.8 * np.floor(4 * np.minimum(x, 0.9999)) / 3


TRUTHS = {
    1: {
        "S": _one(lambda x: expit(6 * (x - 0.5))),
        "constant": _one(lambda x: np.full_like(x, 0.3)),
        "flat then rise": _one(lambda x: 0.15 + 0.7 * np.clip((x - 0.5) / 0.5, 0, 1) ** 2),
        "steep": _one(lambda x: 0.05 + 0.9 * expit(26.7 * (x - 0.5))),  # slope 6 at 1/2
        "logit shift": _one(lambda x: expit(logit(np.clip(x, 1e-9, 1 - 1e-9)) * 1.5 - 0.8)),
        "cubic": _one(lambda x: 0.1 + 0.8 * x**3),
        "kink": _one(lambda x: 0.2 + 1.4 * np.maximum(x - 0.55, 0.0)),
        "rare": _one(lambda x: 0.02 + 0.10 * x**2),
        "staircase": _one(_staircase),
    },
    2: {
        "smooth": lambda s: expit(3 * (s[:, 0] + s[:, 1] - 1)),
        "s1 only": lambda s: expit(5 * (s[:, 0] - 0.5)),
        "kink": lambda s: 0.1 + 0.8 * np.minimum(s[:, 0], s[:, 1]),
        "product": lambda s: 0.05 + 0.9 * s[:, 0] * s[:, 1],
        "rare": lambda s: 0.02 + 0.05 * (s[:, 0] + s[:, 1] ** 2),
        "corner": lambda s: 0.1 + 0.8 * expit(20 * (np.minimum(s[:, 0], s[:, 1]) - 0.5)),  # steep and L-shaped
        "staircase": lambda s: _staircase(s.mean(axis=1)),
    },
    3: {
        "smooth": lambda s: expit(2.5 * (s.sum(axis=1) - 1.5)),
        "kink": lambda s: 0.1 + 0.8 * s.min(axis=1),
    },
}  # fmt: skip


def _copula(rng, n, rho=0.6):
    """Uniform scores of two classifiers with a Gaussian copula."""
    z = rng.standard_normal((n, 2))
    return ndtr(np.c_[z[:, 0], rho * z[:, 0] + np.sqrt(1 - rho**2) * z[:, 1]])


DESIGNS = {
    1: {
        "uniform": lambda rng, n: rng.random((n, 1)),
        "Beta(2, 5)": lambda rng, n: rng.beta(2, 5, (n, 1)),
        "Beta(.6, .6)": lambda rng, n: rng.beta(0.6, 0.6, (n, 1)),
    },
    2: {"uniform": lambda rng, n: rng.random((n, 2)), "copula": _copula},
    3: {"uniform": lambda rng, n: rng.random((n, 3))},
}

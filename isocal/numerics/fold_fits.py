"""Fits of one degree to all rows and to the train parts of folds in one stroke, and what they lose on the test parts.

The held-out Brier score costs no pass over the rows: sum (y - f)^2 = sum w y - 2 beta' T1 + beta' G beta.
"""

import numpy as np

from .basis import along_axes, elevation
from .cone import cone
from .many_qp import ManyFits, solve_each
from .moments import grams
from .qp import tie_break
from .sieve import fit_part


def fit_parts(parts, K, sieve, rough=False):
    """ManyFits of degree K (a tuple) to Parts under the loss and the shrinkage of the sieve.

    The likelihood starts from the fit of the first part, which therefore holds the rows of the others. rough: its
    other fits are good enough to compare degrees, no more.
    """
    if sieve.loss == "brier":
        return fit_sums([part.shrunk(sieve.shrink) for part in parts], K, sieve)
    first = fit_part(parts[0], K, sieve)
    fits = [first, *(fit_part(part, K, sieve, rough, first.beta) for part in parts[1:])]
    return ManyFits(*(np.array([getattr(fit, name) for fit in fits]) for name in ("beta", "df", "kkt", "polished")))


def fit_sums(sums, K, sieve):
    """ManyFits of least squares at degree K (a tuple) to several Moments of the same degrees."""
    shape = tuple(k + 1 for k in K)
    G, t = _normal_equations(sums, K)
    weight, events = (np.array([getattr(one, name) for one in sums]) for name in ("weight", "events"))
    penalty = tie_break(shape, float(sieve.strength)) if sieve.strength else None
    return solve_each(G, t, weight, events / weight, cone(shape, tuple(sieve.directions)), penalty)


def losses(beta, tests, K):
    """(r,) sums of w (y - f)^2 of coefficients beta (r, p) of degree K (a tuple) over as many test parts, Moments."""
    G, t = _normal_equations(tests, K)
    events = np.array([test.events for test in tests])
    return events - 2 * np.einsum("ij,ij->i", beta, t) + np.einsum("ij,ijk,ik->i", beta, G, beta)


def _normal_equations(sums, K):
    """G (r, p, p), t (r, p) of degree K from r Moments of degrees 2K or more."""
    T = np.stack([np.stack([one.T0, one.T1]) for one in sums], axis=-1)  # parts last
    to_low = [elevation(2 * k, size - 1) for k, size in zip(K, T.shape[1:-1], strict=True)]
    T0, T1 = np.moveaxis(along_axes(np.moveaxis(T, 0, -1), to_low), -1, 0)
    t = along_axes(T1, [elevation(k, 2 * k) for k in K])
    return grams(np.moveaxis(T0, -1, 0), K), t.reshape(-1, len(sums)).T

"""Averaging over degrees instead of choosing one: the counterpart of BBQ's averaging over binnings.

A polynomial of degree K is one of every higher degree, with coefficients that stay in the cone (Wang & Liu 2020,
eq. 17), so a convex combination of fits of degrees 1 to K_max is one isotonic polynomial of degree K_max.
"""

from dataclasses import dataclass

import cvxopt
import numpy as np
from cvxopt import solvers

from .basis import along_axes, elevation
from .fold_fits import fit_parts
from .moments import gram, rhs

OPTIONS = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12}
EVEN = 1e-8  # ridge toward equal weights, relative to the mean diagonal: degrees that predict alike share evenly
ROUNDS, SIGN = 30, 1e-12


@dataclass(frozen=True, eq=False)
class DegreeAverage:
    """beta of degree K_max on every axis; weights (degrees,) >= 0 that sum to one; cv (degrees,) held-out Brier scores,
    or None where equal weights need none; kkt, polished: the worst of the fits.
    """

    beta: np.ndarray
    K: list
    weights: np.ndarray
    cv: np.ndarray | None
    kkt: float
    polished: bool

    def columns(self):
        """{column: list} for a table."""
        held = {} if self.cv is None else {"cv_brier": self.cv.tolist()}
        return {"K": [k[0] for k in self.K], **held, "weight": self.weights.tolist()}


def average_degrees(whole, folds, K_list, sieve, how):
    """Fit every degree of K_list to the Part whole and average; folds (None for how="equal") tell the weights.

    how: "stack" minimises the held-out Brier score of the average; "exp": exp(-n (cv - min cv)/(2 min cv)), n the
    sum of weights; "equal".
    """
    stacked = how != "equal" and folds.weight > 0
    parts = [whole, *folds.train] if stacked else [whole]
    fits = [fit_parts(parts, K, sieve) for K in K_list]
    shapes = [tuple(k + 1 for k in K) for K in K_list]
    grids = [fit.beta.reshape(-1, *shape) for fit, shape in zip(fits, shapes, strict=True)]
    raised = np.array([_raised(grid, K_list[-1]) for grid in grids])  # (degrees, parts, K_max + 1, ...)
    weights, cv = np.full(len(K_list), 1 / len(K_list)), None
    if stacked:
        Q, c, total = _held_out_products(raised[:, 1:], folds, K_list[-1])
        cv = total - 2 * c + np.diag(Q)
        weights = simplex_weights(Q, c) if how == "stack" else _exponential(cv, whole.sums.weight)
    beta = np.clip(np.tensordot(weights, raised[:, 0], axes=1), raised[:, 0].min(), raised[:, 0].max())
    kkt, polished = max(float(fit.kkt[0]) for fit in fits), all(bool(fit.polished[0]) for fit in fits)
    return DegreeAverage(beta, list(K_list), weights, cv, kkt, polished)


def _raised(grids, top):
    """The same polynomials (parts, ...) at the highest degree; a constant stays what it is to the last bit."""
    to_top = [elevation(size - 1, K).T for size, K in zip(grids.shape[1:], top, strict=True)]
    raised = np.moveaxis(along_axes(np.moveaxis(grids, 0, -1), to_top), -1, 0)
    axes = tuple(range(1, grids.ndim))
    return np.clip(raised, grids.min(axis=axes, keepdims=True), grids.max(axis=axes, keepdims=True))


def _held_out_products(raised, folds, top):
    """(Q, c, total): the held-out Brier score of weights a is total - 2 c'a + a'Qa; raised (degrees, folds, ...)."""
    Q, c, total = np.zeros((len(raised),) * 2), np.zeros(len(raised)), 0.0
    for f, test in enumerate(folds.test):
        B, test = raised[:, f].reshape(len(raised), -1), test.lower([2 * k for k in top])
        Q += B @ gram(test.T0, top) @ B.T
        c += B @ rhs(test.T1, top)
        total += test.events
    return Q / folds.weight, c / folds.weight, total / folds.weight


def _exponential(cv, n):
    excess = cv - cv.min()
    excess = np.where(excess > SIGN, excess, 0.0)  # round-off of scores of 0 is no difference
    a = np.where(excess > 0, np.exp(-n * excess / (2 * max(cv.min(), np.finfo(np.float64).tiny))), 1.0)
    return a / a.sum()


def simplex_weights(Q, c):
    """a >= 0 with sum 1 that minimises a'Qa - 2 c'a; where that leaves it open, the most even."""
    k = len(c)
    P = Q + EVEN * (np.trace(Q) / k) * np.eye(k)
    if k == 1 or not np.trace(P) > 0:
        return np.full(k, 1 / k)
    P, c = P / (np.trace(P) / k), c / (np.trace(P) / k)
    found = solvers.qp(
        cvxopt.matrix(P), cvxopt.matrix(-c), cvxopt.matrix(-np.eye(k)), cvxopt.matrix(np.zeros(k)),
        cvxopt.matrix(np.ones((1, k))), cvxopt.matrix(1.0), options=OPTIONS,
    )  # fmt: skip
    interior, z = np.array(found["x"]).ravel(), np.array(found["z"]).ravel()
    exact = _polished(P, c, interior > z)
    a = np.maximum(interior if exact is None else exact, 0.0)
    return a / a.sum()


def _polished(P, c, free):
    """The minimiser with the other weights at zero, rows joining and leaving until it is optimal; None if it fails."""
    for _ in range(ROUNDS):
        k = int(free.sum())
        system = np.block([[P[np.ix_(free, free)], np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
        try:
            solution = np.linalg.solve(system, np.r_[c[free], 1.0])
        except np.linalg.LinAlgError:
            return None
        a = np.zeros(len(c))
        a[free] = solution[:-1]
        reduced = P @ a - c + solution[-1]  # >= 0 at weights of zero
        if a.min() < -SIGN:
            free = free & (a > a.min())
        elif reduced[~free].min(initial=0.0) < -SIGN:
            free = free | (reduced <= reduced[~free].min())
        else:
            return a
    return None

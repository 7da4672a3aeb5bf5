"""Isotonic probabilities at distinct rows of scores, smoothed by the similarity of near rows, for one or many lam.

Penalty (lam/2) p' Omega p; Omega the Laplacian D - W or the matrix W of w_ij = c_i c_j / max(|S_i - S_j|, 1/n).
"""

from dataclasses import dataclass

import numpy as np

from .between import Between, between
from .folds import fold_weights
from .order_fit import fit, laplacian, similarities, smallest_if_not_convex
from .orders import collapse, running_maximum


class NotConvex(ValueError):
    """The objective has no smallest value, or more than one."""


@dataclass(frozen=True, eq=False)
class Smoothed:
    """weight (k,) and mean (k,) of the points of between; kind and Omega (k, k) of the penalty, or None."""

    between: Between
    weight: np.ndarray
    mean: np.ndarray
    kind: str
    Omega: np.ndarray | None

    def solve(self, lam, start=None):
        """(OrderFit, values in [0, 1] that never fall along the pairs); start: values of a near lam."""
        if lam > 0 and self.kind == "similarity":
            smallest = smallest_if_not_convex(self.weight, lam, self.Omega)
            if smallest is not None:
                raise NotConvex(
                    f"omega='similarity' with lam={lam:g} makes the objective not convex (smallest eigenvalue "
                    f"{smallest:.3g}): use omega='laplacian' or a smaller lam"
                )
        low, high = self.between.pairs
        found = fit(low, high, self.weight, self.mean, lam, self.Omega, start)
        return found, np.clip(running_maximum(found.x, low, high), 0.0, 1.0)


def smoothed(s, y, w, kind, filling, coupled=True):
    """The Smoothed of rows s (n, M), y (n,), w (n,) or None; coupled: whether any lam > 0 will be asked for."""
    points, weight, mean = collapse(s, y, w)
    W = similarities(points, weight) if coupled else None
    Omega = laplacian(W) if coupled and kind == "laplacian" else W
    return Smoothed(between(points, filling), weight, mean, kind, Omega)


def held_out_path(s, y, w, raw, grid, kind, filling):
    """Mean five-fold Brier score of each lam of an increasing grid, folds made of raw (n, M).

    Ends before the first lam whose objective is not convex in some part. None where no part could be held out.
    """
    total, W = np.ones(len(y)) if w is None else w, fold_weights(y, raw, w)
    loss, judged_at_all = np.zeros(len(grid)), False
    for test in W.T:
        train, judged = total - test > 0, test > 0
        if not train.any() or not judged.any():
            continue
        problem, x = smoothed(s[train], y[train], (total - test)[train], kind, filling), None
        judged_at_all = True
        for k in range(len(loss)):
            try:
                found, values = problem.solve(grid[k], x)
            except NotConvex:
                loss = loss[:k]
                break
            x = running_maximum(found.x, *problem.between.pairs)
            loss[k] += test[judged] @ (y[judged] - problem.between.at(values, s[judged])) ** 2
    return loss / total.sum() if judged_at_all else None

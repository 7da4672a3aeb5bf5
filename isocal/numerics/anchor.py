"""What a fit is shrunk toward: probabilities at the rows of a part, learned from those rows alone.

Pseudo-data: shrinking with weight lambda adds to every row lambda copies of itself whose label is the anchor's
probability p0, so that the moments become (1 + lambda) T0 and T1 + lambda T1(p0) and the fit stays in the cone.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from .logistic import clipped_logit, edges, fit_logistic, smoothed_targets
from .pool_logistic import fit_pool


@dataclass(frozen=True, eq=False)
class Anchor:
    """x (n, k): regressors of a logistic fusion with slopes >= 0, by Platt's targets or, pooled, near their mean; or p
    (n,): probabilities; both clipped at half a row, .5/(weight + 1), since the likelihood takes pseudo-labels
    literally; neither: the mean.
    """

    x: np.ndarray | None = None
    p: np.ndarray | None = None
    pooled: bool = False

    def at(self, y, w, keep=slice(None)):
        """(rows kept,) probabilities from labels y and weights w (n,) or None, those of the rows kept alone."""
        y, w = y[keep], np.ones(len(y))[keep] if w is None else w[keep]
        if self.x is None and self.p is None:
            return np.full(len(y), float(w @ y / w.sum()))
        if self.p is not None:
            return _off_the_edge(self.p[keep], w.sum())
        x = self.x[keep]
        if self.pooled:
            coef = fit_pool(x, y, w).coef
        else:
            coef = fit_logistic(x, smoothed_targets(y, w), w, non_negative=True).coef
        return _off_the_edge(expit(coef[0] + x @ coef[1:]), w.sum())


def regressors(s, raw, directions, weight):
    """Logits of the raw scores (n, M) where they lie in [0, 1], else of s (n, M), turned to rise; free scores twice.

    Clipped at `edges`, or for s at .5/(weight + 1), where an ecdf that is 0 or 1 stands for half a row.
    """
    if raw.min() >= 0 and raw.max() <= 1:
        x = np.stack([clipped_logit(column, *edges(column)) for column in raw.T], axis=1)
    else:
        x = logit(_off_the_edge(s, weight))
    columns = [sign * x[:, m] for m, d in enumerate(directions) for sign in ((1.0, -1.0) if d == 0 else (d,))]
    return np.stack(columns, axis=1)


def _off_the_edge(p, weight):
    """Probabilities clipped at half a row."""
    edge = 0.5 / (weight + 1)
    return np.clip(p, edge, 1 - edge)

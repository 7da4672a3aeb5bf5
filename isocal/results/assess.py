"""How good is it: apparent and cross-validated figures."""

import warnings

import numpy as np

from .. import frames
from ..metrics import auc, brier, log_loss
from ..numerics.folds import fold_weights

METRICS = {"Brier score": brier, "Log loss": log_loss, "AUC": auc}


def facts(self):
    """Counts and apparent figures of a fit in memory, {name: value} of plain types."""
    rows = self.rows_or("facts")
    s = self.terms.scores(rows.raw, self.recipe.domain())
    p = self.curve(s)
    w = rows.weights
    gradient = self.curve.gradient(s)
    loss = log_loss(rows.y, p, rows.w)
    return {
        "n": len(rows.y),
        "weight": rows.weight,
        "events": float(w @ rows.y),
        "n_eff": float(w.sum() ** 2 / (w @ w)),
        "dropped": dict(rows.dropped),
        "llf": -loss * rows.weight,
        "slopes": None if gradient is None else (w @ gradient / w.sum()).tolist(),
        "apparent": {name: metric(rows.y, p, rows.w) for name, metric in METRICS.items()},
    }


def held_out(recipe, terms, rows, W=None):
    """(W, P, failure): weight of each row in each test part, and its probability from the other parts, (n, folds).

    W: test parts to use, as `fold_weights` deals them; those of the rows' own raw scores if left out.
    Transforms are learned anew on each training part. P is NaN where W is 0, and in parts whose training rows the
    method refuses: failure says why (None: none did).
    """
    failure = None
    W = fold_weights(rows.y, rows.raw, rows.w) if W is None else W
    P = np.full(W.shape, np.nan)
    for f in range(W.shape[1]):
        train, test = rows.weights - W[:, f], W[:, f] > 0
        keep = train > 0
        if not test.any() or not keep.any():
            continue
        learned, s = terms.learn(np.asfortranarray(rows.raw[keep]), train[keep])
        try:
            raw = {"raw": rows.raw[keep]} if recipe.needs_raw else {}
            curve = recipe.fit_many(s, rows.y[keep], train[keep], **raw)[0]
        except ValueError as error:
            failure = f"without test part {f + 1} of {W.shape[1]}: {error}"
            continue
        P[test, f] = curve(learned.scores(np.asfortranarray(rows.raw[test]), recipe.domain()))
    return W, P, failure


def cross_validated(self):
    """{metric: five-fold cross-validated value}, every occurrence of a row judged by the fit that has not seen it.

    NaN where a training part could not be fitted: leaving that part out would flatter the method.
    """
    rows = self.rows_or("cross-validation")
    W, P, failure = held_out(self.recipe, self.terms, rows)
    at = np.nonzero((W > 0) & ~np.isnan(P))
    if failure or not len(at[0]):
        return dict.fromkeys(METRICS, float("nan"))
    return {name: metric(rows.y[at[0]], P[at], W[at]) for name, metric in METRICS.items()}


def cross_val_predict(self):
    """Out-of-fold probabilities at the rows of the fit: each from the folds that do not hold the row.

    Folds (five) are a function of the rows alone: nothing is drawn at random, and the order of rows does not matter.
    Transforms are learned anew in each training part. A row whose integer weight spreads it over several folds gets
    the mean over its occurrences.

    Returns
    -------
    Series
        Of the caller's library, with the index of the rows used. NaN where no other part holds rows (n = 1), or where
        the method refuses the rows of the other parts.

    Warns
    -----
    UserWarning
        If a training part could not be fitted, with the reason.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> held_out = res.cross_val_predict()
    >>> bool(isocal.metrics.brier(data.y, held_out) > isocal.metrics.brier(data.y, res.fittedvalues))
    True
    """
    rows = self.rows_or("cross_val_predict()")
    W, P, failure = held_out(self.recipe, self.terms, rows)
    if failure:
        warnings.warn(f"cross_val_predict: {failure}", UserWarning, stacklevel=2)
    known = np.where(np.isnan(P), 0.0, W)
    total = known.sum(axis=1)
    with np.errstate(invalid="ignore"):
        p = np.sum(known * np.nan_to_num(P), axis=1) / total
    return frames.series(p, "predicted", rows.like, rows.index)

"""Is it calibrated: metrics, tests and reliability of a fit on new data or on cross-validated predictions."""

import warnings

import numpy as np

from .. import frames
from ..metrics import metrics_table
from ..numerics.likelihood_fit import log_likelihood
from ..response import read_response
from .assess import held_out

CROSS_VALIDATED = "Five-fold cross-validated predictions at the rows of the fit."
IN_SAMPLE = (
    "these are the rows of the fit: calibration there is apparent and its tests are vacuous; leave out `new` for "
    "cross-validated predictions (cross_val_predict()), or give rows the fit has not seen"
)


def _judged(self, new, weights):
    """(y, p, w, notes) on new rows that hold the response, or on cross-validated predictions."""
    if new is None:
        rows = self.rows_or("judging the fit without new data")
        W, P, failure = held_out(self.recipe, self.terms, rows)
        if failure:
            raise ValueError(f"cross-validation failed {failure}")
        at = np.nonzero((W > 0) & ~np.isnan(P))
        return rows.y[at[0]], P[at], None if rows.w is None else W[at], (CROSS_VALIDATED,)
    frame = frames.open_frame(new)
    _, y = read_response(frame, self.response.column, self.response.event)
    raw = self.terms.raw(frame)
    p = self.curve(self.terms.scores(raw, self.recipe.domain()))
    w = _new_weights(frame, weights, len(y))
    known = ~(np.isnan(y) | np.isnan(p)) & (True if w is None else w > 0)
    if not known.any():
        raise ValueError("new has no row with a response, all scores and a positive weight")
    if self.rows is not None and np.array_equal(raw[known], self.rows.raw) and np.array_equal(y[known], self.rows.y):
        warnings.warn(IN_SAMPLE, UserWarning, stacklevel=3)
    gone = len(y) - int(known.sum())
    notes = (f"Left out: {gone:,} rows without response, score or weight.",) if gone else ()
    impossible = log_likelihood(p[known], y[known]).impossible
    if impossible:
        notes += (f"Log-likelihood -inf: {impossible:,} rows had probability 0 of what happened.",)
    return y[known], p[known], None if w is None else w[known], notes


def _new_weights(frame, weights, n):
    if weights is None:
        return None
    w = frames.numbers(frame, weights) if isinstance(weights, str) else np.asarray(weights, dtype=np.float64)
    if w.shape != (n,) or np.any(w < 0):
        raise ValueError(f"weights must be one number >= 0 for each of the {n} rows; got shape {w.shape}")
    return w


def metrics(self, new=None, which=None, n_boot=0, level=0.95, rng=None, weights=None):
    """Metrics of the fit's probabilities.

    Parameters
    ----------
    new : DataFrame, optional
        Rows with response and scores that the fit has not seen. Default: cross-validated predictions at its own rows.
    which, n_boot, level, rng
        As in `isocal.metrics.metrics_table`.
    weights : str or array_like, optional
        Case weights of the new rows.

    Returns
    -------
    DataFrame
        Index metric; column estimate, and with n_boot conf_low and conf_high.

    Warns
    -----
    UserWarning
        If `new` is the data of the fit.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(400, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data.head(200), K=3).fit()
    >>> res.metrics(data.tail(200), which=["brier", "auc"]).index.tolist()
    ['brier', 'auc']
    """
    y, p, w, _ = _judged(self, new, weights)
    return metrics_table(y, p, w, which=which, n_boot=n_boot, level=level, rng=rng)


def check_calibration(self, new=None, rng=None, clip=1e-6, weights=None, progress=True):
    """Every test of calibration, and the figure, for the fit's probabilities.

    Parameters
    ----------
    new : DataFrame, optional
        Rows with response and scores that the fit has not seen. Default: cross-validated predictions at its own rows.
    rng : None, int or Generator
        For the tests that draw.
    clip : float or None
        A fit can say exactly 0 or 1; tests on the logit scale need probabilities moved into [clip, 1 - clip].
    weights : str or array_like, optional
        Case weights of the new rows.
    progress : bool
        Show a bar for the resampling test where it takes longer than half a second.

    Returns
    -------
    CalibrationCheck

    Warns
    -----
    UserWarning
        If `new` is the data of the fit.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(300, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> bool(res.check_calibration(rng=0).table.p_value.min() > 1e-4)
    True
    """
    from ..assessment import check_forecast_calibration

    y, p, w, notes = _judged(self, new, weights)
    clipped = int(np.sum((p < clip) | (p > 1 - clip))) if clip else 0
    if clipped:
        notes = (*notes, f"{clipped:,} probabilities moved into [{clip:g}, 1 - {clip:g}].")
    return check_forecast_calibration(self.response.label, self.recipe.title, y, p, w, rng, clip, notes, progress)


def reliability(self, new=None, weights=None):
    """CORP reliability diagram of the fit's probabilities.

    Parameters
    ----------
    new : DataFrame, optional
        Rows with response and scores that the fit has not seen. Default: cross-validated predictions at its own rows.
    weights : str or array_like, optional
        Case weights of the new rows.

    Returns
    -------
    Reliability

    Warns
    -----
    UserWarning
        If `new` is the data of the fit.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(300, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> bool(res.reliability().table.mcb_brier[0] < 0.02)
    True
    """
    from ..assessment import Reliability

    y, p, w, notes = _judged(self, new, weights)
    return Reliability(self.response.label, y, {self.recipe.title: p}, w, notes)

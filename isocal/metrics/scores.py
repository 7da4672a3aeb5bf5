"""Scores of probability forecasts: Brier, logarithmic, area under the ROC curve, accuracy, net benefit."""

import numpy as np
import pandas as pd

from ..numerics.forecast import DIGITS, check_forecast, forecast_blocks

__all__ = ["accuracy", "auc", "brier", "brier_skill", "check_forecast", "decision_curve", "log_loss", "rmse"]


def brier(y, p, w=None):
    """Brier score, the weighted mean of (y - p)^2; lower is better.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities in [0, 1].
    w : array_like, shape (n,), optional
        Case weights: a whole weight is a row repeated so often, zero a row left out.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If labels are not 0 and 1, probabilities leave [0, 1] or are NaN, weights are negative, or lengths differ.

    References
    ----------
    Brier, G. W. (1950). Monthly Weather Review 78(1), 1-3. doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2

    Examples
    --------
    >>> from isocal.metrics import brier
    >>> brier([0, 1], [0.5, 1.0])
    0.125
    """
    y, p, w = check_forecast(y, p, w)
    return float(w @ (y - p) ** 2 / w.sum())


def rmse(y, p, w=None):
    """Root of the Brier score.

    Parameters, errors: as `brier`. Returns a float in [0, 1]; lower is better.

    Examples
    --------
    >>> from isocal.metrics import rmse
    >>> rmse([0, 1], [0.5, 0.5])
    0.5
    """
    return float(np.sqrt(brier(y, p, w)))


def brier_skill(y, p, w=None):
    """Brier skill 1 - Brier/(ybar (1 - ybar)), the scaled Brier score; NaN where one class is absent.

    The reference forecast is the event frequency ybar of the same rows; with one class it has the score 0 and the
    ratio is not defined. Parameters, errors: as `brier`. Returns a float <= 1; higher is better.

    References
    ----------
    Wilks, D. S. (2019). Statistical Methods in the Atmospheric Sciences, 4th ed. doi:10.1016/C2017-0-03921-6

    Examples
    --------
    >>> from isocal.metrics import brier_skill
    >>> brier_skill([0, 1], [0.25, 0.75])
    0.75
    """
    score = brier(y, p, w)
    y, _, w = check_forecast(y, p, w)
    rate = w @ y / w.sum()
    return float(1 - score / (rate * (1 - rate))) if 0 < rate < 1 else float("nan")


def log_loss(y, p, w=None):
    """Logarithmic score -mean[y log p + (1 - y) log(1 - p)]; infinite where an event had probability 0.

    Parameters, errors: as `brier`. Returns a float in [0, inf]; lower is better.

    References
    ----------
    Good, I. J. (1952). Rational decisions. JRSS B 14(1), 107-114. doi:10.1111/j.2517-6161.1952.tb00104.x

    Examples
    --------
    >>> from isocal.metrics import log_loss
    >>> round(log_loss([0, 1], [0.5, 0.5]), 4)
    0.6931
    """
    y, p, w = check_forecast(y, p, w)
    with np.errstate(divide="ignore"):
        return float(-(w @ np.log(np.where(y == 1, p, 1 - p))) / w.sum())


def auc(y, p, w=None):
    """Area under the ROC curve: P(p_event > p_nonevent) + P(tie)/2; NaN where one class is absent.

    With one class there is no pair of an event and a non-event to compare. Probabilities are rounded to 12 decimals
    first, so that round-off never becomes an order.
    Parameters, errors: as `brier`. Returns a float in [0, 1]; higher is better.

    References
    ----------
    Hanley, J. A. & McNeil, B. J. (1982). Radiology 143(1), 29-36. doi:10.1148/radiology.143.1.7063747

    Examples
    --------
    >>> from isocal.metrics import auc
    >>> auc([0, 1, 1], [0.2, 0.2, 0.7])
    0.75
    """
    blocks = forecast_blocks(y, p, w)
    events, others = blocks.events, blocks.others
    pairs = events.sum() * others.sum()
    if pairs == 0:
        return float("nan")
    below = np.cumsum(others) - others
    return float(np.sum(events * (below + others / 2)) / pairs)


def accuracy(y, p, w=None, threshold=0.5):
    """Share of rows on the right side: an event is foretold where p >= threshold (both to 12 decimals).

    Parameters, errors: as `brier`; `threshold` is a number in [0, 1]. Returns a float in [0, 1]; higher is better.

    Examples
    --------
    >>> from isocal.metrics import accuracy
    >>> accuracy([0, 1, 1, 0], [0.2, 0.5, 0.4, 0.1])
    0.75
    """
    y, p, w = check_forecast(y, p, w)
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie in [0, 1]; got {threshold!r}")
    foretold = np.round(p, DIGITS) >= round(float(threshold), DIGITS)
    return float(w @ (foretold == (y == 1)) / w.sum())


def decision_curve(y, p, w=None, thresholds=None):
    """Net benefit of acting where p >= t, of acting always and of never acting, for each threshold t.

    Net benefit is (true positives - false positives t/(1 - t))/n: a false alarm costs t/(1 - t) of a hit.

    Parameters
    ----------
    y, p, w
        As in `brier`.
    thresholds : array_like, shape (k,), optional
        In [0, 1); 0.01, 0.02, ..., 0.99 if left out.

    Returns
    -------
    DataFrame
        Columns threshold, model, treat_all, treat_none.

    Raises
    ------
    ValueError
        As `brier`; if a threshold leaves [0, 1).

    References
    ----------
    Vickers, A. J. & Elkin, E. B. (2006). Medical Decision Making 26(6), 565-574. doi:10.1177/0272989X06295361

    Examples
    --------
    >>> from isocal.metrics import decision_curve
    >>> decision_curve([0, 1, 1, 0], [0.2, 0.6, 0.4, 0.5], thresholds=[0.5])
       threshold  model  treat_all  treat_none
    0        0.5    0.0        0.0         0.0
    """
    blocks = forecast_blocks(y, p, w)
    t = np.arange(1, 100) / 100 if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    if t.ndim != 1 or not np.all((t >= 0) & (t < 1)):
        raise ValueError("thresholds must be one-dimensional and lie in [0, 1)")
    first = np.searchsorted(blocks.x, np.round(t, DIGITS), side="left")
    events, others = blocks.events_to[-1], blocks.others_to[-1]
    n = events + others
    hits, alarms = events - blocks.events_to[first], others - blocks.others_to[first]
    cost = t / (1 - t)
    everyone = (events - others * cost) / n
    columns = {"threshold": t, "model": (hits - alarms * cost) / n, "treat_all": everyone, "treat_none": 0.0}
    return pd.DataFrame(columns)

"""Scores of probability forecasts: Brier, logarithmic, area under the ROC curve."""

import numpy as np


def brier(y, p, w=None):
    """Brier score, the weighted mean of (y - p)^2; lower is better.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities in [0, 1].
    w : array_like, shape (n,), optional
        Case weights.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If labels are not 0 and 1, probabilities leave [0, 1] or are NaN, or lengths differ.

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

    Probabilities are rounded to 12 decimals first, so that round-off never becomes an order.
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
    y, p, w = check_forecast(y, p, w)
    distinct, at = np.unique(np.round(p, 12), return_inverse=True)
    events = np.bincount(at, w * y, minlength=len(distinct))
    others = np.bincount(at, w * (1 - y), minlength=len(distinct))
    pairs = events.sum() * others.sum()
    if pairs == 0:
        return float("nan")
    below = np.cumsum(others) - others
    return float(np.sum(events * (below + others / 2)) / pairs)


def check_forecast(y, p, w=None):
    """(y, p, w) as float64 arrays of equal length, w ones where None; says what is wrong otherwise."""
    y, p = np.asarray(y, dtype=np.float64), np.asarray(p, dtype=np.float64)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if y.ndim != 1 or y.shape != p.shape or w.shape != y.shape:
        raise ValueError(f"y, p and w must be one-dimensional and equally long; got {y.shape}, {p.shape}, {w.shape}")
    if len(y) == 0 or not w.sum() > 0:
        raise ValueError("there are no rows of positive weight")
    if not np.all((y == 0) | (y == 1)):
        swapped = ": are y and p swapped?" if np.all((p == 0) | (p == 1)) else ""
        raise ValueError(f"y must hold 0 and 1 only{swapped}")
    if not (np.all(p >= 0) and np.all(p <= 1)):
        raise ValueError("p must lie in [0, 1] and not be NaN")
    return y, p, w

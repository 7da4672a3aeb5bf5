"""The CORP reliability curve, and the Murphy diagram."""

import numpy as np
import pandas as pd

from ..numerics.corp_curve import reliability_curve_of
from ..numerics.forecast import DIGITS, forecast_blocks


def reliability_curve(y, p, w=None):
    """CORP reliability curve: isotonic regression of y on p, rows of equal p pooled.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities in [0, 1], seen to 12 decimals.
    w : array_like, shape (n,), optional
        Case weights.

    Returns
    -------
    ReliabilityCurve
        x, cep, weight, events, all (k,) for k distinct probabilities; callable.

    Raises
    ------
    ValueError
        As `isocal.metrics.brier`.

    References
    ----------
    Dimitriadis, T., Gneiting, T. & Jordan, A. I. (2021). PNAS 118(8), e2016191118. doi:10.1073/pnas.2016191118

    Examples
    --------
    >>> from isocal.corp import reliability_curve
    >>> reliability_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]).cep.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    return reliability_curve_of(forecast_blocks(y, p, w))


def murphy_diagram(y, p, w=None, thresholds=None):
    """Mean elementary scores S_t, whose mixtures over t are all the proper scores of a probability.

    S_t is t for a row with p > t and y = 0, 1 - t for a row with p <= t and y = 1, else 0: the cost of acting where
    p > t when a false alarm costs t and a miss 1 - t. Twice its integral over t in [0, 1] is the Brier score. A
    forecast whose curve lies below another's is better by every proper score.

    Parameters
    ----------
    y, p, w
        As in `reliability_curve`.
    thresholds : array_like, shape (k,), optional
        In [0, 1]; 0, 0.01, ..., 1 if left out.

    Returns
    -------
    DataFrame
        Columns threshold, score.

    Raises
    ------
    ValueError
        As `isocal.metrics.brier`; if a threshold leaves [0, 1].

    References
    ----------
    Ehm, W., Gneiting, T., Jordan, A. & Krueger, F. (2016). Of quantiles and expectiles. JRSS B 78(3), 505-562.
    doi:10.1111/rssb.12154

    Examples
    --------
    >>> from isocal.corp import murphy_diagram
    >>> murphy_diagram([0, 1], [0.4, 0.6], thresholds=[0.2, 0.5, 0.8]).score.tolist()
    [0.1, 0.0, 0.09999999999999998]
    """
    blocks = forecast_blocks(y, p, w)
    t = np.arange(101) / 100 if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    if t.ndim != 1 or not np.all((t >= 0) & (t <= 1)):
        raise ValueError("thresholds must be one-dimensional and lie in [0, 1]")
    first = np.searchsorted(blocks.x, np.round(t, DIGITS), side="right")  # block with p > t
    missed, alarms = blocks.events_to[first], blocks.others_to[-1] - blocks.others_to[first]
    return pd.DataFrame({"threshold": t, "score": (t * alarms + (1 - t) * missed) / blocks.weight.sum()})

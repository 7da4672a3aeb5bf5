"""Calibration errors from bins and from cumulated differences.

Bins of equal width are [0, 1/b), [1/b, 2/b), ..., [1 - 1/b, 1]: a border belongs to the bin above it. Bins of equal
mass have borders midway between distinct probabilities, so that ties are never split and never ordered by label;
where ties or few rows leave no room, fewer bins are made. Probabilities and borders are seen to 12 decimals.
"""

import numbers

import numpy as np
import pandas as pd

from ..numerics.calibration_sums import STRATEGIES
from ..numerics.forecast import check_forecast, forecast_blocks


def bin_sums(y, p, w, bins, strategy):
    """BinSums of a checked forecast."""
    if isinstance(bins, bool) or not isinstance(bins, numbers.Integral) or bins < 1:
        raise ValueError(f"bins must be a whole number >= 1; got {bins!r}")
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be 'width' or 'mass'; got {strategy!r}")
    checked = check_forecast(y, p, w)
    return STRATEGIES[strategy](*checked[:2], None if w is None else checked[2], int(bins))


def calibration_bins(y, p, w=None, bins=10, strategy="width"):
    """The table behind a binned calibration error: one row a bin.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities in [0, 1].
    w : array_like, shape (n,), optional
        Case weights: a whole weight is a row repeated so often.
    bins : int
        How many bins.
    strategy : {"width", "mass"}
        Equal width, [a, b) with the last bin closed; or about equal weight, ties never split.

    Returns
    -------
    DataFrame
        Columns lower, upper (borders), n (weight), predicted (mean p), observed (event frequency). An empty bin
        keeps its row with n = 0 and NaN means.

    Raises
    ------
    ValueError
        As `brier`; if bins or strategy make no sense.

    Examples
    --------
    >>> from isocal.metrics import calibration_bins
    >>> calibration_bins([0, 1, 1], [0.2, 0.5, 0.9], bins=2)
       lower  upper    n  predicted  observed
    0    0.0    0.5  1.0        0.2       0.0
    1    0.5    1.0  2.0        0.7       1.0
    """
    sums = bin_sums(y, p, w, bins, strategy)
    columns = {"lower": sums.borders[:-1], "upper": sums.borders[1:], "n": sums.weight}
    return pd.DataFrame(columns | {"predicted": sums.predicted(), "observed": sums.observed()})


def _gaps(y, p, w, bins, strategy):
    """(share of the weight, |observed - predicted|) of the bins that are not empty."""
    sums = bin_sums(y, p, w, bins, strategy).filled()
    return sums.weight / sums.weight.sum(), np.abs(sums.observed() - sums.predicted())


def ece(y, p, w=None, bins=10, strategy="width"):
    """Expected calibration error: the mean over rows of |event frequency - mean probability| of the row's bin.

    It is biased upward, also for a calibrated forecast, and the more so the more bins: see `debiased_ce`.
    Parameters, errors: as `calibration_bins` (width bins are [a, b), the last one closed). Returns a float in [0, 1].

    References
    ----------
    Naeini, M. P., Cooper, G. F. & Hauskrecht, M. (2015). AAAI-15, 2901-2907. doi:10.1609/aaai.v29i1.9602

    Examples
    --------
    >>> from isocal.metrics import ece
    >>> round(ece([0, 1, 1], [0.2, 0.5, 0.9], bins=2), 4)
    0.2667
    """
    share, gap = _gaps(y, p, w, bins, strategy)
    return float(share @ gap)


def mce(y, p, w=None, bins=10, strategy="width"):
    """Maximum calibration error: the largest |event frequency - mean probability| over bins that are not empty.

    Parameters, errors: as `calibration_bins` (width bins are [a, b), the last one closed). Returns a float in [0, 1].

    References
    ----------
    Naeini, M. P., Cooper, G. F. & Hauskrecht, M. (2015). AAAI-15, 2901-2907. doi:10.1609/aaai.v29i1.9602

    Examples
    --------
    >>> from isocal.metrics import mce
    >>> round(mce([0, 1, 1], [0.2, 0.5, 0.9], bins=2), 4)
    0.3
    """
    return float(_gaps(y, p, w, bins, strategy)[1].max())


def ace(y, p, w=None, bins=10, strategy="width"):
    """Average calibration error: the plain mean of |event frequency - mean probability| over bins not empty.

    Parameters, errors: as `calibration_bins` (width bins are [a, b), the last one closed). Returns a float in [0, 1].

    References
    ----------
    Neumann, L., Zisserman, A. & Vedaldi, A. (2018). Relaxed softmax. NIPS Workshop MLITS.

    Examples
    --------
    >>> from isocal.metrics import ace
    >>> round(ace([0, 1, 1], [0.2, 0.5, 0.9], bins=2), 4)
    0.25
    """
    return float(_gaps(y, p, w, bins, strategy)[1].mean())


def debiased_ce(y, p, w=None, bins=10, strategy="width", squared=False):
    """Debiased root-mean-square calibration error of bins (l2), whose square has no bias from sampling labels.

    The square is sum_b n_b/n [(o_b - e_b)^2 - o_b (1 - o_b)/(n_b - 1)] over bins with n_b >= 2; it is the
    bias-corrected reliability term of Ferro & Fricker (2012). The root is taken of its positive part. n_b is the
    weight in a bin: weights count rows, and scaling them changes the correction.

    Parameters
    ----------
    y, p, w, bins, strategy
        As in `calibration_bins` (width bins are [a, b), the last one closed).
    squared : bool
        Return the square, which may be negative.

    Returns
    -------
    float
        In [0, 1], or the square.

    Raises
    ------
    ValueError
        As `calibration_bins`.

    References
    ----------
    Kumar, A., Liang, P. & Ma, T. (2019). Verified uncertainty calibration. NeurIPS 32. doi:10.48550/arXiv.1909.10155
    Ferro, C. A. T. & Fricker, T. E. (2012). QJRMS 138(668), 1954-1960. doi:10.1002/qj.1924

    Examples
    --------
    >>> from isocal.metrics import debiased_ce
    >>> debiased_ce([0, 1, 0, 0], [0.2, 0.2, 0.9, 0.9], bins=2, squared=True)
    0.325
    """
    sums = bin_sums(y, p, w, bins, strategy).filled()
    n, o, e = sums.weight, sums.observed(), sums.predicted()
    enough = n >= 2
    noise = o * (1 - o) / np.where(enough, n - 1, 1.0)
    square = float(np.sum(np.where(enough, n * ((o - e) ** 2 - noise), 0.0)) / n.sum())
    return square if squared else float(np.sqrt(max(0.0, square)))


def ks(y, p, w=None):
    """Kolmogorov-Smirnov calibration error: the largest |cumulated sum of p - y|/n, in the order of p.

    No bins. The sum is looked at after each distinct probability, so the order of ties does not matter.
    Parameters, errors: as `brier`. Returns a float in [0, 1].

    References
    ----------
    Gupta, K. et al. (2021). Calibration of neural networks using splines. ICLR. doi:10.48550/arXiv.2006.12800
    Arrieta-Ibarra, I. et al. (2022). Metrics of calibration for probabilistic predictions. JMLR 23(351), 1-54.

    Examples
    --------
    >>> from isocal.metrics import ks
    >>> round(ks([0, 1, 1], [0.2, 0.5, 0.9]), 4)
    0.1333
    """
    blocks = forecast_blocks(y, p, w)
    return float(np.abs(np.cumsum(blocks.weight * blocks.x - blocks.events)).max() / blocks.weight.sum())

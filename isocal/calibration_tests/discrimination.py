"""DeLong's test: do two scores of the same rows have the same area under the ROC curve?"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from ..numerics.forecast import DIGITS, check_forecast
from .inputs import refuse_one_class, size
from .outcome import Outcome


@dataclass(frozen=True, eq=False)
class DeLong(Outcome):
    """auc1, auc2, their variances var1, var2 and covariance cov; interval of auc1 - auc2 at the level."""

    term: ClassVar[str] = "delong"
    title: ClassVar[str] = "DeLong"
    tests: ClassVar[str] = "Both scores have the same area under the ROC curve."

    auc1: float = np.nan
    auc2: float = np.nan
    var1: float = np.nan
    var2: float = np.nan
    cov: float = np.nan
    conf_low: float = np.nan
    conf_high: float = np.nan
    level: float = 0.95

    @property
    def difference(self):
        """auc1 - auc2."""
        return self.auc1 - self.auc2

    def facts(self):
        """Areas and the interval of their difference."""
        interval = f"{self.difference:.4f} [{self.conf_low:.4f}, {self.conf_high:.4f}]"
        return {"AUC 1": f"{self.auc1:.4f}", "AUC 2": f"{self.auc2:.4f}", f"Difference ({self.level:g})": interval}

    def notes(self):
        """What Z is when nothing differs."""
        same = self.difference == 0 and self.conf_low == self.conf_high
        return ("Both scores rank the rows alike: Z is 0/0, reported as 0.",) if same else ()


def delong(y, p1, p2, w=None, level=0.95):
    """DeLong's paired test of two areas under the ROC curve.

    The variance of the areas comes from placement values (the share of the other class that a row beats, ties half),
    found from ranks in O(n log n). Z = (auc1 - auc2) / sqrt(var1 + var2 - 2 cov) against the standard normal.

    Parameters
    ----------
    y : array_like, shape (n,)
        Labels in {0, 1}, at least two of each class.
    p1, p2 : array_like, shape (n,)
        Finite scores of the same rows, in any range; higher for events. Scores in [0, 1] are compared after rounding
        to 12 digits.
    w : array_like, shape (n,), optional
        Case weights (an integer weight is that many repeats).
    level : float
        Coverage of the interval of auc1 - auc2.

    Returns
    -------
    DeLong
        statistic Z, p_value, auc1, auc2, var1, var2, cov, difference, conf_low, conf_high. Scores that rank the rows
        alike have Z = 0/0: reported as statistic 0, p_value 1.

    Raises
    ------
    ValueError
        Fewer than two rows of a class, scores that are not finite, lengths that differ, or areas that differ with
        variance zero.

    Notes
    -----
    It says nothing about calibration: a strictly increasing recalibration cannot change the area, only the ties a
    method makes (plateaus, bins) can. Use it to see that discrimination is preserved, not to choose a calibrator.
    Invalid for nested models judged on the rows they were fitted to.

    References
    ----------
    DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Biometrics 44(3), 837-845. doi:10.2307/2531595
    Sun, X. & Xu, W. (2014). IEEE Signal Processing Letters 21(11), 1389-1393. doi:10.1109/LSP.2014.2337313
    Demler, O. V. et al. (2012). Statistics in Medicine 31(23), 2577-2587. doi:10.1002/sim.5328

    Examples
    --------
    >>> from isocal.calibration_tests import delong
    >>> res = delong([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0.1, 0.2, 0.3, 0.4])
    >>> res.auc1, res.auc2
    (0.75, 1.0)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1; got {level!r}")
    y, first, second, w = _checked(y, p1, p2, w)
    sides = [(w * (y == c), w @ (y == c)) for c in (1, 0)]
    if min(total for _, total in sides) <= 1:
        raise ValueError("delong needs at least two rows of each class")
    places = [_placements(y, s, w) for s in (first, second)]
    auc1, auc2 = (float(sides[0][0] @ v / sides[0][1]) for v in places)
    var1, var2 = (_covariance(v, v, sides) for v in places)
    gap = places[0] - places[1]
    error = np.sqrt(_covariance(gap, gap, sides))
    z = _standardised(auc1 - auc2, error)
    reach = ndtri((1 + level) / 2) * error
    return DeLong(
        z, float(2 * ndtr(-abs(z))), None, "standard normal", size(w), auc1, auc2, var1, var2,
        _covariance(*places, sides), float(auc1 - auc2 - reach), float(auc1 - auc2 + reach), level,
    )  # fmt: skip


def _checked(y, p1, p2, w):
    first, second = np.asarray(p1, dtype=np.float64), np.asarray(p2, dtype=np.float64)
    for score in (first, second):
        if not np.all(np.isfinite(score)):
            raise ValueError("p1 and p2 must be finite")
        labels = np.all((score == 0) | (score == 1))  # then y and the score may be swapped
        check_forecast(y, score if labels else np.full(score.shape, 0.5), w)
    y, w = np.asarray(y, dtype=np.float64), np.ones(len(first)) if w is None else np.asarray(w, dtype=np.float64)
    kept = w > 0
    refuse_one_class(y[kept], "delong")
    return y[kept], first[kept], second[kept], w[kept]


def _placements(y, score, w):
    """(n,) weighted share of the other class that lies on the right side of each row, ties half."""
    inside = np.all((score >= 0) & (score <= 1))
    distinct, at = np.unique(np.round(score, DIGITS) if inside else score, return_inverse=True)
    events, others = (np.bincount(at, w * (y == c), minlength=len(distinct)) for c in (1, 0))
    below = (np.cumsum(others) - others / 2) / others.sum()
    above = 1 - (np.cumsum(events) - events / 2) / events.sum()
    return np.where(y == 1, below[at], above[at])


def _covariance(a, b, sides):
    """Covariance of two areas from placement values a, b (n,)."""
    total = 0.0
    for weight, n in sides:
        total += weight @ ((a - weight @ a / n) * (b - weight @ b / n)) / (n - 1) / n
    return float(total)


def _standardised(difference, error):
    if error > 1e-14:
        return float(difference / error)
    if abs(difference) > 1e-14:
        raise ValueError(f"delong has no test: the areas differ by {difference:.4g} but their variance is zero")
    return 0.0

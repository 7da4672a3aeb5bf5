"""Cox's recalibration: calibration-in-the-large, intercept and slope, and their likelihood-ratio tests."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtr, ndtri

from ..numerics.logistic import fit_logistic, separable
from .inputs import prepared, refuse_certain, refuse_constant, refuse_one_class, size
from .outcome import Outcome


@dataclass(frozen=True)
class Estimate:
    """A coefficient with its standard error, Wald interval, and Wald z (against its value under calibration)."""

    estimate: float
    std_error: float
    conf_low: float
    conf_high: float
    statistic: float
    p_value: float


@dataclass(frozen=True)
class ChiSquared:
    """A statistic judged by chi-squared with df degrees of freedom."""

    statistic: float
    df: int
    p_value: float


@dataclass(frozen=True, eq=False)
class Cox(Outcome):
    """citl, intercept, slope (Estimate); cov (2, 2) of the last two; lr_joint = lr_citl + lr_slope; wald_joint."""

    term: ClassVar[str] = "cox"
    title: ClassVar[str] = "Cox Recalibration"
    tests: ClassVar[str] = "logit P(y = 1) is logit p, against intercept + slope logit p."

    citl: Estimate | None = None
    intercept: Estimate | None = None
    slope: Estimate | None = None
    cov: np.ndarray = field(default_factory=lambda: np.full((2, 2), np.nan))
    lr_joint: ChiSquared | None = None
    lr_citl: ChiSquared | None = None
    lr_slope: ChiSquared | None = None
    wald_joint: ChiSquared | None = None
    level: float = 0.95

    def table(self):
        """citl, intercept and slope.

        Returns
        -------
        pandas.DataFrame
            Columns term, estimate, std_error, conf_low, conf_high, statistic, p_value (Wald; slope against 1).
        """
        named = {"citl": self.citl, "intercept": self.intercept, "slope": self.slope}
        return pd.DataFrame([{"term": name} | vars(e) for name, e in named.items()])

    def tables(self):
        """Estimates, and the tests they lead to."""
        named = {
            "LR joint": self.lr_joint, "LR citl": self.lr_citl, "LR slope given citl": self.lr_slope,
            "Wald joint": self.wald_joint,
        }  # fmt: skip
        tests = {"test": list(named)} | {
            name: [getattr(t, name) for t in named.values()] for name in ("statistic", "df", "p_value")
        }
        estimates = {name: column.tolist() for name, column in self.table().items()}
        return {f"Estimates (intervals: {self.level:g})": estimates, "Tests of calibration": tests}


def cox(y, p, w=None, level=0.95, clip=None):
    """Cox's recalibration (weak calibration): intercept, slope and their tests.

    Fits logit P(y = 1) = a + b logit p by maximum likelihood three times: a = 0, b = 1 (nothing fitted), b = 1
    (a is the calibration-in-the-large, `citl`), and both free (`intercept`, `slope`: the intercept of the joint fit is
    another number than citl). The likelihood-ratio tests add up: joint (df 2) = citl (df 1) + slope given citl (df 1).

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities strictly between 0 and 1.
    w : array_like, shape (n,), optional
        Case weights (an integer weight is that many repeats).
    level : float
        Coverage of the Wald intervals.
    clip : float, optional
        Move p into [clip, 1 - clip] first.

    Returns
    -------
    Cox
        statistic, p_value, df of the joint test; citl, intercept, slope; lr_joint, lr_citl, lr_slope, wald_joint.

    Raises
    ------
    ValueError
        p of 0 or 1 without clip, one class, constant p, or classes that p separates (no finite slope).

    Notes
    -----
    Blind spot: only miscalibration that is linear in the logit is seen. On the rows a logistic regression was fitted
    to, intercept 0 and slope 1 hold by construction and the test is vacuous.

    References
    ----------
    Cox, D. R. (1958). Biometrika 45(3-4), 562-565. doi:10.1093/biomet/45.3-4.562
    Miller, M. E., Hui, S. L. & Tierney, W. M. (1991). Statistics in Medicine 10(8), 1213-1226.
    doi:10.1002/sim.4780100805

    Examples
    --------
    >>> from isocal.calibration_tests import cox
    >>> res = cox([0, 0, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.8, 0.8, 0.8])
    >>> round(res.slope.estimate, 4), round(abs(res.citl.estimate), 4)
    (0.5, 0.0)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1; got {level!r}")
    y, p, w = prepared(y, p, w, clip)
    refuse_certain(p, "cox")
    refuse_one_class(y, "cox")
    refuse_constant(p, "cox")
    if separable(p, y):
        raise ValueError("cox has no finite slope: a threshold on p separates the classes")
    logit = np.log(p) - np.log1p(-p)
    shift = fit_logistic(np.empty((len(y), 0)), y, w, offset=logit)
    both = fit_logistic(logit[:, None], y, w)
    middle, full = logit + shift.coef[0], both.coef[0] + both.coef[1] * logit
    joint = _chi_squared(_gain(y, w, full, logit), 2)
    citl, slope = _chi_squared(_gain(y, w, middle, logit), 1), _chi_squared(_gain(y, w, full, middle), 1)
    off = both.coef - [0.0, 1.0]
    wald = _chi_squared(float(off @ np.linalg.solve(both.cov, off)), 2)
    a = _estimate(shift.coef[0], shift.cov[0, 0], 0.0, level)
    b, c = (_estimate(both.coef[i], both.cov[i, i], float(i), level) for i in (0, 1))
    return Cox(
        joint.statistic, joint.p_value, 2, "chi-squared(2)", size(w), a, b, c, both.cov, joint, citl, slope, wald, level
    )


def _estimate(value, variance, null, level):
    error = np.sqrt(variance)
    reach, z = ndtri((1 + level) / 2) * error, (value - null) / error
    return Estimate(*map(float, (value, error, value - reach, value + reach, z, 2 * ndtr(-abs(z)))))


def _gain(y, w, eta, before):
    """Twice the log-likelihood that eta (n,) has more than before (n,), differences taken row by row."""
    return 2 * float(w @ (y * (eta - before) - (np.logaddexp(0.0, eta) - np.logaddexp(0.0, before))))


def _chi_squared(statistic, df):
    statistic = max(0.0, statistic)
    return ChiSquared(statistic, df, float(chdtrc(df, statistic)))

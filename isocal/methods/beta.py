"""Beta calibration (Kull, Silva Filho & Flach 2017)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..numerics.logistic import TINY, fit_logistic, separable, smoothed_targets
from .base import Curve, Recipe, arrays, check_choice


@dataclass(frozen=True, eq=False, kw_only=True)
class BetaCurve(Curve):
    """expit(c + a log s - b log(1 - s)), a and b >= 0; se: standard errors of a, b, c (NaN where held or tied)."""

    a: float
    b: float
    c: float
    se: tuple
    parameters: str
    df: float

    def __call__(self, s):
        log_s, log_rest = _logs(s[:, 0])
        return expit(self.c + (self.a * log_s - self.b * log_rest))

    def coef(self):
        return {"a": self.a, "b": self.b, "c": self.c}

    def bse(self):
        return dict(zip("abc", self.se, strict=True))

    def steps(self):
        return [min(self.a, self.b)]

    def facts(self):
        m = self.c and expit(-self.c / self.a) if self.a == self.b > 0 else None
        return {"Parameters": self.parameters} | ({} if m is None else {"Midpoint m": f"{m:.4f}"})

    def to_dict(self):
        names = ("a", "b", "c", "parameters", "df")
        return {name: getattr(self, name) for name in names} | {"se": [None if np.isnan(v) else v for v in self.se]}

    @classmethod
    def from_dict(cls, d):
        a, b, c = (float(d[name]) for name in "abc")
        if not np.isfinite([a, b, c]).all() or min(a, b) < 0 or len(d["se"]) != 3:
            raise ValueError("beta: a, b, c must be finite, a and b >= 0, with three standard errors")
        se = tuple(float("nan") if v is None else float(v) for v in d["se"])
        return cls(a=a, b=b, c=c, se=se, parameters=str(d["parameters"]), df=float(d["df"]))


def _logs(s):
    s = np.clip(s, TINY, 1 - TINY)
    return np.log(s), np.log1p(-s)


@dataclass(frozen=True)
class Beta(Recipe):
    """Beta calibration: expit(c + a log s - b log(1 - s)) with a, b >= 0, by maximum likelihood.

    Non-decreasing; contains the identity (a = b = 1, c = 0), which a logistic curve in s does not.

    Parameters
    ----------
    parameters : {"abm", "am", "ab"}
        All three free (default); a = b; or c = (a - b) log 2, the curve through (1/2, 1/2).
    targets : {"hard", "smooth"}
        Labels (default), or Platt's smoothed targets, which keep separable data finite (scaling all weights then
        changes the fit).

    Raises
    ------
    ValueError
        Scores outside [0, 1]; with hard targets, labels that a threshold parts, or one class only.

    Examples
    --------
    Scores whose frequencies are the scores keep them:

    >>> import numpy as np
    >>> from isocal.methods import Beta
    >>> s, y = np.repeat([0.25, 0.5, 0.75], 4), np.array([0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1])
    >>> Beta().fit_arrays(s, y)(np.array([[0.25], [0.5]])).round(6)
    array([0.25, 0.5 ])

    References
    ----------
    Kull, M., Silva Filho, T. & Flach, P. (2017). Beta calibration: a well-founded and easily implemented improvement on
    logistic calibration for binary classifiers. AISTATS, PMLR 54, 623-631. Extended version: doi:10.1214/17-EJS1338SI
    """

    title: ClassVar[str] = "Beta calibration"
    reference: ClassVar[str] = "Kull, Silva Filho & Flach (2017), doi:10.1214/17-EJS1338SI"
    max_scores: ClassVar[int | None] = 1
    curve_type: ClassVar[type] = BetaCurve

    parameters: str = "abm"
    targets: str = "hard"

    def __post_init__(self):
        check_choice("parameters", self.parameters, ("abm", "am", "ab"))
        check_choice("targets", self.targets, ("hard", "smooth"))

    def domain(self):
        return "unit"

    def directions(self, m):
        return (1,) * m

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        w = np.ones(len(y)) if w is None else w
        if self.targets == "hard":
            check_finite_best(np.clip(s[:, 0], TINY, 1 - TINY), y, self.parameters)
        target = smoothed_targets(y, w) if self.targets == "smooth" else y
        log_s, log_rest = _logs(s[:, 0])
        if self.parameters == "am":
            return self._curve(fit_logistic((log_s - log_rest)[:, None], target, w, non_negative=True), tied=True)
        if self.parameters == "ab":
            X = np.column_stack([log_s + np.log(2), -log_rest - np.log(2)])
            return self._curve(fit_logistic(X, target, w, intercept=False, non_negative=True), through_half=True)
        return self._curve(fit_logistic(np.column_stack([log_s, -log_rest]), target, w, non_negative=True))

    def _curve(self, fit, tied=False, through_half=False):
        se = np.sqrt(np.diag(fit.cov))
        if tied:
            (c, a), (se_c, se_a) = fit.coef, se
            b, se_b = a, se_a
        elif through_half:
            (a, b), (se_a, se_b) = fit.coef, se
            half = np.array([np.log(2), -np.log(2)])
            known = np.nan_to_num(fit.cov)  # a slope held at 0 is known
            c, se_c = half @ fit.coef, np.sqrt(half @ known @ half) if np.any(known) else np.nan
        else:
            (c, a, b), (se_c, se_a, se_b) = fit.coef, se
        a, b = max(float(a), 0.0), max(float(b), 0.0)
        return BetaCurve(
            a=a, b=b, c=float(c), se=(float(se_a), float(se_b), float(se_c)), parameters=self.parameters,
            df=float(fit.rank),
        )  # fmt: skip


def check_finite_best(s, y, parameters):
    """Labels that a threshold parts the rising way, or of one class, have no finite best fit.

    Parted the falling way they have one: slopes stop at 0. A curve through (1/2, 1/2) is only parted there.
    """
    what = None
    if parameters == "ab":
        if np.any(s != 0.5) and np.all(np.where(y == 1, s - 0.5, 0.5 - s) >= 0):
            what = "a score of one half parts the labels"
    elif separable(s, y) and (y.min() == y.max() or s[y == 0].max() <= s[y == 1].min()):
        what = "all labels are equal" if y.min() == y.max() else "a threshold on the score parts the labels"
    if what is not None:
        raise ValueError(f'{what}, so no finite parameters are best with hard targets: use targets="smooth"')

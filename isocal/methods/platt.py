"""Platt scaling (Platt 1999): logistic regression on one score, with Platt's smoothed targets."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..numerics.logistic import clipped_logit, fit_logistic, separable, smoothed_targets
from .base import Curve, Recipe, arrays, check_choice


@dataclass(frozen=True, eq=False, kw_only=True)
class PlattCurve(Curve):
    """expit(intercept + slope x) with x = logit(s) or s; se: standard errors of the two, NaN for a slope held at 0."""

    intercept: float
    slope: float
    se: tuple
    scale: str
    targets: str
    df: float

    def __call__(self, s):
        return expit(self.intercept + self.slope * on_scale(s[:, 0], self.scale))

    def coef(self):
        return {"intercept": self.intercept, "slope": self.slope}

    def bse(self):
        return dict(zip(self.coef(), self.se, strict=True))

    def facts(self):
        return {"Targets": self.targets, "Regressor": "logit of the score" if self.scale == "logit" else "the score"}

    def to_dict(self):
        return {
            "intercept": self.intercept, "slope": self.slope, "se": [None if np.isnan(v) else v for v in self.se],
            "scale": self.scale, "targets": self.targets, "df": self.df,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, d):
        intercept, slope = float(d["intercept"]), float(d["slope"])
        check_choice("scale", d["scale"], ("logit", "identity"))
        if not np.isfinite([intercept, slope]).all() or len(d["se"]) != 2:
            raise ValueError("platt: intercept and slope must be finite, with two standard errors")
        se = tuple(float("nan") if v is None else float(v) for v in d["se"])
        return cls(
            intercept=intercept, slope=slope, se=se, scale=d["scale"], targets=str(d["targets"]), df=float(d["df"])
        )  # fmt: skip


def on_scale(x, scale):
    """The regressor: the logit of clipped scores, or the scores themselves."""
    return clipped_logit(x) if scale == "logit" else x


def decide_scale(scale, s):
    """ "auto" is "logit" where all scores lie in [0, 1] and "identity" otherwise."""
    if scale != "auto":
        return scale
    return "logit" if len(s) and s.min() >= 0 and s.max() <= 1 else "identity"


def check_scale(scale, s, names=None):
    """scale="logit" needs scores in [0, 1]."""
    if scale == "logit" and (s.min() < 0 or s.max() > 1):
        name = "the score" if names is None else f"score {names[0]!r}"
        raise ValueError(f'scale="logit": {name} must lie in [0, 1], but ranges from {s.min():.6g} to {s.max():.6g}: '
                         'use scale="identity" or expit() in the formula')  # fmt: skip


@dataclass(frozen=True)
class Platt(Recipe):
    """Platt scaling: logistic regression of the label on one score.

    Maximises the Bernoulli likelihood of expit(a + b x) for targets (n+ + 1)/(n+ + 2) and 1/(n- + 2), which keep
    separable data finite. Scaling all weights changes the smoothed targets, hence the fit.

    Parameters
    ----------
    targets : {"smooth", "hard"}
        Platt's smoothed targets (default), or 1 and 0.
    scale : {"auto", "logit", "identity"}
        The regressor: logit of the score (clipped at 1e-12), or the score. "auto": logit where all scores of the fit
        lie in [0, 1]; decided once, also for cross-validation and replicates, and printed.

    Raises
    ------
    ValueError
        With hard targets, where a threshold parts the labels (no finite maximum); scale="logit" outside [0, 1].

    Examples
    --------
    A constant score leaves the intercept: with 1 event in 3, targets 2/3, 1/4, 1/4 have mean 7/18.

    >>> import numpy as np
    >>> from isocal.methods import Platt
    >>> curve = Platt().fit_arrays(np.array([0.5, 0.5, 0.5]), np.array([1, 0, 0]))
    >>> bool(abs(curve(np.array([[0.5]]))[0] - 7 / 18) < 1e-12)
    True

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to regularized likelihood
    methods. Advances in Large Margin Classifiers, 61-74. Lin, H.-T., Lin, C.-J. & Weng, R. C. (2007).
    doi:10.1007/s10994-007-5018-6
    """

    title: ClassVar[str] = "Platt scaling"
    reference: ClassVar[str] = "Platt (1999); Lin, Lin & Weng (2007), doi:10.1007/s10994-007-5018-6"
    max_scores: ClassVar[int | None] = 1
    curve_type: ClassVar[type] = PlattCurve

    targets: str = "smooth"
    scale: str = "auto"

    def __post_init__(self):
        check_choice("targets", self.targets, ("smooth", "hard"))
        check_choice("scale", self.scale, ("auto", "logit", "identity"))

    def settle(self, s):
        return replace(self, scale=decide_scale(self.scale, s))

    def check(self, s, y, w=None, names=None):
        super().check(s, y, w, names)
        check_scale(self.scale, s, names)

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        scale = decide_scale(self.scale, s)
        x, w = on_scale(s[:, 0], scale), np.ones(len(y)) if w is None else w
        if self.targets == "hard" and separable(x, y):
            what = "all labels are equal" if y.min() == y.max() else "a threshold on the score parts the labels"
            raise ValueError(f'{what}, so no finite slope is best with hard targets: use targets="smooth"')
        target = smoothed_targets(y, w) if self.targets == "smooth" else y
        fit = fit_logistic(x[:, None], target, w)
        se = tuple(np.sqrt(np.diag(fit.cov)).tolist())
        return PlattCurve(
            intercept=float(fit.coef[0]), slope=float(fit.coef[1]), se=se, scale=scale, targets=self.targets,
            df=float(fit.rank),
        )  # fmt: skip

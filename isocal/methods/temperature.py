"""Temperature scaling of one score (Guo, Pleiss, Sun & Weinberger 2017)."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..numerics.logistic import fit_logistic
from .base import Curve, Recipe, arrays, check_choice
from .platt import check_scale, decide_scale, on_scale


@dataclass(frozen=True, eq=False, kw_only=True)
class TemperatureCurve(Curve):
    """expit(slope x), slope = 1/temperature >= 0, x = logit(s) or s; se: its standard error."""

    slope: float
    se: float
    scale: str
    df: float

    def __call__(self, s):
        return expit(self.slope * on_scale(s[:, 0], self.scale))

    def coef(self):
        return {"inverse_temperature": self.slope}

    def bse(self):
        return {"inverse_temperature": self.se}

    def steps(self):
        return [self.slope]

    def facts(self):
        return {
            "Temperature": f"{1 / self.slope:.4f}" if self.slope > 0 else "infinite",
            "Logits": "logit of the score" if self.scale == "logit" else "the score",
        }

    def to_dict(self):
        se = None if np.isnan(self.se) else self.se
        return {"slope": self.slope, "se": se, "scale": self.scale, "df": self.df}

    @classmethod
    def from_dict(cls, d):
        check_choice("scale", d["scale"], ("logit", "identity"))
        if not (np.isfinite(d["slope"]) and d["slope"] >= 0):
            raise ValueError("temperature: the slope must be finite and >= 0")
        se = float("nan") if d["se"] is None else float(d["se"])
        return cls(slope=float(d["slope"]), se=se, scale=d["scale"], df=float(d["df"]))


@dataclass(frozen=True)
class Temperature(Recipe):
    """Temperature scaling: expit(x / T) with one T > 0, by maximum likelihood; x is the logit of the score.

    Non-decreasing; 1/2 stays 1/2, so it sharpens or flattens and never shifts.

    Parameters
    ----------
    scale : {"auto", "logit", "identity"}
        x: logit of the score (clipped at 1e-12), or the score itself where it is a logit or decision value already.
        "auto": logit where all scores of the fit lie in [0, 1].

    Raises
    ------
    ValueError
        Where zero on the logit scale parts the labels: no finite 1/T is best.

    Examples
    --------
    Events in 3 of 4 rows at logit 1 and 1 of 4 at logit -1: expit(1/T) = 3/4, so 1/T = log 3.

    >>> import numpy as np
    >>> from isocal.methods import Temperature
    >>> x, y = np.repeat([1.0, -1.0], 4), np.array([1, 1, 1, 0, 1, 0, 0, 0])
    >>> round(Temperature().fit_arrays(x, y).slope, 4)
    1.0986

    References
    ----------
    Guo, C., Pleiss, G., Sun, Y. & Weinberger, K. Q. (2017). On calibration of modern neural networks. ICML, PMLR 70,
    1321-1330.
    """

    title: ClassVar[str] = "Temperature scaling"
    reference: ClassVar[str] = "Guo, Pleiss, Sun & Weinberger (2017), PMLR 70:1321"
    max_scores: ClassVar[int | None] = 1
    curve_type: ClassVar[type] = TemperatureCurve

    scale: str = "auto"

    def __post_init__(self):
        check_choice("scale", self.scale, ("auto", "logit", "identity"))

    def settle(self, s):
        return replace(self, scale=decide_scale(self.scale, s))

    def directions(self, m):
        return (1,) * m

    def check(self, s, y, w=None, names=None):
        super().check(s, y, w, names)
        check_scale(self.scale, s, names)

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        scale = decide_scale(self.scale, s)
        x = on_scale(s[:, 0], scale)
        if np.all(np.where(y == 1, x, -x) >= 0) and np.any(x != 0):
            raise ValueError(
                "a score of one half (logit 0) parts the labels, so no finite 1/T is best: use isocal.platt, whose "
                "smoothed targets stay finite"
            )
        fit = fit_logistic(x[:, None], y, np.ones(len(y)) if w is None else w, intercept=False, non_negative=True)
        se = float(np.sqrt(fit.cov[0, 0]))
        return TemperatureCurve(slope=max(float(fit.coef[0]), 0.0), se=se, scale=scale, df=float(fit.rank))

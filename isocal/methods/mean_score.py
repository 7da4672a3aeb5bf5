"""The mean of the scores, or of their logits: the fusions that fit nothing."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..numerics.logistic import clipped_logit
from .base import Curve, Recipe, arrays, check_choice, check_number

POOLS = ("linear", "log")


@dataclass(frozen=True, eq=False)
class MeanScoreCurve(Curve):
    """pool "linear": the mean of the M scores, kept within [0, 1]; "log": expit of the mean of their logits."""

    M: int
    pool: str = "linear"
    df: float = 0.0

    def __call__(self, s):
        return np.clip(mean_of(s), 0.0, 1.0) if self.pool == "linear" else expit(mean_of(clipped_logit(s)))

    def coef(self):
        return {}

    def steps(self):
        return [1.0 / self.M] * self.M

    def gradient(self, s):
        return np.full(s.shape, 1.0 / self.M) if self.pool == "linear" else None

    def to_dict(self):
        return {"M": self.M, "pool": self.pool}

    @classmethod
    def from_dict(cls, d):
        check_number("M", d["M"], at_least=1)
        check_choice("pool", d["pool"], POOLS)
        return cls(int(d["M"]), d["pool"])


def mean_of(s):
    """(n,) mean over the scores of each row, one after the other so that a row's never depends on other rows."""
    total = s[:, 0] + 0.0
    for m in range(1, s.shape[1]):
        total += s[:, m]
    return total / s.shape[1]


@dataclass(frozen=True)
class MeanScore(Recipe):
    """The mean of scores that are probabilities already: the yardstick of every fusion. Nothing is fitted.

    Averaging is hard to beat with few rows, since nothing is estimated. But the mean of calibrated forecasts is itself
    not calibrated: it lies too near the base rate (Ranjan & Gneiting 2010).

    Parameters
    ----------
    pool : {"linear", "log"}
        (s_1 + ... + s_M)/M, or expit of the mean of the logits (clipped at 1e-12), the logarithmic opinion pool, which
        is sharper.

    Raises
    ------
    ValueError
        If a score leaves [0, 1]: then it is no probability to average.

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.methods import MeanScore
    >>> curve = MeanScore().fit_arrays(np.array([[0.2, 0.4], [0.9, 0.7]]), np.array([0, 1]))
    >>> curve(np.array([[0.25, 0.5]]))
    array([0.375])

    References
    ----------
    Ranjan, R. & Gneiting, T. (2010). Combining probability forecasts. Journal of the Royal Statistical Society B,
    72(1), 71-91. doi:10.1111/j.1467-9868.2009.00726.x
    """

    title: ClassVar[str] = "Mean score"
    reference: ClassVar[str] = "Ranjan & Gneiting (2010), doi:10.1111/j.1467-9868.2009.00726.x"
    max_scores: ClassVar[int | None] = None
    curve_type: ClassVar[type] = MeanScoreCurve

    pool: str = "linear"

    def __post_init__(self):
        check_choice("pool", self.pool, POOLS)

    def domain(self):
        return "unit"

    def directions(self, m):
        return (1,) * m

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        return MeanScoreCurve(s.shape[1], self.pool)

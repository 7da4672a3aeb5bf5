"""The do-nothing reference: the score as it came."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import Curve, Recipe, arrays


@dataclass(frozen=True, eq=False)
class IdentityCurve(Curve):
    """f(s) = s, kept within [0, 1]."""

    df: float = 0.0

    def __call__(self, s):
        return np.clip(s[:, 0], 0.0, 1.0)

    def coef(self):
        return {}

    def steps(self):
        return [1.0]

    def to_dict(self):
        return {}

    @classmethod
    def from_dict(cls, d):
        return cls()


@dataclass(frozen=True)
class Identity(Recipe):
    """The uncalibrated score, so that every table can show it beside the methods. Nothing is fitted.

    Raises
    ------
    ValueError
        If the score leaves [0, 1]: then it is no probability to compare with.

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.methods import Identity
    >>> Identity().fit_arrays(np.array([0.2, 0.9]), np.array([0, 1]))(np.array([[0.3]]))
    array([0.3])
    """

    title: ClassVar[str] = "Uncalibrated score"
    reference: ClassVar[str] = "none: a yardstick"
    max_scores: ClassVar[int | None] = 1
    curve_type: ClassVar[type] = IdentityCurve

    def domain(self):
        return "unit"

    def directions(self, m):
        return (1,) * m

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        return IdentityCurve()

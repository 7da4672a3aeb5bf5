"""Isotonic regression of one score: pooled adjacent violators, three ways to fill the gaps."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics.binning import tied_blocks
from ..numerics.pava import centred_points, interpolate, isotonic_means, level_ends
from .base import Curve, Recipe, arrays, check_choice, finite_array


@dataclass(frozen=True, eq=False, kw_only=True)
class IsotonicCurve(Curve):
    """Non-decreasing values (k,) at increasing knots (k,); constant outside them.

    filling: "step" (the value of the largest knot at or below) or "linear" between knots; df: number of level sets.
    """

    knots: np.ndarray
    values: np.ndarray
    filling: str
    df: float

    def __call__(self, s):
        return interpolate(self.knots, self.values, s[:, 0], self.filling)

    def coef(self):
        return {f"f({knot:.6g})": float(v) for knot, v in zip(self.knots, self.values, strict=True)}

    def steps(self):
        return [float(np.min(np.diff(self.values))) if len(self.values) > 1 else 0.0]

    def facts(self):
        return {"Level sets": f"{self.df:g}", "Between scores": self.filling,
                "Range of f": f"{self.values[0]:.4f} to {self.values[-1]:.4f}"}  # fmt: skip

    def to_dict(self):
        return {"knots": self.knots.tolist(), "values": self.values.tolist(), "filling": self.filling, "df": self.df}

    @classmethod
    def from_dict(cls, d):
        knots, values = finite_array(d["knots"], "knots"), finite_array(d["values"], "values", 0.0, 1.0)
        check_choice("filling", d["filling"], ("step", "linear"))
        if len(knots) != len(values) or not len(knots) or np.any(np.diff(knots) <= 0) or np.any(np.diff(values) < 0):
            raise ValueError("isotonic: knots must increase, values must not fall, and both be equally many")
        return cls(knots=knots, values=values, filling=d["filling"], df=float(d["df"]))


@dataclass(frozen=True)
class Isotonic(Recipe):
    """Isotonic regression: the non-decreasing function of one score nearest to the labels in least squares.

    Tied scores are pooled first, so row order does not matter. Outside the range of the fit the nearest value holds;
    a finite score never gives NaN.

    Parameters
    ----------
    interpolate : {"step", "linear", "centered"}
        Between scores: the value of the largest score at or below (default); a line between neighbouring scores; or
        centred isotonic regression, a line between level sets placed at their weighted mean score (level sets at 0 and
        1 keep their ends).

    Raises
    ------
    ValueError
        For an unknown interpolation or more than one score.

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.methods import Isotonic
    >>> Isotonic().fit_arrays(np.array([1.0, 2, 3, 4]), np.array([0, 1, 0, 1])).values
    array([0. , 0.5, 1. ])

    References
    ----------
    Zadrozny, B. & Elkan, C. (2002). Transforming classifier scores into accurate multiclass probability estimates. KDD.
    doi:10.1145/775047.775151. Oron, A. P. & Flournoy, N. (2017). Centered isotonic regression. Statistics in
    Biopharmaceutical Research 9(3). doi:10.1080/19466315.2017.1286256
    """

    title: ClassVar[str] = "Isotonic regression"
    reference: ClassVar[str] = "Zadrozny & Elkan (2002), doi:10.1145/775047.775151"
    max_scores: ClassVar[int | None] = 1
    curve_type: ClassVar[type] = IsotonicCurve

    interpolate: str = "step"

    def __post_init__(self):
        check_choice("interpolate", self.interpolate, ("step", "linear", "centered"))

    def directions(self, m):
        return (1,) * m

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        blocks = tied_blocks(s[:, 0], y, w)
        weight = blocks.weight
        values = isotonic_means(blocks.events / weight, weight)
        df = float(1 + np.sum(np.diff(values) > 0))
        if self.interpolate == "centered":
            knots, values = centred_points(blocks.x, values, weight)
        else:
            keep = level_ends(values, both=self.interpolate == "linear")
            knots, values = blocks.x[keep], values[keep]
        filling = "step" if self.interpolate == "step" else "linear"
        return IsotonicCurve(knots=knots, values=values, filling=filling, df=df)

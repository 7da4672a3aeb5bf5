"""A small honest recipe and one deliberately broken relative per promise, each caught by exactly its test."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isocal.methods.base import Curve, Recipe, arrays


class Steps(Curve):
    """A non-decreasing step function of the mean score."""

    def __init__(self, borders, values):
        self.borders, self.values = np.asarray(borders), np.asarray(values)

    def __call__(self, s):
        mean = sum(s[:, m] for m in range(s.shape[1])) / s.shape[1]
        p = np.r_[self.values[0], self.values][np.searchsorted(self.borders, mean, side="right")]
        return np.where(np.isnan(mean), np.nan, p)

    def coef(self):
        return {f"step{i}": float(v) for i, v in enumerate(self.values)}

    def to_dict(self):
        return {"borders": self.borders.tolist(), "values": self.values.tolist()}

    @classmethod
    def from_dict(cls, d):
        return cls(d["borders"], d["values"])


@dataclass(frozen=True)
class Honest(Recipe):
    """Isotonic regression of the mean score: keeps every promise."""

    title: ClassVar[str] = "Isotonic steps of the mean score"
    reference: ClassVar[str] = "none: made for the tests"
    curve_type: ClassVar[type] = Steps

    def directions(self, m):
        return (1,) * m

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        return self.curve_type(*self.steps(s, y, np.ones(len(y)) if w is None else w))

    def steps(self, s, y, w):
        """Borders and pooled means, ties pooled first."""
        mean = sum(s[:, m] for m in range(s.shape[1])) / s.shape[1]
        x, at = np.unique(mean, return_inverse=True)
        return pava(x, np.bincount(at, w * y), np.bincount(at, w))


def pava(x, events, weight):
    """Pool adjacent violators: (first x of each block, its mean)."""
    blocks = []
    for xi, e, w in zip(x, events, weight, strict=True):
        blocks.append([xi, e, w])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            _, e, w = blocks.pop()
            blocks[-1][1] += e
            blocks[-1][2] += w
    return [b[0] for b in blocks], [b[1] / b[2] for b in blocks]


class IgnoresWeights(Honest):
    def fit_arrays(self, s, y, w=None):
        return super().fit_arrays(s, y)


class SplitsTiesByOrder(Honest):
    def steps(self, s, y, w):
        mean = s.mean(axis=1)
        order = np.argsort(mean, kind="stable")
        borders, values = pava(mean[order], (w * y)[order], w[order])
        # weights repeat a row where it stands, so only the order of rows shows
        return borders, values


class FollowsMemoryOrder(Honest):
    def fit_arrays(self, s, y, w=None):
        curve = super().fit_arrays(s, y, w)
        fortran = getattr(s, "flags", None) is not None and s.ndim == 2 and not s.flags.c_contiguous
        shift = 1e-13 if fortran or s.dtype == np.float32 else 0.0
        return Steps(curve.borders, np.minimum(curve.values + shift, 1.0))


class ZeroForMissing(Honest):
    class Curve(Steps):
        def __call__(self, s):
            return np.nan_to_num(super().__call__(s))

    curve_type = Curve


class DividesByEvents(Honest):
    def steps(self, s, y, w):
        if not y.any():
            raise ZeroDivisionError("division by zero")
        return super().steps(s, y, w)


class FallsAtAKnot(Honest):
    def steps(self, s, y, w):
        borders, values = super().steps(s, y, w)
        if len(values) > 2:
            values[-1] = values[-2] - 1e-6
        return borders, values


class HoldsALambda(Honest):
    class Curve(Steps):
        def __init__(self, borders, values):
            super().__init__(borders, values)
            self.link = lambda p: p

    curve_type = Curve


class LooksAround(Honest):
    class Curve(Steps):
        def __call__(self, s):
            p = super().__call__(s)
            return np.clip(p - 1e-12 * len(s), 0, 1)

    curve_type = Curve


class SilencesWarnings(Honest):
    def fit_arrays(self, s, y, w=None):
        warnings.filterwarnings("ignore", message=f"silenced by {type(self).__name__}")
        return super().fit_arrays(s, y, w)


BROKEN = {
    IgnoresWeights: "weights_are_case_weights", SplitsTiesByOrder: "order_of_rows_is_irrelevant",
    FollowsMemoryOrder: "storage_is_irrelevant", ZeroForMissing: "predictions_are_probabilities",
    DividesByEvents: "degenerate_data_are_answered", FallsAtAKnot: "directions_hold",
    HoldsALambda: "round_trips_are_exact", LooksAround: "rows_are_predicted_alone",
    SilencesWarnings: "nothing_global_changes",
}  # fmt: skip

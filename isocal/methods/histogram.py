"""Histogram binning of one score (Zadrozny & Elkan 2001)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics.binning import borders_at, equal_weight_cuts, step_values, tied_blocks
from .base import Curve, Recipe, arrays, check_choice, check_number, columns, finite_array, positive


@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramCurve(Curve):
    """values (b,) between inner borders (b - 1,); a score on a border belongs to the right.

    low, high: range of the outer bins; weight, events (b,): what each bin held.
    """

    borders: np.ndarray
    values: np.ndarray
    low: float
    high: float
    weight: np.ndarray
    events: np.ndarray

    @property
    def df(self):
        """Bins that hold rows."""
        return float(np.sum(self.weight > 0))

    def __call__(self, s):
        return step_values(self.borders, self.values, s[:, 0])

    def coef(self):
        return {f"bin{i + 1}": float(v) for i, v in enumerate(self.values)}

    def facts(self):
        empty = int(np.sum(self.weight == 0))
        return {"Bins": f"{len(self.values)}" + (f" ({empty} empty)" if empty else "")}

    def tables(self):
        edges = np.r_[self.low, self.borders, self.high]
        columns = {"low": edges[:-1], "high": edges[1:], "rows": self.weight, "events": self.events, "f": self.values}
        return {"bins": {"bin": list(range(1, len(self.values) + 1)), **{k: v.tolist() for k, v in columns.items()}}}

    def to_dict(self):
        arrays = {name: getattr(self, name).tolist() for name in ("borders", "values", "weight", "events")}
        return arrays | {"low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, d):
        found = {name: finite_array(d[name], name) for name in ("borders", "weight", "events")}
        values = finite_array(d["values"], "values", 0.0, 1.0)
        if len(values) != len(found["borders"]) + 1 or np.any(np.diff(found["borders"]) <= 0):
            raise ValueError("histogram: borders must increase and be one fewer than the values")
        if not len(found["weight"]) == len(found["events"]) == len(values):
            raise ValueError("histogram: one weight and one number of events for each bin are needed")
        return cls(values=values, low=float(d["low"]), high=float(d["high"]), **found)


@dataclass(frozen=True)
class Histogram(Recipe):
    """Histogram binning: the event rate of each bin of one score.

    With a prior, scaling all weights changes the fit.

    Parameters
    ----------
    bins : int or sequence of float
        Number of bins (default 10), or increasing edges that cover the scores.
    strategy : {"mass", "width"}
        Equally heavy bins (default; tied scores are never split, so there may be fewer) or equally wide ones on
        [0, 1].
    prior_strength : float
        Weight of a Beta prior with the bin's midpoint as mean; default 0, raw means. An empty bin takes the midpoint.

    Raises
    ------
    ValueError
        bins < 1 or more than rows; edges that do not increase or do not cover the scores; scores outside [0, 1] where
        midpoints are needed.

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.methods import Histogram
    >>> Histogram(bins=2).fit_arrays(np.array([0.1, 0.2, 0.7, 0.9]), np.array([0, 1, 1, 1])).values
    array([0.5, 1. ])

    References
    ----------
    Zadrozny, B. & Elkan, C. (2001). Obtaining calibrated probability estimates from decision trees and naive Bayesian
    classifiers. ICML, 609-616.
    """

    title: ClassVar[str] = "Histogram binning"
    reference: ClassVar[str] = "Zadrozny & Elkan (2001), ICML 609-616"
    max_scores: ClassVar[int | None] = 1
    curve_type: ClassVar[type] = HistogramCurve

    bins: int | tuple = 10
    strategy: str = "mass"
    prior_strength: float = 0.0

    def __post_init__(self):
        check_choice("strategy", self.strategy, ("mass", "width"))
        check_number("prior_strength", self.prior_strength, at_least=0)
        if np.ndim(self.bins) == 0:
            if isinstance(self.bins, bool) or not isinstance(self.bins, int | np.integer) or self.bins < 1:
                raise ValueError(f"bins must be an integer of at least 1, or increasing edges; got {self.bins!r}")
            return
        edges = finite_array(self.bins, "bins")
        if len(edges) < 2 or np.any(np.diff(edges) <= 0):
            raise ValueError(f"bins given as edges must be two or more increasing numbers; got {self.bins!r}")
        object.__setattr__(self, "bins", tuple(edges.tolist()))

    def domain(self):
        midpoints = self.prior_strength > 0 or (np.ndim(self.bins) == 0 and self.strategy == "width")
        return "unit" if midpoints else "real"

    def check(self, s, y, w=None, names=None):
        super().check(s, y, w, names)
        if np.ndim(self.bins):
            if s.min() < self.bins[0] or s.max() > self.bins[-1]:
                raise ValueError(
                    f"bins: edges from {self.bins[0]:g} to {self.bins[-1]:g} do not cover the scores, which range from "
                    f"{s.min():.6g} to {s.max():.6g}: widen the outer edges"
                )
        elif self.strategy == "mass":
            rows = max(len(y), 0 if w is None else w.sum())
            if self.bins > rows:
                raise ValueError(f"bins={self.bins} exceeds the {rows:g} rows: use fewer bins")

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        return self._fit(s, y, w)

    def fit_many(self, s, Y, W=None):
        """Rows are not checked again, so that bins may outnumber the rows of a fold."""
        Y, W, r = columns(Y, W)
        return [self._fit(*positive(s, Y[:, j % Y.shape[1]], W[:, j % W.shape[1]])) for j in range(r)]

    def _fit(self, s, y, w):
        blocks = tied_blocks(s[:, 0], y, w)
        if np.ndim(self.bins) == 0 and self.strategy == "mass":
            cuts, _ = equal_weight_cuts(blocks, self.bins, self.bins)
            borders = borders_at(blocks.x, cuts)
        else:
            edges = np.linspace(0, 1, self.bins + 1) if np.ndim(self.bins) == 0 else np.array(self.bins)
            borders = edges[1:-1]
            cuts = np.searchsorted(blocks.x, borders, side="left")
        ends = np.r_[0, cuts, len(blocks.x)]
        events, others = np.diff(blocks.events_to[ends]), np.diff(blocks.others_to[ends])
        low, high = self._ends(blocks)
        values = self._values(events + others, events, np.r_[low, borders], np.r_[borders, high])
        return HistogramCurve(
            borders=borders, values=values, low=low, high=high, weight=events + others, events=events
        )  # fmt: skip

    def _ends(self, blocks):
        if np.ndim(self.bins):
            return self.bins[0], self.bins[-1]
        return (0.0, 1.0) if self.domain() == "unit" else (float(blocks.x[0]), float(blocks.x[-1]))

    def _values(self, weight, events, left, right):
        middle, empty = left / 2 + right / 2, weight == 0
        if empty.any() and (left.min() < 0 or right.max() > 1):
            where = int(np.flatnonzero(empty)[0])
            raise ValueError(
                f"bins: no score lies between {left[where]:g} and {right[where]:g}: join the bin to its neighbour"
            )
        n0, mean = self.prior_strength, np.clip(middle, 0.0, 1.0)
        return np.where(empty, mean, (events + n0 * mean) / np.where(empty, 1.0, weight + n0))

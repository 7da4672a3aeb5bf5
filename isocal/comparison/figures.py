"""What the figures of a comparison show, as arrays for isocal.plots."""

import numpy as np

from ..numerics.intervals import ndtri
from .compared import TITLES
from .paired import HIGHER, mean_error

THRESHOLDS = np.arange(101) / 100
MOST_A_ROW = 4  # panels of reliability


def forest(self, ax, metrics):
    """A panel of paired differences for each metric."""
    from ..plots import comparison as plots

    names = list(self.forecasts)
    axes = plots.forest_axes(ax, len(metrics), len(names))
    for i, (axis, metric) in enumerate(zip(axes, metrics, strict=True)):
        d = self.differences[self.differences.metric == metric]
        at = names.index(self.reference(metric))
        better = f"{'higher' if metric in HIGHER else 'lower'} is better"
        if d.conf_low.isna().all():
            better += ", no intervals"
        plots.draw_forest(
            axis, names if i == 0 else None, d.difference.to_numpy(), d.conf_low.to_numpy(), d.conf_high.to_numpy(), at,
            (TITLES[metric], f"minus {names[at]}", better),
        )  # fmt: skip
    return axes[0] if len(metrics) == 1 else np.array(axes, dtype=object)


def murphy(self, ax, reference):
    """The curves, and with two Axes their differences to the reference."""
    from ..corp import murphy_diagram
    from ..plots import comparison as plots
    from ..plots import draw_murphy

    axes = plots.murphy_axes(ax)
    draw_murphy(axes[0], {name: murphy_diagram(self.y, p, self.w) for name, p in self.forecasts.items()})
    if len(axes) == 1:
        return axes[0]
    others = {
        name: elementary_difference(self.y, p, self.forecasts[reference], self.w, self.level)
        for name, p in self.forecasts.items() if name != reference
    }  # fmt: skip
    plots.draw_murphy_differences(axes[1], THRESHOLDS, others, list(self.forecasts), reference, self.level)
    return np.array(axes, dtype=object)


def elementary_difference(y, p, q, w, level):
    """(3, t) mean difference of the elementary scores of p and q at each threshold, and its pointwise limits.

    The standard error is that of a mean of paired differences over rows.
    """
    out = np.empty((3, len(THRESHOLDS)))
    w = np.ones(len(y)) if w is None else w
    p, q = np.round(p, 12), np.round(q, 12)
    reach = ndtri((1 + level) / 2)
    for i, t in enumerate(THRESHOLDS):
        one = (p > t).astype(np.float64) - (q > t)  # acts where the other does not
        d = one * np.where(y == 1, -(1 - t), t)
        mean, half = w @ d / w.sum(), reach * float(mean_error(d, w)[0])
        out[:, i] = mean, mean - half, mean + half
    return out


def reliability(self, ax, rng):
    """CORP diagrams side by side."""
    from ..assessment import Reliability
    from ..plots import comparison as plots

    axes = plots.grid(ax, len(self.forecasts), MOST_A_ROW)
    found = Reliability(self.label, self.y, self.forecasts, self.w).plot(axes, facet=True, rng=rng)
    return np.array(list(found), dtype=object)

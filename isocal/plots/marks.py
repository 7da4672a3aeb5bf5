"""What every figure shares: the Axes it draws on, names as labels, colours, and the rows it shows."""

from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.font_manager import FontProperties

INK, FAINT, ACCENT = "#1a1a1a", "#8c8c8c", "#00467f"
PROBABILITY = ListedColormap(colormaps["viridis"](np.linspace(0.15, 1.0, 256)), name="isocal_probability")
SMALLEST = 4.0  # area of a marker, in points squared


def axes_or_new(ax, size):
    """The Axes given, checked; or one of a new figure of this size in inches, the only use of pyplot."""
    if ax is None:
        import matplotlib.pyplot as plt

        return plt.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(ax, Axes):
        remedy = "pass one of its elements, axes[0]" if isinstance(ax, np.ndarray | list | tuple) else "pass plt.gca()"
        raise TypeError(f"ax must be a matplotlib Axes; got {type(ax).__name__}: {remedy}, or leave ax out")
    if ax.name != "rectilinear":
        raise ValueError(f"ax must have straight axes; got the projection {ax.name!r}: make it without projection=")
    return ax


def plain(text):
    """A name as a label: a dollar sign is a dollar sign, not the start of mathematics."""
    return str(text).replace("$", r"\$")


@dataclass(frozen=True)
class Points:
    """Places to mark: at (k, d); event (k,) bool; weight (k,) of the rows at each; total (2,) weight of each class.

    drawn (2,): rows that stand for each class, total where all are drawn.
    """

    at: np.ndarray
    event: np.ndarray
    weight: np.ndarray
    total: tuple
    drawn: tuple

    def label(self, event, name):
        """A class with its rows, e.g. "y = 1 (212 of 2,834)"."""
        total, drawn = self.total[event], self.drawn[event]
        return f"{name} ({total:,.6g})" if drawn == total else f"{name} ({drawn:,} of {total:,.6g})"

    @property
    def tied(self):
        """Whether some places hold more weight than others."""
        return bool(len(self.weight) and self.weight.max() > self.weight.min() * (1 + 1e-9))

    def areas(self, usual, largest):
        """(k,) areas of markers: the usual one where all places weigh the same, else proportional to weight."""
        if not self.tied:
            return np.full(len(self.weight), usual)
        low, high = self.weight.min(), self.weight.max()
        return np.maximum(min(largest, usual * high / low) * self.weight / high, SMALLEST)


def places(x, y, w, most):
    """Points of rows x (n, d), y (n,), w (n,): every distinct place if there are at most `most`, else a sample.

    The sample is systematic in the order of x, with one step for both classes, so that their ratio is kept; nothing
    is drawn at random, and the order of rows does not matter.
    """
    found = [_distinct(x[y == label], w[y == label]) for label in (0, 1)]
    total = tuple(float(mass.sum()) for _, mass in found)
    if sum(len(mass) for _, mass in found) <= most:
        drawn = total
    else:
        found = [_every(at, mass, sum(total) / most) for at, mass in found]
        drawn = tuple(int(mass.sum()) for _, mass in found)
    at, mass = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Points(at, np.repeat([False, True], [len(part) for part, _ in found]), mass, total, drawn)


def _distinct(x, w):
    """Distinct rows of x in order, and the weight at each."""
    order = np.lexsort(x.T[::-1])
    x, w = x[order], w[order]
    first = np.ones(len(x), dtype=bool)
    first[1:] = np.any(x[1:] != x[:-1], axis=1)
    return x[first], np.add.reduceat(w, np.flatnonzero(first)) if len(x) else w


def _every(at, mass, step):
    """One draw in the middle of each step of cumulated weight, at least one; the weight of a place is its draws."""
    cumulated = np.cumsum(mass)
    if not len(mass):
        return at, mass
    middles = np.arange(0.5, max(cumulated[-1] / step, 1.0)) * min(step, cumulated[-1])
    which, draws = np.unique(np.searchsorted(cumulated, middles), return_counts=True)
    return at[which], draws.astype(float)


def width_in(ax):
    """Width of an Axes in inches."""
    return ax.get_window_extent().width / ax.figure.dpi


def set_type(ax):
    """Sizes of type for the width of an Axes, relative to the user's own; returns that of small print in points."""
    narrow = width_in(ax) < 3.0
    ax.xaxis.label.set_size("small" if narrow else "medium")
    ax.yaxis.label.set_size("small" if narrow else "medium")
    ax.tick_params(labelsize="x-small" if narrow else "small")
    return FontProperties(size="x-small" if narrow else "small").get_size_in_points()


def legend_above(ax, handles, size, heading=None):
    """A legend in rows above the Axes, as many entries a row as fit; returns the number of rows."""
    wide = [len(h.get_label()) * 0.55 * size / 72 + 0.4 for h in handles]
    room, ncols = width_in(ax) * 1.2, len(handles)
    while ncols > 1 and _columns_width(wide, ncols) > room:
        ncols -= 1
    ax.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=ncols, fontsize=size, frameon=False,
        title=heading, title_fontsize=size, alignment="left", borderaxespad=0.2, handletextpad=0.4, columnspacing=1.2,
        handlelength=1.5, borderpad=0.1, labelspacing=0.3,
    )  # fmt: skip
    return -(-len(handles) // ncols) + (heading is not None)


def _columns_width(wide, ncols):
    """Width of entries set column by column, the first columns one longer where they do not divide evenly."""
    return sum(max(part) for part in np.array_split(wide, ncols))

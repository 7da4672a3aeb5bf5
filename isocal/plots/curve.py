"""One score: the fitted curve, a tick for each row, and observed frequencies in bins."""

from dataclasses import dataclass

import numpy as np

from .marks import ACCENT, FAINT, INK, plain, set_type

MOST_MEMBERS = 12  # curves drawn of those that are averaged
Z95 = 1.959963984540054  # the 0.975 quantile of the normal distribution


@dataclass(frozen=True)
class Bins:
    """Rows in bins of about equal weight: x mean score, share of events, low and high its 95 % limits, weight (k,)."""

    x: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray


def frequencies(x, y, w):
    """Bins of scores x (n,), labels y (n,) and case weights w (n,), with Wilson's limits.

    The cube root of the weight, between 2 and 20, is the number of bins; fewer where that leaves under five rows of
    the rarer class in a bin. Equal scores are never split. The weight of a bin counts as its number of rows.
    """
    where = np.unique(x, return_inverse=True)[1]
    weight = np.bincount(where, w)
    total, events = weight.sum(), float(w @ y)
    k = int(np.clip(min(np.cbrt(total), min(events, total - events) / 5), 2, 20))
    cell = np.minimum((k * (np.cumsum(weight) - weight / 2) / total).astype(int), k - 1)[where]
    mass = np.bincount(cell, w, k)
    full = mass > 0
    mass, hits, mean = mass[full], np.bincount(cell, w * y, k)[full], np.bincount(cell, w * x, k)[full]
    share = hits / mass
    middle = (share + Z95**2 / (2 * mass)) / (1 + Z95**2 / mass)
    half = Z95 / (1 + Z95**2 / mass) * np.sqrt(share * (1 - share) / mass + Z95**2 / (4 * mass**2))
    return Bins(mean / mass, share, np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1), mass)


def draw_curve(ax, x, p, labels, points=None, bins=None, classes=None, members=None):
    """Draw probability p (a,) over x (a,), ticks at points and observed frequencies of bins.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x, p : numpy.ndarray, shape (a,)
    labels : tuple of str
        Of the horizontal and the vertical axis.
    points : Points, optional
        Ticks: events at the upper border, other rows at the lower one.
    bins : Bins, optional
    classes : tuple of str, optional
        Names of the class that is not the event and of the event, for the legend.
    members : numpy.ndarray, shape (a, k), optional
        Curves of which p is the average, the heaviest first.

    Returns
    -------
    matplotlib.axes.Axes
    """
    small = set_type(ax)
    if members is not None:
        lines = ax.plot(x, members[:, :MOST_MEMBERS], color=FAINT, linewidth=0.8, zorder=2)
        lines[0].set_label(f"models averaged ({members.shape[1]})")
    ax.plot(x, p, color=ACCENT, linewidth=1.8, label="fitted", zorder=3, solid_capstyle="butt")
    if bins is not None:
        _dots(ax, bins)
    if points is not None:
        _ticks(ax, points, classes, small, rising=bool(p[-1] >= p[0]))
    low, high = _reach(p if bins is None else np.r_[p, bins.low, bins.high])
    side, room = 0.02 * (x[-1] - x[0]), 0.06 * (high - low)
    ax.set(xlim=(x[0] - side, x[-1] + side), ylim=(low - room, high + room))
    ax.set(xlabel=plain(labels[0]), ylabel=plain(labels[1]))
    if bins is not None:
        corner = _free_corner(x, p, bins, (low, high))
        look = {"framealpha": 0.8, "edgecolor": "none", "borderpad": 0.2, "labelspacing": 0.3, "handlelength": 1.5}
        ax.legend(fontsize=small, loc=corner, bbox_to_anchor=(0.0, 0.07, 1.0, 0.85), **look)
    return ax


def _free_corner(x, p, bins, reach):
    """Upper corner above the low end of the curve, or the lower one opposite where the curve bends into it."""
    rising = bool(p[-1] >= p[0])
    start, towards = (x[0], 1.0) if rising else (x[-1], -1.0)
    reached = 0.55 * (x[-1] - x[0])
    near, seen = towards * (x - start) < reached, towards * (bins.x - start) < reached
    height = max(p[near].max(), bins.high[seen].max(initial=0.0))
    upper = height < reach[0] + 0.75 * (reach[1] - reach[0])
    return f"{'upper' if upper else 'lower'} {'left' if upper == rising else 'right'}"


def _reach(values):
    """The probabilities to show: 0 to 1, or less where everything lies near one of them."""
    low, high = values.min(), values.max()
    if high < 0.6:
        return 0.0, float(high) * 1.15
    return (1 - 1.15 * (1 - float(low)), 1.0) if low > 0.4 else (0.0, 1.0)


def _dots(ax, bins):
    low, high = bins.weight.min(), bins.weight.max()
    size = f"{high:,.4g}" if high <= 1.1 * low else f"{low:,.4g} to {high:,.4g}"
    label = f"observed, 95 % limits\n({len(bins.x)} {'bin' if len(bins.x) == 1 else 'bins'} of {size} rows)"
    ax.vlines(bins.x, bins.low, bins.high, color=INK, linewidth=0.7, zorder=2)
    ax.scatter(bins.x, bins.share, s=26 * bins.weight / high, color=INK, linewidth=0, zorder=4, label=label)


def _ticks(ax, points, classes, small, rising):
    """Ticks along the borders, named where a rising (falling) curve leaves room: top left, bottom right (mirrored)."""
    across = ax.get_xaxis_transform()
    weight = points.weight / points.weight.max()
    for event, (low, high, colour, y) in enumerate(((0.0, 0.03, FAINT, 0.035), (0.97, 1.0, INK, 0.965))):
        mine = points.event == bool(event)
        ax.vlines(points.at[mine, 0], low, high, transform=across, color=colour, linewidth=0.2 + 0.5 * weight[mine])
        left = rising == bool(event)
        ax.text(
            0.02 if left else 0.98, y, plain(points.label(event, classes[event])), transform=ax.transAxes, color=INK,
            fontsize=small, ha="left" if left else "right", va="top" if event else "bottom", zorder=5,
            bbox={"facecolor": "white", "alpha": 0.7, "pad": 0.8, "linewidth": 0},
        )  # fmt: skip

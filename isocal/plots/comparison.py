"""Fits compared: paired differences with intervals, Murphy diagrams with differences, panels side by side."""

import numpy as np

from .marks import ACCENT, FAINT, INK, axes_or_new, plain, set_type
from .reliability import COLOURS

LINES = ("-", (0, (5, 2)), (0, (1, 1.5)))


def _given(ax, allowed, what):
    """The Axes handed in, a list of one of the allowed numbers."""
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) not in allowed:
        raise ValueError(f"{what} needs {' or '.join(map(str, allowed))} Axes; got {len(axes)}")
    return [axes_or_new(a, None) for a in axes]


def forest_axes(ax, count, fits):
    """Axes for `count` metrics: those given, or a new row of them."""
    if ax is not None:
        return _given(ax, (count,), f"a forest of {count} metrics")
    import matplotlib.pyplot as plt

    size = (1.5 + 2.3 * count, 1.05 + 0.3 * fits)
    return list(plt.subplots(1, count, figsize=size, layout="constrained", squeeze=False, sharey=True)[1][0])


def murphy_axes(ax):
    """One or two Axes: those given, or a new pair."""
    if ax is not None:
        return _given(ax, (1, 2), "a Murphy diagram")
    import matplotlib.pyplot as plt

    return list(plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained")[1])


def grid(ax, count, most):
    """Axes for `count` square panels: those given, or new ones, at most so many in a row."""
    if ax is not None:
        return _given(ax, (count,), f"{count} panels")
    import matplotlib.pyplot as plt

    columns = min(count, most)
    rows = -(-count // columns)
    axes = plt.subplots(rows, columns, figsize=(3.2 * columns, 3.5 * rows), layout="constrained", squeeze=False)[1]
    for extra in axes.ravel()[count:]:
        extra.remove()
    return list(axes.ravel()[:count])


def draw_forest(ax, names, difference, low, high, reference, texts):
    """Draw differences to a reference with their intervals, one fit a line, the first on top.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    names : list of str or None
        Of the fits; None where a panel to the left names them.
    difference, low, high : numpy.ndarray, shape (k,)
        NaN limits: the difference alone; one that is not finite is said in words.
    reference : int
        Position of the fit at 0, drawn as a hollow mark.
    texts : tuple of str
        The metric, what it is compared with, and which direction is better.

    Returns
    -------
    matplotlib.axes.Axes
    """
    small = set_type(ax)
    at = np.arange(len(difference))
    ax.axvline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    other = at != reference
    ax.hlines(at[other], low[other], high[other], color=ACCENT, linewidth=1.6, zorder=2)
    ax.plot(difference[other], at[other], "o", color=ACCENT, markersize=5, zorder=3)
    for i in np.flatnonzero(other & ~np.isfinite(difference)):
        text = "not defined" if np.isnan(difference[i]) else "infinite"
        ax.annotate(text, (0.98, i), xycoords=("axes fraction", "data"), ha="right", va="center", fontsize=small,
                    color=ACCENT, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
    ax.plot([0.0], [reference], "D", markerfacecolor="white", markeredgecolor=INK, markersize=5, zorder=3)
    ax.set_ylim(len(difference) - 0.4, -0.6)
    if names is not None:
        ax.set_yticks(at, [plain(name) for name in names])
        ax.tick_params(axis="y", length=0)
    else:
        ax.tick_params(axis="y", length=0, labelleft=False)
    ax.set_title(plain(texts[0]), fontsize=small + 1)
    ax.set_xlabel(f"{plain(texts[1])}\n({texts[2]})", fontsize=small)
    ax.locator_params(axis="x", nbins=4)
    ax.margins(x=0.08)
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def draw_murphy_differences(ax, thresholds, differences, names, reference, level):
    """Draw differences of mean elementary scores to a reference with pointwise bands; below 0 is better.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    thresholds : numpy.ndarray, shape (t,)
    differences : dict
        {fit: (3, t) mean difference, lower and upper limit}.
    names : list of str
        All fits, in the order of their colours.
    reference : str
    level : float

    Returns
    -------
    matplotlib.axes.Axes
    """
    set_type(ax)
    ax.axhline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    for name, (mean, low, high) in differences.items():
        i = names.index(name)
        colour = COLOURS[i % len(COLOURS)]
        ax.fill_between(thresholds, low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)
        ax.plot(thresholds, mean, color=colour, linewidth=1.6, linestyle=LINES[i % 3], zorder=2)
    share = f"{level:.0%} pointwise".replace("%", " %")
    ax.set(xlim=(0, 1), xlabel="threshold", ylabel=f"minus {plain(reference)} ({share})")
    return ax

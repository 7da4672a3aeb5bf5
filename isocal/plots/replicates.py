"""Replicates of a fit: curves of one score around the fitted one, or their contours over two scores."""

import numpy as np
from matplotlib import colormaps
from matplotlib.lines import Line2D

from .marks import ACCENT, FAINT, INK, legend_above, plain, set_type

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
LEAST_LEVELS = 2  # that a surface crosses, else levels between its own ends


def draw_curves(ax, x, p, draws, band, labels, level):
    """Draw replicate curves draws (k, a) over x (a,), the fit p (a,) and a pointwise band (low, high).

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x, p : numpy.ndarray, shape (a,)
    draws : numpy.ndarray, shape (k, a)
    band : tuple of numpy.ndarray, shape (a,)
    labels : tuple of str
        Of the horizontal and the vertical axis.
    level : float
        Coverage of the band, for the legend.

    Returns
    -------
    matplotlib.axes.Axes
    """
    small = set_type(ax)
    low, high = band
    ribbon = ax.fill_between(x, low, high, color=ACCENT, alpha=0.18, linewidth=0, zorder=1)
    ribbon.set_label(f"{level:.4g} of replicates at each place")
    handles = [ribbon]
    if len(draws):
        lines = ax.plot(x, draws.T, color=FAINT, linewidth=0.4, alpha=0.6, zorder=2)
        lines[0].set_label(f"{len(draws)} replicates")
        handles.insert(0, lines[0])
    handles = ax.plot(x, p, color=ACCENT, linewidth=1.8, label="fitted", zorder=3) + handles
    highest = float(max(high.max(), draws.max(initial=0.0)))
    top = 1.0 if highest > 0.5 else 1.05 * highest
    ax.set(xlim=(x[0], x[-1]), ylim=(-0.02 * top, 1.02 * top), xlabel=plain(labels[0]), ylabel=plain(labels[1]))
    legend_above(ax, handles, small, "variability of the estimator")
    return ax


def draw_contours(ax, x, y, p, draws, labels, title=""):
    """Draw contours of the fit and, thin, of replicates over two scores, one colour a level.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x, y : numpy.ndarray, shape (a,), (b,)
    p : numpy.ndarray, shape (a, b)
        The fit.
    draws : numpy.ndarray, shape (k, a, b)
    labels : tuple of str
        Of the horizontal and the vertical axis, and of what is drawn.
    title : str
        Where other scores are held.

    Returns
    -------
    matplotlib.axes.Axes
    """
    small = set_type(ax)
    levels = [v for v in LEVELS if p.min() < v < p.max()]
    if len(levels) < LEAST_LEVELS:
        levels = np.unique(np.round(np.linspace(p.min(), p.max(), 5)[1:-1], 3)).tolist()
    colours = colormaps["viridis"](np.linspace(0.0, 0.82, max(len(levels), 2)))
    for surface in draws:
        inside = [k for k, v in enumerate(levels) if surface.min() < v < surface.max()]
        if inside:
            ax.contour(
                x, y, surface.T, levels=[levels[k] for k in inside], colors=colours[inside], linewidths=0.4, alpha=0.4
            )
    if p.min() < p.max():
        lines = ax.contour(x, y, p.T, levels=levels, colors=colours[: len(levels)], linewidths=2.0)
        ax.clabel(lines, fontsize=small, fmt="%g", colors=INK)
    handles = [
        Line2D([], [], color=INK, linewidth=2.0, label=f"fitted {plain(labels[2])}"),
        Line2D([], [], color=FAINT, linewidth=0.6, label=f"{len(draws)} replicates"),
    ]
    ax.set(xlabel=plain(labels[0]), ylabel=plain(labels[1]))
    heading = "variability of the estimator" + (f"; {plain(title)}" if title else "")
    legend_above(ax, handles, small, heading)
    return ax

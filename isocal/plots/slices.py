"""Probability against one score while the others stay where they are."""

import numpy as np
from matplotlib import colormaps
from matplotlib.lines import Line2D

from .marks import legend_above, plain, set_type


def draw_slices(ax, x, p, labels, names, supported=None, heading=None):
    """Draw one line for each place of the other scores.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x : numpy.ndarray, shape (a,)
    p : numpy.ndarray, shape (k, a)
        Probability along x, one row a line.
    labels : tuple of str
        Of the horizontal and the vertical axis.
    names : sequence of str
        Legend entry of each line.
    supported : numpy.ndarray of bool, shape (k, a), optional
        Where it is False the line is thin.
    heading : str, optional
        Above the legend.

    Returns
    -------
    matplotlib.axes.Axes
    """
    small = set_type(ax)
    near = np.ones(p.shape, dtype=bool) if supported is None else supported
    colours = colormaps["viridis"](np.linspace(0.0, 0.82, len(p)) if len(p) > 1 else [0.25])
    handles = []
    for line, seen, colour, name in zip(p, near, colours, names, strict=True):
        ax.plot(x, line, color=colour, linewidth=0.8)
        handles += ax.plot(x, np.where(seen, line, np.nan), color=colour, linewidth=2.0, label=plain(name))
    if not near.all():
        handles.append(Line2D([], [], color="0.4", linewidth=0.8, label="no rows near"))
    top = 1.0 if p.max() > 0.5 else float(p.max()) * 1.05
    ax.set(xlim=(x[0], x[-1]), ylim=(-0.02 * top, 1.02 * top), xlabel=plain(labels[0]), ylabel=plain(labels[1]))
    legend_above(ax, handles, small, heading and plain(heading))
    return ax

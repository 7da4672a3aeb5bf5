"""Which rows move the fit."""

import numpy as np
from matplotlib.lines import Line2D

from .marks import ACCENT, FAINT, INK, legend_above, plain, set_type

HELD, SMALLEST, LARGEST = "#b3300e", 6.0, 130.0
NAMED = 5  # rows that get their name


def draw_influence(ax, fitted, change, y, cook, moves, top, names):
    """Draw the change of each row's own fitted value when it is left out.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    fitted, change, y, cook : numpy.ndarray, shape (n,)
        Area of a mark is proportional to Cook's distance; all alike where it is NaN.
    moves : numpy.ndarray of bool, shape (n,)
        Rows whose deletion changes the active set are drawn in another colour.
    top : numpy.ndarray of int, shape (k,)
        Positions of the strongest rows; the first five are named.
    names : list of str, shape (k,)

    Returns
    -------
    matplotlib.axes.Axes
    """
    size = set_type(ax)
    known = np.isfinite(change)
    largest = np.nanmax(np.where(np.isfinite(cook), cook, np.nan), initial=0.0)
    areas = np.full(len(y), 14.0)
    if largest > 0:
        areas = np.clip(LARGEST * np.where(np.isfinite(cook), cook, largest) / largest, SMALLEST, LARGEST)
    ax.axhline(0.0, color=FAINT, linewidth=0.6, zorder=0)
    for event, marker in ((0, "o"), (1, "^")):
        for moved, colour in ((False, ACCENT), (True, HELD)):
            mine = known & (y == event) & (moves == moved)
            ax.scatter(fitted[mine], change[mine], s=areas[mine], marker=marker, facecolor="none", edgecolor=colour,
                       linewidth=0.8, zorder=2 + moved)  # fmt: skip
    _name(ax, fitted, change, top, names, size)
    ax.set(xlabel="Fitted probability", ylabel="Fitted - fitted without the row")
    ax.margins(x=0.06, y=0.14)
    handles = [
        Line2D([], [], linestyle="none", marker=m, markerfacecolor="none", markeredgecolor=INK, label=f"y = {v}")
        for v, m in ((0, "o"), (1, "^"))
    ]
    if moves.any():
        handles.append(Line2D([], [], linestyle="none", marker="o", markerfacecolor="none", markeredgecolor=HELD,
                              label="changes the active set"))  # fmt: skip
    legend_above(ax, handles, size)
    return ax


def _name(ax, fitted, change, top, names, size):
    """Write the names of the strongest rows beside them, rows close together in one label."""
    reach = 0.05 * max(np.ptp(fitted), 1e-9), 0.04 * max(np.ptp(change[np.isfinite(change)]), 1e-9)
    places = []
    for i, name in list(zip(top, names, strict=True))[:NAMED]:
        x, y = float(fitted[i]), float(change[i])
        near = [p for p in places if abs(p[0] - x) < reach[0] and abs(p[1] - y) < reach[1]]
        if near:
            near[0][2].append(name)
        elif np.isfinite(y):
            places.append((x, y, [name]))
    for x, y, together in places:
        ax.annotate(plain(", ".join(together)), (x, y), xytext=(5, 4 if y >= 0 else -4), textcoords="offset points",
                    fontsize=size, va="bottom" if y >= 0 else "top")  # fmt: skip

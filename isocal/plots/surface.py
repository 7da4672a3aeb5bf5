"""Two scores: filled iso-probability contours with the rows of the fit, after Figure 1 of Wang & Liu (2020)."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox, TransformedBbox

from .marks import INK, PROBABILITY, legend_above, plain, set_type, width_in

USUAL, LARGEST = 11.0, 110.0  # marker areas in points squared


def draw_surface(ax, x, y, p, labels, supported=None, points=None, classes=None, title=None):
    """Draw probabilities over a grid.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x, y : numpy.ndarray, shapes (a,), (b,)
        Increasing values along the axes.
    p : numpy.ndarray, shape (a, b)
        Probability at each pair.
    labels : tuple of str
        Of the two axes and of the colour bar.
    supported : numpy.ndarray of bool, shape (a, b), optional
        Where it is False the ground is hatched.
    points : Points, optional
        Places of rows to mark.
    classes : tuple of str, optional
        Names of the class that is not the event and of the event, for the legend.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    size, scale = set_type(ax), float(np.clip(width_in(ax) / 3.9, 0.5, 1.3))
    levels = tidy_levels(p)
    filled = ax.contourf(x, y, p.T, levels=levels, cmap=PROBABILITY)
    if np.any((levels > p.min()) & (levels < p.max())):
        ax.contour(x, y, p.T, levels=levels[1:-1], colors="white", linewidths=0.5, alpha=0.7)
    _bar(ax, filled, levels, labels[2])
    handles = [] if points is None else mark(ax, points, classes, scale)
    if supported is not None and not supported.all():
        shade = hatch(ax, x, y, ~supported)
        handles += [shade] if np.mean(~supported) > 0.01 else []  # a sliver at a border cannot be seen
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), xlabel=plain(labels[0]), ylabel=plain(labels[1]))
    lines = legend_above(ax, handles, size) if handles else 0
    if title:
        ax.set_title(plain(title), fontsize=size, loc="left", pad=5 + 1.5 * size * lines)
    return ax


def _bar(ax, filled, levels, label):
    bar = ax.figure.colorbar(filled, ax=ax, ticks=levels, pad=0.03, fraction=0.06, aspect=22)
    bar.set_label(plain(label))
    bar.outline.set_linewidth(0.6)
    set_type(ax)  # narrower now
    bar.ax.yaxis.label.set_size(ax.yaxis.label.get_size())
    bar.ax.tick_params(length=0, labelsize=ax.yaxis.get_tick_params().get("labelsize"))


def tidy_levels(p):
    """Increasing contour levels at round values that enclose p: tenths of [0, 1] where p spans more than half."""
    low, high = float(np.min(p)), float(np.max(p))
    if high - low > 0.5:
        return np.linspace(0.0, 1.0, 11)
    if high - low < 1e-6:
        low, high = max(low - 0.005, 0.0), min(high + 0.005, 1.0)
    levels = MaxNLocator(nbins=10, steps=[1, 2, 5, 10]).tick_values(low, high)
    levels = levels[(levels >= -1e-12) & (levels <= 1 + 1e-12)]
    return np.clip(levels, 0.0, 1.0)


def mark(ax, points, classes, scale):
    """Circles for rows without the event, triangles for events; dark on light and light on dark. Legend handles.

    Where places differ in weight, small marks lie on large ones.
    """
    areas = points.areas(USUAL * scale, LARGEST * scale)
    above = areas < np.median(areas)
    handles = []
    for event, (marker, face, edge, width) in enumerate((("o", "white", INK, 0.6), ("^", INK, "white", 0.7))):
        for layer in (False, True):
            mine = (points.event == bool(event)) & (above == layer)
            if mine.any():
                dots = ax.scatter(
                    *points.at[mine].T, s=areas[mine] * (1.6 if event else 1.0), marker=marker, facecolor=face,
                    edgecolor=edge, linewidth=width * scale**0.5, zorder=3 + layer + event / 2,
                )  # fmt: skip
                _clip_beyond(ax, dots)
        look = {"markerfacecolor": face, "markeredgecolor": edge, "markeredgewidth": width, "markersize": 4.5 + event}
        name = plain(points.label(event, classes[event])) + (r", area $\propto$ rows" if points.tied else "")
        handles.append(Line2D([], [], linestyle="none", marker=marker, label=name, **look))
    return handles


def _clip_beyond(ax, artist, beyond=0.03):
    """Let whole markers show at the border, but none far outside it."""
    box = Bbox([[-beyond, -beyond], [1 + beyond, 1 + beyond]])
    artist.set_clip_path(None)
    artist.set_clip_box(TransformedBbox(box, ax.transAxes))


def hatch(ax, x, y, mask):
    """Hatch the cells of a grid where mask (a, b) is True; the fill below stays visible. Legend handle."""
    left, right = edges(x), edges(y)
    verts, codes = [], []
    for j in range(len(y)):
        steps = np.flatnonzero(np.diff(np.r_[False, mask[:, j], False]))
        for a, b in zip(steps[::2], steps[1::2], strict=True):
            x0, x1, y0, y1 = left[a], left[b], right[j], right[j + 1]
            verts += [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
            codes += [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    look = {"facecolor": (1, 1, 1, 0.35), "edgecolor": (0.1, 0.1, 0.1, 0.8), "hatch": "////", "linewidth": 0.0}
    drawn, handle = PathPatch(Path(verts, codes), zorder=2, **look), Patch(**look, label="no rows near")
    for patch in (drawn, handle):
        if hasattr(patch, "set_hatch_linewidth"):  # matplotlib >= 3.10; before, only rcParams could
            patch.set_hatch_linewidth(0.6)
    ax.add_patch(drawn)
    return handle


def edges(x):
    """(a + 1,) borders of the cells around the values x (a,); the outermost cells end at their values."""
    return np.r_[x[0], (x[1:] + x[:-1]) / 2, x[-1]]

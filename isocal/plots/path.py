"""How the degree was chosen: cross-validated Brier score, AIC and BIC along K."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .marks import ACCENT, FAINT, INK, PROBABILITY, legend_above, plain, set_type

MARK = {"color": "#b3300e", "marker": "o", "markersize": 8.0, "markerfacecolor": "none"}


def draw_path(ax, K, brier, aic=None, bic=None, chosen=None):
    """Draw criteria against the degree: one panel for the Brier score, below it one for AIC and BIC.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Holds the first panel; a second one takes its lower half.
    K : sequence of int
        Degrees.
    brier, aic, bic : sequence of float, shape (k,)
        Values that are not finite are left out, and so is a panel without any.
    chosen : int, optional
        Position of the chosen degree.

    Returns
    -------
    matplotlib.axes.Axes
        The given one.
    """
    at = np.array(K, dtype=float)
    panels = [
        ("CV Brier score", {"": (brier, ACCENT, "o", "-")}),
        ("AIC, BIC", {"AIC": (aic, INK, "s", "-"), "BIC": (bic, FAINT, "D", "--")}),
    ]
    panels = [(label, lines) for label, lines in panels if any(_known(v[0]).any() for v in lines.values())]
    axes, handles, small = _stack(ax, len(panels)), [], set_type(ax)
    for panel, (label, lines) in zip(axes, panels, strict=False):
        handles += _lines(panel, at, lines, chosen)
        panel.set_ylabel(label)
        panel.margins(y=0.12)
        panel.tick_params(labelbottom=panel is axes[-1])
        set_type(panel)
    if chosen is not None:
        handles.append(Line2D([], [], **MARK, linestyle=":", linewidth=0.8, label=f"chosen K = {K[chosen]}"))
    axes[-1].set_xlabel("K")
    axes[-1].xaxis.set_major_locator(MaxNLocator(nbins=15, integer=True))
    if handles:
        legend_above(ax, handles, small)
    return ax


def draw_path_pairs(ax, K, brier, chosen=None, names=("1", "2")):
    """Draw the Brier score of pairs of degrees as coloured cells.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    K : sequence of (int, int)
        Pairs of degrees.
    brier : sequence of float, shape (k,)
        The upper quarter shares one colour, so that small differences among good pairs show.
    chosen : int, optional
        Position of the chosen pair.
    names : tuple of str
        Of the two scores.

    Returns
    -------
    matplotlib.axes.Axes
    """
    K, brier = np.array(K, dtype=int), np.array(brier, dtype=float)
    cells = np.full(K.max(axis=0), np.nan)
    cells[K[:, 0] - 1, K[:, 1] - 1] = brier
    sides = [np.arange(size + 1) + 0.5 for size in cells.shape]
    known = brier[np.isfinite(brier)]
    top = np.quantile(known, 0.75) if len(known) else None
    drawn = ax.pcolormesh(*sides, cells.T, cmap=PROBABILITY.reversed(), vmax=top, edgecolor="white", linewidth=0.3)
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.03, fraction=0.06, aspect=22, extend="max")
    bar.set_label("CV Brier score")
    small = set_type(ax)
    bar.ax.yaxis.label.set_size(ax.xaxis.label.get_size())
    bar.ax.tick_params(labelsize=small)
    for axis, name in ((ax.xaxis, names[0]), (ax.yaxis, names[1])):
        axis.set_label_text(f"K of {plain(name)}")
        axis.set_major_locator(MaxNLocator(nbins=15, integer=True))
    if chosen is not None:
        handle = ax.plot(*K[chosen], linestyle="none", **MARK, markeredgewidth=1.5)
        handle[0].set_label(f"chosen K = ({K[chosen][0]}, {K[chosen][1]})")
        legend_above(ax, handle, small)
    return ax


def _known(values):
    return np.isfinite(np.array([] if values is None else values, dtype=float))


def _stack(ax, count):
    """The given Axes made half as high, and below it one more that shares its horizontal axis."""
    if count < 2:
        return [ax]
    place, figure = ax.get_subplotspec(), ax.figure
    if place is None:
        whole = ax.get_position()
        half = 0.46 * whole.height
        ax.set_position([whole.x0, whole.y1 - half, whole.width, half])
        return [ax, figure.add_axes([whole.x0, whole.y0, whole.width, half], sharex=ax)]
    upper, lower = place.subgridspec(2, 1, hspace=0.12)
    ax.set_subplotspec(upper)
    return [ax, figure.add_subplot(lower, sharex=ax)]


def _lines(ax, at, lines, chosen):
    """Draw lines {name: (values, colour, marker, style)}; returns those with a name."""
    named = []
    for name, (values, colour, marker, style) in lines.items():
        known = _known(values)
        if not known.any():
            continue
        y = np.array(values, dtype=float)
        look = {"linestyle": style, "color": colour, "marker": marker, "markersize": 3.5, "linewidth": 1.0}
        drawn = ax.plot(at[known], y[known], label=name, **look)
        named += drawn if name else []
        if chosen is not None and known[chosen]:
            ax.plot(at[chosen], y[chosen], **MARK, zorder=3)
    if chosen is not None:
        ax.axvline(at[chosen], color=MARK["color"], linewidth=0.8, linestyle=":", zorder=0)
    return named

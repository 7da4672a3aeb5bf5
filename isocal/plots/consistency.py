"""Figures of the consistency diagnostics: path of degrees, learning curve, support map, active set on the grid."""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from .marks import ACCENT, FAINT, INK, PROBABILITY, legend_above, plain, set_type
from .path import MARK

FEW = 5.0  # effective rows below which a place is the constraint's choice
STABLE = 1.5  # standard errors up to which the curve does not move with its degree
HELD, ROWS_SHOWN = "#b3300e", 1500


def draw_degree_changes(ax, path):
    """Draw by how many standard errors the curve changes at other degrees.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    path : dict
        Columns K, change, chosen of the diagnostic degree_path.

    Returns
    -------
    matplotlib.axes.Axes
    """
    size, at = set_type(ax), np.arange(len(path["K"]))
    chosen = path["chosen"].index("*")
    ax.axhline(STABLE, color=FAINT, linewidth=0.8, linestyle="--", zorder=0)
    ax.plot(at, path["change"], color=ACCENT, marker="o", markersize=3.5, linewidth=1.0)
    ax.plot(at[chosen], path["change"][chosen], linestyle="none", **MARK, zorder=3)
    ax.set_xticks(at, path["K"], rotation=30 if max(map(len, path["K"])) > 3 else 0)
    ax.set(xlabel="K", ylabel="Change of f, standard errors", ylim=(-0.05 * max(1.8, *path["change"]), None))
    ax.margins(y=0.1)
    handles = [
        Line2D([], [], **MARK, linestyle="none", label=f"fitted K = {path['K'][chosen]}"),
        Line2D([], [], color=FAINT, linewidth=0.8, linestyle="--", label=f"{STABLE:g} standard errors"),
    ]
    legend_above(ax, handles, size)
    return ax


def draw_learning_curve(ax, curve, slope):
    """Draw the variance of fits to parts of the rows against their size, both on log scales.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    curve : dict
        Columns rows, variance of the diagnostic learning_curve.
    slope : float
        Of the line through the points.

    Returns
    -------
    matplotlib.axes.Axes
    """
    size = set_type(ax)
    m, v = (np.array(curve[name], dtype=float) for name in ("rows", "variance"))
    m, v = m[v > 0], v[v > 0]
    middle = np.exp(np.mean(np.log(v))), np.exp(np.mean(np.log(m)))
    ax.plot(m, v, linestyle="none", color=ACCENT, marker="o", markersize=4)
    line = ax.plot(m, middle[0] * (m / middle[1]) ** slope, color=ACCENT, linewidth=1.0, label=f"slope {slope:.2f}")
    one = ax.plot(m, v[0] * (m / m[0]) ** -1.0, color=FAINT, linewidth=0.8, linestyle="--", label="slope -1")
    ax.set(xscale="log", yscale="log", xlabel="Rows", ylabel="Variance of f")
    ax.set_xticks(m, [f"{int(x):,}" for x in m])
    ax.xaxis.set_minor_locator(NullLocator())
    _plain_decades(ax.yaxis)
    legend_above(ax, line + one, size)
    return ax


def _plain_decades(axis):
    """Ticks of a log scale at 1, 2 and 5 times powers of ten, written as plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def alike(axes):
    """Small type on all panels of one figure, whatever their widths."""
    for ax in axes[0].figure.axes:
        ax.xaxis.label.set_size("small")
        ax.yaxis.label.set_size("small")
        ax.tick_params(labelsize="x-small")


def draw_support(ax, side, local, s, names):
    """Draw the effective rows at each place: a line over one score, a map over two.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    side : numpy.ndarray, shape (a,)
        Places along each score.
    local : numpy.ndarray, shape (a,) or (a, a)
        Effective rows there.
    s : numpy.ndarray, shape (n, M)
        Scores of the rows, of which a systematic sample is marked.
    names : sequence of str

    Returns
    -------
    matplotlib.axes.Axes
    """
    shown = s[np.lexsort(s.T)][:: max(1, len(s) // ROWS_SHOWN)]
    if local.ndim == 2:
        return _support_map(ax, side, local, shown, names)
    size = set_type(ax)
    ax.plot(side, local, color=ACCENT, linewidth=1.2)
    ax.axhline(FEW, color=HELD, linewidth=0.8, linestyle="--")
    ax.set(yscale="log", xlim=(0, 1), xlabel=plain(names[0]), ylabel="Effective rows")
    low, high = min(local.min(), FEW) / 2, local.max() * 1.5
    ax.set_ylim(low, high)
    _plain_decades(ax.yaxis)
    rug = {"color": FAINT, "markersize": 5, "alpha": 0.5, "markeredgewidth": 0.4}
    ax.plot(shown[:, 0], np.full(len(shown), 0.02), "|", **rug, transform=ax.get_xaxis_transform())
    handles = [
        Line2D([], [], color=HELD, linewidth=0.8, linestyle="--", label="5 effective rows"),
        Line2D([], [], color=FAINT, marker="|", linestyle="none", label="rows"),
    ]
    legend_above(ax, handles, size)
    return ax


def _support_map(ax, side, local, shown, names):
    high = max(float(local.max()), 2 * FEW)
    low = min(max(float(local.min()), 1.0), FEW)
    drawn = ax.pcolormesh(side, side, np.maximum(local, low).T, cmap=PROBABILITY.reversed(), norm=LogNorm(low, high),
                          shading="gouraud", rasterized=True)  # fmt: skip
    ax.plot(*shown.T, ".", color="white", markersize=1.5, alpha=0.6)
    handles = []
    if local.min() < FEW < local.max():
        ax.contour(side, side, local.T, levels=[FEW], colors=HELD, linewidths=1.2)
        handles = [Line2D([], [], color=HELD, linewidth=1.2, label="5 effective rows")]
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.03, fraction=0.06, aspect=22)
    bar.set_label("Effective rows")
    _plain_decades(bar.ax.yaxis)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel=plain(names[0]), ylabel=plain(names[1]))
    size = set_type(ax)
    bar.ax.yaxis.label.set_size(ax.yaxis.label.get_size())
    bar.ax.tick_params(labelsize=size)
    if handles:
        legend_above(ax, handles, size)
    return ax


def draw_active_set(ax, beta, levels, active, names):
    """Draw the coefficient grid: values, the constraints that bind as thick lines, bounds as squares.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    beta : numpy.ndarray, shape (K + 1,) or (K_1 + 1, K_2 + 1)
    levels : numpy.ndarray of int, shape of beta
        -1 and -2 where a coefficient is held at 0 and at 1.
    active : numpy.ndarray of int, shape (e, 2)
        Pairs of coefficients tied by a constraint that binds; numbers beyond the grid are bounds.
    names : sequence of str

    Returns
    -------
    matplotlib.axes.Axes
    """
    active = active[np.all(active < beta.size, axis=1)]
    if beta.ndim == 1:
        x, y = np.arange(beta.size) / (beta.size - 1), beta
        ax.plot(x, y, color=FAINT, linewidth=0.8, zorder=1)
    else:
        x, y = (axis.ravel() / max(k - 1, 1) for axis, k in zip(np.indices(beta.shape), beta.shape, strict=True))
    ends = np.stack([x, y], axis=1)[active]
    ax.add_collection(LineCollection(ends, colors=INK, linewidths=2.2, zorder=2))
    bound = (levels < 0).ravel()
    style = {"c": beta.ravel(), "cmap": PROBABILITY, "vmin": 0, "vmax": 1, "edgecolor": INK, "linewidth": 0.6}
    area = 60.0 if beta.ndim == 1 else float(np.clip(2000 / beta.size, 12, 70))
    for mask, marker in ((~bound, "o"), (bound, "s")):
        drawn = ax.scatter(x[mask], y[mask], s=area, marker=marker, zorder=3, clip_on=False,
                           **{**style, "c": style["c"][mask]})  # fmt: skip
    if beta.ndim == 1:
        ax.set(xlim=(-0.04, 1.04), ylim=(-0.06, 1.06), xlabel=f"k / K of {plain(names[0])}", ylabel="Coefficient")
    else:
        bar = ax.figure.colorbar(drawn, ax=ax, pad=0.05, fraction=0.06, aspect=22)
        bar.set_label("Coefficient")
        ax.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
        ax.set(xlabel=f"k / K of {plain(names[0])}", ylabel=f"k / K of {plain(names[1])}")
        bar.ax.tick_params(labelsize=set_type(ax))
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6))
    handles = [Line2D([], [], color=INK, linewidth=2.2, label="order binds")]
    if bound.any():
        look = {"markerfacecolor": "white", "markeredgecolor": INK, "markersize": 6}
        handles.append(Line2D([], [], linestyle="none", marker="s", label="held at 0 or 1", **look))
    legend_above(ax, handles, set_type(ax))
    return ax

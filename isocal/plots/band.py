"""Confidence bands: a ribbon about a curve, pairs of contours about those of a surface, slices with ribbons."""

from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .curve import draw_curve
from .marks import PROBABILITY, legend_above, plain, set_type
from .slices import draw_slices

RIBBON, OUTSIDE = "#9db8d2", "#c2410c"


@dataclass(frozen=True)
class Ribbon:
    """Fitted p, edges low and high, outside (bool), all of one shape."""

    p: np.ndarray
    low: np.ndarray
    high: np.ndarray
    outside: np.ndarray


def draw_ribbon(ax, x, band, labels, name, bins=None):
    """Draw a fitted curve over its band.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x : numpy.ndarray, shape (a,)
    band : Ribbon of shape (a,)
    labels : tuple of str
        Of the horizontal and the vertical axis.
    name : str
        Of the band, for the legend.
    bins : Bins, optional
        Observed frequencies.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax.fill_between(x, band.low, band.high, color=RIBBON, alpha=0.55, linewidth=0, label=plain(name), zorder=1)
    if band.outside.any():
        ax.plot(x, np.where(band.outside, band.p, np.nan), color=OUTSIDE, linewidth=3.4, zorder=3.5,
                label="fit outside the band")  # fmt: skip
    draw_curve(ax, x, band.p, labels, bins=bins)
    ax.set_ylim(-0.03, 1.03)
    if bins is None:
        ax.legend(fontsize="small", frameon=False)
    return ax


def draw_contour_pairs(ax, x, y, band, contours, labels, heading):
    """Draw contours of a surface, each within the region in which the band lets the truth cross it.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x, y : numpy.ndarray, shapes (a,), (b,)
        Increasing values along the axes.
    band : Ribbon of shape (a, b)
    contours : sequence of float
        Probabilities of the contours, increasing.
    labels : tuple of str
        Of the two axes.
    heading : str
        Above the legend.

    Returns
    -------
    matplotlib.axes.Axes
        Where the upper edge passes a probability the truth may do so (dashed); where the lower edge does, it must
        have done (solid, thin).
    """
    small = set_type(ax)
    handles = []
    for q, colour in zip(contours, PROBABILITY(np.linspace(0.0, 0.85, len(contours))), strict=True):
        between = np.minimum(band.high - q, q - band.low)  # positive where the truth may cross q
        if np.any(between > 0):
            ax.contourf(x, y, between.T, levels=[0.0, 1.0], colors=[colour], alpha=0.25)
        for values, style, width in ((band.high, "--", 0.9), (band.low, "-", 0.9), (band.p, "-", 2.2)):
            if values.min() < q < values.max():
                ax.contour(x, y, values.T, levels=[q], colors=[colour], linestyles=style, linewidths=width)
        handles.append(Patch(facecolor=(*colour[:3], 0.25), edgecolor=colour, linewidth=1.5, label=f"{q:g}"))
    handles += [
        Line2D([], [], color="0.3", linewidth=2.2, label="fit"),
        Line2D([], [], color="0.3", linewidth=0.9, linestyle="--", label="upper edge"),
        Line2D([], [], color="0.3", linewidth=0.9, label="lower edge"),
    ]
    if band.outside.any():
        ax.contourf(x, y, band.outside.T.astype(float), levels=[0.5, 1.5], colors=[OUTSIDE], alpha=0.6)
        handles.append(Patch(facecolor=OUTSIDE, alpha=0.6, label="fit outside the band"))
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), xlabel=plain(labels[0]), ylabel=plain(labels[1]))
    legend_above(ax, handles, small, plain(heading))
    return ax


def draw_ribbons(ax, x, band, labels, names, heading):
    """Draw one curve with its ribbon for each place of the other scores.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x : numpy.ndarray, shape (a,)
    band : Ribbon of shape (k, a)
    labels : tuple of str
        Of the horizontal and the vertical axis.
    names : sequence of str
        Legend entry of each curve.
    heading : str
        Above the legend.

    Returns
    -------
    matplotlib.axes.Axes
    """
    k = len(band.p)
    colours = colormaps["viridis"](np.linspace(0.0, 0.82, k) if k > 1 else [0.25])  # those of draw_slices
    for low, high, colour in zip(band.low, band.high, colours, strict=True):
        ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    for p, outside in zip(band.p, band.outside, strict=True):
        if outside.any():
            ax.plot(x, np.where(outside, p, np.nan), color=OUTSIDE, linewidth=4.0)
    draw_slices(ax, x, band.p, labels, names, heading=heading)
    ax.set_ylim(-0.02, 1.02)
    return ax

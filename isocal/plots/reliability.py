"""Reliability diagrams: observed frequency against forecast probability, with a band and the forecast's histogram."""

import numpy as np

from .marks import ACCENT, FAINT, INK, plain, set_type

COLOURS = (ACCENT, "#c1560c", "#3a7d44", "#7b3f98", "#6f6f6f", "#a98600")
MARKS = ("o", "s", "^", "D", "v", "P")
SPIKES, DEPTH = 50, 0.13  # bins of the histogram, and its height below the diagram


def panels(ax, count):
    """Axes for `count` panels: those given, or a new row of them."""
    from .marks import axes_or_new

    if ax is not None:
        axes = np.ravel(np.asarray(ax, dtype=object))
        if len(axes) != count:
            raise ValueError(f"{count} forecasts need {count} Axes; got {len(axes)}")
        return [axes_or_new(a, None) for a in axes]
    import matplotlib.pyplot as plt

    size = (3.3 * count, 3.6)
    return list(np.ravel(plt.subplots(1, count, figsize=size, layout="constrained", squeeze=False)[1]))


def draw_reliability(ax, curves, label, band=None, histograms=None, mcb=None):
    """Draw frequencies of forecasts against their probabilities.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    curves : dict
        {name: (x (k,), frequency (k,), joined by a line?)}.
    label : str
        What is forecast.
    band : Band, optional
        Shaded: `x lower upper level kind step`.
    histograms : dict, optional
        {name: ReliabilityCurve}; the weights of a single one are drawn below the diagram.
    mcb : dict, optional
        {name: miscalibration}, for the legend.

    Returns
    -------
    matplotlib.axes.Axes
    """
    small = set_type(ax)
    _diagonal(ax)
    if band is not None:
        _shade(ax, band)
    for i, (name, (x, frequency, joined)) in enumerate(curves.items()):
        text = plain(name) + ("" if not mcb else f" (MCB {mcb[name]:.4f})")
        mark = MARKS[i % len(MARKS)] if len(x) <= 40 or not joined else ""
        style = {"linewidth": 1.6 if joined else 0, "marker": mark, "markersize": 4}
        ax.plot(x, frequency, color=COLOURS[i % len(COLOURS)], label=text, zorder=3, **style)
    single = histograms is not None and len(histograms) == 1
    if single:
        curve = next(iter(histograms.values()))
        _spikes(ax, curve.x, curve.weight, FAINT, 0.0, -DEPTH)
    _frame(ax, label, -DEPTH - 0.02 if single else -0.02)
    ax.legend(loc="upper left", fontsize=small, framealpha=0.85, edgecolor="none")
    return ax


def draw_check(ax, curve, band, names, lines):
    """The calibration figure of one forecast: curve, band, spikes of events (up) and of the rest (down), statistics.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    curve : ReliabilityCurve
    band : Band
    names : tuple of str
        The forecast and what it forecasts.
    lines : list of str
        Statistics, one a line.

    Returns
    -------
    matplotlib.axes.Axes
    """
    small = set_type(ax)
    _diagonal(ax)
    _shade(ax, band)
    ax.plot(curve.x, curve.cep, color=ACCENT, linewidth=1.6, label="observed (isotonic)", zorder=3,
            marker="o" if len(curve.x) <= 40 else "", markersize=4)  # fmt: skip
    base = -0.09
    _spikes(ax, curve.x, curve.events, ACCENT, base, base + 0.075)
    _spikes(ax, curve.x, curve.weight - curve.events, FAINT, base, base - 0.075)
    ax.axhline(base, color=INK, linewidth=0.5, zorder=1)
    for text, y, colour in (("events", base + 0.037, ACCENT), ("the rest", base - 0.037, INK)):
        ax.annotate(text, (1.01, y), xycoords=("axes fraction", "data"), va="center", fontsize=small, color=colour)
    ax.annotate("\n".join(lines), (0.98, 0.04), ha="right", va="bottom", fontsize=small, linespacing=1.35,
                bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 2})  # fmt: skip
    _frame(ax, names[1], base - 0.1)
    ax.set_xlabel(f"forecast probability: {plain(names[0])}")
    ax.legend(loc="upper left", fontsize=small, framealpha=0.85, edgecolor="none")
    return ax


def _diagonal(ax):
    ax.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)


def _shade(ax, band):
    x, low, high = band.x, band.lower, band.upper
    if band.step:  # between places the lower end keeps its value from the left, the upper end from the right
        x = np.repeat(np.r_[0.0, x, 1.0], 2)[1:-1]
        low, high = np.repeat(np.r_[0.0, low], 2), np.repeat(np.r_[high, 1.0], 2)
    text = f"{band.level:.0%} {band.kind} band".replace("%", " %")
    ax.fill_between(x, low, high, color=ACCENT, alpha=0.16, linewidth=0, label=text, zorder=0)


def _spikes(ax, x, weight, colour, base, tip):
    """A histogram of weight over [0, 1] that grows from base to tip."""
    height = np.histogram(x, SPIKES, (0.0, 1.0), weights=weight)[0]
    edges = np.linspace(0, 1, SPIKES + 1)
    if height.max() > 0:
        scaled = (tip - base) * height / height.max()
        ax.bar(edges[:-1], scaled, width=1 / SPIKES, align="edge", bottom=base, color=colour, linewidth=0, zorder=1)


def _frame(ax, label, bottom):
    ax.set(xlim=(-0.02, 1.02), ylim=(bottom, 1.02), xlabel="forecast probability")
    ax.set_ylabel(f"observed frequency of {plain(label.removeprefix('P(').removesuffix(')'))}")
    ticks = np.linspace(0, 1, 6)
    ax.set(xticks=ticks, yticks=ticks)
    ax.set_aspect("equal", adjustable="box")


def draw_murphy(ax, curves):
    """Mean elementary scores of forecasts against the threshold.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    curves : dict
        {name: frame with columns threshold and score}.

    Returns
    -------
    matplotlib.axes.Axes
    """
    small = set_type(ax)
    for i, (name, frame) in enumerate(curves.items()):
        ax.plot(frame.threshold, frame.score, color=COLOURS[i % len(COLOURS)], linewidth=1.6, label=plain(name),
                linestyle=("-", (0, (5, 2)), (0, (1, 1.5)))[i % 3])  # fmt: skip
    ax.set(xlim=(0, 1), xlabel="threshold", ylabel="mean elementary score")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=small, frameon=False)
    return ax

"""The critical-difference diagram of Demsar (2006): methods at their mean ranks, bars over those that do not differ."""

import numpy as np

from .marks import ACCENT, INK, axes_or_new, plain, set_type

LINE, STEP = 0.21, 0.13  # inches from label to label, and from bar to bar
TOP = 0.62  # inches above the axis: ticks, their labels, the critical difference


def axes_for(ax, methods, bars):
    """The Axes given, or one of a new figure as high as so many methods and bars need."""
    return axes_or_new(ax, (6.2, TOP + _depth(methods, bars) + 0.1))


def _depth(methods, bars):
    """Inches below the axis."""
    return 0.16 + STEP * bars + LINE * ((methods + 1) // 2) + 0.06


def draw_critical_difference(ax, names, mean, runs, what, cd=None, control=None):
    """Draw methods at their mean ranks, the best on the right.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    names : list of str, shape (k,)
    mean : numpy.ndarray, shape (k,)
        Mean ranks, the best (smallest) first.
    runs : list of (int, int)
        First and last of each run of methods that do not differ.
    what : str
        How it was decided that methods do not differ.
    cd : float, optional
        Critical difference, drawn to scale above the axis.
    control : str, optional
        Its name is drawn in another colour.

    Returns
    -------
    matplotlib.axes.Axes
    """
    k, size = len(names), set_type(ax)
    ax.set_axis_off()
    margin = 0.42 * (k - 1)  # room for the names on both sides
    ax.set(xlim=(k + margin, 1 - margin), ylim=(-_depth(k, len(runs)), TOP))
    _scale(ax, k, size)
    if cd is not None:
        _ruler(ax, k, cd, f"critical difference {cd:.3f} ({what})", size)
    elif runs:
        ax.annotate(f"bars: no difference ({what})", (k, 0.42), ha="left", va="center", fontsize=size,
                    annotation_clip=False)  # fmt: skip
    for b, (first, last) in enumerate(runs):
        reach = 0.03 * (k - 1) / 2
        y = -0.12 - STEP * b
        ax.plot([mean[first] - reach, mean[last] + reach], [y, y], color=INK, linewidth=3.2, solid_capstyle="butt",
                zorder=2)  # fmt: skip
    right = (k + 1) // 2
    base = -0.16 - STEP * len(runs)
    for i, (name, rank) in enumerate(zip(names, mean, strict=True)):
        better = i < right
        y = base - LINE * ((i if better else k - 1 - i) + 0.5)
        edge = 1 - 0.08 * (k - 1) if better else k + 0.08 * (k - 1)
        colour = ACCENT if name == control else INK
        ax.plot([rank, rank, edge], [0, y, y], color=colour, linewidth=0.9, zorder=1)
        text = f"{plain(name)}  {rank:.2f}"
        ax.annotate(text, (edge, y), xytext=(3 if better else -3, 0), textcoords="offset points", va="center",
                    ha="left" if better else "right", fontsize=size, color=colour,
                    fontweight="bold" if name == control else "normal", annotation_clip=False)  # fmt: skip
    return ax


def _scale(ax, k, size):
    """The axis of mean ranks, with its ticks above it."""
    ax.plot([k, 1], [0, 0], color=INK, linewidth=1.0, zorder=3)
    step = 1 if k <= 12 else 2
    for rank in np.arange(1, k + 1e-9, 0.5):
        whole = float(rank).is_integer()
        if not whole and k > 8:
            continue
        ax.plot([rank, rank], [0, 0.07 if whole else 0.04], color=INK, linewidth=0.8, zorder=3)
        if whole and (rank - 1) % step == 0:
            ax.annotate(f"{rank:g}", (rank, 0.09), ha="center", va="bottom", fontsize=size, annotation_clip=False)
    ax.annotate("mean rank", (1, 0.09), xytext=(14, 0), textcoords="offset points", ha="left", va="bottom",
                fontsize=size, annotation_clip=False)  # fmt: skip


def _ruler(ax, k, cd, text, size):
    """The critical difference to scale, from the worst rank on."""
    y = 0.42
    ax.plot([k, k - cd], [y, y], color=INK, linewidth=1.0)
    for end in (k, k - cd):
        ax.plot([end, end], [y - 0.04, y + 0.04], color=INK, linewidth=1.0)
    ax.annotate(text, (k - cd, y), xytext=(6, 0), textcoords="offset points", ha="left", va="center", fontsize=size,
                annotation_clip=False)  # fmt: skip

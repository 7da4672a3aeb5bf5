"""What does it look like: the curve or surface with its rows, slices through it, and the path of degrees.

Unpacks a fit into arrays for isocal.plots, which is imported where it is used: matplotlib is slow to import.
"""

from numbers import Real

import numpy as np

from . import section

SCALES = ("score", "unit")
FINE, GRID = 401, 121  # values along a curve, and along each axis of a surface
MOST_TICKS, MOST_POINTS = 500, 600


def plot(self, ax=None, *, scale="score", scores=None, at=0.5, points=True):
    """Draw the fit: the curve of one score, or filled iso-probability contours over two.

    One score: the fitted curve, a tick for each row (events above) and observed frequencies in bins of about equal
    weight with Wilson's 95 % limits. Two scores: contours at round values, rows marked by class as in Figure 1 of
    Wang & Liu (2020), hatching where no row lies near. Of many rows a systematic sample is marked, with one step for
    both classes; the legend says how many of how many. Rows at the same place make one larger mark.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a new figure.
    scale : {"score", "unit"}
        "score": axes in the columns' own values, over the range seen in fitting; "unit": axes in the transformed
        scores, where the method works.
    scores : tuple of two str, optional
        Names of the scores on the horizontal and the vertical axis; default: the first two.
    at : float or dict of str to float
        With more than two scores: the quantiles in [0, 1] at which the others are held, for all or by score name (0.5
        where not named). A fit without rows holds scores without ecdf() at that part of their range instead; the
        title says where.
    points : bool
        Whether to show the rows of the fit. A fit without rows (after loading) never does.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If ax is not an Axes.
    ValueError
        For an unknown scale, a pair that is not two different scores of the formula, or a quantile outside [0, 1].

    Examples
    --------
    >>> import isocal, matplotlib
    >>> matplotlib.use("Agg")
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> ax = isocal.bernstein("y ~ ecdf(s1) + s2", data, K=3).fit().plot(scale="unit")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('ecdf(s1)', 's2')
    """
    from ..plots import draw_curve, draw_surface, frequencies, marks

    _check_scale(scale)
    pair = _pair(self, scores)
    held = section.held(self, _quantiles(self, at, pair))
    ax = marks.axes_or_new(ax, (5.0, 4.0))
    label, axes = self.response.label, [section.name_of(self, m, scale) for m in pair]
    shown = None if self.rows is None or not points else section.rows(self, pair, scale)
    marked = shown and marks.places(*shown, MOST_TICKS if len(pair) == 1 else MOST_POINTS)
    if len(pair) == 1:
        x = section.values(self, 0, scale, FINE)
        bins = shown and frequencies(shown[0][:, 0], *shown[1:])
        s = section.scores(self, {0: x}, held, scale)
        labels, classes = (*axes, label), section.classes_of(self)
        return draw_curve(ax, x, self.curve(s), labels, marked, bins, classes, _averaged(self, s))
    x, y = (section.values(self, m, scale, GRID) for m in pair)
    s = section.scores(self, {pair[0]: np.repeat(x, GRID), pair[1]: np.tile(y, GRID)}, held, scale)
    p, supported = self.curve(s).reshape(GRID, GRID), self.curve.supported(s)
    supported = None if supported is None else supported.reshape(GRID, GRID)
    title = ", ".join(f"{section.column_of(self, m)} at {h}" for m, h in held.items())
    return draw_surface(ax, x, y, p, (*axes, label), supported, marked, section.classes_of(self), title)


def plot_slices(self, score=None, at=(0.1, 0.5, 0.9), ax=None, *, scale="score"):
    """Draw the probability against one score, the others held at quantiles.

    Parameters
    ----------
    score : str, optional
        Name of the score on the horizontal axis; default: the first.
    at : float or sequence of float
        Quantiles in [0, 1] of the other scores, one line each; all others are held at the same quantile.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a new figure.
    scale : {"score", "unit"}
        Values of the column, or transformed scores, on the horizontal axis.

    Returns
    -------
    matplotlib.axes.Axes
        Lines are thin where no row of the fit lies near.

    Raises
    ------
    TypeError
        If ax is not an Axes.
    ValueError
        For a fit of one score, an unknown score or scale, or a quantile outside [0, 1].

    Examples
    --------
    >>> import isocal, matplotlib
    >>> matplotlib.use("Agg")
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> ax = isocal.bernstein("y ~ s1 + s2", data, K=3).fit().plot_slices("s2", at=(0.25, 0.75))
    >>> ax.get_legend().get_title().get_text()
    's1 at quantile'
    """
    from ..plots import draw_slices, marks

    _check_scale(scale)
    names = self.terms.names
    if len(names) == 1:
        raise ValueError("plot_slices() holds other scores, and this fit has one score: use plot()")
    m = 0 if score is None else _position(self, score)
    levels = [_quantile(q, "at") for q in np.atleast_1d(np.asarray(at, dtype=object))]
    if not levels:
        raise ValueError("at names no quantile: give at least one, at=(0.5,)")
    ax = marks.axes_or_new(ax, (4.5, 3.4))
    x = section.values(self, m, scale, FINE)
    held = [section.held(self, {k: q for k in range(len(names)) if k != m}) for q in levels]
    s = np.concatenate([section.scores(self, {m: x}, h, scale) for h in held])
    p, near = self.curve(s).reshape(-1, FINE), self.curve.supported(s)
    entries = [f"{q:g}" for q in levels]
    if len(names) == 2:
        entries = [f"{h.share:g} ({h.value:.3g})" for one in held for h in one.values()]
    kinds = " / ".join(sorted({h.word for h in held[0].values()}, reverse=True))
    heading = f"{', '.join(section.column_of(self, k) for k in held[0])} at {kinds}"
    labels = (section.name_of(self, m, scale), self.response.label)
    return draw_slices(ax, x, p, labels, entries, None if near is None else near.reshape(p.shape), heading)


def plot_path(self, ax=None):
    """Draw how the degree was chosen: cross-validated Brier score, AIC and BIC against K, the chosen K marked.

    Where each of two scores has a degree of its own (anisotropic=True): the Brier score of each pair, as colours.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a new figure. AIC and BIC, where they are
        finite, go to a second panel in its lower half.

    Returns
    -------
    matplotlib.axes.Axes
        The upper panel.

    Raises
    ------
    TypeError
        If ax is not an Axes.
    ValueError
        If the fit chose no degree.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> isocal.bernstein("y ~ s1 + s2", data, K=3).fit().plot_path()
    Traceback (most recent call last):
    ValueError: this fit chose no K: its degree was given...
    """
    from ..plots import draw_path, draw_path_pairs, marks

    tables = self.curve.tables()
    path = tables.get("path")
    if path is None:
        others = "".join(f"; what it did choose is in res.table({name!r})" for name in tables if "path" in name)
        raise ValueError(
            f"this fit chose no K: its degree was given, or it has none{others}; fit bernstein with K='cv', 'aic' or "
            "'bic' to see a path"
        )
    chosen = next((j for j, mark in enumerate(path["chosen"]) if mark), None)
    ax = marks.axes_or_new(ax, (4.5, 4.2))
    if any(isinstance(K, str) for K in path["K"]):
        pairs = [tuple(map(int, K.split(","))) if isinstance(K, str) else (K, K) for K in path["K"]]
        return draw_path_pairs(ax, pairs, path["cv_brier"], chosen, [section.column_of(self, m) for m in (0, 1)])
    return draw_path(ax, path["K"], path["cv_brier"], path["aic"], path["bic"], chosen)


def _averaged(self, s):
    """Posterior means (n, k) of the models a fit averages, the heaviest first; None for other fits."""
    found = self.curve.posterior(s)
    if found is None or len(found[0]) < 2:
        return None
    weights, alpha, beta = found
    return (alpha / (alpha + beta))[:, np.argsort(-weights, kind="stable")]


def _check_scale(scale):
    if scale not in SCALES:
        raise ValueError(f"scale must be 'score' (values of the columns) or 'unit' (transformed); got {scale!r}")


def _position(self, name):
    names = self.terms.names
    if name not in names:
        raise ValueError(f"{name!r} is not a score of this formula: its scores are {', '.join(map(str, names))}")
    return names.index(name)


def _pair(self, scores):
    """Positions of the scores on the axes."""
    names = self.terms.names
    if scores is None:
        return tuple(range(min(len(names), 2)))
    if len(names) == 1:
        raise ValueError(f"scores names a pair of axes, and this fit has one score, {names[0]!r}: leave it out")
    if isinstance(scores, str) or len(scores) != 2:
        raise ValueError(f"scores must be two names, such as {tuple(names[:2])}; got {scores!r}")
    pair = tuple(_position(self, name) for name in scores)
    if pair[0] == pair[1]:
        raise ValueError(f"scores must be two different scores; got {scores[0]!r} twice")
    return pair


def _quantile(q, what):
    if isinstance(q, bool) or not isinstance(q, Real) or not 0 <= q <= 1:
        raise ValueError(f"{what} must be a quantile between 0 and 1; got {q!r}")
    return float(q)


def _quantiles(self, at, pair):
    """{position: quantile} of the scores that are not on the axes."""
    rest = [m for m in range(len(self.terms.names)) if m not in pair]
    if not isinstance(at, dict):
        return dict.fromkeys(rest, _quantile(at, "at"))
    given = {_position(self, name): _quantile(q, f"at[{name!r}]") for name, q in at.items()}
    for m in given:
        if m in pair:
            raise ValueError(f"at holds {self.terms.names[m]!r}, which is on an axis: name scores that are not")
    return {m: given.get(m, 0.5) for m in rest}

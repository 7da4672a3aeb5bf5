"""What does a confidence band look like: a ribbon, pairs of contours, slices with ribbons."""

import numpy as np

from . import section
from .bands_doors import edges
from .draw import _position, _quantile

FINE, COARSE = 201, 37  # values along a ribbon, and along each axis of two


def plot_band(self, ax=None, *, score=None, at=(0.1, 0.5, 0.9), contours=(0.5,), **options):
    """Draw the fit with its confidence band.

    One score: a ribbon about the fitted curve, with observed frequencies. Two scores: for each probability of
    `contours` the fit's contour and, shaded, the region in which the band lets the truth cross it. With `score`
    named, or more than two scores: slices with ribbons. Parts of a curve outside its band are set off.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a new figure.
    score : str, optional
        Name of the score on the horizontal axis of slices.
    at : float or sequence of float
        Quantiles in [0, 1] at which slices hold the other scores, one ribbon each.
    contours : float or sequence of float
        Probabilities in (0, 1).
    **options
        ``level kind method rng n_draws progress`` of `conf_band`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If ax is not an Axes.
    ValueError
        For a probability, a quantile or a score that is none, and as `conf_band`.

    Examples
    --------
    >>> import isocal, matplotlib
    >>> matplotlib.use("Agg")
    >>> data = isocal.datasets.simulate_scores(200, M=1, rng=1)
    >>> ax = isocal.bernstein("y ~ s1", data, K=5).fit().plot_band(n_draws=99, rng=1, progress=False)
    >>> ax.get_legend().get_texts()[0].get_text()
    '95 % band, simultaneous'
    """
    from ..plots import marks

    self.rows_or("plot_band()")
    M = len(self.terms.names)
    contours = _contours(contours)
    m = None if score is None else _position(self, score)
    levels = [_quantile(q, "at") for q in np.atleast_1d(np.asarray(at, dtype=object))]
    if not levels:
        raise ValueError("at names no quantile: give at least one, at=(0.5,)")
    ax = marks.axes_or_new(ax, (5.0, 4.0))
    if M == 1:
        return _ribbon(self, ax, options)
    return _pairs(self, ax, contours, options) if M == 2 and m is None else _slices(self, ax, m or 0, levels, options)


def _contours(contours):
    found = np.atleast_1d(np.asarray(contours, dtype=np.float64))
    if not len(found) or not np.all((found > 0) & (found < 1)):
        raise ValueError(f"contours must be probabilities between 0 and 1, at least one; got {contours!r}")
    return np.unique(found)


def _band(self, raw, shape, options):
    from ..plots.band import Ribbon

    found, _ = edges(self, raw, **options)
    return Ribbon(*(found[a].reshape(shape) for a in ("predicted", "conf_low", "conf_high", "outside")))


def _named(options):
    return f"{100 * options.get('level', 0.95):g} % band, {options.get('kind', 'simultaneous')}"


def _ribbon(self, ax, options):
    from ..plots import band, frequencies

    x = section.values(self, 0, "score", FINE)
    bins = frequencies(self.rows.raw[:, 0], self.rows.y, self.rows.weights)
    labels = section.name_of(self, 0, "score"), self.response.label
    return band.draw_ribbon(ax, x, _band(self, x[:, None], (FINE,), options), labels, _named(options), bins)


def _pairs(self, ax, contours, options):
    from ..plots import band

    x, y = (section.values(self, m, "score", COARSE) for m in (0, 1))
    raw = np.stack([np.repeat(x, COARSE), np.tile(y, COARSE)], axis=1)
    labels = [section.name_of(self, m, "score") for m in (0, 1)]
    found = _band(self, raw, (COARSE, COARSE), options)
    return band.draw_contour_pairs(ax, x, y, found, contours, labels, f"{self.response.label}, {_named(options)}")


def _slices(self, ax, m, levels, options):
    from ..plots import band

    x = section.values(self, m, "score", FINE)
    others = [k for k in range(len(self.terms.names)) if k != m]
    held = [section.held(self, dict.fromkeys(others, q)) for q in levels]
    raw = np.empty((len(held) * FINE, len(others) + 1))
    raw[:, m] = np.tile(x, len(held))
    for k in others:
        raw[:, k] = np.repeat([h[k].value for h in held], FINE)
    names = [f"{h[others[0]].share:g}" + (f" ({h[others[0]].value:.3g})" if len(others) == 1 else "") for h in held]
    heading = f"{', '.join(section.column_of(self, k) for k in others)} at quantile; {_named(options)}"
    labels = section.name_of(self, m, "score"), self.response.label
    return band.draw_ribbons(ax, x, _band(self, raw, (len(held), FINE), options), labels, names, heading)

"""Where does the true map lie: confidence bands as a table."""

import warnings

import numpy as np

from .. import frames
from ..transforms import Ecdf
from .inference import GRID, check_level

SIDE = 25  # places along each of two scores in a default grid
ROUND_OFF = 1e-9  # a fit that leaves the band by less is inside


def conf_band(self, grid=None, level=0.95, kind="simultaneous", method="model-supt", rng=None, n_draws=999,
              progress=True):  # fmt: skip
    """Confidence band for the true probability as a monotone function of the scores.

    It is a band for the truth, not for the estimator: it is made from the rows and the directions of the fit only,
    with a degree of its own, whatever method and degree made the point estimate. `predicted` is the user's fit; where
    it leaves the band, ``outside`` is True and one warning names the share. That is a finding about the fit, and the
    band is not widened to hide it. Directions are those the method promises; where it promises none at all the band
    assumes a truth that does not fall in any score.

    Parameters
    ----------
    grid : DataFrame, optional
        Where the band is wanted, of any library, with the columns of the formula's scores. Default: 101 scores over
        the range of the fit; for two scores a 25 x 25 grid; for more the rows of the fit. Scores outside the domain
        are clipped to it and flagged ``extrapolated``; a missing score gives a row of NaN.
    level : float
        Coverage in (0, 1).
    kind : {"simultaneous", "pointwise"}
        Whether the whole map lies in the band with probability `level`, on the places of `grid` together with a
        standard grid of 201, 25 x 25 or 9 x 9 x 9 transformed scores, or the probability at each place.
    method : str
        "model-supt", the default: a fit undersmoothed to four times the degree that the rows choose, draws of events
        from a fit (two scores: of higher degree) shrunk toward one half where rows are few, arcsine scale.
        For a continuous, monotone truth; measured at level .95: .97 to .99 on average with one score, .98 or more with
        two; with three for smooth truths only. It fails at jumps (below .1), and at steep corners of two scores when
        rows are many.
        "honest": Clopper-Pearson limits of all boxes between comparable rows. Valid in finite samples for every
        monotone truth, jumps included (measured: .97 to 1.00); nearly twice as wide, and more so the more scores; whole
        weights count rows; simultaneous only.
        "unconstrained-supt": series estimate made monotone afterwards; measured .97 to 1.00 with one score, .90 with
        two; 1.4 to 2 times as wide as the default.
        "percentile", "basic", "studentized": refits to resampled rows; they describe how the estimator varies and hold
        the whole truth far more rarely than `level` says (measured: 0 to .75). "hulc": hull of fits to random parts of
        the rows; pointwise only (measured: .86 to .96).
    rng : None, int or numpy.random.Generator
        For the draws. None takes fresh entropy, which a pandas frame keeps in ``.attrs["rng"]``.
    n_draws : int
        Draws or resamples, at least level / (1 - level).
    progress : bool
        Whether a progress bar appears.

    Returns
    -------
    DataFrame
        Of the grid's library, its rows: the scores, ``predicted se conf_low conf_high outside extrapolated``. Both
        edges are monotone; 0 and 1 where no rows lie near. ``se`` is the standard deviation of the band's refits, NaN
        for "honest".

    Raises
    ------
    ValueError
        For a fit without rows, an unknown kind or method, too few draws for the level, too few rows for "hulc".
    FormulaError
        If grid lacks a column.

    Notes
    -----
    The rows count one each, whatever their weights ("honest" excepted). With the transform ``ecdf()`` the band takes
    the transform as known. Specification and references: the page on bands in the documentation.

    References
    ----------
    Belloni, A., Chernozhukov, V., Chetverikov, D. & Kato, K. (2015). Some new asymptotic theory for least squares
    series. Journal of Econometrics 186, 345-366. doi:10.1016/j.jeconom.2015.02.014

    Dimitriadis, T., Duembgen, L., Henzi, A., Puke, M. & Ziegel, J. (2023). Honest calibration assessment for binary
    outcome predictions. Biometrika 110, 663-680. doi:10.1093/biomet/asac068

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(300, M=1, rng=1)
    >>> res = isocal.bernstein("y ~ s1", data, K=5).fit()
    >>> band = res.conf_band(n_draws=199, rng=1, progress=False)
    >>> band.columns.tolist()
    ['s1', 'predicted', 'se', 'conf_low', 'conf_high', 'outside', 'extrapolated']
    >>> bool(band.conf_low.is_monotonic_increasing and band.conf_high.is_monotonic_increasing)
    True
    """
    self.rows_or("conf_band()")
    raw, like, index = _places(self, grid)
    rng = int(np.random.SeedSequence().entropy) if rng is None else rng
    columns, degree = edges(self, raw, level, kind, method, rng, n_draws, progress)
    outside = columns["outside"]
    if outside.any():
        asked = np.count_nonzero(~np.isnan(columns["conf_low"]))
        warnings.warn(_leaves(np.count_nonzero(outside), asked, level, self.recipe.title), UserWarning, stacklevel=2)
    names = {_name(term): raw[:, m] for m, term in enumerate(self.terms.parsed.terms)}
    out = frames.table(names | columns, like, index)
    if hasattr(out, "attrs"):
        seed = None if isinstance(rng, np.random.Generator) else rng
        out.attrs = {"level": level, "kind": kind, "method": method, "degree": degree, "n_draws": n_draws, "rng": seed}
    return out


def edges(self, raw, level=0.95, kind="simultaneous", method="model-supt", rng=None, n_draws=999, progress=True):
    """({"predicted", "se", "conf_low", "conf_high", "outside", "extrapolated"} at raw (g, M) scores, degree)."""
    from .. import bands

    check_level(level)
    bands.check(kind, method, n_draws)
    scores = self.terms.scores(raw, self.recipe.domain())
    known = ~np.isnan(scores).any(axis=1)
    s, places, directions = _on_unit_cube(self, method, raw[known], scores[known])
    found = bands.conf_band(
        s, self.rows.y, self.rows.w, places, directions, level=level, kind=kind, method=method, rng=rng,
        n_draws=n_draws, progress=progress,
    )  # fmt: skip
    out = {"predicted": self.curve(scores)}
    for name, values in (("se", found.se), ("conf_low", found.low), ("conf_high", found.high)):
        out[name] = np.full(len(raw), np.nan)
        out[name][known] = values
    below = out["predicted"] < out["conf_low"] - ROUND_OFF  # False where NaN
    out["outside"] = below | (out["predicted"] > out["conf_high"] + ROUND_OFF)
    out["extrapolated"] = self.terms.extrapolated(raw)
    return out, found.degree


def _leaves(outside, asked, level, title):
    return (
        f"{title} leaves the {100 * level:g} % band at {outside:,} of {asked:,} places ({100 * outside / asked:.0f} "
        "%): there the rows speak against the fit (column outside), and a more flexible one may follow them, such as "
        "isocal.bernstein with a larger K"
    )


def _name(term):
    return term.label if term.column is None else term.column


def _places(self, grid):
    """(raw (g, M) scores, a frame of the library wanted, index) of the places where the band is wanted."""
    if grid is not None:
        frame = frames.open_frame(grid)
        return self.terms.raw(frame), frame, frames.index_of(frame.to_native())
    rows, M = self.rows, len(self.terms.names)
    if M > 2:
        return rows.raw, rows.like, rows.index
    axes = [np.linspace(a, b, GRID if M == 1 else SIDE)
            for a, b in zip(self.terms.low, self.terms.high, strict=True)]  # fmt: skip
    return np.stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")], axis=1), rows.like, None


def _on_unit_cube(self, method, raw, scores):
    """(scores of the rows, of the places, directions): in [0, 1], or raw where only their order counts.

    Scores of a method that takes any number go through their ecdf unless the rows' lie in [0, 1] already.
    """
    promised = tuple(self.recipe.directions(scores.shape[1]))
    directions = promised if any(promised) else (1,) * len(promised)
    if method == "honest":
        return self.rows.raw, raw, directions
    s = self.terms.scores(self.rows.raw, self.recipe.domain())
    if s.min() >= 0 and s.max() <= 1:
        return s, np.clip(scores, 0.0, 1.0), directions
    learned = [Ecdf.learn(column, self.rows.w) for column in s.T]
    return *(np.stack([e(x) for e, x in zip(learned, v.T, strict=True)], axis=1) for v in (s, scores)), directions

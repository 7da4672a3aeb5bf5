"""How much would it vary: replicates of a fit, predictions with their spread, and the tables that show it."""

import difflib
from dataclasses import dataclass, replace

import numpy as np

from .. import bootstrap as engine
from .. import frames
from ..methods.base import check_choice
from . import section
from .bootstrap_numbers import at
from .bootstrapped import Bootstrap
from .inference import check_level

FINE, GRID = 201, 61  # values along a curve, and along each axis of a surface


def bootstrap(
    self, n_boot=999, method="pairs", cluster=None, refit_transform=False, reselect=False, rng=None, n_jobs=1,
    progress=True, *, size=None,
):  # fmt: skip
    """Refit on samples drawn again from the rows of the fit: how the estimate varies from sample to sample.

    Rows are the units that are drawn, whatever their case weights: a row that is drawn twice counts with twice its
    weight. Replicate j is a function of the seed and j alone: n_jobs changes no bit of it.

    Parameters
    ----------
    n_boot : int
        Replicates, at least 2.
    method : {"pairs", "bayesian", "parametric", "subsample"}
        Rows with replacement; exponential weights (Rubin 1981), where no row ever vanishes; responses drawn from the
        fitted probabilities at the rows; or `size` rows without replacement, deviations shrunk by sqrt(size/n), which
        is consistent pointwise where the constraint binds and the others are not, but covers worse: a check of
        sensitivity.
    cluster : str or array_like, optional
        Clusters to draw instead of rows: a column of the data, or labels of its rows in order.
    refit_transform : bool
        Learn ecdf() and unit() anew in each replicate.
    reselect : bool
        Choose K anew in each replicate, for fits that chose it.
    rng : None, int or numpy.random.Generator
        None takes fresh entropy, kept as ``seed``.
    n_jobs : int or None
        Cores, through joblib; -1 takes all, None what ``joblib.parallel_config`` says: a cluster of Dask or Ray where
        one is active.
    progress : bool
        Whether a bar shows blocks of replicates. An interrupt keeps those that are done, with a warning.
    size : int or "volatility", optional
        Rows (or clusters) of each subsample; default 2 n^(2/3). "volatility": where intervals change least with the
        size, of nine between n^.5 and n^.9, at 99 replicates each (Politis, Romano & Wolf 1999).

    Returns
    -------
    Bootstrap
        With ``conf_int() conf_band() plot()``.

    Raises
    ------
    ValueError
        For an n_boot below 2, an unknown method, a single cluster, a subsample of fewer than 10 rows or of all rows,
        reselect=True where nothing was chosen, or a fit without its rows (after loading).

    References
    ----------
    Efron, B. (1979). Annals of Statistics 7(1), 1-26. doi:10.1214/aos/1176344552
    Politis, D. N. & Romano, J. P. (1994). Annals of Statistics 22(4), 2031-2050. doi:10.1214/aos/1176325770

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> print(res.bootstrap(n_boot=99, rng=0))
    Bootstrap of Isotonic Bernstein polynomial: y ~ s1 + s2
    Replicates: 99, pairs: rows drawn with replacement
    Seed: 0; options of the fit held fixed
    """
    rows = self.rows_or("bootstrap()")
    if isinstance(n_boot, bool) or not isinstance(n_boot, int | np.integer) or n_boot < 2:
        raise ValueError(f"n_boot must be a whole number of at least 2, such as 999; got {n_boot!r}")
    check_choice("method", method, engine.METHODS)
    sampling = _sampling(self, rows, method, cluster, size, engine.new_seed(rng))
    recipe, choice = _recipe(self, reselect)
    choice += _relearning(self, method, refit_transform)
    s = self.terms.scores(rows.raw, self.recipe.domain())
    names = tuple(term.transforms for term in self.terms.parsed.terms)
    drawn = engine.Rows(rows.raw, s, rows.y, rows.weights, names if refit_transform and self.terms.learns else None)
    if sampling.size == "volatility":
        kept = replace(drawn, transforms=None)
        size = engine.chosen_size(recipe, self.curve, kept, sampling, engine.LEAST, n_jobs, progress)
        sampling = replace(sampling, size=size)
    found = engine.refit(recipe, drawn, sampling, int(n_boot), n_jobs, progress)
    if len(found) < 2:
        raise ValueError(f"no replicate could be fitted: {'; '.join(found.failed)}")
    return Bootstrap(self, recipe, drawn, sampling, found, int(n_boot), choice, progress)


def _sampling(self, rows, method, cluster, size, seed):
    """How the rows are drawn, checked."""
    n, codes = len(rows.y), None
    if cluster is not None:
        if method == "parametric":
            raise ValueError("method='parametric' draws every response by itself and knows no clusters: use 'pairs'")
        codes = engine.group_codes(_labels(self, rows, cluster))
    if size is not None and method != "subsample":
        raise ValueError(f"size is for method='subsample'; method is {method!r}")
    p = None
    if method == "parametric":
        p = self.curve(self.terms.scores(rows.raw, self.recipe.domain()))
    sampling = engine.Sampling(method, n, seed, codes, None, p)
    if method != "subsample":
        return sampling
    if isinstance(size, str) and size == "volatility" and sampling.units > engine.LEAST:
        return replace(sampling, size=size)
    size = int(np.ceil(2 * sampling.units ** (2 / 3))) if size is None else size
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    if not whole or not engine.LEAST <= size < sampling.units:
        what = "rows" if codes is None else "clusters"
        raise ValueError(
            f"size of a subsample must be a whole number from {engine.LEAST} to {sampling.units - 1}, fewer than the "
            f"{sampling.units} {what} of the fit; got {size!r}"
        )
    return engine.Sampling(method, n, seed, codes, int(size))


def _labels(self, rows, cluster):
    """(n,) labels of the rows of the fit, from a column or an array aligned with the data or with the rows used."""
    if isinstance(cluster, str):
        data = None if self.model is None else self.model.data
        if data is None:
            raise ValueError(f"cluster={cluster!r} needs the data of the fit: pass the labels as an array")
        frame = frames.open_frame(data)
        if cluster not in frame.columns:
            near = difflib.get_close_matches(cluster, map(str, frame.columns), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(map(str, frame.columns))}"
            raise ValueError(f"cluster={cluster!r} is not a column of the data: {hint}")
        values, missing = frames.anything(frame, cluster)
        labels = np.array(values, dtype=object)
        labels[missing] = None
    else:
        labels = np.asarray(cluster)
    if labels.ndim != 1 or len(labels) not in (len(rows.kept), len(rows.y)):
        raise ValueError(
            f"cluster must hold one label for each of the {len(rows.kept)} rows of data; got shape {labels.shape}"
        )
    return labels[rows.kept] if len(labels) == len(rows.kept) else labels


def _recipe(self, reselect):
    """(recipe of the replicates, what is said of it)."""
    held = self.recipe.hold(self.curve)
    if not reselect:
        return held, "options of the fit held fixed"
    if held is self.recipe:
        raise ValueError("reselect=True needs a fit that chose its options, such as K='cv'; here they were given")
    return self.recipe, "options chosen anew"


def _relearning(self, method, refit_transform):
    if not self.terms.learns:
        return ""
    if refit_transform and method == "parametric":
        raise ValueError("method='parametric' keeps the scores, so transforms cannot differ: leave refit_transform out")
    return ", transforms learned anew" if refit_transform else ", transforms held fixed"


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """Predictions with the spread of replicates, after statsmodels' PredictionResults."""

    results: object
    bootstrap: Bootstrap
    raw: np.ndarray
    like: object
    index: object
    predicted: np.ndarray
    draws: np.ndarray

    def summary_frame(self, level=0.95):
        """Predictions with standard error and pointwise percentile interval of the estimator.

        Parameters
        ----------
        level : float
            Coverage in (0, 1), of the estimator's variability: `Results.conf_band` is for the true map.

        Returns
        -------
        DataFrame
            Of the caller's library, its rows: ``predicted se conf_low conf_high extrapolated``; NaN where a score is
            missing.
        """
        from ..numerics.intervals import percentile
        from .bootstrap_numbers import enough

        check_level(level)
        enough(self.bootstrap, level)
        low, high = percentile(self.draws, self.predicted, level)
        columns = {"predicted": self.predicted, "se": self.se, "conf_low": low, "conf_high": high}
        columns["extrapolated"] = self.results.terms.extrapolated(self.raw)
        return frames.table(columns, self.like, self.index)

    @property
    def se(self):
        """(g,) standard errors."""
        return self.draws.std(axis=0, ddof=1)

    def __repr__(self):
        return f"<isocal prediction of {len(self.predicted):,} rows; call .summary_frame()>\n{self.bootstrap}"


def get_prediction(self, new=None, bootstrap=None, n_boot=999, rng=None):
    """Predictions with standard errors and intervals, in statsmodels' manner.

    Parameters
    ----------
    new : DataFrame, optional
        Rows to predict, of any library; default: the rows of the fit.
    bootstrap : Bootstrap, optional
        Replicates of this fit; default: pairs, drawn now.
    n_boot, rng
        Of the replicates that are drawn now.

    Returns
    -------
    Prediction
        With ``summary_frame(level=0.95)``, ``predicted``, ``se`` and ``bootstrap``.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> res.get_prediction(data.head(2), n_boot=99, rng=0).summary_frame().columns.tolist()
    ['predicted', 'se', 'conf_low', 'conf_high', 'extrapolated']
    """
    boot = own_bootstrap(self, bootstrap)
    if boot is None:
        boot = self.bootstrap(n_boot, rng=rng)
    if new is None:
        rows = self.rows_or("get_prediction() without new rows")
        frame, raw, index = rows.like, rows.raw, rows.index
    else:
        frame = frames.open_frame(new)
        raw, index = self.terms.raw(frame), frames.index_of(frame.to_native())
    p, draws = at(boot, raw)
    return Prediction(self, boot, raw, frame, index, p, draws)


def own_bootstrap(self, boot):
    """A Bootstrap of this very fit, or None."""
    if boot is None or (isinstance(boot, Bootstrap) and boot.results is self):
        return boot
    if not isinstance(boot, Bootstrap):
        raise TypeError(f"bootstrap must be what .bootstrap() of this fit returned; got {type(boot).__name__}")
    raise ValueError(f"bootstrap belongs to another fit ({boot.results.formula}): pass that of this fit")


def draw(boot, ax, level, most, scores, at_quantiles):
    """The picture of a Bootstrap: curves of one score with their band, contours over two."""
    from ..plots import marks
    from ..plots.replicates import draw_contours, draw_curves
    from .draw import _pair, _quantiles

    self = boot.results
    pair = _pair(self, scores)
    held = section.held(self, _quantiles(self, at_quantiles, pair))
    ax = marks.axes_or_new(ax, (5.0, 4.0))
    labels = [section.name_of(self, m, "score") for m in pair]
    if len(pair) == 1:
        x = section.values(self, 0, "score", FINE)
        p, draws = at(boot, x[:, None])
        low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return draw_curves(ax, x, p, draws[:most], (low, high), (*labels, self.response.label), level)
    x, y = (section.values(self, m, "score", GRID) for m in pair)
    raw = np.empty((GRID * GRID, len(self.terms.names)), order="F")
    for m in range(raw.shape[1]):
        raw[:, m] = held[m].value if m in held else np.repeat(x, GRID) if m == pair[0] else np.tile(y, GRID)
    p, draws = at(boot, raw)
    shape = (-1, GRID, GRID)
    title = ", ".join(f"{section.column_of(self, m)} at {h}" for m, h in held.items())
    surfaces = draws[:most].reshape(shape)
    return draw_contours(ax, x, y, p.reshape(GRID, GRID), surfaces, (*labels, self.response.label), title)

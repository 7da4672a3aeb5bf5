"""What `Results.bootstrap` returns: replicates of a fit, and the intervals and bands that come from them."""

import warnings
from dataclasses import dataclass, field
from html import escape

import numpy as np
import pandas as pd

from .. import frames
from ..numerics.isotone import isotone_edges
from .bootstrap_numbers import acceleration, at, check_band, edges, enough, grid_of, interval, quantity
from .inference import check_level, default_grid

KINDS = ("percentile", "basic", "bca", "normal")
WORDS = {
    "pairs": "pairs: rows drawn with replacement", "bayesian": "Bayesian: exponential weights",
    "parametric": "parametric: responses drawn from the fit", "subsample": "subsamples without replacement",
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap:
    """Replicates of a fit.

    They describe how the estimate varies from sample to sample. Intervals and bands from them are not intervals for
    the true probability: where the fit is biased they miss it (`Results.conf_band` is made for that).

    Attributes
    ----------
    results : Results
        The fit.
    method : {"pairs", "bayesian", "parametric", "subsample"}
    n_boot : int
        Replicates that are kept: fewer than ``asked`` after an interrupt, or where some could not be fitted.
    asked : int
    seed : int
        ``rng=boot.seed`` draws the same replicates again.
    one_class : int
        Replicates without an event or without a non-event; they are kept, as curves of constant 0 or 1 (or what the
        method makes of one class).
    failed : dict
        {message: replicates that could not be fitted and are left out}.
    """

    results: object
    recipe: object
    rows: object
    sampling: object
    replicates: object
    asked: int
    choice: str
    progress: bool = True
    cache: dict = field(default_factory=dict)

    method = property(lambda self: self.sampling.method)
    seed = property(lambda self: self.sampling.seed)
    n_boot = property(lambda self: len(self.replicates))
    one_class = property(lambda self: int(self.replicates.one_class.sum()))
    failed = property(lambda self: dict(self.replicates.failed))

    def conf_int(self, level=0.95, kind="percentile", of="coefficients"):
        """Intervals of coefficients and other numbers.

        Parameters
        ----------
        level : float
            Coverage in (0, 1).
        kind : {"percentile", "basic", "bca", "normal"}
            "bca" corrects bias and acceleration, from refits without each row (each cluster; of more than 500 without
            one of 500 groups), and is for method="pairs" and "bayesian". It gives NaN, with a warning, where all
            replicates lie on one side of the estimate.
        of : {"coefficients", "scores", "slopes"} or DataFrame
            "scores": Brier score and AUC on the rows of the fit, of each replicate on its own rows; "slopes": mean
            slope along each score; a DataFrame with the formula's scores: the probability at each of its rows.

        Returns
        -------
        DataFrame
            ``estimate std_error conf_low conf_high`` by name, or by the row of the DataFrame.

        Raises
        ------
        ValueError
            For a level that is no coverage, an unknown kind, "bca" with other ways of drawing, coefficients whose
            names differ between replicates, or points with a missing score.

        References
        ----------
        Davison, A. C. & Hinkley, D. V. (1997), chapter 5. doi:10.1017/CBO9780511802843
        DiCiccio, T. J. & Efron, B. (1996). Statistical Science 11(3). doi:10.1214/ss/1032280214

        Examples
        --------
        >>> import isocal
        >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
        >>> boot = isocal.bernstein("y ~ s1 + s2", data, K=2).fit().bootstrap(n_boot=99, rng=0)
        >>> boot.conf_int(of="scores").index.tolist()
        ['Brier score', 'AUC']
        """
        check_level(level)
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {kind!r}")
        enough(self, level)
        names, t0, t = quantity(self, of)
        bend = acceleration(self, of) if kind == "bca" else None
        columns = [
            interval(t[:, k], t0[k], level, kind, None if bend is None else bend[k])
            for k in range(len(t0))
        ]
        sd, low, high = np.array(columns).reshape(-1, 3).T
        out = {"estimate": t0, "std_error": sd, "conf_low": low, "conf_high": high}
        if kind == "bca" and np.isnan(low).any():
            lost = [str(name) for name, v in zip(names, low, strict=True) if np.isnan(v)]
            warnings.warn(
                f"kind='bca' is not defined for {', '.join(lost[:5])}{' ...' if len(lost) > 5 else ''}: all replicates "
                "lie on one side of the estimate, or on it; use kind='percentile'", UserWarning, stacklevel=2,
            )  # fmt: skip
        return pd.DataFrame(out, index=names)

    def conf_band(self, grid=None, level=0.95, kind="simultaneous", method="percentile"):
        """Band of the variability of the estimator: where refits on new samples go. Not a band for the true map.

        Around a biased fit it covers the truth far less often than its level says (.35 pointwise and 0 simultaneously
        at level .95, measured on a steep curve with K=6): `Results.conf_band` is the band for the true map.

        Parameters
        ----------
        grid : DataFrame, optional
            Rows with the formula's scores; for a single score default 101 values over the range of the fit.
        level : float
            Share of replicates inside, in (0, 1).
        kind : {"simultaneous", "pointwise"}
            Whole curves inside at all places of the grid, or at each place by itself.
        method : {"percentile", "basic", "studentized"}
            Order statistics of the replicates; these mirrored at the estimate; or the estimate plus and minus a
            multiple of their standard deviation. The last two are then made monotone and cut to [0, 1].

        Returns
        -------
        DataFrame
            Of the grid's library: its scores, ``predicted se conf_low conf_high extrapolated``. ``attrs["title"]``
            (pandas) says what it shows.

        Raises
        ------
        ValueError
            For a level that is no coverage, an unknown kind or method, or a grid with a missing score.
        FormulaError
            If the grid misses a column.

        Examples
        --------
        >>> import isocal
        >>> data = isocal.datasets.simulate_scores(200, M=1, rng=1)
        >>> boot = isocal.bernstein("y ~ s1", data, K=3).fit().bootstrap(n_boot=99, rng=0)
        >>> band = boot.conf_band(kind="pointwise")
        >>> band.columns.tolist()
        ['s1', 'predicted', 'se', 'conf_low', 'conf_high', 'extrapolated']
        """
        check_level(level)
        check_band(kind, method)
        enough(self, level)
        res = self.results
        frame, raw = grid_of(self, default_grid(res) if grid is None else grid)
        t0, t = at(self, raw)
        low, high = edges(t, t0, level, kind, method)
        if method != "percentile":
            s = res.terms.scores(raw, res.recipe.domain())
            low, high = isotone_edges(s, np.clip(low, 0, 1), np.clip(high, 0, 1), res.recipe.directions(s.shape[1]))
        columns = {term.column or term.label: raw[:, m] for m, term in enumerate(res.terms.parsed.terms)}
        columns |= {"predicted": t0, "se": t.std(axis=0, ddof=1), "conf_low": low, "conf_high": high}
        columns["extrapolated"] = res.terms.extrapolated(raw)
        out = frames.table(columns, frame, frames.index_of(frame.to_native()))
        if isinstance(out, pd.DataFrame):
            out.attrs["title"] = f"variability of the estimator ({kind}, {method}), not a band for the true map"
        return out

    def plot(self, ax=None, *, level=0.95, most=40, scores=None, at=0.5):
        """Draw replicates: curves of one score with their pointwise band, or contours over two scores.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a new figure.
        level : float
            Of the pointwise percentile band around the curve of one score.
        most : int
            Replicates that are drawn, the first ones.
        scores, at
            As in `Results.plot`, where there is more than one score.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import isocal, matplotlib
        >>> matplotlib.use("Agg")
        >>> data = isocal.datasets.simulate_scores(200, M=1, rng=1)
        >>> ax = isocal.bernstein("y ~ s1", data, K=3).fit().bootstrap(n_boot=50, rng=0).plot()
        >>> ax.get_xlabel()
        's1'
        """
        from .bootstrap_doors import draw

        check_level(level)
        return draw(self, ax, level, most, scores, at)

    def _lines(self):
        what = WORDS[self.method]
        if self.sampling.clusters is not None:
            what = f"{what.replace('rows', 'clusters')} ({self.sampling.units:,} clusters)"
        if self.method == "subsample":
            what += f" of {self.sampling.size:,}"
        kept = f"{self.n_boot:,}" + (f" of {self.asked:,} asked for" if self.n_boot < self.asked else "")
        yield f"Bootstrap of {self.results.recipe.title}: {self.results.formula}"
        yield f"Replicates: {kept}, {what}"
        yield f"Seed: {self.seed}; {self.choice}"
        if self.one_class:
            yield f"Replicates of one class only: {self.one_class:,}, kept"
        for message, count in self.failed.items():
            yield f"Left out: {count:,} replicates ({message})"

    def __str__(self):
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self):
        return "<p>" + "<br>\n".join(map(escape, self._lines())) + "</p>"

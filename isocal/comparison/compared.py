"""Comparison: what compare() returns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..numerics.ranks import holm
from ..summary import Block, Summary
from .paired import HIGHER

TITLES = {
    "brier": "Brier score", "rmse": "Root Brier score", "brier_skill": "Brier skill", "log_loss": "Log loss",
    "auc": "AUC", "accuracy": "Accuracy", "ece": "ECE", "mce": "MCE", "ace": "ACE", "debiased_ce": "Debiased ECE",
    "ks": "KS error", "smooth_ece": "Smooth ECE", "mcb": "Miscalibration", "dsc": "Discrimination", "ici": "ICI",
}  # fmt: skip
KINDS = ("forest", "murphy", "reliability")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Fits compared on the same rows.

    Attributes
    ----------
    label : str
        What is forecast.
    y : ndarray, shape (n,)
    forecasts : dict
        {fit: probabilities (n,)} that were judged. In cross-validation a row with a whole weight may stand in several
        folds: it is then several rows here.
    w : ndarray or None
    judged : dict
        {fit: "new rows", "cross-validated", "own rows", "some own rows" or "not known"}.
    estimates : DataFrame
        One row a metric and fit: ``metric fit estimate std_error conf_low conf_high``.
    differences : DataFrame
        Fit minus reference, the best fit of the metric or the control: ``metric fit reference difference std_error
        conf_low conf_high statistic p_value p_holm``.
    control : str or None
    level : float
    n_boot : int
        Samples that were drawn.
    seed : int
        That makes the samples again.
    left_out : dict
        {reason: rows left out for all fits}.
    notes : tuple of str
    """

    label: str
    y: np.ndarray
    forecasts: dict
    w: np.ndarray | None
    judged: dict
    estimates: pd.DataFrame
    differences: pd.DataFrame
    control: str | None
    level: float
    n_boot: int
    seed: int
    left_out: dict
    notes: tuple = ()

    @property
    def metrics(self):
        """The metrics compared, a list."""
        return list(dict.fromkeys(self.estimates.metric))

    @cached_property
    def frame(self):
        """One row a fit: ``judged_on``, and for every metric its value, ``_diff`` to the reference, ``_p`` by Holm."""
        columns = {"judged_on": pd.Series(self.judged)}
        for metric in self.metrics:
            mine = self.estimates[self.estimates.metric == metric].set_index("fit")
            other = self.differences[self.differences.metric == metric].set_index("fit")
            columns |= {metric: mine.estimate, f"{metric}_diff": other.difference, f"{metric}_p": other.p_holm}
        return pd.DataFrame(columns).reindex(list(self.forecasts)).rename_axis("fit")

    def reference(self, metric):
        """The fit that the others are compared with: the control, or the best by this metric."""
        return self.differences.reference[self.differences.metric == metric].iloc[0]

    def summary(self):
        """Metrics of all fits, then differences metric by metric, as text, HTML and LaTeX.

        Returns
        -------
        Summary
        """
        names, metrics = list(self.forecasts), self.metrics
        rows = tuple(
            (*(_number(self.frame.loc[name, m], 4) for m in metrics), self.judged[name]) for name in names
        )  # fmt: skip
        head = Block(f"Comparison of Forecasts of {self.label}", ("fit", *map(_title, metrics), "judged on"),
                     tuple(names), rows)  # fmt: skip
        return Summary((head, *(self._differences(m) for m in metrics)), tuple(self._notes()))

    def _differences(self, metric):
        d = self.differences[(self.differences.metric == metric) & (self.differences.fit != self.reference(metric))]
        numbers = ("difference", "std_error", "conf_low", "conf_high")
        rows = tuple(
            (*(_number(getattr(row, c), 5) for c in numbers), *(p_text(v) for v in (row.p_value, row.p_holm)))
            for row in d.itertuples()
        )
        low, high = (f"{v:.4g}" for v in (0.5 - self.level / 2, 0.5 + self.level / 2))
        word = "control" if self.control is not None else "best"
        return Block(
            f"{_title(metric)}: Minus {self.reference(metric)} ({word})",
            ("fit", "difference", "std err", f"[{low}", f"{high}]", "p", "p Holm"), tuple(d.fit), rows,
        )  # fmt: skip

    def _notes(self):
        n = len(self.y)
        events = float(self.y.sum() if self.w is None else self.w @ self.y)
        weight = "" if self.w is None else f" of weight {self.w.sum():,.6g}"
        yield f"{n:,} rows{weight}, {events:,.6g} events. Higher is better: {_higher(self.metrics)}."
        if self.left_out:
            yield f"Left out for all fits: {', '.join(f'{k:,} {reason}' for reason, k in self.left_out.items())}."
        yield from self.notes
        if self.n_boot:
            yield f"Intervals: {self.n_boot:,} paired bootstrap samples of rows, seed {self.seed}."
        yield "The fits are held fixed: errors, intervals and p values are of the rows judged, not of fitting anew."

    def plot(self, ax=None, *, kind="forest", metric=None, rng=0):
        """The comparison as a figure.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            For "forest" one Axes for each metric drawn; for "murphy" one (the curves) or two (and their differences to
            the reference); for "reliability" one for each fit. New ones if left out.
        kind : {"forest", "murphy", "reliability"}
            Paired differences to the reference with their intervals; mean elementary scores at every threshold, where
            a curve below another is better by every proper score; CORP reliability diagrams side by side.
        metric : str, optional
            For "forest": one metric alone. For "murphy": whose best fit is the reference of the differences (default
            the first metric).
        rng : None, int or Generator
            For the consistency bands of "reliability".

        Returns
        -------
        matplotlib Axes, or an array of them
        """
        from . import figures

        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {kind!r}")
        if metric is not None and metric not in self.metrics:
            raise ValueError(f"metric must be one of {', '.join(map(repr, self.metrics))}; got {metric!r}")
        if kind == "forest":
            return figures.forest(self, ax, self.metrics if metric is None else [metric])
        if kind == "murphy":
            return figures.murphy(self, ax, self.reference(metric or self.metrics[0]))
        return figures.reliability(self, ax, rng)

    def __str__(self):
        return self.summary().as_text()

    __repr__ = __str__

    def _repr_html_(self):
        return self.summary().as_html()


def frames_of(found, names, control, level):
    """(estimates, differences) of the metrics found, a list of Paired.

    Holm's family: the comparisons with the control; or, as the best is chosen by looking, all pairs of fits.
    """
    estimates, differences = [], []
    k = len(names)
    upper = np.triu_indices(k, 1)
    for one in found:
        low, high = one.interval(level)
        estimates.append(pd.DataFrame({
            "metric": one.metric, "fit": names, "estimate": one.estimate, "std_error": one.error, "conf_low": low,
            "conf_high": high,
        }))  # fmt: skip
        r = one.best if control is None else names.index(control)
        adjusted = np.full(k, np.nan)
        others = np.arange(k) != r
        if control is None:
            whole = np.full((k, k), np.nan)
            whole[upper] = holm(one.p[upper])
            adjusted[others] = np.fmax(whole[:, r], whole[r])[others]
        else:
            adjusted[others] = holm(one.p[others, r])
        low, high = one.difference_interval(r, level)
        part = pd.DataFrame({
            "metric": one.metric, "fit": names, "reference": names[r], "difference": one.difference[:, r],
            "std_error": one.se[:, r], "conf_low": low, "conf_high": high, "statistic": one.statistic[:, r],
            "p_value": one.p[:, r], "p_holm": adjusted,
        })  # fmt: skip
        part.loc[~others, ["std_error", "conf_low", "conf_high", "statistic", "p_value"]] = np.nan
        differences.append(part)
    return pd.concat(estimates, ignore_index=True), pd.concat(differences, ignore_index=True)


def _title(metric):
    return TITLES[metric]


def _higher(metrics):
    high = [_title(m) for m in metrics if m in HIGHER]
    return ", ".join(high) if high else "none"


def _number(value, digits):
    return "" if np.isnan(value) else f"{value:.{digits}f}"


def p_text(p):
    """A p value in four decimals, or in powers of ten below them; nothing for NaN."""
    return "" if np.isnan(p) else f"{p:.4f}" if p >= 0.0001 or p == 0 else f"{p:.2e}"

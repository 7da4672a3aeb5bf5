"""Forecasts judged: what check_calibration() and reliability() return. Arrays in; tables, summaries, figures out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from . import corp as corp_room
from .calibration_tests import all_tests
from .metrics import corp, metrics_table
from .metrics.binned import calibration_bins
from .summary import Block, Summary

KEY_METRICS = ("brier", "brier_skill", "log_loss", "auc", "ici", "debiased_ce", "mcb", "dsc")
BANDS = {
    "consistency": corp_room.consistency_band, "confidence": corp_room.confidence_band,
    "honest": corp_room.honest_band,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class CalibrationCheck:
    """One forecast: metrics, every test of calibration, and the figure.

    Attributes
    ----------
    label : str
        What is forecast, e.g. P(y = 1).
    name : str
        The forecast.
    y, p, w : ndarray, shape (n,)
        Labels, probabilities, case weights (None: ones).
    tests : AllTests
        The battery; ``tests.table`` is its frame.
    notes : tuple of str
        What must be known about these rows.
    """

    label: str
    name: str
    y: np.ndarray
    p: np.ndarray
    w: np.ndarray | None
    tests: object
    notes: tuple = ()

    @property
    def table(self):
        """The table of tests: ``term statistic df p_value tests``."""
        return self.tests.table

    @cached_property
    def metrics(self):
        """Brier, log loss, AUC, ICI, debiased calibration error, MCB and DSC of the forecast, a Series."""
        return metrics_table(self.y, self.p, self.w, which=KEY_METRICS).estimate

    def summary(self):
        """Metrics and tests on one page, as text, HTML and LaTeX."""
        stubs = tuple(self.metrics.index)
        head = Block(
            f"Calibration of {self.name} for {self.label}", ("metric", "estimate"), stubs,
            tuple((f"{v:.4f}",) for v in self.metrics),
        )  # fmt: skip
        tests = self.tests.summary()
        return Summary((head, *tests.blocks), (*tests.notes, *self.notes))

    def plot(self, ax=None, *, level=0.9, rng=0):
        """The figure clinicians know: reliability curve with its band, spikes of the forecast by class, statistics.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        level : float
            Coverage of the consistency band about the diagonal.
        rng : None, int or Generator
            For its draws.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_check, marks

        ax = marks.axes_or_new(ax, (5.4, 5.4))
        curve = corp_room.reliability_curve(self.y, self.p, self.w)
        band = corp_room.consistency_band(self.y, self.p, self.w, level=level, n_boot=400, rng=rng, progress=False)
        return draw_check(ax, curve, band, (self.name, self.label), self._lines())

    def _lines(self):
        m, n = self.metrics, len(self.y)
        events = float(self.y.sum() if self.w is None else self.w @ self.y)
        lines = [f"{n:,} rows, {events:,.6g} events", f"Brier {m.brier:.4f}, AUC {m.auc:.3f}, ICI {m.ici:.4f}"]
        cox = self.tests.results.get("cox")
        if cox is not None:
            lines += [f"{name} {e.estimate:.2f} ({e.conf_low:.2f} to {e.conf_high:.2f})"
                      for name, e in (("citl", cox.citl), ("slope", cox.slope))]  # fmt: skip
        spiegelhalter = self.tests.results.get("spiegelhalter")
        if spiegelhalter is not None:
            p = spiegelhalter.p_value
            lines.append("Spiegelhalter p < 0.001" if p < 0.001 else f"Spiegelhalter p = {p:.3f}")
        return lines

    def __str__(self):
        return self.summary().as_text()

    __repr__ = __str__

    def _repr_html_(self):
        return self.summary().as_html()


def check_forecast_calibration(label, name, y, p, w=None, rng=None, clip=None, notes=(), progress=True):
    """CalibrationCheck of arrays."""
    tests = all_tests(y, p, w, rng=rng, clip=clip, progress=progress)
    return CalibrationCheck(label, name, y, p, w, tests, tuple(notes))


@dataclass(frozen=True, eq=False)
class Reliability:
    """CORP reliability diagrams of one or several forecasts of the same event on the same rows.

    Attributes
    ----------
    label : str
        What is forecast.
    y : ndarray, shape (n,)
    forecasts : dict
        {name: probabilities (n,)}.
    w : ndarray or None
    curves : dict
        {name: ReliabilityCurve}.
    """

    label: str
    y: np.ndarray
    forecasts: dict
    w: np.ndarray | None = None
    notes: tuple = ()

    @cached_property
    def curves(self):
        return {name: corp_room.reliability_curve(self.y, p, self.w) for name, p in self.forecasts.items()}

    @cached_property
    def table(self):
        """One row a forecast: mean Brier and log score with MCB, DSC and UNC (score = mcb - dsc + unc)."""
        rows = []
        for name, p in self.forecasts.items():
            row = {"forecast": name}
            for score in ("brier", "log"):
                found = corp(self.y, p, self.w, score=score)
                row |= {score: found.score, **{f"{k}_{score}": getattr(found, k) for k in ("mcb", "dsc", "unc")}}
            rows.append(row)
        return pd.DataFrame(rows)

    def band(self, name=None, kind="consistency", level=0.9, **options):
        """A band for one forecast, as a frame ``p conf_low conf_high``.

        Parameters
        ----------
        name : str, optional
            The forecast; may be left out where there is one.
        kind : {"consistency", "confidence", "honest"}
            About the diagonal under calibration; about the curve (both pointwise); simultaneous and valid in finite
            samples for any monotone truth.
        level : float
            Coverage.
        options
            Of `isocal.corp.consistency_band`, `confidence_band` or `honest_band`.
        """
        found = self._band(self._name(name), kind, level, **options)
        return pd.DataFrame({"p": found.x, "conf_low": found.lower, "conf_high": found.upper})

    def _name(self, name):
        if name is None and len(self.forecasts) == 1:
            return next(iter(self.forecasts))
        if name not in self.forecasts:
            raise ValueError(f"name one of the forecasts {', '.join(map(repr, self.forecasts))}; got {name!r}")
        return name

    def _band(self, name, kind, level, **options):
        if kind not in BANDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, BANDS))}; got {kind!r}")
        return BANDS[kind](self.y, self.forecasts[name], self.w, level=level, **options)

    def bins(self, name=None, bins=10, strategy="width"):
        """Equal-width or equal-mass bins of one forecast, for those who must: see `isocal.metrics.calibration_bins`."""
        return calibration_bins(self.y, self.forecasts[self._name(name)], self.w, bins, strategy)

    def summary(self):
        """MCB, DSC and UNC of every forecast for the Brier score, as text, HTML and LaTeX."""
        t = self.table
        figures = t[["brier", "mcb_brier", "dsc_brier", "unc_brier"]].to_numpy()
        rows = tuple(tuple(f"{v:.4f}" for v in row) for row in figures)
        headers = ("forecast", "Brier", "miscalibration", "discrimination", "uncertainty")
        block = Block(f"Reliability of forecasts of {self.label}", headers, tuple(t.forecast), rows)
        return Summary((block,), ("Brier = miscalibration - discrimination + uncertainty (CORP).", *self.notes))

    def plot(self, ax=None, *, kind="corp", band="consistency", level=0.9, bins=10, facet=None, rng=0):
        """Reliability diagram of all forecasts in one panel, or a panel each.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One Axes (one panel), or one for each forecast.
        kind : {"corp", "width", "mass"}
            The isotonic curve; or frequencies in equally wide or equally heavy bins.
        band : {"consistency", "confidence", "honest", None}
            Drawn for a single forecast and in panels; none where several curves share one panel.
        level : float
        bins : int
            For kind "width" and "mass".
        facet : bool, optional
            A panel for each forecast; default where ax is a sequence.
        rng : None, int or Generator
            For the draws of a band.

        Returns
        -------
        matplotlib Axes, or an array of them for panels
        """
        from .plots import draw_reliability, marks, panels

        if kind not in ("corp", "width", "mass"):
            raise ValueError(f"kind must be 'corp', 'width' or 'mass'; got {kind!r}")
        names = list(self.forecasts)
        single = facet is False or (facet is None and (ax is None or np.ndim(ax) == 0))
        axes = [marks.axes_or_new(ax, (4.6, 4.6))] if single else panels(ax, len(names))
        groups = [names] if single else [[name] for name in names]
        for axis, group in zip(axes, groups, strict=True):
            curves = {name: self._points(name, kind, bins) for name in group}
            found = None
            if band is not None and len(group) == 1 and kind == "corp":
                draws = {} if band == "honest" else {"n_boot": 400, "rng": rng, "progress": False}
                found = self._band(group[0], band, level, **draws)
            draw_reliability(axis, curves, self.label, found, {name: self.curves[name] for name in group}, self._mcb())
        return axes[0] if single else axes

    def _points(self, name, kind, bins):
        """(x, frequency, drawn as a line?) of one forecast."""
        if kind == "corp":
            curve = self.curves[name]
            return curve.x, curve.cep, True
        found = self.bins(name, bins, "width" if kind == "width" else "mass")
        found = found[found.n > 0]
        return found.predicted.to_numpy(), found.observed.to_numpy(), False

    def _mcb(self):
        return dict(zip(self.table.forecast, self.table.mcb_brier, strict=True))

    def plot_murphy(self, ax=None):
        """Murphy diagram: the mean elementary score of every forecast at every threshold; lower is better.

        A forecast whose curve lies below another's everywhere is better by every proper score.
        """
        from .plots import draw_murphy, marks

        ax = marks.axes_or_new(ax, (5.0, 3.8))
        return draw_murphy(
            ax, {name: corp_room.murphy_diagram(self.y, p, self.w) for name, p in self.forecasts.items()}
        )  # fmt: skip

    def __str__(self):
        return self.summary().as_text()

    __repr__ = __str__

    def _repr_html_(self):
        return self.summary().as_html()

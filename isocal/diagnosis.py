"""Fits diagnosed: what consistency() and influence() return. Arrays in; tables, summaries, figures out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from .summary import Block, Summary

COLUMNS = ["term", "value", "reference", "verdict", "finding", "advice"]
PANELS = ("path", "learning_curve", "support", "active")
WORST_FIRST = ("act", "look", "fine")


@dataclass(frozen=True, eq=False)
class Consistency:
    """Is this fit to be trusted, and why.

    Attributes
    ----------
    label : str
        The fit.
    findings : dict
        {diagnostic: Finding} of those that apply.
    skipped : dict
        {diagnostic: why it was left out}.
    maps : dict
        What the support map and the active set are drawn from.
    names : tuple of str
        Of the scores.
    seed : int or None
        That makes the draws again; None where a Generator was given or nothing was drawn.
    """

    label: str
    findings: dict
    skipped: dict
    maps: dict
    names: tuple
    seed: int | None = None

    @cached_property
    def table(self):
        """One row a diagnostic: ``term value reference verdict finding advice``."""
        rows = [(f.term, f.value, f.reference, f.verdict, f.shown, f.advice) for f in self.findings.values()]
        return pd.DataFrame(rows, columns=COLUMNS)

    @property
    def verdict(self):
        """The worst verdict of all."""
        verdicts = {f.verdict for f in self.findings.values()}
        return next(word for word in WORST_FIRST if word in verdicts or word == "fine")

    def detail(self, term):
        """A diagnostic's own table, or its further figures where it has none, as a frame.

        Parameters
        ----------
        term : str
            E.g. "degree_path", "active_constraints", "learning_curve", "isotonicity", "held_out", "support".
        """
        if term not in self.findings:
            known = ", ".join(map(repr, self.findings))
            why = f" ({self.skipped[term]})" if term in self.skipped else ""
            raise ValueError(f"there is no finding {term!r}{why}: this fit has {known}")
        found = self.findings[term]
        if found.detail:
            return pd.DataFrame(found.detail)
        return pd.DataFrame({"figure": list(found.figures), "value": list(found.figures.values())})

    def summary(self):
        """Value, reference and verdict of every diagnostic, what to do, and what was left out and why.

        Returns
        -------
        Summary
        """
        found = list(self.findings.values())
        rows = tuple((f.shown, f.reference, f.verdict) for f in found)
        block = Block(f"Consistency of {self.label}", ("diagnostic", "finding", "reference", "verdict"),
                      tuple(f.term for f in found), rows)  # fmt: skip
        todo = [f"{word.capitalize()}: {f.term}. {f.advice}" for word in ("act", "look") for f in found
                if f.verdict == word]  # fmt: skip
        left = [f"Left out: {term}: {why}." for term, why in self.skipped.items()]
        seed = [] if self.seed is None else [f"Seed of the draws: {self.seed}."]
        return Summary((block,), tuple((todo or ["Nothing to do."]) + left + seed))

    def plot(self, which=None, ax=None):
        """Four panels: path of degrees, learning curve, support map, active set on the grid; or one of them.

        Parameters
        ----------
        which : {"path", "learning_curve", "support", "active"}, optional
            One panel; default: all that this fit has.
        ax : matplotlib Axes, or a sequence of them
            One for one panel, as many as there are panels for all; default: a new figure.

        Returns
        -------
        matplotlib Axes, or an array of them for all panels
        """
        from .plots import marks

        if which is None:
            return self._panels(ax)
        if which not in PANELS:
            raise ValueError(f"which must be one of {', '.join(map(repr, PANELS))}; got {which!r}")
        if which not in self.panels:
            raise ValueError(f"this fit has no panel {which!r}: it has {', '.join(map(repr, self.panels)) or 'none'}")
        return self._draw(which, marks.axes_or_new(ax, (4.6, 3.6)))

    @property
    def panels(self):
        """Those of the four that this fit has."""
        has = {"path": "degree_path" in self.findings, "learning_curve": "learning_curve" in self.findings}
        return [name for name in PANELS if has.get(name, name in self.maps)]

    def _panels(self, ax):
        import matplotlib.pyplot as plt

        from .plots.consistency import alike

        names = self.panels
        if not names:
            raise ValueError("there is nothing to draw: this fit has none of the four panels")
        if ax is None:
            rows = -(-len(names) // 2)
            size = {"figsize": (8.8, 3.7 * rows), "layout": "constrained", "squeeze": False}
            ax = plt.subplots(rows, min(len(names), 2), **size)[1].ravel()
            for spare in ax[len(names) :]:
                spare.remove()
        ax = np.ravel(np.asarray(ax, dtype=object))[: len(names)]
        if len(ax) < len(names):
            raise ValueError(f"ax must hold {len(names)} Axes, one for each of {', '.join(names)}; or name one, which=")
        for name, axis in zip(names, ax, strict=True):
            self._draw(name, axis)
        alike(ax)
        return ax

    def _draw(self, name, ax):
        from .plots import consistency as room

        if name == "path":
            return room.draw_degree_changes(ax, self.findings["degree_path"].detail)
        if name == "learning_curve":
            found = self.findings["learning_curve"]
            return room.draw_learning_curve(ax, found.detail, found.value)
        if name == "support":
            return room.draw_support(ax, *self.maps["support"], self.names)
        return room.draw_active_set(ax, *self.maps["active"], self.names)

    def __str__(self):
        return self.summary().as_text()

    __repr__ = __str__

    def _repr_html_(self):
        return self.summary().as_html()


def maps_of(fit):
    """{panel: arrays} of FittedRows for one or two scores: local rows on a grid, and the face."""
    out = {}
    if fit.grid is None or fit.M > 2:
        return out
    side = fit.places[0]
    out["support"] = (side, fit.local_rows.reshape((len(side),) * fit.M), fit.s)
    if fit.is_least_squares:
        face = fit.face
        out["active"] = (fit.grid, face.fit.levels.reshape(fit.grid.shape), face.cone.ends[face.active])
    return out


@dataclass(frozen=True, eq=False)
class Influence:
    """Which rows move the fit.

    Attributes
    ----------
    label : str
        The fit.
    table : pandas.DataFrame
        One row a row of the fit, its index: ``y fitted resid leverage change cook active_set_changes exact_change
        largest_change``. change = fitted - fitted without the row, at the row itself; exact and largest (at any row)
        are known for the rows that were refitted, among them those in `top`.
    top : numpy.ndarray
        Positions in the table of the rows of largest change, strongest first.
    df, sigma2 : float
        Of Cook's distance.
    """

    label: str
    table: pd.DataFrame
    top: np.ndarray
    df: float
    sigma2: float

    def summary(self):
        """The strongest rows, and how many change the active set.

        Returns
        -------
        Summary
        """
        t = self.table.iloc[self.top]
        names = ["y", "fitted", "leverage", "change", "exact_change", "largest_change", "cook"]
        figures = (("" if np.isnan(v) else f"{v:.4g}" if name == "y" else f"{v:.4f}")
                   for row in t[names].to_numpy(float) for name, v in zip(names, row, strict=True))  # fmt: skip
        cells = [tuple(next(figures) for _ in names) for _ in range(len(t))]
        moves = ["yes" if m else "" for m in t.active_set_changes]
        rows = tuple((*row, m) for row, m in zip(cells, moves, strict=True))
        heads = ("row", "y", "fitted", "leverage", "change", "exact", "largest", "Cook", "active set")
        block = Block(f"Influence on {self.label}", heads, tuple(map(str, t.index)), rows)
        return Summary((block,), tuple(self._notes()))

    def _notes(self):
        t = self.table
        yield "change: fitted - fitted without the row, at the row; exact: by refitting; largest: at any row."
        if t.leverage.isna().all():
            yield "Every row was left out and the method fitted again."
            return
        count = int(t.active_set_changes.sum())
        yield f"Leaving out changes the active set for {count:,} of {len(t):,} rows; for the others change is exact."
        big = int((t.cook > 1).sum())
        yield f"Cook's distance exceeds 1 for {big:,} rows" + (": look at them before trusting it." if big else ".")

    def plot(self, ax=None):
        """Change of each row's own fitted value against the fitted value, area by Cook's distance, strongest named.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        from .plots import marks
        from .plots.influence import draw_influence

        ax, t = marks.axes_or_new(ax, (5.2, 3.8)), self.table
        change = t.exact_change.fillna(t.change)
        columns = (t.fitted, change, t.y, t.cook, t.active_set_changes)
        names = list(map(str, t.index[self.top]))
        return draw_influence(ax, *(column.to_numpy() for column in columns), self.top, names)

    def __str__(self):
        return self.summary().as_text()

    __repr__ = __str__

    def _repr_html_(self):
        return self.summary().as_html()


def influence_of(label, found, y, index):
    """Influence of a RowInfluence and the labels and index of the rows."""
    table = pd.DataFrame(
        {
            "y": y, "fitted": found.fitted, "resid": y - found.fitted, "leverage": found.leverage,
            "change": found.change, "cook": found.cook, "active_set_changes": found.moves,
            "exact_change": found.exact, "largest_change": found.largest,
        },
        index=index,
    )  # fmt: skip
    return Influence(label, table, found.top, found.df, found.sigma2)

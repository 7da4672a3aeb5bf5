"""Where a picture cuts a fit: values along its axes, scores that are held, and the rows to show there.

Scores are positions in the formula; scale is "score" (values of the columns) or "unit" (transformed).
"""

from dataclasses import dataclass

import numpy as np

from ..transforms import Ecdf, apply_chain


@dataclass(frozen=True)
class Held:
    """Where a score that is on no axis is held: raw value, the share asked for, and of what."""

    value: float
    share: float
    word: str

    def __str__(self):
        return f"{self.word} {self.share:g} ({self.value:.3g})"


def held(self, quantiles):
    """{position: Held}; the quantile of the rows or of a learned ecdf, else that part of the range seen in fitting."""
    out = {}
    for m, q in quantiles.items():
        chain, low, high = self.terms.chains[m], self.terms.low[m], self.terms.high[m]
        if self.rows is not None:
            out[m] = Held(_quantile_of(Ecdf.learn(self.rows.raw[:, m], self.rows.w), q), q, "quantile")
        elif chain and isinstance(chain[0], Ecdf):
            out[m] = Held(_quantile_of(chain[0], q), q, "quantile")
        else:
            out[m] = Held(float(low + q * (high - low)), q, "part of range")
    return out


def _quantile_of(ecdf, q):
    """The smallest knot with at least a share q of the weight at or below it."""
    reach = np.searchsorted(ecdf.cumulated, q * ecdf.cumulated[-1] * (1 - 1e-12))
    return float(ecdf.knots[min(reach, len(ecdf.knots) - 1)])


def column_of(self, m):
    """What a score is called before isocal's transforms."""
    term = self.terms.parsed.terms[m]
    return str(term.code if term.column is None else term.column)


def name_of(self, m, scale):
    """The label of the axis of score m."""
    return self.terms.labels[m] if scale == "unit" else column_of(self, m)


def classes_of(self):
    """Names of the rows without the event and with it."""
    return "other", f"{self.response.column} = {self.response.event!r}"


def values(self, m, scale, size):
    """(size,) values along the axis of score m."""
    low, high = float(self.terms.low[m]), float(self.terms.high[m])
    if scale == "unit" and self.recipe.domain() == "unit":
        low, high = 0.0, 1.0
    elif scale == "unit":
        low, high = apply_chain(self.terms.chains[m], np.array([low, high]))
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, size)


def scores(self, free, held, scale):
    """(n, M) scores: free {position: values on its axis}, held {position: Held}."""
    raw = np.empty((len(next(iter(free.values()))), len(self.terms.names)), order="F")
    for m in range(raw.shape[1]):
        raw[:, m] = held[m].value if m in held else free[m] if scale == "score" else self.terms.low[m]
    s = self.terms.scores(raw, self.recipe.domain())
    if scale == "unit":
        for m, values in free.items():
            s[:, m] = values
    return s


def rows(self, pair, scale):
    """(places (n, 1 or 2) on the axes, y, weights) of the rows of the fit."""
    rows = self.rows
    x = rows.raw if scale == "score" else self.terms.scores(rows.raw, self.recipe.domain())
    return x[:, pair], rows.y, rows.weights

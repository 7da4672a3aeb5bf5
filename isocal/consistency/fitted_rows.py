"""A fit with its rows, as arrays: what every diagnostic is asked about."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..numerics.basis import evaluate
from ..numerics.face_hat import face_of
from ..numerics.local_rows import effective_rows, grid_of_places
from ..numerics.moments import gram, moments
from ..numerics.selection import MOST

FEWEST = 20  # rows for anything that tests or splits
SAME = 1e-6  # largest difference of fitted values at which a fit is the least-squares one
MULTIPLES = (1 / 3, 1 / 2, 2 / 3, 1, 4 / 3, 5 / 3, 2, 5 / 2, 3)  # of the degrees, along the path
HIGHEST = 150  # degree of any fit made here
TIE_BREAK = 1e-10
LOCAL = {1: 10, 2: 4, 3: 2, 4: 1, 5: 1}  # highest degree at which effective rows are counted: some 25 coefficients


@dataclass(frozen=True, eq=False)
class FittedRows:
    """s (n, M) transformed scores, y (n,), w (n,) or None; the recipe, its curve, names of the scores.

    held_out: a function that returns (y, p, w) of cross-validated predictions; rng, a Generator; progress; quick:
    whether diagnostics that draw are left out.
    """

    s: np.ndarray
    y: np.ndarray
    w: np.ndarray | None
    recipe: object
    curve: object
    names: list
    held_out: Callable
    rng: np.random.Generator
    progress: bool = False
    quick: bool = False

    def in_order(self):
        """The same rows sorted, so that what is drawn for a row does not depend on the order they came in."""
        order = np.lexsort([self.weights, self.y, *self.s.T])
        w = None if self.w is None else self.w[order]
        return replace(self, s=self.s[order], y=self.y[order], w=w)

    @property
    def n(self):
        """Rows."""
        return len(self.y)

    @property
    def M(self):
        """Scores."""
        return self.s.shape[1]

    @property
    def weights(self):
        """Weights as an array."""
        return np.ones(self.n) if self.w is None else self.w

    @cached_property
    def effective(self):
        """(sum w)^2 / sum w^2."""
        return float(self.n) if self.w is None else float(self.w.sum() ** 2 / (self.w @ self.w))

    @cached_property
    def directions(self):
        """(M,) of +1, -1, 0."""
        return tuple(int(d) for d in self.recipe.directions(self.M))

    @cached_property
    def fitted(self):
        """(n,) probabilities at the rows."""
        return self.curve(self.s)

    @cached_property
    def grid(self):
        """Coefficients with one axis per score, or None."""
        return self.curve.grid() if self.recipe.domain() == "unit" else None

    @property
    def K(self):
        """Degree of each score."""
        return tuple(size - 1 for size in self.grid.shape)

    @property
    def strength(self):
        """The tie-break of the fit."""
        return float(getattr(self.recipe, "tie_break", TIE_BREAK))

    @cached_property
    def path(self):
        """Degrees at multiples of those of the fit, lowest first, as far as they can be fitted quickly."""
        tried = dict.fromkeys(tuple(max(1, round(k * r)) for k in self.K) for r in MULTIPLES)
        small = [K for K in tried if np.prod([k + 1 for k in K]) <= MOST and max(K) <= HIGHEST]
        return small if self.K in small else [*small, self.K]

    @cached_property
    def sums(self):
        """Moments that serve every degree of the path."""
        highest = tuple(max(K[m] for K in self.path) for m in range(self.M))
        return moments(self.s, self.y, self.w, [2 * k for k in highest])

    @cached_property
    def face(self):
        """The least-squares fit of the curve's degrees, made anew from the rows."""
        return face_of(self.sums, self.K, self.directions, self.strength)

    @cached_property
    def is_least_squares(self):
        """Whether the curve is that fit."""
        if self.grid is None:
            return False
        if np.prod(self.grid.shape) > MOST * 5:
            return False
        again = evaluate(self.face.fit.beta.reshape(self.grid.shape), self.s)
        return bool(np.max(np.abs(again - evaluate(self.grid, self.s))) <= SAME)

    @cached_property
    def places(self):
        """(side, places (g, M)) of a grid over the unit cube."""
        return grid_of_places(self.M)

    @cached_property
    def local_rows(self):
        """(g,) effective rows at the places."""
        return self._effective_rows(self.places[1])

    @cached_property
    def local_rows_at_rows(self):
        """(n,) effective rows at the rows themselves."""
        return self._effective_rows(self.s)

    def _effective_rows(self, places):
        K = tuple(min(k, LOCAL.get(self.M, 1)) for k in self.K)
        per_weight = 1.0 if self.w is None else float(self.w.sum() / (self.w @ self.w))
        return effective_rows(gram(self.sums.lower([2 * k for k in K]).T0, K), K, places, per_weight)

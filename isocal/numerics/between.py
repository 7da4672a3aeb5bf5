"""Values at points of the unit cube, non-decreasing along their order, carried to the places between them.

"linear": over the Delaunay triangulation of the points and those corners of the cube that are no points; monotone for
one score, for several not. "envelope": midway between the order bounds; monotone everywhere.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from .orders import cover_pairs, ends_of_levels, largest_below
from .pava import interpolate
from .triangulation import Triangulation, delaunay

TOGETHER = 1 << 16  # places at a time


@dataclass(frozen=True, eq=False)
class Between:
    """points (k, M), distinct and in lexicographic order; filling; simplices (t, M + 1): positions in `nodes`, empty
    where nothing is triangulated.
    """

    points: np.ndarray
    filling: str
    simplices: np.ndarray

    @property
    def monotone(self):
        """Whether what lies between never falls."""
        return self.filling == "envelope" or self.points.shape[1] == 1

    @cached_property
    def pairs(self):
        """(low, high) cover pairs of the points."""
        return cover_pairs(self.points)

    @cached_property
    def nodes(self):
        """(points and absent corners of the cube in lexicographic order, which of them are points)."""
        return with_corners(self.points)

    @cached_property
    def _mesh(self):
        return Triangulation(self.nodes[0], self.simplices)

    def bounds(self, values, s):
        """(lower, upper) (g,) at s (g, M); -inf, inf where nothing is comparable."""
        first, last = ends_of_levels(values, *self.pairs)
        lower = largest_below(self.points[first], values[first], s)
        return lower, -largest_below(-self.points[last], -values[last], -s)

    def at(self, values, s):
        """(g,) at places s (g, M) of the unit cube; each is computed as if it were alone."""
        if self.filling == "envelope":
            return midpoint(*self.bounds(values, s))
        nodes, given = self.nodes
        known = np.empty(len(nodes))
        known[given] = values
        known[~given] = midpoint(*self.bounds(values, nodes[~given]))
        if s.shape[1] == 1:
            return interpolate(nodes[:, 0], known, s[:, 0], "linear")
        out = np.empty(len(s))
        for a in range(0, len(s), TOGETHER):
            corners, weights = self._mesh.locate(s[a : a + TOGETHER])
            out[a : a + TOGETHER] = combined(known[corners], weights)
        return out

    def among(self, values, s):
        """(g,) whether a place lies among the points: in their hull; or above one of them and below another."""
        if self.monotone:
            lower, upper = self.bounds(values, s)
            return (lower > -np.inf) & (upper < np.inf)
        out = np.empty(len(s), dtype=bool)
        for a in range(0, len(s), TOGETHER):
            corners, weights = self._mesh.locate(s[a : a + TOGETHER])
            out[a : a + TOGETHER] = np.where(self.nodes[1][corners], 0.0, weights).max(axis=1) <= 1e-9
        return out


def between(points, filling):
    """The Between of points (k, M), triangulated where need be."""
    M = points.shape[1]
    plain = filling == "envelope" or M == 1
    simplices = np.zeros((0, M + 1), dtype=np.intp) if plain else delaunay(with_corners(points)[0])
    return Between(points, filling, simplices)


def midpoint(lower, upper):
    """Midway between order bounds, 0 and 1 where there are none; never falls where neither bound falls."""
    return (np.maximum(lower, 0.0) + np.minimum(upper, 1.0)) / 2


def combined(values, weights):
    """(g,) weighted mean of values (g, k), within their range; multiply-adds in fixed order."""
    out = values[:, 0] * weights[:, 0]
    for value, weight in zip(values.T[1:], weights.T[1:], strict=True):
        out += value * weight
    return np.clip(out, values.min(axis=1), values.max(axis=1))


def with_corners(points):
    """(points and those of the 2^M corners of the unit cube that are no points, in order; which are points)."""
    corners = np.array(list(product((0.0, 1.0), repeat=points.shape[1])))
    nodes, at = np.unique(np.r_[points, corners], axis=0, return_inverse=True)
    given = np.zeros(len(nodes), dtype=bool)
    given[at.ravel()[: len(points)]] = True
    return nodes, given

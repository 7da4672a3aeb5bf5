"""Linear interpolation of scattered values over a Delaunay triangulation, located so that every row stands alone.

scipy's own search starts where the last one ended, so a row on an edge may be answered by another simplex, or in a
different last bit, than the same row asked alone. Here the walk of a row starts at its nearest node and uses nothing
but the row and the triangulation. The simplices are given, not made anew, so that a stored fit predicts bit for bit.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

INSIDE = -1e-12  # smallest barycentric coordinate of a row that a simplex answers for
FLAT = 1e-12  # shortest relative height of a simplex that is used
CELLS = 1 << 20  # of rows times simplices looked at together


@dataclass(frozen=True, eq=False)
class Triangulation:
    """nodes (v, M), M >= 2; simplices (t, M + 1) positions of nodes."""

    nodes: np.ndarray
    simplices: np.ndarray

    @cached_property
    def _edges(self):
        """(last corner (t, M), inverse edge matrices (t, M, M), whether flat (t,))."""
        corners = self.nodes[self.simplices]
        last = corners[:, -1]
        edges = np.swapaxes(corners[:, :-1] - last[:, None], 1, 2)
        length = np.max(np.abs(edges), axis=1)  # (t, M)
        unit = edges / np.where(length > 0, length, 1.0)[:, None]
        u, size, vt = np.linalg.svd(unit)
        flat = size[:, -1] <= FLAT
        size[flat] = 1.0
        inverse = np.swapaxes(vt, 1, 2) / size[:, None] @ np.swapaxes(u, 1, 2)
        return last, inverse / np.where(length > 0, length, 1.0)[:, :, None], flat

    @cached_property
    def _neighbours(self):
        """(t, M + 1) the simplex across the facet that lacks each corner, -1 at the border."""
        t, corners = self.simplices.shape
        facets = np.concatenate([np.sort(np.delete(self.simplices, m, axis=1), axis=1) for m in range(corners)])
        order = np.lexsort(facets.T)
        same = np.flatnonzero(np.all(facets[order[1:]] == facets[order[:-1]], axis=1))
        a, b = order[same], order[same + 1]
        out = np.full(corners * t, -1)
        out[a], out[b] = b % t, a % t
        return out.reshape(corners, t).T

    @cached_property
    def _starts(self):
        """(tree of the nodes that are corners, those nodes, a simplex at each, which corner of it each is)."""
        from scipy.spatial import cKDTree

        used, first = np.unique(self.simplices, return_index=True)
        return cKDTree(self.nodes[used]), used, *np.divmod(first, self.simplices.shape[1])

    def _coordinates(self, simplex, s):
        """(g, M + 1) barycentric coordinates of rows s (g, M); multiply-adds in fixed order, row by row."""
        last, inverse, _ = self._edges
        M, off, rows = s.shape[1], s - last[simplex], inverse[simplex]
        out = np.empty((len(s), M + 1))
        out[:, M] = 1.0
        for m in range(M):
            out[:, m] = rows[:, m, 0] * off[:, 0]
            for j in range(1, M):
                out[:, m] += rows[:, m, j] * off[:, j]
            out[:, M] -= out[:, m]
        return out

    def locate(self, s):
        """(corners (g, M + 1), weights (g, M + 1)) of the simplex that holds each of s (g, M); weights >= 0, sum 1.

        A row that is a node has that node alone.
        """
        tree, used, simplex, corner = self._starts
        near = tree.query(s)[1]
        at, weights = simplex[near], np.zeros((len(s), s.shape[1] + 1))
        nodes = np.all(self.nodes[used[near]] == s, axis=1)
        weights[nodes, corner[near[nodes]]] = 1.0
        lost = self._walk(s, np.flatnonzero(~nodes), at, weights)
        for a in range(0, len(lost), max(1, CELLS // len(self.simplices))):
            some = lost[a : a + max(1, CELLS // len(self.simplices))]
            at[some], weights[some] = self._search(s[some])
        weights = np.maximum(weights, 0.0)
        total = weights[:, 0].copy()
        for column in weights.T[1:]:
            total += column
        return self.simplices[at], weights / total[:, None]

    def _walk(self, s, rows, at, weights):
        """Carry rows from simplex to simplex through the facet they lie farthest beyond; fills in at and weights.

        Returns the rows that met a flat simplex, the border, or no end.
        """
        flat, lost = self._edges[2], []
        for _ in range(64 + int(8 * len(self.simplices) ** (1 / s.shape[1]))):
            stuck = flat[at[rows]]
            lost.append(rows[stuck])
            rows = rows[~stuck]
            found = self._coordinates(at[rows], s[rows])
            weights[rows] = found
            worst = np.argmin(found, axis=1)
            outside = found[np.arange(len(found)), worst] < INSIDE
            rows, beyond = rows[outside], self._neighbours[at[rows[outside]], worst[outside]]
            lost.append(rows[beyond < 0])
            rows, beyond = rows[beyond >= 0], beyond[beyond >= 0]
            at[rows] = beyond
            if not len(rows):
                break
        return np.concatenate([*lost, rows])

    def _search(self, s):
        """(simplex, coordinates) of the most inward of all simplices, for rows that the walk lost."""
        last, inverse, flat = self._edges
        solid = np.flatnonzero(~flat)
        last, inverse = last[solid], inverse[solid]
        off = [s[:, j, None] - last[None, :, j] for j in range(s.shape[1])]
        found, rest = [], 1.0
        for m in range(s.shape[1]):
            mine = inverse[None, :, m, 0] * off[0]
            for j in range(1, s.shape[1]):
                mine += inverse[None, :, m, j] * off[j]
            found.append(mine)
            rest = rest - mine
        found.append(rest)
        best, rows = np.argmax(np.minimum.reduce(found), axis=1), np.arange(len(s))
        return solid[best], np.stack([part[rows, best] for part in found], axis=1)


def delaunay(nodes):
    """Simplices (t, M + 1) of nodes (v, M) by Qhull; ValueError where it finds none."""
    from scipy.spatial import Delaunay, QhullError

    try:
        return Delaunay(nodes).simplices.astype(np.intp)
    except QhullError as error:
        reason = str(error).split("\n")[0]
        raise ValueError(f"the points cannot be triangulated ({reason}): use predict='envelope'") from None

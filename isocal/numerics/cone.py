"""The cone of coefficient grids that make a Bernstein polynomial monotone (Wang & Liu 2020, eq. 10-12).

Along an axis of direction +1 (-1) each coefficient is at most (at least) the next one; a free axis (0) has no such
rows. Bounds hold at every minimal (>= 0) and every maximal (<= 1) node of the remaining order: with the two corners
alone a free axis lets the polynomial leave [0, 1].
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np


@dataclass(frozen=True, eq=False)
class Cone:
    """Constraints on p coefficients: beta[low] <= beta[high] row by row, beta[bottom] >= 0, beta[top] <= 1.

    low, high (e,), bottom (b,), top (t,): indices into the flattened grid of the given shape.
    """

    shape: tuple
    directions: tuple
    low: np.ndarray
    high: np.ndarray
    bottom: np.ndarray
    top: np.ndarray

    @cached_property
    def p(self):
        """Number of coefficients."""
        return int(np.prod(self.shape))

    @cached_property
    def ends(self):
        """(e + b + t, 2) graph edges: every row ties its two ends when active; p and p + 1 are the constants 0, 1."""
        zero, one = np.full(len(self.bottom), self.p), np.full(len(self.top), self.p + 1)
        return np.concatenate(
            [np.c_[self.low, self.high], np.c_[zero, self.bottom], np.c_[self.top, one]]
        )  # each row says: first end <= second end

    @cached_property
    def reversed(self):
        """The cone of 1 - beta."""
        return Cone(self.shape, tuple(-d for d in self.directions), self.high, self.low, self.top, self.bottom)

    @cached_property
    def signed(self):
        """(rows, columns, values, number of rows) of the sparse A in A beta <= (0, .., 0, upper, .., upper)."""
        first, second = self.ends.T
        row = np.arange(len(self.ends))
        rows, columns = np.r_[row, row], np.r_[first, second]
        values = np.r_[np.ones(len(row)), -np.ones(len(row))]
        inside = columns < self.p
        return rows[inside], columns[inside], values[inside], len(row)

    def slack(self, x, upper):
        """How far each row is from being active, (rows,); negative where it is violated."""
        full = np.r_[x, 0.0, upper]
        return full[self.ends[:, 1]] - full[self.ends[:, 0]]

    def transpose(self, multipliers):
        """A' multipliers, (p,)."""
        out = np.zeros(self.p + 2)
        out += np.bincount(self.ends[:, 0], multipliers, minlength=self.p + 2)
        out -= np.bincount(self.ends[:, 1], multipliers, minlength=self.p + 2)
        return out[: self.p]

    def restore(self, beta):
        """The running maximum along every directed axis, clipped to [0, 1]: removes round-off from the order."""
        return np.clip(running_maximum(np.reshape(beta, self.shape), self.directions), 0.0, 1.0)


def running_maximum(grid, directions):
    """Cumulative maximum along every axis in its direction; free axes are left alone."""
    for axis, d in enumerate(directions):
        if d > 0:
            grid = np.maximum.accumulate(grid, axis=axis)
        elif d < 0:
            grid = np.flip(np.maximum.accumulate(np.flip(grid, axis), axis=axis), axis)
    return grid


def smallest_steps(grid, directions):
    """Per axis the smallest coefficient step in the promised direction (>= 0 certifies it); None if free."""
    return [None if d == 0 else float(np.min(d * np.diff(grid, axis=m)) + 0.0) for m, d in enumerate(directions)]


@lru_cache(maxsize=64)
def cone(shape, directions):
    """The cone of a coefficient grid: shape (K_1 + 1, ...), directions of +1, -1 and 0."""
    nodes = np.arange(np.prod(shape)).reshape(shape)
    low, high, bottom, top = [], [], nodes, nodes
    for axis, d in enumerate(directions):
        if d == 0:
            continue
        first = np.take(nodes, range(shape[axis] - 1), axis=axis).ravel()
        second = np.take(nodes, range(1, shape[axis]), axis=axis).ravel()
        low.append(first if d > 0 else second)
        high.append(second if d > 0 else first)
        ends = ([0], [shape[axis] - 1])
        bottom, top = (np.take(part, e, axis=axis) for part, e in zip((bottom, top), ends[::d], strict=True))
    none = [np.zeros(0, dtype=np.intp)]
    return Cone(
        tuple(shape), tuple(directions),
        np.concatenate(low or none), np.concatenate(high or none), bottom.ravel(), top.ravel(),
    )  # fmt: skip


def node_volumes(shape):
    """Share of the unit cube that lies nearest to each node, an array of the given shape that sums to one."""
    volumes = np.ones(())
    for size in shape:
        side = np.full(size, 1.0 / (size - 1))
        side[[0, -1]] /= 2
        volumes = np.multiply.outer(volumes, side)
    return volumes

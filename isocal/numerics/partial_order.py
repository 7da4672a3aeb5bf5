"""Bounds carried along a partial order: what monotonicity makes of limits that hold place by place."""

import numpy as np

MOST_CELLS = 4_000_000  # of the product grid of distinct values on which bounds are accumulated axis by axis


def hull(places, low, high, directions):
    """(low, high): running maximum of low and minimum of high over comparable places (g, M).

    directions of +1 and 0; along a free axis only places with the same value are comparable. Where both edges hold at
    all places at once and the truth is monotone, coverage is kept exactly.
    """
    return running_best(places, low, directions), -running_best(-places, -high, directions)


def running_best(places, value, directions):
    """For every place the largest value over the places that are at most it on each directed axis, (g,)."""
    distinct, at = [], []
    for column in places.T:
        found, where = np.unique(column, return_inverse=True)
        distinct.append(len(found))
        at.append(where)
    if np.prod([float(k) for k in distinct]) <= MOST_CELLS:
        return _on_grid(tuple(at), value, distinct, directions)
    if len(distinct) == 2 and all(directions):
        return _by_halves(at, value)
    return _by_pairs(np.stack(at, axis=1), value, np.array(directions) != 0)


def _on_grid(at, value, sizes, directions):
    grid = np.full(sizes, -np.inf)
    np.maximum.at(grid, at, value)
    for axis, d in enumerate(directions):
        if d:
            np.maximum.accumulate(grid, axis=axis, out=grid)
    return grid[at]


def _by_halves(at, value):
    """Two axes: sorted by the first, each right half of 2, 4, 8, ... places learns from its left half."""
    x, y = at
    order = np.lexsort((y, x))
    levels, rank = np.unique(value, return_inverse=True)
    y, best = y[order], rank[order]
    first = np.r_[True, (np.diff(x[order]) != 0) | (np.diff(y) != 0)]  # equal places share their best
    group = np.cumsum(first) - 1
    shared = np.full(group[-1] + 1, -1)
    np.maximum.at(shared, group, best)
    y, own, g = y[first], shared.copy(), len(shared)
    place, size = np.arange(g), 1
    while size < g:
        block, right = place // (2 * size), (place // size) % 2 == 1
        turn = np.lexsort((right, y, block))
        offset = block[turn] * (len(levels) + 1)
        left_best = np.maximum.accumulate(np.where(right, -1, own)[turn] + 1 + offset) - 1 - offset
        np.maximum.at(shared, turn, np.where(right[turn], left_best, -1))
        size *= 2
    out = np.empty(len(value))
    out[order] = levels[shared[group]]
    return out


def _by_pairs(at, value, directed):
    out = np.empty(len(value))
    for a in range(0, len(at), 256):
        part = at[a : a + 256]
        under = np.ones((len(part), len(at)), dtype=bool)
        for column, mine, d in zip(at.T, part.T, directed, strict=True):
            under &= column <= mine[:, None] if d else column == mine[:, None]
        out[a : a + 256] = np.where(under, value, -np.inf).max(axis=1)
    return out


def near_rows(s, places, half):
    """Rows s (n, M) in the cube of half-width half around each place, (g,)."""
    if s.shape[1] == 1:
        x = np.sort(s[:, 0])
        return np.searchsorted(x, places[:, 0] + half, "right") - np.searchsorted(x, places[:, 0] - half, "left")
    from scipy.spatial import cKDTree

    return cKDTree(s).query_ball_point(places, half, p=np.inf, return_length=True)

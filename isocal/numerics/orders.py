"""The weak product order of points in R^M: a <= b where every coordinate of a is at most that of b.

Points are distinct and in lexicographic order, which is a linear extension: whatever lies below a point comes before.
"""

import numpy as np

TOGETHER = 64  # points that the sweep compares with all before them at a time
CELLS = 1 << 22  # of a matrix of comparisons made at a time


def collapse(s, y, w=None):
    """(points (k, M), weight (k,), mean (k,)): distinct rows of s (n, M) in order, their weight and mean label.

    Rows are sorted before they are added up, so that the sums do not depend on the order in which they came.
    """
    s, w = s + 0.0, np.ones(len(y)) if w is None else w  # + 0.0: -0 and 0 are one value
    order = np.lexsort([w, y, *s.T[::-1]])
    s, y, w = s[order], y[order], w[order]
    first = np.flatnonzero(np.r_[True, np.any(s[1:] != s[:-1], axis=1)])
    events, others = np.add.reduceat(w * y, first), np.add.reduceat(w * (1 - y), first)
    return s[first], events + others, events / (events + others)


def cover_pairs(points):
    """(low, high): the Hasse diagram. points[low] < points[high], and no other point lies between."""
    n, M = points.shape
    if M == 1:
        return np.arange(n - 1), np.arange(1, n)
    return sweep(points) if M == 2 else bitsets(points)


def sweep(points):
    """Cover pairs for M = 2 in O(n^2) time and O(n) memory.

    Backwards from a point, those not above it in the second coordinate lie below it; one is covered where it exceeds
    all that were met before it.
    """
    n = len(points)
    rank = np.unique(points[:, 1], return_inverse=True)[1].ravel().astype(np.int32) + 1
    low, high = [], []
    for a in range(1, n, TOGETHER):
        mine = np.arange(a, min(a + TOGETHER, n))
        before = np.arange(mine[-1] - 1, -1, -1)
        below = (rank[before] <= rank[mine, None]) & (before < mine[:, None])
        best = np.maximum.accumulate(np.where(below, rank[before], 0), axis=1)
        row, column = np.nonzero(np.diff(best, axis=1, prepend=np.int32(0)))
        low.append(before[column])
        high.append(mine[row])
    none = [np.zeros(0, dtype=np.intp)]
    return np.concatenate(low or none), np.concatenate(high or none)


def bitsets(points):
    """Cover pairs for any M: sets of points as the bits of an integer, n^2/8 bytes in all.

    The last point below another is covered by it; so is the last of those that are not below a covered one, and so on.
    """
    low, high, closed = [], [], []
    for j, point in enumerate(points):
        below = np.all(points[:j] <= point, axis=1)
        rest = int.from_bytes(np.packbits(below, bitorder="little").tobytes(), "little")
        closed.append(rest | 1 << j)
        while rest:
            i = rest.bit_length() - 1
            low.append(i)
            high.append(j)
            rest ^= rest & closed[i]
    return np.array(low, dtype=np.intp), np.array(high, dtype=np.intp)


def running_maximum(values, low, high):
    """values (n,) made non-decreasing along the cover pairs: the largest at or below each point."""
    if not np.any(values[low] > values[high]):
        return values
    out = values.copy()
    for i in np.lexsort((low, high)):  # low comes before high, so out[low] is settled
        out[high[i]] = max(out[high[i]], out[low[i]])
    return out


def ends_of_levels(values, low, high):
    """(first, last): whether no point below, and whether no point above, has the same value, (n,) each.

    They alone decide the bounds of `bounds_at`.
    """
    same = values[low] == values[high]
    first, last = np.ones(len(values), dtype=bool), np.ones(len(values), dtype=bool)
    first[high[same]], last[low[same]] = False, False
    return first, last


def largest_below(points, values, s):
    """(g,) the largest value among points (k, M) at or below each of s (g, M); -inf where there is none."""
    order = np.argsort(-values, kind="stable")
    columns, ranked = points[order].T.copy(), np.r_[values[order], -np.inf]
    out, rows = np.empty(len(s)), max(1, CELLS // (len(points) + 1))
    for a in range(0, len(s), rows):
        part = s[a : a + rows]
        below = np.zeros((len(part), len(points) + 1), dtype=bool)
        below[:, -1] = True  # the sentinel
        inner = below[:, :-1]
        inner[:] = True
        for column, mine in zip(columns, part.T, strict=True):
            inner &= column <= mine[:, None]
        out[a : a + rows] = ranked[np.argmax(below, axis=1)]
    return out

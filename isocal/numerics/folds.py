"""One definition of cross-validation folds, for data in memory and in streams; nothing is drawn at random.

The j-th occurrence of a distinct row goes to fold (splitmix64(row) + j) mod folds, so the order, repetition and
chunking of rows cannot matter and tied rows spread evenly. splitmix64: Steele, Lea & Flood (2014),
doi:10.1145/2660193.2660195.
"""

from dataclasses import dataclass

import numpy as np

FOLDS = 5
CHUNK = 8192  # rows that are hashed together: they stay in the first-level cache


def row_hash(y, s):
    """splitmix64 over label and score bits of each row; y (n,), s (n, M) -> (n,) uint64."""
    h = np.zeros(len(y), dtype=np.uint64)
    for a in range(0, len(y), CHUNK):
        part = h[a : a + CHUNK]
        for column in [y, *s.T]:
            bits = (np.asarray(column[a : a + CHUNK], dtype=np.float64) + 0.0).view(np.uint64)  # -0 and 0 are one value
            part ^= bits
            part[:] = _splitmix64(part)
    return h


def _splitmix64(x):
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


@dataclass(frozen=True, eq=False)
class Deal:
    """Where the occurrences of rows go: the first to fold start (n,), the next ones to the folds after it in turn.

    counts (n,) of occurrences, None where each row is one; w (n,): weights of an occurrence, None where one.
    """

    start: np.ndarray
    counts: np.ndarray | None
    w: np.ndarray | None
    folds: int

    def weights(self):
        """(n, folds) weight of each row in each test part."""
        W = _spread(self.start, self.counts, self.folds)
        return W if self.w is None else W * self.w[:, None]


def deal(y, s, w=None, folds=FOLDS):
    """The Deal of rows with labels y (n,) in {0, 1}, scores s (n, M), weights w (n,) or None.

    Integer weights count as that many occurrences, so a heavy row is spread over folds; otherwise a row is one
    occurrence. Where a training part would lack a class that the data has, rows in the order (label, scores) are
    dealt round robin instead.
    """
    whole = w is None or bool(np.all(w == np.floor(w)))
    counts = None if w is None or not whole or np.all(w == 1) else w
    h = row_hash(y, s)
    start = ((h % np.uint64(folds)).astype(np.int64) + _occurrences_before(h, counts)) % folds
    if _lacks_a_class(y, start, counts, folds):
        order = np.lexsort([*s.T[::-1], y])
        each = np.ones(len(y)) if counts is None else counts[order]
        start[order] = (np.cumsum(each) - each).astype(np.int64) % folds
    return Deal(start, counts, None if whole else w, folds)


def fold_weights(y, s, w=None, folds=FOLDS):
    """(n, folds) weight of each row in each test part, as `deal` says; rows sum to w (ones if None)."""
    return deal(y, s, w, folds).weights()


def _occurrences_before(h, counts):
    """How many occurrences of the same row stand before each row."""
    in_order = np.sort(h)
    if not np.any(in_order[1:] == in_order[:-1]):  # all distinct, the usual case: no need to know the order
        return 0
    order = np.argsort(h, kind="stable")
    in_order, counted = h[order], np.ones(len(h)) if counts is None else counts[order]
    before = np.cumsum(counted) - counted
    first = np.r_[True, in_order[1:] != in_order[:-1]]
    out = np.empty(len(h), dtype=np.int64)
    out[order] = before - before[first][np.cumsum(first) - 1]
    return out


def _spread(start, counts, folds):
    """Occurrences start, start + 1, ... of each row dealt to the folds in turn."""
    if counts is None:
        W = np.zeros((len(start), folds))
        W[np.arange(len(start)), start] = 1.0
        return W
    each, rest = np.divmod(counts, folds)
    turn = (np.arange(folds)[None, :] - start[:, None]) % folds
    return each[:, None] + (turn < rest[:, None])


def _lacks_a_class(y, start, counts, folds):
    if counts is None:
        of_all, events = (np.bincount(start, weights, minlength=folds) for weights in (None, y))
        rest = of_all - events
    else:
        W = _spread(start, counts, folds)
        events, rest = y @ W, (1 - y) @ W
    return any(np.any(part.sum() - part <= 0) and part.sum() > 0 for part in (events, rest))

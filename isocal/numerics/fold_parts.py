"""The rows of a fit and of its folds as parts: moments for least squares, rows for the likelihood, anchors for both."""

from dataclasses import dataclass

import numpy as np

from .folds import deal
from .moments import Moments, moment_matrix, moments, sums_of
from .sieve import Part


@dataclass(frozen=True, eq=False)
class Folds:
    """whole: all rows; train, test: parts to fit and moments to judge the fit by, of each fold that has both."""

    whole: Part
    train: list
    test: list

    @property
    def weight(self):
        """Weight of the test rows."""
        return sum(test.weight for test in self.test)


def whole_part(s, y, w, degrees, anchor=None, keep_rows=False):
    """The Part of all rows; anchor: an Anchor, None where nothing is shrunk; keep_rows: the likelihood needs them."""
    p0 = None if anchor is None else anchor.at(y, w)
    return _part(moments(s, y, w, degrees), s, y, w, p0, keep_rows)


def fold_parts(s, y, w, raw, degrees, anchor=None, keep_rows=False):
    """Folds of rows s (n, M), y (n,), w (n,) or None, dealt by label and raw scores; anchors see train rows alone."""
    dealt = deal(y, raw, w)
    tests = fold_moments(s, y, w, dealt, degrees)
    W = None if anchor is None and not keep_rows else dealt.weights()
    total = sum(tests[1:], tests[0])
    train, kept = [], []
    for f, test in enumerate(tests):
        if test.n == 0 or total.n == test.n:
            continue
        kept.append(test)
        if anchor is None and not keep_rows:
            train.append(Part(total - test))
            continue
        weights = (1.0 if w is None else w) - W[:, f]
        keep = weights > 0
        p0 = None if anchor is None else anchor.at(y, weights, keep)
        train.append(_part(total - test, s[keep], y[keep], weights[keep], p0, keep_rows))
    p0 = None if anchor is None else anchor.at(y, w)
    return Folds(_part(total, s, y, w, p0, keep_rows), train, kept)


def many_parts(s, Y, W, degrees, anchors, keep_rows=False):
    """A Part for each of r problems on the same scores: Y (n, 1 or r), W (n, 1 or r), their anchors or Nones."""
    T0, T1 = moment_matrix(s, W, degrees), moment_matrix(s, W * Y, degrees)
    weight, events = W.sum(axis=0), (W * Y).sum(axis=0)
    for j, anchor in enumerate(anchors):
        y, w, a = Y[:, j % Y.shape[1]], W[:, j % W.shape[1]], j % len(T0)
        sums = Moments(T0[a], T1[j % len(T1)], len(s), weight[a], events[j % len(T1)])
        keep = slice(None) if not keep_rows or np.all(w > 0) else w > 0
        p0 = None if anchor is None else anchor.at(y, w)
        pull = None if anchor is None else moments(s, p0, w, degrees)
        yield Part(sums, pull, (s[keep], y[keep], w[keep], None if p0 is None else p0[keep]) if keep_rows else None)


def fold_moments(s, y, w, dealt, degrees):
    """Moments of each test part of a Deal, one pass over the rows."""
    if dealt.counts is not None or not np.all((y == 0) | (y == 1)):
        W = dealt.weights()
        parts = [np.flatnonzero(W[:, f] > 0) for f in range(dealt.folds)]
        return [moments(s[rows], y[rows], W[rows, f], degrees) for f, rows in enumerate(parts)]
    group = (2 * dealt.start + y).astype(np.int8)  # a fold's rows without an event, then those with one
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=2 * dealt.folds))[:-1]
    parts, out = np.split(order, ends), []
    for rest, events in zip(parts[::2], parts[1::2], strict=True):
        T0, T1 = (sums_of(s, w, rows, degrees) for rows in (rest, events))
        below, above = (float(len(rows) if w is None else w[rows].sum()) for rows in (rest, events))
        out.append(Moments(T0 + T1, T1, len(rest) + len(events), below + above, above))
    return out


def _part(sums, s, y, w, p0, keep_rows):
    pull = None if p0 is None else moments(s, p0, w, sums.degrees)
    return Part(sums, pull, (s, y, w, p0) if keep_rows else None)

"""Blocks of tied scores, and partitions of them into bins. A block is never split, so row order cannot matter."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Blocks:
    """Distinct scores x (k,) in order; weight of events and of others in each (k,).

    Events and others are cumulated apart: a bin without events, or with events alone, is exactly that, also where
    weights are fractions.
    """

    x: np.ndarray
    events: np.ndarray
    others: np.ndarray

    @property
    def weight(self):
        """Weight of each block (k,)."""
        return self.events + self.others

    @cached_property
    def events_to(self):
        """Cumulated weight of events (k + 1,), from 0 to the total."""
        return _cumulated(self.events)

    @cached_property
    def others_to(self):
        """Cumulated weight of the others (k + 1,)."""
        return _cumulated(self.others)

    @cached_property
    def weight_to(self):
        """Cumulated weight (k + 1,)."""
        return self.events_to + self.others_to

    @cached_property
    def one_each(self):
        """Whether every block is one row of weight one."""
        return bool(np.all(self.weight == 1.0))


def _cumulated(v):
    out = np.zeros(len(v) + 1)
    np.cumsum(v, out=out[1:])
    return out


def tied_blocks(x, y, w=None):
    """Blocks of scores x (n,), labels y (n,) in {0, 1}, weights w (n,) or None for ones."""
    x = x + 0.0  # -0 and 0 are one value
    if w is None:  # two plain sorts are several times faster than one argsort
        in_order = np.sort(x)
        last = _run_ends(in_order)
        distinct = in_order[last]
        count = np.diff(last, prepend=-1).astype(np.float64)
        events = _counts_at(np.sort(x[y == 1]), distinct)
        return Blocks(distinct, events, count - events)
    whole = bool(np.all(w == np.floor(w)))  # sums of fractions depend on the order within ties, so fix it
    order = np.argsort(x, kind="stable") if whole else np.lexsort((w, y, x))
    in_order, label, weight = x[order], y[order], w[order]
    last = _run_ends(in_order)
    first = np.zeros(len(last), dtype=np.intp)
    first[1:] = last[:-1] + 1
    events = np.add.reduceat(np.where(label == 1, weight, 0.0), first)
    others = np.add.reduceat(np.where(label == 1, 0.0, weight), first)
    return Blocks(in_order[last], events, others)


def _run_ends(in_order):
    """Position of the last of each run of equal values."""
    end = np.ones(len(in_order), dtype=bool)
    np.not_equal(in_order[1:], in_order[:-1], out=end[:-1])
    return np.flatnonzero(end)


def _counts_at(in_order, distinct):
    """How many of the sorted values equal each of the distinct ones, which hold them all."""
    out = np.zeros(len(distinct))
    if len(in_order):
        last = _run_ends(in_order)
        out[np.searchsorted(distinct, in_order[last])] = np.diff(last, prepend=-1)
    return out


def equal_weight_cuts(blocks, low, high):
    """(cuts, sizes): inner cuts of about equally heavy bins, for low to high bins one after the other.

    cuts are positions in the cumulated block weight, sizes (high - low + 1,) how many each number of bins left. The
    target floor(i n / bins + 1/2) inside a block moves to the block's nearer end (the lower one if both are equally
    near); cuts that coincide with each other or with the ends are dropped.
    """
    bins = np.arange(low, high + 1)
    of = np.repeat(np.arange(len(bins)), bins - 1)
    i = np.arange(len(of)) - (np.cumsum(bins - 1) - (bins - 1))[of] + 1
    target = np.floor(i * blocks.weight_to[-1] / bins[of] + 0.5)
    cuts = target.astype(np.intp) if blocks.one_each else _nearer_end(blocks.weight_to, target)
    good = (cuts > 0) & (cuts < len(blocks.x))
    good[1:] &= (cuts[1:] != cuts[:-1]) | (of[1:] != of[:-1])
    return cuts[good], np.bincount(of[good], minlength=len(bins))


def _nearer_end(cumulated, target):
    """Position of the cumulated weight nearest to each target, the lower one if two are equally near."""
    above = np.minimum(np.searchsorted(cumulated, target, side="left"), len(cumulated) - 1)
    below = np.maximum(above - 1, 0)
    up = cumulated[above] - target < target - cumulated[below]
    return np.where(up | (cumulated[above] == target), above, below)


def borders_at(x, cuts):
    """Inner borders between blocks: midpoints, or the right score where the rounded midpoint is not above the left."""
    left, right = x[cuts - 1], x[cuts]
    middle = left / 2 + right / 2  # halves first: the sum may overflow
    return np.where(middle > left, np.minimum(middle, right), right)


def step_values(borders, values, x):
    """The value of the step that holds each x; a score on a border belongs to the right. NaN stays NaN."""
    out = values[np.searchsorted(borders, x, side="right")]
    return np.where(np.isnan(x), np.nan, out)

"""Sums of weight, events and probability in bins of a forecast."""

from dataclasses import dataclass

import numpy as np

from .binning import Blocks, borders_at, equal_weight_cuts
from .forecast import DIGITS, blocks_of


@dataclass(frozen=True)
class BinSums:
    """Borders (b + 1,) from 0 to 1; weight, events and sum of probability of each bin, all (b,)."""

    borders: np.ndarray
    weight: np.ndarray
    events: np.ndarray
    forecast: np.ndarray

    def filled(self):
        """The same without bins of zero weight; their borders no longer meet."""
        keep = self.weight > 0
        return BinSums(self.borders, self.weight[keep], self.events[keep], self.forecast[keep])

    def observed(self):
        """Event frequency of each bin; NaN where it is empty."""
        return _ratio(self.events, self.weight)

    def predicted(self):
        """Mean probability of each bin; NaN where it is empty."""
        return _ratio(self.forecast, self.weight)


def _ratio(a, b):
    return np.divide(a, b, out=np.full(len(a), np.nan), where=b > 0)


def width_position(p, bins):
    """The bin of each p among [0, 1/b), [1/b, 2/b), ..., [(b-1)/b, 1]; p and borders are seen to 12 decimals."""
    p = np.round(p, DIGITS)
    at = np.minimum((p * bins).astype(np.intp), bins - 1)
    borders = width_borders(bins)
    at -= p < borders[at]  # the product may round across a border
    at += p >= borders[at + 1]
    return np.minimum(at, bins - 1)


def width_borders(bins):
    """Borders 0, 1/b, ..., 1 to 12 decimals."""
    return np.round(np.arange(bins + 1) / bins, DIGITS)


def width_sums(y, p, w, bins):
    """BinSums of bins of equal width; w (n,) or None for ones."""
    at = width_position(p, bins)
    weight = np.bincount(at, w, minlength=bins).astype(float)
    events = np.bincount(at, y if w is None else w * y, minlength=bins)
    forecast = np.bincount(at, p if w is None else w * p, minlength=bins)
    return BinSums(width_borders(bins), weight, events, forecast)


def mass_sums(y, p, w, bins):
    """BinSums of bins of about equal weight whose borders lie between distinct probabilities; w (n,) or None."""
    blocks = blocks_of(y, p, w)
    cuts = equal_weight_cuts(_in_small_units(blocks), bins, bins)[0]
    starts = np.r_[0, cuts]
    sums = [np.add.reduceat(a, starts) for a in (blocks.weight, blocks.events, blocks.weight * blocks.x)]
    return BinSums(np.r_[0.0, borders_at(blocks.x, cuts), 1.0], *sums)


def _in_small_units(blocks):
    """Blocks whose broken weights are counted in so small units that rounding targets to whole ones is no matter."""
    if np.all(blocks.weight == np.floor(blocks.weight)):
        return blocks
    unit = blocks.weight.sum() / 2.0**40
    return Blocks(blocks.x, blocks.events / unit, blocks.others / unit)


STRATEGIES = {"width": width_sums, "mass": mass_sums}

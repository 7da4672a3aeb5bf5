"""The isotonic reliability curve through blocks of equal probabilities, and mean scores of forecasts by block."""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from .pava import isotonic_means, level_ends


@dataclass(frozen=True)
class ReliabilityCurve:
    """CORP reliability curve: the conditional event probability (CEP) by isotonic regression at each distinct p.

    Attributes
    ----------
    x : ndarray, shape (k,)
        Distinct probabilities, to 12 decimals, in order.
    cep : ndarray, shape (k,)
        Non-decreasing, in [0, 1].
    weight, events : ndarray, shape (k,)
        Weight and weighted events at each x.
    """

    x: np.ndarray
    cep: np.ndarray
    weight: np.ndarray
    events: np.ndarray

    def bins(self):
        """Positions of the first and last x of each level of the curve, both (b,)."""
        first = level_ends(self.cep, both=False)
        return first, np.r_[first[1:], len(self.x)] - 1

    def __call__(self, p):
        """The curve at p (n,), linear between distinct probabilities and constant outside; NaN stays NaN."""
        return np.interp(np.asarray(p, dtype=np.float64), self.x, self.cep)


def reliability_curve_of(blocks):
    """ReliabilityCurve of tied blocks."""
    weight = blocks.weight
    return ReliabilityCurve(blocks.x, isotonic_means(blocks.events / weight, weight), weight, blocks.events)


def brier_of(events, weight, p):
    """Mean Brier score of probabilities p that are constant in cells with the given events and weight."""
    return float(np.sum(events * (1 - p) ** 2 + (weight - events) * p**2) / np.sum(weight))


def log_of(events, weight, p):
    """Mean logarithmic score, as `brier_of`; infinite where an event had probability 0."""
    return float(-np.sum(xlogy(events, p) + xlogy(weight - events, 1 - p)) / np.sum(weight))

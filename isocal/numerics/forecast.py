"""Checked forecasts (y, p, w), and the form in which metrics see them: blocks of equal probabilities."""

import numpy as np

from .binning import tied_blocks

DIGITS = 12  # probabilities that agree to so many decimals are equal, so round-off never becomes an order


def check_forecast(y, p, w=None):
    """(y, p, w) as float64 arrays of equal length, w ones where None, rows of zero weight left out; else ValueError."""
    y, p = np.asarray(y, dtype=np.float64), np.asarray(p, dtype=np.float64)
    given = w is not None
    w = np.asarray(w, dtype=np.float64) if given else np.ones(len(y) if y.ndim else 0)
    if y.ndim != 1 or y.shape != p.shape or w.shape != y.shape:
        raise ValueError(f"y, p and w must be one-dimensional and equally long; got {y.shape}, {p.shape}, {w.shape}")
    if given and not (np.all(w >= 0) and np.all(np.isfinite(w))):
        raise ValueError("w must hold finite weights >= 0, without NaN")
    if len(y) == 0 or not w.sum() > 0:
        raise ValueError("there are no rows of positive weight")
    _check_labels(y, p)
    if not (p.min() >= 0 and p.max() <= 1):
        wrong = "NaN" if np.isnan(p).any() else f"values from {p.min():g} to {p.max():g}"
        raise ValueError(f"p must lie in [0, 1] and not be NaN; got {wrong}")
    if given and not w.min() > 0:
        keep = w > 0
        y, p, w = y[keep], p[keep], w[keep]
    return y, p, w


def _check_labels(y, p):
    if np.all((y == 0) | (y == 1)):
        return
    if np.isnan(y).any():
        raise ValueError("y must hold 0 and 1 only; got NaN")
    swapped = ": are y and p swapped?" if np.all((p == 0) | (p == 1)) else ""
    wrong = y[(y != 0) & (y != 1)][0]
    raise ValueError(f"y must hold 0 and 1 only{swapped or f'; got {wrong:g}'}")


def forecast_blocks(y, p, w=None):
    """Blocks of the distinct probabilities, seen to 12 decimals: x (k,), weight of events and of others at each."""
    checked = check_forecast(y, p, w)
    return blocks_of(*checked[:2], None if w is None else checked[2])


def blocks_of(y, p, w=None):
    """The same from arrays that have been checked; w None for ones."""
    return tied_blocks(np.round(p, DIGITS), y, w)


def whole_blocks(y, p, w, what):
    """Blocks of a forecast whose weights count rows; ValueError naming what needs that otherwise."""
    y, p, w = check_forecast(y, p, w)
    if not np.all(w == np.floor(w)):
        raise ValueError(f"{what} counts rows: w must hold whole numbers; leave w out, or bootstrap the rows instead")
    return blocks_of(y, p, w)

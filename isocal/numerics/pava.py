"""Isotonic regression on ordered blocks, and functions through its level sets."""

import numpy as np
from scipy.optimize import isotonic_regression


def isotonic_means(means, weight):
    """The non-decreasing sequence nearest to means (k,) in weighted least squares; exactly so, and within [0, 1]."""
    weight = np.maximum(weight, np.finfo(np.float64).tiny)  # differences of cumulated weights may vanish
    found = isotonic_regression(means, weights=weight).x
    return np.clip(np.maximum.accumulate(found), 0.0, 1.0)


def level_ends(values, both):
    """Positions of the first, or the first and the last, entry of each level set of a sorted sequence."""
    rises = values[1:] > values[:-1]
    new = np.r_[True, rises]
    return np.flatnonzero(new | np.r_[rises, True]) if both else np.flatnonzero(new)


def centred_points(x, values, weight):
    """Centred isotonic regression (Oron & Flournoy 2017): one point a level set, at its weighted mean score.

    Level sets at 0 and at 1 keep their ends: there the flat stretch is no artefact of pooling. Beyond the outermost
    points the curve is constant.
    """
    first = level_ends(values, both=False)
    last = np.r_[first[1:], len(x)] - 1
    heavy = np.add.reduceat(weight, first)
    share = weight / np.repeat(heavy, last - first + 1)  # shares first: products of large scores may overflow
    center = np.clip(np.add.reduceat(share * x, first), x[first], x[last])
    level = values[first]
    sure = ((level == 0.0) | (level == 1.0)) & (last > first)
    keep = np.stack([np.ones(len(first), dtype=bool), sure], axis=1)
    knots = np.stack([np.where(sure, x[first], center), x[last]], axis=1)
    return knots[keep], np.repeat(level, 1 + sure)


def interpolate(knots, values, x, filling):
    """A step function (value of the largest knot at or below) or lines between knots; constant outside; NaN stays."""
    at = np.maximum(np.searchsorted(knots, x, side="right") - 1, 0)
    out = values[at]
    if filling == "linear":
        after = np.minimum(at + 1, len(knots) - 1)
        low, high = knots[at] / 2, knots[after] / 2  # halves: the gap between finite knots may overflow
        gap = np.where(high > low, high - low, 1.0)
        share = np.clip((x / 2 - low) / gap, 0.0, 1.0)
        out = np.minimum(out + share * (values[after] - out), values[after])
    return np.where(np.isnan(x), np.nan, out)

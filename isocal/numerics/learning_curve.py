"""Split-half learning curve: how the variance of a fit falls with the rows it is given."""

from dataclasses import dataclass

import numpy as np

from .progress import counted

SIZES, FEWEST, REPEATS = 6, 20, 24


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """size (k,) rows; variance (k,) = mean of (f_a - f_b)^2 / 2 over disjoint halves and rows; held_out (k,) Brier
    score on the rows outside; slope of log variance on log size, weighted by the pairs behind each.
    """

    size: np.ndarray
    variance: np.ndarray
    held_out: np.ndarray
    slope: float


def sizes(n, least):
    """Sizes on a log grid up to n / 2: from n / 32, or `least` but at most n / 8, and 20 where n allows."""
    low = max(min(max(n // 32, least), n // 8), min(FEWEST, n // 4), 2)
    return np.unique(np.geomspace(low, n // 2, SIZES).astype(int))


def learning_curve(predict, y, w, rng, least=0, repeats=REPEATS, progress=False):
    """LearningCurve of rows y (n,), w (n,); least: rows below which the fit is not yet what it will be.

    predict(list of arrays of row numbers) -> (number, n) probabilities at all rows of the fits to those rows.
    """
    n = len(y)
    m = sizes(n, least)
    variance, loss, made = np.zeros((3, len(m)))
    for _ in counted(repeats, "learning curve", progress):
        order = rng.permutation(n)
        for k, size in enumerate(m):
            pairs = min(n // (2 * size), 4)
            parts = [order[i * size : (i + 1) * size] for i in range(2 * pairs)]
            f = predict(parts)
            for a, b in zip(range(0, 2 * pairs, 2), range(1, 2 * pairs, 2), strict=True):
                variance[k] += w @ (f[a] - f[b]) ** 2 / (2 * w.sum())
                made[k] += 1
            for i, rows in enumerate(parts):
                outside = np.ones(n, dtype=bool)
                outside[rows] = False
                loss[k] += w[outside] @ (y[outside] - f[i][outside]) ** 2 / w[outside].sum() / 2
    variance, loss = variance / made, loss / made
    return LearningCurve(m, variance, loss, _slope(np.log(m), variance))


def _slope(x, variance):
    known = variance > 0
    return float(np.polyfit(x[known], np.log(variance[known]), 1)[0]) if known.sum() > 1 else np.nan

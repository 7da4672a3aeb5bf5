"""Resampled reliability curves and the asymptotic half-widths of bands about them (Dimitriadis et al. 2021, SI)."""

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import betaln, ndtri, xlog1py, xlogy

from .chernoff import chernoff_quantile


def one_draw(rows, truth, owner, rng):
    """Curve (k,) of one sample of as many rows: scores drawn among the rows, labels from truth (k,) at the score.

    rows (k,) counts rows at each distinct score; owner (n,) holds the block of each row, or None to draw the counts
    from their multinomial law. Where no row was drawn the curve keeps its value from below, or takes the first.
    """
    n = int(rows.sum())
    if owner is None:
        count = rng.multinomial(n, rows / n)
    else:
        count = np.bincount(owner[rng.integers(0, n, n)], minlength=len(rows))
    seen = np.flatnonzero(count)
    count = count[seen]
    fitted = isotonic_regression(rng.binomial(count, truth[seen]) / count, weights=count).x
    return fitted[np.maximum(np.searchsorted(seen, np.arange(len(rows)), side="right") - 1, 0)]


def block_owner(rows):
    """The block of each row, or None where blocks are heavy and counting is cheaper."""
    return np.repeat(np.arange(len(rows)), rows.astype(np.intp)) if rows.sum() <= 4 * len(rows) else None


def discrete_half_width(truth, rows, level):
    """Normal approximation of the frequency at each distinct score."""
    return ndtri(0.5 + level / 2) * np.sqrt(truth * (1 - truth) / rows)


def continuous_half_width(truth, x, sample, rows, level):
    """Chernoff approximation {4 t (1 - t)/(n f(x))}^(1/3) q with slope 1 and a beta-kernel density f of scores."""
    n = rows.sum()
    density = beta_kernel_density(x, sample, rows / n, n ** (-2 / 5))
    spread = np.maximum(truth * (1 - truth), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        width = np.where(spread > 0, (4 * spread / (n * density)) ** (1 / 3), 0.0)
    return chernoff_quantile(0.5 + level / 2) * width


def beta_kernel_density(x, sample, share, b):
    """Chen's first beta-kernel density at x (m,): the mean over the sample (k,) of Beta(x/b + 1, (1 - x)/b + 1).

    Chen, S. X. (1999). CSDA 31(2), 131-145. doi:10.1016/S0167-9473(99)00010-9
    """
    out = np.empty(len(x))
    for i, t in enumerate(x):
        high, low = t / b, (1 - t) / b
        out[i] = share @ np.exp(xlogy(high, sample) + xlog1py(low, -sample) - betaln(high + 1, low + 1))
    return out


def bridged(bound, x, cep):
    """A bound with the inside of the levels 0 and 1 drawn as a line: labels drawn there would all be equal."""
    inside = (cep == 0.0) | (cep == 1.0)
    inside[[0, -1]] = False
    return np.interp(x, x[~inside], bound[~inside])

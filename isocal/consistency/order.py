"""Is the truth monotone: the binned chi-bar test of Bartholomew.

Means of a monotone function over bins in order are monotone whatever its shape: there is no error of approximation.
The test of constrained against free polynomials, which looks more natural, rejects steep monotone truths instead.
"""

from dataclasses import dataclass

import numpy as np

from ..numerics.chi_bar import cone_weights, project, simple_order_weights, tail
from .finding import ACT, FINE, LOOK, Finding, of_p

BINS = {2: 5, 3: 3, 4: 3, 5: 2}  # along each of several scores
MOST_BINS, PER_BIN = 8, 10  # of one score; rows a bin at least
DRAWS = 1000  # for the weights of a partial order
CELL = 5.0  # rows in a cell that is used


def isotonicity(fit):
    """T = sum n_j (m_j - projection_j)^2 / (p_j (1 - p_j)) over bins of about equal mass, against its chi-bar law.

    One score: 2 to 8 bins in order. Several: cells, of which only those strictly lower on every score are below
    another for sure. Bartholomew (1959), doi:10.1093/biomet/46.1-2.36.
    """
    if 0 in fit.directions:
        raise ValueError("a free score (direction 0) leaves no cells that are ordered for sure")
    if np.ptp(fit.y) == 0:
        raise ValueError("all labels are equal")
    cells = _cells(fit)
    if len(cells.mean) < 2 or not len(cells.below):
        raise ValueError("too few rows, or too few distinct scores, for two cells in order")
    t, p, nearest = bartholomew(cells.mean, cells.rows, cells.below, fit.rng)
    worst = int(np.argmax(np.abs(cells.mean - nearest) * np.sqrt(cells.rows)))
    verdict = of_p(p)
    where = ", ".join(f"{name} near {v:.2f}" for name, v in zip(fit.names, cells.center[worst], strict=True))
    advice = {
        FINE: "Nothing to do: no departure from the promised order is seen.",
        LOOK: f"Frequencies may fall where they should rise ({where}): look at the bins.",
        ACT: f"Frequencies fall where they should rise ({where}): check the score, its direction, or free it.",
    }[verdict]
    detail = {
        **{name: cells.center[:, m].tolist() for m, name in enumerate(fit.names)},
        "rows": cells.rows.tolist(), "frequency": cells.mean.tolist(), "in_order": nearest.tolist(),
    }  # fmt: skip
    figures = {"statistic": t, "cells": len(cells.mean), "ordered pairs": len(cells.below)}
    return Finding("isotonicity", p, f"p = {p:.3f} ({len(cells.mean)} bins)", "p >= 0.05", verdict, advice, figures,
                   detail)  # fmt: skip


def bartholomew(mean, rows, below, rng=None, draws=DRAWS):
    """(T, p value, means in order (k,)) of frequencies mean (k,) in bins of rows (k,) rows.

    below (e, 2): pairs of bins of which the first is not above the second. Variance p (1 - p) / rows, with p from the
    means in order after one success and one failure more. Where the pairs are the chain 0, 1, .., k - 1 the law is
    exact, else its weights come from draws.
    """
    mean, rows, below = np.asarray(mean, float), np.asarray(rows, float), np.asarray(below)
    A = np.zeros((len(below), len(mean)))
    A[np.arange(len(below)), below[:, 0]] = -1.0
    A[np.arange(len(below)), below[:, 1]] = 1.0
    start, _ = project(mean, np.diag(1 / rows), A)
    p = (rows * np.clip(start, 0.0, 1.0) + 1) / (rows + 2)
    variance = p * (1 - p) / rows
    nearest, t = project(mean, np.diag(variance), A)
    k = len(mean)
    if len(below) == k - 1 and np.array_equal(below, np.c_[np.arange(k - 1), np.arange(1, k)]):
        weights, dimensions = simple_order_weights(1 / variance), np.arange(1, k + 1)
    else:
        weights, dimensions = cone_weights(A, np.diag(variance), np.random.default_rng(rng), draws), np.arange(k + 1)
    return t if t > 1e-12 else 0.0, tail(t if t > 1e-12 else 0.0, weights, k - dimensions), nearest


@dataclass(frozen=True, eq=False)
class Cells:
    """mean (k,) frequency, rows (k,) effective rows, center (k, M) mean scores, below (e, 2) ordered pairs."""

    mean: np.ndarray
    rows: np.ndarray
    center: np.ndarray
    below: np.ndarray


def _cells(fit):
    """Bins of about equally many rows along each score; ties stay together; cells of too few rows are left out."""
    J = int(np.clip(fit.n // PER_BIN, 2, MOST_BINS)) if fit.M == 1 else BINS.get(fit.M, 2)
    at = np.stack([_bins(d * x, J) for d, x in zip(fit.directions, fit.s.T, strict=True)], axis=1)
    found, cell = np.unique(at, axis=0, return_inverse=True)
    cell, w = np.ravel(cell), fit.weights
    weight = np.bincount(cell, w)
    rows = weight**2 / np.bincount(cell, w * w)
    center = np.stack([np.bincount(cell, w * x) / weight for x in fit.s.T], axis=1)
    keep = rows >= CELL
    found = found[keep]
    under = np.all(found[:, None, :] < found[None, :, :], axis=2)
    covering = under & ~((under.astype(int) @ under.astype(int)) > 0)
    return Cells((np.bincount(cell, w * fit.y) / weight)[keep], rows[keep], center[keep], np.argwhere(covering))


def _bins(x, J):
    """(n,) bin 0..J-1 of each row by its mean rank."""
    from scipy.stats import rankdata  # half a second to import, which few fits need

    return np.ceil(rankdata(x) * J / len(x) - 1e-9).astype(int) - 1

"""What is computed from each replicate: coefficients, probabilities at places, mean slopes, Brier score and AUC."""

import numpy as np

from ..metrics import auc, brier
from ..numerics.moments import moment_matrix
from ..numerics.progress import counted
from .refits import block_size


def coefficients(replicates, names):
    """(r, k) coefficients in the order of names; NaN in a replicate of one class that has none.

    None where replicates have coefficients of other names, as step functions do.
    """
    if isinstance(replicates.curves, np.ndarray):
        flat = replicates.curves.reshape(len(replicates), -1)
        return flat if flat.shape[1] == len(names) else None
    out = np.full((len(replicates), len(names)), np.nan)
    for j, curve in enumerate(replicates.curves):
        found = curve.coef()
        if found and list(found) != names:
            return None
        if found:
            out[j] = list(found.values())
    return out


def places(replicates, rows, raw, s, unit):
    """(r, g) probabilities at places, raw (g, M) before and s (g, M) after the transforms of the fit."""
    if replicates.chains is None:
        return replicates.values(s)
    found = [
        replicates.values(rows.transformed(chains, raw, unit), j, j + 1) for j, chains in enumerate(replicates.chains)
    ]
    return np.concatenate(found)


def scores(replicates, rows, sampling, recipe, progress=False):
    """(r, 2) Brier score and AUC of each replicate on the rows it was fitted to; NaN for the AUC of one class."""
    out = np.empty((len(replicates), 2))
    blocks = _blocks(replicates, recipe, rows)
    for b in counted(len(blocks), "scores of blocks of replicates", progress):
        first, numbers = blocks[b]
        P = _at_rows(replicates, rows, first, len(numbers), recipe.domain() == "unit")
        for k, j in enumerate(numbers):
            w, y = sampling.multipliers(j) * rows.w, sampling.labels(j, rows.y)
            out[first + k] = brier(y, P[k], w), auc(y, P[k], w)
    return out


def losses(replicates, rows, sampling, recipe):
    """(r,) mean Brier loss of each replicate on the rows it was fitted to."""
    out = np.empty(len(replicates))
    for first, numbers in _blocks(replicates, recipe, rows):
        P = _at_rows(replicates, rows, first, len(numbers), recipe.domain() == "unit")
        for k, j in enumerate(numbers):
            w = sampling.multipliers(j) * rows.w
            out[first + k] = w @ (sampling.labels(j, rows.y) - P[k]) ** 2 / w.sum()
    return out


def slopes(replicates, rows, sampling, recipe):
    """(r, M) mean slopes over the rows of each replicate, or None where the curves have no gradient."""
    out = np.empty((len(replicates), rows.s.shape[1]))
    for first, numbers in _blocks(replicates, recipe, rows):
        W = np.stack([sampling.multipliers(j) * rows.w for j in numbers], axis=1)
        if isinstance(replicates.curves, np.ndarray) and replicates.chains is None:
            out[first : first + len(numbers)] = _polynomial_slopes(
                replicates.curves[first : first + len(numbers)], rows.s, W
            )
            continue
        for k, j in enumerate(range(first, first + len(numbers))):
            slope = _curve_slopes(replicates, rows, j, W[:, k], recipe.domain() == "unit")
            if slope is None:
                return None
            out[j] = slope
    return out


def _blocks(replicates, recipe, rows):
    """[(first position, numbers)] of blocks of replicates."""
    size = block_size(recipe, len(rows.y))
    return [(a, replicates.numbers[a : a + size].tolist()) for a in range(0, len(replicates), size)]


def _at_rows(replicates, rows, first, count, unit):
    if replicates.chains is None:
        return replicates.values(rows.s, first, first + count)
    chains = replicates.chains[first : first + count]
    return np.concatenate(
        [replicates.values(rows.transformed(c, rows.raw, unit), first + k, first + k + 1) for k, c in enumerate(chains)]
    )


def _curve_slopes(replicates, rows, j, w, unit):
    chains = replicates.chains
    s = rows.s if chains is None else rows.transformed(chains[j], rows.raw, unit)
    if isinstance(replicates.curves, np.ndarray):
        return _polynomial_slopes(replicates.curves[j : j + 1], s, w[:, None])[0]
    gradient = replicates.curves[j].gradient(s)
    return None if gradient is None else w @ gradient / w.sum()


def _polynomial_slopes(betas, s, W):
    """(r, M) from the coefficients (r, K_1 + 1, ...): the derivative is K_m times the polynomial of the steps."""
    K = [size - 1 for size in betas.shape[1:]]
    V = np.broadcast_to(W, (len(s), W.shape[1]))
    out = np.empty((len(betas), len(K)))
    for m, k in enumerate(K):
        lower = [d - (axis == m) for axis, d in enumerate(K)]
        means = moment_matrix(s, V, lower) / W.sum(axis=0).reshape(-1, *[1] * len(K))
        out[:, m] = k * np.sum(np.diff(betas, axis=m + 1) * means, axis=tuple(range(1, len(K) + 1)))
    return out

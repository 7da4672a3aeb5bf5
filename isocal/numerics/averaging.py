"""Bayesian averaging over binnings (Naeini, Cooper & Hauskrecht 2015): candidate partitions, their marginal
likelihoods, pruning, and the merged step function.

Departures from the paper's text, as the authors' code leaves them open: a bin's prior mean is the midpoint of its
interval, clipped to [.005, .995]; tied scores are one block; a partition that a smaller number of bins already made
counts once; all models as likely as the best survive pruning.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from scipy.special import gammaln

from .binning import borders_at, equal_weight_cuts


@dataclass(frozen=True)
class Binning:
    """One partition: inner borders (b - 1,); Beta posterior parameters alpha, beta (b,); log marginal likelihood."""

    borders: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    log_likelihood: float

    @property
    def mean(self):
        """Posterior mean of each bin."""
        return self.alpha / (self.alpha + self.beta)


def candidate_range(n, C, min_bin):
    """(lowest, highest) number of bins, the integers around n^(1/3)/C and C n^(1/3), in exact arithmetic.

    The lowest is the largest k with (C k)^3 <= n, the highest the smallest with k^3 >= C^3 n, but at most n / min_bin
    rounded up; C is read as it prints, so that 0.1 is a tenth.
    """
    n, C = Fraction(float(n)), Fraction(str(float(C)))
    low = max(1, _largest(lambda k: (C * k) ** 3 <= n))
    high = _largest(lambda k: k**3 < C**3 * n) + 1
    if min_bin is not None:
        high = min(high, ceil(n / Fraction(float(min_bin))))
    return low, max(low, high)


def _largest(holds):
    """The largest integer >= 0 for which a condition holds that holds at 0 and, from some integer on, never."""
    above = 1
    while holds(above):
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if holds(middle) else (below, middle)
    return below


def partitions(blocks, low, high):
    """Distinct partitions as arrays of inner cuts, for low to high bins."""
    most = max(1, ceil(blocks.weight_to[-1]))  # from there on every cut between blocks is made
    cuts, sizes = equal_weight_cuts(blocks, min(low, most), min(high, most))
    distinct = {}
    for one in np.split(cuts, np.cumsum(sizes)[:-1]):
        distinct.setdefault(one.tobytes(), one)
    return list(distinct.values())


def binnings(blocks, parts, strength, per_bin, prior_mean):
    """Binning of every partition; prior weight `strength` in total or per bin, prior_mean(left, right) of an interval.

    log ML = sum_b lnG(n0) - lnG(N+n0) + lnG(m+a) - lnG(a) + lnG(N-m+b) - lnG(b), all partitions at once.
    """
    sizes = np.array([len(cuts) + 1 for cuts in parts])
    starts = np.cumsum(sizes) - sizes
    cuts = np.concatenate(parts)
    inner = borders_at(blocks.x, cuts)
    left, right = _bounds(inner, sizes, 0.0, 1.0)
    begin, end = _bounds(cuts, sizes, 0, len(blocks.x))
    events = blocks.events_to[end] - blocks.events_to[begin]
    others = blocks.others_to[end] - blocks.others_to[begin]
    each = np.full(len(parts), float(strength)) if per_bin else strength / sizes
    n0, center = np.repeat(each, sizes), prior_mean(left, right)
    a, b = n0 * center, n0 * (1 - center)
    alpha, beta = events + a, others + b
    terms = gammaln(alpha) - gammaln(a) + gammaln(beta) - gammaln(b) - gammaln(events + others + n0)
    log_likelihood = np.add.reduceat(terms, starts) + sizes * gammaln(each)
    return [
        Binning(inner[i - j : i - j + size - 1], alpha[i : i + size], beta[i : i + size], float(ll))
        for j, (i, size, ll) in enumerate(zip(starts, sizes, log_likelihood, strict=True))
    ]


def _bounds(inner, sizes, lowest, highest):
    """(left, right) bounds of all bins of partitions of the given sizes, from their inner bounds in a row."""
    last = np.zeros(np.sum(sizes), dtype=bool)
    last[np.cumsum(sizes) - 1] = True
    first = np.roll(last, 1)
    left, right = np.full(len(last), lowest, dtype=inner.dtype), np.full(len(last), highest, dtype=inner.dtype)
    left[~first], right[~last] = inner, inner
    return left, right


def interval_midpoint(left, right):
    """Prior mean of a bin: the middle of its interval, kept away from 0 and 1."""
    return np.clip((left + right) / 2, 0.005, 0.995)


def one_half(left, right):
    """Prior mean 1/2 whatever the interval, for scores on any scale."""
    return np.full(len(left), 0.5)


def kept(log_likelihoods, threshold):
    """(positions by falling likelihood, weights that sum to one) of the models that survive pruning.

    With R relative likelihoods in falling order and sigma^2 their variance, the first k models are kept where
    (R_k - R_{k+1})/sigma^2 <= threshold first holds, k at least the number of models as likely as the best.
    """
    R = np.exp(log_likelihoods - np.max(log_likelihoods))
    order = np.argsort(-R, kind="stable")  # ties: fewer bins first
    R = R[order]
    count, variance = len(R), np.var(R)
    if threshold is not None and count > 1 and variance > 0:
        best = int(np.sum(R >= 1 - 1e-9))
        small = np.flatnonzero(R[:-1] - R[1:] <= threshold * variance) + 1
        small = small[small >= best]
        count = int(small[0]) if len(small) else count
    return order[:count], R[:count] / np.sum(R[:count])


def merge(models, weights):
    """(borders, values): the weighted mean of step functions as one step function."""
    borders = np.unique(np.concatenate([model.borders for model in models]))
    values = np.zeros(len(borders) + 1)
    for model, weight in zip(models, weights, strict=True):
        at = np.searchsorted(borders, model.borders) + 1  # the step that begins at each of its borders
        values += weight * np.repeat(model.mean, np.diff(at, prepend=0, append=len(values)))
    return borders, np.clip(values, 0.0, 1.0)

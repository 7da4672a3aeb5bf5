"""The departures of the authors' own BBQ code from METHODS section 2, on isocal's numerical functions; tests only.

Their code: cuts j floor(n/B) with the remainder in the last bin, ties split by row order; bin centres not clipped;
BDeu2 a prior of weight 2 per bin with the centre as mean, BDeu of weight 2 in total with mean 1/2; predictions
(m + p0)/(N + 1) with p0 = (centre + sum of the scores of the bin's events)/(m + 1); pruning stops one model earlier.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isocal.numerics.averaging import binnings, candidate_range, merge, one_half
from isocal.numerics.binning import Blocks, step_values

FOLDER = Path(__file__).resolve().parent / "reference" / "bbq"


def rows(name):
    """(scores (n, 1), labels (n,)) of an input file."""
    s, y = np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", skiprows=1, ndmin=2).T
    return s[:, None], y


def printed(name):
    """Columns of what a program printed."""
    return np.loadtxt(FOLDER / "out" / f"{name}.csv", delimiter=",", ndmin=2).T


@dataclass(frozen=True)
class Step:
    borders: np.ndarray
    mean: np.ndarray


@dataclass(frozen=True)
class AuthorsFit:
    """bins asked and made, log marginal and relative likelihoods (T,), rank among the kept (0: pruned), curves."""

    asked: np.ndarray
    made: np.ndarray
    log_likelihood: np.ndarray
    relative: np.ndarray
    rank: np.ndarray
    average: tuple
    select: tuple

    def predict(self, s, curve):
        borders, values = curve
        return step_values(borders, values, s)


def center(left, right):
    return (left + right) / 2


def authors_fit(s, y, prior):
    """prior is "BDeu2" or "BDeu"."""
    order = np.argsort(s, kind="stable")
    x, label = s[order], y[order]
    blocks = Blocks(x, label, 1.0 - label)  # every row a block of its own: they split ties
    low, high = candidate_range(len(x), 10, 5)
    asked = np.arange(low, high + 1)
    parts = [np.arange(1, B) * (len(x) // B) for B in asked]
    models = binnings(blocks, parts, 2.0, prior == "BDeu2", center if prior == "BDeu2" else one_half)
    steps = [Step(m.borders, shrunk_mean(x, label, cuts, m.borders)) for m, cuts in zip(models, parts, strict=True)]
    log_likelihood = np.array([m.log_likelihood for m in models])
    relative = np.exp(log_likelihood - log_likelihood.max())
    falling = np.argsort(-relative, kind="stable")
    count = authors_count(relative[falling])
    rank = np.zeros(len(asked), dtype=int)
    rank[falling[:count]] = np.arange(1, count + 1)
    kept = [steps[i] for i in falling[:count]]
    weights = relative[falling[:count]] / relative[falling[:count]].sum()
    made = np.array([len(m.borders) + 1 for m in models])
    return AuthorsFit(asked, made, log_likelihood, relative, rank, merge(kept, weights), merge(kept[:1], [1.0]))


def authors_count(R):
    """How many models their pruning keeps of falling relative likelihoods."""
    small = np.flatnonzero((R[:-1] - R[1:]) / np.var(R) <= 0.001) + 1
    return (int(small[0]) if len(small) else len(R)) - 1


def shrunk_mean(x, label, cuts, borders):
    """Their prediction in each bin."""
    start = np.r_[0, cuts]
    N, m = np.diff(np.r_[start, len(x)]), np.add.reduceat(label, start)
    c = center(np.r_[0.0, borders], np.r_[borders, 1.0])
    return (m + (c + np.add.reduceat(x * label, start)) / (m + 1)) / (N + 1)

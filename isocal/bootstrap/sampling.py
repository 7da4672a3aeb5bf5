"""How rows are drawn again: replicate j is a function of (seed, j) alone, whoever computes it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

METHODS = ("pairs", "bayesian", "parametric", "subsample")
LEAST = 10  # rows, or clusters, of a subsample
GROUPS = 500  # at most so many refits tell the acceleration of BCa intervals


def new_seed(rng):
    """The seed that rng stands for: itself, a number drawn from a Generator, or fresh entropy."""
    if rng is None:
        return int(np.random.SeedSequence().entropy)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise ValueError(f"rng must be None, a whole number >= 0 or a numpy Generator; got {rng!r}")
    return int(rng)


def group_codes(labels):
    """(n,) numbers 0, 1, ... of the clusters, in the order of their first rows; a missing label is an error."""
    codes = pd.factorize(np.asarray(labels))[0]
    if np.any(codes < 0):
        row = int(np.argmax(codes < 0))
        raise ValueError(f"cluster has no label in row {row} (counting from 0): give every row one, or leave it out")
    if codes.max(initial=-1) < 1:
        raise ValueError("cluster puts all rows into one cluster: at least two are needed to draw from")
    return codes.astype(np.intp)


@dataclass(frozen=True, eq=False)
class Sampling:
    """A way to draw n rows again.

    method: one of METHODS; clusters (n,) codes or None: what is drawn are rows or clusters; size: of a subsample;
    p (n,) the fitted probabilities, for parametric draws.
    """

    method: str
    n: int
    seed: int
    clusters: np.ndarray | None = None
    size: int | None = None
    p: np.ndarray | None = None

    @property
    def units(self):
        """Rows, or clusters, to draw from."""
        return self.n if self.clusters is None else int(self.clusters.max()) + 1

    @property
    def shrinkage(self):
        """What deviations of replicates are multiplied with: less than one where a subsample is smaller than n."""
        return np.sqrt(self.size / self.units) if self.method == "subsample" else 1.0

    def _stream(self, j):
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(j,)))

    def multipliers(self, j):
        """(n,) what the weights of the rows are multiplied with in replicate j: counts, or positive numbers."""
        if self.method == "parametric":
            return np.ones(self.n)
        rng, c = self._stream(j), self.units
        if self.method == "pairs":
            drawn = np.bincount(rng.integers(0, c, c), minlength=c)
        elif self.method == "bayesian":
            drawn = rng.standard_exponential(c)
            drawn = drawn / drawn.mean()
        else:
            drawn = np.zeros(c)
            drawn[rng.choice(c, self.size, replace=False, shuffle=False)] = 1.0
        return drawn if self.clusters is None else drawn[self.clusters]

    def labels(self, j, y):
        """(n,) responses of replicate j."""
        if self.method != "parametric":
            return y
        return (self._stream(j).random(self.n) < self.p).astype(np.float64)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The jackknife: replicate j leaves out the rows of group j. groups (n,) codes."""

    groups: np.ndarray
    shrinkage = 1.0

    @property
    def units(self):
        """Groups that are left out in turn."""
        return int(self.groups.max()) + 1

    @classmethod
    def of(cls, sampling):
        """One row, or cluster, at a time; of more than 500 that many random groups of them."""
        c = sampling.units
        code = np.arange(c)
        if c > GROUPS:
            stream = np.random.default_rng(np.random.SeedSequence(sampling.seed, spawn_key=(0, 0)))
            code = stream.permutation(c) % GROUPS
        return cls(code if sampling.clusters is None else code[sampling.clusters])

    def multipliers(self, j):
        """(n,) zero for the rows left out, one for the others."""
        return (self.groups != j).astype(np.float64)

    def labels(self, j, y):
        """(n,) the responses as they are."""
        return y

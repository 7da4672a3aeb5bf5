"""The refits: blocks of replicates through `recipe.fit_many`, on one core, on several, or on a cluster of joblib's."""

import inspect
import warnings
from dataclasses import dataclass

import numpy as np

from ..methods import Recipe
from ..methods.base import Curve
from ..methods.bernstein import BernsteinCurve
from ..numerics.basis import CHUNK, design
from ..numerics.progress import counted
from ..transforms import apply_chain, learn_chain

ROOM = 1 << 23  # weights of one block of replicates; blocks depend on n alone, so that results do not on n_jobs
MOST, MOST_LOOPED = 128, 8  # replicates of a block; of methods that fit them one by one
LEAST = 20  # replicates worth keeping when interrupted


@dataclass(frozen=True, eq=False)
class Constant(Curve):
    """A replicate of one class, where the method itself has no answer: that class with certainty."""

    value: float

    def __call__(self, s):
        return np.where(np.isnan(s).any(axis=1), np.nan, self.value)

    def coef(self):
        return {}

    def gradient(self, s):
        return np.zeros(s.shape)

    def to_dict(self):
        return {"value": self.value}

    @classmethod
    def from_dict(cls, d):
        return cls(float(d["value"]))


@dataclass(frozen=True, eq=False)
class Rows:
    """What a replicate is made of: raw (n, M) before and s (n, M) after transforms, y (n,), w (n,).

    transforms: per score the names of transforms to learn anew in each replicate, or None to keep s.
    """

    raw: np.ndarray
    s: np.ndarray
    y: np.ndarray
    w: np.ndarray
    transforms: tuple | None = None

    def transformed(self, chains, raw, unit):
        """(g, M) scores of raw under the transforms of one replicate."""
        out = np.empty(raw.shape, order="F")
        for m, chain in enumerate(chains):
            apply_chain(chain, raw[:, m], out=out[:, m])
        return np.clip(out, 0.0, 1.0, out=out) if unit else out


@dataclass(frozen=True, eq=False)
class Replicates:
    """Fitted replicates.

    curves: list of r, or for Bernstein polynomials of one degree their coefficients (r, K_1 + 1, ...); numbers (r,)
    of the draws they belong to; chains: transforms of each, or None; one_class (r,) replicates without an event or
    without a non-event; failed: {message: how many} that could not be fitted.
    """

    curves: list | np.ndarray
    numbers: np.ndarray
    one_class: np.ndarray
    chains: list | None
    failed: dict

    def __len__(self):
        return len(self.numbers)

    def values(self, s, first=0, last=None):
        """(r, g) probabilities of replicates first to last at scores s (g, M) in the domain; NaN for NaN."""
        some = self.curves[first:last]
        if not isinstance(some, np.ndarray):
            return np.array([curve(s) for curve in some]).reshape(len(some), len(s))
        out = np.empty((len(some), len(s)))
        K, flat = [size - 1 for size in some.shape[1:]], some.reshape(len(some), -1)
        low, high = flat.min(axis=1)[:, None], flat.max(axis=1)[:, None]
        for a in range(0, len(s), CHUNK):
            out[:, a : a + CHUNK] = np.clip(flat @ design(s[a : a + CHUNK], K).T, low, high)
        return out


def block_size(recipe, n):
    """Replicates that are fitted together."""
    looped = type(recipe).fit_many is Recipe.fit_many or recipe.needs_raw
    return int(np.clip(ROOM // n, 1, MOST_LOOPED if looped else MOST))


def refit(recipe, rows, sampling, n_boot, n_jobs=1, progress=True):
    """Replicates 0, ..., n_boot - 1; after an interrupt those that are done, at least 20, with a warning."""
    from joblib import Parallel, delayed, effective_n_jobs  # here, because it is slow to import

    size = block_size(recipe, len(rows.y))
    starts = [range(a, min(a + size, n_boot)) for a in range(0, n_boot, size)]
    parts, wave = [], 1 if n_jobs == 1 else effective_n_jobs(n_jobs)
    try:
        with Parallel(n_jobs=n_jobs) as parallel:
            for a in counted(-(-len(starts) // wave), "bootstrap, blocks of replicates", progress):
                some = starts[a * wave : (a + 1) * wave]
                if n_jobs == 1:  # without a copy of the rows
                    parts.append(fit_block(recipe, rows, sampling, some[0]))
                else:
                    parts += parallel(delayed(fit_block)(recipe, rows, sampling, numbers) for numbers in some)
    except KeyboardInterrupt:
        done = sum(len(part) for part in parts)
        if done < LEAST:
            raise
        warnings.warn(f"interrupted: {done} of {n_boot} replicates are kept", UserWarning, stacklevel=3)
    return _joined(parts)


def fit_block(recipe, rows, sampling, numbers):
    """Replicates of the given numbers: a task on its own, for a worker of any backend."""
    Y, W = _drawn(rows, sampling, numbers)
    total = np.broadcast_to(W.sum(axis=0), len(numbers))
    events = np.broadcast_to(np.einsum("ij,ij->j", *np.broadcast_arrays(W, Y)), len(numbers))
    one_class = (events <= 0) | (events >= total)
    failed, chains = {}, None
    if rows.transforms is None:
        try:
            curves = recipe.fit_many(rows.s, Y, W, **_raw(recipe, rows.raw))
        except ValueError:
            curves = [_one(recipe, rows.s, rows.raw, Y, W, k, failed) for k in range(len(numbers))]
    else:
        found = [_learned(recipe, rows, Y, W, k, failed) for k in range(len(numbers))]
        curves, chains = [curve for curve, _ in found], [chain for _, chain in found]
    kept = [k for k, curve in enumerate(curves) if curve is not None]
    chains = None if chains is None else [chains[k] for k in kept]
    return Replicates([curves[k] for k in kept], np.array(numbers)[kept], one_class[kept], chains, failed)


def _drawn(rows, sampling, numbers):
    """(labels, weights), (n, r) or (n, 1) where they are the same in all; each lies together in memory."""
    out = np.empty((len(numbers), len(rows.y)))
    if sampling.labels(numbers[0], rows.y) is rows.y:
        for k, j in enumerate(numbers):
            np.multiply(sampling.multipliers(j), rows.w, out=out[k])
        return rows.y[:, None], out.T
    for k, j in enumerate(numbers):
        out[k] = sampling.labels(j, rows.y)
    return out.T, rows.w[:, None]


def _raw(recipe, raw):
    """Scores before transforms, for methods that deal folds or draw their anchor by them."""
    takes = recipe.needs_raw and "raw" in inspect.signature(recipe.fit_many).parameters
    return {"raw": raw} if takes else {}


def _one(recipe, s, raw, Y, W, k, failed):
    """Curve k of a block, None (and counted) where the method has no answer, constant where there is one class."""
    y, w = Y[:, k % Y.shape[1]], W[:, k % W.shape[1]]
    try:
        return recipe.fit_many(s, y, w, **_raw(recipe, raw))[0]
    except ValueError as error:
        drawn = y[w > 0]
        if len(drawn) and drawn.min() == drawn.max():
            return Constant(float(drawn[0]))
        failed[str(error)] = failed.get(str(error), 0) + 1
        return None


def _learned(recipe, rows, Y, W, k, failed):
    """(curve, chains) with transforms learned on the rows of the replicate."""
    y, w = Y[:, k % Y.shape[1]], W[:, k % W.shape[1]]
    keep = w > 0
    raw, y, w = np.asfortranarray(rows.raw[keep]), y[keep], w[keep]
    s = np.empty_like(raw)
    chains = tuple(learn_chain(names, raw[:, m], w, out=s[:, m]) for m, names in enumerate(rows.transforms))
    return _one(recipe, s, raw, y[:, None], w[:, None], 0, failed), chains


def _compact(curves):
    """Coefficients (r, ...) of Bernstein curves of one shape, else the list."""
    bernstein = all(type(curve) is BernsteinCurve for curve in curves)
    if curves and bernstein and len({curve.beta.shape for curve in curves}) == 1:
        return np.stack([curve.beta for curve in curves])
    return curves


def _joined(parts):
    """One Replicates of the parts in their order."""
    failed = {}
    for part in parts:
        for message, count in part.failed.items():
            failed[message] = failed.get(message, 0) + count
    curves = _compact([curve for part in parts for curve in part.curves])
    chains = None if parts[0].chains is None else [chain for part in parts for chain in part.chains]
    numbers, one_class = (np.concatenate([getattr(p, name) for p in parts]) for name in ("numbers", "one_class"))
    return Replicates(curves, numbers, one_class, chains, failed)

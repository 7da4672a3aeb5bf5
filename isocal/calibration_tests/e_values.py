"""The e-value Hosmer-Lemeshow test: a bet against the forecast, placed on one half and settled on the other."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from ..numerics.forecast import DIGITS
from ..numerics.pava import isotonic_means, level_ends
from .inputs import drawing, prepared, repeated
from .outcome import Outcome


@dataclass(frozen=True, eq=False)
class Ehl(Outcome):
    """log_e of the mean e-value; log_splits (splits,) of each split; seed of the splits (None if they were given)."""

    term: ClassVar[str] = "ehl"
    title: ClassVar[str] = "E-value Hosmer-Lemeshow"
    tests: ClassVar[str] = "A monotone recalibration learned on one half predicts the other half no better than p."

    log_e: float = 0.0
    log_splits: np.ndarray = field(default_factory=lambda: np.zeros(0))
    seed: int | None = None

    def rejects(self, size=0.05):
        """Whether the e-value is at least 1/size.

        Parameters
        ----------
        size : float
            Probability of rejecting calibrated forecasts, at most.

        Returns
        -------
        bool
        """
        return bool(self.log_e >= -np.log(size))

    def facts(self):
        """Splits and seed."""
        seed = {} if self.seed is None else {"Seed": str(self.seed)}
        return {"Splits": str(len(self.log_splits)), "log10 of e-value": f"{self.log_e / np.log(10):.4f}"} | seed


def ehl(y, p, w=None, splits=10, rng=None, indices=None, clip=None):
    """E-value Hosmer-Lemeshow test (eHL), valid at any sample size.

    For each split, isotonic regression of y on p in the first half (linear between blocks, constant outside; a block
    of k events in m rows with mean 0 or 1 gets (k + 1/2)/(m + 1)) is a rival forecast q for the second half. The
    e-value is the likelihood ratio prod q^y (1 - q)^(1 - y) / [p^y (1 - p)^(1 - y)] over the second half, averaged
    over splits. Under calibration its mean is at most 1, so E >= 1/a rejects with probability at most a.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities in [0, 1]; an event at p = 0 (or none at p = 1) makes E infinite.
    w : array_like, shape (n,), optional
        Whole-number weights only (repeats): a split has no other weighted form.
    splits : int
        Number of random halves.
    rng : None, int or numpy.random.Generator
        Draws the halves from the rows in order of (p, y); None takes fresh entropy, kept as `seed`.
    indices : sequence of array_like, optional
        Positions of the rows of the first half, one array a split, instead of random halves.
    clip : float, optional
        Move p into [clip, 1 - clip] first.

    Returns
    -------
    Ehl
        statistic E, p_value min(1, 1/E), log_e, log_splits, and `rejects(size)`.

    Raises
    ------
    ValueError
        Fewer than two rows, weights that are no whole numbers, splits below 1, or indices out of range or repeated.

    Notes
    -----
    Less power than the classic test at small n: that is the price of validity. E below 1 is no evidence for
    calibration. The value depends on the splits; average e-values, never p values. In-sample p make it vacuous.

    References
    ----------
    Henzi, A., Puke, M., Dimitriadis, T. & Ziegel, J. (2024). A safe Hosmer-Lemeshow test. The New England Journal of
    Statistics in Data Science 2(2), 175-189. doi:10.48550/arXiv.2203.00426

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.calibration_tests import ehl
    >>> p = np.tile([0.2, 0.8], 200)
    >>> y = np.tile([0, 1, 1, 0], 100)
    >>> ehl(y, p, rng=0).rejects(0.01)
    True
    """
    y, p, w = prepared(y, p, w, clip)
    y, p = repeated(y, p, w, "ehl")
    if len(y) < 2:
        raise ValueError("ehl needs at least two rows, one for each half")
    seed = None
    if indices is None:
        if splits < 1:
            raise ValueError(f"splits must be 1 or more; got {splits!r}")
        generator, seed = drawing(rng)
        order = np.lexsort((y, p))
        indices = [order[generator.permutation(len(y))[: len(y) // 2]] for _ in range(splits)]
    logs = np.array([_log_e(y, p, _half(chosen, len(y))) for chosen in indices])
    log_e = float(logsumexp(logs) - np.log(len(logs)))
    with np.errstate(over="ignore"):
        e = float(np.exp(log_e))
    return Ehl(e, min(1.0, float(np.exp(-max(log_e, 0.0)))), None, "mean at most 1", len(y), log_e, logs, seed)


def _half(chosen, n):
    chosen = np.asarray(chosen)
    first = np.zeros(n, dtype=bool)
    if chosen.dtype.kind not in "iu" or np.any((chosen < 0) | (chosen >= n)):
        raise ValueError(f"indices must be whole numbers from 0 to {n - 1}")
    first[chosen] = True
    if not 0 < first.sum() < n or first.sum() != len(chosen):
        raise ValueError("indices of a split must be distinct and leave at least one row on each side")
    return first


def _log_e(y, p, first):
    q = _rival(y[first], p[first], p[~first])
    y, p = y[~first], p[~first]
    with np.errstate(divide="ignore"):
        return float(np.sum(np.log(np.where(y == 1, q, 1 - q)) - np.log(np.where(y == 1, p, 1 - p))))


def _rival(y, p, at):
    """Isotonic regression of y on p, at other places."""
    values, block = np.unique(np.round(p, DIGITS), return_inverse=True)  # round-off must not become an order
    x = np.full(len(values), np.inf)
    np.minimum.at(x, block, p)
    rows, events = np.bincount(block).astype(np.float64), np.bincount(block, y)
    starts = level_ends(np.round(isotonic_means(events / rows, rows), 12), both=False)
    n, k = np.add.reduceat(rows, starts), np.add.reduceat(events, starts)
    # the authors' program rounds the means of blocks to 10 digits; any q gives an e-value
    value = np.where((k == 0) | (k == n), (k + 0.5) / (n + 1), np.round(k / n, 10))
    return np.interp(at, x, np.repeat(value, np.diff(np.r_[starts, len(x)])))

"""T-Cal: a debiased calibration error in bins, judged by labels drawn from the forecast, over many bin widths."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from ..numerics.progress import collected
from .inputs import drawing, prepared, repeated
from .outcome import Outcome

CELLS = 200_000  # rows times draws held at once,
FEWEST = 8  # but no fewer draws: each block of them reads the sums of all levels once
LEAST = 99  # draws that an interrupted test needs


@dataclass(frozen=True, eq=False)
class Tcal(Outcome):
    """bins of the reported statistic; levels, one entry a bin number tried; adaptive; n_draws; seed of the draws."""

    term: ClassVar[str] = "tcal"
    title: ClassVar[str] = "T-Cal"
    tests: ClassVar[str] = "The squared calibration error in bins of p is zero (at the widths tried)."

    bins: int = 0
    levels: dict = field(default_factory=dict)
    adaptive: bool = True
    n_draws: int = 0
    seed: int | None = None

    def facts(self):
        """Bins, draws and seed."""
        seed = {} if self.seed is None else {"Seed": str(self.seed)}
        tried = f"{self.bins} (of {len(self.levels['bins'])} tried)" if self.adaptive else str(self.bins)
        return {"Bins": tried, "Draws": f"{self.n_draws:,}"} | seed


@dataclass(frozen=True, eq=False)
class _Bins:
    """start, end (k,) of bins of two or more sorted rows and their sums of p (k,); member (levels, k): 1 / n_b where
    a bin belongs to a partition; constant (levels,) + y'linear (n, levels) is the sum over bins of sum (p - y)^2 / n_b.
    """

    start: np.ndarray
    end: np.ndarray
    total: np.ndarray
    member: csr_matrix
    constant: np.ndarray
    linear: np.ndarray


def tcal(y, p, w=None, bins=None, n_draws=1999, rng=None, clip=None, progress=True):
    """T-Cal: test of calibration by the debiased plug-in squared calibration error.

    In equally wide bins [a, b) (p = 1 has its own), the statistic is sum over bins of
    [(sum (p - y))^2 - sum (p - y)^2] / n_b, divided by n; its mean is 0 under calibration. Its p value is that among
    n_draws label vectors drawn from p itself (consistency resampling; p is held fixed, so the size is exact).
    With bins=None all dyadic numbers 2, 4, ..., 2^B, B = floor(2 log2(n / sqrt(log n))), are tried, and the smallest
    p value is multiplied by B (Bonferroni): power against smooth and against rough miscalibration.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities in [0, 1]; 0 and 1 are allowed.
    w : array_like, shape (n,), optional
        Whole-number weights only (repeats): labels are drawn row by row.
    bins : int, optional
        One fixed number of bins instead of the adaptive test.
    n_draws : int
        Label vectors drawn; the smallest p value possible is 1 / (n_draws + 1), times B in the adaptive test.
    rng : None, int or numpy.random.Generator
        For the draws, over rows in order of (p, y); None takes fresh entropy, kept as `seed`.
    clip : float, optional
        Move p into [clip, 1 - clip] first.
    progress : bool
        Show a bar where it takes longer than half a second. Interrupted, the draws made so far are used.

    Returns
    -------
    Tcal
        statistic at the number of bins with the smallest p value, p_value, bins, and levels {bins, statistic, p_value}.

    Raises
    ------
    ValueError
        Fewer than three rows in the adaptive test, bins or n_draws below 1, or weights that are no whole numbers.

    Notes
    -----
    Blind spot: errors of opposite sign within a bin cancel. The statistic can be negative. In-sample p give p values
    near 1.

    References
    ----------
    Lee, D., Huang, X., Hassani, H. & Dobriban, E. (2023). T-Cal: an optimal test for the calibration of predictive
    models. Journal of Machine Learning Research 24(335), 1-72. doi:10.48550/arXiv.2203.01850

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.calibration_tests import tcal
    >>> res = tcal(np.tile([0, 1, 1], 100), np.full(300, 0.3), bins=10, n_draws=99, rng=0)
    >>> res.p_value
    0.01
    """
    y, p, w = prepared(y, p, w, clip)
    y, p = repeated(y, p, w, "tcal")
    if n_draws < 1:
        raise ValueError(f"n_draws must be 1 or more; got {n_draws!r}")
    tried = _tried(len(y)) if bins is None else [bins]
    if bins is not None and (not isinstance(bins, int | np.integer) or bins < 1):
        raise ValueError(f"bins must be a whole number, 1 or more, or None; got {bins!r}")
    order = np.lexsort((y, p))
    y, p = y[order], p[order]
    parts = _bins(p, tried)
    found = _statistics(y[None] == 1, parts)[0]
    generator, seed = drawing(rng)
    reached, n_draws = _reached(found, p, parts, n_draws, generator, progress)
    p_values = (1 + reached) / (1 + n_draws)
    best = int(np.argmin(p_values))
    levels = {"bins": [int(m) for m in tried], "statistic": found.tolist(), "p_value": p_values.tolist()}
    p_value = min(1.0, float(p_values[best]) * len(tried))
    null = f"{n_draws:,} draws of labels from p"
    statistic, bins_best = float(found[best]), int(tried[best])
    return Tcal(statistic, p_value, None, null, len(y), bins_best, levels, bins is None, n_draws, seed)


def _reached(found, p, parts, n_draws, generator, progress):
    """(how many draws reached each found statistic (levels,), draws made: fewer than n_draws if interrupted)."""
    slack = 1e-10 * np.maximum(np.abs(found), 1 / len(p))  # equal statistics differ by round-off
    reached, at_once = np.zeros(len(found)), max(FEWEST, CELLS // len(p))

    def draw(i):
        some = min(at_once, n_draws - i * at_once)
        reached[:] += np.sum(_statistics(generator.random((some, len(p))) < p, parts) >= found - slack, axis=0)

    done = collected(-(-n_draws // at_once), "draws of tcal", draw, -(-LEAST // at_once), progress)
    return reached, min(n_draws, done * at_once)


def _tried(n):
    if n < 3:
        raise ValueError(f"tcal needs at least three rows to choose bins; got {n}")
    return [2**b for b in range(1, max(1, int(2 * np.log2(n / np.sqrt(np.log(n))))) + 1)]


def _bins(p, tried):
    """Distinct bins of sorted p (n,) over all partitions; single rows are left out, as they add exactly nothing."""
    edges, shares = [], np.zeros((len(p), len(tried)))
    for level, m in enumerate(tried):
        which = np.floor(np.round(p * m, 10)) if m & (m - 1) else np.floor(p * m)  # 0.3 belongs to [0.3, 0.4)
        starts = np.flatnonzero(np.r_[True, which[1:] != which[:-1]])
        sizes = np.diff(np.r_[starts, len(p)])
        shares[:, level] = np.repeat(np.where(sizes > 1, 1 / sizes, 0.0), sizes)
        edges.append(np.stack([starts, starts + sizes])[:, sizes > 1])
    level = np.repeat(np.arange(len(tried)), [e.shape[1] for e in edges])
    (start, end), at = np.unique(np.hstack(edges), axis=1, return_inverse=True)
    member = csr_matrix(((1 / (end - start))[at.ravel()], (level, at.ravel())), shape=(len(tried), len(start)))
    total = np.add.reduceat(np.r_[p, 0.0], np.c_[start, end].ravel())[::2] if len(start) else np.zeros(0)
    # (p - y)^2 = p^2 + y (1 - 2 p): the sum of squares is linear in the labels
    return _Bins(start, end, total, member, p**2 @ shares, (1 - 2 * p)[:, None] * shares)


def _statistics(Y, bins):
    """(draws, levels) debiased squared calibration errors of 0/1 label vectors Y (draws, n) in the order of p."""
    reach = np.zeros((len(Y), Y.shape[1] + 1), dtype=np.int32)
    np.cumsum(Y, axis=1, out=reach[:, 1:])
    events = np.take(reach, bins.end, axis=1) - np.take(reach, bins.start, axis=1)
    gap = bins.total - events
    gap *= gap
    return ((bins.member @ gap.T).T - bins.constant - Y.astype(np.float64) @ bins.linear) / Y.shape[1]

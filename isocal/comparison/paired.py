"""Metrics of several forecasts of the same rows, their paired differences, standard errors and bootstrap draws.

Arrays in: y (n,), P (n, k), w (n,) or None for ones. Test-set noise alone: the forecasts are held fixed.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from ..bootstrap import Sampling
from ..metrics import METRICS
from ..metrics.table import BIASED
from ..numerics import intervals
from ..numerics.forecast import DIGITS
from ..numerics.progress import collected
from ..numerics.ranks import two_sided

HIGHER = frozenset({"auc", "accuracy", "brier_skill", "dsc"})  # of all others the lower is the better
CENTRED = frozenset({"debiased_ce"})  # resampling adds once more the bias that the metric has taken off
LEAST_DRAWS = 20  # finite draws below which there is no interval
ROUND_OFF = 1e-13  # standard errors below are 0


def brier_losses(y, p):
    """(n,) squared errors."""
    return (y - p) ** 2


def log_losses(y, p):
    """(n,) logarithmic losses; infinite where what happened had probability 0."""
    with np.errstate(divide="ignore"):
        return -np.log(np.where(y == 1, p, 1 - p))


LOSSES = {"brier": brier_losses, "log_loss": log_losses}  # metrics that are means over rows


@dataclass(frozen=True, eq=False)
class Paired:
    """One metric of k forecasts. estimate, error (k,); difference, se, statistic, p (k, k), row minus column.

    draws (b, k): of the bootstrap; df: degrees of freedom of the statistics, infinite where their law is normal.
    """

    metric: str
    estimate: np.ndarray
    error: np.ndarray
    difference: np.ndarray
    se: np.ndarray
    statistic: np.ndarray
    p: np.ndarray
    df: float
    draws: np.ndarray

    @property
    def best(self):
        """Position of the best forecast, the first of equals; the first of all where none has a value."""
        value = np.round(self.estimate, 12) * (-1 if self.metric in HIGHER else 1)
        return 0 if np.isnan(value).all() else int(np.nanargmin(value))

    def interval(self, level):
        """(low, high) of the estimates, each (k,)."""
        return self._ends(self.draws, self.estimate, self.error, level)

    def difference_interval(self, reference, level):
        """(low, high) of the differences to one forecast, each (k,)."""
        with np.errstate(invalid="ignore"):
            draws = self.draws - self.draws[:, [reference]]
        return self._ends(draws, self.difference[:, reference], self.se[:, reference], level)

    def _ends(self, draws, value, se, level):
        low, high = np.full((2, len(value)), np.nan)
        reach = (stdtrit(self.df, (1 + level) / 2) if np.isfinite(self.df) else intervals.ndtri((1 + level) / 2)) * se
        for j in range(len(value)):
            t = draws[:, j][np.isfinite(draws[:, j])]
            if not np.isfinite(value[j]) or self.metric in BIASED:
                continue
            if not len(draws):
                low[j], high[j] = value[j] - reach[j], value[j] + reach[j]
            elif len(t) >= max(LEAST_DRAWS, 0.9 * len(draws)):
                t = t - t.mean() + value[j] if self.metric in CENTRED else t
                low[j], high[j] = intervals.percentile(t, value[j], level)
        return low, high


def paired(metric, y, P, w, draws):
    """Paired of one metric; draws (b, k) from `resampled`, none of them for b = 0."""
    estimate = np.array([METRICS[metric](y, p, w) for p in P.T])
    found = _by_rows(metric, y, P, w) if metric in LOSSES else _by_placements(y, P, w) if metric == "auc" else None
    error, se, df = _by_draws(draws) if found is None else found
    with np.errstate(invalid="ignore"):
        difference = estimate[:, None] - estimate[None, :]
    k = P.shape[1]
    same = np.array([[np.array_equal(P[:, i], P[:, j]) for j in range(k)] for i in range(k)])
    difference, se = np.where(same, 0.0, difference), np.where(same, 0.0, se)  # where losses are infinite too
    se = np.where(se < ROUND_OFF, 0.0, se)
    difference = np.where((se == 0) & (np.abs(difference) < ROUND_OFF), 0.0, difference)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where((se == 0) & (difference == 0), 0.0, np.where(se > 0, difference / se, np.nan))
    p = 2 * stdtr(df, -np.abs(z)) if np.isfinite(df) else two_sided(z)
    if metric in BIASED:
        error, se, z, p = (np.full_like(a, np.nan) for a in (error, se, z, p))
    return Paired(metric, estimate, error, difference, se, z, p, df, draws)


def mean_error(d, w=None):
    """(standard error of the weighted mean of d (n, ...), degrees of freedom); whole weights are rows repeated."""
    w = np.ones(len(d)) if w is None else w
    total, whole = w.sum(), bool(np.all(w == np.floor(w)))
    n = total if whole else total**2 / (w @ w)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = d - np.tensordot(w, d, 1) / total
        share = w / total if whole else w**2 / (w @ w)
        return np.sqrt(np.tensordot(share, centred**2, 1) / (n - 1)), n - 1


def _by_rows(metric, y, P, w):
    """Standard errors of means over rows and of their differences; t with one degree less than rows."""
    k = P.shape[1]
    L = np.stack([LOSSES[metric](y, p) for p in P.T], axis=1)
    error, df = mean_error(L, w)
    se = np.zeros((k, k))
    for i in range(k):
        for j in range(i):
            with np.errstate(invalid="ignore"):
                se[i, j] = se[j, i] = mean_error(L[:, i] - L[:, j], w)[0]
    return error, se, df


def _by_placements(y, P, w):
    """DeLong's standard errors of areas and of their differences; None where weights are fractions."""
    from ..calibration_tests import delong

    k = P.shape[1]
    error, se = np.full(k, np.nan), np.full((k, k), np.nan)
    counts = np.ones(len(y)) if w is None else w
    if not np.all(counts == np.floor(counts)):
        return None
    if min(counts @ y, counts @ (1 - y)) < 2:
        return error, se, np.inf
    for i in range(k):
        for j in range(i):
            try:
                found = delong(y, P[:, i], P[:, j], w)
            except ValueError:  # the areas differ with variance zero: there is no test
                continue
            error[i], error[j] = np.sqrt(found.var1), np.sqrt(found.var2)
            reach = intervals.ndtri(0.5 + found.level / 2)
            se[i, j] = se[j, i] = (found.conf_high - found.conf_low) / 2 / reach
    return error, se, np.inf


def _by_draws(draws):
    """Standard deviations of draws (b, k) and of their differences."""
    k = draws.shape[1]
    error = np.array([_sd(draws[:, j]) for j in range(k)])
    se = np.array([[_sd(draws[:, i] - draws[:, j]) for j in range(k)] for i in range(k)])
    return error, se, np.inf


def _sd(t):
    t = t[np.isfinite(t)]
    return t.std(ddof=1) if len(t) >= LEAST_DRAWS else np.nan


def resampled(y, P, w, names, metrics, n_boot, seed, progress=True):
    """{metric: (b, k)} of samples of rows, the same rows for all forecasts; whole weights are rows repeated.

    A sample is a function of (seed, its number) and of the rows, whatever their order. Metrics that are biased away
    from 0 get no draws.
    """
    k = P.shape[1]
    wanted = [m for m in metrics if m not in BIASED]
    out = {m: np.full((n_boot, k), np.nan) for m in wanted}
    done = 0
    if wanted and n_boot:
        draw = _Draws(y, P, w, names, seed)

        def one(b):
            count = draw.counts(b)
            for m in wanted:
                out[m][b] = draw.values(m, count)

        done = collected(n_boot, "bootstrap of the comparison", one, LEAST_DRAWS, progress)
    return {m: out[m][:done] if m in out else np.empty((0, k)) for m in metrics}


class _Draws:
    """Rows in an order of their own, each forecast's in that of its probabilities: sorting is most of the work."""

    def __init__(self, y, P, w, names, seed):
        w = np.ones(len(y)) if w is None else w
        first = sorted(range(len(names)), key=lambda j: names[j])
        order = np.lexsort([w, *(P[:, j] for j in first), y])
        self.y, self.P, self.w = y[order], P[order], w[order]
        self.whole = bool(np.all(w == np.floor(w)))
        repeats = self.w.astype(np.intp) if self.whole else np.ones(len(y), dtype=np.intp)
        self.owner = None if np.all(repeats == 1) else np.repeat(np.arange(len(y)), repeats)
        self.sampling = Sampling("pairs", int(repeats.sum()), seed)
        self.sorted = [np.argsort(p, kind="stable") for p in self.P.T]
        self.level = [np.unique(np.round(p, DIGITS), return_inverse=True)[1].ravel() for p in self.P.T]
        self.losses = {m: np.stack([f(self.y, p) for p in self.P.T], axis=1) for m, f in LOSSES.items()}

    def counts(self, b):
        """(n,) weight of each row in sample b."""
        drawn = self.sampling.multipliers(b)
        if self.owner is not None:
            drawn = np.bincount(self.owner, drawn, minlength=len(self.y))
        return drawn if self.whole else drawn * self.w

    def values(self, metric, count):
        """(k,) of a metric on a sample."""
        if metric in LOSSES:
            with np.errstate(invalid="ignore"):
                return count @ self.losses[metric] / count.sum()
        if metric == "auc":
            return np.array([_area(np.bincount(at, count * self.y), np.bincount(at, count * (1 - self.y)))
                             for at in self.level])  # fmt: skip
        out = np.empty(len(self.sorted))
        for j, order in enumerate(self.sorted):
            c = count[order]
            keep = c > 0
            at = order[keep]
            out[j] = METRICS[metric](self.y[at], self.P[at, j], c[keep])
        return out


def _area(events, others):
    """`isocal.metrics.auc` from the weights of events and of the others at each distinct probability, in order."""
    pairs = events.sum() * others.sum()
    return events @ (np.cumsum(others) - others / 2) / pairs if pairs > 0 else np.nan

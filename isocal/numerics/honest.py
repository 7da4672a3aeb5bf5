"""Simultaneous bands for a non-decreasing event probability, valid in finite samples without smoothness."""

import numpy as np
from scipy.special import betainc, betainccinv, xlogy


def upper_limits(events, rows, tail):
    """Upper ends U (k,): the least Clopper-Pearson limit over all runs of blocks that start at or after each block.

    The limit of a run with n rows and e events is u with P(Bin(n, u) <= e) = tail. Going down, only runs whose limit
    lies below the best so far matter; P(Bin = e) >= exp(-n KL)/sqrt(8 n q (1 - q)), q = e/n, 0 < e < n, rules out
    most of them without an incomplete beta function.
    """
    k = len(rows)
    n_to, e_to = np.r_[0.0, np.cumsum(rows)], np.r_[0.0, np.cumsum(events)]
    out = np.empty(k)
    best = 1.0
    for i in range(k - 1, -1, -1):
        n, e = n_to[i + 1 :] - n_to[i], e_to[i + 1 :] - e_to[i]
        open_ = np.flatnonzero(e < n)
        if best < 1.0:
            open_ = open_[_may_lie_below(n[open_], e[open_], best, tail)]
            open_ = open_[betainc(n[open_] - e[open_], e[open_] + 1, 1 - best) < tail]
        if len(open_):
            best = min(best, betainccinv(e[open_] + 1, n[open_] - e[open_], tail).min())
        out[i] = best
    return out


def _may_lie_below(n, e, u, tail):
    """False where P(Bin(n, u) <= e) > tail for certain, so that the limit of the run lies above u."""
    q = e / n
    log_mass = xlogy(e, u) + (n - e) * np.log1p(-u) - xlogy(e, q) - xlogy(n - e, 1 - q)
    log_mass -= np.where(e > 0, np.log(np.maximum(8 * n * q * (1 - q), 1e-300)) / 2, 0.0)
    return (q < u) & (log_mass <= np.log(tail) + 1e-9)


def clopper_pearson_hull(events, rows, alpha):
    """(lower, upper), both (k,): all runs at level alpha/(k^2 + k), then the best bound through each block."""
    tail = alpha / (len(rows) ** 2 + len(rows))
    upper = upper_limits(events, rows, tail)
    lower = 1 - upper_limits((rows - events)[::-1], rows[::-1], tail)[::-1]
    return lower, upper


def rounded_hull(x, events, rows, alpha, digits):
    """(x, lower, upper) of the same from scores rounded: downwards for the upper end, upwards for the lower end.

    Groups keep the score on the side where their bound holds: the smallest for the upper, the largest for the lower.
    """
    scaled = np.round(x * 10**digits, 9 - digits)
    first = np.flatnonzero(np.r_[True, np.diff(np.floor(scaled)) > 0])
    ends = np.r_[np.flatnonzero(np.diff(np.ceil(scaled)) > 0), len(x) - 1]
    starts = np.r_[0, ends[:-1] + 1]
    groups = [[np.add.reduceat(a, at) for a in (events, rows)] for at in (first, starts)]
    upper_at = clopper_pearson_hull(*groups[0], alpha)[1]
    lower_at = clopper_pearson_hull(*groups[1], alpha)[0]
    at = np.union1d(first, ends)
    upper = np.r_[upper_at, 1.0][np.searchsorted(first, at, side="left")]
    lower = np.r_[0.0, lower_at][np.searchsorted(ends, at, side="right")]
    return x[at], lower, upper


def yang_barber(cep, rows, alpha):
    """(lower, upper), both (k,), around an isotonic fit: runs at a Hoeffding radius sqrt(log((k^2 + k)/alpha)/(2 n)).

    Only runs that end with a level of the fit matter: within a level the bound has no inner maximum.
    """
    k = len(rows)
    constant = np.log((k**2 + k) / alpha) / 2
    lower = _hoeffding_lower(cep, rows, constant)
    upper = 1 - _hoeffding_lower(1 - cep[::-1], rows[::-1], constant)[::-1]
    return np.maximum(lower, 0.0), np.minimum(upper, 1.0)


def _hoeffding_lower(cep, rows, constant):
    n_to, s_to = np.r_[0.0, np.cumsum(rows)], np.r_[0.0, np.cumsum(rows * cep)]
    best = np.full(len(cep), -np.inf)
    for start in np.flatnonzero(np.r_[True, cep[1:] > cep[:-1]]):
        n = n_to[start + 1 :] - n_to[start]
        bound = (s_to[start + 1 :] - s_to[start]) / n - np.sqrt(constant / n)
        best[start:] = np.maximum(best[start:], bound)
    return np.maximum.accumulate(best)

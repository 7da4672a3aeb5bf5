"""Several methods on several data sets: ranks, Friedman's test, signed ranks, Holm's step-down, critical difference.

Demsar (2006), JMLR 7, 1-30. N data sets are rows, k methods are columns. Values that agree to 12 digits of the largest
one beside them are tied, so round-off never becomes an order. Departures from the paper: the Friedman statistic is also
given with the correction for ties, and the signed-rank law is the exact one also where differences are tied.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr

from .forecast import DIGITS

MOST_EXACT = 50  # differences whose 2^n signs are counted; above that the normal law, without continuity correction


def _scale(x):
    """The power of ten that brings the largest |x| into (0.1, 1]; 1 where all are zero."""
    largest = np.max(np.abs(x), initial=0.0)
    return 10.0 ** np.ceil(np.log10(largest)) if largest > 0 else 1.0


def mid_ranks(x):
    """(k,) ranks of x (k,) from 1, the smallest; tied values share the mean of their ranks."""
    _, at, counts = np.unique(np.round(x / _scale(x), DIGITS) + 0.0, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[at.ravel()]


@dataclass(frozen=True)
class Friedman:
    """Do all methods rank alike? ranks (N, k); mean (k,); the statistics and their p values.

    chi2 follows the chi-squared law of k - 1 degrees of freedom, f (Iman and Davenport) the F law of k - 1 and
    (k - 1)(N - 1); chi2_ties and f_ties are corrected for ties. All tied everywhere: statistics 0, p values 1.
    """

    ranks: np.ndarray
    mean: np.ndarray
    chi2: float
    chi2_ties: float
    f: float
    f_ties: float

    @property
    def df(self):
        """Degrees of freedom of chi2 and of f."""
        N, k = self.ranks.shape
        return k - 1, (k - 1) * (N - 1)

    def p_chi2(self, statistic):
        """Upper tail of chi2 or chi2_ties."""
        return float(chdtrc(self.df[0], statistic))

    def p_f(self, statistic):
        """Upper tail of f or f_ties."""
        return 0.0 if np.isinf(statistic) else float(fdtrc(*self.df, statistic))


def friedman(table):
    """Friedman of values (N, k), lowest value first."""
    ranks = np.array([mid_ranks(row) for row in table])
    N, k = ranks.shape
    mean = ranks.mean(axis=0)
    chi2 = max(0.0, 12 * N / (k * (k + 1)) * float(np.sum((mean - (k + 1) / 2) ** 2)))
    counts = [np.unique(row, return_counts=True)[1].astype(np.float64) for row in ranks]
    untied = 1 - sum(float(np.sum(t**3 - t)) for t in counts) / (N * k * (k**2 - 1))
    ties = chi2 / untied if untied > 0 else 0.0
    return Friedman(ranks, mean, chi2, ties, _iman_davenport(chi2, N, k), _iman_davenport(ties, N, k))


def _iman_davenport(chi2, N, k):
    """Iman & Davenport (1980), doi:10.1080/03610928008827904; infinite where all data sets rank alike."""
    rest = N * (k - 1) - chi2
    return (N - 1) * chi2 / rest if rest > 1e-12 * N * k else np.inf


def rank_z(mean, N):
    """(k, k) z of the differences of mean ranks, row minus column."""
    k = len(mean)
    return (mean[:, None] - mean[None, :]) / np.sqrt(k * (k + 1) / (6 * N))


def two_sided(z):
    """P(|Z| >= |z|) of the standard normal law."""
    return 2 * ndtr(-np.abs(z))


def holm(p):
    """Holm's adjusted p values of the family p (m,); NaN stays NaN and is none of the family.

    Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    steps = p[order] * np.arange(len(order), 0, -1)
    out = np.full(len(p), np.nan)
    out[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return out


def nemenyi_p(z, k):
    """P of a range of k standard normal variables at least as large as |z| times the root of 2."""
    from scipy.stats import studentized_range  # half a second to import

    return np.clip(studentized_range.sf(np.abs(z) * np.sqrt(2), k, np.inf), 0.0, 1.0)


def critical_difference(k, N, level):
    """Nemenyi's: mean ranks of k methods on N data sets that differ by less do not differ at this level."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * N)))


@dataclass(frozen=True)
class SignedRank:
    """Wilcoxon's signed ranks: sums of the ranks of positive and of negative differences, p value, exact or normal.

    The ranks of differences of zero count half on both sides, as in Demsar (2006); they do not enter the null law,
    which is that of Pratt (1959), doi:10.1080/01621459.1959.10501526.
    """

    plus: float
    minus: float
    p_value: float
    exact: bool


def signed_rank(a, b):
    """SignedRank of a - b, both (n,)."""
    d = np.round((a - b) / _scale(np.stack([a, b])), DIGITS)
    ranks = mid_ranks(np.abs(d))
    half = ranks[d == 0].sum() / 2
    plus, minus = ranks[d > 0].sum(), ranks[d < 0].sum()
    moving = ranks[d != 0]
    exact = len(moving) <= MOST_EXACT
    if exact:
        p = min(1.0, 2 * _signs_below(moving, min(plus, minus)))
    else:
        p = float(two_sided((plus - minus) / np.sqrt(np.sum(moving**2))))
    return SignedRank(float(plus + half), float(minus + half), p, exact)


def _signs_below(ranks, total):
    """P(sum of the ranks that get a plus <= total) where each gets one with probability 1/2, independently."""
    law = np.ones(1)
    for r in np.rint(2 * ranks).astype(np.intp):  # ranks are whole or halves
        more = np.zeros(len(law) + r)
        more[: len(law)] = law / 2
        more[r:] += law / 2
        law = more
    return float(law[: round(2 * total) + 1].sum())

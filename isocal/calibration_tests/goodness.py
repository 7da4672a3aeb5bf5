"""Goodness of fit: events in groups (Hosmer-Lemeshow), and the sum of squared errors of a logistic regression."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.special import chdtrc, logit, ndtr

from ..numerics.forecast import DIGITS
from ..numerics.quantiles import weighted_quantile
from .inputs import prepared, refuse_certain, size
from .outcome import Outcome

COUNTS = {"n", "events", "others"}
LOST = {"external": 0, "internal": 2}  # degrees of freedom
NOTHING = 1e-12  # share of the variance below which the regressors leave none


@dataclass(frozen=True, eq=False)
class HosmerLemeshow(Outcome):
    """asked and formed groups, kind, and the columns of the table of observed and expected counts."""

    term: ClassVar[str] = "hosmer_lemeshow"
    title: ClassVar[str] = "Hosmer-Lemeshow"
    tests: ClassVar[str] = "In groups of rows with similar p, events are as many as the p add up to."

    asked: int = 10
    formed: int = 10
    kind: str = "external"
    groups: dict = field(default_factory=dict)

    def table(self):
        """One row a group: low and high p, n, observed and expected events and non-events.

        Returns
        -------
        pandas.DataFrame
            Columns low, high, n, events, expected, others, expected_others.
        """
        return pd.DataFrame(self.groups)

    def facts(self):
        """Groups asked for and groups formed."""
        return {"Kind": self.kind, "Groups formed": f"{self.formed} of {self.asked} asked"}

    def tables(self):
        """Observed and expected counts."""
        counts = {
            name: [int(v) if name in COUNTS and v.is_integer() else v for v in values]
            for name, values in self.groups.items()
        }
        return {"Observed and expected": counts}

    def notes(self):
        """The caveat at large n."""
        return ("At large n the test rejects for departures too small to matter.",) if self.n >= 10_000 else ()


def hosmer_lemeshow(y, p, w=None, groups=10, kind="external", clip=None):
    """Hosmer-Lemeshow goodness-of-fit test.

    Rows are grouped by the quantiles (type 7) of p at 0, 1/groups, ..., 1, repeated quantiles counted once; a group
    is closed on the right, the first one on both sides. The statistic is the sum over groups of (O - E)^2 / E for
    events and for non-events.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities in [0, 1].
    w : array_like, shape (n,), optional
        Case weights (an integer weight is that many repeats).
    groups : int
        Groups asked for, at most n. Ties in p merge groups: `formed` of the result counts those that remain.
    kind : {"external", "internal"}
        External: p comes from other data, df is the number of groups. Internal: p is fitted by logistic regression
        to these very rows, df is two less.
    clip : float, optional
        Move p into [clip, 1 - clip] first.

    Returns
    -------
    HosmerLemeshow
        statistic, p_value, df, asked, formed, and `table()` of observed and expected counts.

    Raises
    ------
    ValueError
        Fewer rows than groups, an unknown kind, or so few groups formed that no degree of freedom is left.

    Notes
    -----
    A group whose p are all 0 (or all 1) adds nothing, nor to df, if the labels agree; otherwise the statistic is
    infinite. The result depends on the number of groups, and at large n (say, 10,000) the test rejects for departures
    too small to matter. Neither df is right on rows that a recalibration, or any flexible method, was fitted to.

    References
    ----------
    Hosmer, D. W. & Lemeshow, S. (1980). Communications in Statistics A9, 1043-1069. doi:10.1080/03610928008827941
    Hosmer, D. W. et al. (1997). Statistics in Medicine 16(9), 965-980.
    doi:10.1002/(SICI)1097-0258(19970515)16:9<965::AID-SIM509>3.0.CO;2-O
    Nattino, G., Pennell, M. L. & Lemeshow, S. (2020). Biometrics 76(2), 549-560. doi:10.1111/biom.13249

    Examples
    --------
    >>> from isocal.calibration_tests import hosmer_lemeshow
    >>> res = hosmer_lemeshow([0, 1, 0, 1], [0.25, 0.25, 0.5, 0.5], groups=2)
    >>> round(res.statistic, 4), res.df
    (0.6667, 2)
    """
    if kind not in LOST:
        raise ValueError(f"kind must be 'external' or 'internal'; got {kind!r}")
    if not isinstance(groups, int | np.integer) or groups < 1:
        raise ValueError(f"groups must be a whole number, 1 or more; got {groups!r}")
    y, p, w = prepared(y, p, w, clip)
    if w.sum() < groups:
        raise ValueError(f"hosmer_lemeshow needs at least as many rows as groups; groups={groups}, rows={size(w)}")
    table = _table(y, p, w, int(groups))
    observed = np.array([table["events"], table["others"]])
    expected = np.array([table["expected"], table["expected_others"]])
    terms, impossible = _terms(observed, expected)
    formed = len(table["n"])
    certain = np.any(expected == 0, axis=0) & ~impossible
    df = formed - int(certain.sum()) - LOST[kind]
    if df < 1:
        raise ValueError(
            f"hosmer_lemeshow ({kind}) has no degree of freedom left: {formed} groups formed of {groups} asked, "
            f"{int(certain.sum())} of them certain, from {len(np.unique(p))} distinct p"
        )
    statistic = float(np.sum(terms))
    p_value = float(chdtrc(df, statistic))
    return HosmerLemeshow(statistic, p_value, df, f"chi-squared({df})", size(w), int(groups), formed, kind, table)


def _terms(observed, expected):
    """((O - E)^2 / E with 0/0 = 0, which groups hold an event at p = 0 or a non-event at p = 1)."""
    gap = (observed - expected) ** 2
    none = expected == 0
    terms = np.where(none, np.where(observed > 0, np.inf, 0.0), gap / np.where(none, 1.0, expected))
    return terms, np.any(np.isinf(terms), axis=0)


def _table(y, p, w, groups):
    """{column: list}, one entry a group."""
    x = np.round(p, DIGITS)  # round-off must not become an order
    breaks = np.unique(weighted_quantile(x, w, np.arange(groups + 1) / groups))
    group = np.searchsorted(breaks[1:-1], x, side="left")
    _, group = np.unique(group, return_inverse=True)  # a group between two near quantiles may be empty
    sums = [np.bincount(group, v) for v in (w, w * y, w * p, w * (1 - y), w * (1 - p))]
    low = [float(x[group == g].min()) for g in range(len(sums[0]))]
    high = [float(x[group == g].max()) for g in range(len(sums[0]))]
    names = ("n", "events", "expected", "others", "expected_others")
    return {"low": low, "high": high} | {name: v.tolist() for name, v in zip(names, sums, strict=True)}


@dataclass(frozen=True, eq=False)
class SumOfSquares(Outcome):
    """sse, the sum of squared errors, its mean and standard deviation if the model holds, and how many regressors."""

    term: ClassVar[str] = "sse_gof"
    title: ClassVar[str] = "Unweighted Sum of Squares"
    tests: ClassVar[str] = "The logistic regression behind p, fitted to these rows, has the squared errors it expects."

    sse: float = 0.0
    expected: float = 0.0
    std_dev: float = 0.0
    regressors: int = 0

    def facts(self):
        """Sum of squares, its mean and standard deviation."""
        mean = f"{self.expected:.4f} ({self.std_dev:.4f})"
        return {"Regressors": str(self.regressors), "Sum of squares": f"{self.sse:.4f}", "Mean (std. dev.)": mean}


def sse_gof(y, p, x=None, w=None, clip=None):
    """Goodness of fit of a logistic regression to the rows it was fitted to: the unweighted sum of squared errors.

    If the model holds, sum (y - p)^2 has about the mean sum p (1 - p); its variance is what is left of
    sum p (1 - p) (1 - 2 p)^2 after a regression of 1 - 2 p on the regressors, weights p (1 - p), because p was fitted.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and fitted probabilities strictly between 0 and 1.
    x : array_like, shape (n, k) or (n,), optional
        The regressors; a constant is added. Left out, logit p stands for them: right where there was but one.
    w : array_like, shape (n,), optional
        Case weights of the fit (an integer weight is that many repeats).
    clip : float, optional
        Move p into [clip, 1 - clip] first.

    Returns
    -------
    SumOfSquares
        statistic z, p_value of the two-sided standard normal test, sse, expected, std_dev, regressors.

    Raises
    ------
    ValueError
        p of 0 or 1; x of another length or not finite; or regressors that leave no variance, as with two distinct p.

    Notes
    -----
    For p fitted elsewhere nothing is regressed out, and z is that of `spiegelhalter`. Regressors left out of x make
    the standard deviation too large and the test conservative.

    References
    ----------
    Copas, J. B. (1989). JRSS C 38(1), 71-80. doi:10.2307/2347682
    Hosmer, D. W. et al. (1997). Statistics in Medicine 16(9), 965-980.
    doi:10.1002/(SICI)1097-0258(19970515)16:9<965::AID-SIM509>3.0.CO;2-O

    Examples
    --------
    >>> from isocal.calibration_tests import sse_gof
    >>> res = sse_gof([0, 1, 0, 0, 1, 1], [0.2, 0.2, 0.5, 0.5, 0.9, 0.9], x=[0, 0, 1, 1, 2, 2])
    >>> round(res.sse, 4), round(res.expected, 4)
    (1.2, 1.0)
    """
    positive = np.full(np.shape(y), True) if w is None else np.asarray(w) > 0
    rows = len(positive)
    y, p, w = prepared(y, p, w, clip)
    refuse_certain(p, "sse_gof")
    X = logit(p)[:, None] if x is None else _regressors(x, rows)[positive]
    X = np.column_stack([np.ones(len(p)), X])
    root, skew = np.sqrt(w * p * (1 - p)), 1 - 2 * p
    coef = np.linalg.lstsq(X * root[:, None], root * skew, rcond=None)[0]
    variance = float(np.sum((root * (skew - X @ coef)) ** 2))
    if not variance > NOTHING * np.sum((root * skew) ** 2):
        raise ValueError(
            f"sse_gof: {X.shape[1] - 1} regressors leave the sum of squares no variance with {len(np.unique(p))} "
            "distinct p: there is nothing to test"
        )
    sse, expected, std_dev = float(w @ (y - p) ** 2), float(w @ (p * (1 - p))), float(np.sqrt(variance))
    z = (sse - expected) / std_dev
    p_value = float(2 * ndtr(-abs(z)))
    return SumOfSquares(z, p_value, None, "standard normal", size(w), sse, expected, std_dev, X.shape[1] - 1)


def _regressors(x, rows):
    """(n, k) finite regressors."""
    x = np.asarray(x, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or len(x) != rows or not np.isfinite(x).all():
        raise ValueError(f"x must hold finite regressors, one row for each of the {rows} labels; got shape {x.shape}")
    return x

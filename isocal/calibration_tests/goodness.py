"""The Hosmer-Lemeshow test: observed against expected events in groups of about equally many rows."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from ..numerics.forecast import DIGITS
from ..numerics.quantiles import weighted_quantile
from .inputs import prepared, size
from .outcome import Outcome

COUNTS = {"n", "events", "others"}
LOST = {"external": 0, "internal": 2}  # degrees of freedom


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

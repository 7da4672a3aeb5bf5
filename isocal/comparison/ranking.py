"""Several methods on several data sets: rank_test(), after Demsar (2006)."""

import difflib
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..numerics import ranks as numerics
from ..summary import Block, Summary
from .compared import p_text
from .ranked_table import read_table

GROUPS = {"nemenyi": "p_nemenyi", "holm": "p_holm", "wilcoxon": "wilcoxon_holm"}
MOST_PAIRS = 15  # printed by summary(); the frame holds them all
POOL = "Mean ranks of two methods, and tests on them, depend on the other methods; signed ranks do not."


@dataclass(frozen=True, eq=False)
class RankTest:
    """What `rank_test` returns.

    Attributes
    ----------
    values, ranks : DataFrame
        One row a data set, one column a method; rank 1 is the best, ties share their mean rank.
    frame : DataFrame
        One row a method, the best first: ``method mean_rank best mean``; ``best`` counts data sets where no method
        ranks before it, ``mean`` is of the values.
    tests : DataFrame
        Friedman and Iman-Davenport, each without and with the correction for ties: ``term statistic df df2 p_value``.
    pairs : DataFrame
        Every pair: ``first second difference statistic p_value p_holm p_nemenyi`` from mean ranks (first minus
        second), then Wilcoxon's signed ranks ``wins losses wilcoxon_p wilcoxon_holm``, wins being data sets where first
        is the better one.
    against : DataFrame or None
        The same against the control: ``method difference statistic p_value p_holm wins losses wilcoxon_p
        wilcoxon_holm``; Holm's family is the other methods alone, so p values are smaller than in pairs.
    control : str or None
    critical_difference, level : float
        Nemenyi's, at this level.
    lower_is_better : bool
    notes : tuple of str
    """

    values: pd.DataFrame
    ranks: pd.DataFrame
    frame: pd.DataFrame
    tests: pd.DataFrame
    pairs: pd.DataFrame
    against: pd.DataFrame | None
    control: str | None
    critical_difference: float
    level: float
    lower_is_better: bool
    notes: tuple = ()

    def summary(self):
        """Ranks, tests and comparisons on one page, as text, HTML and LaTeX.

        Returns
        -------
        Summary
        """
        N, k = self.values.shape
        head = Block(
            f"{k} Methods on {N} Data Sets", ("method", "mean rank", "best in", "mean value"),
            _texts(self.frame.method),
            tuple((f"{r:.4f}", f"{b}", f"{m:.4f}") for r, b, m in self.frame[["mean_rank", "best", "mean"]].itertuples(
                index=False)),
        )  # fmt: skip
        t = self.tests
        tests = Block(
            "Do All Methods Rank Alike?", ("test", "statistic", "df", "p value"), _texts(t.term),
            tuple((f"{s:.4f}", f"{a:g}" if np.isnan(b) else f"{a:g}, {b:g}", p_text(p)) for s, a, b, p in zip(
                t.statistic, t.df, t.df2, t.p_value, strict=True)),
        )  # fmt: skip
        blocks = (head, tests, self._comparisons())
        order = "lowest" if self.lower_is_better else "highest"
        cd = f"Critical difference of mean ranks (Nemenyi, level {self.level:g}): {self.critical_difference:.4f}."
        more = (f"All {len(self.pairs)} pairs: .pairs",) if self.against is None and self._many() else ()
        return Summary(blocks, (f"Rank 1 is the {order} value. {cd}", POOL, *self.notes, *more))

    def _many(self):
        return len(self.pairs) > MOST_PAIRS

    def _comparisons(self):
        if self.against is not None:
            t, title = self.against, f"Against {self.control}"
            stubs, columns = _texts(t.method), ("p_value", "p_holm", "wilcoxon_p", "wilcoxon_holm")
        else:
            t, title = self.pairs, "All Pairs"
            if self._many():
                t, title = t.nsmallest(MOST_PAIRS, "p_value"), f"The {MOST_PAIRS} Pairs Farthest Apart"
            stubs = tuple(f"{a} - {b}" for a, b in zip(t["first"], t["second"], strict=True))
            columns = ("p_value", "p_holm", "p_nemenyi", "wilcoxon_p", "wilcoxon_holm")
        names = {"p_value": "p", "p_holm": "p Holm", "p_nemenyi": "p Nemenyi", "wilcoxon_p": "signed ranks p",
                 "wilcoxon_holm": "p Holm"}  # fmt: skip
        rows = tuple(
            (f"{row.difference:.4f}", f"{row.statistic:.4f}", *(p_text(getattr(row, c)) for c in columns))
            for row in t.itertuples()
        )
        return Block(title, ("", "rank difference", "z", *(names[c] for c in columns)), stubs, rows)

    def plot(self, ax=None, *, groups="nemenyi"):
        """The critical-difference diagram: methods at their mean ranks, bars over those that do not differ.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        groups : {"nemenyi", "holm", "wilcoxon"}
            Which p values of ``pairs`` say that two methods differ: Nemenyi's (the paper), Holm's on mean ranks, or
            Holm's on signed ranks, which do not depend on the other methods. A bar joins methods next to each other
            in rank no two of which differ at the level.

        Returns
        -------
        matplotlib Axes
        """
        from ..plots.critical_difference import axes_for, draw_critical_difference

        if groups not in GROUPS:
            raise ValueError(f"groups must be one of {', '.join(map(repr, GROUPS))}; got {groups!r}")
        names, mean = self.frame.method.tolist(), self.frame.mean_rank.to_numpy()
        runs = _runs(self._differ(names, GROUPS[groups]))
        cd = self.critical_difference if groups == "nemenyi" else None
        what = {"nemenyi": "Nemenyi", "holm": "Holm on mean ranks", "wilcoxon": "Holm on signed ranks"}[groups]
        return draw_critical_difference(
            axes_for(ax, len(names), len(runs)), names, mean, runs, f"{what}, {1 - self.level:.3g}", cd, self.control
        )

    def _differ(self, names, column):
        """(k, k) whether two methods, in the order of names, differ at the level."""
        at = {name: i for i, name in enumerate(names)}
        out = np.zeros((len(names), len(names)), dtype=bool)
        for a, b, p in zip(self.pairs["first"], self.pairs["second"], self.pairs[column], strict=True):
            out[at[a], at[b]] = out[at[b], at[a]] = p <= 1 - self.level
        return out

    def __str__(self):
        return self.summary().as_text()

    __repr__ = __str__

    def _repr_html_(self):
        return self.summary().as_html()


def _texts(column):
    return tuple(map(str, column))


def _runs(differ):
    """[(first, last)] of the longest runs of two methods or more of which no two differ."""
    runs, k = [], len(differ)
    for i in range(k):
        last = i
        while last + 1 < k and not differ[i : last + 1, last + 1].any():
            last += 1
        if last > i and (not runs or last > runs[-1][1]):
            runs.append((i, last))
    return runs


def rank_test(table, control=None, lower_is_better=True, level=0.95, *, dataset=None, method=None, value=None):
    """Do methods differ over several data sets? Friedman and Iman-Davenport tests, and which pairs differ.

    Methods are ranked in every data set. The Friedman statistic is given as in Demsar (2006), without a correction for
    ties, and with it (as R and scipy compute it); so is the F of Iman and Davenport. Pairs are compared by the z of
    their mean ranks, adjusted by Holm's step-down and by Nemenyi's range, and beside it by Wilcoxon's signed ranks with
    Holm's step-down: these do not depend on the other methods of the table. With a control, Holm's families are the
    comparisons with the control alone.

    Parameters
    ----------
    table : DataFrame, shape (N, k)
        One row a data set, one column a method (its index, or the column named by ``dataset``, names the data sets). Or
        one row a value, where ``dataset``, ``method`` and ``value`` name its columns; several values of a method in a
        data set (folds, repetitions) are averaged.
    control : str, optional
        The method that the others are compared with.
    lower_is_better : bool
        True for losses and errors, False for accuracies and areas.
    level : float
        Of the critical difference, and of the bars of the diagram: 0.95 for tests at 0.05.
    dataset, method, value : str, optional
        Columns of a long table.

    Returns
    -------
    RankTest
        ``print`` it; ``.frame``, ``.tests``, ``.pairs``, ``.against``, ``.critical_difference``, ``.plot()``.

    Raises
    ------
    ValueError
        A cell that is missing or infinite, a column without numbers, fewer than two methods or data sets, a control
        that is no method.

    Notes
    -----
    The critical difference uses the studentized range of infinite degrees of freedom, as the table of the paper does
    (R's scmamp uses finite ones). The chi-squared law asks for about N > 10 and k > 5; F and signed ranks do with less.
    Signed ranks are exact, ties included, up to 50 differences. Values are compared to 12 digits.

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30.
    Garcia, S. & Herrera, F. (2008). An extension on "Statistical comparisons ...". JMLR 9, 2677-2694.
    Iman, R. L. & Davenport, J. M. (1980). Comm. Statist. A 9(6), 571-595. doi:10.1080/03610928008827904
    Benavoli, A., Corani, G. & Mangili, F. (2016). Should we really use post-hoc tests based on mean-ranks? JMLR 17(5).

    Examples
    --------
    >>> import isocal, pandas as pd
    >>> brier = pd.DataFrame({"a": [.11, .21, .31, .41, .51], "b": [.12, .22, .32, .42, .52],
    ...                       "c": [.13, .23, .33, .40, .53]}, index=["d1", "d2", "d3", "d4", "d5"])
    >>> found = isocal.rank_test(brier, control="a")
    >>> found.frame.mean_rank.tolist()
    [1.2, 2.2, 2.6]
    >>> round(float(found.tests.statistic[0]), 4)
    5.2
    """
    if isinstance(level, bool) or not 0 < level < 1:
        raise ValueError(f"level is a coverage between 0 and 1, such as 0.95; got {level!r}")
    if not isinstance(lower_is_better, bool | np.bool_):
        raise TypeError(f"lower_is_better must be True (losses) or False (accuracies); got {lower_is_better!r}")
    values, notes = read_table(table, dataset, method, value)
    names = list(values.columns)
    if control is not None and control not in names:
        near = difflib.get_close_matches(str(control), names, n=1, cutoff=0.5)
        raise ValueError(
            f"control {control!r} is no method: " + (f"did you mean {near[0]!r}?" if near else f"they are {names}")
        )
    x = values.to_numpy() if lower_is_better else -values.to_numpy()
    found = numerics.friedman(x)
    frame = pd.DataFrame({
        "method": names, "mean_rank": found.mean,
        "best": np.sum(found.ranks == found.ranks.min(axis=1, keepdims=True), axis=0),
        "mean": values.to_numpy().mean(axis=0),
    }).sort_values("mean_rank", kind="stable", ignore_index=True)  # fmt: skip
    N, k = x.shape
    pairs = _pairs(names, found, x, list(zip(*np.triu_indices(k, 1), strict=True)))
    pairs.insert(6, "p_nemenyi", numerics.nemenyi_p(pairs.statistic.to_numpy(), k))
    against = None
    if control is not None:
        c = names.index(control)
        against = _pairs(names, found, x, [(i, c) for i in range(k) if i != c])
        against = against.drop(columns="second").rename(columns={"first": "method"})
    return RankTest(
        values, pd.DataFrame(found.ranks, values.index, values.columns), frame, _tests(found), pairs, against, control,
        numerics.critical_difference(k, N, level), float(level), bool(lower_is_better), notes,
    )  # fmt: skip


def _tests(found):
    df, df2 = found.df
    rows = [
        ("Friedman", found.chi2, df, np.nan, found.p_chi2(found.chi2)),
        ("Friedman, ties corrected", found.chi2_ties, df, np.nan, found.p_chi2(found.chi2_ties)),
        ("Iman-Davenport", found.f, df, df2, found.p_f(found.f)),
        ("Iman-Davenport, ties corrected", found.f_ties, df, df2, found.p_f(found.f_ties)),
    ]
    return pd.DataFrame(rows, columns=["term", "statistic", "df", "df2", "p_value"])


def _pairs(names, found, x, pairs):
    """The comparisons (i, j) of methods; Holm's family is these."""
    i, j = np.array(pairs).T
    z = numerics.rank_z(found.mean, len(x))[i, j]
    p = numerics.two_sided(z)
    signed = [numerics.signed_rank(x[:, b], x[:, a]) for a, b in pairs]
    wilcoxon = np.array([s.p_value for s in signed])
    ahead = found.ranks[:, i] - found.ranks[:, j]
    return pd.DataFrame({
        "first": [names[a] for a in i], "second": [names[b] for b in j], "difference": found.mean[i] - found.mean[j],
        "statistic": z, "p_value": p, "p_holm": numerics.holm(p), "wins": np.sum(ahead < 0, axis=0),
        "losses": np.sum(ahead > 0, axis=0), "wilcoxon_p": wilcoxon, "wilcoxon_holm": numerics.holm(wilcoxon),
    })  # fmt: skip

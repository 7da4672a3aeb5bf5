"""Methods over several data sets: Demsar's and Garcia & Herrera's tables, other programs, ties, bad tables, diagram."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import isocal
from isocal.numerics.ranks import critical_difference, holm, mid_ranks, signed_rank

HERE = Path(__file__).parent / "reference" / "diag"
SHARED = Path(__file__).parents[1].parent / "shared" / "reference" / "diag"
EXACT = 1e-10  # INFERENCE rows 26 and 27
CASES = {
    "demsar_untied": "demsar2006_table6_untied.csv", "demsar_3digits": "demsar2006_table6.csv",
    "garcia_herrera_2008": "gh2008_scmamp.csv",
}  # fmt: skip


def case(name):
    """(table of accuracies, scmamp's and R's numbers, those of Python programs)."""
    local = name.startswith("demsar")
    if not local and not SHARED.exists():
        pytest.skip("shared folder is absent")
    table = pd.read_csv((HERE if local else SHARED / "inputs") / CASES[name])
    table = table.set_index("dataset") if local else table
    out = []
    for file in ("scmamp", "python"):
        lines = pd.read_csv((HERE if local else SHARED) / "outputs" / f"friedman_posthoc_{file}.csv")
        lines = lines[lines.case == name]
        out.append(dict(zip(lines.quantity, lines.value.astype(float), strict=True)))
    return table, *out


@pytest.fixture(scope="module")
def demsar():
    return case("demsar_untied")[0]


def pairs_of(found, column):
    return {f"{r['first']} vs {r['second']}": r[column] for _, r in found.pairs.iterrows()}


@pytest.mark.parametrize("name", CASES)
def test_friedman_is_that_of_scmamp_r_and_scipy(name):
    table, r, python = case(name)
    found = isocal.rank_test(table, lower_is_better=False)
    mean = found.frame.set_index("method").mean_rank
    for method in table:
        assert mean[method] == pytest.approx(r[f"avg_rank.{method}"], abs=EXACT)
    tests = found.tests.set_index("term")
    plain, ties, f = (tests.loc[t] for t in ("Friedman", "Friedman, ties corrected", "Iman-Davenport"))
    assert plain.statistic == pytest.approx(r["friedman_chisq"], rel=EXACT)
    assert plain.p_value == pytest.approx(r["friedman_p"], rel=EXACT)
    for other in (r, python):
        assert ties.statistic == pytest.approx(other["friedman_chisq_tiecorr"], rel=EXACT)
        assert ties.p_value == pytest.approx(other["friedman_p_tiecorr"], rel=EXACT)
    assert f.statistic == pytest.approx(r["iman_davenport_F"], rel=EXACT)
    assert f.p_value == pytest.approx(r["iman_davenport_p"], rel=EXACT)
    k, N = table.shape[1], len(table)
    assert (f.df, f.df2) == (k - 1, (k - 1) * (N - 1))


@pytest.mark.parametrize("name", CASES)
def test_all_pairs_are_those_of_scmamp_and_scikit_posthocs(name):
    table, r, python = case(name)
    found = isocal.rank_test(table, lower_is_better=False)
    checks = 0
    for column, keys in (("p_value", ("pair_raw", "siegel_raw")), ("p_holm", ("pair_holm", "siegel_holm")),
                         ("p_nemenyi", ("nemenyi",))):  # fmt: skip
        for pair, value in pairs_of(found, column).items():
            swapped = " vs ".join(reversed(pair.split(" vs ")))
            for key in keys:
                source = python if key in ("siegel_raw", "siegel_holm", "nemenyi") else r
                expected = source.get(f"{key}.{pair}", source.get(f"{key}.{swapped}"))
                assert value == pytest.approx(expected, abs=EXACT), (column, pair)
                checks += 1
    k = table.shape[1]
    assert checks == 5 * k * (k - 1) / 2


@pytest.mark.parametrize("name", CASES)
def test_holm_against_each_control_is_that_of_scmamp(name):
    table, r, _ = case(name)
    for control in table:
        against = isocal.rank_test(table, control, lower_is_better=False).against.set_index("method")
        assert control not in against.index
        for method in against.index:
            assert against.p_value[method] == pytest.approx(r[f"control={control}.raw.{method}"], abs=EXACT)
            assert against.p_holm[method] == pytest.approx(r[f"control={control}.holm.{method}"], abs=EXACT)


def test_demsar_as_printed_in_the_paper(demsar):
    found = isocal.rank_test(demsar, "C4.5", lower_is_better=False)
    mean = found.frame.set_index("method").mean_rank
    assert mean[demsar.columns].round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert found.tests.statistic.round(2).tolist()[::2] == [9.28, 3.69]
    p = found.against.set_index("method").p_value
    assert p[["C4.5+m+cf", "C4.5+m", "C4.5+cf"]].tolist() == pytest.approx([0.016, 0.019, 0.607], abs=2e-3)
    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=2e-4)
    assert isocal.rank_test(demsar, level=0.9).critical_difference == pytest.approx(1.12, abs=5e-3)
    # section 3.1.3: R+ = 93, R- = 12 for C4.5+m over C4.5, the two zero differences shared
    signed = signed_rank(demsar["C4.5+m"].to_numpy(), demsar["C4.5"].to_numpy())
    assert (signed.plus, signed.minus) == (93, 12)


def test_critical_difference_has_infinite_degrees_of_freedom():
    lines = pd.read_csv(HERE / "outputs" / "friedman_posthoc_python.csv")
    q = lines[lines.case == "nemenyi_q"].set_index("quantity").value.astype(float)
    for k in range(2, 11):
        for alpha in (0.05, 0.1):
            assert critical_difference(k, 7, 1 - alpha) == pytest.approx(
                q[f"k={k}.alpha={alpha}"] * np.sqrt(k * (k + 1) / 42), abs=1e-9
            )


def test_holm_is_that_of_statsmodels():
    lines = pd.read_csv(HERE / "outputs" / "friedman_posthoc_python.csv")
    expected = lines[(lines.case == "pvalues_demsar_control_C4.5") & lines.quantity.str.startswith("holm.")].value
    raw = [0.015719980210024593, 0.019172484755223106, 0.6084078002329985]
    assert holm(raw) == pytest.approx(expected.to_numpy(float), abs=EXACT)
    p = np.random.default_rng(0).random(12) ** 3
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], rel=1e-14)
    assert np.isnan(holm([0.01, np.nan, 0.04])[1])
    assert holm([0.01, np.nan, 0.04])[[0, 2]].tolist() == [0.02, 0.04]


def test_signed_ranks_are_those_of_scipy():
    rng = np.random.default_rng(3)
    for n in (2, 5, 14, 50):
        a, b = rng.normal(size=(2, n))
        found = signed_rank(a, b)
        assert found.exact
        assert found.p_value == pytest.approx(stats.wilcoxon(a, b, method="exact").pvalue, rel=1e-12)
    a, b = np.round(rng.normal(size=(2, 200)), 1)  # ties and zeros, the normal law
    found = signed_rank(a, b)
    other = stats.wilcoxon(np.round(a - b, 12), zero_method="pratt", correction=False, method="approx")
    assert not found.exact and np.any(a == b)
    assert found.p_value == pytest.approx(other.pvalue, rel=1e-10)


def test_signed_ranks_are_exact_with_ties():
    # |d| = 1, 1, 1, 2: ranks 2, 2, 2, 4 and signs + + + -, so plus is 6 and minus 4.
    # Of 16 signs the sums are 0 2 2 2 4 4 4 4 6 6 6 6 8 8 8 10: 8 are at most 4, so p = min(1, 2 * 8/16)
    assert signed_rank(np.array([1.0, 1, 1, 0]), np.array([0.0, 0, 0, 2])).p_value == 1.0
    # all four the same way: 2/16
    found = signed_rank(np.array([1.0, 1, 1, 2]), np.zeros(4))
    assert (found.plus, found.minus, found.p_value) == (10, 0, 2 / 16)


def test_signed_ranks_as_r_prints_them():
    if not SHARED.exists():
        pytest.skip("shared folder is absent")
    d = pd.read_csv(SHARED / "inputs" / "niamey2016_reliabilitydiag.csv")
    r = pd.read_csv(SHARED / "outputs" / "paired_comparison_boot.csv").set_index("quantity").value.astype(float)
    found = signed_rank(((d.y - d.ENS) ** 2).to_numpy(), ((d.y - d.EMOS) ** 2).to_numpy())
    assert found.plus == r["wilcoxon_V"]
    assert found.p_value == pytest.approx(r["wilcoxon_p"], rel=EXACT)


def test_wilcoxon_holm_stands_beside(demsar):
    found = isocal.rank_test(demsar, "C4.5", lower_is_better=False)
    row = found.against.set_index("method").loc["C4.5+m"]
    first, second = demsar["C4.5+m"], demsar["C4.5"]
    assert (row.wins, row.losses) == (np.sum(first > second), np.sum(first < second)) == (10, 2)
    p = found.against.wilcoxon_p.to_numpy()
    assert found.against.wilcoxon_holm.to_numpy() == pytest.approx(multipletests(p, method="holm")[1])


def test_round_off_is_no_order():
    assert mid_ranks(np.array([0.3, 0.1 + 0.2, 0.5])).tolist() == [1.5, 1.5, 3]
    assert mid_ranks(np.array([3e9, (0.1 + 0.2) * 1e10, 5e9])).tolist() == [1.5, 1.5, 3]
    assert mid_ranks(np.array([3e-9, (0.1 + 0.2) * 1e-8, 5e-9])).tolist() == [1.5, 1.5, 3]
    assert signed_rank(np.array([0.3, 0.9]), np.array([0.1 + 0.2, 0.5])).p_value == 1.0
    assert mid_ranks(np.array([0.3, 0.3 + 2e-13, 0.3 + 2e-11])).tolist() == [1.5, 1.5, 3]
    table = pd.DataFrame({"a": [0.3, 0.6], "b": [0.1 + 0.2, 0.7], "c": [0.9, 0.1]})
    assert isocal.rank_test(table).ranks.loc[0].tolist() == [1.5, 1.5, 3]


def test_direction_turns_the_ranks_and_nothing_else(demsar):
    up, down = (isocal.rank_test(demsar, lower_is_better=low) for low in (False, True))
    assert (up.ranks + down.ranks).to_numpy() == pytest.approx(np.full(demsar.shape, 5.0))
    assert up.tests.statistic.to_numpy() == pytest.approx(down.tests.statistic.to_numpy())
    assert up.pairs.wilcoxon_p.tolist() == pytest.approx(down.pairs.wilcoxon_p.tolist())
    assert (up.pairs.wins == down.pairs.losses).all()


def test_two_methods_and_methods_that_are_all_alike():
    same = isocal.rank_test(pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3]}))
    assert same.tests.statistic.tolist() == [0, 0, 0, 0] and same.tests.p_value.tolist() == [1, 1, 1, 1]
    assert same.pairs.p_holm[0] == 1 and same.pairs.wilcoxon_p[0] == 1
    # always ahead: chi2 = N (k - 1) = 3, F infinite, signed ranks 2/2^3
    ahead = isocal.rank_test(pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.4, 0.6]}))
    assert ahead.tests.statistic.tolist() == [pytest.approx(3), pytest.approx(3), np.inf, np.inf]
    assert ahead.tests.p_value.tolist()[2] == 0 and ahead.pairs.wilcoxon_p[0] == 0.25


def test_long_tables_and_other_libraries(demsar):
    wide = demsar.reset_index()
    long = wide.melt("dataset", var_name="m", value_name="auc")
    expected = isocal.rank_test(demsar, lower_is_better=False)
    names = {"dataset": "dataset", "method": "m", "value": "auc"}
    twice = pd.concat([long.assign(auc=long.auc - 0.01), long.assign(auc=long.auc + 0.01)])
    for found in (
        isocal.rank_test(wide, lower_is_better=False, dataset="dataset"),
        isocal.rank_test(pl.from_pandas(wide), lower_is_better=False, dataset="dataset"),
        isocal.rank_test(long, lower_is_better=False, **names),
        isocal.rank_test(pl.from_pandas(long), lower_is_better=False, **names),
        isocal.rank_test(twice, lower_is_better=False, **names),
    ):
        assert found.ranks.to_numpy().tolist() == expected.ranks.to_numpy().tolist()
        assert found.values.index.tolist() == demsar.index.tolist()
        assert found.values.columns.tolist() == demsar.columns.tolist()
    assert "mean of 2 rows" in str(isocal.rank_test(twice, **names))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda d: d.mask(d == 0.936), {}, "method 'C4.5' on data set 'iris' is missing: every method needs a value"),
        (lambda d: d.replace(1.0, np.inf), {}, r"'mushroom' is infinite \(4 cells are\)"),
        (lambda d: d[["C4.5"]], {}, "two methods or more; the table has 1"),
        (lambda d: d.head(1), {}, "two data sets or more, one a row; the table has 1"),
        (lambda d: d, {"control": "C4.5m"}, "control 'C4.5m' is no method: did you mean 'C4.5"),
        (lambda d: d, {"control": "zzz"}, "control 'zzz' is no method: they are"),
        (lambda d: d.reset_index(), {}, "column 'dataset' must hold numbers.* say dataset='dataset'"),
        (lambda d: d, {"level": 95}, "level is a coverage between 0 and 1"),
        (lambda d: d, {"dataset": "datasett"}, "'datasett' is not a column"),
        (lambda d: d, {"method": "C4.5"}, "a long table needs .*; dataset= is missing"),
    ],
)
def test_bad_tables(demsar, change, options, message):
    with pytest.raises(ValueError, match=message):
        isocal.rank_test(change(demsar), **options)


def test_bad_long_tables(demsar):
    long = demsar.reset_index().melt("dataset", var_name="m", value_name="auc")
    names = {"dataset": "dataset", "method": "m", "value": "auc"}
    with pytest.raises(ValueError, match=r"'C4.5' on data set 'iris' is missing"):
        isocal.rank_test(long[(long.m != "C4.5") | (long.dataset != "iris")], **names)
    with pytest.raises(ValueError, match=r"'auc' of method 'C4.5' on data set 'iris' is missing"):
        isocal.rank_test(long.mask((long.m == "C4.5") & (long.dataset == "iris"), np.nan).assign(
            dataset=long.dataset, m=long.m), **names)  # fmt: skip
    with pytest.raises(TypeError, match="lower_is_better must be True"):
        isocal.rank_test(demsar, lower_is_better="accuracy")


def test_summary_says_what_matters(demsar):
    found = isocal.rank_test(demsar, "C4.5", lower_is_better=False)
    text = str(found)
    for part in ("4 Methods on 14 Data Sets", "9.2786", "10.2283", "3, 39", "Against C4.5", "1.2536", "highest value",
                 "depend on the other methods"):  # fmt: skip
        assert part in text
    assert "&lt;" in isocal.rank_test(demsar.rename(columns={"C4.5": "<b>"}))._repr_html_()
    assert found.summary() == isocal.rank_test(demsar, "C4.5", lower_is_better=False).summary()
    many = pd.DataFrame(np.random.default_rng(0).random((9, 7)), columns=list("abcdefg"))
    assert "All 21 pairs: .pairs" in str(isocal.rank_test(many))


def bars(ax):
    """Ends of the bars of the diagram, as printed ranks widened by the reach."""
    return [sorted(line.get_xdata()) for line in ax.lines if line.get_linewidth() > 3]


def test_diagram_joins_methods_that_do_not_differ():
    table, _, _ = case("garcia_herrera_2008")
    found = isocal.rank_test(table, lower_is_better=False)
    ax = found.plot()
    mean = found.frame.mean_rank.to_numpy()  # 2.10 2.20 3.12 3.25 4.33, critical difference 1.11
    expected = [(0, 2), (1, 3), (3, 4)]
    for (low, high), (first, last) in zip(bars(ax), expected, strict=True):
        assert low < mean[first] < mean[first] + 0.07 and mean[last] < high < mean[last] + 0.07
        assert mean[first] - 0.07 < low
    texts = " ".join(t.get_text() for t in ax.texts)
    assert "NaiveBayes  2.20" in texts and "critical difference 1.114 (Nemenyi, 0.05)" in texts
    # signed ranks: C4.5 and NaiveBayes, CN2 and k-NN, and nothing else (p = .56, .52; all others below .05)
    other = found.plot(groups="wilcoxon")
    assert len(bars(other)) == 2
    with pytest.raises(ValueError, match="groups must be one of"):
        found.plot(groups="bonferroni")
    plt.close("all")


def test_diagram_draws_on_the_axes_given(demsar):
    fig, ax = plt.subplots()
    assert isocal.rank_test(demsar, "C4.5", lower_is_better=False).plot(ax) is ax
    fig.canvas.draw()
    with pytest.raises(TypeError, match="matplotlib Axes"):
        isocal.rank_test(demsar).plot(fig)
    plt.close("all")

"""res.bootstrap: replicates are refits of samples drawn again, whoever computes them; get_prediction; summary."""

import pickle
import re
from dataclasses import FrozenInstanceError

import joblib
import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest

import isocal
from isocal.bootstrap import LeftOut, Sampling, refit, sampling
from isocal.metrics import auc, brier
from isocal.numerics import progress as bar

mpl.use("Agg")

DATA = isocal.datasets.simulate_scores(150, M=2, rng=1).assign(
    w=lambda d: 1 + d.index % 3, ward=lambda d: "ward " + (d.index // 10).astype(str)
)
ROUND, SOLVER = 1e-12, 1e-8  # sums in another order; fits of repeated rows, their coefficients less the tie-break
QUIET = {"progress": False}


@pytest.fixture(scope="module")
def res():
    return isocal.bernstein("y ~ s1 + s2", DATA, K=3).fit()


@pytest.fixture(scope="module")
def boot(res):
    return res.bootstrap(n_boot=199, rng=0, **QUIET)


def drawn(boot, j):
    """The rows of replicate j, repeated as often as drawn."""
    counts = boot.sampling.multipliers(j).astype(int)
    return DATA.loc[np.repeat(DATA.index, counts)].reset_index(drop=True)


@pytest.mark.parametrize("j", [0, 57, 198])
def test_a_replicate_is_the_fit_of_its_rows(boot, j):
    rows = drawn(boot, j)
    assert len(rows) == 150
    again = isocal.bernstein("y ~ s1 + s2", rows, K=3).fit()
    assert boot.replicates.curves[j] == pytest.approx(again.curve.beta, abs=SOLVER)
    assert boot.replicates.values(DATA[["s1", "s2"]].to_numpy())[j] == pytest.approx(
        again.predict(DATA).to_numpy(), abs=SOLVER
    )


@pytest.mark.parametrize("j", [0, 57])
def test_quantities_of_a_replicate_are_those_of_the_refit(boot, j):
    rows = drawn(boot, j)
    again = isocal.bernstein("y ~ s1 + s2", rows, K=3).fit()
    p = again.fittedvalues
    boot.conf_int(of="scores"), boot.conf_int(of="slopes")
    assert boot.cache["scores"][2][j] == pytest.approx([brier(rows.y, p), auc(rows.y, p)], abs=SOLVER)
    assert boot.cache["slopes"][2][j] == pytest.approx(again.facts["slopes"], abs=1e-7)


def test_coefficients_are_kept_as_one_matrix(boot, res):
    assert boot.replicates.curves.shape == (199, 4, 4) and boot.n_boot == 199
    table = boot.conf_int()
    assert table.index.tolist() == list(res.curve.coef()) and table.estimate.tolist() == res.params.tolist()
    assert table.columns.tolist() == ["estimate", "std_error", "conf_low", "conf_high"]
    assert np.all(table.conf_low <= table.conf_high)


def test_standard_error_of_a_mean_is_the_closed_form():
    """One bin: f is the event frequency, and its bootstrap variance is q (1 - q)/n."""
    res = isocal.histogram("y ~ s1", DATA, bins=1).fit()
    boot = res.bootstrap(n_boot=800, rng=0, **QUIET)
    q, row = DATA.y.mean(), boot.conf_int(of=DATA.head(1)).iloc[0]
    se = np.sqrt(q * (1 - q) / 150)
    assert row.estimate == pytest.approx(q) and row.std_error == pytest.approx(se, rel=5 / np.sqrt(2 * 800))
    bayes = res.bootstrap(n_boot=800, method="bayesian", rng=0, **QUIET).conf_int(of=DATA.head(1)).iloc[0]
    assert bayes.std_error == pytest.approx(se * np.sqrt(150 / 151), rel=5 / np.sqrt(2 * 800))
    for kind in ("normal", "basic", "percentile", "bca"):
        found = boot.conf_int(of=DATA.head(1), kind=kind).iloc[0]
        assert [found.conf_low, found.conf_high] == pytest.approx([q - 1.96 * se, q + 1.96 * se], abs=0.015)
    sub = res.bootstrap(n_boot=800, method="subsample", size=50, rng=0, **QUIET).conf_int(of=DATA.head(1)).iloc[0]
    assert sub.std_error == pytest.approx(se * np.sqrt((150 - 50) / 149), rel=5 / np.sqrt(2 * 800))


@pytest.mark.parametrize("method", ["pairs", "bayesian", "parametric", "subsample"])
def test_what_is_drawn(method):
    p = np.full(40, 0.25)
    way = Sampling(method, 40, 3, size=15, p=p)
    W = np.array([way.multipliers(j) for j in range(300)])
    Y = np.array([way.labels(j, np.ones(40)) for j in range(300)])
    if method == "parametric":
        assert np.all(W == 1) and Y.mean() == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 1800))
        return
    assert np.all(Y == 1) and W.sum(axis=1) == pytest.approx(15 if method == "subsample" else 40)
    variance = {"pairs": 1 - 1 / 40, "bayesian": 39 / 41, "subsample": 15 / 40 * 25 / 40}[method]
    assert W.mean(axis=1) == pytest.approx(W.mean()) and W.var() == pytest.approx(variance, rel=0.05)
    assert set(np.unique(W)) <= {0, 1} if method == "subsample" else True
    assert np.array_equal(W[7], way.multipliers(7))


def test_parametric_replicates_are_refits_of_drawn_labels(res):
    boot = res.bootstrap(n_boot=30, method="parametric", rng=5, **QUIET)
    y = boot.sampling.labels(11, None)
    again = isocal.bernstein("y ~ s1 + s2", DATA.assign(y=y.astype(int)), K=3).fit()
    assert boot.replicates.curves[11] == pytest.approx(again.curve.beta, abs=SOLVER)


def test_rows_are_the_units_and_keep_their_weights():
    boot = isocal.bernstein("y ~ s1 + s2", DATA, K=2, weights="w").fit().bootstrap(n_boot=25, rng=2, **QUIET)
    counts = boot.sampling.multipliers(4)
    assert counts.sum() == 150  # rows, not the sum of weights
    rows = DATA.assign(w=counts * DATA.w)
    again = isocal.bernstein("y ~ s1 + s2", rows, K=2, weights="w").fit()
    assert boot.replicates.curves[4] == pytest.approx(again.curve.beta, abs=SOLVER)


@pytest.mark.parametrize("as_column", [True, False])
def test_clusters_are_drawn_whole(res, as_column):
    boot = res.bootstrap(n_boot=25, cluster="ward" if as_column else DATA.ward.to_numpy(), rng=1, **QUIET)
    counts = boot.sampling.multipliers(3)
    each = pd.Series(counts).groupby(DATA.ward.to_numpy())
    assert (each.nunique() == 1).all() and each.first().sum() == 15
    assert "clusters drawn with replacement (15 clusters)" in str(boot)


def test_clusters_follow_the_rows_that_are_used():
    data = DATA.copy()
    data.loc[[3, 40], "s1"] = np.nan
    res = isocal.bernstein("y ~ s1 + s2", data, K=2).fit()
    a = res.bootstrap(n_boot=20, cluster="ward", rng=0, **QUIET)
    for labels in (data.ward, data.ward.drop([3, 40])):
        b = res.bootstrap(n_boot=20, cluster=labels, rng=0, **QUIET)
        assert np.array_equal(a.replicates.curves, b.replicates.curves)


@pytest.mark.parametrize("n_jobs", [2, -1])
@pytest.mark.parametrize("door", ["bernstein", "platt"])
def test_n_jobs_changes_no_bit(door, n_jobs):
    formula = "y ~ s1 + s2" if door == "bernstein" else "y ~ s1"
    res = getattr(isocal, door)(formula, DATA).fit()
    one = res.bootstrap(n_boot=150, rng=8, **QUIET)
    with joblib.parallel_config("threading"):
        many = res.bootstrap(n_boot=150, rng=8, n_jobs=n_jobs, **QUIET)
    assert np.array_equal(one.conf_int(), many.conf_int())


def test_processes_give_the_same_replicates(res, boot):
    many = res.bootstrap(n_boot=199, rng=0, n_jobs=2, **QUIET)
    assert np.array_equal(many.replicates.curves, boot.replicates.curves)


def test_a_dask_cluster_gives_the_same_replicates():
    distributed = pytest.importorskip("distributed", reason="distributed is in the extra 'dask'")
    res = isocal.isotonic("y ~ s1", DATA).fit()
    own = res.bootstrap(n_boot=48, rng=3, **QUIET)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        spread = res.bootstrap(n_boot=48, rng=3, n_jobs=None, **QUIET)
    places = DATA.head(7)
    assert np.array_equal(own.conf_int(of=places), spread.conf_int(of=places))


def test_seeds():
    res = isocal.bernstein("y ~ s1", DATA, K=2).fit()
    fresh = res.bootstrap(n_boot=20, **QUIET)
    again = res.bootstrap(n_boot=20, rng=fresh.seed, **QUIET)
    assert np.array_equal(fresh.replicates.curves, again.replicates.curves) and f"Seed: {fresh.seed}" in str(fresh)
    other = res.bootstrap(n_boot=20, **QUIET)
    assert other.seed != fresh.seed
    drawn = [res.bootstrap(n_boot=20, rng=np.random.default_rng(4), **QUIET).seed for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_an_interrupt_keeps_what_is_done(monkeypatch):
    res = isocal.platt("y ~ s1", DATA).fit()
    calls = []

    def interrupted(self, s, Y, W=None):
        calls.append(1)
        if len(calls) > stop:
            raise KeyboardInterrupt
        return type(res.recipe).__mro__[1].fit_many(self, s, Y, W)

    monkeypatch.setattr(isocal.bootstrap.refits, "block_size", lambda recipe, n: 8)
    monkeypatch.setattr(type(res.recipe), "fit_many", interrupted)
    stop = 4
    with pytest.warns(UserWarning, match="interrupted: 32 of 100 replicates are kept"):
        boot = res.bootstrap(n_boot=100, rng=0, **QUIET)
    assert boot.n_boot == 32 and boot.asked == 100 and "Replicates: 32 of 100 asked for" in str(boot)
    calls.clear()
    stop = 2
    with pytest.raises(KeyboardInterrupt):
        res.bootstrap(n_boot=100, rng=0, **QUIET)


def test_progress_bar(monkeypatch, capsys):
    monkeypatch.setattr(bar.importlib.util, "find_spec", lambda name: None)
    isocal.bernstein("y ~ s1", DATA, K=2).fit().bootstrap(n_boot=20, rng=0, **QUIET)
    assert capsys.readouterr().err == ""


def rare():
    return isocal.datasets.simulate_scores(14, M=1, rng=0).assign(y=[1] + [0] * 13)


@pytest.mark.parametrize("door", ["bernstein", "platt", "isotonic", "histogram", "beta", "temperature", "bbq"])
def test_replicates_of_one_class_are_defined_and_counted(door):
    res = getattr(isocal, door)("y ~ s1", rare()).fit()
    boot = res.bootstrap(n_boot=60, rng=0, **QUIET)
    without = sum(boot.sampling.multipliers(j)[0] == 0 for j in range(60))
    assert boot.one_class == without > 5 and boot.n_boot == 60 - sum(boot.failed.values())
    assert not boot.failed or "parts the labels" in str(boot)  # beta: one replicate is separable
    assert f"Replicates of one class only: {without}, kept" in str(boot)
    values = boot.replicates.values(np.array([[0.2], [0.8]]))[boot.replicates.one_class]
    assert np.all((values >= 0) & (values <= 1))
    if door in ("bernstein", "isotonic", "histogram"):
        assert np.all(values == 0)


def test_replicates_that_cannot_be_fitted_are_counted_and_left_out():
    class Choosy(type(isocal.platt("y ~ s1", DATA).fit().recipe)):
        def fit_arrays(self, s, y, w=None):
            if w is not None and w[0] > 2:
                raise ValueError("the first row came up too often")
            return super().fit_arrays(s, y, w)

    boot = isocal.Model("y ~ s1", DATA, Choosy()).fit().bootstrap(n_boot=300, rng=0, **QUIET)
    lost = boot.failed["the first row came up too often"]
    assert 0 < lost < 60 and boot.n_boot == 300 - lost and f"Left out: {lost} replicates" in str(boot)


def test_transforms_are_held_or_learned_anew():
    res = isocal.bernstein("y ~ ecdf(s1) + s2", DATA, K=2).fit()
    held = res.bootstrap(n_boot=20, rng=0, **QUIET)
    anew = res.bootstrap(n_boot=20, rng=0, refit_transform=True, **QUIET)
    rows = drawn(held, 6)
    again = isocal.bernstein("y ~ ecdf(s1) + s2", rows, K=2).fit()
    assert np.abs(anew.replicates.curves[6] - again.curve.beta).max() < SOLVER
    assert np.abs(held.replicates.curves[6] - again.curve.beta).max() > 1e-4
    at = np.array([anew.conf_int(level=0.8, of=DATA.head(5)).estimate, res.predict(DATA.head(5))])
    assert np.array_equal(*at)
    frame = anew.conf_band(DATA.head(5), kind="pointwise", level=0.8)
    assert np.all(frame.conf_low <= frame.conf_high) and "transforms learned anew" in str(anew)
    anew.conf_int(level=0.8, of="scores"), anew.conf_int(level=0.8, of="slopes")
    p = again.fittedvalues
    assert anew.cache["scores"][2][6] == pytest.approx([brier(rows.y, p), auc(rows.y, p)], abs=SOLVER)
    assert anew.cache["slopes"][2][6] == pytest.approx(again.facts["slopes"], abs=1e-7)


def test_the_degree_is_held_or_chosen_anew():
    res = isocal.bernstein("y ~ s1", DATA, K="cv").fit()
    held = res.bootstrap(n_boot=9, rng=0, **QUIET)
    assert held.replicates.curves.shape == (9, *res.curve.beta.shape) and "held fixed" in str(held)
    anew = res.bootstrap(n_boot=9, rng=0, reselect=True, **QUIET)
    assert len({curve.K for curve in anew.replicates.curves}) > 1 and "options chosen anew" in str(anew)
    assert len(anew.conf_band(level=0.8)) == 101
    with pytest.raises(ValueError, match="has other coefficients in each replicate: pass of=DataFrame"):
        anew.conf_int(level=0.8)


def test_bca_leaves_out_rows_groups_or_clusters(res):
    left = LeftOut.of(Sampling("pairs", 6, 0))
    assert np.array_equal(np.array([left.multipliers(j) for j in range(6)]), 1 - np.eye(6))
    many = LeftOut.of(Sampling("pairs", 1203, 0))
    sizes = np.bincount(many.groups)
    assert len(sizes) == 500 and sizes.min() == 2 and sizes.max() == 3
    codes = sampling.group_codes(DATA.ward)
    assert LeftOut.of(Sampling("pairs", 150, 0, codes)).units == 15
    rows = res.bootstrap(n_boot=2, rng=0, **QUIET).rows
    found = refit(res.recipe, rows, LeftOut(np.arange(150)), 150, progress=False)
    again = isocal.bernstein("y ~ s1 + s2", DATA.drop(17), K=3).fit()
    assert found.curves[17] == pytest.approx(again.curve.beta, abs=SOLVER)


def test_bca_says_where_it_is_not_defined():
    """A coefficient held at 0 has no replicate below it: the bias correction is infinite."""
    res = isocal.bernstein("y ~ s1", DATA.assign(y=(DATA.s1 > 0.6).astype(int)), K=4).fit()
    assert res.params["beta[0]"] == 0
    boot = res.bootstrap(n_boot=39, rng=0, **QUIET)
    with pytest.warns(UserWarning, match=r"kind='bca' is not defined for beta\[0\]"):
        table = boot.conf_int(kind="bca")
    assert np.isnan(table.conf_low["beta[0]"]) and boot.conf_int(kind="percentile").notna().all(axis=None)


@pytest.mark.parametrize("method", ["percentile", "basic", "studentized"])
@pytest.mark.parametrize("kind", ["simultaneous", "pointwise"])
def test_band_is_monotone_and_labelled(boot, kind, method):
    axis = np.linspace(0, 1, 9)
    grid = pd.DataFrame({"s1": np.repeat(axis, 9), "s2": np.tile(axis, 9)})
    band = boot.conf_band(grid, level=0.9, kind=kind, method=method)
    assert band.columns.tolist() == ["s1", "s2", "predicted", "se", "conf_low", "conf_high", "extrapolated"]
    for edge in (band.conf_low, band.conf_high):
        edge = edge.to_numpy().reshape(9, 9)
        assert min(np.diff(edge, axis=0).min(), np.diff(edge, axis=1).min()) >= -ROUND
    assert band.conf_low.min() >= 0 and band.conf_high.max() <= 1 and band.extrapolated.any()
    assert band.attrs["title"] == f"variability of the estimator ({kind}, {method}), not a band for the true map"
    t = boot.replicates.values(grid.to_numpy())
    if method == "percentile":
        inside = (t >= band.conf_low.to_numpy() - ROUND) & (t <= band.conf_high.to_numpy() + ROUND)
        share = inside.all(axis=1).mean() if kind == "simultaneous" else inside.mean(axis=0).min()
        assert share >= 0.9 - 1e-9 if kind == "simultaneous" else share >= 0.89


def test_band_comes_in_the_library_of_the_grid(boot):
    band = boot.conf_band(pl.DataFrame({"s1": [0.2, 0.4], "s2": [0.5, 0.5]}))
    assert isinstance(band, pl.DataFrame) and band.shape == (2, 7)


def test_prediction_in_the_manner_of_statsmodels(boot, res):
    new = pd.DataFrame({"s1": [0.2, np.nan, 2.0], "s2": [0.5, 0.5, 0.5]}, index=list("abc"))
    made = res.get_prediction(new, boot)
    frame = made.summary_frame(level=0.9)
    assert frame.columns.tolist() == ["predicted", "se", "conf_low", "conf_high", "extrapolated"]
    assert frame.index.tolist() == list("abc") and frame.iloc[1][:4].isna().all()
    assert frame.extrapolated.tolist() == [False, False, True]
    assert np.array_equal(frame.predicted, res.predict(new), equal_nan=True)
    one = boot.conf_int(level=0.9, of=new.iloc[[0]]).iloc[0]
    assert frame.iloc[0][:4].tolist() == pytest.approx([one.estimate, one.std_error, one.conf_low, one.conf_high])
    own = res.get_prediction(n_boot=39, rng=7)
    assert own.bootstrap.n_boot == 39 and own.bootstrap.seed == 7 and len(own.summary_frame()) == 150
    assert np.array_equal(own.se, own.draws.std(axis=0, ddof=1))


def test_summary_shows_the_intervals(boot, res):
    text = res.summary(bootstrap=boot).as_text()
    slopes, scores = boot.conf_int(of="slopes"), boot.conf_int(of="scores")
    for row in (slopes.loc["s1"], slopes.loc["s2"], scores.loc["Brier score"], scores.loc["AUC"]):
        assert re.search(r"\s+".join(f"{v:.4f}" for v in row), text)
    assert "std err" in text and "199 pairs replicates (seed 0)" in text
    assert "std err" not in res.summary().as_text() and res.summary(bootstrap=boot) == res.summary(bootstrap=boot)
    step = isocal.isotonic("y ~ s1", DATA).fit()
    assert "std err" in step.summary(bootstrap=step.bootstrap(n_boot=39, rng=0, **QUIET)).as_text()


def test_digest_pickle_and_frozen(boot):
    assert str(boot).splitlines() == [
        "Bootstrap of Isotonic Bernstein polynomial: y ~ s1 + s2",
        "Replicates: 199, pairs: rows drawn with replacement", "Seed: 0; options of the fit held fixed",
    ]  # fmt: skip
    assert boot._repr_html_().startswith("<p>Bootstrap of")
    again = pickle.loads(pickle.dumps(boot))
    pd.testing.assert_frame_equal(again.conf_int(), boot.conf_int())
    with pytest.raises(FrozenInstanceError):
        boot.asked = 3


@pytest.mark.parametrize("formula", ["y ~ s1", "y ~ s1 + s2", "y ~ s1 + s2 + p"])
def test_plots_return_their_axes(formula):
    boot = isocal.bernstein(formula, DATA, K=2).fit().bootstrap(n_boot=39, rng=0, **QUIET)
    ax = boot.plot(most=10)
    heading = ax.get_legend().get_title().get_text()
    assert heading.startswith("variability of the estimator") and ax.get_xlabel() == "s1"
    assert ("p at quantile 0.5" in heading) == (formula.count("+") == 2)
    entries = [t.get_text() for t in ax.get_legend().get_texts()]
    assert "10 replicates" in entries and boot.plot(ax=mpl.figure.Figure().subplots(), level=0.5) is not ax
    mpl.pyplot.close("all")


def test_plot_of_a_constant_fit():
    data = DATA.assign(y=0)
    boot = isocal.bernstein("y ~ s1 + s2", data, K=1).fit().bootstrap(n_boot=20, rng=0, **QUIET)
    assert boot.one_class == 20 and boot.plot().get_ylabel() == "s2"
    mpl.pyplot.close("all")


@pytest.mark.parametrize("n_boot", [0, 1, -5, 9.5, True, "99"])
def test_bad_n_boot(res, n_boot):
    with pytest.raises(ValueError, match="n_boot must be a whole number of at least 2, such as 999; got"):
        res.bootstrap(n_boot=n_boot)


@pytest.mark.parametrize("level", [0, 1, 95, "0.95", float("nan")])
def test_bad_level(res, boot, level):
    calls = (boot.conf_int, boot.conf_band, boot.plot, res.get_prediction(DATA.head(2), boot).summary_frame)
    for call in calls:
        with pytest.raises(ValueError, match=r"level is a coverage between 0 and 1, such as 0\.95; got"):
            call(level=level)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "wild"}, "method must be one of 'pairs', 'bayesian', 'parametric', 'subsample'; got 'wild'"),
        ({"cluster": np.zeros(150)}, "cluster puts all rows into one cluster: at least two are needed"),
        ({"cluster": np.arange(10)}, r"one label for each of the 150 rows of data; got shape \(10,\)"),
        ({"cluster": "wart"}, "cluster='wart' is not a column of the data: did you mean 'ward'?"),
        ({"cluster": np.r_[np.nan, np.arange(149)]}, r"cluster has no label in row 0 \(counting from 0\)"),
        ({"cluster": "ward", "method": "parametric"}, "knows no clusters: use 'pairs'"),
        ({"method": "subsample", "size": 9}, "whole number from 10 to 149, fewer than the 150 rows of the fit; got 9"),
        ({"method": "subsample", "size": 150}, "from 10 to 149"),
        ({"method": "subsample", "size": 9, "cluster": "ward"}, "fewer than the 15 clusters of the fit; got 9"),
        ({"size": 20}, "size is for method='subsample'; method is 'pairs'"),
        ({"reselect": True}, "reselect=True needs a fit that chose its options, such as K='cv'"),
        ({"rng": -1}, "rng must be None, a whole number >= 0 or a numpy Generator; got -1"),
        ({"rng": "seed"}, "rng must be None"),
    ],
)
def test_bad_options(res, options, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        res.bootstrap(n_boot=20, progress=False, **options)


def test_bad_ways_to_ask(boot, res):
    grid = DATA[["s1", "s2"]].head(4)
    for bad in ({"kind": "bca"}, {"method": "bca"}):
        with pytest.raises(ValueError, match="BCa is for single numbers, not curves: on a plateau"):
            boot.conf_band(grid, **bad)
    with pytest.raises(ValueError, match="kind must be 'simultaneous' or 'pointwise'; got 'percentile'"):
        boot.conf_band(grid, kind="percentile")
    with pytest.raises(ValueError, match="method must be one of 'percentile', 'basic', 'studentized'"):
        boot.conf_band(grid, method="hulc")
    with pytest.raises(ValueError, match="kind must be one of 'percentile', 'basic', 'bca', 'normal'; got 'bc'"):
        boot.conf_int(kind="bc")
    with pytest.raises(ValueError, match="of must be 'coefficients', 'scores', 'slopes' or a DataFrame"):
        boot.conf_int(of="brier")
    for ask in (lambda g: boot.conf_band(g), lambda g: boot.conf_int(of=g)):
        with pytest.raises(ValueError, match=r"grid has a missing score in 1 of 4 rows, the first is row 2"):
            ask(grid.assign(s1=[0.1, 0.2, np.nan, 0.3]))
        with pytest.raises(isocal.FormulaError, match="'s2'"):
            ask(grid[["s1"]])
    with pytest.raises(ValueError, match="give grid, a DataFrame with the columns"):
        boot.conf_band()
    with pytest.raises(ValueError, match="has no slopes: pass of=DataFrame"):
        isocal.isotonic("y ~ s1", DATA).fit().bootstrap(n_boot=39, rng=0, **QUIET).conf_int(of="slopes")
    with pytest.raises(ValueError, match="kind='bca' is for method='pairs' and 'bayesian'; these replicates are sub"):
        res.bootstrap(n_boot=39, rng=0, method="subsample", **QUIET).conf_int(kind="bca", of="scores")
    learned = isocal.bernstein("y ~ ecdf(s1)", DATA, K=2).fit()
    with pytest.raises(ValueError, match="keeps the scores, so transforms cannot differ"):
        learned.bootstrap(n_boot=20, method="parametric", refit_transform=True)


def test_too_few_replicates_for_the_level(res):
    few = res.bootstrap(n_boot=20, rng=0, **QUIET)
    message = "20 replicates are too few for level=0.95: the ends are the extreme ones; use n_boot of at least 39"
    with pytest.warns(UserWarning, match=message):
        few.conf_int()


def test_replicates_of_another_fit_are_refused(boot):
    other = isocal.bernstein("y ~ s1", DATA, K=2).fit()
    for ask in (lambda b: other.summary(bootstrap=b), lambda b: other.get_prediction(DATA, bootstrap=b)):
        with pytest.raises(ValueError, match=r"bootstrap belongs to another fit \(y ~ s1 \+ s2\)"):
            ask(boot)
        with pytest.raises(TypeError, match=r"must be what .bootstrap\(\) of this fit returned; got int"):
            ask(99)


def test_a_loaded_fit_says_to_refit(res, tmp_path):
    res.save(tmp_path / "fit.json")
    loaded = isocal.load(tmp_path / "fit.json")
    for ask in (loaded.bootstrap, lambda: loaded.get_prediction(DATA)):
        with pytest.raises(ValueError, match=r"bootstrap\(\) needs the rows of the fit, .* refit with data"):
            ask()


def test_the_least_volatile_size_is_where_neighbouring_intervals_agree():
    from isocal.bootstrap.volatility import candidate_sizes, least_volatile

    ends = np.array([0.0, 3.0, 5.0, 5.1, 5.2, 8.0, 4.0])[:, None, None] + np.array([[-1.0], [1.0]])
    assert least_volatile(ends) == 3  # 5.0, 5.1, 5.2
    assert least_volatile(ends[:2]) == 1
    sizes = candidate_sizes(1000, 10)
    assert (sizes[0], sizes[-1], len(sizes)) == (32, 501, 9)  # 1000^.5 and 1000^.9
    assert candidate_sizes(12, 10) == [10] or max(candidate_sizes(12, 10)) <= 11


def test_volatility_takes_one_of_the_sizes_tried(res):
    from isocal.bootstrap.volatility import candidate_sizes

    head = DATA.head(2)
    found = res.bootstrap(n_boot=39, method="subsample", size="volatility", rng=1, **QUIET)
    assert found.sampling.size in candidate_sizes(res.nobs, 10)
    again = res.bootstrap(n_boot=39, method="subsample", size=found.sampling.size, rng=1, **QUIET)
    assert np.array_equal(found.conf_int(of=head), again.conf_int(of=head))
    with pytest.raises(ValueError, match="size is for method='subsample'"):
        res.bootstrap(n_boot=39, size="volatility")

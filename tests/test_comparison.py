"""Fits compared on the same rows: paired numbers of other programs, rows, folds, marks, weights, errors, figures."""

import dataclasses
import os

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from diag_reference import SHARED
from scipy import stats
from sklearn.metrics import brier_score_loss, roc_auc_score
from statsmodels.stats.multitest import multipletests

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import isocal
from isocal.calibration_tests import delong
from isocal.comparison.paired import _Draws, mean_error, paired, resampled
from isocal.comparison.seen import seen_share
from isocal.metrics import METRICS
from isocal.numerics.folds import fold_weights, row_hash

DATA = isocal.datasets.simulate_scores(600, M=2, rng=4)
DATA["w"] = np.random.default_rng(0).integers(1, 4, 600).astype(float)
TRAIN, NEW = DATA.head(300), DATA.tail(300)
QUICK = {"n_boot": 30, "rng": 0, "progress": False}


def models(data=TRAIN, **options):
    return {
        "both": isocal.bernstein("y ~ s1 + s2", data, K=3, **options).fit(),
        "one": isocal.platt("y ~ s1", data, **options).fit(),
    }


FITS = models()


def row(found, metric, fit):
    d = found.differences
    return d[(d.metric == metric) & (d.fit == fit)].iloc[0]


# numbers


@pytest.fixture(scope="module")
def niamey():
    """(data, comparison with EMOS as control); paired_t is of R's t.test, ENS minus EMOS."""
    if not SHARED.exists():
        pytest.skip("shared folder is absent")
    d = pd.read_csv(SHARED / "inputs" / "niamey2016_reliabilitydiag.csv")
    fits = ["EMOS", "ENS", "EPC", "Logistic"]
    return d, isocal.compare(fits, d, "brier", response="y", control="EMOS", n_boot=999, rng=0, progress=False)


def test_paired_brier_is_that_of_r(niamey):
    _, found = niamey
    r = pd.read_csv(SHARED / "outputs" / "paired_comparison_boot.csv").set_index("quantity").value.astype(float)
    ens = row(found, "brier", "ENS")
    assert ens.difference == pytest.approx(r["brier_diff"], abs=1e-12)
    assert ens.statistic == pytest.approx(r["paired_t"], rel=1e-12)
    assert ens.p_value == pytest.approx(r["paired_t_p"], rel=1e-10)
    assert ens.std_error == pytest.approx(r["ScoreDiff_sd"], rel=1e-12)
    # other draws than R's 999: Monte Carlo error of an end is about .003
    assert ens.conf_low == pytest.approx(r["percent_0.95_lo"], abs=0.01)
    assert ens.conf_high == pytest.approx(r["percent_0.95_hi"], abs=0.01)


def test_interval_of_r_from_its_own_draws():
    if not SHARED.exists():
        pytest.skip("shared folder is absent")
    d = pd.read_csv(SHARED / "inputs" / "niamey2016_reliabilitydiag.csv")
    index = pd.read_csv(SHARED / "inputs" / "boot_indices_niamey_R999.csv", header=None).to_numpy() - 1
    r = pd.read_csv(SHARED / "outputs" / "paired_comparison_boot.csv").set_index("quantity").value.astype(float)
    P = d[["ENS", "EMOS"]].to_numpy()
    draws = ((d.y.to_numpy()[:, None] - P) ** 2)[index].mean(axis=1)
    low, high = paired("brier", d.y.to_numpy(float), P, None, draws).difference_interval(1, 0.95)
    assert (low[0], high[0]) == pytest.approx((r["percent_0.95_lo"], r["percent_0.95_hi"]), abs=1e-12)


def test_estimates_are_those_of_the_metrics():
    found = isocal.compare(FITS, NEW, ["brier", "auc", "ece"], **QUICK)
    for name, fit in FITS.items():
        p = fit.predict(NEW)
        line = found.frame.loc[name]
        assert line.brier == pytest.approx(brier_score_loss(NEW.y, p), abs=1e-14)
        assert line.auc == pytest.approx(roc_auc_score(NEW.y, p), abs=1e-14)
        assert line.ece == METRICS["ece"](NEW.y, p)
    best = found.reference("brier")
    assert best == found.frame.brier.idxmin() and found.reference("auc") == found.frame.auc.idxmax()
    assert found.frame.brier_diff[best] == 0 and np.isnan(found.frame.brier_p[best])


def test_auc_differences_are_delongs():
    found = isocal.compare({**FITS, "s2": "s2"}, NEW, "auc", control="both", **QUICK)
    for name, p in (("one", FITS["one"].predict(NEW)), ("s2", NEW.s2)):
        direct = delong(NEW.y, p, FITS["both"].predict(NEW))
        line = row(found, "auc", name)
        assert line.statistic == pytest.approx(direct.statistic, rel=1e-10)
        assert line.p_value == pytest.approx(direct.p_value, rel=1e-8)
        assert line.difference == pytest.approx(direct.difference, abs=1e-14)


def test_paired_t_of_log_loss_is_that_of_scipy():
    found = isocal.compare(FITS, NEW, "log_loss", control="both", **QUICK)
    y = NEW.y.to_numpy()
    losses = [-np.log(np.where(y == 1, p, 1 - p)) for p in (FITS["one"].predict(NEW), FITS["both"].predict(NEW))]
    t = stats.ttest_rel(*losses)
    line = row(found, "log_loss", "one")
    assert (line.statistic, line.p_value) == pytest.approx((t.statistic, t.pvalue), rel=1e-9)
    error = found.estimates.set_index("fit").std_error["one"]
    assert error == pytest.approx(stats.sem(losses[0]), rel=1e-12)


def test_holm_is_over_all_pairs_for_the_best_and_over_the_others_for_a_control():
    fits = {**FITS, "a": "s1", "b": "s2"}
    y, P = NEW.y.to_numpy(float), np.stack([FITS["both"].predict(NEW), FITS["one"].predict(NEW), NEW.s1, NEW.s2])
    loss = (y - P) ** 2
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    raw = [stats.ttest_rel(loss[i], loss[j]).pvalue for i, j in pairs]
    adjusted = dict(zip(pairs, multipletests(raw, method="holm")[1], strict=True))
    found = isocal.compare(fits, NEW, "brier", **QUICK)
    best = list(fits).index(found.reference("brier"))
    for j, name in enumerate(fits):
        if j != best:
            assert row(found, "brier", name).p_holm == pytest.approx(adjusted[min(j, best), max(j, best)], rel=1e-8)
    found = isocal.compare(fits, NEW, "brier", control="a", **QUICK)
    mine = [p for (i, j), p in zip(pairs, raw, strict=True) if 2 in (i, j)]
    assert sorted(found.differences.p_holm.dropna()) == pytest.approx(sorted(multipletests(mine, method="holm")[1]))


def test_biased_metrics_have_no_intervals_and_say_so():
    found = isocal.compare(FITS, NEW, ["ece", "debiased_ce"], **QUICK)
    ece = found.differences[found.differences.metric == "ece"]
    assert ece[["std_error", "conf_low", "p_value", "p_holm"]].isna().all(axis=None) and ece.difference.notna().all()
    assert found.estimates[found.estimates.metric == "debiased_ce"].conf_low.notna().all()
    assert "No intervals for ece: biased away from 0" in str(found)


def test_bootstrap_draws_are_of_the_metrics():
    rng = np.random.default_rng(5)
    P, w = np.round(rng.random((80, 2)), 2), rng.integers(0, 3, 80).astype(float)
    y = (rng.random(80) < P[:, 0]).astype(float)
    keep = w > 0
    y, P, w = y[keep], P[keep], w[keep]
    draw = _Draws(y, P, w, ["a", "b"], 7)
    count = draw.counts(3)
    assert count.sum() == w.sum()  # as many rows as the whole weights stand for
    for metric in ("brier", "log_loss", "auc", "accuracy", "debiased_ce"):
        expected = [METRICS[metric](draw.y, p, count) for p in draw.P.T]
        assert draw.values(metric, count) == pytest.approx(expected, rel=1e-12)
    again = resampled(y, P, w, ["a", "b"], ["brier"], 30, 7, False)["brier"]
    assert np.ptp(again[:, 0] - again[:, 1]) > 0


def test_bootstrap_error_is_near_that_of_delong():
    found = isocal.compare(FITS, NEW, "auc", control="both", n_boot=400, rng=1, progress=False)
    line = row(found, "auc", "one")
    assert (line.conf_high - line.conf_low) / (2 * 1.96 * line.std_error) == pytest.approx(1, abs=0.15)


def test_the_same_forecast_twice_does_not_differ():
    found = isocal.compare({"a": "s1", "b": "s1", "c": "s2"}, NEW, response="y", control="a", **QUICK)
    d = found.differences[found.differences.fit == "b"]
    assert len(d) == 4 and (d.difference == 0).all() and (d.p_value == 1).all() and (d.conf_high == 0).all()


def test_infinite_log_loss_and_one_class_are_said():
    p = np.where(np.arange(300) == 0, 1.0 - NEW.y.iloc[0], NEW.s1)
    found = isocal.compare({**FITS, "sure": p}, NEW, **QUICK)
    assert np.isinf(row(found, "log_loss", "sure").difference) and np.isnan(row(found, "log_loss", "sure").p_value)
    assert found.reference("log_loss") != "sure" and "Log loss of sure is infinite" in str(found)
    assert row(found, "log_loss", "one" if found.reference("log_loss") == "both" else "both").p_holm <= 1
    events = NEW[NEW.y == 1]
    found = isocal.compare(FITS, events, **QUICK)
    assert found.frame.auc.isna().all() and "auc is not defined on these rows: one class is absent" in str(found)


# rows


def test_cross_validation_of_one_formula_is_that_of_the_fits():
    fits = {
        "a": isocal.bernstein("y ~ s2 + s1", TRAIN, K=3).fit(),
        "b": isocal.bernstein("y ~ s2 + s1", TRAIN, K=2).fit(),
    }
    found = isocal.compare(fits, metrics=["brier", "auc"], **QUICK)
    for name, fit in fits.items():
        assert np.array_equal(found.forecasts[name], fit.cross_val_predict())
        assert found.frame.brier[name] == fit.metrics(which=["brier"]).estimate["brier"]
    assert set(found.judged.values()) == {"cross-validated"} and "the same folds for all fits" in str(found)


def test_folds_are_the_same_for_all_fits():
    found = isocal.compare(FITS, **QUICK)
    W = fold_weights(TRAIN.y.to_numpy(float), TRAIN[["s1", "s2"]].to_numpy())
    for f in range(5):
        test = W[:, f] > 0
        for name, method, formula in (("both", isocal.bernstein, "y ~ s1 + s2"), ("one", isocal.platt, "y ~ s1")):
            fit = method(formula, TRAIN[~test], **({"K": 3} if name == "both" else {})).fit()
            assert found.forecasts[name][test] == pytest.approx(fit.predict(TRAIN[test]).to_numpy(), abs=1e-8)


def test_rows_that_a_fit_cannot_predict_are_left_out_for_all():
    gaps = NEW.copy()
    gaps.loc[gaps.index[:7], "s2"] = np.nan
    gaps.loc[gaps.index[5:9], "y"] = np.nan
    found = isocal.compare({**FITS, "s1": "s1"}, gaps, **QUICK)
    assert len(found.y) == 291 and found.left_out == {"missing y": 4, "without a probability from 'both'": 5}
    assert "Left out for all fits: 4 missing y, 5 without a probability from 'both'." in str(found)
    assert found.forecasts["s1"].tolist() == gaps.s1.iloc[9:].tolist()


def test_cross_validation_on_the_rows_that_fits_share():
    gaps = TRAIN.copy()
    gaps.loc[gaps.index[:20], "s2"] = np.nan
    raw = gaps.s1.to_numpy().copy()
    raw[25] = np.nan
    found = isocal.compare({**models(gaps), "raw": raw}, **QUICK)
    assert found.left_out == {"not among the rows of 'both'": 20, "without a probability from 'raw'": 1}
    common = gaps.drop(gaps.index[[*range(20), 25]])
    assert found.forecasts["raw"].tolist() == common.s1.tolist() and found.y.tolist() == common.y.tolist()
    alone = isocal.compare(models(common), **QUICK)
    assert found.frame.brier["one"] == pytest.approx(alone.frame.brier["one"], abs=1e-12)


def test_marks(tmp_path):
    path = os.path.join(tmp_path, "fit.json")
    FITS["one"].save(path)
    fits = {**FITS, "loaded": isocal.load(path), "column": "s1"}
    found = isocal.compare(fits, NEW, **QUICK)
    assert list(found.judged.values()) == ["new rows", "new rows", "not known", "not known"]
    other = {"own": isocal.platt("y ~ s1", DATA).fit(), "half": isocal.platt("y ~ s1", DATA.head(450)).fit()}
    with pytest.warns(UserWarning, match="'own', 'half' judged on rows of newdata that it was trained on"):
        found = isocal.compare({**other, "one": FITS["one"]}, NEW, **QUICK)
    assert list(found.judged.values()) == ["own rows", "some own rows", "new rows"]
    assert "its numbers flatter it" in str(found)
    found = isocal.compare(fits, **QUICK)
    assert list(found.judged.values()) == ["cross-validated", "cross-validated", "not known", "not known"]
    assert "probabilities as given" in str(found)


def test_seen_rows_are_told_from_chance():
    rng = np.random.default_rng(2)
    y, s = rng.integers(0, 2, 900).astype(float), rng.random((900, 1))

    def share(s, own, judged):
        return seen_share(row_hash(y[own], s[own]), row_hash(y[judged], s[judged]))

    first, last = slice(0, 600), slice(600, 900)
    assert share(s, first, last) == 0 and share(s, first, slice(100, 400)) == 1
    assert share(s, first, slice(450, 750)) == pytest.approx(0.5)
    for digits in (1, 2, 3):  # new rows match by chance: always, nearly always, now and then
        assert share(np.round(s, digits), first, last) == 0
    assert share(np.round(s, 3), first, slice(0, 300)) == pytest.approx(1, abs=0.05)
    assert share(np.round(s, 1), first, first) == 1


def test_newdata_of_other_libraries_in_any_order():
    found = isocal.compare({**FITS, "s1": "s1"}, NEW, **QUICK)
    shuffled = NEW.sample(frac=1, random_state=3)
    for other in (pl.from_pandas(NEW), shuffled, NEW.to_dict("list")):
        again = isocal.compare({**FITS, "s1": "s1"}, other, **QUICK)
        assert np.allclose(again.differences.select_dtypes("number"), found.differences.select_dtypes("number"),
                           rtol=1e-8, atol=1e-14, equal_nan=True)  # fmt: skip


def test_order_of_the_fits_changes_no_number():
    fits = {**FITS, "s1": "s1"}
    found, turned = isocal.compare(fits, **QUICK), isocal.compare(dict(reversed(fits.items())), **QUICK)
    a = found.differences.set_index(["metric", "fit"]).sort_index().select_dtypes("number")
    b = turned.differences.set_index(["metric", "fit"]).sort_index().select_dtypes("number")
    assert np.allclose(a, b, rtol=1e-10, equal_nan=True)


# weights


def test_whole_weights_are_repeated_rows():
    repeated = NEW.loc[NEW.index.repeat(NEW.w.astype(int))]
    options = {"n_boot": 0, "metrics": ["brier", "log_loss", "auc", "debiased_ce"]}
    a = isocal.compare(FITS, NEW, weights="w", **options).differences.select_dtypes("number")
    b = isocal.compare(FITS, repeated, **options).differences.select_dtypes("number")
    assert np.allclose(a, b, rtol=1e-9, atol=1e-14, equal_nan=True)
    draws = [
        isocal.compare(FITS, data, "brier", weights=w, n_boot=400, rng=0, progress=False).differences.conf_high.max()
        for data, w in ((NEW, NEW.w), (repeated, None))
    ]
    assert draws[0] == pytest.approx(draws[1], rel=0.15)


def test_weights_of_the_fits_hold_in_cross_validation():
    fits = models(weights="w")
    found = isocal.compare(fits, metrics="brier", **QUICK)
    assert found.w is None or found.w.sum() == TRAIN.w.sum()
    repeated = models(TRAIN.loc[TRAIN.index.repeat(TRAIN.w.astype(int))])
    other = isocal.compare(repeated, metrics="brier", **QUICK)
    assert found.frame.brier.tolist() == pytest.approx(other.frame.brier.tolist(), abs=1e-7)


def test_fractions_scale_freely():
    a, b = (isocal.compare(FITS, NEW, ["brier", "auc"], weights=NEW.w * c, **QUICK).differences for c in (0.3, 0.03))
    assert np.allclose(a.select_dtypes("number"), b.select_dtypes("number"), rtol=1e-7, equal_nan=True)
    assert a.std_error.notna().sum() == 2 and a.p_value.notna().sum() == 2


def test_standard_error_of_a_weighted_mean_by_hand():
    # 0 twice and 3 once: mean 1, squares 1 1 4, variance 6/2 = 3, error sqrt(3/3) = 1
    assert mean_error(np.array([0.0, 3.0]), np.array([2.0, 1.0])) == (pytest.approx(1), 2)
    # equal fractions are equal rows: 0, 3 -> variance 4.5, error 1.5
    assert mean_error(np.array([0.0, 3.0]), np.array([0.4, 0.4])) == (pytest.approx(1.5), pytest.approx(1))


# errors


@pytest.mark.parametrize(
    ("fits", "options", "error", "message"),
    [
        ({}, {}, ValueError, "needs two fits or more; got 0"),
        ({"one": "s1"}, {}, ValueError, "needs two fits or more; got 1: one fit alone"),
        (FITS["one"], {}, TypeError, "fits must be a dict .* got Results"),
        (["s1", "s1"], {"response": "y"}, ValueError, "two fits are called 's1'"),
        ([FITS["one"], FITS["one"]], {}, ValueError, "two fits are called 'Platt scaling, y ~ s1'"),
        ([FITS["one"], np.ones(300)], {}, ValueError, "fit 1 of the list has no name"),
        ({"a": FITS["one"], "b": isocal.platt("y ~ s2", TRAIN)}, {}, TypeError, "'b' is a model that is not fitted"),
        ({"a": FITS["one"], "b": 3}, {}, TypeError, "'b' must be results, a column name or an array; got int"),
        ({"a": FITS["one"], "b": "s3"}, {}, ValueError, "fit 'b': 's3' is not a column of data: did you mean"),
        ({"a": FITS["one"], "b": np.ones(3)}, {}, ValueError, r"fit 'b' has shape \(3,\), but there are 300 rows"),
        ({"a": FITS["one"], "b": TRAIN.s1}, {}, ValueError, "fit 'b' is a Series whose index differs"),
        ({"a": FITS["one"], "b": np.full(300, 2.0)}, {}, ValueError, "fit 'b' must hold probabilities.*isocal.platt"),
        ({"a": FITS["one"], "b": np.full(300, np.nan)}, {}, ValueError, r"no row is left .*300 without.*'b'"),
        (["s1", "s2"], {}, ValueError, "name the column of labels, response='y'"),
        (FITS, {"event": 0}, ValueError, r"'both' models P\(y = 1\), not event=0"),
        (FITS, {"response": "s1"}, ValueError, r"'both' models P\(y = 1\): leave out response="),
        (FITS, {"metrics": "breir"}, ValueError, "there is no metric 'breir': did you mean 'brier'"),
        (FITS, {"metrics": ["xyz"]}, ValueError, "no metric 'xyz': they are brier"),
        (FITS, {"metrics": []}, ValueError, "metrics is empty"),
        (FITS, {"metrics": "unc"}, ValueError, "'unc' does not depend on the forecast"),
        (FITS, {"control": "bot"}, ValueError, "control 'bot' is none of the fits: did you mean 'both'"),
        (FITS, {"level": 95}, ValueError, "level is a coverage"),
        (FITS, {"n_boot": 5}, ValueError, "n_boot must be 0 or a whole number of at least 20"),
        (FITS, {"weights": -NEW.w}, ValueError, "weights must be finite and >= 0"),
        (FITS, {"weights": "ww"}, ValueError, "weights: 'ww' is not a column"),
    ],
)
def test_bad_input(fits, options, error, message):
    with pytest.raises(error, match=message):
        isocal.compare(fits, NEW, **{"n_boot": 20, "progress": False, **options})


def test_different_events_and_rows_are_refused():
    other = isocal.platt("y ~ s1", TRAIN, event=0).fit()
    with pytest.raises(ValueError, match=r"'both' models P\(y = 1\), 'other' P\(y = 0\)"):
        isocal.compare({**FITS, "other": other}, NEW)
    with pytest.raises(ValueError, match=r"'both' models P\(y = 1\), 'other' P\(y = 0\)"):
        isocal.compare({**FITS, "other": other})
    with pytest.raises(ValueError, match="'both' and 'more' come from different rows, 300 and 600: fit both"):
        isocal.compare({**FITS, "more": isocal.platt("y ~ s1", DATA).fit()})
    with pytest.raises(ValueError, match="'both' and 'b' come from different rows: fit both to the same"):
        isocal.compare({**FITS, "b": isocal.platt("y ~ s1", NEW).fit()})
    turned = TRAIN.assign(s1=TRAIN.s1.to_numpy()[::-1])
    with pytest.raises(ValueError, match="'both' and 'b' come from different rows"):
        isocal.compare({**FITS, "b": isocal.platt("y ~ s1", turned).fit()})
    with pytest.raises(ValueError, match="'both' and 'b' have different weights"):
        isocal.compare({**FITS, "b": isocal.platt("y ~ s1", TRAIN, weights="w").fit()})


def test_what_newdata_must_hold():
    with pytest.raises(ValueError, match="'y' is not a column of data"):
        isocal.compare(FITS, NEW[["s1", "s2"]])
    with pytest.raises(ValueError, match="'s2' is not a column of data"):
        isocal.compare(FITS, NEW[["s1", "y"]])
    with pytest.raises(ValueError, match="nothing to cross-validate: pass newdata"):
        isocal.compare(["s1", "s2"])
    with pytest.raises(ValueError, match="weights= are of newdata"):
        isocal.compare(FITS, weights="w")


def test_cross_validation_that_cannot_be_done_names_the_fit():
    tiny = TRAIN[TRAIN.y == 1].head(4)
    one = pd.concat([tiny, TRAIN[TRAIN.y == 0].head(1)])

    @dataclasses.dataclass(frozen=True)
    class Picky(isocal.methods.Identity):
        def fit_arrays(self, s, y, w=None):
            if len(y) < 5:
                raise ValueError("too few rows")
            return super().fit_arrays(s, y, w)

    fits = {"picky": isocal.Model("y ~ s1", one, Picky()).fit(), "plain": isocal.identity("y ~ s1", one).fit()}
    with pytest.raises(ValueError, match=r"cross-validation of 'picky' failed .*too few rows"):
        isocal.compare(fits)


# what is returned


def test_lists_are_called_by_method_and_by_formula():
    found = isocal.compare([*FITS.values(), "s1", NEW.s2.rename("other")], NEW, **QUICK)
    assert list(found.forecasts) == ["Isotonic Bernstein polynomial", "Platt scaling", "s1", "other"]
    two = [isocal.platt("y ~ s1", TRAIN).fit(), isocal.platt("y ~ s2", TRAIN).fit()]
    assert list(isocal.compare(two, NEW, **QUICK).forecasts) == ["Platt scaling, y ~ s1", "Platt scaling, y ~ s2"]


def test_summary_and_seed():
    found = isocal.compare({**FITS, "<b>": "s1"}, NEW, **QUICK)
    text = str(found)
    for part in ("Comparison of Forecasts of P(y = 1)", "Brier score: Minus both (best)", "seed 0", "300 rows",
                 "held fixed", "within all pairs", "not known", "Higher is better: AUC"):  # fmt: skip
        assert part in text
    assert "<b>" not in found._repr_html_() and "&lt;b&gt;" in found._repr_html_()
    assert found.summary() == isocal.compare({**FITS, "<b>": "s1"}, NEW, **QUICK).summary()
    assert "(control)" in str(isocal.compare(FITS, NEW, control="one", **QUICK))
    fresh = isocal.compare(FITS, NEW, n_boot=20, progress=False)
    again = isocal.compare(FITS, NEW, n_boot=20, rng=fresh.seed, progress=False)
    assert again.differences.equals(fresh.differences) and fresh.n_boot == 20


def test_forest_shows_the_differences():
    found = isocal.compare({**FITS, "s1": "s1"}, NEW, **QUICK)
    axes = found.plot()
    assert [ax.get_title() for ax in axes] == ["Brier score", "Log loss", "AUC", "Debiased ECE"]
    d = found.differences[found.differences.metric == "brier"]
    points = next(line for line in axes[0].lines if line.get_marker() == "o")
    assert sorted(points.get_xdata()) == sorted(d.difference[d.fit != found.reference("brier")])
    ax = plt.figure().subplots()
    assert found.plot(ax, metric="auc") is ax
    p = np.where(np.arange(300) == 0, 1.0 - NEW.y.iloc[0], NEW.s1)
    sure = isocal.compare({**FITS, "sure": p}, NEW, ["log_loss", "ece"], control="both", **QUICK).plot()
    assert [t.get_text() for t in sure[0].texts] == ["infinite"] and "no intervals" in sure[1].get_xlabel()
    with pytest.raises(ValueError, match="a forest of 4 metrics needs 4 Axes; got 1"):
        found.plot(ax)
    with pytest.raises(ValueError, match="metric must be one of"):
        found.plot(metric="ece")
    with pytest.raises(ValueError, match="kind must be one of"):
        found.plot(kind="roc")
    plt.close("all")


def test_murphy_diagram_and_differences():
    found = isocal.compare({**FITS, "s1": "s1"}, NEW, **QUICK)
    left, right = found.plot(kind="murphy")
    curves = {line.get_label(): line.get_ydata() for line in left.lines}
    t = np.arange(101) / 100
    name = next(n for n in found.forecasts if n != found.reference("brier"))
    gap = curves[name] - curves[found.reference("brier")]
    assert any(len(line.get_xdata()) == 101 and np.allclose(line.get_ydata(), gap, atol=1e-12) for line in right.lines)
    # twice the integral of the curve is the Brier score, up to the grid
    middles = (curves["s1"][1:] + curves["s1"][:-1]) / 2
    assert 2 * np.diff(t) @ middles == pytest.approx(found.frame.brier["s1"], abs=2e-3)
    ax = plt.figure().subplots()
    assert found.plot(ax, kind="murphy") is ax
    plt.close("all")


def test_reliability_side_by_side():
    found = isocal.compare({**FITS, "a": "s1", "b": "s2", "c": "p"}, NEW, **QUICK)
    axes = found.plot(kind="reliability")
    assert len(axes) == 5 and len(axes[0].figure.axes) == 5
    with pytest.raises(ValueError, match="5 panels needs 5 Axes; got 2"):
        found.plot(plt.figure().subplots(1, 2), kind="reliability")
    plt.close("all")


def test_yardsticks_stand_beside_a_single_fit():
    data = isocal.datasets.simulate_scores(200, M=2, rng=3).rename(columns={"s2": "score 2"})
    new = isocal.datasets.simulate_scores(300, M=2, rng=4).rename(columns={"s2": "score 2"})
    fit = isocal.bernstein("y ~ ecdf(s1) + Q('score 2')", data, K=2).fit()
    found = isocal.compare({"fit": fit}, new, yardsticks=True, n_boot=0)
    assert list(found.forecasts) == ["fit", "mean score", "logistic fusion"]
    assert np.array_equal(found.forecasts["mean score"], new[["s1", "score 2"]].mean(axis=1))
    logistic = isocal.logistic_fusion("y ~ s1 + Q('score 2')", data).fit().predict(new)
    assert np.allclose(found.forecasts["logistic fusion"], logistic, rtol=0, atol=1e-12)
    one = isocal.compare({"p": isocal.platt("y ~ s1", data).fit()}, yardsticks=True, n_boot=0)
    assert list(one.forecasts) == ["p", "score as it came", "logistic fusion"]
    with pytest.raises(ValueError, match="yardsticks=True needs a fit with its data"):
        isocal.compare({"a": "s1", "b": "score 2"}, new, response="y", yardsticks=True, n_boot=0)

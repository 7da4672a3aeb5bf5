"""Metrics: identities, hand arithmetic, weights as repeated rows, and bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
from diag_reference import forecast
from scipy.stats import beta

from isocal import metrics

RNG = np.random.default_rng(7)
N = 60
Y = (RNG.random(N) < 0.4).astype(float)
P = np.round(np.clip(0.5 * Y + 0.6 * RNG.random(N) - 0.05, 0, 1), 2)
P[:3] = 0.0, 1.0, 0.3
Y[:3] = 0.0, 1.0, 1.0
W = RNG.integers(0, 4, N).astype(float)
FUNCTIONS = {
    **metrics.METRICS,
    "ece, mass": lambda y, p, w=None: metrics.ece(y, p, w, bins=7, strategy="mass"),
    "debiased_ce squared": lambda y, p, w=None: metrics.debiased_ce(y, p, w, squared=True),
    "ici": lambda y, p, w=None: metrics.ici(y, p, w).emax,
    "e50": lambda y, p, w=None: metrics.ici(y, p, w).e50,
    "e90": lambda y, p, w=None: metrics.ici(y, p, w).e90,
    "ici, degree 1": lambda y, p, w=None: metrics.ici(y, p, w, span=0.4, degree=1).ici,
    "corp log": lambda y, p, w=None: metrics.corp(y, p, w, score="log").dsc,
    "murphy": lambda y, p, w=None: list(vars(metrics.murphy(y, p, w)).values()),
    "murphy, mass": lambda y, p, w=None: list(vars(metrics.murphy(y, p, w, bins=4, strategy="mass")).values()),
    "murphy, corrected": lambda y, p, w=None: list(vars(metrics.murphy(y, p, w, corrected=True)).values()),
    "decision_curve": lambda y, p, w=None: metrics.decision_curve(y, p, w).to_numpy(),
    "calibration_bins": lambda y, p, w=None: metrics.calibration_bins(y, p, w).to_numpy(),
    "grid_error": lambda y, p, w=None: metrics.grid_error(np.ravel, p, y, cells=4, min_count=5, w=w).mean,
    "smooth_ece, sigma": lambda y, p, w=None: metrics.smooth_ece(y, p, w, sigma=0.1),
}  # fmt: skip
every_function = pytest.mark.parametrize("name", FUNCTIONS)


@every_function
def test_whole_weights_are_repeated_rows(name):
    times = W.astype(int)
    weighted = FUNCTIONS[name](Y, P, W)
    repeated = FUNCTIONS[name](np.repeat(Y, times), np.repeat(P, times))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-11, atol=1e-12)


@every_function
def test_order_of_rows_does_not_matter(name):
    order = np.random.default_rng(1).permutation(N)
    found = FUNCTIONS[name](Y[order], P[order], W[order])
    np.testing.assert_allclose(found, FUNCTIONS[name](Y, P, W), rtol=1e-11, atol=1e-12)


@every_function
def test_scale_of_broken_weights_does_not_matter(name):
    if name in ("debiased_ce", "debiased_ce squared", "murphy, corrected", "grid_error"):
        return  # these count rows by weight, and say so
    w = np.random.default_rng(2).random(N) + 0.1
    small, plain = FUNCTIONS[name](Y, P, w / w.sum()), FUNCTIONS[name](Y, P, w)
    if name == "calibration_bins":
        small, plain = small[:, 3:], plain[:, 3:]  # all but the weight itself
    elif name.startswith("murphy"):
        small, plain = small[:3], plain[:3]  # standard errors count rows
    np.testing.assert_allclose(small, plain, rtol=1e-9, atol=1e-12)


@every_function
def test_round_off_is_no_order(name):
    noise = np.random.default_rng(3).normal(size=N) * 1e-15
    found = FUNCTIONS[name](Y, np.clip(P + noise, 0, 1), W)
    np.testing.assert_allclose(found, FUNCTIONS[name](Y, P, W), rtol=1e-9, atol=1e-11)


@every_function
@pytest.mark.parametrize(
    ("y", "p", "w", "says"),
    [
        ([0, 1], [0.5, 1.5], None, r"lie in \[0, 1\]"),
        ([0, 1], [-0.1, 0.5], None, r"lie in \[0, 1\]"),
        ([0, 1], [np.nan, 0.5], None, "NaN"),
        ([np.nan, 1], [0.5, 0.5], None, "y must hold 0 and 1 only; got NaN"),
        ([0.2, 0.7], [0, 1], None, "are y and p swapped"),
        ([0, 2], [0.5, 0.5], None, "y must hold 0 and 1 only; got 2"),
        ([0, 1, 1], [0.5, 0.5], None, "equally long"),
        ([0, 1], [0.5, 0.5], [1.0], "equally long"),
        ([0, 1], [0.5, 0.5], [-1.0, 2.0], "finite weights >= 0"),
        ([0, 1], [0.5, 0.5], [np.nan, 2.0], "finite weights >= 0"),
        ([0, 1], [0.5, 0.5], [0.0, 0.0], "no rows of positive weight"),
        ([], [], None, "no rows of positive weight"),
    ],
)
def test_bad_input(name, y, p, w, says):
    if name == "grid_error":
        says = "|".join([says, r"scores must be"])
    with pytest.raises(ValueError, match=says):
        FUNCTIONS[name](np.array(y), np.array(p), None if w is None else np.array(w))


@every_function
@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([1, 1, 1], [0.2, 0.5, 0.9]),
        ([0, 0, 0], [0.2, 0.5, 0.9]),
        ([0, 1, 0, 1], [0.4] * 4),
        ([0, 1, 0, 1], [0, 1, 1, 0]),
        ([1], [0.3]),
        ([0], [0.0]),
        ([0, 1], [0.1, 0.9]),
    ],
)
def test_degenerate_forecasts_have_a_defined_answer(name, y, p):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = np.atleast_1d(FUNCTIONS[name](np.array(y), np.array(p)))
    absent = len(set(y)) == 1 and name in ("auc", "brier_skill")
    if absent or (name == "grid_error" and len(y) < 5):
        assert np.isnan(found).all()
    elif name != "calibration_bins":
        assert not np.isnan(np.asarray(found, dtype=float)).any()


def test_degenerate_values_by_hand():
    assert metrics.corp([1, 1], [0.5, 0.5]).mcb == 0.25
    assert metrics.corp([1, 1], [0.5, 0.5]).unc == metrics.corp([1, 1], [0.5, 0.5]).dsc == 0
    assert metrics.corp([0, 1], [1, 0], score="log").mcb == np.inf
    assert metrics.ici([0, 0, 0, 1], [0.5] * 4).emax == 0.25
    assert metrics.auc([0, 1], [0.4, 0.4]) == 0.5
    assert metrics.ks([0, 1, 1, 1], [0.5] * 4) == 0.25
    assert metrics.smooth_ece([0, 0], [0.0, 0.0]) == 0.0
    assert metrics.smooth_ece([1, 1], [0.0, 0.0]) == pytest.approx(1.0)
    assert metrics.debiased_ce([0, 1], [0.1, 0.9]) == 0.0  # bins of one row say nothing


def test_a_strictly_increasing_map_leaves_auc_and_resolution_unchanged():
    y, p = forecast("sim")
    for mapped in (beta.cdf(p, 2, 3), p**3, 1 / (1 + np.exp(-5 * p))):
        assert metrics.auc(y, mapped) == metrics.auc(y, p)
        assert metrics.corp(y, mapped).dsc == pytest.approx(metrics.corp(y, p).dsc, abs=1e-15)


def test_corp_adds_up_and_murphy_does_for_constant_bins():
    for score in ("brier", "log"):
        found = metrics.corp(Y, np.clip(P, 0.01, 0.99), W, score=score)
        assert found.score == pytest.approx(found.mcb - found.dsc + found.unc, abs=1e-15)
        assert found.mcb >= 0 and found.dsc >= 0
    constant = np.round(P, 1) * 0.8 + 0.05
    found = metrics.murphy(Y, constant, W, bins=50)
    assert metrics.brier(Y, constant, W) == pytest.approx(found.rel - found.res + found.unc, abs=1e-15)


def test_borders_belong_to_the_bin_above():
    edges = np.arange(11) / 10
    for shift in (0.0, 1e-16, -1e-16):  # below 12 decimals
        table = metrics.calibration_bins(np.zeros(11), np.clip(edges + shift, 0, 1))
        assert table["n"].tolist() == [1.0] * 9 + [2.0]
    assert metrics.calibration_bins([0, 1], [1 / 3, 2 / 3], bins=3)["n"].tolist() == [0.0, 1.0, 1.0]


def test_empty_bins_keep_their_row_and_zero_weight_is_absence():
    table = metrics.calibration_bins([0, 1, 1], [0.05, 0.55, 0.95], [1, 0, 2])
    assert table["n"].tolist() == [1.0, 0, 0, 0, 0, 0, 0, 0, 0, 2.0]
    assert table["observed"].isna().sum() == table["predicted"].isna().sum() == 8
    assert metrics.ece([0, 1, 1], [0.05, 0.55, 0.95], [1, 0, 2]) == pytest.approx(0.05)
    assert metrics.ace([0, 1, 1], [0.05, 0.55, 0.95], [1, 0, 2]) == pytest.approx(0.05)


def test_bins_of_equal_mass_never_split_ties():
    p = np.r_[np.full(50, 0.2), np.full(3, 0.4), np.full(47, 0.8)]
    for labels in (np.arange(100) % 2, np.arange(100)[::-1] % 2 == 0):
        table = metrics.calibration_bins(labels.astype(float), p, bins=10, strategy="mass")
        assert len(table) <= 3 and table["n"].sum() == 100
    assert len(metrics.calibration_bins([0, 1], [0.1, 0.9], bins=10, strategy="mass")) == 2
    assert metrics.ece([0, 1], [0.1, 0.9], bins=10, strategy="mass") == pytest.approx(0.1)


@pytest.mark.parametrize("options", [{"bins": 0}, {"bins": 2.5}, {"bins": True}, {"strategy": "quantile"}])
def test_options_of_bins(options):
    with pytest.raises(ValueError, match=r"bins must be a whole number|strategy must be"):
        metrics.ece([0, 1], [0.1, 0.9], **options)


def test_other_options():
    for call, says in (
        (lambda: metrics.corp([0, 1], [0.1, 0.9], score="spherical"), "score must be"),
        (lambda: metrics.accuracy([0, 1], [0.1, 0.9], threshold=2), "threshold must lie"),
        (lambda: metrics.decision_curve([0, 1], [0.1, 0.9], thresholds=[1.0]), "thresholds must be"),
        (lambda: metrics.smooth_ece([0, 1], [0.1, 0.9], sigma=0), "sigma must be positive"),
        (lambda: metrics.ici([0, 1], [0.1, 0.9], span=0), "span is a share"),
        (lambda: metrics.ici([0, 1], [0.1, 0.9], degree=3), "degree must be"),
        (lambda: metrics.truth_error([1.0], [1.0, 2.0], [0.0, 1.0]), "one value a grid place"),
        (lambda: metrics.grid_error(np.ravel, [1.5], [1.0]), "scores must be"),
        (lambda: metrics.metrics_table([0, 1], [0.1, 0.9], which=["f1"]), "there is no metric 'f1'"),
        (lambda: metrics.metrics_table([0, 1], [0.1, 0.9], n_boot=5), "n_boot must be"),
        (lambda: metrics.metrics_table([0, 1], [0.1, 0.9], level=95), "level is a coverage"),
    ):
        with pytest.raises(ValueError, match=says):
            call()


def test_decision_curve_by_hand():
    """At t = 1/4 a false alarm costs a third of a hit: three rows treated, two of them events."""
    row = metrics.decision_curve([0, 1, 1, 0], [0.3, 0.25, 0.8, 0.1], thresholds=[0.25]).iloc[0]
    assert row["model"] == pytest.approx((2 - 1 / 3) / 4)
    assert row["treat_all"] == pytest.approx((2 - 2 / 3) / 4)
    assert row["treat_none"] == 0


def test_grid_error_by_hand():
    """Cells of 2 x 2: (low, low) holds 3 rows with 1 event, (high, high) 2 rows with 2, (low, high) 1 row: dropped."""
    s = np.array([[0.1, 0.1], [0.2, 0.4], [0.4, 0.49], [0.5, 0.5], [1.0, 1.0], [0.2, 0.9]])
    found = metrics.grid_error(lambda c: c.mean(axis=1), s, [1, 0, 0, 1, 1, 0], cells=2, min_count=2)
    assert found.centers.tolist() == [[0.25, 0.25], [0.75, 0.75]]
    assert found.observed.tolist() == pytest.approx([1 / 3, 1.0])
    assert (found.largest, found.dropped) == (0.25, 1)
    assert found.mean == pytest.approx((1 / 12 + 1 / 4) / 2)


def test_loess_on_cells_is_close_to_every_probability():
    rng = np.random.default_rng(5)
    p = rng.random(6000)
    y = (rng.random(6000) < p**1.3).astype(float)
    exact = metrics.ici(y, p.round(3))  # 1,001 distinct
    cells = metrics.ici(y, p)
    assert "cells" in cells.smoother and "cells" not in exact.smoother
    assert cells.ici == pytest.approx(exact.ici, abs=2e-4)


def test_metrics_table():
    table = metrics.metrics_table(Y, P, W, n_boot=200, rng=1, progress=False)
    assert isinstance(table, pd.DataFrame) and list(table.index) == list(metrics.METRICS)
    for name, metric in metrics.METRICS.items():
        assert table.loc[name, "estimate"] == metric(Y, P, W)
    assert table.loc["ece", ["conf_low", "conf_high"]].isna().all()
    inside = table.loc["brier"]
    assert inside["conf_low"] < inside["estimate"] < inside["conf_high"]
    assert table.attrs == {"rng": 1, "n_boot": 200, "level": 0.95}
    times = W.astype(int)
    repeated = metrics.metrics_table(np.repeat(Y, times)[::-1], np.repeat(P, times)[::-1], n_boot=200, rng=1)
    np.testing.assert_allclose(repeated, table, rtol=1e-9, atol=1e-12)
    assert metrics.metrics_table(Y, P, which="auc").index.tolist() == ["auc"]


def test_bootstrap_interval_of_the_brier_score_is_the_normal_one():
    """At n = 2,000 the percentile interval is the mean +- 1.96 standard errors, up to Monte Carlo error."""
    y, p = forecast("sim")
    loss = (y - p) ** 2
    half = 1.96 * loss.std() / np.sqrt(len(y))
    row = metrics.metrics_table(y, p, which=["brier"], n_boot=999, rng=0, progress=False).loc["brier"]
    assert row["conf_low"] == pytest.approx(loss.mean() - half, abs=0.1 * half)
    assert row["conf_high"] == pytest.approx(loss.mean() + half, abs=0.1 * half)

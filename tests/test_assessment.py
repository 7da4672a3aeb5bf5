"""The doors to assessment: by formula, on results, on the command line; their figures."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

import isocal
from isocal.calibration_tests import all_tests
from isocal.cli import main

DATA = isocal.datasets.simulate_scores(400, M=2, rng=4)
DATA.index = range(1000, 1400)
RES = isocal.bernstein("y ~ s1 + s2", DATA.head(200), K=3).fit()
NEW = DATA.tail(200)


def test_check_calibration_is_the_battery_on_the_column():
    check = isocal.check_calibration("y ~ p", DATA, rng=3)
    direct = all_tests(DATA.y, DATA.p, rng=3)
    pd.testing.assert_frame_equal(check.table, direct.table)
    assert check.metrics.brier == pytest.approx(brier_score_loss(DATA.y, DATA.p))
    text = str(check)
    assert "Calibration of p for P(y = 1)" in text and "spiegelhalter" in text and "Seed of the draws: 3" in text
    assert check.summary() == isocal.check_calibration("y ~ p", DATA, rng=3).summary()
    assert "&lt;" not in check._repr_html_() or "<script" not in check._repr_html_()


def test_log_odds_become_probabilities_in_the_formula():
    z = DATA.assign(z=np.log(DATA.p / (1 - DATA.p)))
    assert isocal.check_calibration("y ~ expit(z)", z, rng=0).metrics.brier == pytest.approx(
        brier_score_loss(DATA.y, DATA.p)
    )


@pytest.mark.parametrize(
    "formula, message",
    [
        ("y ~ big", r"'big' must hold probabilities, but ranges from 0 to 2: expit\(big\)"),
        ("y ~ p + s1", "judges one forecast, got p, s1: use isocal.reliability"),
        ("y ~ pp", "did you mean 'p'"),
    ],
)
def test_what_is_no_forecast_is_refused(formula, message):
    data = DATA.assign(big=np.linspace(0, 2, 400))
    with pytest.raises(ValueError, match=message):
        isocal.check_calibration(formula, data)


def test_certain_forecasts_are_refused_by_name_or_clipped():
    data = DATA.assign(sure=np.where(np.arange(400) < 5, 0.0, DATA.p))
    check = isocal.check_calibration("y ~ sure", data, rng=0)
    assert "Refused" in str(check) and check.table.set_index("term").statistic.isna()["cox"]
    clipped = isocal.check_calibration("y ~ sure", data, rng=0, clip=1e-3)
    assert not clipped.table.set_index("term").statistic.isna()["cox"]


def test_reliability_compares_forecasts_on_the_same_rows():
    data = DATA.copy()
    data.loc[data.index[:10], "s1"] = np.nan
    rel = isocal.reliability("y ~ p + s1", data)
    kept = data.iloc[10:]
    for name in ("p", "s1"):
        iso = IsotonicRegression().fit(kept[name], kept.y).predict(kept[name])
        mcb = np.mean((kept.y - kept[name]) ** 2) - np.mean((kept.y - iso) ** 2)
        row = rel.table.set_index("forecast").loc[name]
        assert row.mcb_brier == pytest.approx(mcb, abs=1e-12)
        assert row.brier == pytest.approx(row.mcb_brier - row.dsc_brier + row.unc_brier)
        assert row.log == pytest.approx(row.mcb_log - row.dsc_log + row.unc_log)
    assert "10 missing s1" in str(rel) and "left out for all" in str(rel)
    assert len(rel.y) == 390


def test_bands_and_bins_of_a_forecast():
    rel = isocal.reliability("y ~ p + s1", DATA)
    band = rel.band("p", level=0.9, n_boot=100, rng=0, progress=False)
    assert band.columns.tolist() == ["p", "conf_low", "conf_high"]
    assert np.mean((band.conf_low <= band.p) & (band.p <= band.conf_high)) > 0.95  # about the diagonal
    honest = rel.band("p", kind="honest", level=0.95)
    assert (honest.conf_low <= honest.conf_high).all() and honest.conf_low.is_monotonic_increasing
    assert rel.bins("p", bins=5).n.sum() == 400
    with pytest.raises(ValueError, match="name one of the forecasts 'p', 's1'; got None"):
        rel.band()
    with pytest.raises(ValueError, match="kind must be one of 'consistency', 'confidence', 'honest'"):
        rel.band("p", kind="percentile")


def test_results_are_judged_on_new_rows_or_by_cross_validation():
    p = RES.predict(NEW)
    table = RES.metrics(NEW, which=["brier", "auc"])
    assert table.estimate["brier"] == pytest.approx(brier_score_loss(NEW.y, p))
    own = RES.metrics(which=["brier"])
    assert own.estimate["brier"] == pytest.approx(brier_score_loss(DATA.y.head(200), RES.cross_val_predict()))
    check = RES.check_calibration(NEW, rng=0)
    assert check.metrics.brier == pytest.approx(brier_score_loss(NEW.y, p))
    assert "cross-validated" in str(RES.check_calibration(rng=0))
    assert RES.reliability(NEW).table.brier[0] == pytest.approx(brier_score_loss(NEW.y, p))
    holes = NEW.assign(s1=NEW.s1.where(np.arange(200) > 4))
    assert "Left out: 5 rows" in str(RES.reliability(holes))


def test_the_rows_of_the_fit_are_called_vacuous():
    for judge in (RES.metrics, RES.check_calibration, RES.reliability):
        with pytest.warns(UserWarning, match=r"its tests are vacuous; .*cross_val_predict\(\)"):
            judge(DATA.head(200).copy())


def test_weights_are_repeats():
    w = np.random.default_rng(0).integers(1, 4, 200)
    weighted = RES.metrics(NEW.assign(w=w), which=["brier", "ece", "auc", "mcb"], weights="w")
    repeated = RES.metrics(NEW.loc[NEW.index.repeat(w)], which=["brier", "ece", "auc", "mcb"])
    assert np.allclose(weighted, repeated, atol=1e-12)
    with pytest.raises(ValueError, match="one number >= 0 for each of the 200 rows"):
        RES.metrics(NEW, weights=[1.0, 2.0])


def test_new_rows_without_response_or_without_rows():
    with pytest.raises(ValueError, match="'y' is not a column"):
        RES.metrics(NEW.drop(columns="y"))
    with pytest.raises(ValueError, match="no row with a response"):
        RES.metrics(NEW.assign(s1=np.nan))


def test_figures_stay_on_their_axes():
    rel = isocal.reliability("y ~ p + s1", DATA)
    before = dict(matplotlib.rcParams)
    fig, axes = plt.subplots(1, 2)
    numbers = plt.get_fignums()
    assert rel.plot(axes[0]) is axes[0] and len(axes[0].lines) == 3  # diagonal and two curves
    assert list(rel.plot(axes)) == list(axes)
    check_ax = isocal.check_calibration("y ~ p", DATA, rng=0).plot(axes[1])
    assert check_ax is axes[1] and any("Brier" in t.get_text() for t in check_ax.texts)
    assert rel.plot(axes[0], kind="mass", bins=4) is axes[0]
    murphy = rel.plot_murphy(axes[0])
    assert murphy.get_ylabel() == "mean elementary score"
    assert plt.get_fignums() == numbers and dict(matplotlib.rcParams) == before
    plt.close(fig)
    panels = rel.plot(facet=True)
    assert len(panels) == 2
    plt.close(panels[0].figure)
    with pytest.raises(ValueError, match="kind must be 'corp', 'width' or 'mass'"):
        rel.plot(kind="quantile")
    with pytest.raises(ValueError, match="2 forecasts need 2 Axes; got 3"):
        rel.plot(list(plt.subplots(1, 3)[1]))
    plt.close("all")


def test_command_line_check(tmp_path, capsys):
    path = tmp_path / "data.csv"
    DATA.to_csv(path, index=False)
    assert main(["check", str(path), "y ~ p", "--seed", "1", "--plot", str(tmp_path / "c.png")]) == 0
    assert "spiegelhalter" in capsys.readouterr().out and (tmp_path / "c.png").stat().st_size > 5000
    assert main(["check", str(path), "y ~ p", "--plot", str(tmp_path / "c.png")]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["check", str(path), "y ~ s1 + s2"]) == 2
    assert capsys.readouterr().err.count("\n") == 1

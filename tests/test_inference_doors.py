"""bse, conf_int, tidy with standard errors, credible_band: against statsmodels and scipy.stats."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from scipy.special import logit
from scipy.stats import beta as beta_distribution

import isocal
from isocal.methods import BBQ
from isocal.numerics.beta_mixture import mixture_quantile

DATA = isocal.datasets.simulate_scores(300, M=1, rng=3)


@pytest.fixture(scope="module")
def platt():
    return isocal.platt("y ~ s1", DATA, targets="hard").fit()


@pytest.fixture(scope="module")
def glm():
    x = pd.DataFrame({"intercept": 1.0, "slope": logit(DATA.s1)})
    return sm.GLM(DATA.y, x, family=sm.families.Binomial()).fit(tol=1e-14)


@pytest.fixture(scope="module")
def bbq():
    return isocal.bbq("y ~ s1", DATA).fit()


def test_standard_errors_and_intervals_are_those_of_statsmodels(platt, glm):
    pd.testing.assert_series_equal(platt.bse, glm.bse, check_names=False, rtol=1e-6)
    for level in (0.95, 0.8):
        found = platt.conf_int(level)
        assert found.columns.tolist() == ["conf_low", "conf_high"] and found.index.tolist() == ["intercept", "slope"]
        assert found.to_numpy() == pytest.approx(glm.conf_int(alpha=1 - level).to_numpy(), abs=1e-7)


def test_tidy_and_the_table_of_coefficients(platt, glm):
    t = platt.tidy()
    assert t.columns.tolist() == ["term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]
    assert t.statistic.to_numpy() == pytest.approx(glm.tvalues.to_numpy(), rel=1e-6)
    assert t.p_value.to_numpy() == pytest.approx(glm.pvalues.to_numpy(), rel=1e-4, abs=1e-300)
    pd.testing.assert_frame_equal(t, platt.table("coefficients"))
    text = platt.summary().as_text()
    for words in ("std err", "P>|z|", "[0.025", f"{glm.params['slope']:.4f}", f"{glm.bse['slope']:.4f}"):
        assert words in text


def test_a_coefficient_held_at_its_bound_has_no_interval():
    res = isocal.temperature("y ~ I(1 - s1)", DATA).fit()
    assert res.params.tolist() == [0.0] and res.bse.isna().all() and res.conf_int().isna().all(axis=None)
    assert res.tidy().p_value.isna().all() and "nan" not in res.summary().as_text().lower().replace("nance", "")


@pytest.mark.parametrize("door", ["bbq", "isotonic", "histogram", "identity", "bernstein"])
def test_methods_without_standard_errors_say_so(door):
    res = getattr(isocal, door)("y ~ s1", DATA).fit()
    for ask in (lambda: res.bse, res.conf_int):
        with pytest.raises(ValueError, match="has no standard errors of coefficients"):
            ask()
    assert res.tidy().columns.tolist() == ["term", "estimate"]


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, "0.95", True, float("nan")])
def test_level_is_a_coverage(level, platt, bbq):
    for door in (platt.conf_int, lambda level: bbq.credible_band(level=level)):
        with pytest.raises(ValueError, match=r"level is a coverage between 0 and 1, such as 0\.95; got"):
            door(level=level)


def test_band_of_one_kept_model_is_the_quantile_of_a_beta_distribution():
    """Fewer than ten rows with min_bin = n: one bin, Beta(1 + events, 1 + others)."""
    data = pd.DataFrame({"s": np.linspace(0.1, 0.9, 9), "y": [0, 0, 1, 0, 1, 1, 0, 1, 1]})
    res = isocal.bbq("y ~ s", data, min_bin=9).fit()
    for level in (0.5, 0.95):
        band = res.credible_band(data, level=level)
        assert band.conf_low.to_numpy() == pytest.approx(beta_distribution.ppf((1 - level) / 2, 6, 5), abs=1e-12)
        assert band.conf_high.to_numpy() == pytest.approx(beta_distribution.ppf((1 + level) / 2, 6, 5), abs=1e-12)
        assert band.predicted.to_numpy() == pytest.approx(6 / 11)


def test_band_of_the_best_model_bin_by_bin():
    curve = BBQ(combine="select").fit_arrays(DATA[["s1"]].to_numpy(), DATA.y)
    model, s = curve.models[0], DATA[["s1"]].to_numpy()
    bins = np.searchsorted(model.borders, s[:, 0], side="right")
    found = mixture_quantile(*curve.posterior(s), 0.9)
    assert found == pytest.approx(beta_distribution.ppf(0.9, model.alpha[bins], model.beta[bins]), abs=1e-12)


def test_band_of_several_models_against_monte_carlo(bbq):
    assert len(bbq.curve.models) > 1
    grid = pd.DataFrame({"s1": [0.05, 0.3, 0.5, 0.77, 0.96]})
    band = bbq.credible_band(grid, level=0.9)
    rng = np.random.default_rng(0)
    weights, alpha, beta = bbq.curve.posterior(grid.to_numpy())
    for i in range(len(grid)):
        chosen = rng.choice(len(weights), 200_000, p=weights)
        draws = rng.beta(alpha[i, chosen], beta[i, chosen])
        assert band.predicted[i] == pytest.approx(draws.mean(), abs=1e-3)
        for column, q in (("conf_low", 0.05), ("conf_high", 0.95)):
            assert np.mean(draws < band[column][i]) == pytest.approx(q, abs=2.5e-3)  # five standard errors


def test_mixture_quantiles_hold_their_probability():
    rng = np.random.default_rng(1)
    weights = np.array([0.7, 0.2, 0.1])
    alpha, beta = rng.uniform(0.001, 500, (40, 3)), rng.uniform(0.001, 500, (40, 3))
    for q in (0.025, 0.5, 0.975):
        x = mixture_quantile(weights, alpha, beta, q)
        assert beta_distribution.cdf(x[:, None], alpha, beta) @ weights == pytest.approx(q, abs=1e-9)
    alpha[3, 1] = np.nan
    assert np.flatnonzero(np.isnan(mixture_quantile(weights, alpha, beta, 0.5))).tolist() == [3]


def test_default_grid_spans_the_scores_of_the_fit(bbq):
    band = bbq.credible_band()
    assert band.columns.tolist() == ["s1", "predicted", "conf_low", "conf_high", "extrapolated"]
    assert len(band) == 101 and band.s1.iloc[0] == DATA.s1.min() and band.s1.iloc[-1] == DATA.s1.max()
    assert np.all(band.conf_low < band.predicted) and np.all(band.predicted < band.conf_high)
    assert np.array_equal(band.predicted, bbq.predict(band[["s1"]])) and not band.extrapolated.any()


def test_rows_index_and_library_of_the_grid_are_kept(bbq):
    grid = pd.DataFrame({"s1": [0.5, np.nan, 0.5, 1.0]}, index=list("dbca"))
    band = bbq.credible_band(grid)
    assert band.index.tolist() == list("dbca") and band.extrapolated.tolist()[-1]
    assert band.iloc[1][["predicted", "conf_low", "conf_high"]].isna().all()
    assert band.iloc[0].equals(band.iloc[2].rename("d"))
    assert isinstance(bbq.credible_band(pl.DataFrame({"s1": [0.2, 0.4]})), pl.DataFrame)


def test_band_of_a_monotone_fit_is_that_of_its_averaged_steps(bbq):
    monotone = isocal.bbq("y ~ s1", DATA, monotone=True).fit()
    columns = ["conf_low", "conf_high"]
    assert monotone.credible_band()[columns].equals(bbq.credible_band()[columns])


def test_band_where_there_is_none(platt):
    with pytest.raises(ValueError, match=r"Platt scaling has no posterior distribution; isocal.bbq has"):
        platt.credible_band()
    res = isocal.bbq("y ~ I(s1 ** 2)", DATA).fit()
    with pytest.raises(ValueError, match="give grid, a DataFrame with the columns of the formula's scores"):
        res.credible_band()
    assert len(res.credible_band(DATA[:5])) == 5

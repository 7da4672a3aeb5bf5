"""Results: every figure of a summary against statsmodels, scikit-learn or arithmetic; frames; round trips."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import isocal
from isocal.numerics.folds import fold_weights

DATA = isocal.datasets.simulate_scores(300, M=2, rng=8)
DATA.index = [f"row{i}" for i in range(300)]
RES = isocal.bernstein("y ~ ecdf(s1) + s2", DATA, K=3).fit()


def test_attributes():
    assert RES.nobs == 300 and RES.formula == "y ~ ecdf(s1) + s2"
    assert RES.model.endog_names == "P(y = 1)" and RES.model.exog_names == ["ecdf(s1)", "s2"]
    assert RES.params.size == 16 and RES.params.iloc[-1] == RES.curve.beta[3, 3]
    assert RES.coef().loc[3, 0] == RES.params["beta[3,0]"] == RES.curve.beta.ravel()[12]
    assert RES.fittedvalues.index.equals(DATA.index)
    assert np.allclose(RES.resid, DATA.y - RES.fittedvalues)


def test_log_likelihood_and_criteria():
    p = RES.fittedvalues.to_numpy()
    llf = np.sum(np.log(np.where(DATA.y == 1, p, 1 - p)))
    assert RES.llf == pytest.approx(llf)
    assert RES.aic == pytest.approx(-2 * llf + 2 * RES.df_model)
    assert RES.bic == pytest.approx(-2 * llf + np.log(300) * RES.df_model)


def test_apparent_and_cross_validated_scores_agree_with_sklearn():
    fit = RES.table("fit")
    for column, p in (("apparent", RES.fittedvalues), ("cross_validated", RES.cross_val_predict())):
        assert fit.loc["Brier score", column] == pytest.approx(brier_score_loss(DATA.y, p))
        assert fit.loc["Log loss", column] == pytest.approx(log_loss(DATA.y, p))
        assert fit.loc["AUC", column] == pytest.approx(roc_auc_score(DATA.y, p.round(12)))
    assert fit.loc["Brier score", "cross_validated"] > fit.loc["Brier score", "apparent"]


def test_cross_validation_is_what_a_loop_over_folds_gives():
    y, raw = DATA.y.to_numpy(float), DATA[["s1", "s2"]].to_numpy()
    W = fold_weights(y, raw)
    p = RES.cross_val_predict()
    for f in range(5):
        test = W[:, f] > 0
        part = isocal.bernstein("y ~ ecdf(s1) + s2", DATA[~test], K=3).fit()
        assert np.allclose(part.predict(DATA[test]), p[test], rtol=0, atol=1e-9)


def test_weights_count_as_repeats_everywhere():
    w = np.random.default_rng(3).integers(1, 4, 300)
    heavy = isocal.bernstein("y ~ ecdf(s1) + s2", DATA.assign(w=w), K=3, weights="w").fit()
    repeated = isocal.bernstein("y ~ ecdf(s1) + s2", DATA.loc[DATA.index.repeat(w)], K=3).fit()
    assert np.allclose(heavy.predict(DATA), repeated.predict(DATA), rtol=0, atol=1e-9)
    assert heavy.llf == pytest.approx(repeated.llf) and heavy.bic == pytest.approx(repeated.bic)
    assert np.allclose(heavy.table("fit"), repeated.table("fit"), rtol=0, atol=1e-9)
    assert heavy.facts["slopes"] == pytest.approx(repeated.facts["slopes"])
    text = heavy.summary().as_text()
    assert f"{w.sum() ** 2 / (w @ w):,.1f}" in text and "Effective rows" in text
    assert heavy.nobs == 300 and repeated.nobs == w.sum()


def test_mean_slopes_are_difference_quotients_on_the_transformed_domain():
    s = RES.terms.scores(DATA[["s1", "s2"]].to_numpy(), "unit")
    inside = np.clip(s, 1e-6, 1 - 1e-6)
    table = RES.table("scores")
    for m in range(2):
        h = 1e-7 * np.eye(2)[m]
        slope = np.mean((RES.curve(inside + h) - RES.curve(inside - h)) / 2e-7)
        assert table.mean_slope[m] == pytest.approx(slope, abs=1e-5)
    assert table.share.sum() == pytest.approx(1)
    assert table.smallest_step.min() >= 0
    assert table.low.tolist() == DATA[["s1", "s2"]].min().tolist()


def test_summary_compares_and_renders():
    again = isocal.bernstein("y ~ ecdf(s1) + s2", DATA, K=3).fit()
    assert RES.summary() == again.summary()
    assert RES.summary() != isocal.bernstein("y ~ s1 + s2", DATA, K=3).fit().summary()
    text = str(RES.summary())
    wanted = ("y ~ ecdf(s1) + s2", "P(y = 1)", "Rows:", "300", "Dropped rows", "Isotonic Bernstein", "Loss:", "K:",
              "Coefficients:", "16", "Deg. of freedom", "KKT residual", "Smallest step", "Range of f", "Unsupported",
              "mean slope", "share", "Apparent", "Cross-validated", "Brier score", "Log loss", "AUC")  # fmt: skip
    assert all(word in text for word in wanted)
    assert max(map(len, text.splitlines())) <= 90
    assert len(str(RES).splitlines()) == 5


def test_html_and_latex_escape_every_cell():
    data = DATA.assign(**{"a<b & c_d": DATA.s2}).assign(y=np.where(DATA.y == 1, "<b>yes", "no"))
    res = isocal.bernstein("y ~ s1 + Q('a<b & c_d')", data, event="<b>yes").fit()
    html = res.summary().as_html()
    assert "&lt;b&gt;yes" in html and "<b>yes" not in html and "a&lt;b &amp; c_d" in html
    assert "&lt;b&gt;yes" in res._repr_html_() and "<b>yes" not in res._repr_html_()
    latex = res.summary().as_latex()
    assert r"c\_d" in latex and r"\&" in latex and r"\textless{}" in latex
    assert res.summary()._repr_html_() == html


def test_frames_of_predictions():
    new = pd.DataFrame({"s2": [0.5, 2.0, np.nan], "s1": [0.5, 0.5, 0.5]}, index=[7, 7, 9])
    frame = RES.predict_frame(new)
    assert frame.columns.tolist() == ["predicted", "extrapolated", "supported"]
    assert frame.index.tolist() == [7, 7, 9]
    assert frame.extrapolated.tolist() == [False, True, False]
    assert frame.predicted.isna().tolist() == [False, False, True]
    assert frame.predicted.iloc[1] == RES.predict(new.assign(s2=1.0)).iloc[1], "clipped to the domain"
    assert RES.predict_frame().predicted.equals(RES.fittedvalues)
    one = isocal.bernstein("y ~ s1", DATA).fit().predict_frame(new)
    assert one.columns.tolist() == ["predicted", "extrapolated"]


def test_polars_in_polars_out():
    data = pl.from_pandas(DATA)
    res = isocal.bernstein("y ~ ecdf(s1) + s2", data, K=3).fit()
    new = data.head(3).with_columns(s2=pl.Series([0.1, None, 0.3]))
    p = res.predict(new)
    assert isinstance(p, pl.Series) and p.null_count() == 1 and p.is_nan().sum() == 0
    assert isinstance(res.predict_frame(new), pl.DataFrame) and isinstance(res.fittedvalues, pl.Series)
    assert res.augment(new).columns == [*new.columns, "predicted", "extrapolated", "supported"]
    assert np.array_equal(res.fittedvalues.to_numpy(), RES.fittedvalues.to_numpy())


def test_tidy_glance_augment():
    assert RES.tidy().columns.tolist() == ["term", "estimate"] and len(RES.tidy()) == 16
    glance = RES.glance().iloc[0]
    assert glance.nobs == 300 and glance.events == DATA.y.sum() and glance.brier == pytest.approx(np.mean(RES.resid**2))
    holes = DATA.copy()
    holes.loc[["row3", "row7"], "s1"] = np.nan
    augmented = isocal.bernstein("y ~ ecdf(s1) + s2", holes, K=3).fit().augment()
    assert augmented.index.equals(holes.index) and augmented.resid.isna().sum() == 2
    assert np.allclose((augmented.y - augmented.predicted - augmented.resid).dropna(), 0)


def test_unknown_table_names_the_known_ones():
    with pytest.raises(ValueError, match="'scores', 'fit', 'coefficients'"):
        RES.table("path")


def test_update_and_what_a_model_refuses():
    model = isocal.bernstein("y ~ s1 + s2", DATA, K=3, subset=DATA.s1 > 0.1)
    smaller = model.update("y ~ s1", K=2)
    assert smaller.exog_names == ["s1"] and smaller.recipe.K == 2
    assert smaller.fit().nobs == (DATA.s1 > 0.1).sum() and model.recipe.K == 3
    assert model.update(subset=None).fit().nobs == 300
    with pytest.raises(AttributeError, match=r"call .fit\(\) first"):
        model.summary()
    with pytest.raises(TypeError, match="did you mean 'K'"):
        isocal.bernstein("y ~ s1", DATA, k=3)
    with pytest.raises(TypeError, match="did you mean 'weights'"):
        isocal.bernstein("y ~ s1", DATA, weight="w")
    with pytest.raises(TypeError, match="recipe must be a Recipe"):
        isocal.Model("y ~ s1", DATA, "bernstein")
    assert "call .fit()" in repr(model)


def test_pickle_and_copy_predict_the_same_in_a_fresh_process(tmp_path):
    path = tmp_path / "fit.pickle"
    path.write_bytes(pickle.dumps(RES))
    DATA.to_pickle(tmp_path / "data.pickle")
    code = (
        "import pandas, pickle, sys; res = pickle.load(open(sys.argv[1], 'rb')); "
        "p = res.predict(pandas.read_pickle(sys.argv[2])); sys.stdout.write(p.to_numpy().tobytes().hex())"
    )
    command = [sys.executable, "-c", code, str(path), str(tmp_path / "data.pickle")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == RES.predict(DATA).to_numpy().tobytes().hex()
    again = pickle.loads(pickle.dumps(RES))
    assert again.summary() == RES.summary() and copy.deepcopy(RES).summary() == RES.summary()
    with pytest.raises(ValueError, match="pickling leaves out"):
        again.model.update(K=2)
    with pytest.raises(ValueError, match="pass data"):
        again.augment()


def test_design_matrix_fits_in_statsmodels():
    """An unconstrained least-squares fit of the design by statsmodels reproduces isocal's free fit."""
    wide = isocal.datasets.simulate_scores(4000, M=2, rng=5, truth="constant")
    model = isocal.bernstein("y ~ s1 + s2", wide, K=(1, 1), monotone="none", tie_break=0)
    X = model.design_matrix()
    assert X.columns.tolist() == ["beta[0,0]", "beta[0,1]", "beta[1,0]", "beta[1,1]"] and X.index.equals(wide.index)
    ols = sm.OLS(wide.y, X).fit()
    assert ols.params.between(0, 1).all(), "no bound is active, as this check assumes"
    assert np.allclose(ols.params, model.fit().params, atol=1e-9)


def test_show_versions(capsys):
    isocal.show_versions()
    out = capsys.readouterr().out
    assert "isocal" in out and np.__version__ in out


def test_a_fold_that_cannot_be_fitted_is_named_and_never_left_out():
    """Without one of the two crossing rows a threshold parts the labels, which hard targets refuse."""
    data = pd.DataFrame({"s": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95], "y": [0, 0, 0, 0, 1, 0, 1, 1, 1, 1]})
    res = isocal.beta("y ~ s", data).fit()
    assert np.isnan(res.cross_validated["Brier score"]) and "could not be fitted" in str(res.summary())
    with pytest.warns(UserWarning, match='cross_val_predict: without test part .*targets="smooth"'):
        assert res.cross_val_predict().isna().any()
    with pytest.raises(ValueError, match="cross-validation failed"):
        res.metrics()


def test_folds_hand_raw_scores_to_recipes_that_look_at_them(monkeypatch):
    """Choosing K on folds, and shrinking, hash and map the scores before transforms: in every training part too."""
    seen = []
    whole = type(RES.recipe).fit_many

    def spy(self, s, Y, W=None, raw=None):
        seen.append((s, raw))
        return whole(self, s, Y, W, raw)

    monkeypatch.setattr(type(RES.recipe), "fit_many", spy)
    fit = isocal.bernstein("y ~ ecdf(s1) + s2", DATA, K=2, shrink=1.0).fit()
    assert fit.recipe.needs_raw and np.isfinite(fit.cross_val_predict()).all()
    columns = DATA[["s1", "s2"]].to_numpy()
    for s, raw in seen:
        kept = np.isin(columns[:, 0], raw[:, 0])
        assert np.array_equal(raw, columns[kept]) and not np.array_equal(raw, s) and len(raw) == len(s)
    assert len(seen) == 5

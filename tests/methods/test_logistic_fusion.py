"""Logistic fusion against statsmodels, against its own conditions of optimality, and on bad input."""

import json

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit

import isocal
from isocal.methods import LogisticFusion, Platt
from isocal.methods.logistic_fusion import LogisticFusionCurve


def scores(n=300, seed=0, sign=1.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    y = (rng.random(n) < expit(0.3 + 1.2 * z[:, 0] + sign * 0.8 * z[:, 1])).astype(float)
    return expit(z), y


def test_positive_slopes_are_those_of_statsmodels_with_their_standard_errors():
    s, y = scores()
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    curve = LogisticFusion(targets="hard").fit_arrays(s, y, w)
    other = sm.GLM(y, sm.add_constant(logit(s)), family=sm.families.Binomial(), freq_weights=w).fit(tol=1e-14)
    assert np.allclose(list(curve.coef().values()), other.params, rtol=0, atol=1e-9)
    assert np.allclose(list(curve.bse().values()), other.bse, rtol=1e-6)
    assert curve.df == 3


def test_smooth_targets_are_platts():
    s, y = scores(40, seed=2)
    one = s[:, :1]
    fusion, platt = LogisticFusion().fit_arrays(one, y), Platt().fit_arrays(one, y)
    assert list(fusion.coef().values()) == pytest.approx(list(platt.coef().values()), abs=1e-10)


def test_a_slope_that_would_be_negative_is_held_at_zero_with_the_conditions_of_an_optimum():
    s, y = scores(400, seed=3, sign=-1.0)
    curve = LogisticFusion(targets="hard").fit_arrays(s, y)
    assert curve.slopes[1] == 0.0 and curve.slopes[0] > 0 and np.isnan(curve.se[2]) and curve.df == 2
    slope = (y - curve(s)) @ np.c_[np.ones(len(y)), logit(s)]
    assert abs(slope[0]) < 1e-8 and abs(slope[1]) < 1e-8 and slope[2] < 0
    alone = LogisticFusion(targets="hard").fit_arrays(s[:, :1], y)
    assert np.allclose(curve(s), alone(s[:, :1]), rtol=0, atol=1e-10)
    assert curve.facts()["Held at slope 0"] == "score 2"


def test_each_score_has_its_own_scale():
    s, y = scores()
    s[:, 1] = logit(s[:, 1])
    curve = LogisticFusion().fit_arrays(s, y)
    assert curve.scale == ("logit", "identity")
    assert np.allclose(curve(s), LogisticFusion(scale="identity").fit_arrays(np.c_[logit(s[:, 0]), s[:, 1]], y)(
        np.c_[logit(s[:, 0]), s[:, 1]]), rtol=0, atol=1e-9)  # fmt: skip
    settled = LogisticFusion().settle(s)
    assert settled.scale == ("logit", "identity")


def test_scores_of_exactly_0_and_1_count_as_half_way_to_the_edge():
    """Deciles: a score of 1 is treated as .95, half as far from 1 as .9 is; a smaller one than any seen as .05."""
    rng = np.random.default_rng(4)
    s = rng.integers(1, 11, (300, 1)) / 10
    y = (rng.random(300) < s[:, 0]).astype(float)
    curve = LogisticFusion().fit_arrays(s, y)
    moved = np.where(s == 1.0, 0.95, s)
    assert curve.edges == (pytest.approx((0.05, 0.95), abs=1e-15),)
    assert np.allclose(curve(s), LogisticFusion().fit_arrays(moved, y)(moved), rtol=0, atol=1e-10)
    assert curve(np.array([[0.0]])) == curve(np.array([[0.05]]))


def test_summary_prints_the_coefficient_table_and_a_file_keeps_it(tmp_path):
    data = isocal.datasets.load_adult_scores().dropna().iloc[:400]
    res = isocal.logistic_fusion("income ~ s1 + s2", data, event=">50K").fit()
    text = res.summary().as_text()
    assert "slope[1]" in text and "std err" in text and "logits of the scores" in text
    res.save(tmp_path / "fit.json")
    again = isocal.load(tmp_path / "fit.json")
    assert again.summary() == res.summary() and np.array_equal(again.predict(data), res.predict(data))


def test_separable_data():
    s, y = np.array([[0.1, 0.2], [0.2, 0.3], [0.8, 0.7], [0.9, 0.9]]), np.array([0.0, 0, 1, 1])
    assert np.isfinite(list(LogisticFusion().fit_arrays(s, y).coef().values())).all()
    with pytest.raises(ValueError, match=r'the scores part the labels.*targets="smooth"'):
        LogisticFusion(targets="hard").fit_arrays(s, y)
    with pytest.raises(ValueError, match="all labels are equal"):
        LogisticFusion(targets="hard").fit_arrays(s, np.ones(4))


def test_bad_options_and_files():
    with pytest.raises(ValueError, match="targets must be one of"):
        LogisticFusion(targets="soft")
    with pytest.raises(ValueError, match="scale must be one of"):
        LogisticFusion(scale=("logit", "probit"))
    s, y = scores()
    with pytest.raises(ValueError, match="scale has 3 entries for 2 scores"):
        LogisticFusion(scale=("logit",) * 3).fit_arrays(s, y)
    with pytest.raises(ValueError, match='scale="logit": score 2 must lie in'):
        LogisticFusion(scale="logit").fit_arrays(np.c_[s[:, 0], 2 * s[:, 1]], y)
    good = LogisticFusion().fit_arrays(s, y).to_dict()
    for change in ({"slopes": [1.0, -0.1]}, {"slopes": [1.0, float("nan")]}, {"scale": ["logit"]}, {"se": [0.1]},
                   {"edges": [[0.1, 0.9]] * 3}, {"edges": [[0.9, 0.1]] * 2}):  # fmt: skip
        with pytest.raises(ValueError, match=r"slopes|scale and edges|edges must"):
            LogisticFusionCurve.from_dict(json.loads(json.dumps(good)) | change)

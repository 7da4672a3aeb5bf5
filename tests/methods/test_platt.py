"""Platt scaling against statsmodels' GLM with the smoothed targets; what shifts, scales and folds must not change."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit

import isocal
from isocal.methods import Platt
from isocal.methods.platt import PlattCurve
from isocal.numerics.folds import fold_weights

RNG = np.random.default_rng(5)
Z = RNG.normal(size=400)
Y = (RNG.random(400) < expit(1.7 * Z - 0.4)).astype(float)
S = expit(Z + 0.3)
W = RNG.integers(0, 4, 400).astype(float)


def targets(y, w):
    """Platt (1999), written out with loops."""
    n = {label: sum(wi for yi, wi in zip(y, w, strict=True) if yi == label) for label in (0.0, 1.0)}
    high, low = (n[1.0] + 1) / (n[1.0] + 2), 1 / (n[0.0] + 2)
    return np.array([high if yi == 1 else low for yi in y])


def glm(x, t, w=None):
    x, t, w = (x, t, np.ones(len(x))) if w is None else (x[w > 0], t[w > 0], w[w > 0])
    model = sm.GLM(t, sm.add_constant(x), family=sm.families.Binomial(), var_weights=w)
    return model.fit(tol=1e-14, maxiter=100)


@pytest.mark.parametrize("w", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize("s, x", [(S, logit(S)), (Z, Z)], ids=["logit", "identity"])
def test_statsmodels_with_smoothed_targets(s, x, w):
    curve = Platt().fit_arrays(s, Y, w)
    fit = glm(x, targets(Y, np.ones(400) if w is None else w), w)
    assert list(curve.coef().values()) == pytest.approx(fit.params, abs=1e-9)
    assert list(curve.bse().values()) == pytest.approx(fit.bse, rel=1e-7)
    assert curve.df == 2 and list(curve.coef()) == list(curve.bse()) == ["intercept", "slope"]


def test_hard_targets_are_logistic_regression():
    curve, fit = Platt(targets="hard").fit_arrays(S, Y), glm(logit(S), Y)
    assert list(curve.coef().values()) == pytest.approx(fit.params, abs=1e-9)
    assert list(curve.bse().values()) == pytest.approx(fit.bse, rel=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_gradient_vanishes(seed):
    rng = np.random.default_rng(seed)
    n, spread = int(rng.integers(2, 400)), 10 ** rng.uniform(-3, 3)
    x, y, w = spread * rng.standard_t(2, n), rng.integers(0, 2, n).astype(float), rng.random(n)
    curve = Platt(scale="identity").fit_arrays(x, y, w)
    residual = w * (targets(y, w) - curve(x[:, None]))
    assert abs(residual.sum()) <= 1e-10
    assert abs(residual @ (x - x.mean()) / x.std()) <= 1e-10


@pytest.mark.parametrize("moved", [Z + 1e8, Z * 1e8, 1e8 * Z + 1e8, Z * 1e-8, Z - 1e8], ids=str)
def test_shift_and_scale_do_not_matter(moved):
    wanted = Platt(scale="identity").fit_arrays(Z, Y)(Z[:, None])
    assert Platt(scale="identity").fit_arrays(moved, Y)(moved[:, None]) == pytest.approx(wanted, abs=1e-6)


def test_many_rows_start_from_a_sample_and_end_at_the_same_place():
    rng = np.random.default_rng(1)
    z = rng.normal(size=60_000)
    y = (rng.random(60_000) < expit(2 * z - 3)).astype(float)
    order = np.argsort(y)  # sorted by label
    curve = Platt(scale="identity").fit_arrays(z[order], y[order])
    fit = glm(z, targets(y, np.ones(len(y))))
    assert list(curve.coef().values()) == pytest.approx(fit.params, abs=1e-9)


def test_separable_scores():
    """Smoothed targets stay finite: two rows have targets 2/3 and 1/3, met exactly."""
    s, y = np.array([-1.0, 1.0]), np.array([0.0, 1.0])
    curve = Platt().fit_arrays(s, y)
    assert curve.slope == pytest.approx(np.log(2), abs=1e-12) and curve.intercept == pytest.approx(0, abs=1e-12)
    for labels in (Z > 0.3, Z < 0.3):
        with pytest.raises(ValueError, match=r'a threshold on the score parts the labels.*use targets="smooth"'):
            Platt(targets="hard").fit_arrays(Z, labels)
        assert np.isfinite(Platt().fit_arrays(Z, labels)(Z[:, None])).all()
    quasi, y = np.array([0.1, 0.5, 0.5, 0.9]), np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match='use targets="smooth"'):
        Platt(targets="hard").fit_arrays(quasi, y)


def test_one_class_and_constant_score():
    """All of one class: one target for every row, (4 + 1)/(4 + 2). A constant score: the mean target."""
    s = np.array([0.2, 0.4, 0.6, 0.8])
    curve = Platt().fit_arrays(s, np.ones(4))
    assert curve(s[:, None]) == pytest.approx(5 / 6, abs=1e-12) and curve.slope == pytest.approx(0, abs=1e-12)
    flat = Platt().fit_arrays(np.full(4, 0.3), np.array([0, 0, 0, 1]))
    assert flat(s[:, None]) == pytest.approx((2 / 3 + 3 / 5) / 4, abs=1e-12)
    assert flat.slope == 0 and np.isnan(flat.se[1]) and flat.df == 1
    again = PlattCurve.from_dict(json.loads(json.dumps(flat.to_dict(), allow_nan=False)))
    assert np.isnan(again.se[1]) and again.se[0] == flat.se[0] and again.df == 1
    for y, w in ((np.ones(4), None), (np.array([0, 1, 1, 1]), np.array([0.0, 1, 1, 1]))):
        with pytest.raises(ValueError, match=r'all labels are equal.*use targets="smooth"'):
            Platt(targets="hard").fit_arrays(s, y, w)


def test_scale_is_logit_on_probabilities_and_identity_elsewhere():
    assert Platt().fit_arrays(S, Y).scale == "logit"
    assert Platt().fit_arrays(Z, Y).scale == "identity"
    assert Platt(scale="identity").fit_arrays(S, Y).scale == "identity"
    both = np.r_[0.0, 1.0, S]  # zero and one are clipped at 1e-12
    x = np.r_[np.log(1e-12) - np.log1p(-1e-12), np.log(1 - 1e-12) - np.log(1 - (1 - 1e-12)), logit(S)]
    y = np.r_[0.0, 1.0, Y]
    assert list(Platt().fit_arrays(both, y).coef().values()) == pytest.approx(
        glm(x, targets(y, np.ones(402))).params, abs=1e-9
    )
    for recipe in (Platt(scale="logit"), Platt(targets="hard", scale="logit")):
        with pytest.raises(ValueError, match=r'scale="logit": .* must lie in \[0, 1\].*scale="identity" or expit\(\)'):
            recipe.fit_arrays(Z, Y)


def test_scale_of_the_fit_is_the_scale_of_its_folds():
    """One score above 1: the fold without it would choose logit on its own."""
    s = np.r_[S[:60], 1.2]
    y = np.r_[Y[:60], 1.0]
    res = isocal.platt("y ~ s", pd.DataFrame({"s": s, "y": y})).fit()
    assert res.recipe.scale == "identity" and "the score" in res.summary().as_text()
    assert res.recipe.fit_many(S[:60, None], Y[:60])[0].scale == "identity"
    assert Platt().fit_many(S[:60, None], Y[:60])[0].scale == "logit"
    held_out = fold_weights(y, s[:, None])
    wanted = np.empty(61)
    for f in range(5):
        train, test = held_out[:, f] == 0, held_out[:, f] > 0
        fit = glm(s[train], targets(y[train], np.ones(train.sum())))
        wanted[test] = fit.predict(np.c_[np.ones(test.sum()), s[test]])
    assert res.cross_val_predict().to_numpy() == pytest.approx(wanted, abs=1e-8)


def test_scaling_weights_moves_the_smoothed_targets_only():
    hard = Platt(targets="hard")
    assert hard.fit_arrays(S, Y, 3 * W)(S[:, None]) == pytest.approx(hard.fit_arrays(S, Y, W)(S[:, None]), abs=1e-10)
    tripled, once = Platt().fit_arrays(S, Y, 3 * W)(S[:, None]), Platt().fit_arrays(S, Y, W)(S[:, None])
    assert np.max(np.abs(tripled - once)) > 1e-4


def test_an_outlier_and_heavy_weights():
    x = np.r_[Z, 1e9]
    curve = Platt().fit_arrays(x, np.r_[Y, 0.0])
    assert np.isfinite(curve(x[:, None])).all()
    curve = Platt().fit_arrays(Z, Y, np.r_[1e12, np.ones(399)])
    assert curve(Z[:1, None])[0] == pytest.approx(Y[0], abs=1e-6)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"targets": "soft"}, "targets must be one of 'smooth', 'hard'; got 'soft'"),
        ({"scale": "log"}, "scale must be one of 'auto', 'logit', 'identity'; got 'log'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        Platt(**options)


def test_from_dict_refuses_nonsense():
    good = Platt().fit_arrays(S, Y).to_dict()
    for change, message in (
        ({"slope": float("inf")}, "must be finite"), ({"se": [0.1]}, "two standard errors"),
        ({"scale": "auto"}, "scale must be one of 'logit', 'identity'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            PlattCurve.from_dict(good | change)

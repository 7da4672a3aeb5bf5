"""Logistic fusion near the mean logit: modes by scipy, weights of priors by quadrature, what it is for, bad input."""

import json
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

import isocal
from isocal.methods import LogisticFusion
from isocal.methods.logistic_fusion import LogisticFusionCurve
from isocal.numerics import pool_logistic
from isocal.numerics.pool_logistic import MANY, SPREADS, fit_pool

POOL = LogisticFusion(prior="pool")


def rows(n=200, M=2, seed=0, coef=None):
    """Logits (n, M) and labels; coef: intercept and slopes, by default of the mean logit."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 1)) + rng.normal(size=(n, M))
    coef = np.r_[0.0, np.full(M, 1 / M)] if coef is None else np.asarray(coef)
    return x, (rng.random(n) < expit(coef[0] + x @ coef[1:])).astype(float)


def minus_log_posterior(b, x, y, w, u, v):
    """By the definition: likelihood, N(0, u^2) intercept, N(1, u^2) sum of slopes, N(0, v^2) in M - 1 contrasts."""
    eta, M = b[0] + x @ b[1:], x.shape[1]
    out = -np.sum(w * np.where(y == 1, log_expit(eta), log_expit(-eta))) + b[0] ** 2 / (2 * u**2)
    apart = b[1:] - b[1:].mean()
    return out + (b[1:].sum() - 1) ** 2 / (2 * u**2) + apart @ apart / (2 * v**2) + 2 * np.log(u) + (M - 1) * np.log(v)


@pytest.mark.parametrize("M, coef", [(1, None), (2, None), (2, (1.0, 1.5, 0.2)), (3, (0.5, 1.0, -1.0, 0.3))])
def test_modes_and_their_weights_by_scipy(M, coef):
    x, y = rows(120, M, 1, coef)
    w = np.random.default_rng(2).integers(1, 4, 120).astype(float)
    modes, evidence = [], []
    for u, v in product(SPREADS, SPREADS if M > 1 else (1.0,)):
        bounds = [(None, None)] + [(0, None)] * M
        found = minimize(minus_log_posterior, np.r_[0.0, np.full(M, 1 / M)], (x, y, w, u, v), bounds=bounds,
                         method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000})  # fmt: skip
        p = expit(found.x[0] + x @ found.x[1:])
        Z = np.c_[np.ones(120), x]
        slopes = np.full((M, M), 1 / u**2 - 1 / (M * v**2)) + np.eye(M) / v**2
        H = (Z.T * (w * p * (1 - p))) @ Z
        H[0, 0] += 1 / u**2
        H[1:, 1:] += slopes
        modes.append(found.x)
        evidence.append(-found.fun - np.linalg.slogdet(H)[1] / 2)
    weights = np.exp(np.array(evidence) - max(evidence))
    weights /= weights.sum()
    fit = fit_pool(x, y, w)
    assert np.allclose(fit.weights, weights, rtol=0, atol=1e-5)
    assert np.allclose(fit.coef, weights @ np.array(modes), rtol=0, atol=2e-5)


def test_the_priors_weights_are_marginal_likelihoods_by_quadrature():
    x, y = rows(60, 1, 3, (0.4, 1.2))
    z, g = np.polynomial.hermite_e.hermegauss(80)
    value = []
    for u in SPREADS:  # the slope may be negative here, as the approximation at an inner mode ignores the bound
        a, b = np.meshgrid(u * z, 1 + u * z, indexing="ij")
        eta = a[:, :, None] + b[:, :, None] * x[:, 0]
        value.append(g @ np.exp(np.where(y == 1, log_expit(eta), log_expit(-eta)).sum(axis=2)) @ g)
    assert np.allclose(fit_pool(x, y, np.ones(60)).weights, np.array(value) / np.sum(value), rtol=0, atol=0.02)


def test_it_stays_near_a_calibrated_mean_logit_and_leaves_a_wrong_one():
    calibrated, wrong = [], []
    for seed in range(12):
        for out, coef in ((calibrated, (0.0, 0.5, 0.5)), (wrong, (-1.0, 0.0, 2.0))):
            x, y = rows(300, 2, seed, coef)
            truth = expit(coef[0] + x @ np.array(coef[1:]))
            fits = (POOL, LogisticFusion(), LogisticFusion(targets="hard"))
            p = [recipe.fit_arrays(expit(x), y)(expit(x)) for recipe in fits]
            out.append([np.mean((q - truth) ** 2) for q in (*p, expit(x.mean(axis=1)))])
    calibrated, wrong = np.mean(calibrated, axis=0), np.mean(wrong, axis=0)
    assert calibrated[0] < 0.5 * min(calibrated[1:3])
    assert wrong[0] < 1.1 * min(wrong[1:3]) and wrong[0] < 0.1 * wrong[3]


def test_many_rows_give_the_likelihood_alone():
    x, y = rows(MANY + 10_000, 2, 4, (0.3, 0.9, 0.1))
    flat = LogisticFusion(targets="hard").fit_arrays(expit(x), y)
    pooled = POOL.fit_arrays(expit(x), y)
    assert list(pooled.coef().values()) == pytest.approx(list(flat.coef().values()), abs=1e-4)
    assert list(pooled.bse().values()) == pytest.approx(list(flat.bse().values()), rel=1e-3)
    assert pooled.df == pytest.approx(3, abs=0.01)


def test_weights_are_repeats_and_row_order_does_not_matter():
    x, y = rows(80, 3, 5)
    w = np.random.default_rng(1).integers(1, 4, 80)
    one, again = fit_pool(x, y, w.astype(float)), np.repeat(np.arange(80), w)
    many = fit_pool(x[again[::-1]], y[again[::-1]], np.ones(len(again)))
    assert np.allclose(one.coef, many.coef, rtol=0, atol=1e-9) and np.allclose(one.cov, many.cov, rtol=1e-6)


def test_a_score_that_falls_has_slope_zero_and_no_standard_error():
    x, y = rows(2_000, 2, 6, (0.0, 1.0, -1.0))
    curve = POOL.fit_arrays(expit(x), y)
    assert curve.slopes[1] == 0.0 and np.isnan(curve.se[2]) and np.isfinite(curve.se[:2]).all()


def test_every_mode_fulfils_its_conditions(monkeypatch):
    """Collinear, separable, wild and tiny weights, up to five scores: gradients are zero, or press a slope to zero."""
    found, solve = [], pool_logistic._modes

    def watched(problem):
        found.append((problem, solve(problem)))
        return found[-1][1]

    monkeypatch.setattr(pool_logistic, "_modes", watched)
    rng = np.random.default_rng(7)
    for kind in range(60):
        n, M = int(rng.choice([20, 100, 400])), 1 + kind % 5
        x = rng.normal(size=(n, M)) * (1, 6, 27, 0.01)[kind % 4]
        x = np.clip(x[:, :1] * np.exp(rng.normal(size=M)) if kind % 7 == 0 else x, -27, 27)
        y = (rng.random(n) < expit(3 * rng.normal() + x @ rng.normal(size=M))).astype(float)
        w = (np.ones(n), np.exp(5 * rng.normal(size=n)), np.full(n, 1e6))[kind % 3]
        fit_pool(x, y, w)
        problem, (coef, _, _) = found[-1]
        gradient = problem.at(coef)[1]
        gradient[:, 1:][(coef[:, 1:] == 0) & (gradient[:, 1:] > 0)] = 0.0
        assert coef[:, 1:].min() >= 0
        assert np.all(np.abs(gradient) <= 1e-8 * w.sum() * np.abs(problem.Z).max(axis=0))


def test_separable_data_one_class_and_extreme_scores_stay_finite():
    s, y = np.array([[0.1, 0.2], [0.2, 0.3], [0.8, 0.7], [0.9, 0.9]]), np.array([0.0, 0, 1, 1])
    assert np.all(np.diff(POOL.fit_arrays(s, y)(s)) > 0)
    assert POOL.fit_arrays(s, np.ones(4))(s).min() > 0.4
    rng = np.random.default_rng(0)
    tiny = 10.0 ** -rng.integers(1, 300, (300, 2))
    extreme = np.where(rng.random((300, 2)) < 0.4, np.round(rng.random((300, 2))), tiny)
    curve = POOL.fit_arrays(extreme, (rng.random(300) < 0.1).astype(float))
    assert np.isfinite(curve(extreme)).all() and min(curve.slopes) >= 0


def test_summary_and_file(tmp_path):
    data = isocal.datasets.load_adult_scores().dropna().iloc[:400]
    res = isocal.logistic_fusion("y ~ s1 + s2", data, prior="pool").fit()
    text = res.summary().as_text()
    assert "about the mean logit; sd of level" in text and res.curve.targets == "hard"
    res.save(tmp_path / "fit.json")
    again = isocal.load(tmp_path / "fit.json")
    assert again.summary() == res.summary() and again.recipe == res.recipe
    assert np.array_equal(again.predict(data), res.predict(data))


def test_bad_input():
    s, y = expit(rows()[0]), rows()[1]
    with pytest.raises(ValueError, match="prior must be one of 'flat', 'pool'"):
        LogisticFusion(prior="ridge")
    with pytest.raises(ValueError, match=r'score 2 ranges from .*: use expit.. in the formula, or prior="flat"'):
        POOL.fit_arrays(np.c_[s[:, 0], logit(s[:, 1])], y)
    good = json.loads(json.dumps(POOL.fit_arrays(s, y).to_dict()))
    assert LogisticFusionCurve.from_dict(good).prior == POOL.fit_arrays(s, y).prior
    first = {key: value for key, value in LogisticFusion().fit_arrays(s, y).to_dict().items() if key != "prior"}
    assert LogisticFusionCurve.from_dict(first).prior is None  # the first files had none
    with pytest.raises(ValueError, match="prior"):
        LogisticFusionCurve.from_dict(good | {"prior": [-1.0, 0.1]})

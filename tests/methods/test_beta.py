"""Beta calibration against statsmodels where the best slopes are positive and scipy's bounded optimiser where not."""

import json

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import expit

from isocal.methods import Beta
from isocal.methods.beta import BetaCurve

RNG = np.random.default_rng(9)
S = RNG.beta(1.2, 1.6, 500)
Y = (RNG.random(500) < expit(0.3 + 0.8 * np.log(S) - 1.3 * np.log1p(-S))).astype(float)
W = RNG.integers(0, 3, 500) + 0.5
DESIGNS = {  # columns whose coefficients are the method's, and how a, b, c come from them
    "abm": (lambda s: np.c_[np.ones(len(s)), np.log(s), -np.log1p(-s)], np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])),
    "am": (lambda s: np.c_[np.ones(len(s)), np.log(s) - np.log1p(-s)], np.array([[0, 1], [0, 1], [1, 0]])),
    "ab": (
        lambda s: np.c_[np.log(2 * s), -np.log(2 * (1 - s))],
        np.array([[1, 0], [0, 1], [np.log(2), -np.log(2)]]),
    ),
}


@pytest.mark.parametrize("w", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize("parameters", DESIGNS)
def test_interior_solutions_are_those_of_statsmodels(parameters, w):
    design, to_abc = DESIGNS[parameters]
    curve = Beta(parameters=parameters).fit_arrays(S, Y, w)
    fit = sm.GLM(Y, design(S), family=sm.families.Binomial(), var_weights=w).fit(tol=1e-14, maxiter=100)
    assert list(curve.coef().values()) == pytest.approx(to_abc @ fit.params, abs=1e-8)
    assert list(curve.bse().values()) == pytest.approx(np.sqrt(np.diag(to_abc @ fit.cov_params() @ to_abc.T)), rel=1e-6)
    assert curve.df == len(fit.params) and list(curve.coef()) == ["a", "b", "c"]


@pytest.mark.parametrize("parameters", DESIGNS)
@pytest.mark.parametrize("a, b", [(-0.8, 1.5), (1.5, -0.8), (-1.0, -1.0), (0.0, 1.0)])
def test_slopes_held_at_zero_are_those_of_a_bounded_optimiser(parameters, a, b):
    rng = np.random.default_rng(int(10 * (a + 3 * b) + 100))
    y = (rng.random(500) < expit(0.2 + a * np.log(S) - b * np.log1p(-S))).astype(float)
    design, to_abc = DESIGNS[parameters]
    X = design(S)
    bounds = [(None, None)] * (parameters != "ab") + [(0, None)] * (X.shape[1] - (parameters != "ab"))
    found = minimize(
        lambda v: np.mean(np.logaddexp(0, X @ v) - y * (X @ v)), np.full(len(bounds), 0.1), bounds=bounds,
        jac=lambda v: X.T @ (expit(X @ v) - y) / 500, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-11},
    )  # fmt: skip
    curve = Beta(parameters=parameters).fit_arrays(S, y)
    assert list(curve.coef().values()) == pytest.approx(to_abc @ found.x, abs=2e-5)
    assert min(curve.a, curve.b) >= 0
    held = found.x[parameters != "ab" :] == 0
    assert curve.df == len(bounds) - held.sum()
    assert np.isnan(curve.se[0]) == (curve.a == 0) and np.isnan(curve.se[1]) == (curve.b == 0)


def test_dropping_a_negative_slope_can_be_too_hasty():
    """Every start of a, b, c within reach of three scores agrees with the optimiser on a grid."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        s = rng.choice([0.02, 0.3, 0.5, 0.97], 60)
        y = rng.integers(0, 2, 60).astype(float)
        X = DESIGNS["abm"][0](s)
        loss = lambda v, X=X, y=y: np.mean(np.logaddexp(0, X @ v) - y * (X @ v))  # noqa: E731
        found = minimize(loss, [0, 0.1, 0.1], bounds=[(None, None), (0, None), (0, None)], options={"ftol": 1e-14})
        curve = Beta().fit_arrays(s, y)
        assert loss([curve.c, curve.a, curve.b]) <= found.fun + 1e-9


def test_the_identity_is_contained():
    """Frequencies equal to the scores: a = b = 1, c = 0 in every parametrisation."""
    s, y = np.repeat([0.25, 0.5, 0.75], 4), np.array([0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1])
    for parameters in DESIGNS:
        curve = Beta(parameters=parameters).fit_arrays(s, y)
        assert list(curve.coef().values()) == pytest.approx([1, 1, 0], abs=1e-9)


def test_curve_of_ab_passes_through_one_half():
    assert Beta(parameters="ab").fit_arrays(S, Y)(np.array([[0.5]]))[0] == pytest.approx(0.5, abs=1e-12)


def test_two_distinct_scores_leave_slopes_undetermined_but_not_the_curve():
    s, y = np.repeat([0.2, 0.7], 4), np.array([0, 0, 0, 1, 0, 1, 1, 1])
    curve = Beta().fit_arrays(s, y)
    assert curve(np.array([[0.2], [0.7]])) == pytest.approx([0.25, 0.75], abs=1e-9)
    assert np.isnan(curve.se).all() and curve.df == 2 and curve.steps()[0] >= 0
    again = BetaCurve.from_dict(json.loads(json.dumps(curve.to_dict(), allow_nan=False)))
    assert again.coef() == curve.coef() and np.isnan(again.se).all()


def test_zero_and_one_are_finite():
    s, y = np.r_[0.0, 1.0, S], np.r_[1.0, 0.0, Y]
    p = Beta().fit_arrays(s, y)(np.array([[0.0], [1e-300], [1.0], [0.5]]))
    assert np.isfinite(p).all() and p[0] == p[1] <= p[3] <= p[2]


@pytest.mark.parametrize("parameters", ["abm", "am"])
def test_separable_labels_need_smoothed_targets(parameters):
    for y, what in ((S > 0.4, "a threshold on the score parts the labels"), (np.ones(500), "all labels are equal")):
        with pytest.raises(ValueError, match=f'{what}.*use targets="smooth"'):
            Beta(parameters=parameters).fit_arrays(S, y)
        assert np.isfinite(Beta(parameters=parameters, targets="smooth").fit_arrays(S, y)(S[:, None])).all()
    falling = Beta(parameters=parameters).fit_arrays(S, S < 0.4)
    assert falling.a == falling.b == 0 and falling(S[:, None]) == pytest.approx(np.mean(S < 0.4), abs=1e-9)


def test_a_curve_through_one_half_is_parted_there_only():
    with pytest.raises(ValueError, match=r'a score of one half parts the labels.*use targets="smooth"'):
        Beta(parameters="ab").fit_arrays(S, S > 0.5)
    assert np.isfinite(Beta(parameters="ab").fit_arrays(S, S > 0.4).coef()["a"])
    assert np.isfinite(Beta(parameters="ab").fit_arrays(S, np.ones(500)).coef()["a"])


def test_options_and_scores_are_checked():
    with pytest.raises(ValueError, match="parameters must be one of 'abm', 'am', 'ab'; got 'a'"):
        Beta(parameters="a")
    with pytest.raises(ValueError, match="targets must be one of 'hard', 'smooth'"):
        Beta(targets="soft")
    with pytest.raises(ValueError, match=r"score 1 must lie in \[0, 1\]"):
        Beta().fit_arrays(S + 1, Y)
    good = Beta().fit_arrays(S, Y).to_dict()
    for change in ({"a": -0.1}, {"c": float("inf")}, {"se": [0.1]}):
        with pytest.raises(ValueError, match="beta: a, b, c must be finite"):
            BetaCurve.from_dict(good | change)

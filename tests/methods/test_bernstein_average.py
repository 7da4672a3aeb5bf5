"""Bernstein(K="average"): weights against scipy's SLSQP and their formulas, the average against its members."""

import numpy as np
import pytest
from scipy.optimize import minimize
from test_bernstein import slsqp_fit
from test_bernstein_likelihood import design, rows

import isocal
from isocal.methods import Bernstein
from isocal.numerics import selection
from isocal.numerics.degree_average import simplex_weights
from isocal.numerics.folds import fold_weights

PLACES = np.linspace(0, 1, 41)[:, None]
SLSQP = 3e-5  # what SLSQP's coefficients are good for in fitted values


@pytest.fixture
def four_degrees(monkeypatch):
    """Degrees 1 to 4 instead of 1 to 15."""
    monkeypatch.setattr(selection, "HIGHEST", 4)


def held_out_predictions(s, y):
    """(n, 4) predictions of degrees 1 to 4 at each row from the other folds, by SLSQP."""
    W, out = fold_weights(y, s), np.empty((len(y), 4))
    for f in range(5):
        test = W[:, f] > 0
        for K in range(1, 5):
            out[test, K - 1] = design(s[test], (K,)) @ slsqp_fit(s[~test], y[~test], K)
    return out


@pytest.mark.parametrize("seed", range(3))
def test_stacking_minimises_the_held_out_brier_score(four_degrees, seed):
    s, y = rows(seed, 120, 1)
    table = Bernstein(K="average").fit_arrays(s, y).tables()["degrees"]
    P = held_out_predictions(s, y)
    rules = [{"type": "eq", "fun": lambda a: a.sum() - 1}]
    best = minimize(lambda a: np.mean((y - P @ a) ** 2), np.full(4, 0.25), method="SLSQP", bounds=[(0, 1)] * 4,
                    constraints=rules, options={"ftol": 1e-15}).fun  # fmt: skip
    weights = np.array(table["weight"])
    assert np.mean((y - P @ weights) ** 2) == pytest.approx(best, abs=2e-6)
    assert weights.min() >= 0 and weights.sum() == pytest.approx(1, abs=1e-12)
    assert table["cv_brier"] == pytest.approx(np.mean((y[:, None] - P) ** 2, axis=0), abs=2e-6)
    assert table["K"] == [1, 2, 3, 4]


@pytest.mark.parametrize("how", ["stack", "equal", "exp"])
def test_the_curve_is_the_weighted_mean_of_its_members(four_degrees, how):
    s, y = rows(4, 130, 1)
    curve = Bernstein(K="average", average=how).fit_arrays(s, y)
    weights = curve.tables()["degrees"]["weight"]
    members = np.column_stack([design(PLACES, (K,)) @ slsqp_fit(s, y, K) for K in range(1, 5)])
    assert curve(PLACES) == pytest.approx(members @ weights, abs=SLSQP)
    assert curve.K == (4,) and np.isnan(curve.df) and min(curve.steps()) >= 0
    if how == "equal":
        assert weights == [0.25] * 4 and "cv_brier" not in curve.tables()["degrees"]


@pytest.mark.parametrize("w", [None, 1.5])
def test_exponential_weights_follow_their_formula(four_degrees, w):
    s, y = rows(5, 100, 2)
    n = 100 * (w or 1)
    table = Bernstein(K="average", average="exp").fit_arrays(s, y, w and np.full(100, w)).tables()["degrees"]
    cv = np.array(table["cv_brier"])
    a = np.exp(-n * (cv - cv.min()) / (2 * cv.min()))
    assert table["weight"] == pytest.approx(a / a.sum(), rel=1e-9)


def test_weights_on_the_simplex_by_hand():
    """a'a - 2 c'a is least at the projection of c on the simplex."""
    eye = np.eye(2)
    assert simplex_weights(eye, np.array([1.0, 0.0])) == pytest.approx([1, 0], abs=1e-7)
    assert simplex_weights(eye, np.array([0.5, 0.2])) == pytest.approx([0.65, 0.35], abs=1e-7)
    assert simplex_weights(eye, np.array([3.0, 1.0])).tolist() == [1, 0]
    assert simplex_weights(np.ones((3, 3)), np.ones(3)) == pytest.approx([1 / 3] * 3, abs=1e-9)  # all alike: evenly
    assert simplex_weights(np.zeros((2, 2)), np.zeros(2)).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("seed", range(20))
def test_weights_on_the_simplex_are_optimal(seed):
    """At the minimum a'Qa - 2 c'a has equal slopes where a > 0 and no smaller one elsewhere."""
    rng = np.random.default_rng(seed)
    B = rng.random((30, 6)) * rng.integers(0, 2, 6) + 1e-3 * rng.random((30, 6))
    Q, c = B.T @ B / 30, B.T @ rng.random(30) / 30
    a = simplex_weights(Q, c)
    slope = Q @ a - c
    assert a.min() >= 0 and a.sum() == pytest.approx(1, abs=1e-14)
    assert np.ptp(slope[a > 0]) <= 1e-7 and slope.min() >= slope[a > 0].min() - 1e-7


def test_degrees_go_to_fifteen_as_far_as_seven_hundred_coefficients():
    s, y = rows(6, 60, 3)
    one = Bernstein(K="average", average="equal").fit_arrays(s[:, :1], y)
    three = Bernstein(K="average", average="equal").fit_arrays(s, y)
    assert one.K == (15,) and three.K == (7,) * 3 and len(three.tables()["degrees"]["K"]) == 7
    assert min(three.steps()) >= 0


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_class_stays_certain(four_degrees, label):
    curve = Bernstein(K="average").fit_arrays(rows(7, 30, 2)[0], np.full(30, label))
    assert set(curve.beta.ravel()) == {label}


def test_directions_free_scores_and_the_likelihood(four_degrees):
    s, y = rows(8, 150, 2)
    for loss in ("brier", "log"):
        curve = Bernstein(K="average", monotone=("decreasing", "none"), loss=loss).fit_arrays(1 - s, y)
        assert curve.steps()[0] >= 0 and curve.steps()[1] is None
        assert curve.beta.min() >= 0 and curve.beta.max() <= 1


def test_fit_many_is_fit_by_fit(four_degrees):
    s, y = rows(9, 90, 2)
    W = np.random.default_rng(1).integers(0, 3, (90, 3)).astype(float)
    raw = np.log(s)
    for how in ("stack", "equal"):
        recipe = Bernstein(K="average", average=how)
        for j, curve in enumerate(recipe.fit_many(s, y, W, raw=raw)):
            assert np.allclose(curve(s), recipe.fit_arrays(s, y, W[:, j], raw=raw)(s), rtol=0, atol=1e-9)


def test_results_show_degrees_and_save_them(four_degrees, tmp_path):
    data = isocal.datasets.simulate_scores(150, M=2, rng=3)
    res = isocal.bernstein("y ~ ecdf(s1) + s2", data, K="average").fit()
    table = res.table("degrees")
    assert table.columns.tolist() == ["K", "cv_brier", "weight"] and table.weight.sum() == pytest.approx(1)
    text = res.summary().as_text()
    assert "4 (1 to 4 averaged, stacked on five folds)" in text and "not defined" in text
    res.save(tmp_path / "fit.json")
    again = isocal.load(tmp_path / "fit.json")
    assert again.predict(data).equals(res.predict(data)) and again.table("degrees").equals(table)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"average": "mean", "K": "average"}, "average must be one of 'stack', 'equal', 'exp'; got 'mean'"),
        ({"average": "equal"}, "needs several degrees, K='average'; got K=None"),
        ({"K": "average", "anisotropic": True}, "anisotropic=True needs K to be chosen"),
        ({"loss": "hinge"}, "loss must be one of 'brier', 'log'; got 'hinge'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        Bernstein(**options)


def test_what_an_average_has_not_is_said():
    recipe = Bernstein(K="average")
    assert recipe.sums(*rows(1, 30, 2)) is None
    with pytest.raises(ValueError, match="settled by the fit"):
        recipe.degrees(2)


def test_round_off_of_perfect_scores_is_no_difference():
    """Labels that are the scores: every degree predicts perfectly, so all weights are equal whatever the row order."""
    y = np.r_[np.zeros(20), np.ones(20)]
    recipe = Bernstein(K="average", average="exp")
    found = [recipe.fit_arrays(y[o][:, None], y[o]) for o in (slice(None), slice(None, None, -1))]
    for curve in found:
        weights = curve.tables()["degrees"]["weight"]
        assert weights == pytest.approx(np.full(len(weights), 1 / len(weights)), abs=1e-12)

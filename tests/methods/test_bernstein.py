"""The Bernstein recipe: options, choice of the degree, support, many fits at once."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

import isocal
from isocal.methods import Bernstein
from isocal.numerics import selection
from isocal.numerics.folds import fold_weights

RNG = np.random.default_rng(21)
S = RNG.random((160, 1))
Y = (RNG.random(160) < 0.1 + 0.7 * S[:, 0] ** 2).astype(float)


def slsqp_fit(s, y, K):
    """Constrained least squares by scipy's SLSQP: separate from cvxopt and from the moments."""
    X = binom.pmf(np.arange(K + 1)[None, :], K, s)
    start = np.full(K + 1, y.mean())
    rules = [{"type": "ineq", "fun": lambda b: np.r_[b[0], np.diff(b), 1 - b[-1]]}]
    found = minimize(
        lambda b: np.mean((y - X @ b) ** 2), start, jac=lambda b: -2 * X.T @ (y - X @ b) / len(y),
        constraints=rules, method="SLSQP", options={"ftol": 1e-16, "maxiter": 500},
    )  # fmt: skip
    return found.x


def test_path_is_the_cross_validated_brier_score_of_a_separate_solver():
    path = Bernstein(K="cv").fit_arrays(S, Y).tables()["path"]
    assert path["K"] == list(range(1, 16))
    W = fold_weights(Y, S)
    for K in (1, 3, 6):
        loss = 0.0
        for f in range(5):
            test = W[:, f] > 0
            b = slsqp_fit(S[~test], Y[~test], K)
            loss += np.sum((Y[test] - binom.pmf(np.arange(K + 1)[None, :], K, S[test]) @ b) ** 2)
        assert path["cv_brier"][K - 1] == pytest.approx(loss / 160, abs=2e-6)
        p = binom.pmf(np.arange(K + 1)[None, :], K, S) @ slsqp_fit(S, Y, K)
        llf = np.sum(np.log(np.where(Y == 1, p, 1 - p)))
        assert path["aic"][K - 1] == pytest.approx(-2 * llf + 2 * path["df"][K - 1], abs=2e-3)
        assert path["bic"][K - 1] == pytest.approx(-2 * llf + np.log(160) * path["df"][K - 1], abs=2e-3)


@pytest.mark.parametrize("criterion, column", [("cv", "cv_brier"), ("aic", "aic"), ("bic", "bic")])
def test_the_smallest_criterion_is_chosen(criterion, column):
    curve = Bernstein(K=criterion).fit_arrays(S, Y)
    path = curve.tables()["path"]
    chosen = path["chosen"].index("*")
    assert path["K"][chosen] == curve.K[0] and path["chosen"].count("*") == 1
    assert path[column][chosen] <= np.nanmin(path[column]) * (1 + 1e-6)
    fixed = Bernstein(K=curve.K).fit_arrays(S, Y)
    assert np.allclose(fixed.beta, curve.beta, atol=1e-9) and fixed.df == curve.df


def test_shuffling_and_repeating_never_change_the_chosen_degree():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        s = np.round(rng.random((150, 2)), 2)
        y = (rng.random(150) < s.mean(axis=1)).astype(float)
        first = Bernstein(K="cv").fit_arrays(s, y)
        order = rng.permutation(150)
        assert Bernstein(K="cv").fit_arrays(s[order], y[order]).K == first.K
        w = rng.integers(1, 4, 150)
        heavy = Bernstein(K="cv").fit_arrays(s, y, w.astype(float))
        rows = rng.permutation(np.repeat(np.arange(150), w))
        assert Bernstein(K="cv").fit_arrays(s[rows], y[rows]).K == heavy.K


def test_folds_come_from_scores_before_transforms():
    """expit() of the same scores makes the same folds, so the training parts are the same rows."""
    data = pd.DataFrame({"z": RNG.normal(size=120)}).assign(y=(RNG.random(120) < 0.5).astype(int))
    model = isocal.bernstein("y ~ expit(z)", data, K="cv")
    s = 1 / (1 + np.exp(-data.z.to_numpy()))[:, None]
    by_raw = Bernstein(K="cv").fit_arrays(s, data.y, raw=data[["z"]].to_numpy())
    other = Bernstein(K="cv").fit_arrays(s, data.y).tables()["path"]["cv_brier"]
    assert model.fit().table("path").cv_brier.tolist() == pytest.approx(by_raw.tables()["path"]["cv_brier"], abs=1e-9)
    assert by_raw.tables()["path"]["cv_brier"] != pytest.approx(other, abs=1e-5), "other bits make other folds"


def test_anisotropic_degrees(monkeypatch):
    monkeypatch.setattr(selection, "MOST", 36)  # 225 pairs of degrees take a while
    rng = np.random.default_rng(4)
    s = rng.random((300, 2))
    y = (rng.random(300) < s[:, 0]).astype(float)  # the second score says nothing
    curve = Bernstein(K="bic", anisotropic=True).fit_arrays(s, y)
    path = curve.tables()["path"]
    assert path["K"][:3] == [1, "1, 2", "1, 3"] and "15, 1" in path["K"] and 5 in path["K"]
    assert path["bic"][path["chosen"].index("*")] <= min(path["bic"]) * (1 + 1e-6)


def test_degrees_that_make_the_data_impossible_are_refused_by_likelihood_criteria():
    s = np.r_[np.zeros(20), np.ones(20), 0.5][:, None]
    y = np.r_[np.zeros(20), np.ones(20), 1.0]
    path = Bernstein(K="aic").fit_arrays(s, y).tables()["path"]
    assert np.isfinite(path["aic"][path["chosen"].index("*")])


def test_candidates_stop_at_fifteen_and_seven_hundred_coefficients():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60).astype(float)
    assert max(Bernstein(K="cv").fit_arrays(rng.random((60, 3)), y).tables()["path"]["K"]) == 7  # 8^3 = 512, 9^3 = 729
    assert max(Bernstein(K="cv").fit_arrays(rng.random((60, 4)), y).tables()["path"]["K"]) == 4  # 5^4 = 625


def test_default_degrees_and_names():
    data = isocal.datasets.simulate_scores(60, M=5, rng=2)
    for M, K in ((1, 5), (2, 5), (3, 5), (4, 4), (5, 3)):
        names = [f"s{m + 1}" for m in range(M)]
        res = isocal.bernstein("y ~ " + " + ".join(names), data).fit()
        assert res.curve.K == (K,) * M and res.params.size == (K + 1) ** M
    res = isocal.bernstein("y ~ s1 + s2", data, K={"s2": 2}, monotone={"s2": "decreasing"}).fit()
    assert res.curve.K == (5, 2) and res.curve.directions == (1, -1)


def test_fit_many_is_fit_by_fit():
    rng = np.random.default_rng(6)
    s, W = rng.random((90, 2)), rng.integers(0, 3, (90, 4)).astype(float)
    Y = rng.integers(0, 2, (90, 4)).astype(float)
    recipe = Bernstein(K=3)
    for many, one in (
        (recipe.fit_many(s, Y), lambda j: recipe.fit_arrays(s, Y[:, j])),
        (recipe.fit_many(s, Y[:, 0], W), lambda j: recipe.fit_arrays(s, Y[:, 0], W[:, j])),
        (recipe.fit_many(s, Y, W), lambda j: recipe.fit_arrays(s, Y[:, j], W[:, j])),
    ):
        for j in range(4):
            assert np.allclose(many[j](s), one(j)(s), rtol=0, atol=1e-9)


def test_sums_of_chunks_fit_the_whole():
    recipe = Bernstein(K=4)
    a, b = recipe.sums(S[:70], Y[:70]), recipe.sums(S[70:], Y[70:])
    assert np.allclose(recipe.fit_sums(a + b)(S), recipe.fit_arrays(S, Y)(S), rtol=0, atol=1e-9)


def test_support_follows_its_definition():
    """Node k lacks support if sum_i b_k(s_i) / max b_k < 1, by scipy's binomial probabilities."""
    rng = np.random.default_rng(7)
    s = rng.random((40, 2)) * [0.5, 1.0]
    curve = Bernstein(K=4).fit_arrays(s, rng.integers(0, 2, 40).astype(float))
    b = [binom.pmf(np.arange(5)[None, :], 4, s[:, m : m + 1]) for m in range(2)]
    peak = np.array([binom.pmf(k, 4, k / 4) for k in range(5)])
    expected = np.einsum("ni,nj->ij", *b) / np.outer(peak, peak) >= 1
    assert np.array_equal(curve.support, expected) and not expected.all()
    places = np.array([[0.1, 0.5], [1.0, 0.5], [np.nan, 0.5]])
    assert curve.supported(places).tolist() == [True, bool(expected[4, 2]), False]
    side = np.array([1, 2, 2, 2, 1]) / 8
    assert curve.unsupported_share() == pytest.approx(np.sum(np.outer(side, side)[~expected]))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"K": 0}, "K must be an integer of at least 1"),
        ({"K": -1}, "K must be an integer of at least 1"),
        ({"K": 2.5}, "got 2.5"),
        ({"K": True}, "K must be an integer"),
        ({"K": "auto"}, "one of 'cv', 'aic', 'bic', 'average'; got 'auto'"),
        ({"K": (5, 0)}, "at least 1"),
        ({"monotone": "up"}, "'increasing', 'decreasing' or 'none'"),
        ({"monotone": ("increasing", 1)}, "got 1"),
        ({"tie_break": -1}, "tie_break must lie between"),
        ({"K": 5, "anisotropic": True}, "anisotropic=True needs K to be chosen"),
    ],
)
def test_options_are_checked_when_the_recipe_is_made(options, message):
    with pytest.raises(ValueError, match=message):
        Bernstein(**options)


def test_what_depends_on_the_scores_is_checked_with_them():
    s, y = RNG.random((30, 3)), RNG.integers(0, 2, 30)
    for options, message in (
        ({"K": (5, 5)}, "K has 2 entries for 3 scores"),
        ({"monotone": ("none",)}, "monotone has 1 entries for 3 scores"),
        ({"K": 20}, "9,261 coefficients; at most 3,000"),
        ({"K": {"s1": 3}}, "needs names"),
        ({"K": "cv", "anisotropic": True}, "for two scores; this formula has 3"),
    ):
        with pytest.raises(ValueError, match=message):
            Bernstein(**options).fit_arrays(s, y)
    with pytest.raises(ValueError, match="takes at most 5 scores, got 6"):
        Bernstein().fit_arrays(RNG.random((9, 6)), np.zeros(9))
    with pytest.raises(ValueError, match="score 2 is constant"):
        Bernstein().fit_arrays(np.c_[S, np.full(160, 0.5)], Y)


def test_duplicated_scores_are_reported():
    curve = Bernstein(K=2).fit_arrays(np.c_[S, S], Y)
    assert curve.facts()["Duplicated"] == "scores 1 = 2"


def test_from_dict_refuses_what_breaks_the_promise():
    good = Bernstein(K=2).fit_arrays(S, Y).to_dict()
    read = type(Bernstein(K=2).fit_arrays(S, Y)).from_dict
    assert np.array_equal(read(good).beta, good["beta"])
    for change, message in (
        ({"beta": [0.5, 0.4, 0.6]}, "break the promised direction"),
        ({"beta": [0.1, 0.2, 1.6]}, r"lie in \[0, 1\]"),
        ({"beta": [0.1, 0.2, float("nan")]}, "finite"),
        ({"beta": [[0.1, 0.2, 0.3]]}, "do not fit"),
        ({"support": [True]}, "support has shape"),
    ):
        with pytest.raises(ValueError, match=message):
            read(good | change)


def test_high_degree_of_one_score_is_solved():
    rng = np.random.default_rng(12)
    s = rng.random((400, 1))
    y = (rng.random(400) < (s[:, 0] > 0.5)).astype(float)  # a jump: needs a high degree
    curve = Bernstein(K=200).fit_arrays(s, y)
    assert curve.kkt < 1e-9 and np.all(np.diff(curve.beta) >= 0)
    assert curve(np.array([[0.4], [0.6]])) == pytest.approx([0, 1], abs=0.02)

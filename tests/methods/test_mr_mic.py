"""MR-MIC: what is special to it. Promises every method keeps stand in test_contract.py, numerics in test_orders.py."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import isocal
from isocal.methods import MRMIC, Isotonic, mr_mic
from isocal.methods.mr_mic import GRID
from isocal.numerics.folds import fold_weights
from isocal.numerics.smoothed_order import NotConvex

SHARED = Path(__file__).parents[2].parent / "shared" / "reference" / "mrmic"
THREE = np.array([[0.2, 0.7], [0.5, 0.6], [0.1, 0.8]]), np.array([1.0, 0.0, 0.0])


def rows(n, M, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    s = 1 / (1 + np.exp(-rng.normal(size=(n, 1)) - rng.normal(size=(n, M))))
    s = s if decimals is None else np.round(s, decimals)
    return s, (rng.random(n) < s.mean(axis=1)).astype(float)


def frame(n, M):
    s, y = rows(n, M)
    return pd.DataFrame(s, columns=[f"s{m + 1}" for m in range(M)]).assign(y=y)


def read(name):
    if not SHARED.exists():
        pytest.skip("shared folder is absent")
    return pd.read_csv(SHARED / f"mrmic_{name}.csv")


# ------------------------------------------------------------------------------------------------------- other programs


@pytest.mark.parametrize("lam", [0, 0.001, 0.01])
def test_solutions_are_those_of_quadprog(lam):
    train, wanted = read("train"), read("quadprog")
    curve = MRMIC(lam=lam).fit_arrays(train[["s1", "s2"]].to_numpy(), train["y"].to_numpy())
    assert np.allclose(curve.points, wanted[["s1", "s2"]], rtol=0, atol=1e-14)  # the file holds 15 digits
    assert np.array_equal(curve.weight, wanted["n"])
    assert np.max(np.abs(curve.values - wanted[f"quadprog_{lam:g}"])) <= 1e-12
    assert np.array_equal(curve(curve.points), curve.values)
    res = isocal.mr_mic("y ~ s1 + s2", train, lam=lam).fit()
    assert np.array_equal(res.predict(), curve(train[["s1", "s2"]].to_numpy()))


def test_cover_pairs_are_those_of_the_reference():
    train, wanted = read("train"), read("cover_pairs")
    curve = MRMIC().fit_arrays(train[["s1", "s2"]].to_numpy(), train["y"].to_numpy())
    low, high = curve.between.pairs
    assert set(zip(low.tolist(), high.tolist())) == set(zip(wanted["lo"], wanted["hi"]))
    assert curve.pairs == len(wanted) and curve.facts()["Cover pairs"] == f"{len(wanted)}"


# -------------------------------------------------------------------------------------------------------------- by hand


def test_linear_falls_between_three_points_and_the_envelope_does_not():
    s = np.array([[0.2, 0.7], [0.3, 0.7]])  # the second is halfway between the points that hold 0
    assert np.allclose(MRMIC(lam=0).fit_arrays(*THREE)(s), [1, 0], rtol=0, atol=1e-12)
    assert MRMIC(lam=0, predict="envelope").fit_arrays(*THREE)(s).tolist() == [1.0, 1.0]
    assert MRMIC().directions(2) == (0, 0) and MRMIC(predict="envelope").directions(2) == (1, 1)
    assert MRMIC().directions(1) == (1,)


def test_corners_are_midpoints_of_their_order_bounds():
    """(0, 0) lies below points that hold 0: 0. (1, 1) lies above a point that holds 1: 1. The others: nothing is
    comparable, or all within [0, 1]: 1/2.
    """
    curve = MRMIC(lam=0).fit_arrays(*THREE)
    assert curve(np.array([[0.0, 0], [1, 1], [1, 0], [0, 1]])).tolist() == [0.0, 1.0, 0.5, 0.5]
    assert curve(np.array([[0.0, 0.5]])) == pytest.approx([0.25])  # along an edge of the square without points
    own = np.array([[0.0, 0.0], [1.0, 0.2]]), np.array([1.0, 1.0])  # a corner that is a point keeps its own value
    assert MRMIC(lam=0).fit_arrays(*own)(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])).tolist() == [1.0, 1.0, 1.0]


def test_two_points_smoothed_by_hand():
    """Sum of squares (1 - D)^2/2 with D = p2 - p1, and (lam/2) w D^2 with w = 1/max(d, 1/2): D = 1/(1 + lam w)."""
    s, y = np.array([[0.25], [0.5]]), np.array([0, 1])
    for lam, d in ((0.5, 2.0), (3.0, 2.0)):
        D = 1 / (1 + lam * d)
        assert np.allclose(MRMIC(lam=lam).fit_arrays(s, y).values, [(1 - D) / 2, (1 + D) / 2], rtol=0, atol=1e-14)
    wide = MRMIC(lam=0.5).fit_arrays(np.array([[0.0], [0.8]]), y)  # w = 1/0.8, D = 8/13
    assert np.allclose(wide.values, [2.5 / 13, 10.5 / 13], rtol=0, atol=1e-14)
    assert wide.df == pytest.approx(1 + 8 / 13)  # the mean is free, the difference shrinks by D


def test_the_similarity_matrix_pulls_toward_zero_by_hand():
    """Gradient 2 (p - y) + lam W p = 0 with W = [[2, 1.25], [1.25, 2]] and lam = 1: p = 2 (2 + W)^-1 y."""
    curve = MRMIC(lam=1, omega="similarity").fit_arrays(np.array([[0.0], [0.8]]), np.array([1, 1]))
    assert np.allclose(curve.values, 2 / 5.25, rtol=0, atol=1e-14)
    assert MRMIC(lam=1).fit_arrays(np.array([[0.0], [0.8]]), np.array([1, 1])).values.tolist() == [1.0, 1.0]


def test_values_are_clipped_to_probabilities():
    """Unconstrained p = 2 (2C + lam W)^-1 C y is negative at the point without an event: 0 is reported."""
    s, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    p = 2 * np.linalg.solve(2 * np.eye(2) + 1.0 * np.array([[2, 1], [1, 2]]), y)
    assert p[0] < 0
    curve = MRMIC(lam=1, omega="similarity").fit_arrays(s, y)
    assert np.allclose(curve.values, [0, p[1]], rtol=0, atol=1e-14)


def test_one_score_without_smoothing_is_isotonic_regression():
    s, y = rows(150, 1, decimals=2)
    curve, other = MRMIC(lam=0).fit_arrays(s, y), Isotonic().fit_arrays(s, y)
    assert np.max(np.abs(curve(s) - other(s))) <= 1e-12 and curve.df == other.df
    assert curve(np.array([[0.0], [1.0]])).tolist() == [curve.values[0] / 2, (1 + curve.values[-1]) / 2]
    between = (curve.points[3] + curve.points[4]) / 2
    assert curve(between[None, :]) == pytest.approx([(curve.values[3] + curve.values[4]) / 2])


# --------------------------------------------------------------------------------------------------------------- claims


@pytest.mark.parametrize("M", [1, 2, 3, 4])
def test_the_envelope_is_monotone_on_the_whole_domain(M):
    rng = np.random.default_rng(M)
    for seed in range(3):
        curve = MRMIC(predict="envelope", lam=(0, 1e-5, 0.1)[seed]).fit_arrays(*rows(120, M, seed, 1))
        low = np.r_[rng.random((300, M)), np.round(rng.random((300, M)), 1)]
        high = np.minimum(low + rng.random(low.shape) * rng.integers(0, 2, low.shape), 1)
        assert np.all(curve(high) >= curve(low))
        assert np.all(np.array(curve.steps()) >= 0) and len(curve.steps()) == M
        assert np.array_equal(curve(curve.points), curve.values)


def test_mean_probability_is_the_mean_label_under_the_laplacian():
    for M, lam, predict in itertools.product((1, 2, 3), (0, 1e-5, 0.01, 10), ("linear", "envelope")):
        s, y = rows(120, M, M, 2)
        assert abs(MRMIC(lam=lam, predict=predict).fit_arrays(s, y)(s).sum() - y.sum()) <= 1e-10
    w = np.random.default_rng(0).lognormal(0, 1, 120)
    assert abs(w @ (MRMIC(lam=0.01).fit_arrays(s, y, w)(s) - y)) <= 1e-10


def test_scaling_weights_is_scaling_lam_where_points_lie_apart():
    """Omega holds products of weights; 1/n matters only to rows nearer than that."""
    s = np.stack(np.meshgrid(np.arange(6) / 5, np.arange(6) / 5), axis=-1).reshape(-1, 2)
    y = (np.random.default_rng(1).random(36) < s.mean(axis=1)).astype(float)
    doubled = MRMIC(lam=0.05).fit_arrays(s, y, np.full(36, 2.0))
    assert np.allclose(doubled.values, MRMIC(lam=0.1).fit_arrays(s, y).values, rtol=0, atol=1e-12)
    assert not np.allclose(doubled.values, MRMIC(lam=0.05).fit_arrays(s, y).values, rtol=0, atol=1e-4)


def test_lam_by_cross_validation_is_that_of_refits():
    s, y = rows(90, 2, 3, 2)
    w = np.random.default_rng(1).integers(0, 4, 90).astype(float)
    curve = MRMIC(lam="cv").fit_arrays(s, y, w)
    path = curve.tables()["path of lambda"]
    keep = w > 0
    W = fold_weights(y[keep], s[keep], w[keep])
    for k in (0, 4, 10):
        loss = 0.0
        for test in W.T:
            other = MRMIC(lam=GRID[k]).fit_arrays(s[keep], y[keep], w[keep] - test)
            loss += test @ (y[keep] - other(s[keep])) ** 2
        assert path["cv_brier"][k] == pytest.approx(loss / w.sum(), abs=1e-12)
    assert path["lam"] == list(GRID) == [1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1]
    assert path["chosen"].index("*") == np.argmin(path["cv_brier"]) and curve.lam == GRID[np.argmin(path["cv_brier"])]
    assert np.array_equal(curve.values, MRMIC(lam=curve.lam).fit_arrays(s, y, w).values)
    assert MRMIC(lam="cv").hold(curve) == MRMIC(lam=curve.lam) and MRMIC(lam="cv").needs_raw and not MRMIC().needs_raw


def test_folds_are_made_of_scores_before_transforms():
    data = frame(100, 2).assign(s1=lambda d: 100 * d.s1)
    res = isocal.mr_mic("y ~ ecdf(s1) + ecdf(s2)", data, lam="cv").fit()
    s = np.c_[data.s1.rank(), data.s2.rank()] / 100
    raw = data[["s1", "s2"]].to_numpy()
    assert res.curve.path == MRMIC(lam="cv").fit_arrays(s, data.y.to_numpy(), raw=raw).path
    assert res.table("path of lambda").columns.tolist() == ["lam", "cv_brier", "chosen"]


def test_support_is_the_hull_of_the_points_or_comparability():
    s, y = np.array([[0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8]]), np.array([0, 0, 1, 1])
    places = np.array([[0.5, 0.5], [0.8, 0.2], [0.9, 0.5], [0.05, 0.05], [np.nan, 0.5]])
    for predict in ("linear", "envelope"):
        found = MRMIC(predict=predict).fit_arrays(s, y).supported(places)
        assert found.tolist() == [True, True, False, False, False]


# ------------------------------------------------------------------------------------------------------------ bad input


def test_options_out_of_range():
    for lam in (-1e-9, np.nan, np.inf, True, None):
        with pytest.raises(ValueError, match="lam must be a number >= 0"):
            MRMIC(lam=lam)
    for options, what in (({"lam": "aic"}, "lam must be one of 'cv'"), ({"omega": "W"}, "omega must be one of"),
                          ({"predict": "nearest"}, "predict must be one of 'linear', 'envelope'")):  # fmt: skip
        with pytest.raises(ValueError, match=what):
            MRMIC(**options)
    with pytest.raises(TypeError, match="did you mean 'omega'"):
        isocal.mr_mic("y ~ s1 + s2", frame(20, 2), omga="laplacian")


def test_a_similarity_matrix_that_is_not_convex(monkeypatch):
    """Of 0, 0.3, 0.6 (test_orders.py): the smallest of 2 + 10 W is 2 + 30 ((2 + r) - sqrt(r^2 + 8))/2, r = 5/9."""
    s, y = np.array([[0.0], [0.3], [0.6]]), np.array([0, 1, 1])
    smallest = 2 + 15 * (2 + 5 / 9 - np.sqrt(25 / 81 + 8))
    with pytest.raises(NotConvex, match=rf"eigenvalue {smallest:.3g}\): use omega='laplacian' or a smaller lam"):
        MRMIC(lam=10, omega="similarity").fit_arrays(s, y)
    assert MRMIC(lam=1, omega="similarity").fit_arrays(s, y).values.max() < 1
    close = np.random.default_rng(0).random((60, 3)) * 0.02
    y = np.random.default_rng(1).integers(0, 2, 60)
    path = MRMIC(lam="cv", omega="similarity").fit_arrays(close, y).path
    assert 0 < len(path["lam"]) <= len(GRID)
    monkeypatch.setattr(mr_mic, "GRID", (10.0, 20.0))
    with pytest.raises(ValueError, match="lam='cv' has nothing to choose from"):
        MRMIC(lam="cv", omega="similarity").fit_arrays(close, y)


def test_scores_outside_the_unit_interval_and_missing_ones():
    data = frame(30, 2).assign(s2=lambda d: 5 * d.s2)
    with pytest.raises(ValueError, match=r"score 's2' must lie in \[0, 1\].*use ecdf\(s2\)"):
        isocal.mr_mic("y ~ s1 + s2", data)
    with pytest.raises(ValueError, match="finite"):
        MRMIC().fit_arrays(np.array([[0.5, np.nan]]), np.array([1]))


def test_too_many_rows_or_scores():
    s = np.random.default_rng(0).random((10_001, 2))
    y = np.arange(10_001) % 2
    with pytest.raises(ValueError, match=r"at most 10,000 distinct rows of scores, got 10,001: use isocal\.bernstein"):
        MRMIC(lam=0).fit_arrays(s, y)
    with pytest.raises(ValueError, match=r"with lam > 0 takes at most 5,000 .* got 5,001.*isocal\.bernstein.*lam=0"):
        MRMIC().fit_arrays(s[:5001], y[:5001])
    assert MRMIC(lam=0).check(np.round(s, 1), y) is None  # ties count once
    s = np.random.default_rng(0).random((2001, 5))
    with pytest.raises(ValueError, match=r"5 scores takes at most 1,000 .*predict='envelope'"):
        MRMIC(lam=0).fit_arrays(s, y[:2001])
    s = np.random.default_rng(0).random((60, 6))
    with pytest.raises(ValueError, match=r"at most five scores, got 6: use predict='envelope'"):
        MRMIC().fit_arrays(s, y[:60])
    assert MRMIC(predict="envelope").fit_arrays(s, y[:60])(s).max() <= 1


@pytest.mark.parametrize("predict", ["linear", "envelope"])
@pytest.mark.parametrize("lam", [0, 1e-5, "cv"])
def test_few_rows_one_class_lines_and_duplicates(predict, lam):
    recipe = MRMIC(lam=lam, predict=predict)
    line = np.linspace(0.1, 0.9, 9)
    grid = np.random.default_rng(0).random((40, 2))
    cases = (
        (np.c_[line, line], np.arange(9) % 2), (np.c_[line, line[::-1]], np.arange(9) % 2),
        (np.c_[line, np.full(9, 0.5)], np.arange(9) % 2), (np.full((4, 2), 0.5), np.array([0, 1, 0, 1])),
        (np.c_[line, line], np.ones(9)), (np.c_[line, line], np.zeros(9)),
        (np.repeat(np.eye(2), 3, axis=0), np.arange(6) % 2),
    )  # fmt: skip
    for s, y in cases[:: 3 if lam == "cv" else 1]:
        p = recipe.fit_arrays(s, y)(grid)
        assert np.isfinite(p).all() and p.min() >= 0 and p.max() <= 1
        assert abs(recipe.fit_arrays(s, y)(s).sum() - y.sum()) <= 1e-12
    one = np.array([[0.5, 0.5]])
    if lam != "cv":
        assert recipe.fit_arrays(one, np.array([1]))(one) == [1.0]
        return
    with pytest.raises(ValueError, match=r"no row can be held out.*lam=1e-5"):
        recipe.fit_arrays(one, np.array([1]))

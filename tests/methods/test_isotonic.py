"""Isotonic regression against published cases, scikit-learn and hand arithmetic."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import isocal
from isocal.methods import Isotonic
from isocal.methods.isotonic import IsotonicCurve
from isocal.numerics.pava import centred_points, isotonic_means

RNG = np.random.default_rng(13)
S = np.round(RNG.normal(size=300), 1)
Y = (RNG.random(300) < 1 / (1 + np.exp(-S))).astype(float)
W = RNG.integers(1, 5, 300) / 2
PLACES = np.r_[np.linspace(-5, 5, 501), S, np.nextafter(S, 9), np.nextafter(S, -9)]


def with_means(means, weights):
    """Rows and weights: score i with the given mean label and weight."""
    i = np.arange(len(means), dtype=float)
    return np.repeat(i, 2), np.tile([1.0, 0.0], len(i)), np.ravel(np.c_[means * weights, (1 - means) * weights])


@pytest.mark.parametrize(
    "values, largest, wanted",
    [
        # Busing (2022), doi:10.18637/jss.v102.c01, section 1
        ([8, 4, 8, 2, 2, 0, 8], 8, [4, 4, 4, 4, 4, 4, 8]),
        # R's help page of isoreg(): isoreg(c(1,0,4,3,3,5,4,2,0))$yf
        ([1, 0, 4, 3, 3, 5, 4, 2, 0], 5, [0.5, 0.5, 3, 3, 3, 3, 3, 3, 3]),
    ],
)
def test_published_cases(values, largest, wanted):
    means = np.array(values) / largest
    assert isotonic_means(means, np.ones(len(means))) == pytest.approx(np.array(wanted) / largest, abs=1e-15)
    s, y, w = with_means(means, np.full(len(means), 2.0))
    for filling in ("step", "linear"):
        curve = Isotonic(interpolate=filling).fit_arrays(s, y, w)
        assert curve(s[::2, None]) == pytest.approx(np.array(wanted) / largest, abs=1e-15)
        assert curve.df == 2


def test_weights_pool_by_hand():
    """Means .9 (weight 3) and .1 (weight 9) pool to 3.6/12 = .3; then .2 (weight 8) joins: (3.6 + 1.6)/20 = .26."""
    s, y, w = with_means(np.array([0.9, 0.1, 0.2, 0.8]), np.array([3.0, 9, 8, 1]))
    assert Isotonic().fit_arrays(s, y, w).values == pytest.approx([0.26, 0.8], abs=1e-15)


@pytest.mark.parametrize("w", [None, W], ids=["plain", "weighted"])
def test_linear_filling_is_that_of_scikit_learn(w):
    peer = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(S, Y, sample_weight=w)
    curve = Isotonic(interpolate="linear").fit_arrays(S, Y, w)
    assert curve(PLACES[:, None]) == pytest.approx(peer.predict(PLACES), abs=1e-12)
    assert curve.knots.tolist() == peer.X_thresholds_.tolist()


@pytest.mark.parametrize("w", [None, W], ids=["plain", "weighted"])
def test_step_filling_is_the_value_of_the_largest_score_at_or_below(w):
    """As R's as.stepfun(isoreg(x, y)), which is continuous from the right."""
    peer = IsotonicRegression(y_min=0, y_max=1).fit(S, Y, sample_weight=w)
    seen = np.unique(S)
    below = np.array([seen[seen <= v].max(initial=seen[0]) for v in PLACES])
    curve = Isotonic().fit_arrays(S, Y, w)
    assert curve(PLACES[:, None]) == pytest.approx(peer.predict(below), abs=1e-12)
    assert np.all(np.diff(curve.values) > 0)


def test_centred_by_hand():
    """0 1 0 1: levels 0, 1/2 at 2.5, 1. Between 1 and 2.5 the line rises by 1/2 in 1.5."""
    curve = Isotonic(interpolate="centered").fit_arrays(np.array([1.0, 2, 3, 4]), np.array([0, 1, 0, 1]))
    assert curve.knots.tolist() == [1, 2.5, 4] and curve.values.tolist() == [0, 0.5, 1]
    assert curve(np.array([[0.0], [1], [2], [2.5], [3.25], [9]])) == pytest.approx([0, 0, 1 / 3, 0.5, 0.75, 1])


def test_centred_keeps_the_ends_of_levels_at_zero_and_one():
    """0 0 | 1 0 | 1 1: flat at 0 up to 2 and at 1 from 5; the middle level at its mean score, by weight."""
    s, y = np.arange(1.0, 7), np.array([0, 0, 1, 0, 1, 1])
    curve = Isotonic(interpolate="centered").fit_arrays(s, y)
    assert curve.knots.tolist() == [1, 2, 3.5, 5, 6] and curve.values.tolist() == [0, 0, 0.5, 1, 1]
    heavy = Isotonic(interpolate="centered").fit_arrays(s, y, np.array([1.0, 1, 3, 1, 1, 1]))
    assert heavy.knots.tolist() == [1, 2, 3.25, 5, 6] and heavy.values.tolist() == [0, 0, 0.75, 1, 1]


def test_centred_levels_inside_shrink_to_points_also_at_the_ends():
    """Means .4 .2 .6 .8 .7: levels .3 at 1/2, .6 at 2, .75 at 3.5; constant beyond 1/2 and 3.5."""
    s, y, w = with_means(np.array([0.4, 0.2, 0.6, 0.8, 0.7]), np.full(5, 10.0))
    curve = Isotonic(interpolate="centered").fit_arrays(s, y, w)
    assert curve.knots.tolist() == [0.5, 2, 3.5] and curve.values == pytest.approx([0.3, 0.6, 0.75])
    assert curve(np.array([[0.0], [1.25], [4]])) == pytest.approx([0.3, 0.45, 0.75])
    # equal means without pooling are one level as well (interiorStrict of R's cir)
    knots, values = centred_points(np.arange(4.0), np.array([0.2, 0.5, 0.5, 0.9]), np.ones(4))
    assert knots.tolist() == [0, 1.5, 3] and values.tolist() == [0.2, 0.5, 0.9]


@pytest.mark.parametrize("filling", ["step", "linear", "centered"])
def test_never_nan_and_constant_outside(filling):
    curve = Isotonic(interpolate=filling).fit_arrays(S, Y)
    far = np.array([[-1e308], [S.min()], [S.max()], [1e308], [np.nan]])
    p = curve(far)
    assert p[0] == p[1] and p[2] == p[3] and np.isnan(p[4])
    wide = Isotonic(interpolate=filling).fit_arrays(np.array([-1.7e308, 0.0, 1.7e308]), np.array([0, 1, 1]))
    p = wide(np.array([[-1.7e308], [-1e308], [0.0], [1e308]]))
    assert np.isfinite(p).all() and np.all(np.diff(p) >= 0)


@pytest.mark.parametrize("filling", ["step", "linear", "centered"])
def test_shuffles_and_repeats_change_no_bit(filling):
    recipe, w = Isotonic(interpolate=filling), np.random.default_rng(1).integers(0, 4, 300)
    first = recipe.fit_arrays(S, Y, W * 0.3).to_dict()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(300)
        assert recipe.fit_arrays(S[order], Y[order], W[order] * 0.3).to_dict() == first
    assert recipe.fit_arrays(np.repeat(S, w), np.repeat(Y, w)).to_dict() == recipe.fit_arrays(S, Y, w * 1.0).to_dict()


def test_fractional_weights_leave_pure_levels_at_zero_and_one():
    s = np.arange(20.0)
    curve = Isotonic(interpolate="centered").fit_arrays(s, s >= 10, np.full(20, 0.1))
    assert curve.knots.tolist() == [0, 9, 10, 19] and curve.values.tolist() == [0, 0, 1, 1]


def test_degenerate_rows():
    for filling in ("step", "linear", "centered"):
        recipe = Isotonic(interpolate=filling)
        constant = recipe.fit_arrays(np.full(4, 0.5), np.array([0, 1, 0, 0]))
        assert constant(np.array([[-3.0], [7]])).tolist() == [0.25, 0.25]
        assert recipe.fit_arrays(np.array([1.0]), np.array([1.0]))(np.array([[0.0]])).tolist() == [1]
        assert recipe.fit_arrays(np.array([1.0, 2, 3]), np.array([1, 0, 0]))(np.array([[0.0]])) == pytest.approx(1 / 3)


def test_bad_input():
    with pytest.raises(ValueError, match="interpolate must be one of 'step', 'linear', 'centered'; got 'cubic'"):
        Isotonic(interpolate="cubic")
    good = Isotonic().fit_arrays(S, Y).to_dict()
    for change, message in (
        ({"knots": good["knots"][::-1]}, "knots must increase"), ({"values": good["values"][::-1]}, "must not fall"),
        ({"values": [2.0] * len(good["values"])}, "between 0 and 1"), ({"filling": "cubic"}, "filling must be one of"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            IsotonicCurve.from_dict(good | change)


def test_summary():
    data = isocal.datasets.simulate_scores(200, M=1, rng=1)
    text = isocal.isotonic("y ~ s1", data, interpolate="linear").fit().summary().as_text()
    assert "Level sets" in text and "linear" in text

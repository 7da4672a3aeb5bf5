"""BBQ against a slow second program and hand arithmetic; test_bbq_authors.py has the other programs."""

from math import log

import numpy as np
import pytest
from authors_bbq import rows
from scipy.special import betaln
from sklearn.isotonic import IsotonicRegression
from slow_bbq import beta_product, slow_bbq, slow_predict

import isocal
from isocal.methods import BBQ
from isocal.numerics.averaging import candidate_range, kept, partitions
from isocal.numerics.binning import borders_at, tied_blocks

TINY = ["n01_tiny", "n02_tiny", "n03_tiny", "n05_tiny", "n06_tiny", "n07_tiny", "n10_tiny", "n11_tiny"]
TIED = ["n60_const", "n60_two", "n300_ties1dp"]
GRID = np.linspace(0, 1, 201)[:, None]


def agrees(curve, slow):
    table = curve.tables()["models"]
    assert table["bins"] == [m[0] for m in slow]
    assert table["log_marginal_likelihood"] == pytest.approx([m[1] for m in slow], abs=1e-10)
    assert table["weight"] == pytest.approx([m[2] for m in slow], abs=1e-11)
    for model, (_, _, _, borders, alphas, betas) in zip(curve.models, slow, strict=True):
        assert model.borders.tolist() == borders
        assert model.alpha.tolist() == pytest.approx(alphas, rel=1e-14)
        assert model.beta.tolist() == pytest.approx(betas, rel=1e-14)
    assert curve(GRID).tolist() == pytest.approx([slow_predict(slow, v) for v in GRID[:, 0]], abs=1e-11)


@pytest.mark.parametrize("name", [*TINY, *TIED, "n60_allneg", "n60_allpos", "n200"])
def test_a_slow_second_program_agrees(name):
    s, y = rows(name)
    agrees(BBQ().fit_arrays(s, y), slow_bbq(s[:, 0].tolist(), y.tolist()))


@pytest.mark.parametrize(
    "options",
    [{"prior_scale": "per_bin"}, {"prior_mean": "half"}, {"min_bin": None}, {"C": 3}, {"C": 1, "min_bin": 2},
     {"pruning_threshold": None}, {"pruning_threshold": 0}, {"combine": "select"}, {"prior_strength": 0.1}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("name", ["n07_tiny", "n60_two", "n300_ties1dp"])
def test_options_agree_with_the_slow_program(name, options):
    s, y = rows(name)
    agrees(BBQ(**options).fit_arrays(s, y), slow_bbq(s[:, 0].tolist(), y.tolist(), **options))


def test_prior_means_stay_away_from_zero_and_one():
    """Bins narrower than .01 at both ends, where the clip of [.005, .995] shows."""
    rng = np.random.default_rng(4)
    for s in (rng.random(150) * 0.02, 1 - rng.random(150) * 0.02):
        y = (rng.random(150) < 0.3).astype(float)
        curve = BBQ(pruning_threshold=None, C=4).fit_arrays(s, y)
        agrees(curve, slow_bbq(s.tolist(), y.tolist(), pruning_threshold=None, C=4))
        assert any(np.any(np.minimum(m.borders, 1 - m.borders) < 0.005) for m in curve.models)


def test_fractional_weights_agree_with_the_slow_program():
    s, y = rows("n300_ties1dp")
    w = np.random.default_rng(1).integers(1, 16, len(y)) / 4  # quarters: sums are exact in both programs
    agrees(BBQ().fit_arrays(s, y, w), slow_bbq(s[:, 0].tolist(), y.tolist(), w.tolist()))
    few = np.array([1.5, 1.5, 0.5, 0.5])  # four rows of weight four in all, yet a row is no unit
    s, y = np.array([[0.1], [0.2], [0.3], [0.4]]), np.array([1.0, 0, 1, 1])
    options = {"min_bin": None, "C": 2}
    agrees(BBQ(**options).fit_arrays(s, y, few), slow_bbq(s[:, 0].tolist(), y.tolist(), few.tolist(), **options))


@pytest.mark.parametrize(
    "name, rate", [("n01_tiny", 1 / 3), ("n02_tiny", 1 / 2), ("n03_tiny", 3 / 5), ("n05_tiny", 5 / 7)]
)
def test_up_to_five_rows_are_one_bin(name, rate):
    """(events + 1)/(rows + 2): 0 of 1, 1 of 2, 2 of 3, 4 of 5."""
    assert BBQ().fit_arrays(*rows(name))(GRID) == pytest.approx(rate, abs=1e-15)


def test_six_rows_by_hand():
    """Labels 1 0 1 | 0 0 1. One bin: 3!3!/7! = 1/140, mean 1/2. Two bins, prior (1/2, 1/2) each: 2 of 3 and 1 of 3 have
    G(5/2) G(3/2)/G(4)/pi = 1/16 each, means 5/8 and 3/8. No fall of likelihood is small, so both are kept.
    """
    s, y = rows("n06_tiny")
    curve = BBQ(prior_mean="half").fit_arrays(s, y)
    assert curve.tables()["models"]["log_marginal_likelihood"] == pytest.approx([-log(140), -log(256)], abs=1e-13)
    assert curve.weights == pytest.approx([64 / 99, 35 / 99], abs=1e-14)
    assert curve.values == pytest.approx([(64 * 4 + 35 * 5) / 792, (64 * 4 + 35 * 3) / 792], abs=1e-14)
    third, fourth = np.sort(s[:, 0])[2:4]
    assert curve.borders.tolist() == [(third + fourth) / 2]


def test_constant_score_and_one_class():
    s, y = rows("n60_const")
    assert BBQ().fit_arrays(s, y)(GRID) == pytest.approx((y.sum() + 1) / 62, abs=1e-15)
    for label in (0.0, 1.0):
        p = BBQ().fit_arrays(rows("n200")[0], np.full(200, label))(GRID)
        assert np.all(np.abs(p - label) < 0.05) and p.min() > 0 and p.max() < 1


def test_cuts_never_split_a_block():
    """Blocks of 3, 4, 3 rows. Two bins: target 5 is 2 from 3 and from 7, so 3. Three: 3, 7. Four: 3, 5, 8 -> 3, 7."""
    blocks = tied_blocks(np.repeat([0.2, 0.5, 0.9], [3, 4, 3]), np.zeros(10))
    assert [p.tolist() for p in partitions(blocks, 1, 1)] == [[]]
    assert [p.tolist() for p in partitions(blocks, 2, 2)] == [[1]]
    assert [p.tolist() for p in partitions(blocks, 3, 3)] == [[1, 2]]
    assert [p.tolist() for p in partitions(blocks, 1, 50)] == [[], [1], [1, 2]]
    # 2, 2 and 2 rows: targets 3 -> 2 (equal distance), 2 and 4, and 2 (1.5 + .5), 3 -> 2, 5 -> 4
    blocks = tied_blocks(np.repeat([0.2, 0.5, 0.9], 2), np.zeros(6))
    assert [p.tolist() for p in partitions(blocks, 1, 9)] == [[], [1], [1, 2]]


@pytest.mark.parametrize(
    "n, C, min_bin, expected",
    [
        (1000, 10, None, (1, 100)), (999, 10, None, (1, 100)), (1001, 10, None, (1, 101)),
        (7999, 10, None, (1, 200)), (8000, 10, None, (2, 200)), (8001, 10, None, (2, 201)),
        (27, 10, None, (1, 30)), (28, 10, None, (1, 31)), (27, 10, 5, (1, 6)), (25, 10, 5, (1, 5)), (26, 10, 5, (1, 6)),
        (27, 0.1, None, (30, 30)), (26, 0.1, None, (29, 29)), (10**15, 10, None, (10**4, 10**6)),
        (10**15 - 1, 10, None, (9999, 10**6)), (1, 10, 5, (1, 1)), (1, 10, None, (1, 10)), (64, 1, None, (4, 4)),
    ],
)  # fmt: skip
def test_candidate_range_is_exact_at_cubes(n, C, min_bin, expected):
    assert candidate_range(n, C, min_bin) == expected


def test_borders_lie_above_the_left_score_and_not_above_the_right():
    low = 0.3
    high = np.nextafter(low, 1)
    x = np.array([low, high, 0.5, 1.0, 5e-324 + 1.0])
    assert borders_at(np.array([low, high]), np.array([1])).tolist() == [high]
    assert borders_at(np.array([0.0, 5e-324]), np.array([1])).tolist() == [5e-324]
    assert borders_at(x[2:4], np.array([1])).tolist() == [0.75]
    assert borders_at(np.array([-1.7e308, 1.7e308, 1.75e308]), np.array([1, 2])).tolist() == [0.0, 1.725e308]
    curve = BBQ(min_bin=1, C=2).fit_arrays(np.repeat([low, high], 30)[:, None], np.repeat([0.0, 1.0], 30))
    assert curve(np.array([[low]])) < 0.5 < curve(np.array([[high]]))  # a score on a border belongs to the right


@pytest.mark.parametrize(
    "R, threshold, count",
    [
        ([1, 0.5, 0.4999999, 0.1], 0.001, 2),  # the drop after the second is the first small one
        ([1, 1, 1, 0.2, 0.2, 0.1], 0.001, 4),  # models as likely as the best stay together
        ([1, 1, 1, 0.2], 0.001, 4),
        ([1, 1 - 1e-12, 0.2, 0.2], 0.001, 3),
        ([1, 0.7, 0.4, 0.1], 0.001, 4),  # none qualifies
        ([1, 1, 1], 0.001, 3),  # no variance
        ([1], 0.001, 1),
        ([1, 0.5, 0.4999999, 0.1], None, 4),
        ([1, 0.5, 0.5, 0.1], 0, 2),
        ([1, 0.9, 0.5, 0.1], 100, 1),
    ],
)
def test_pruning(R, threshold, count):
    shuffled = np.random.default_rng(0).permutation(len(R))
    order, weights = kept(np.log(np.array(R, dtype=float))[shuffled] - 60_000, threshold)
    assert len(order) == count and weights == pytest.approx(np.array(R[:count]) / sum(R[:count]), abs=1e-7)
    assert sorted(np.array(R)[shuffled][order], reverse=True) == R[:count]


def test_equally_likely_models_stand_in_order_of_bins():
    assert kept(np.array([-5.0, -3.0, -3.0, -9.0]), None)[0].tolist() == [1, 2, 0, 3]


def test_marginal_likelihood_identity():
    """One bin: the product of one-step-ahead probabilities, and a ratio of Beta functions."""
    y = np.array([0.0, 1, 1, 0, 1, 1, 1])
    model = BBQ(min_bin=7, prior_strength=3).fit_arrays(np.linspace(0.1, 0.9, 7)[:, None], y).models[0]
    assert len(model.alpha) == 1
    assert model.log_likelihood == pytest.approx(beta_product(5, 2, 1.5, 1.5), abs=1e-13)
    assert model.log_likelihood == pytest.approx(betaln(6.5, 3.5) - betaln(1.5, 1.5), abs=1e-13)


def test_twenty_shuffles_change_no_bit():
    s, y = rows("n300_ties1dp")
    w = np.random.default_rng(3).random(len(y))
    plain, weighted = BBQ().fit_arrays(s, y)(GRID), BBQ().fit_arrays(s, y, w)(GRID)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(y))
        assert np.array_equal(BBQ().fit_arrays(s[order], y[order])(GRID), plain)
        assert np.array_equal(BBQ().fit_arrays(s[order], y[order], w[order])(GRID), weighted)


@pytest.mark.parametrize("name", ["n11_tiny", "n60_two", "n300_ties1dp", "n1000"])
def test_integer_weights_are_repeats_bit_for_bit(name):
    s, y = rows(name)
    w = np.random.default_rng(2).integers(0, 5, len(y))
    weighted = BBQ().fit_arrays(s, y, w.astype(float))
    repeated = BBQ().fit_arrays(np.repeat(s, w, axis=0), np.repeat(y, w))
    assert weighted.to_dict() == repeated.to_dict()


def test_fractional_weights_keep_pure_bins_pure():
    s = np.linspace(0.01, 0.99, 300)[:, None]
    curve = BBQ(prior_strength=1e-9).fit_arrays(s, (s[:, 0] > 0.5).astype(float), np.full(300, 0.1))
    assert min(m.beta.min() for m in curve.models) > 0 and min(m.alpha.min() for m in curve.models) > 0


def test_monotone_is_the_isotonic_projection_of_the_steps():
    s, y = rows("n200")
    y = y[np.random.default_rng(8).permutation(200)]  # no signal: the steps go up and down
    plain, monotone = BBQ().fit_arrays(s, y), BBQ(monotone=True).fit_arrays(s, y)
    assert np.any(np.diff(plain.values) < 0) and np.array_equal(plain.borders, monotone.borders)
    step = np.searchsorted(plain.borders, s[:, 0], side="right")
    weight = np.bincount(step, minlength=len(plain.values))
    wanted = IsotonicRegression().fit_transform(np.arange(len(weight)), plain.values, sample_weight=weight)
    assert monotone.values == pytest.approx(wanted, abs=1e-12)
    assert np.all(np.diff(monotone.values) >= 0) and monotone.steps()[0] >= 0 and plain.steps() is None


def test_summary_and_models_table():
    data = isocal.datasets.simulate_scores(300, M=1, rng=1)
    res = isocal.bbq("y ~ s1", data).fit()
    text = res.summary().as_text()
    low, high = candidate_range(300, 10, 5)
    for words in (f"{low} to {high}", "Models kept", "no (monotone=True projects it)", "not defined"):
        assert words in text
    table = res.table("models")
    assert table.columns.tolist() == ["rank", "bins", "log_marginal_likelihood", "weight"]
    assert table.weight.sum() == pytest.approx(1) and table.weight.is_monotonic_decreasing
    assert "yes, the isotonic projection" in isocal.bbq("y ~ s1", data, monotone=True).fit().summary().as_text()


def test_any_real_score_with_half_as_prior_mean():
    s, y = rows("n200")
    half = BBQ(prior_mean="half").fit_arrays(s, y)
    moved = BBQ(prior_mean="half").fit_arrays(8 * s - 4, y)  # powers of two: exact
    assert np.array_equal(moved(8 * s - 4), half(s))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"C": 0}, "C must be a number > 0; got 0"),
        ({"C": -1}, "C must be a number > 0; got -1"),
        ({"C": float("nan")}, "C must be a number > 0; got nan"),
        ({"prior_strength": 0}, "prior_strength must be a number > 0"),
        ({"min_bin": 0}, "min_bin must be a number >= 1; got 0"),
        ({"pruning_threshold": -0.1}, "pruning_threshold must be a number >= 0; got -0.1"),
        ({"prior_scale": "bins"}, "prior_scale must be one of 'total', 'per_bin'; got 'bins'"),
        ({"prior_mean": 0.5}, "prior_mean must be one of 'interval', 'half'; got 0.5"),
        ({"combine": "mean"}, "combine must be one of 'average', 'select'; got 'mean'"),
        ({"monotone": "increasing"}, "monotone must be one of True, False; got 'increasing'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        BBQ(**options)


def test_scores_outside_the_unit_interval():
    data = isocal.datasets.simulate_scores(50, M=1, rng=1).assign(z=lambda d: 4 * d.s1 - 2)
    with pytest.raises(ValueError, match=r"score 'z' must lie in \[0, 1\].*expit\(z\).*prior_mean=\"half\""):
        isocal.bbq("y ~ z", data)
    assert isocal.bbq("y ~ z", data, prior_mean="half").fit().nobs == 50


def test_extreme_options_are_answered():
    s, y = rows("n60_two")
    for options in ({"C": 1e-300}, {"C": 1e300, "min_bin": None}, {"min_bin": 1e9}, {"prior_strength": 1e-12}):
        assert np.isfinite(BBQ(**options).fit_arrays(s, y)(GRID)).all(), options


def test_from_dict_refuses_what_does_not_fit():
    good = BBQ(monotone=True).fit_arrays(*rows("n200"))
    d = good.to_dict()
    read = type(good).from_dict
    assert np.array_equal(read(d)(GRID), good(GRID))
    for change, message in (
        ({"borders": d["borders"][::-1]}, "borders must increase"),
        ({"values": d["values"][:-1]}, "one fewer than the values"),
        ({"values": d["values"][::-1]}, "the values fall"),
        ({"values": [1.5, *d["values"][1:]]}, "between 0 and 1"),
        ({"weights": d["weights"][:-1]}, "do not fit together"),
    ):
        with pytest.raises(ValueError, match=message):
            read(d | change)

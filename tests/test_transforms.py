"""Transforms against hand arithmetic, statsmodels' ECDF and the definition sum w 1{X <= x} / sum w."""

import json

import numpy as np
import pytest
from statsmodels.distributions import ECDF

import isocal
from isocal.transforms import CHUNK, TRANSFORMS, Ecdf, Expit, Unit, apply_chain, learn_chain


def through_json(transform):
    return type(transform).from_dict(json.loads(json.dumps(transform.to_dict())))


def by_definition(x, w, at):
    return np.array([w[x <= a].sum() / w.sum() for a in at])


# ---------------------------------------------------------------------------------------------------------------- ecdf


def test_ecdf_by_hand():
    e = Ecdf.learn(np.array([3.0, 1.0, 1.0, 2.0]))
    at = np.array([0.9, 1.0, 1.5, 2.0, 2.9, 3.0, 9.0, -np.inf, np.inf])
    assert e(at).tolist() == [0.0, 0.5, 0.5, 0.75, 0.75, 1.0, 1.0, 0.0, 1.0]


def test_ecdf_is_that_of_statsmodels_with_ties():
    rng = np.random.default_rng(3)
    x = rng.normal(size=2_000).round(2)
    at = np.concatenate([x, rng.normal(size=500), [-9.0, 9.0]])
    assert np.allclose(Ecdf.learn(x)(at), ECDF(x)(at), rtol=0, atol=1e-15)


def test_ecdf_with_weights_by_definition():
    rng = np.random.default_rng(4)
    x, w = rng.integers(0, 20, 200).astype(float), rng.random(200)
    at = np.arange(-1.0, 21.0, 0.5)
    assert np.allclose(Ecdf.learn(x, w)(at), by_definition(x, w, at), rtol=0, atol=1e-14)


@pytest.mark.parametrize("distinct", [50, 30_000])
def test_integer_weights_are_repeated_rows_bit_for_bit(distinct):
    rng = np.random.default_rng(5)
    x, w = rng.integers(0, distinct, 40_000) / 7.0, rng.integers(0, 4, 40_000).astype(float)
    weighted, repeated = Ecdf.learn(x, w), Ecdf.learn(np.repeat(x, w.astype(int)))
    assert np.array_equal(weighted.knots, repeated.knots)
    assert np.array_equal(weighted.cumulated, repeated.cumulated)
    assert weighted.thinned == repeated.thinned == (distinct > 10_001)


@pytest.mark.parametrize("scale", [0.5, 3.0, 0.1, 1e-9])
def test_scaling_all_weights_moves_no_knot(scale):
    x = np.random.default_rng(6).random(50_000)
    plain, scaled = Ecdf.learn(x), Ecdf.learn(x, np.full(50_000, scale))
    assert np.array_equal(plain.knots, scaled.knots)
    assert np.allclose(plain(x), scaled(x), rtol=0, atol=1e-10)


def test_rows_of_zero_weight_are_absent():
    x, w = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 1.0, 0.0])
    assert Ecdf.learn(x, w).knots.tolist() == [1.0, 2.0]
    assert Unit.learn(x, w) == Unit(1.0, 2.0)


def test_row_order_leaves_no_trace_even_with_tied_fractional_weights():
    rng = np.random.default_rng(7)
    x, w, order = rng.integers(0, 5, 3_000) / 5, rng.random(3_000), rng.permutation(3_000)
    a, b = Ecdf.learn(x, w), Ecdf.learn(x[order], w[order])
    assert np.array_equal(a.cumulated, b.cumulated)


def test_up_to_ten_thousand_values_are_exact():
    x = np.random.default_rng(8).permutation(10_000) / 10_000
    e = Ecdf.learn(x)
    assert not e.thinned
    assert np.array_equal(e(x), (np.rint(x * 10_000) + 1) / 10_000)


def test_beyond_ten_thousand_values_the_knots_are_equally_spaced_ranks():
    n = 100_000
    x = np.random.default_rng(9).permutation(n).astype(float)
    e = Ecdf.learn(x)
    assert e.thinned
    # rank 0 is the smallest value, rank 10 i the value 10 i - 1
    assert e.knots.tolist() == [0.0, *np.arange(9.0, n, 10.0)]
    assert np.array_equal(e(e.knots), (e.knots + 1) / n)
    assert np.max(np.abs(e(x) - (x + 1) / n)) <= 1e-4
    assert np.all(np.diff(e(np.sort(x))) >= 0)


def test_thinned_with_one_heavy_tie():
    x = np.concatenate([np.zeros(50_000), np.arange(1.0, 50_001.0)])
    e = Ecdf.learn(x)
    assert e(np.array([-1.0, 0.0, 50_000.0])).tolist() == [0.0, 0.5, 1.0]
    assert len(e.knots) == 5_001  # ranks up to one half all fall on the tie


def test_learning_and_applying_leave_their_input_alone_and_chunks_do_not_show():
    x = np.random.default_rng(10).random(3 * CHUNK + 5)
    x.setflags(write=False)
    e = Ecdf.learn(x)
    together = e(x)
    assert np.array_equal(together, np.concatenate([e(x[:7]), e(x[7:CHUNK]), e(x[CHUNK:])]))
    assert together[11] == e(x[11:12])[0]


def test_minus_zero_is_zero():
    assert Ecdf.learn(np.array([-0.0, 0.0]))(np.array([-0.0, 0.0])).tolist() == [1.0, 1.0]
    assert not np.signbit(Ecdf.learn(np.array([-0.0, 1.0])).knots[0])


@pytest.mark.parametrize("weighted", [False, True])
def test_merged_ecdf_is_that_of_all_rows(weighted):
    rng = np.random.default_rng(11)
    x = rng.normal(size=4_000).round(3)
    w = rng.integers(1, 4, 4_000).astype(float) if weighted else None
    parts = [Ecdf.learn(x[a:b], None if w is None else w[a:b]) for a, b in ((0, 10), (10, 2_500), (2_500, 4_000))]
    merged, whole = parts[0].merge(parts[1]).merge(parts[2]), Ecdf.learn(x, w)
    assert np.array_equal(merged.knots, whole.knots)
    assert np.array_equal(merged.cumulated, whole.cumulated)
    assert not merged.thinned


def test_merged_thinned_ecdf_is_near_the_whole_and_says_it_is_thinned():
    x = np.random.default_rng(12).random(60_000)
    merged = Ecdf.learn(x[:30_000]).merge(Ecdf.learn(x[30_000:]))
    assert merged.thinned
    assert len(merged.knots) <= 10_001
    assert np.max(np.abs(merged(x) - ECDF(x)(x))) <= 2e-4


def test_ecdf_refuses_what_is_no_distribution_function():
    with pytest.raises(ValueError, match="no rows to learn from"):
        Ecdf.learn(np.array([]))
    good = {"knots": [1.0, 2.0], "cumulated": [1.0, 2.0], "thinned": False}
    for bad, what in (
        ({"knots": [2.0, 1.0]}, "knots must increase"),
        ({"cumulated": [2.0, 1.0]}, "must not decrease"),
        ({"cumulated": [0.0, 1.0]}, "positive"),
        ({"knots": [1.0]}, "equally many"),
        ({"knots": [], "cumulated": []}, "at least one"),
        ({"knots": [1.0, float("nan")]}, "finite numbers"),
        ({"knots": [[1.0], [2.0]]}, "one dimension"),
    ):
        with pytest.raises(ValueError, match=what):
            Ecdf.from_dict(good | bad)


# --------------------------------------------------------------------------------------------------------- unit, expit


def test_unit_by_hand():
    u = Unit.learn(np.array([2.0, 6.0, 3.0]), np.array([5.0, 1.0, 1.0]))
    assert u(np.array([2.0, 3.0, 6.0, 0.0, 9.0, -np.inf, np.inf])).tolist() == [0, 0.25, 1, 0, 1, 0, 1]


def test_unit_of_the_widest_range_does_not_overflow():
    big = np.finfo(float).max
    assert Unit.learn(np.array([-big, big]))(np.array([-big, 0.0, big])).tolist() == [0.0, 0.5, 1.0]


def test_unit_of_a_single_value_is_a_step():
    assert Unit.learn(np.array([3.0]))(np.array([2.9, 3.0, 3.1])).tolist() == [0.0, 1.0, 1.0]


def test_unit_merges_to_the_range_of_both():
    assert Unit(0.0, 2.0).merge(Unit(-1.0, 1.0)) == Unit(-1.0, 2.0)
    with pytest.raises(ValueError, match=r"low 2.0 exceeds high 1.0"):
        Unit.from_dict({"low": 2.0, "high": 1.0})


def test_expit_by_hand():
    p = Expit.learn(np.array([5.0]))(np.array([0.0, np.log(3.0), -np.log(3.0), 800.0, -800.0, np.inf, -np.inf]))
    assert np.allclose(p, [0.5, 0.75, 0.25, 1.0, 0.0, 1.0, 0.0], rtol=0, atol=1e-16)
    assert Expit().merge(Expit()) == Expit()


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_every_transform(kind):
    """NaN stays NaN, values in [0, 1], never decreasing, in place like not in place, JSON text and back exactly."""
    rng = np.random.default_rng(13)
    x = rng.normal(size=20_000) * 5
    x = 1 / (1 + np.exp(-x)) if kind == "logit_unit" else x  # it learns from probabilities only
    fitted = TRANSFORMS[kind].learn(x, rng.random(20_000) + 0.1)
    at = np.sort(np.concatenate([x, rng.normal(size=500) * 9]))
    found = fitted(at)
    assert found.min() >= 0 and found.max() <= 1 and np.all(np.diff(found) >= 0)
    assert np.array_equal(through_json(fitted)(at), found)
    with_gaps = at.copy()
    with_gaps[::3] = np.nan
    out = fitted(with_gaps)
    assert np.array_equal(np.isnan(out), np.isnan(with_gaps))
    kept = ~np.isnan(with_gaps)
    assert np.array_equal(out[kept], found[kept])
    assert np.array_equal(fitted(with_gaps, out=with_gaps), out, equal_nan=True)
    assert fitted(np.array([])).shape == (0,)


def test_chains_are_learned_from_the_inside_out():
    x = np.array([0.0, 10.0, 20.0, 40.0])
    out = np.empty(4)
    chain = learn_chain(("ecdf", "unit"), x, out=out)  # unit(ecdf(x)): .25 .5 .75 1 -> 0 1/3 2/3 1
    assert np.allclose(out, [0, 1 / 3, 2 / 3, 1], rtol=0, atol=1e-16)
    assert np.array_equal(apply_chain(chain, x), out)
    assert x.tolist() == [0.0, 10.0, 20.0, 40.0]
    assert apply_chain((), x) is x


# ---------------------------------------------------------------------------------------------------------------- bern


def test_bern_by_hand():
    s = np.array([0.0, 0.25, 1.0])
    assert np.allclose(isocal.bern(s, 3)[1], [27 / 64, 27 / 64, 9 / 64, 1 / 64], rtol=0, atol=1e-16)
    assert isocal.bern(s, 1).tolist() == [[1.0, 0.0], [0.75, 0.25], [0.0, 1.0]]
    assert np.isnan(isocal.bern([np.nan], 2)).all()
    assert isocal.bern([], 2).shape == (0, 3)


@pytest.mark.parametrize("K", [0, -1, 2.5, "3", None, True, np.nan])
def test_bern_refuses_a_degree_that_is_none(K):
    with pytest.raises(ValueError, match="K must be an integer of at least 1; got"):
        isocal.bern([0.5], K)


def test_bern_refuses_scores_it_cannot_take():
    with pytest.raises(ValueError, match=r"scores must lie in \[0, 1\]; got -0.5 to 2; map them first"):
        isocal.bern([-0.5, 2.0], 2)
    with pytest.raises(ValueError, match="one score"):
        isocal.bern([[0.5, 0.5]], 2)


def test_bern_stands_in_a_statsmodels_formula():
    import statsmodels.formula.api as smf

    data = isocal.datasets.simulate_scores(300, M=1, rng=1)
    bern = isocal.bern
    assert callable(bern)
    fit = smf.ols("y ~ 0 + bern(s1, 2)", data).fit()
    s, y = data.s1.to_numpy(), data.y.to_numpy()
    by_powers = np.linalg.lstsq(np.vander(s, 3), y, rcond=None)[0]  # the same polynomials, another basis
    assert np.allclose(fit.fittedvalues, np.vander(s, 3) @ by_powers, rtol=0, atol=1e-12)

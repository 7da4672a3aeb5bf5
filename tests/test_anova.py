"""isocal.anova: what is drawn and counted, its size, and fits that are not nested."""

import joblib
import numpy as np
import pytest
from scipy.stats import binom

import isocal

DATA = isocal.datasets.simulate_scores(160, M=2, rng=2, truth="first")
QUIET = {"progress": False}


def fit(formula="y ~ s1", data=DATA, **options):
    return isocal.bernstein(formula, data, **{"K": 3, **options}).fit()


@pytest.fixture(scope="module")
def small():
    return fit()


@pytest.fixture(scope="module")
def large():
    return fit("y ~ s1 + s2")


def brier(res):
    return float(np.mean(res.resid**2))


def test_statistic_draws_and_p_value_by_hand(small, large):
    found = isocal.anova(small, large, rng=4, n_boot=39, **QUIET)
    assert found.statistic == pytest.approx(brier(small) - brier(large), abs=1e-15)
    again = []
    for j in range(39):  # the labels that replicate j draws from the small fit
        stream = np.random.default_rng(np.random.SeedSequence(4, spawn_key=(j,)))
        y = (stream.random(160) < small.fittedvalues.to_numpy()).astype(int)
        data = DATA.assign(y=y)
        again.append(brier(fit(data=data)) - brier(fit("y ~ s1 + s2", data)))
    assert found.draws == pytest.approx(again, abs=1e-10)
    assert found.p_value == (1 + sum(d >= found.statistic for d in again)) / 40
    assert found.n_boot == 39 and found.seed == 4 and np.all(found.draws >= -1e-12)


def test_n_jobs_changes_nothing_and_fresh_seeds_are_kept(small, large):
    one = isocal.anova(small, large, n_boot=19, **QUIET)
    with joblib.parallel_config("threading"):
        two = isocal.anova(small, large, rng=one.seed, n_boot=19, n_jobs=2, **QUIET)
    assert np.array_equal(one.draws, two.draws) and one.p_value == two.p_value


def test_summary_shows_both_fits(small, large):
    found = isocal.anova(small, large, rng=0, n_boot=19, **QUIET)
    text = found.summary().as_text()
    for words in ("Nested Fits Test", "19 draws from the small fit", "y ~ s1 + s2", "3, 3", f"{brier(large):.4f}"):
        assert words in text
    assert found.summary() == found.summary() and str(found) == text


def test_a_score_that_matters_is_found():
    data = isocal.datasets.simulate_scores(300, M=2, rng=0, truth="additive")
    found = isocal.anova(fit(data=data), fit("y ~ s1 + s2", data), rng=0, n_boot=99, **QUIET)
    assert found.p_value == 0.01


def test_equal_losses_do_not_reject():
    data = DATA.assign(y=1)
    found = isocal.anova(fit(data=data), fit("y ~ s1 + s2", data), rng=0, n_boot=19, **QUIET)
    assert (found.statistic, found.p_value) == (0, 1)


@pytest.mark.parametrize(
    ("truth", "small", "large"),
    [(lambda s: 0.2 + 0.6 * s[:, 0], ("y ~ s1", 2), ("y ~ s1 + s2", 2)),
     (lambda s: 0.05 + 0.9 * s[:, 0] ** 2, ("y ~ s1", 2), ("y ~ s1", 6))],
    ids=["another score", "a higher degree"],
)  # fmt: skip
def test_size(truth, small, large):
    """The miniature of benchmarks/anova_size.py: rejections at level .1 within what chance allows."""
    runs, rejected = 60, 0
    for rng in np.random.default_rng(11).spawn(runs):
        data = isocal.datasets.simulate_scores(120, M=2, rng=rng, truth=truth)
        fits = [fit(formula, data, K=K) for formula, K in (small, large)]
        rejected += isocal.anova(*fits, rng=rng, n_boot=19, **QUIET).p_value <= 0.1
    assert rejected <= binom.isf(5e-4, runs, 0.1)
    assert rejected >= 1


def test_same_rows_with_weights():
    data = DATA.assign(w=1.0 + (DATA.index % 2))
    small, large = (fit(formula, data, weights="w") for formula in ("y ~ s1", "y ~ s1 + s2"))
    found = isocal.anova(small, large, rng=0, n_boot=19, **QUIET)
    losses = [np.average(res.resid**2, weights=data.w) for res in (small, large)]
    assert found.statistic == pytest.approx(losses[0] - losses[1], abs=1e-15) and found.n == data.w.sum()
    with pytest.raises(ValueError, match="different rows: their responses or weights differ"):
        isocal.anova(fit(), large)


@pytest.mark.parametrize(
    ("small", "large", "message"),
    [
        (("y ~ s1", {}), ("y ~ s1", {}), "the two fits are the same: nothing to test"),
        (("y ~ s1 + s2", {}), ("y ~ s1", {}), "'s2' is in the small fit and not in the large one: swap them"),
        (("y ~ s1", {}), ("y ~ s2", {}), "'s1' is in the small fit and not in the large one$"),
        (("y ~ ecdf(s1)", {}), ("y ~ s1 + s2", {}), r"'ecdf\(s1\)' is in the small fit and not in the large one"),
        (("y ~ s1", {"K": 4}), ("y ~ s1 + s2", {}), "K of 's1' is 4 in the small fit and 3 in the large one"),
        (("y ~ s1", {"monotone": "none"}), ("y ~ s1 + s2", {}), "'s1' is monotone in the large fit, and not"),
        (("y ~ s1", {"monotone": "decreasing"}), ("y ~ s1 + s2", {}), "'s1' is monotone in the large fit, and not"),
        (("y ~ s1", {"tie_break": 1e-9}), ("y ~ s1 + s2", {}), "the fits differ in tie_break"),
        (("y ~ s1", {"subset": "s2 > 0.1"}), ("y ~ s1 + s2", {}), r"the fits use different rows, \d+ and 160"),
    ],
)
def test_what_is_not_nested(small, large, message):
    with pytest.raises(ValueError, match=message):
        isocal.anova(*(fit(formula, **options) for formula, options in (small, large)))


def test_other_rows_under_the_same_names(large):
    other = DATA.assign(s1=DATA.s1[::-1].to_numpy())
    with pytest.raises(ValueError, match="different rows: the values of 's1' differ"):
        isocal.anova(fit(data=other), large)
    with pytest.raises(ValueError, match=r"different events, P\(y = 0\) and P\(y = 1\)"):
        isocal.anova(fit(event=0), large)


def test_a_free_score_contains_a_monotone_one():
    found = isocal.anova(fit(), fit(monotone="none"), rng=0, n_boot=19, **QUIET)
    assert found.statistic >= 0


def test_bad_input(small, large, tmp_path):
    with pytest.raises(TypeError, match=r"two results, what .fit\(\) returns; small is Model"):
        isocal.anova(small.model, large)
    with pytest.raises(TypeError, match="large is Platt scaling"):
        isocal.anova(small, isocal.platt("y ~ s1", DATA).fit())
    for n_boot in (0, 1, -5, 18, 19.0, True):
        with pytest.raises(ValueError, match="n_boot must be a whole number of at least 19, such as 499; got"):
            isocal.anova(small, large, n_boot=n_boot)
    with pytest.raises(ValueError, match="rng must be None"):
        isocal.anova(small, large, rng="x")
    large.save(tmp_path / "fit.json")
    with pytest.raises(ValueError, match=r"anova\(\) needs the rows of the fit, .* refit with data"):
        isocal.anova(small, isocal.load(tmp_path / "fit.json"))

"""The isotonic super learner: a true convex combination, weighted out of fold, monotone, and frank about failures."""

import json
import re
import warnings
from dataclasses import dataclass
from typing import ClassVar

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import expit, logit

import isocal
from isocal.methods import Bernstein, Fuse, LogisticFusion, MeanScore, Platt
from isocal.methods.base import Rows
from isocal.methods.mixture import Mixture
from isocal.numerics.folds import fold_weights
from isocal.numerics.simplex_em import bernoulli_likelihood, em_weights, exponential_weights

mpl.use("Agg")
SMALL = (
    MeanScore(), ("ecdf", Bernstein(K=2)), ("logit_unit", Bernstein(K=3, shrink=1.0)),
    ("halfway", Bernstein(K=4)),
)  # fmt: skip


def rows(n=150, M=2, seed=0):
    frame = isocal.datasets.simulate_scores(n, M=M, rng=seed)
    return frame.filter(regex=r"^s\d").to_numpy(), frame.y.to_numpy(float)


def test_em_of_disjoint_members_gives_their_shares_at_once_and_stays():
    L = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]])
    assert np.allclose(em_weights(L, steps=1), [0.75, 0.25], rtol=0, atol=1e-15)
    assert np.allclose(em_weights(L, steps=50), [0.75, 0.25], rtol=0, atol=1e-14)
    assert np.allclose(em_weights(L, np.array([1.0, 1, 1, 9]), steps=1), [0.25, 0.75], rtol=0, atol=1e-15)


def test_em_never_lowers_the_likelihood_and_weights_are_repeats():
    rng = np.random.default_rng(0)
    y, p = (rng.random(60) < 0.4).astype(float), rng.random((60, 5))
    L, w = bernoulli_likelihood(p, y), rng.integers(1, 4, 60).astype(float)
    value = [w @ np.log(L @ em_weights(L, w, steps=k)) for k in (0, 1, 5, 50, 500, 5000)]
    assert np.all(np.diff(value) > 0)
    assert np.allclose(em_weights(L, w), em_weights(np.repeat(L, w.astype(int), axis=0)), rtol=0, atol=1e-12)
    a = em_weights(L, w, steps=20_000)  # at the maximum no member's mean likelihood ratio exceeds one
    assert np.max((w / w.sum() / (L @ a)) @ L) < 1 + 1e-3 and a.min() >= 0 and a.sum() == pytest.approx(1)


def test_exponential_weights_by_their_definition():
    rng = np.random.default_rng(1)
    L, w = 0.05 + 0.9 * rng.random((30, 4)), rng.integers(1, 4, 30).astype(float)
    value = np.prod(L**w[:, None], axis=0) ** 0.25
    floor = 0.5 / (w.sum() + 1)
    assert L.min() > floor and np.allclose(exponential_weights(L, w), value / value.sum(), rtol=1e-12)
    assert np.allclose(exponential_weights(L, rate=0), 0.25, rtol=0, atol=1e-15)
    L[0, 0], likely = 0.0, L.copy()
    likely[0, 0] = floor
    assert np.allclose(exponential_weights(L, w), exponential_weights(likely, w), rtol=1e-12)


def test_the_mixture_is_the_weighted_sum_of_its_members():
    s, y = rows()
    curve = Fuse(library=SMALL).fit_arrays(s, y)
    places = np.random.default_rng(1).random((200, 2))
    by_hand = sum(part.weight * part.curve(curve.scales[part.scale](places)) for part in curve.parts)
    assert np.allclose(curve(places), by_hand, rtol=0, atol=1e-14)
    assert sum(curve.coef().values()) == pytest.approx(1, abs=1e-12)
    ecdf = np.array([[np.mean(s[:, m] <= x[m]) for m in range(2)] for x in places])
    z = logit(s)
    unit = (logit(places) - z.min(axis=0) + 0.1) / (np.ptp(z, axis=0) + 0.2)
    names = {scale.name: scale for scale in curve.scales}
    own = [LogisticFusion(prior="pool").fit_arrays(s[:, [m]], y)(places[:, [m]]) for m in range(2)]
    assert np.allclose(names["halfway"](places), (ecdf + np.stack(own, axis=1)) / 2, rtol=0, atol=1e-14)
    assert np.allclose(names["ecdf"](places), ecdf, rtol=0, atol=1e-15)
    assert np.allclose(names["logit_unit"](places), np.clip(unit, 0, 1), rtol=0, atol=1e-14)


def test_weights_are_learned_on_rows_that_members_have_not_seen():
    s, y = rows(120)
    curve = Fuse(library=(MeanScore(), LogisticFusion()), rate=0.1, steps=40).fit_arrays(s, y)
    W, p = fold_weights(y, s), np.empty((120, 2))
    for f in range(5):
        test = W[:, f] > 0
        for j, recipe in enumerate((MeanScore(), LogisticFusion())):
            p[test, j] = recipe.fit_arrays(s[~test], y[~test])(s[test])
    L = bernoulli_likelihood(p, y)
    start = np.exp(0.1 * np.log(L).sum(axis=0))
    weights = em_weights(L, steps=40, start=start / start.sum())
    assert np.allclose(list(curve.coef().values()), weights, rtol=0, atol=1e-10)
    assert [part.brier for part in curve.parts] == pytest.approx(np.mean((y[:, None] - p) ** 2, axis=0))
    own = np.where(y[:, None] == 1, p, 1 - p)
    assert [part.log_loss for part in curve.parts] == pytest.approx(-np.mean(np.log(own), axis=0))


def test_members_that_share_sums_are_those_fitted_alone():
    s, y = rows(200)
    w = np.random.default_rng(1).integers(0, 4, 200).astype(float)
    recipes = [Bernstein(K=2), Bernstein(K=4, shrink=1.0), Bernstein(K=3, shrink=0.5), Bernstein(K=4)]
    (together,) = Bernstein.fit_together(recipes, [Rows(s, y, w, s)])
    for recipe, curve in zip(recipes, together, strict=True):
        alone = recipe.fit_arrays(s, y, w, raw=s)
        assert np.allclose(curve(s), alone(s), rtol=0, atol=1e-9)


@pytest.mark.parametrize("M", [1, 4, 5])
def test_monotone_and_certified(M):
    s, y = rows(90, M=M)
    curve = Fuse().fit_arrays(s, y)
    assert min(curve.steps()) >= 0 and len(curve.steps()) == M
    rng = np.random.default_rng(2)
    low = rng.random((500, M))
    high = np.minimum(low + rng.exponential(0.1, (500, M)) * (rng.random((500, M)) < 0.5), 1.0)
    assert np.min(curve(high) - curve(low)) >= -2e-15


def test_scores_outside_the_unit_interval_are_mapped_by_expit_and_the_summary_says_so():
    s, y = rows()
    data = {"a": logit(s[:, 0]), "b": s[:, 1], "y": y}
    res = isocal.fuse("y ~ a + b", data, library=SMALL).fit()
    assert res.recipe.scale == ("expit", "scores")
    unit = np.c_[expit(data["a"]), data["b"]]
    direct = Fuse(library=SMALL, scale="scores").fit_arrays(unit, y, raw=np.c_[data["a"], data["b"]])
    assert np.allclose(res.predict(), direct(unit), rtol=0, atol=1e-12)
    assert "Mapped by expit" in res.summary().as_text()


def test_scores_that_are_no_log_odds_are_standardised_first_and_a_falling_one_is_named(tmp_path):
    s, y = rows(300)
    data = {"credit": 300 + 550 * s[:, 0], "wrong": 850 - 550 * s[:, 0], "b": s[:, 1], "y": y}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        res = isocal.fuse("y ~ credit + b", data).fit()
        wrong = isocal.fuse("y ~ wrong + b", data).fit()
    assert res.recipe.scale == ("standard", "scores")
    assert re.search(r"Standardised: +score 1\b", res.summary().as_text())
    assert np.corrcoef(res.predict(), isocal.fuse("y ~ a + b", data | {"a": s[:, 0]}).fit().predict())[0, 1] > 0.99
    once = np.c_[(data["credit"] - data["credit"].mean()) / data["credit"].std(), s[:, 1]]
    direct = Fuse(scale=("expit", "scores")).fit_arrays(once, y, raw=np.c_[data["credit"], s[:, 1]])
    assert res.curve.brier == pytest.approx(direct.brier, abs=2e-4)  # there standardised once, not in every fold
    assert re.search(r"Not rising: +score 1\b", wrong.summary().as_text())
    assert "Not rising" not in res.summary().as_text()
    res.save(tmp_path / "fit.json")
    assert np.array_equal(isocal.load(tmp_path / "fit.json").predict(data), res.predict(data))


def test_summary_file_bootstrap_band_and_pictures(tmp_path):
    data = isocal.datasets.simulate_scores(120, M=2, rng=3)
    res = isocal.fuse("y ~ s1 + s2", data, library=SMALL).fit()
    table = res.table("members")
    assert list(table.columns) == ["member", "on", "weight", "brier", "log_loss"]
    assert table.member.iloc[-1] == "mixture" and table.weight.iloc[:-1].sum() == pytest.approx(1)
    res.save(tmp_path / "fit.json")
    again = isocal.load(tmp_path / "fit.json")
    assert again.summary() == res.summary() and np.array_equal(again.predict(data), res.predict(data))
    boot = res.bootstrap(n_boot=39, rng=1, progress=False)
    assert (boot.conf_band(data.head(3)).conf_low <= res.predict(data.head(3))).all()
    band = res.conf_band(data.head(3), rng=1)
    assert (band.conf_low <= band.conf_high).all()
    assert res.plot() is not None and res.plot_slices() is not None
    plt.close("all")
    found = res.consistency(quick=True, rng=1).findings["certificate"]
    assert found.verdict == "fine" and set(found.detail["member"]) == set(res.curve.members)


@dataclass(frozen=True)
class Failing(MeanScore):
    """Fails without the first fold only."""

    title: ClassVar[str] = "failing"

    def fit_arrays(self, s, y, w=None):
        raise ValueError("this member never works")


def test_a_member_that_fails_is_named_and_dropped():
    s, y = rows()
    with pytest.warns(UserWarning, match=r"Failing\(\) on ecdf is left out of the mixture: this member never works"):
        curve = Fuse(library=(MeanScore(), ("ecdf", Failing()))).fit_arrays(s, y)
    assert list(curve.members) == ["MeanScore() on scores"]
    with pytest.warns(UserWarning, match="never works"), pytest.raises(ValueError, match="no member of the library"):
        Fuse(library=(Failing(),)).fit_arrays(s, y)


def test_a_score_that_says_nothing_keeps_its_scale_apart_and_the_fit_near_the_other():
    s, y = rows(300)
    wrong = np.c_[s[:, 0], 1 - s[:, 0]]  # the second falls where the first rises
    curve = Fuse().fit_arrays(wrong, y)
    scale = next(scale for scale in curve.scales if scale.name == "calibrated")
    assert np.ptp(scale(wrong)[:, 1]) > 0 and len(curve.parts) == 7
    places = np.random.default_rng(0).random((50, 2))
    assert np.mean(np.abs(curve(places) - curve(np.c_[places[:, 0], places[::-1, 1]]))) < 0.1


def test_all_members_of_the_default_library_lie_near_the_mean_logit_where_rows_say_little():
    s, y = rows(24, seed=5)
    curve = Fuse().fit_arrays(s, y)
    pooled = expit(logit(s).mean(axis=1))
    assert np.mean(np.abs(curve(s) - pooled)) < 0.5 * np.mean(np.abs(Bernstein().fit_arrays(s, y)(s) - pooled))


def test_bad_input():
    s, y = rows()
    with pytest.raises(ValueError, match="library is empty"):
        Fuse(library=[])
    with pytest.raises(ValueError, match="members are recipes"):
        Fuse(library=["bernstein"])
    with pytest.raises(ValueError, match="the scale of a member must be one of"):
        Fuse(library=[("rank", MeanScore())])
    with pytest.raises(ValueError, match=r"Bernstein\(monotone='none'\) does not promise to rise"):
        Fuse(library=(Bernstein(monotone="none"),)).fit_arrays(s, y)
    with pytest.raises(ValueError, match="does not promise to rise"):
        Fuse(library=(Platt(),)).fit_arrays(s[:, :1], y)
    with pytest.raises(ValueError, match="needs 20 rows and 2 of each class; got 19 rows"):
        Fuse().fit_arrays(s[:19], y[:19])
    one_event = np.zeros(150)
    one_event[7] = 1.0
    with pytest.raises(ValueError, match="150 rows, 1 of them events: use isocal"):
        Fuse().fit_arrays(s, one_event)
    with pytest.raises(ValueError, match="score 2 is constant"):
        Fuse().fit_arrays(np.c_[s[:, 0], np.full(150, 0.3)], y)
    with pytest.raises(ValueError, match='scale="scores": score 1 must lie in'):
        Fuse(scale="scores").fit_arrays(3 * s, y)
    with pytest.raises(ValueError, match="at most 5 scores"):
        Fuse().fit_arrays(np.tile(s, 3), y)
    with pytest.raises(ValueError, match="steps must be an integer"):
        Fuse(steps=-1)
    with pytest.raises(ValueError, match="rate must be a number"):
        Fuse(rate=-1)


def test_a_file_that_breaks_the_mixture_is_refused():
    s, y = rows()
    good = json.loads(json.dumps(Fuse(library=SMALL).fit_arrays(s, y).to_dict()))
    assert np.array_equal(Mixture.from_dict(good)(s), Fuse(library=SMALL).fit_arrays(s, y)(s))

    def changed(**part):
        return good | {"parts": [good["parts"][0] | part, *good["parts"][1:]]}

    def chained(name, **values):
        first = {"name": "halfway", "chains": [[[[name, values]]], [[]]]}
        return good | {"scales": [first, *good["scales"][1:]]}

    for wrong, reason in (
        (changed(weight=0.9), "weights must sum to one"), (changed(weight=-0.1), "weights"),
        (changed(scale=7), "is not known"), ({**changed(), "M": 3}, "transforms for 3 scores"),
        ({**changed(), "scales": [{"name": "halfway", "chains": [[], []]}, *good["scales"][1:]]}, "needs a chain"),
        (chained("standard", center=0.0, spread=0.0), "standard deviation must be positive"),
        (chained("calibrated", intercept=0.0, slope=-1.0, low=0.1, high=0.9), "positive slope"),
        (changed(**{"class": "Results"}), "is not known"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=reason):
            Mixture.from_dict(wrong)


def test_a_recipe_from_outside_cannot_be_written():
    with pytest.raises(ValueError, match="Failing is not of isocal"):
        Fuse(library=(Failing(), MeanScore())).to_dict()


def test_weights_can_be_given_and_replicates_hold_those_of_the_fit():
    s, y = rows()
    learned = Fuse(library=SMALL).fit_arrays(s, y)
    held = Fuse(library=SMALL).hold(learned)
    assert held.mixing == tuple(learned.coef().values())
    assert np.allclose(held.fit_arrays(s, y)(s), learned(s), rtol=0, atol=1e-12)
    W = np.random.default_rng(1).integers(0, 3, (150, 8)).astype(float)
    for w, curve in zip(W.T, Fuse().hold(Fuse().fit_arrays(s, y)).fit_many(s, y, W), strict=True):
        alone = Fuse(mixing=tuple(curve.coef().values())).fit_arrays(s, y, w)
        assert np.allclose(curve(s), alone(s), rtol=0, atol=1e-9)
    mean = Fuse(library=SMALL, mixing=(2, 0, 0, 0)).fit_arrays(s, y)
    assert np.allclose(mean(s), s.mean(axis=1), rtol=0, atol=1e-15) and list(mean.members) == ["MeanScore() on scores"]
    bad = {(0.0, 0, 0, 0): "not all 0", (1.0, -1, 0, 0): "mixing: a list", (1.0,): "1 entries for 4"}
    for wrong, reason in bad.items():
        with pytest.raises(ValueError, match=reason):
            Fuse(library=SMALL, mixing=wrong).fit_arrays(s, y)

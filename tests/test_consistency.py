"""res.consistency(): what it says of good fits and bad ones, of other methods, and of too little data."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import isocal
from isocal.consistency import DIAGNOSTICS, FittedRows, degree_path, diagnose
from isocal.methods import Bernstein
from isocal.methods.base import Curve

TERMS = [d.__name__ for d in DIAGNOSTICS]
GOOD = isocal.datasets.simulate_scores(1000, M=2, rng=3, truth="additive")
RES = isocal.bernstein("y ~ s1 + s2", GOOD, K=4).fit()
FOUND = RES.consistency(rng=1, progress=False)


def one_score(n, truth, seed=0, **columns):
    rng = np.random.default_rng(seed)
    s = rng.random(n)
    return pd.DataFrame({"s": s, "y": (rng.random(n) < truth(s)).astype(int), **columns})


def steep(s):
    return 1 / (1 + np.exp(-25 * (s - 0.5)))


def test_a_good_fit_has_all_eleven_and_nothing_to_do():
    assert list(FOUND.findings) == TERMS and len(TERMS) == 11 and not FOUND.skipped
    assert FOUND.verdict == "fine" and set(FOUND.table.verdict) == {"fine"}
    assert list(FOUND.table.columns) == ["term", "value", "reference", "verdict", "finding", "advice"]
    text = str(FOUND.summary())
    assert "Nothing to do." in text and "Seed of the draws: 1." in text and all(term in text for term in TERMS)
    assert FOUND.table.advice.str.endswith(".").all()


def test_the_same_seed_makes_the_same_summary_whatever_the_order_of_rows():
    few = GOOD.head(200)
    model = isocal.bernstein("y ~ s1 + s2", few, K=2).fit()
    first = model.consistency(rng=1, progress=False).summary()
    assert model.consistency(rng=1, progress=False).summary() == first
    assert model.consistency(rng=2, progress=False).summary() != first
    turned = isocal.bernstein("y ~ s1 + s2", few.sample(frac=1, random_state=5), K=2).fit()
    assert turned.consistency(rng=1, progress=False).summary() == first


def test_quick_leaves_out_what_draws_and_says_so(capsys):
    quick = RES.consistency(quick=True, rng=1)
    assert set(TERMS) - set(quick.findings) == {"degree_adequacy", "learning_curve"}
    assert "Left out: learning_curve: draws at random: quick=False runs it." in str(quick)
    assert capsys.readouterr().err == ""


def test_too_small_a_degree_is_found_from_three_sides():
    data = one_score(800, steep)
    found = isocal.bernstein("y ~ s", data, K=4).fit().consistency(rng=0, progress=False)
    verdicts = found.table.set_index("term").verdict
    assert verdicts["degree_adequacy"] == verdicts["degree_path"] == "act" and verdicts["slope_ceiling"] != "fine"
    assert found.verdict == "act" and "raise K" in str(found)
    assert verdicts["isotonicity"] == "fine"  # steep, and monotone all the same


def test_a_score_that_is_not_monotone_is_found_and_located():
    data = one_score(800, lambda s: 0.15 + 0.7 * np.exp(-(((s - 0.4) / 0.2) ** 2)))
    found = isocal.bernstein("y ~ s", data, K=5).fit().consistency(quick=True, rng=0)
    finding = found.findings["isotonicity"]
    assert finding.verdict == "act" and finding.value < 1e-6 and "s near" in finding.advice
    bins = found.detail("isotonicity")
    assert bins.frequency.to_numpy()[-1] < bins.frequency.max() - 0.4 and (np.diff(bins.in_order) >= -1e-9).all()
    down = isocal.bernstein("y ~ s", data.assign(s=1 - data.s), K=5, monotone="decreasing").fit()
    assert down.consistency(quick=True, rng=0).findings["isotonicity"].value == pytest.approx(finding.value, rel=1e-6)


def test_a_score_the_wrong_way_round_gives_a_constant_curve_and_two_warnings():
    data = one_score(500, lambda s: 0.8 - 0.6 * s)
    found = isocal.bernstein("y ~ s", data, K=4).fit().consistency(quick=True, rng=0)
    assert found.findings["degrees_of_freedom"].verdict == "look"
    assert found.findings["isotonicity"].verdict == "act"


def test_certificate_recomputes_the_optimum_and_catches_a_curve_that_is_not_it():
    figures = FOUND.findings["certificate"].figures
    assert figures["smallest step"] >= 0 and figures["stationarity"] < 1e-12 and figures["duality gap"] < 1e-12
    curve = RES.curve

    class Bent(type(curve)):
        def steps(self):
            return [-1e-3, 0.0]

    bent = Bent(**{k: getattr(curve, k) for k in curve.__dataclass_fields__})
    s = GOOD[["s1", "s2"]].to_numpy()
    y = GOOD.y.to_numpy(float)
    fit = FittedRows(s, y, None, RES.recipe, bent, ["s1", "s2"], lambda: (y, curve(s), None),
                     np.random.default_rng(0), quick=True)  # fmt: skip
    found = diagnose(fit).findings["certificate"]
    assert found.verdict == "act" and "Do not use this fit" in found.advice


def test_a_mixture_is_certified_member_by_member():
    class Mixture(Curve):
        members = {"one": RES.curve, "two": RES.curve}  # noqa: RUF012

        def __call__(self, s):
            return RES.curve(s)

        def coef(self):
            return {}

        def to_dict(self):
            return {}

        from_dict = None

    s, y = GOOD[["s1", "s2"]].to_numpy(), GOOD.y.to_numpy(float)
    fit = FittedRows(s, y, None, RES.recipe, Mixture(), ["s1", "s2"], lambda: (y, RES.curve(s), None),
                     np.random.default_rng(0), quick=True)  # fmt: skip
    found = diagnose(fit)
    assert found.findings["certificate"].detail["member"] == ["one", "one", "two", "two"]
    assert "no grid of coefficients" in found.skipped["degree_path"]


def test_rss_never_rises_along_the_path_and_the_own_degree_does_not_change():
    path = FOUND.detail("degree_path")
    assert (np.diff(path.rss) <= 1e-8).all()
    assert path.change[path.chosen == "*"].item() < 1e-9
    assert path.K.tolist()[-1] == "12"


def test_figures_of_the_other_diagnostics():
    assert FOUND.findings["sieve_ratio"].value == pytest.approx(25 / 1000)
    assert FOUND.findings["degrees_of_freedom"].value == RES.df_model
    active = FOUND.detail("active_constraints")
    beta = RES.curve.beta
    assert active["share_of_rows"].sum() <= 1 + 1e-9 and (active["multiplier"] >= 0).all()
    plateaus = active[active.kind == "plateau"]
    tied = zip(plateaus.probability, plateaus["size"], strict=True)
    assert all(np.isclose(beta, p).sum() >= size for p, size in tied)
    curve = FOUND.detail("learning_curve")
    assert (np.diff(curve.rows) > 0).all() and curve.variance.iloc[-1] < curve.variance.iloc[0]
    assert set(FOUND.detail("held_out").test) == {"spiegelhalter", "cox", "miscalibration", "ehl"}
    assert "rank" in set(FOUND.detail("support").figure)
    with pytest.raises(ValueError, match=r"there is no finding 'slope': this fit has 'certificate', 'support'"):
        FOUND.detail("slope")


def test_rows_at_probability_zero_are_pointed_out():
    data = pd.DataFrame(
        {"s": np.repeat([0.0, 0.4, 1.0], 30), "y": np.r_[np.zeros(30), np.tile([0, 1], 15), np.ones(30)]}
    )
    found = isocal.bernstein("y ~ s", data, K=2).fit().consistency(quick=True, rng=0)
    finding = found.findings["active_constraints"]
    assert finding.value == pytest.approx(2 / 3) and finding.verdict == "look" and "log loss" in finding.advice


@pytest.mark.parametrize(
    "door, applies",
    [
        (isocal.platt, {"learning_curve", "held_out"}),
        (isocal.isotonic, {"certificate", "isotonicity", "learning_curve", "held_out"}),
        (isocal.histogram, {"learning_curve", "held_out"}),
        (isocal.bbq, {"learning_curve", "held_out"}),
    ],
)
def test_other_methods_get_what_applies_and_the_rest_is_named(door, applies):
    found = door("y ~ s1", GOOD.head(300)).fit().consistency(rng=0, progress=False)
    assert set(found.findings) == applies and set(found.skipped) == set(TERMS) - applies
    assert all(f"Left out: {term}: " in str(found) for term in found.skipped)
    with pytest.raises(ValueError, match="this fit has no panel 'support': it has 'learning_curve'"):
        found.plot("support")
    assert len(found.plot()) == 1
    plt.close("all")


def test_integer_weights_are_taken_as_rows_with_more_weight():
    few = GOOD.head(300)
    w = np.random.default_rng(0).integers(1, 4, len(few))
    found = isocal.bernstein("y ~ s1 + s2", few, K=3, weights=w).fit().consistency(rng=0, progress=False)
    assert set(found.findings) == set(TERMS)
    assert found.findings["sieve_ratio"].value == pytest.approx(16 * (w @ w) / w.sum() ** 2)


def test_decreasing_and_free_scores():
    data = GOOD.assign(s2=1 - GOOD.s2)
    turned = isocal.bernstein("y ~ s1 + s2", data, K=4, monotone={"s2": "decreasing"}).fit()
    found = turned.consistency(rng=1, quick=True)
    for term in ("isotonicity", "degrees_of_freedom", "slope_ceiling", "support"):
        assert found.findings[term].value == pytest.approx(FOUND.findings[term].value, abs=0.02)
    free = isocal.bernstein("y ~ s1 + s2", GOOD, K=3, monotone={"s2": "none"}).fit()
    found = free.consistency(rng=1, quick=True)
    assert "ordered for sure" in found.skipped["isotonicity"] and len(found.findings) == 8
    both = isocal.bernstein("y ~ s1 + s2", GOOD, K=3, monotone="none").fit().consistency(rng=1, quick=True)
    assert both.findings["certificate"].shown.startswith("no direction is promised, optimal to")
    assert "needs a promised direction" in both.skipped["slope_ceiling"]


def test_few_rows_skip_what_tests_and_splits():
    found = isocal.bernstein("y ~ s1", GOOD.head(15), K=3).fit().consistency(rng=0, progress=False)
    assert all(found.skipped[t] == "needs at least 20 rows" for t in ("isotonicity", "learning_curve", "held_out"))
    assert {"certificate", "support", "sieve_ratio"} <= set(found.findings)
    assert found.findings["sieve_ratio"].verdict != "fine"


def test_one_class():
    data = GOOD.head(60).assign(y=0)
    found = isocal.bernstein("y ~ s1", data, K=3, event=1).fit().consistency(rng=0, progress=False)
    assert found.findings["certificate"].verdict == "fine"
    for term in ("degree_path", "isotonicity", "degree_adequacy", "learning_curve", "held_out"):
        assert found.skipped[term] == "all labels are equal"


def test_equal_scores():
    data = pd.DataFrame({"s": 0.5, "y": [0, 1] * 20})
    found = isocal.isotonic("y ~ s", data).fit().consistency(rng=0, progress=False)
    assert "too few distinct scores" in found.skipped["isotonicity"]
    with pytest.raises(ValueError, match="is constant"):
        isocal.bernstein("y ~ s", data).fit()


def test_five_scores_name_what_is_too_large():
    data = isocal.datasets.simulate_scores(300, M=5, rng=0)
    found = isocal.bernstein("y ~ s1 + s2 + s3 + s4 + s5", data, K=3).fit().consistency(rng=0, progress=False)
    assert "no higher degree than K = 3 can be fitted quickly for 5 scores" in found.skipped["degree_path"]
    assert "take too long to refit" in found.skipped["learning_curve"]
    assert found.findings["sieve_ratio"].verdict == "act"
    assert found.panels == []
    with pytest.raises(ValueError, match="nothing to draw"):
        found.plot()


def test_fits_without_rows_say_so(tmp_path):
    RES.save(tmp_path / "fit.json")
    loaded = isocal.load(tmp_path / "fit.json")
    with pytest.raises(ValueError, match=r"consistency\(\) needs the rows of the fit"):
        loaded.consistency()
    with pytest.raises(ValueError, match=r"influence\(\) needs the rows of the fit"):
        loaded.influence()


def test_an_interruption_keeps_what_is_done(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    fit = FittedRows(GOOD[["s1", "s2"]].to_numpy(), GOOD.y.to_numpy(float), None, RES.recipe, RES.curve, ["s1", "s2"],
                     None, np.random.default_rng(0))  # fmt: skip
    stop.__name__ = "isotonicity"
    tried = {stop if d.__name__ == "isotonicity" else d: needs for d, needs in DIAGNOSTICS.items()}
    monkeypatch.setattr("isocal.consistency.DIAGNOSTICS", tried)
    found = diagnose(fit)
    assert list(found.findings) == TERMS[: TERMS.index("isotonicity")]
    assert set(found.skipped.values()) == {"interrupted"} and set(found.skipped) == set(TERMS) - set(found.findings)


def test_other_criteria_than_least_squares_lose_only_what_needs_them():
    s, y = GOOD[["s1"]].to_numpy(), GOOD.y.to_numpy(float)
    recipe = Bernstein(K=4)
    curve = recipe.fit_arrays(s, y)
    other = type(curve)(**{**vars(curve), "beta": np.sort(curve.beta * 0.9 + 0.03)})
    fit = FittedRows(
        s, y, None, recipe, other, ["s1"], lambda: (y, other(s), None), np.random.default_rng(0), quick=True
    )
    found = diagnose(fit)
    assert found.skipped["active_constraints"] == "needs a Bernstein fit by least squares, which this is not"
    assert {"support", "degree_path", "isotonicity", "slope_ceiling"} <= set(found.findings)
    assert min(degree_path(fit).detail["change"]) < 1e-9  # the path is that of least squares


@pytest.mark.parametrize("which", ["path", "learning_curve", "support", "active"])
def test_panels_draw_on_a_given_axes(which):
    _, ax = plt.subplots()
    assert FOUND.plot(which, ax=ax) is ax
    assert ax.get_xlabel()
    plt.close("all")


def test_all_panels_in_one_figure_for_one_score_and_two():
    axes = FOUND.plot()
    assert [ax.get_xlabel() for ax in axes] == ["K", "Rows", "s1", "k / K of s1"]
    one = isocal.bernstein("y ~ ecdf(s1)", GOOD.head(200), K=4).fit().consistency(rng=0, progress=False)
    assert [ax.get_xlabel() for ax in one.plot()] == ["K", "Rows", "ecdf(s1)", "k / K of ecdf(s1)"]
    with pytest.raises(ValueError, match="ax must hold 4 Axes"):
        FOUND.plot(ax=axes[:2])
    with pytest.raises(ValueError, match="which must be one of 'path', 'learning_curve', 'support', 'active'"):
        FOUND.plot("map")
    plt.close("all")

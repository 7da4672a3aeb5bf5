"""Figures: what stands on the Axes, that it is what the fit says, and that nothing else is touched."""

import subprocess
import sys
import time
from dataclasses import replace

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import isocal
from isocal.plots import frequencies
from isocal.plots.marks import places
from isocal.plots.surface import tidy_levels
from isocal.results import Results

DATA = isocal.datasets.simulate_scores(300, M=3, rng=1)


def fit(formula, data=DATA, **options):
    return isocal.bernstein(formula, data, **options).fit()


def loaded(res):
    """What loading gives: the fit without its rows."""
    facts = {"facts": res.facts, "cross_validated": res.cross_validated}
    return Results(res.recipe, res.curve, res.terms, res.response, None, None, facts=facts)


ONE = fit("y ~ ecdf(s1)", K=4)
TWO = fit("y ~ ecdf(s1) + s2", K=4)
THREE = fit("y ~ ecdf(s1) + s2 + s3", K=3)
PATH = fit("y ~ s1 + s2", K="cv")


@pytest.fixture
def ax():
    return Figure(figsize=(4, 3), layout="constrained").add_subplot()


def texts(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


@pytest.mark.parametrize(
    "draw", [ONE.plot, TWO.plot, THREE.plot, TWO.plot_slices, PATH.plot_path, loaded(ONE).plot, loaded(TWO).plot]
)
def test_draws_on_the_given_axes_and_touches_nothing_else(draw, ax):
    before, figures = dict(matplotlib.rcParams), plt.get_fignums()
    assert draw(ax=ax) is ax
    ax.figure.canvas.draw()
    assert dict(matplotlib.rcParams) == before
    assert plt.get_fignums() == figures


def test_makes_an_axes_where_none_is_given():
    try:
        drawn = TWO.plot()
        assert isinstance(drawn, Axes)
        assert plt.get_fignums() == [drawn.figure.number]
    finally:
        plt.close("all")


@pytest.mark.parametrize("scale", ["score", "unit"])
def test_curve_is_the_prediction(scale, ax):
    ONE.plot(ax=ax, scale=scale)
    x, p = ax.get_lines()[0].get_data()
    expected = ONE.curve(x[:, None]) if scale == "unit" else ONE.predict({"s1": x})
    np.testing.assert_array_equal(p, expected)
    low, high = (0, 1) if scale == "unit" else (DATA.s1.min(), DATA.s1.max())
    assert (x[0], x[-1]) == (low, high)
    assert ax.get_xlabel() == ("ecdf(s1)" if scale == "unit" else "s1")
    assert ax.get_ylabel() == "P(y = 1)"


def test_curve_shows_rows_by_class_and_bins(ax):
    ONE.plot(ax=ax)
    events = int(DATA.y.sum())
    assert {t.get_text() for t in ax.texts} == {f"other ({300 - events})", f"y = 1 ({events})"}
    bars, dots, below, above = ax.collections  # limits, frequencies, ticks of the two classes
    assert len(bars.get_segments()) == len(dots.get_offsets())
    assert len(below.get_segments()) == 300 - events and len(above.get_segments()) == events


def test_frequencies_by_hand():
    x = np.repeat([0.0, 1.0], 40)
    y = np.r_[np.ones(10), np.zeros(30), np.ones(30), np.zeros(10)]
    bins = frequencies(x, y, np.ones(80))
    np.testing.assert_allclose(bins.x, [0, 1])
    np.testing.assert_allclose(bins.share, [0.25, 0.75])
    np.testing.assert_array_equal(bins.weight, [40, 40])
    # Wilson's limits solve (p - share)^2 = z^2 p (1 - p) / n
    for limit in (bins.low, bins.high):
        np.testing.assert_allclose((limit - bins.share) ** 2, 1.959963984540054**2 * limit * (1 - limit) / 40)


def test_frequencies_take_weights_for_repeated_rows():
    rng = np.random.default_rng(0)
    x, y, w = rng.integers(0, 9, 60) / 8, rng.integers(0, 2, 60).astype(float), rng.integers(1, 5, 60)
    once, again = frequencies(x, y, w.astype(float)), frequencies(*(np.repeat(v, w) for v in (x, y)), np.ones(w.sum()))
    for name in ("x", "share", "low", "high", "weight"):
        np.testing.assert_allclose(getattr(once, name), getattr(again, name), rtol=1e-12)


@pytest.mark.parametrize("scale", ["score", "unit"])
def test_surface_is_the_prediction(scale, ax, monkeypatch):
    seen = {}
    real = Axes.contourf
    monkeypatch.setattr(Axes, "contourf", lambda self, *a, **k: (seen.update(a=a), real(self, *a, **k))[1])
    TWO.plot(ax=ax, scale=scale)
    x, y, p = seen["a"]
    X, Y = np.meshgrid(x, y)
    flat = np.c_[X.ravel(), Y.ravel()]
    expected = TWO.curve(flat) if scale == "unit" else TWO.predict({"s1": flat[:, 0], "s2": flat[:, 1]})
    np.testing.assert_array_equal(p.ravel(), expected)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (("ecdf(s1)", "s2") if scale == "unit" else ("s1", "s2"))
    assert ax.figure.axes[1].get_ylabel() == "P(y = 1)"
    assert ax.get_xlim() == ((0, 1) if scale == "unit" else (DATA.s1.min(), DATA.s1.max()))


def test_surface_marks_every_row_once(ax):
    TWO.plot(ax=ax)
    at = np.concatenate([c.get_offsets() for c in ax.collections if len(c.get_offsets()) > 1])
    assert sorted(map(tuple, at)) == sorted(map(tuple, DATA[["s1", "s2"]].to_numpy()))
    assert texts(ax)[:2] == [f"other ({int((DATA.y == 0).sum())})", f"y = 1 ({int(DATA.y.sum())})"]


def test_unsupported_region_is_hatched(ax):
    data = isocal.datasets.simulate_scores(100, M=2, rng=1)
    res = fit("y ~ s1 + s2", data)
    res.plot(ax=ax)
    (patch,) = [p for p in ax.patches if p.get_hatch()]
    assert texts(ax)[-1] == "no rows near"
    corners = patch.get_path().vertices
    assert corners[:, 0].max() == data.s1.max() or corners[:, 0].min() == data.s1.min()


def test_without_rows_there_are_no_points(ax):
    loaded(TWO).plot(ax=ax)
    assert not [c for c in ax.collections if len(c.get_offsets()) > 1]
    bare = TWO.plot(ax=Figure().add_subplot(), points=False)
    assert not [c for c in bare.collections if len(c.get_offsets()) > 1]


def test_pair_of_three_and_where_the_third_is_held(ax):
    THREE.plot(ax=ax, scores=("s3", "s1"), at={"s2": 0.25})
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("s3", "s1")
    held = np.sort(DATA.s2)[74]
    assert ax.get_title(loc="left") == f"s2 at quantile 0.25 ({held:.3g})"
    again = loaded(THREE).plot(ax=Figure().add_subplot(), scores=("s2", "s3"))  # the stored ecdf knows quantiles
    assert again.get_title(loc="left") == f"s1 at quantile 0.5 ({np.sort(DATA.s1)[149]:.3g})"
    other = loaded(THREE).plot(ax=Figure().add_subplot())
    middle = (DATA.s3.min() + DATA.s3.max()) / 2
    assert other.get_title(loc="left") == f"s3 at part of range 0.5 ({middle:.3g})"


def test_slices_are_predictions_at_quantiles(ax):
    TWO.plot_slices("s1", at=(0.1, 0.9), ax=ax)
    held = np.sort(DATA.s2)[[29, 269]]
    assert ax.get_legend().get_title().get_text() == "s2 at quantile"
    assert texts(ax)[:2] == [f"{q:g} ({v:.3g})" for q, v in zip((0.1, 0.9), held, strict=True)]
    whole = ax.get_lines()[::2]
    for line, value in zip(whole, held, strict=False):
        x, p = line.get_data()
        np.testing.assert_array_equal(p, TWO.predict({"s1": x, "s2": np.full(len(x), value)}))


def test_path_marks_the_chosen_degree(ax):
    PATH.plot_path(ax=ax)
    table = PATH.table("path")
    chosen = table.K[table.chosen == "*"].item()
    assert f"chosen K = {chosen}" in texts(ax)
    x, brier = ax.get_lines()[0].get_data()
    np.testing.assert_array_equal(x, table.K)
    np.testing.assert_array_equal(brier, table.cv_brier)
    assert len(ax.figure.axes) == 2 and ax.figure.axes[1].get_xlabel() == "K"


def test_path_of_pairs_of_degrees(ax):
    path = {"K": [1, "1, 2", "2, 1", 2], "cv_brier": [0.2, 0.1, 0.3, 0.15], "chosen": ["", "*", "", ""]}
    curve = replace(TWO.curve, path=path)
    res = Results(TWO.recipe, curve, TWO.terms, TWO.response, TWO.rows)
    res.plot_path(ax=ax)
    cells = ax.collections[0].get_array()  # the second score up, the first across
    np.testing.assert_array_equal(np.ravel(cells), [0.2, 0.3, 0.1, 0.15])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("K of s1", "K of s2")
    assert texts(ax) == ["chosen K = (1, 2)"]


def test_few_rows_are_drawn_of_many_with_one_step():
    rng = np.random.default_rng(0)
    x, y = rng.random((5000, 2)), np.repeat([0.0, 1.0], [4000, 1000])
    points = places(x, y, np.ones(5000), 500)
    assert points.total == (4000, 1000) and points.drawn == (400, 100)
    order = rng.permutation(5000)
    again = places(x[order], y[order], np.ones(5000), 500)
    np.testing.assert_array_equal(points.at, again.at)
    one = places(x[:4010], y[:4010], np.ones(4010), 50)  # a rare class keeps a mark
    assert one.drawn[1] == 1 and one.label(1, "y = 1") == "y = 1 (1 of 10)"


def test_rows_at_one_place_make_a_larger_mark():
    x, y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([1.0, 1.0, 0.0, 0.0])
    points = places(x, y, np.ones(4), 100)
    np.testing.assert_array_equal(points.weight, [1, 1, 2])
    np.testing.assert_allclose(points.areas(10.0, 100.0), [10, 10, 20])


@pytest.mark.parametrize("low, high", [(0, 1), (0.1, 0.9), (0.002, 0.04), (0.3, 0.3), (0.0, 0.0), (1.0, 1.0), (0.9, 1)])
def test_levels_enclose_the_probabilities(low, high):
    levels = tidy_levels(np.array([low, high]))
    assert levels[0] <= low and levels[-1] >= high and np.all(np.diff(levels) > 0)
    assert 0 <= levels[0] and levels[-1] <= 1 and 2 <= len(levels) <= 12


@pytest.mark.parametrize("y", [0, 1])
@pytest.mark.parametrize("formula", ["y ~ s1", "y ~ s1 + s2"])
def test_one_class_only(formula, y, ax):
    fit(formula, DATA.assign(y=y), K=2).plot(ax=ax)
    ax.figure.canvas.draw()


def test_dollars_and_odd_names_are_not_mathematics(ax):
    res = fit('y ~ Q("a$b$ c") + s2', DATA.rename(columns={"s1": "a$b$ c"}))
    res.plot(ax=ax)
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == r"a\$b\$ c"


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: TWO.plot(scale="raw"), "scale must be 'score' .* 'unit' .*got 'raw'"),
        (lambda: THREE.plot(scores=("s1", "s9")), "'s9' is not a score of this formula: its scores are s1, s2, s3"),
        (lambda: THREE.plot(scores=("s1", "s1")), "two different scores; got 's1' twice"),
        (lambda: THREE.plot(scores="s1"), "scores must be two names"),
        (lambda: THREE.plot(scores=("s1", "s2", "s3")), "scores must be two names"),
        (lambda: ONE.plot(scores=("s1", "s1")), "this fit has one score"),
        (lambda: THREE.plot(at=1.5), "at must be a quantile between 0 and 1; got 1.5"),
        (lambda: THREE.plot(at=float("nan")), "between 0 and 1; got nan"),
        (lambda: THREE.plot(at="half"), "between 0 and 1; got 'half'"),
        (lambda: THREE.plot(at={"s3": -0.1}), r"at\['s3'\] must be a quantile between 0 and 1; got -0.1"),
        (lambda: THREE.plot(at={"s7": 0.1}), "'s7' is not a score"),
        (lambda: THREE.plot(at={"s1": 0.1}), "'s1', which is on an axis"),
        (lambda: ONE.plot_slices(), r"this fit has one score: use plot\(\)"),
        (lambda: TWO.plot_slices("s5"), "'s5' is not a score"),
        (lambda: TWO.plot_slices(at=(0.5, 2)), "between 0 and 1; got 2"),
        (lambda: TWO.plot_slices(at=()), "at names no quantile"),
        (lambda: TWO.plot_path(), "this fit chose no K: .*K='cv'"),
        (lambda: TWO.plot(ax=Figure().add_subplot(projection="polar")), "straight axes; got the projection 'polar'"),
    ],
)
def test_bad_input(call, text):
    figures = plt.get_fignums()
    with pytest.raises(ValueError, match=text):
        call()
    assert plt.get_fignums() == figures


@pytest.mark.parametrize("wrong", [Figure(), np.array([Figure().add_subplot()]), "ax"])
def test_what_is_not_an_axes(wrong):
    for draw in (ONE.plot, TWO.plot, TWO.plot_slices, PATH.plot_path):
        with pytest.raises(TypeError, match="ax must be a matplotlib Axes; got"):
            draw(ax=wrong)


def test_a_surface_takes_under_a_second():
    data = isocal.datasets.simulate_scores(100_000, M=2, rng=2)
    res = fit("y ~ ecdf(s1) + ecdf(s2)", data)
    figure = Figure(layout="constrained")
    start = time.perf_counter()
    res.plot(ax=figure.add_subplot())
    figure.canvas.draw()
    assert time.perf_counter() - start < 1.0


def test_importing_isocal_imports_no_matplotlib():
    code = "import isocal, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

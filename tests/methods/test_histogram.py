"""Histogram binning against numpy and hand arithmetic."""

import numpy as np
import pandas as pd
import pytest

import isocal
from isocal.methods import Histogram
from isocal.methods.histogram import HistogramCurve

RNG = np.random.default_rng(3)
S = RNG.random(400)
Y = (RNG.random(400) < S).astype(float)
W = RNG.integers(1, 9, 400) / 4


def test_equally_heavy_bins():
    curve = Histogram().fit_arrays(S, Y)
    order = np.argsort(S)
    assert curve.values == pytest.approx([part.mean() for part in np.split(Y[order], 10)], abs=1e-15)
    ends = np.sort(S)
    assert curve.borders.tolist() == [(ends[i - 1] + ends[i]) / 2 for i in range(40, 400, 40)]
    assert curve.df == 10 and curve.facts() == {"Bins": "10"}


def test_tied_scores_are_never_split_and_the_number_of_bins_is_reported():
    """Five rows at .1, three at .5, two at .9: targets 3, 5 (of four bins 2.5, 5, 7.5 -> 3, 5, 8) cut at 5 and 8."""
    s, y = np.repeat([0.1, 0.5, 0.9], [5, 3, 2]), np.array([0, 0, 0, 0, 1, 1, 0, 1, 1, 1])
    curve = Histogram(bins=4).fit_arrays(s, y)
    assert curve.values == pytest.approx([1 / 5, 2 / 3, 1]) and curve.borders == pytest.approx([0.3, 0.7])
    assert curve.facts()["Bins"] == "3"
    data = pd.DataFrame({"s": s, "y": y})
    assert isocal.histogram("y ~ s", data, bins=4).fit().table("bins").rows.tolist() == [5, 3, 2]


@pytest.mark.parametrize("w", [None, W], ids=["plain", "weighted"])
def test_equally_wide_bins_and_given_edges(w):
    weight = np.ones(400) if w is None else w
    for bins, strategy in ((7, "width"), ((0.0, 0.2, 0.25, 0.9, 1.0), "mass")):
        edges = np.linspace(0, 1, 8) if bins == 7 else np.array(bins)
        total, _ = np.histogram(S, edges, weights=weight)
        events, _ = np.histogram(S, edges, weights=weight * Y)
        curve = Histogram(bins=bins, strategy=strategy).fit_arrays(S, Y, w)
        assert curve.values == pytest.approx(events / total, abs=1e-13)
        assert curve.borders.tolist() == edges[1:-1].tolist()
        table = curve.tables()["bins"]
        assert table["rows"] == pytest.approx(total.tolist()) and table["events"] == pytest.approx(events.tolist())


def test_a_score_on_a_border_belongs_to_the_right():
    curve = Histogram(bins=(0.0, 0.5, 1.0)).fit_arrays(np.array([0.1, 0.5, 0.8]), np.array([0, 1, 1]))
    assert curve.values.tolist() == [0, 1]
    assert np.array_equal(curve(np.array([[0.5], [np.nextafter(0.5, 0)], [np.nan]])), [1, 0, np.nan], equal_nan=True)


def test_empty_bins_take_their_midpoint():
    s, y = np.array([0.05, 0.95, 0.97]), np.array([1, 0, 1])
    curve = Histogram(bins=5, strategy="width").fit_arrays(s, y)
    assert curve.values == pytest.approx([1, 0.3, 0.5, 0.7, 0.5], abs=1e-15)
    assert curve.facts()["Bins"] == "5 (3 empty)" and curve.df == 2
    fine = Histogram(bins=1000, strategy="width").fit_arrays(s, y)
    assert fine(np.array([[0.0005], [0.5005], [0.9995]])) == pytest.approx([0.0005, 0.5005, 0.9995], abs=1e-12)


def test_prior_by_hand():
    """(events + 2 midpoint)/(rows + 2) in [0, .5) and [.5, 1]."""
    s, y = np.array([0.1, 0.2, 0.7, 0.9]), np.array([0, 1, 1, 1])
    curve = Histogram(bins=2, strategy="width", prior_strength=2).fit_arrays(s, y)
    assert curve.values == pytest.approx([(1 + 0.5) / 4, (2 + 1.5) / 4])
    mass = Histogram(bins=2, prior_strength=2).fit_arrays(s, y)  # border .45: midpoints .225 and .725
    assert mass.values == pytest.approx([(1 + 0.45) / 4, (2 + 1.45) / 4])
    assert 0 <= Histogram(bins=(-3.0, 0.5, 1.0), prior_strength=9).fit_arrays(s, y).values.min()


def test_shuffles_and_repeats_change_no_bit():
    s = np.round(S, 1)
    first = Histogram().fit_arrays(s, Y, W * 0.3).to_dict()
    order = np.random.default_rng(0).permutation(400)
    assert Histogram().fit_arrays(s[order], Y[order], W[order] * 0.3).to_dict() == first
    w = np.random.default_rng(1).integers(0, 4, 400)
    repeated = Histogram().fit_arrays(np.repeat(s, w), np.repeat(Y, w)).to_dict()
    assert repeated == Histogram().fit_arrays(s, Y, w * 1.0).to_dict()


def test_fractional_weights_keep_rates_within_bounds():
    for label in (0.0, 1.0):
        curve = Histogram().fit_arrays(S, np.full(400, label), np.full(400, 0.1))
        assert curve.values.tolist() == [label] * 10


def test_few_rows():
    """As many bins as rows; the folds of the summary hold fewer rows than bins and say nothing about it."""
    s, y = np.linspace(0.1, 0.9, 11), np.arange(11) % 2
    data = pd.DataFrame({"s": s, "y": y})
    res = isocal.histogram("y ~ s", data, bins=11).fit()
    assert res.predict(data).to_numpy() == pytest.approx(y) and "Cross-validated" in res.summary().as_text()
    assert Histogram(bins=1).fit_arrays(s, y).values == pytest.approx([5 / 11])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"bins": 0}, "bins must be an integer of at least 1, or increasing edges; got 0"),
        ({"bins": -3}, "bins must be an integer of at least 1"),
        ({"bins": 2.5}, "bins must be an integer of at least 1"),
        ({"bins": True}, "bins must be an integer of at least 1"),
        ({"bins": "ten"}, "bins must be an integer of at least 1"),
        ({"bins": (0.0, 0.6, 0.4, 1.0)}, "two or more increasing numbers"),
        ({"bins": (0.0, 0.5, 0.5, 1.0)}, "two or more increasing numbers"),
        ({"bins": [0.5]}, "two or more increasing numbers"),
        ({"bins": (0.0, float("nan"), 1.0)}, "finite numbers"),
        ({"strategy": "quantile"}, "strategy must be one of 'mass', 'width'; got 'quantile'"),
        ({"prior_strength": -1}, "prior_strength must be a number >= 0; got -1"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        Histogram(**options)


def test_what_depends_on_the_rows_is_checked_with_them():
    for options, message in (
        ({"bins": 401}, "bins=401 exceeds the 400 rows: use fewer bins"),
        ({"bins": (0.1, 0.5, 1.0)}, "edges from 0.1 to 1 do not cover the scores, which range from .*: widen"),
        ({"bins": (0.0, 0.5, 0.9)}, "edges from 0 to 0.9 do not cover the scores"),
    ):
        with pytest.raises(ValueError, match=message):
            Histogram(**options).fit_arrays(S, Y)
    with pytest.raises(ValueError, match=r"no score lies between 1 and 2: join the bin to its neighbour"):
        Histogram(bins=(0.0, 1.0, 2.0)).fit_arrays(S, Y)
    with pytest.raises(ValueError, match=r"score 1 must lie in \[0, 1\]"):
        Histogram(strategy="width").fit_arrays(4 * S, Y)
    assert Histogram().fit_arrays(4 * S - 2, Y).values == pytest.approx(Histogram().fit_arrays(S, Y).values)


def test_from_dict_refuses_what_does_not_fit():
    good = Histogram().fit_arrays(S, Y).to_dict()
    for change, message in (
        ({"borders": good["borders"][::-1]}, "borders must increase"), ({"values": [0.5]}, "one fewer than the values"),
        ({"weight": [1.0]}, "one weight and one number of events"), ({"values": [2.0] * 10}, "between 0 and 1"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            HistogramCurve.from_dict(good | change)

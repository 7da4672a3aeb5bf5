"""The do-nothing reference, and what all methods of one score refuse."""

import numpy as np
import pytest

import isocal
from isocal.methods import Identity

ONE_SCORE = ["bbq", "platt", "isotonic", "histogram", "beta", "temperature", "identity"]


@pytest.fixture
def data():
    return isocal.datasets.simulate_scores(120, M=2, rng=6)


def test_identity_shows_the_score_beside_the_methods(data):
    res = isocal.identity("y ~ s1", data).fit()
    assert np.array_equal(res.fittedvalues, data.s1) and res.df_model == 0
    brier = np.mean((data.s1 - data.y) ** 2)
    table = res.table("fit")
    assert table.loc["Brier score"].tolist() == pytest.approx([brier, brier], abs=1e-12)  # nothing is learned
    assert res.params.empty and "Uncalibrated score" in res.summary().as_text()


def test_identity_stays_within_zero_and_one():
    curve = Identity().fit_arrays(np.array([0.2, 0.9]), np.array([0, 1]))
    assert curve(np.array([[-0.5], [0.3], [1.5]])).tolist() == [0, 0.3, 1]
    with pytest.raises(ValueError, match=r"score 1 must lie in \[0, 1\], but ranges from 0.2 to 2"):
        Identity().fit_arrays(np.array([0.2, 2.0]), np.array([0, 1]))


@pytest.mark.parametrize("door", ONE_SCORE)
def test_two_scores_are_sent_to_the_fusion_methods(door, data):
    with pytest.raises(ValueError, match=r"takes one score, got 2: .*isocal\.bernstein"):
        getattr(isocal, door)("y ~ s1 + s2", data)


@pytest.mark.parametrize("door", ONE_SCORE)
def test_bad_rows_are_refused_by_every_method(door, data):
    open_model = getattr(isocal, door)
    for change, options, message in (
        ({}, {"subset": "s1 > 2"}, "no row is left to fit: 120 not in subset"),
        ({}, {"weights": np.zeros(120)}, "weights: no weight is positive"),
        ({}, {"weights": np.r_[-1.0, np.ones(119)]}, "weights must be finite and >= 0; got -1 in row 0"),
        ({"y": 2}, {}, "response 'y' has the values 2: say which one is the event"),
        ({"s1": np.inf}, {}, "term 's1': 120 of 120 rows are infinite"),
    ):
        with pytest.raises(ValueError, match=message):
            open_model("y ~ s1", data.assign(**change), **options).fit()
    with pytest.raises(TypeError, match="has no option 'K'"):
        open_model("y ~ s1", data, K=5)


@pytest.mark.parametrize("door", ["bbq", "platt", "isotonic", "histogram", "identity"])
def test_all_weight_on_one_class_is_that_class_alone(door, data):
    weights = (data.y == 1).astype(float)
    res = getattr(isocal, door)("y ~ s1", data, weights=weights).fit()
    alone = getattr(isocal, door)("y ~ s1", data[data.y == 1]).fit()
    assert np.array_equal(res.predict(data), alone.predict(data))


@pytest.mark.parametrize("door, options", [("beta", {}), ("platt", {"targets": "hard"})])
def test_all_weight_on_one_class_has_no_finite_best_with_hard_targets(door, options, data):
    with pytest.raises(ValueError, match=r'all labels are equal.*targets="smooth"'):
        getattr(isocal, door)("y ~ s1", data, weights=(data.y == 1).astype(float), **options).fit()

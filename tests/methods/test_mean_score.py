"""Linear and logarithmic opinion pools, and the doors that need nothing fitted."""

import numpy as np
import pytest

import isocal
from isocal.methods import MeanScore
from isocal.methods.mean_score import MeanScoreCurve

S = np.array([[0.2, 0.4, 0.9], [0.5, 0.5, 0.5], [0.0, 1.0, 0.5], [1.0, 1.0, 1.0]])
Y = np.array([0.0, 1.0, 0.0, 1.0])


def test_linear_pool_is_the_mean():
    assert np.allclose(MeanScore().fit_arrays(S, Y)(S), [0.5, 0.5, 0.5, 1.0], rtol=0, atol=1e-15)


def test_log_pool_is_the_normalised_geometric_mean():
    p = MeanScore(pool="log").fit_arrays(S, Y)(S)
    odds = (0.2 / 0.8 * 0.4 / 0.6 * 0.9 / 0.1) ** (1 / 3)  # 1.5 ** (1/3)
    assert p[0] == pytest.approx(odds / (1 + odds), abs=1e-14)
    assert p[1] == 0.5
    assert p[2] == pytest.approx(0.5, abs=1e-4)  # clipped logits of 0 and 1 cancel, the clip is not quite symmetric
    assert p[3] == pytest.approx(1.0, abs=1e-11)


def test_one_score_is_left_alone():
    data = isocal.datasets.simulate_scores(50, M=1, rng=1)
    assert np.array_equal(isocal.mean_score("y ~ s1", data).fit().predict(), data.s1)


def test_summary_and_steps():
    res = isocal.mean_score("y ~ s1 + s2", isocal.datasets.simulate_scores(60, M=2, rng=1)).fit()
    assert "Mean score Results" in res.summary().as_text()
    assert res.curve.steps() == [0.5, 0.5]


@pytest.mark.parametrize("d", [{"M": 0, "pool": "linear"}, {"M": 2, "pool": "median"}, {"M": "2", "pool": "log"}])
def test_a_file_with_nonsense_is_refused(d):
    with pytest.raises(ValueError, match=r"M must be|pool must be"):
        MeanScoreCurve.from_dict(d)


def test_scores_outside_the_unit_interval_and_unknown_pool():
    data = isocal.datasets.simulate_scores(60, M=2, rng=1).assign(s2=lambda d: 3 * d.s2)
    with pytest.raises(ValueError, match=r"score 's2' must lie in \[0, 1\].*expit\(s2\)"):
        isocal.mean_score("y ~ s1 + s2", data)
    with pytest.raises(ValueError, match="pool must be one of 'linear', 'log'; got 'median'"):
        MeanScore(pool="median")

"""Extremes over a likelihood region: a closed form, a narrow design, and fewer rows with the same sums."""

import numpy as np
import pytest
from calibration_cases import calibrated
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from isocal.calibration_tests import giviti
from isocal.numerics.likelihood_region import condensed, extremes


def test_one_proportion():
    # the region of an intercept is the likelihood-ratio interval of a proportion, 30 of 100
    def excess(p):
        return 2 * (xlogy(30, 0.3 / p) + xlogy(70, 0.7 / (1 - p))) - 3.84

    X, start = np.ones((100, 1)), np.array([np.log(3 / 7)])
    low, high = extremes(X, np.repeat([1.0, 0.0], [30, 70]), np.ones(100), start, 3.84, np.array([[1.0], [2.0]]))
    ends = brentq(excess, 0.01, 0.3, xtol=1e-14), brentq(excess, 0.3, 0.9, xtol=1e-14)
    assert (expit(low[0]), expit(high[0])) == pytest.approx(ends, abs=1e-11)
    assert (low[1], high[1]) == pytest.approx((2 * low[0], 2 * high[0]), rel=1e-12)


def test_condensed_rows_have_the_same_sums():
    rng = np.random.default_rng(1)
    x, w = rng.normal(scale=2, size=20_000), rng.uniform(0.5, 2, 20_000)
    nodes, events, weight = condensed(x, w * (x > 0), w)
    assert len(nodes) < 5_000
    for power in range(5):
        assert weight @ nodes**power == pytest.approx(w @ x**power, rel=1e-12, abs=1e-9)
        assert events @ nodes**power == pytest.approx((w * (x > 0)) @ x**power, rel=1e-12)
    for eta in (lambda v: 0.3 + v, lambda v: -0.1 + 0.5 * v - 0.2 * v**2 + 0.03 * v**3):
        exact = w @ np.logaddexp(0, eta(x))
        assert weight @ np.logaddexp(0, eta(nodes)) == pytest.approx(exact, rel=1e-13)


def test_few_rows_stay_as_they_are():
    x, one = np.linspace(-3, 3, 50), np.ones(50)
    assert all(a is b for a, b in zip(condensed(x, one, one), (x, one, one), strict=True))


def test_p_in_a_narrow_range():
    y, p = calibrated(500, np.random.default_rng(6))
    res = giviti(y, 0.5 + p / 100, kind="internal")
    assert all(np.all(b.lower < b.upper) for b in res.belts)

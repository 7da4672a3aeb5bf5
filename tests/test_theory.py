"""Theorems 2, 3 and 4 as functions: closed forms and the paper's own expressions."""

import math

import numpy as np
import pytest
from scipy.stats import binom

import isocal


@pytest.mark.parametrize("n, K, M, eps", [(500, 5, 2, 0.1), (10_000, 3, 1, 0.5), (2_000_000, 5, 2, 0.2)])
def test_the_bound_is_that_of_the_theorem(n, K, M, eps):
    # for M = 2 as printed: 24 exp{ (2 (K + 1)^2 + 2) log(48 e / eps) - n eps^2 / 128 }
    p = (K + 1) ** M
    exponent = (2 * p + 2) * math.log(48 * math.e / eps) - n * eps**2 / 128
    bound = isocal.deviation_bound(n, K, M, eps)
    assert bound.log_bound == pytest.approx(math.log(24) + exponent)
    assert float(bound) == pytest.approx(24 * math.exp(exponent))
    assert bound.vacuous == (float(bound) >= 1)


def test_it_says_that_it_is_vacuous_and_does_not_overflow():
    assert "vacuous at ordinary n" in str(isocal.deviation_bound(500, 5, 2))
    assert float(isocal.deviation_bound(100, 15, 2)) == math.inf
    assert isocal.deviation_bound(100, (5, 2)).p == 18
    assert "vacuous" not in str(isocal.deviation_bound(10**8, 2, 1))


@pytest.mark.parametrize("eps, delta, K, M", [(0.1, 0.05, 5, 2), (0.5, 0.01, 2, 1), (1.0, 1.0, 1, 1)])
def test_sample_size_is_the_smallest(eps, delta, K, M):
    n = isocal.sample_size(eps, delta, K, M)
    assert float(isocal.deviation_bound(n, K, M, eps)) <= delta * (1 + 1e-9)
    assert float(isocal.deviation_bound(n - 1, K, M, eps)) > delta * (1 - 1e-9)


def test_the_operator_has_its_closed_forms():
    s = np.linspace(0, 1, 11)
    for K in (1, 4, 30):
        assert np.allclose(isocal.bernstein_operator(lambda x: 0.2 + 0.5 * x[:, 0], K)(s), 0.2 + 0.5 * s)
        squared = isocal.bernstein_operator(lambda x: x[:, 0] ** 2, K)(s)
        assert np.allclose(squared, s**2 + s * (1 - s) / K)
    product = isocal.bernstein_operator(lambda x: x[:, 0] * x[:, 1], (3, 7), 2)
    assert np.allclose(product([[0.3, 0.9], [1, 0.5]]), [0.27, 0.5])


def test_it_converges_and_keeps_the_order():
    def kink(x):
        return np.minimum(x[:, 0], x[:, 1])

    places = np.random.default_rng(0).random((400, 2))
    errors = []
    for K in (2, 8, 32):
        B = isocal.bernstein_operator(kink, K, 2)
        assert all((np.diff(B.beta, axis=axis) >= 0).all() for axis in (0, 1))
        errors.append(np.max(np.abs(B(places) - kink(places))))
    assert errors[2] < 0.5 * errors[1] < 0.25 * errors[0] * 1.3


def test_elevation_is_averages_of_neighbours_and_the_same_polynomial():
    beta = np.array([0.1, 0.15, 0.6, 0.7])
    once = isocal.elevate(beta, 4)
    k = np.arange(5) / 4  # k / (K + 1)
    assert np.allclose(once, k * np.r_[0, beta] + (1 - k) * np.r_[beta, 0])
    s = np.linspace(0, 1, 9)
    higher = isocal.elevate(beta, 12)
    assert np.allclose(binom.pmf(np.arange(13), 12, s[:, None]) @ higher, binom.pmf(np.arange(4), 3, s[:, None]) @ beta)
    assert (np.diff(higher) >= -1e-15).all()
    B = isocal.bernstein_operator(lambda x: x[:, 0] ** 3, 3)
    assert np.allclose(B.elevate(7)(s), B(s))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: isocal.deviation_bound(0, 5), "n must be a whole number of at least 1; got 0"),
        (lambda: isocal.deviation_bound(10, 5, 2, 0.0), r"eps must lie in \(0, 1\]; got 0.0"),
        (lambda: isocal.deviation_bound(10, (5, 2), 3), "K has 2 entries for 3 scores"),
        (lambda: isocal.sample_size(0.1, 2.0, 5), r"delta must lie in \(0, 1\]; got 2.0"),
        (lambda: isocal.sample_size(0.1, 0.1, 2.5), "K must be a whole number of at least 1; got 2.5"),
        (lambda: isocal.bernstein_operator(lambda x: x, 3), "f must return one finite number for each of the 4 nodes"),
        (lambda: isocal.bernstein_operator(lambda x: x[:, 0], 2000, 2), "makes 4,004,001 coefficients"),
        (lambda: isocal.bernstein_operator(lambda x: x[:, 0], 2)([1.5]), r"scores must lie in \[0, 1\]"),
        (lambda: isocal.bernstein_operator(lambda x: x[:, 0], 2)([[0.5, 0.5]]), r"scores must be \(n, 1\)"),
        (lambda: isocal.elevate([0.1, 0.2, 0.3], 1), "lower than"),
        (lambda: isocal.elevate([0.1], 3), "at least two finite coefficients"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

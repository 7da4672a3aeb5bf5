"""The law of the GiViTI statistic against closed forms, other integrals and draws."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, chi2

from isocal.numerics.chi2_sums import quantile, survival

CUT = float(chi2.isf(0.05, 1))


@pytest.mark.parametrize("t", [4.0, 7.0, 20.0, 100.0, 1000.0])
def test_one_large_square_and_two_degrees_in_closed_form(t):
    # P = P(Z > t) + integral of f_Z(z) exp(-(t - z)/2) over (cut, t)
    exact = (chi2.sf(t, 1) + np.exp(-t / 2) * 2 * (np.sqrt(t) - np.sqrt(CUT)) / np.sqrt(2 * np.pi)) / 0.05
    assert survival(t, 2, 1, CUT) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("t", [4.0, 10.0, 32.4, 39.6, 80.0])
def test_one_large_square_and_one_degree_in_polar_coordinates(t):
    # of the circle of radius r the part with one coordinate beyond sqrt(cut) is (2/pi) arccos(sqrt(cut)/r)
    def integrand(r):
        return r * np.exp(-(r**2 - t) / 2) * 2 / np.pi * np.arccos(np.sqrt(CUT) / r)

    exact = np.exp(-t / 2) / 0.05 * quad(integrand, np.sqrt(t), np.inf, epsabs=0, epsrel=1e-12)[0]
    assert survival(t, 1, 1, CUT) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize(("df", "k"), [(2, 2), (2, 3), (1, 2)])
def test_more_squares_against_draws(df, k):
    rng, n = np.random.default_rng(1), 200_000
    total = rng.chisquare(df, n) + chi2.isf(0.05 * rng.uniform(size=(n, k)), 1).sum(axis=1)
    for level in (0.2, 0.5, 0.8, 0.95):
        low, high = binom.ppf([1e-4, 1 - 1e-4], n, 1 - level)
        assert low <= np.sum(total > quantile(level, df, k, CUT)) <= high


@pytest.mark.parametrize(("df", "k"), [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (2, 2), (2, 3)])
def test_quantile_inverts_the_tail(df, k):
    for level in (0.5, 0.8, 0.95, 0.999):
        assert survival(quantile(level, df, k, CUT), df, k, CUT) == pytest.approx(1 - level, rel=1e-9)


def test_without_large_squares_it_is_chi_squared_and_below_their_sum_it_is_one():
    assert survival(5.0, 2, 0, CUT) == pytest.approx(np.exp(-2.5), rel=1e-14)
    assert survival(2 * CUT, 2, 2, CUT) == 1.0
    assert 0 < survival(1300.0, 2, 3, CUT) < 1e-250  # no digits lost, no zero

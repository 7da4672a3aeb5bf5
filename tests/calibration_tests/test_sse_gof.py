"""sse_gof: the numbers of R's rms, the variance by other algebra, its size by simulation, bad input."""

import numpy as np
import pytest
from calibration_cases import forecast, printed
from scipy.special import expit
from scipy.stats import binom, norm

from isocal.calibration_tests import spiegelhalter, sse_gof
from isocal.numerics.logistic import fit_logistic


def fitted(n, k, seed, w=None):
    """(y, p, x): a logistic regression on k regressors fitted to n rows of its own model."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, k))
    y = (rng.random(n) < expit(0.5 + x @ np.linspace(1, -0.5, k))).astype(float)
    coef = fit_logistic(x, y, np.ones(n) if w is None else w).coef
    return y, expit(coef[0] + x @ coef[1:]), x


def test_as_rms_prints_it():
    """rms regresses on the nine columns of MASS::birthwt, which we may not copy: with them .3344046 was met to 4e-8."""
    y, p = forecast("birthwt")
    res, rms = sse_gof(y, p), {name[8:]: value for name, value in printed("gof_lecessie_rms", "birthwt").items()}
    assert res.sse == pytest.approx(rms["Sum of squared errors"], abs=1e-6)
    assert res.expected == pytest.approx(rms["Expected value|H0"], abs=1e-6)
    assert rms["SD"] < res.std_dev < 1.1 * rms["SD"]  # one regressor of the nine's span, so a little more is left
    z = (res.sse - res.expected) / rms["SD"]
    close = {"abs": 5e-6}  # rms fitted p anew, 1e-6 off in the mean
    assert z == pytest.approx(rms["Z"], **close) and 2 * norm.sf(z) == pytest.approx(rms["P"], **close)


@pytest.mark.parametrize("k", [1, 3])
def test_variance_is_that_of_the_linearised_statistic(k):
    """sum (y - p)(1 - 2p) minus its regression on the score equations X'(y - p): V = a'Wa - a'WX (X'WX)^-1 X'Wa."""
    y, p, x = fitted(150, k, 1)
    X, v, a = np.c_[np.ones(150), x], p * (1 - p), 1 - 2 * p
    left = a @ (v * a) - (X.T @ (v * a)) @ np.linalg.inv((X.T * v) @ X) @ (X.T @ (v * a))
    res = sse_gof(y, p, x)
    assert res.std_dev == pytest.approx(np.sqrt(left), rel=1e-9)
    assert res.statistic == pytest.approx(np.sum((y - p) ** 2 - v) / np.sqrt(left), rel=1e-9)
    assert res.p_value == pytest.approx(2 * norm.sf(abs(res.statistic)), rel=1e-12)
    assert (res.regressors, res.df, res.n) == (k, None, 150)


def test_by_hand():
    """p = 1/4, 1/2, 3/4, so weights 3, 4, 3 (sixteenths) and 1 - 2p = 1/2, 0, -1/2, regressed on x = 0, 1, 4.

    About the means 1.6 and 0 the sums are Sxx = 26.4, Sxa = -6, Saa = 1.5: left are (1.5 - 36/26.4)/16 = 3/352.
    """
    res = sse_gof([0, 1, 1], [0.25, 0.5, 0.75], [0, 1, 4])
    assert res.sse == 0.375 and res.expected == 0.625
    assert res.statistic == pytest.approx(-0.25 / np.sqrt(3 / 352), rel=1e-12)


def test_one_regressor_is_known_from_its_logits():
    y, p, x = fitted(120, 1, 2)
    assert sse_gof(y, p).statistic == pytest.approx(sse_gof(y, p, x[:, 0]).statistic, rel=1e-9)
    assert sse_gof(y, p).std_dev < np.sqrt(np.sum(p * (1 - p) * (1 - 2 * p) ** 2))


def test_the_numerator_is_that_of_spiegelhalter():
    y, p, x = fitted(120, 2, 3)
    res, other = sse_gof(y, p, x), spiegelhalter(y, p)
    assert res.statistic * res.std_dev == pytest.approx(
        other.statistic * np.sqrt(np.sum(p * (1 - p) * (1 - 2 * p) ** 2)), rel=1e-9
    )


def test_weights_are_repeats_and_zero_weights_absent():
    y, p, x = fitted(60, 2, 4)
    w = np.random.default_rng(0).integers(0, 4, 60)
    many, res = np.repeat(np.arange(60), w), sse_gof(y, p, x, w.astype(float))
    assert res.statistic == pytest.approx(sse_gof(y[many], p[many], x[many]).statistic, rel=1e-9)
    assert res.n == w.sum()


def test_size_and_power():
    """Rejects about 5 % of models that hold; and a line fitted to a parabola on the logit scale."""
    runs = 400
    wrong = sum(sse_gof(*fitted(300, 3, seed)).p_value <= 0.05 for seed in range(runs))
    assert binom.ppf(0.0005, runs, 0.05) <= wrong <= binom.ppf(0.9995, runs, 0.05)
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    y = (rng.random(2000) < expit(x + x**2)).astype(float)
    coef = fit_logistic(x[:, None], y, np.ones(2000)).coef
    assert sse_gof(y, expit(coef[0] + coef[1] * x), x).p_value < 1e-3


def test_summary():
    y, p, x = fitted(100, 2, 5)
    text = sse_gof(y, p, x).summary().as_text()
    assert "Unweighted Sum of Squares Test" in text and "Sum of squares:" in text and "standard normal" in text


def test_bad_input():
    y, p, x = fitted(20, 1, 6)
    with pytest.raises(ValueError, match="sse_gof takes logits, and 1 of 20 p are exactly 0 or 1: set clip"):
        sse_gof(y, np.r_[0.0, p[1:]])
    for wrong in (x[:19], np.where(np.arange(20) == 3, np.nan, x[:, 0]), np.ones((20, 1, 1))):
        with pytest.raises(ValueError, match="x must hold finite regressors, one row for each of the 20 labels"):
            sse_gof(y, p, wrong)
    with pytest.raises(ValueError, match="leave the sum of squares no variance with 2 distinct p"):
        sse_gof([0, 1, 1, 0, 1], [0.3, 0.3, 0.8, 0.8, 0.8])
    assert np.isfinite(sse_gof(y, np.r_[0.0, p[1:]], clip=0.01).statistic)

"""Temperature scaling against scipy's scalar minimiser."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

import isocal
from isocal.methods import Temperature
from isocal.methods.temperature import TemperatureCurve

RNG = np.random.default_rng(4)
Z = RNG.normal(size=300)
Y = (RNG.random(300) < expit(2 * Z)).astype(float)


@pytest.mark.parametrize("w", [np.ones(300), RNG.integers(0, 3, 300) / 2], ids=["plain", "weighted"])
@pytest.mark.parametrize("s, x", [(Z, Z), (expit(Z), logit(expit(Z)))], ids=["identity", "logit"])
def test_scipy_finds_the_same_minimum(s, x, w):
    options = {"bounds": (0, 20), "options": {"xatol": 1e-10}}
    found = minimize_scalar(lambda b: w @ (np.logaddexp(0, b * x) - Y * b * x), **options)
    curve = Temperature().fit_arrays(s, Y, w)
    assert curve.slope == pytest.approx(found.x, abs=1e-6)
    p = curve(s[:, None])
    assert abs(w @ ((Y - p) * x)) <= 1e-9
    assert curve.se == pytest.approx(1 / np.sqrt(w @ (x**2 * p * (1 - p))), rel=1e-9)  # observed information
    assert curve(np.array([[0.5 if s is not Z else 0.0]]))[0] == 0.5


def test_a_falling_score_has_infinite_temperature():
    curve = Temperature().fit_arrays(-Z, Y)
    assert curve.slope == 0 and np.isnan(curve.se) and np.all(curve(Z[:, None]) == 0.5)
    assert curve.facts()["Temperature"] == "infinite" and curve.df == 0
    assert np.isnan(TemperatureCurve.from_dict(json.loads(json.dumps(curve.to_dict(), allow_nan=False))).se)


def test_zero_that_parts_the_labels():
    for s in (Z, expit(Z)):
        with pytest.raises(ValueError, match=r"one half \(logit 0\) parts the labels.*isocal.platt"):
            Temperature().fit_arrays(s, Z > 0)
    assert np.isfinite(Temperature().fit_arrays(Z, Z > 0.3).slope)  # parted elsewhere: finite
    for half, recipe in ((0.5, Temperature()), (0.0, Temperature(scale="identity"))):  # logit 0 everywhere says nothing
        assert recipe.fit_arrays(np.full(3, half), np.array([0, 1, 1])).slope == 0


def test_scale_is_settled_once():
    data = isocal.datasets.simulate_scores(80, M=1, rng=2)
    res = isocal.temperature("y ~ s1", data).fit()
    assert res.recipe.scale == "logit" and res.params.index.tolist() == ["inverse_temperature"]
    assert isocal.temperature("y ~ I(s1 * 4 - 2)", data).recipe.scale == "identity"


def test_bad_input():
    with pytest.raises(ValueError, match="scale must be one of 'auto', 'logit', 'identity'"):
        Temperature(scale="probit")
    with pytest.raises(ValueError, match=r'scale="logit": .*must lie in \[0, 1\]'):
        Temperature(scale="logit").fit_arrays(Z, Y)
    with pytest.raises(ValueError, match="slope must be finite and >= 0"):
        TemperatureCurve.from_dict({"slope": -1.0, "se": None, "scale": "logit", "df": 1.0})

"""The table of a reflected kernel density against its sums written out."""

import numpy as np
import pytest
from scipy.stats import norm

from isocal.numerics.kernel_margin import Margin, bandwidth, check_margin, kernel_margin

RNG = np.random.default_rng(8)
CASES = {
    "three values": np.array([0.1, 0.2, 0.9]), "widest bandwidth": np.array([0.0, 0.5, 1.0]),
    "uniform": RNG.random(250), "two humps": RNG.beta(0.3, 0.3, 300), "skew": RNG.beta(0.2, 5, 300),
    "ties": np.round(RNG.random(200), 1), "ends": np.repeat([0.0, 0.3, 1.0], [20, 30, 10]),
    "cluster and tail": np.r_[RNG.normal(0.5, 1e-3, 150), RNG.random(15)],
}  # fmt: skip


def direct(x, w, h, s):
    """f and F of METHODS section 4, mixed with the uniform."""
    n = w.sum()
    z = [(s[:, None] - x) / h, (s[:, None] + x) / h, (s[:, None] - 2 + x) / h]
    f, F = sum(map(norm.pdf, z)) @ w / n / h, sum(map(norm.cdf, z)) @ w / n - 1
    part = 1 / (n + 1)
    return (1 - part) * f + part, (1 - part) * F + part * s


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_table_is_the_sums(case, weighted):
    x = CASES[case]
    w = RNG.integers(1, 4, len(x)) * 0.7 if weighted else np.ones(len(x))
    margin = kernel_margin(x, w)
    near = np.clip(RNG.choice(x, 400) + 3 * margin.h * RNG.normal(size=400), 0, 1)
    s = np.r_[0.0, 1.0, RNG.random(400), near, (margin.places[1:] + margin.places[:-1])[:400] / 2]
    f, F = margin(s)
    f0, F0 = direct(x, w, margin.h, s)
    assert np.max(np.abs(f / f0 - 1)) <= 3e-7 and np.max(np.abs(F - F0)) <= 1e-9
    usual = case in ("three values", "widest bandwidth", "uniform", "two humps", "ties", "ends")
    assert not usual or np.max(np.abs(f / f0 - 1)) <= 6e-8


def test_bandwidth_by_hand():
    """1, 2, 3, 4, 5 tenths: sd .1 sqrt(2.5), quartiles .2 and .4; 0, 0, 0, 0, 1: IQR = 0, so the sd .2 sqrt(5)."""
    spread = min(0.1 * np.sqrt(2.5), 0.2 / 1.349)
    assert bandwidth(np.arange(1, 6) / 10, np.ones(5)) == pytest.approx(1.059 * spread * 5**-0.2, rel=1e-14)
    two = bandwidth(np.array([0.0, 1.0]), np.array([4.0, 1.0]))
    assert two == pytest.approx(1.059 * np.sqrt(0.2) * 5**-0.2, rel=1e-14)


def test_repeats_are_weights_bit_for_bit():
    x, w = np.unique(CASES["ties"], return_counts=True)
    once, many = kernel_margin(x, w.astype(float)), kernel_margin(CASES["ties"][::-1], np.ones(200))
    assert all(np.array_equal(getattr(once, name), getattr(many, name)) for name in ("places", "f", "f1", "f2", "h"))


def test_scores_too_concentrated_for_a_table():
    for x in (RNG.random(300) ** 200, np.r_[np.full(900, 0.5) + 1e-10 * RNG.random(900), RNG.random(700)]):
        for check in (check_margin, kernel_margin):
            with pytest.raises(ValueError, match=r"has bandwidth .* too small beside its range"):
                check(x, np.ones(len(x)))


def test_density_between_far_groups_is_the_uniform_part():
    x = np.r_[0.2 + 1e-6 * RNG.random(40), 0.8 + 1e-6 * RNG.random(2)]
    f, F = kernel_margin(x, np.ones(42))(np.array([0.0, 0.1, 0.5, 0.95, np.nan]))
    assert f[:4] == pytest.approx(1 / 43, rel=1e-12) and np.isnan([f[4], F[4]]).all()
    assert F[2] == pytest.approx(42 / 43 * 40 / 42 + 0.5 / 43, abs=1e-9)


def test_from_dict_refuses_what_is_no_density():
    good = kernel_margin(CASES["uniform"], np.ones(250)).to_dict()
    s = RNG.random(50)
    assert np.array_equal(Margin.from_dict(good, 1 / 251)(s), kernel_margin(CASES["uniform"], np.ones(250))(s))
    for change in (
        {"places": good["places"][::-1]}, {"f": good["f"][:-1]}, {"f": [-v for v in good["f"]]}, {"h": 0.0},
        {"start": -1.0}, {"f2": [float("nan")] * len(good["f"])},
        {"places": [0.0], "f": [1.0], "f1": [0.0], "f2": [0.0]},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="margin: "):
            Margin.from_dict(good | change, 1 / 251)

"""Copula families and their fits: mpmath, R copula, closed forms, integrals."""

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isocal.numerics import copulas
from isocal.numerics.copula_fit import CopulaFit, best_fit, distinct_rows, fit_copula, pseudo_observations
from isocal.numerics.copulas import elliptical, log_density
from isocal.numerics.copulas.correlation import fit_correlation, gaussian_pair

HERE = Path(__file__).parent / "reference" / "copula"
PAIRS = pd.read_csv(HERE / "ml_estimates.csv")
TRIPLES = pd.read_csv(HERE / "ml_d3_R.csv")
MIDDLE = {  # a parameter of ordinary strength for each family
    "gaussian": (0.6,), "clayton": (1.5,), "rclayton": (1.5,), "plackett": (5.0,), "frank": (4.0,), "gumbel": (1.8,),
    "rgumbel": (1.8,), "student": (0.5, 4.0),
}  # fmt: skip


@cache
def sample(name):
    """Pseudo-observations of a reference sample, a list of columns."""
    return list(np.ascontiguousarray(pd.read_csv(HERE / "samples" / f"{name}.csv").to_numpy().T))


@pytest.mark.parametrize(
    "file, lines",
    [("logdensity_2d_mpmath", 476), ("logdensity_34d_mpmath", 110), ("logdensity_extremes_mpmath", 160)],
)
def test_log_densities_to_60_digits(file, lines):
    """The third file: ends of the ranges at 1e-12 and 1 - 1e-12, rotations, three scores."""
    with (HERE / f"{file}.csv").open(encoding="utf-8", newline="") as text:
        table = list(csv.DictReader(text))
    assert len(table) == lines
    for row in table:
        u = [np.array([float(v)]) for v in (row["u"].split() if "v" not in row else (row["u"], row["v"]))]
        theta = [float(row[p]) for p in ("p1", "p2") if row.get(p)]
        found, wanted = log_density(row["family"], u, theta)[0], float(row["logc"])
        assert np.isfinite(found) and abs(found - wanted) <= 1e-11 * (1 + abs(wanted)), row


@pytest.mark.parametrize("name", copulas.FAMILIES)
def test_density_integrates_to_one(name):
    """Gauss-Legendre on a scale that crowds at the ends, where the density of some is infinite."""
    x, weight = np.polynomial.legendre.leggauss(120)
    z = 12 * x
    u, du = 1 / (1 + np.exp(-z)), 12 * weight / (2 + 2 * np.cosh(z))
    a, b = (v.ravel() for v in np.meshgrid(u, u))
    assert np.exp(log_density(name, [a, b], MIDDLE[name])) @ np.outer(du, du).ravel() == pytest.approx(1, abs=2e-4)


@pytest.mark.parametrize("name", ["clayton", "rclayton", "gumbel", "rgumbel", "frank", "gaussian", "student"])
def test_third_score_integrates_out(name):
    """The integral of c(u, v, w) over w is c(u, v)."""
    theta = {"gaussian": (0.6, 0.2, 0.3), "student": (0.5, 0.1, 0.4, 4.0)}.get(name, MIDDLE[name])
    x, weight = np.polynomial.legendre.leggauss(400)
    z = 16 * x
    w, dw = 1 / (1 + np.exp(-z)), 16 * weight / (2 + 2 * np.cosh(z))
    for u, v in ((0.3, 0.4), (0.05, 0.9), (0.97, 0.99)):
        pair = log_density(name, [np.array([u]), np.array([v])], (theta[0], theta[-1]))[0]
        over = np.exp(log_density(name, [np.full(400, u), np.full(400, v), w], theta)) @ dw
        assert over == pytest.approx(np.exp(pair), rel=1e-5), (u, v)


def test_gaussian_and_student_are_ratios_of_scipy_densities():
    u = [np.array([0.1, 0.5, 0.93]), np.array([0.3, 0.9, 0.97]), np.array([0.2, 0.4, 0.95])]
    R = np.array([[1, 0.5, 0.2], [0.5, 1, -0.3], [0.2, -0.3, 1]])
    x, t = stats.norm.ppf(np.array(u)), stats.t.ppf(np.array(u), 5)
    wanted = stats.multivariate_normal(cov=R).logpdf(x.T) - stats.norm.logpdf(x).sum(axis=0)
    assert log_density("gaussian", u, (0.5, 0.2, -0.3)) == pytest.approx(wanted, abs=1e-12)
    wanted = stats.multivariate_t(shape=R, df=5).logpdf(t.T) - stats.t.logpdf(t, 5).sum(axis=0)
    assert log_density("student", u, (0.5, 0.2, -0.3, 5.0)) == pytest.approx(wanted, abs=1e-11)


def test_t_quantile_inverts_the_distribution():
    u = np.r_[10.0 ** -np.arange(1, 13), 0.4999, 0.5, 0.7, 1 - 10.0 ** -np.arange(1, 13)]
    for nu in (2.0, 3.7, 30.0, 100.0):
        x = elliptical.t_quantile(nu, u)
        low = u < 0.5
        assert stats.t.cdf(x[low], nu) == pytest.approx(u[low], rel=1e-11)
        assert stats.t.sf(x[~low], nu) == pytest.approx(1 - u[~low], rel=1e-11)
    assert elliptical.t_quantile(2.0, 0.75) == pytest.approx(np.sqrt(2 / 3), rel=1e-15)  # closed form for nu = 2


def test_rotations_and_reflections():
    u, v = np.random.default_rng(1).random((2, 500))
    for name in ("clayton", "gumbel"):
        turned = log_density(name, [1 - u, 1 - v], (2.0,))
        assert log_density(f"r{name}", [u, v], (2.0,)) == pytest.approx(turned, abs=1e-9)
    for name, a, b in (("frank", 3.0, -3.0), ("plackett", 7.0, 1 / 7.0), ("gaussian", 0.4, -0.4)):
        assert log_density(name, [u, v], (a,)) == pytest.approx(log_density(name, [1 - u, v], (b,)), abs=1e-9)
    for name, t in (("frank", 0.0), ("plackett", 1.0), ("gaussian", 0.0)):
        assert log_density(name, [u, v], (t,)) == pytest.approx(0, abs=1e-15)


def test_kendall_tau():
    known = [
        ("gaussian", (0.5,), 1 / 3), ("student", (0.5, 3.0), 1 / 3), ("clayton", (2.0,), 0.5), ("gumbel", (2.0,), 0.5),
        ("frank", (5.736283,), 0.5), ("frank", (-5.736283,), -0.5), ("frank", (0.0,), 0.0), ("plackett", (1.0,), 0.0),
    ]  # fmt: skip
    for name, theta, tau in known:  # 5.736283: Nelsen's table of Frank's family
        assert copulas.kendall_tau(name, theta, 2) == pytest.approx(tau, abs=1e-7)
    assert copulas.kendall_tau("gaussian", (0.5, 0.0, 0.0), 3) == pytest.approx(1 / 9, abs=1e-12)
    for t in (0.01, 0.2, 3.0, 60.0):
        assert copulas.kendall_tau("plackett", (t,), 2) == pytest.approx(tau_of_plackett(t), abs=2e-3)
    small = 1e-3  # both sides of the place where the series takes over
    for name, theta, step in (("frank", small, 1e-6), ("plackett", 1 + 1e-6, 1e-9)):
        below, above = (copulas.kendall_tau(name, (theta + sign * step,), 2) for sign in (-1, 1))
        assert above == pytest.approx(below, rel=5e-3)


def tau_of_plackett(t, n=700):
    """1 - 4 mean of dC/du dC/dv over midpoints, the derivatives by differences of the distribution function."""

    def C(u, v):
        S = 1 + (t - 1) * (u + v)
        return (S - np.sqrt(S * S - 4 * u * v * t * (t - 1))) / (2 * (t - 1))

    u = (np.arange(n) + 0.5) / n
    u, v = np.meshgrid(u, u)
    e = 0.5 / n
    return 1 - 4 * np.mean((C(u + e, v) - C(u - e, v)) * (C(u, v + e) - C(u, v - e))) * n * n


def test_tail_dependence():
    root = 2 ** -0.5
    known = [("clayton", (2.0,), (root, 0)), ("rclayton", (2.0,), (0, root)), ("gumbel", (2.0,), (0, 2 - 2**0.5)),
             ("rgumbel", (2.0,), (2 - 2**0.5, 0)), ("frank", (3.0,), (0, 0)), ("plackett", (9.0,), (0, 0)),
             ("gaussian", (0.9,), (0, 0))]  # fmt: skip
    for name, theta, tails in known:
        assert copulas.tail_dependence(name, theta, 2) == pytest.approx(tails, abs=1e-15)
    wanted = 2 * stats.t.cdf(-np.sqrt(5 * 0.5 / 1.5), 5)
    assert copulas.tail_dependence("student", (0.5, 4.0), 2) == pytest.approx((wanted, wanted), abs=1e-14)


@pytest.mark.parametrize("name", copulas.FAMILIES)
def test_maximum_likelihood_of_R_copula(name):
    """Eleven samples; at 250 rows a log-likelihood is flat, so both are compared as the project asks."""
    for row in PAIRS[PAIRS.family == name].itertuples():
        fit = fit_copula(name, sample(row.sample), np.ones(250))
        wanted = [row.par1_R] if name != "student" else [row.par1_R, row.par2_R]
        for found, theirs in zip(fit.theta, wanted, strict=True):
            assert abs(found - theirs) <= 1e-5 * max(1, abs(theirs)), (row.sample, found, theirs)
        assert abs(fit.llf - row.loglik_R) <= 1e-5, row.sample


@pytest.mark.parametrize("row", list(TRIPLES.itertuples()), ids=lambda row: f"{row.sample}-{row.family}")
def test_maximum_likelihood_of_three_scores(row):
    fit = fit_copula(row.family, sample(row.sample), np.ones(250))
    wanted = [p for p in (row.p1, row.p2, row.p3, row.p4) if not np.isnan(p)]
    assert abs(fit.llf - row.loglik) <= 1e-5
    far = [abs(a - b) / max(1, abs(b)) for a, b in zip(fit.theta, wanted, strict=True)]
    if max(far) > 1e-5:  # R stopped short of the maximum: its own parameters are worse than ours
        there = log_density(row.family, sample(row.sample), wanted).sum()
        assert row.family == "student" and fit.llf > there and max(far) < 5e-4


def test_student_of_three_scores_is_at_a_maximum():
    """No step of 1e-4 along any parameter is better, with densities of scipy."""
    fit = fit_copula("student", sample("d3_gaussian"), np.ones(250))

    def value(theta):
        nu, x = theta[-1], stats.t.ppf(np.array(sample("d3_gaussian")), theta[-1])
        R = elliptical.matrix(theta[:-1], 3)
        return (stats.multivariate_t(shape=R, df=nu).logpdf(x.T) - stats.t.logpdf(x, nu).sum(axis=0)).sum()

    best = value(fit.theta)
    assert best == pytest.approx(fit.llf, abs=1e-8)
    for k in range(4):
        for sign in (-1, 1):
            moved = np.array(fit.theta)
            moved[k] += sign * 1e-4 * max(1, moved[k]) * (20 if k == 3 else 1)
            assert value(moved) < best


def test_weights_are_repeats():
    rng = np.random.default_rng(4)
    u, w = sample("student"), rng.integers(1, 4, 250)
    for name in copulas.FAMILIES:
        once = fit_copula(name, u, w.astype(float))
        many = fit_copula(name, [np.repeat(v, w) for v in u], np.ones(w.sum()))
        assert once.llf == pytest.approx(many.llf, abs=1e-9)
        assert once.theta == pytest.approx(many.theta, rel=2e-6)


def test_pseudo_observations_by_hand():
    s = np.array([[0.3, 0.1], [0.1, 0.2], [0.3, 0.3]])
    first, second = pseudo_observations(s, np.ones(3))
    assert first.tolist() == [2.5 / 4, 1 / 4, 2.5 / 4] and second.tolist() == [1 / 4, 2 / 4, 3 / 4]
    first, second = pseudo_observations(s, np.array([1.0, 2.0, 1.0]))  # 0.1 twice: (1 + 2)/2; 0.3 twice: (3 + 4)/2
    assert first.tolist() == [3.5 / 5, 1.5 / 5, 3.5 / 5] and second.tolist() == [1 / 5, 2.5 / 5, 4 / 5]


def test_distinct_rows_by_hand():
    s = np.array([[0.2, 0.9], [0.1, 0.5], [0.2, 0.9], [0.2, 0.1]])
    rows, w = distinct_rows(s, np.array([1.0, 2.0, 0.5, 4.0]))
    assert rows.tolist() == [[0.1, 0.5], [0.2, 0.1], [0.2, 0.9]] and w.tolist() == [2.0, 4.0, 1.5]


def test_criteria_by_hand():
    """Student gains 1.5 of log-likelihood for a second parameter: worth it by AIC (1), not by BIC (log(100)/2)."""
    fits = [CopulaFit("gaussian", (0.5,), 10.0), CopulaFit("student", (0.5, 5.0), 11.5)]
    assert [best_fit(fits, c, 100.0, 2).name for c in ("loglik", "aic", "bic")] == ["student", "student", "gaussian"]
    assert (copulas.count("gaussian", 4), copulas.count("student", 4), copulas.count("frank", 4)) == (6, 7, 1)


def test_gaussian_pair_solves_its_cubic():
    """With equal weights on (1, 1), (-1, -1), (1, -1), (-1, 1) nothing depends: r = 0. Three of four alike: r = 1/2."""
    x = [np.array([1.0, -1, 1, -1]), np.array([1.0, -1, -1, 1])]
    assert gaussian_pair(x, np.ones(4))[0] == pytest.approx(0, abs=1e-12)
    assert gaussian_pair(x, np.array([3.0, 3, 1, 1]))[0] == pytest.approx(0.5, abs=1e-12)


def test_correlations_beyond_the_range_stop_at_its_end():
    x = stats.norm.ppf((np.arange(50) + 0.5) / 50)
    u = stats.norm.cdf(x)
    for w in (u, 1 - u):
        for name in copulas.FAMILIES:
            fit = fit_copula(name, [u, w], np.ones(50))
            assert np.isfinite(fit.llf) and copulas.within_range(name, fit.theta, 2)
    R, value = fit_correlation([x, x, -x], np.ones(50))
    assert np.isfinite(value) and R[0, 1] == pytest.approx(0.999, abs=1e-3) and np.linalg.eigvalsh(R)[0] > 9e-4
    for name in copulas.families_for(3):
        assert copulas.within_range(name, fit_copula(name, [u, u, 1 - u], np.ones(50)).theta, 3)


def test_plackett_is_for_two():
    assert "plackett" in copulas.families_for(2) and "plackett" not in copulas.families_for(3)
    assert copulas.within_range("frank", (-3.0,), 2) and not copulas.within_range("frank", (-3.0,), 3)
    assert not copulas.within_range("gaussian", (0.99, -0.99, 0.99), 3)  # no correlation matrix

"""Kernels: identities, closed forms, and solutions of R quadprog."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from by_hand import CASES
from scipy.stats import binom

from isocal.methods import Bernstein
from isocal.numerics import basis as B
from isocal.numerics.cone import cone, node_volumes, smallest_steps
from isocal.numerics.folds import fold_weights, row_hash
from isocal.numerics.moments import Moments, gram, moment_matrix, moments, rhs
from isocal.numerics.qp import solve

HERE = Path(__file__).parent / "reference"
SHARED = Path(__file__).parents[2] / "shared" / "reference" / "diag"
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="shared folder is absent")
RNG = np.random.default_rng(11)


def design(s, K):
    """The n x p design from scipy's binomial probabilities."""
    out = np.ones((len(s), 1))
    for m, k in enumerate(K):
        b = binom.pmf(np.arange(k + 1)[None, :], k, s[:, m : m + 1])
        out = (out[:, :, None] * b[:, None, :]).reshape(len(s), -1)
    return out


@pytest.mark.parametrize("K", [1, 2, 5, 20, 60, 400, 700, 2999])
def test_basis_is_binomial_and_sums_to_one(K):
    x = np.r_[0.0, 1.0, 1e-300, 1 - 1e-16, RNG.random(50)]
    b = B.basis(x, K)
    assert np.allclose(b, binom.pmf(np.arange(K + 1)[:, None], K, x), rtol=1e-9, atol=1e-14)
    assert np.allclose(b.sum(axis=0), 1, rtol=0, atol=1e-11 if K > B.POWERS_UP_TO else 1e-13)


def test_evaluation_against_exact_rationals():
    beta = np.sort(RNG.random((4, 3)), axis=0).cumsum(axis=1) / 3
    s = RNG.random((20, 2))
    for row, found in zip(s, B.evaluate(beta, s), strict=True):
        x, z = map(Fraction, row)
        along = [math.comb(3, i) * x**i * (1 - x) ** (3 - i) for i in range(4)]
        across = [math.comb(2, j) * z**j * (1 - z) ** (2 - j) for j in range(3)]
        exact = sum(Fraction(beta[i, j]) * along[i] * across[j] for i in range(4) for j in range(3))
        assert abs(float(exact) - found) < 4e-16


def test_nan_stays_nan_even_where_the_surface_is_flat():
    s = np.array([[0.5, np.nan], [0.5, 0.5], [np.nan, 0.1]])
    assert list(np.isnan(B.evaluate(np.full((3, 3), 0.25), s))) == [True, False, True]


def test_gradient_is_the_difference_quotient():
    beta, s, h = RNG.random((5, 4)), 0.1 + 0.8 * RNG.random((30, 2)), 1e-6
    for m in range(2):
        step = h * np.eye(2)[m]
        quotient = (B.evaluate(beta, s + step) - B.evaluate(beta, s - step)) / (2 * h)
        assert np.allclose(B.gradient(beta, s)[:, m], quotient, atol=1e-8)


def test_elevation_changes_nothing():
    beta, s = RNG.random((3, 5)), RNG.random((40, 2))
    raised = B.elevate(beta, (7, 4))
    assert raised.shape == (8, 5)
    assert np.allclose(B.evaluate(raised, s), B.evaluate(beta, s), atol=1e-15)
    K = 4  # one step is eq. 17: (K + 1 - k)/(K + 1) beta_k + k/(K + 1) beta_{k-1}
    k = np.arange(K + 2)
    padded = np.r_[beta[0], 0.0]
    assert np.allclose(B.elevate(beta[0], (K + 1,)), (K + 1 - k) / (K + 1) * padded + k / (K + 1) * np.r_[0, beta[0]])
    with pytest.raises(ValueError, match="lower than"):
        B.elevate(beta, (1, 1))


@pytest.mark.parametrize("K", [(1,), (5,), (20,), (3, 7), (12, 12), (2, 3, 4), (3, 3, 3, 3), (1, 2, 1, 2, 1)])
def test_gram_from_moments_is_the_direct_gram(K):
    s, w = RNG.random((300, len(K))), RNG.random(300)
    y = (RNG.random(300) < 0.4).astype(float)
    X = design(s, K)
    found = moments(s, y, w, [2 * k for k in K])
    assert np.allclose(gram(found.T0, K), X.T @ (w[:, None] * X), rtol=1e-12, atol=0)
    assert np.allclose(rhs(found.T1, K), X.T @ (w * y), rtol=1e-12, atol=0)
    assert (found.n, found.weight, found.events) == (300, pytest.approx(w.sum()), pytest.approx(w @ y))


def test_moments_add_subtract_and_lower():
    s, y, w = RNG.random((9000, 2)), RNG.integers(0, 2, 9000).astype(float), RNG.random(9000)
    whole = moments(s, y, w, (6, 8))
    a, b = moments(s[:5000], y[:5000], w[:5000], (6, 8)), moments(s[5000:], y[5000:], w[5000:], (6, 8))
    for left, right in ((a + b, whole), (whole - b, a), (whole.lower((4, 2)), moments(s, y, w, (4, 2)))):
        assert np.allclose(left.T0, right.T0, rtol=1e-10) and np.allclose(left.T1, right.T1, rtol=1e-10)
        assert (left.n, left.weight) == (right.n, pytest.approx(right.weight))
    V = np.c_[w, w * y]
    assert np.allclose(moment_matrix(s, V, (6, 8)), [whole.T0, whole.T1], rtol=1e-11)
    again = Moments.from_dict(whole.to_dict())
    assert np.array_equal(again.T1, whole.T1)
    with pytest.raises(ValueError, match="do not add"):
        whole + whole.lower((4, 2))
    with pytest.raises(ValueError, match="exceed"):
        whole.lower((20, 2))


def test_cone_counts_and_directions():
    assert len(cone((6, 6), (1, 1)).low) == 2 * 5 * 6
    c = cone((3, 4), (1, 0))
    assert sorted(c.bottom) == [0, 1, 2, 3] and sorted(c.top) == [8, 9, 10, 11]
    down = cone((3, 4), (1, -1))
    assert list(down.bottom) == [3] and list(down.top) == [8]
    box = cone((2, 2), (0, 0))
    assert len(box.low) == 0 and len(box.bottom) == len(box.top) == 4
    assert smallest_steps(np.array([[0.0, 0.2], [0.5, 0.1]]), (1, -1)) == [pytest.approx(-0.1), pytest.approx(-0.2)]
    assert node_volumes((3, 5)).sum() == pytest.approx(1)


@pytest.mark.parametrize("name, s, y, w, K, beta", CASES, ids=[c[0] for c in CASES])
def test_closed_forms(name, s, y, w, K, beta):
    keep = w > 0
    found = Bernstein(K=K, tie_break=0).fit_arrays(s[keep], y[keep], w[keep])
    assert np.allclose(found.beta.ravel(), beta, rtol=0, atol=1e-12), name
    assert found.kkt < 1e-12 and found.polished


def least_squares(s, y, K):
    """The fit of tests against quadprog: no tie-break, as there."""
    return Bernstein(K=K, tie_break=0).fit_arrays(s, y)


def quadprog(table, case, K, shape):
    """(coefficients, df, rss) that R printed."""
    rows = table[table.case == case].set_index("quantity").value
    beta = [float(rows["K{}.beta{}".format(K, "_".join(map(str, k)))]) for k in np.ndindex(*shape)]
    return np.reshape(beta, shape), float(rows[f"K{K}.df_free_dim"]), float(rows[f"K{K}.rss"])


def check_against_quadprog(table, case, s, y, K, M=1):
    beta, df, rss = quadprog(table, case, K, (K + 1,) * M)
    curve = least_squares(s, y, K)
    fitted = design(s, (K,) * M) @ beta.ravel()
    assert np.allclose(curve(s), fitted, rtol=0, atol=1e-8)
    assert np.sum((y - curve(s)) ** 2) == pytest.approx(rss, abs=1e-8)
    assert curve.df == df
    assert curve.kkt < 1e-11


@pytest.mark.parametrize("K", [3, 5, 8, 12])
def test_quadprog_sim(K):
    data = pd.read_csv(HERE / "sim_known_truth.csv")
    table = pd.read_csv(HERE / "bernstein_quadprog_sim.csv")
    check_against_quadprog(table, "sim", data[["p"]].to_numpy(), data.y.to_numpy(), K)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_quadprog_sim_bivariate(K):
    data = pd.read_csv(HERE / "sim_bivariate.csv")
    table = pd.read_csv(HERE / "bernstein_quadprog_sim.csv")
    check_against_quadprog(table, "sim_bivariate", data[["s1", "s2"]].to_numpy(), data.y.to_numpy(), K, 2)


@needs_shared
@pytest.mark.parametrize("K", [3, 5, 8, 12])
def test_quadprog_icu(K):
    data = pd.read_csv(SHARED / "inputs" / "icu_givitiR.csv")
    table = pd.read_csv(SHARED / "outputs" / "bernstein_constrained_ls_quadprog.csv")
    check_against_quadprog(table, "icu", data[["p"]].to_numpy(), data.y.to_numpy(), K)


@needs_shared
@pytest.mark.parametrize("K", [3, 5, 8])
def test_quadprog_niamey(K):
    data = pd.read_csv(SHARED / "inputs" / "niamey2016_reliabilitydiag.csv")
    table = pd.read_csv(SHARED / "outputs" / "bernstein_constrained_ls_quadprog.csv")
    check_against_quadprog(table, "niamey_EMOS", data[["EMOS"]].to_numpy(), data.y.to_numpy(), K)


@needs_shared
def test_niamey_of_degree_12_by_its_optimality_conditions():
    """Condition number 1.8e12: coefficients are not comparable, optimality is (verified here from the design)."""
    data = pd.read_csv(SHARED / "inputs" / "niamey2016_reliabilitydiag.csv")
    s, y = data[["EMOS"]].to_numpy(), data.y.to_numpy()
    assert kkt_from_design(least_squares(s, y, 12).beta, design(s, (12,)), y) < 1e-10


def kkt_from_design(beta, X, y):
    """Largest violation of optimality of a one-score fit, from the design and nothing of isocal's solver.

    On a chain the multipliers are unique unless both bounds hold: that of beta_{k-1} <= beta_k is the tail sum of the
    gradient from k on, plus that of beta_K <= 1.
    """
    assert beta[0] > 0 or beta[-1] < 1
    g = X.T @ (X @ beta - y) / np.mean(np.sum(X**2, axis=0))
    tail = np.cumsum(g[::-1])[::-1]
    upper = -tail[0] if beta[0] > 0 else 0.0
    multipliers, slack = np.r_[tail + upper, upper], np.r_[beta[0], np.diff(beta), 1 - beta[-1]]
    return max(np.max(-multipliers), np.max(-slack), np.max(np.abs(multipliers * slack)))


def test_rss_never_rises_with_the_degree():
    """The families are nested (Theorem 2), so the residual sum of squares cannot rise."""
    data = pd.read_csv(HERE / "sim_bivariate.csv")
    s, y = data[["s1", "s2"]].to_numpy(), data.y.to_numpy()
    for scores in (s, s[:, :1]):
        rss = [np.sum((y - least_squares(scores, y, K)(scores)) ** 2) for K in range(1, 11)]
        assert np.all(np.diff(rss) <= 1e-9)


@pytest.mark.parametrize("rate", [1e-6, 1e-4, 0.01, 0.5, 0.99, 1 - 1e-6])
def test_base_rates_against_a_separately_scaled_solve(rate):
    """The same problem with a response scaled to mean one half, solved by scipy's bounded least squares."""
    from scipy.optimize import lsq_linear

    rng = np.random.default_rng(5)
    s = rng.random((400, 1))
    y = (rng.random(400) < 0.3 + 0.4 * s[:, 0] ** 2).astype(float)
    w = np.where(y == 1, rate / np.mean(y), (1 - rate) / np.mean(1 - y))  # the weighted mean of y is the rate
    curve = Bernstein(K=6, tie_break=0).fit_arrays(s, y, w)
    if rate > 0.5:  # reflect: solve for 1 - f(1 - s)
        s, y, scale = 1 - s, 1 - y, 1 - rate
    else:
        scale = rate
    X = design(s, (6,)) @ np.tril(np.ones((7, 7)))  # in steps: b0, b1 - b0, ...: all >= 0
    found = lsq_linear(np.sqrt(w)[:, None] * X, np.sqrt(w) * y / scale, bounds=(0, np.inf), tol=1e-15, lsmr_tol=None)
    expected = X @ found.x * scale
    at = curve(s) if rate <= 0.5 else 1 - curve(1 - s)
    assert expected.max() < 1, "the upper bound is not active, as this check assumes"
    assert np.allclose(at, expected, rtol=0, atol=1e-7 * scale)
    assert curve.kkt < 1e-11 and curve.polished


def test_all_directions_stay_in_the_unit_interval():
    rng = np.random.default_rng(8)
    s = rng.random((80, 2)) ** 3
    y = (rng.random(80) < 0.5).astype(float)
    corners = np.array([[a, b] for a in np.linspace(0, 1, 21) for b in np.linspace(0, 1, 21)])
    for words in (("none", "none"), ("increasing", "none"), ("none", "decreasing"), ("decreasing", "increasing")):
        p = Bernstein(K=6, monotone=words).fit_arrays(s, y)(corners)
        assert p.min() >= 0 and p.max() <= 1


def test_a_decreasing_score_is_an_increasing_one_turned_round():
    rng = np.random.default_rng(9)
    s, y = rng.random((200, 2)), rng.integers(0, 2, 200).astype(float)
    down = Bernstein(K=4, monotone=("decreasing", "increasing")).fit_arrays(s, y)
    up = Bernstein(K=4).fit_arrays(np.c_[1 - s[:, 0], s[:, 1]], y)
    assert np.allclose(down.beta, up.beta[::-1], atol=1e-9)


def test_solve_reports_what_cannot_be_solved():
    c = cone((3,), (1,))
    with pytest.raises(ValueError, match=r"KKT residual|could not be started"):
        solve(np.full((3, 3), np.nan), np.ones(3), 3.0, 0.5, c)


def test_folds_ignore_order_repeats_and_chunks():
    rng = np.random.default_rng(2)
    s, y = np.round(rng.random((300, 2)), 1), rng.integers(0, 2, 300).astype(float)
    W = fold_weights(y, s)
    assert np.all(W.sum(axis=1) == 1) and W.shape == (300, 5)
    order = rng.permutation(300)
    key = row_hash(y, s)
    for again, k in ((fold_weights(y[order], s[order]), key[order]),):
        for h in np.unique(key):  # the same number of equal rows in every fold
            assert np.array_equal(W[key == h].sum(axis=0), again[k == h].sum(axis=0))
    counts = rng.integers(1, 9, 300)
    heavy = fold_weights(y, s, counts.astype(float))
    repeated = fold_weights(np.repeat(y, counts), np.repeat(s, counts, axis=0))
    for h in np.unique(key):
        assert np.array_equal(heavy[key == h].sum(axis=0), repeated[np.repeat(key, counts) == h].sum(axis=0))
    sizes = np.array([np.ptp(W[key == h].sum(axis=0)) for h in np.unique(key)])
    assert sizes.max() <= 1, "tied rows spread evenly"


def test_folds_keep_both_classes_in_training():
    s = np.linspace(0, 1, 12)[:, None]
    y = np.zeros(12)
    y[[3, 8]] = 1
    W = fold_weights(y, s)
    assert all((y * (1 - W[:, f])).sum() > 0 for f in range(5))


def test_splitmix64_published_values():
    """First outputs of splitmix64 seeded with 1234567 (Rosetta Code and the reference C program)."""
    from isocal.numerics.folds import _splitmix64

    state, out = np.uint64(1234567), []
    with np.errstate(over="ignore"):
        for _ in range(3):
            out.append(int(_splitmix64(np.array([state]))[0]))
            state = np.uint64((int(state) + 0x9E3779B97F4A7C15) % 2**64)
    assert out == [6457827717110365317, 3203168211198807973, 9817491932198370423]

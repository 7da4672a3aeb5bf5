"""Chi-bar laws, the order test, the face hat matrix and the learning curve, against closed forms and other programs."""

import math

import numpy as np
import pytest
from diag_reference import CASES, LOCAL_INPUTS, SHARED, _read, forecast, table
from scipy.optimize import isotonic_regression, nnls
from scipy.stats import binom, chi2

from isocal.consistency import bartholomew
from isocal.numerics.chi_bar import cone_weights, orthant_dimensions, project, simple_order_weights, tail
from isocal.numerics.face_hat import deletions, face_of, without
from isocal.numerics.learning_curve import learning_curve, sizes
from isocal.numerics.local_rows import effective_rows, grid_of_places
from isocal.numerics.moments import gram, moments

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="shared folder is absent")
QMC = 1e-3  # ic.infer takes its weights from quasi-Monte Carlo integrals


def stirling(k):
    """|s(k, l)|/k! for l = 1..k, from x (x + 1) ... (x + k - 1)."""
    row = np.ones(1)
    for j in range(k):
        row = np.convolve(row, [j, 1])
    return row[1:] / math.factorial(k)


def differences(k):
    return np.diff(np.eye(k), axis=0)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 8, 10])
def test_weights_of_equal_precision_are_stirling_numbers(k):
    assert np.allclose(simple_order_weights(np.full(k, 7.0)), stirling(k), rtol=0, atol=1e-6)


def test_weights_of_three_means_have_a_closed_form():
    # P(3, 3) = (1/(2 pi)) arccos of minus the partial correlation; P(2, 3) = 1/2 (Robertson et al. 1988, eq. 2.4.3)
    w = np.array([1.0, 4.0, 0.5])
    rho = -math.sqrt(w[0] * w[2] / ((w[0] + w[1]) * (w[1] + w[2])))
    all_three = 0.25 + math.asin(rho) / (2 * math.pi)
    assert np.allclose(simple_order_weights(w), [0.5 - all_three, 0.5, all_three], rtol=0, atol=1e-6)


@needs_shared
@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_simple_order_is_that_of_ic_infer(k):
    found = _read(SHARED / "outputs" / "chibar_simple_order.csv")
    found = found[found["case"] == f"simple_order_k{k}"]
    printed = dict(zip(found["quantity"], found["value"].astype(float), strict=True))
    weights = simple_order_weights(np.ones(k))
    assert np.allclose(weights, [printed[f"w_{j}"] for j in range(k)], rtol=0, atol=QMC)
    for name, p in printed.items():
        if name.startswith("p_TP2_t"):
            assert tail(float(name[7:]), weights, k - np.arange(1, k + 1)) == pytest.approx(p, abs=QMC)


@needs_shared
def test_mixtures_are_those_of_pchibar_and_orthants_those_of_ic_weights():
    found = _read(SHARED / "outputs" / "chibar_weights_pchibar.csv")
    for _, line in found[found["case"] == "pchibar"].iterrows():
        x = float(line["quantity"][2:])
        assert 1 - tail(x, orthant_dimensions(4), np.arange(5)) == pytest.approx(float(line["value"]), abs=1e-12)
    S = np.full((4, 4), 0.3) + 0.7 * np.eye(4)
    printed = found[found["case"] != "pchibar"].set_index("quantity")["value"].astype(float)
    weights = cone_weights(np.eye(4), S, np.random.default_rng(0), 20_000)
    error = 4 * np.sqrt(weights * (1 - weights) / 20_000) + QMC
    assert np.all(np.abs(weights - [printed[f"w_{j}"] for j in range(5)]) < error)


def test_orthant_dimensions_are_binomial():
    assert np.allclose(orthant_dimensions(6), binom.pmf(np.arange(7), 6, 0.5))


def test_tail_against_scipy():
    weights, df = np.array([0.25, 0.5, 0.25]), np.arange(3)
    assert tail(3.0, weights, df) == pytest.approx(0.5 * chi2.sf(3, 1) + 0.25 * chi2.sf(3, 2))
    assert tail(0.0, weights, df) == 1.0


def test_projection_on_a_chain_is_weighted_isotonic_regression():
    rng = np.random.default_rng(3)
    for _ in range(20):
        b, w = rng.normal(size=7), rng.uniform(0.2, 5, 7)
        nearest, distance = project(b, np.diag(1 / w), differences(7))
        expected = isotonic_regression(b, weights=w).x
        assert np.allclose(nearest, expected, atol=1e-10)
        assert distance == pytest.approx(float(w @ (b - expected) ** 2), abs=1e-10)


BINNED = [case for case in CASES if case in ("sim", "icu", "niamey_EMOS", "niamey_ENS")]


@pytest.mark.parametrize("case", BINNED)
@pytest.mark.parametrize("J", [5, 8])
def test_binned_test_is_that_of_ic_infer(case, J):
    if case not in LOCAL_INPUTS and not SHARED.exists():
        pytest.skip("shared folder is absent")
    lines = table("binned_isotonicity_test", case).set_index("quantity")["value"].astype(float)
    bins = range(1, J + 1)
    mean, rows = ([lines[f"J{J}.{name}{j}"] for j in bins] for name in ("mean", "n"))
    t, p, _ = bartholomew(mean, rows, np.c_[np.arange(J - 1), np.arange(1, J)])
    assert t == pytest.approx(lines[f"J{J}.T"], abs=1e-8)
    assert p == pytest.approx(lines[f"J{J}.p"], abs=2 * QMC)


@pytest.mark.parametrize("case", ["sim", "icu", "niamey_EMOS", "bc_lr"])
@pytest.mark.parametrize("K", [3, 4, 5])
def test_projections_and_weights_of_coefficients_are_those_of_ic_infer(case, K):
    if case not in LOCAL_INPUTS and not SHARED.exists():
        pytest.skip("shared folder is absent")
    lines = table("isotonicity_test_chibar_ic_infer", case).set_index("quantity")["value"].astype(float)
    y, s = forecast(case)
    X = binom.pmf(np.arange(K + 1), K, s[:, None])
    b = np.linalg.lstsq(X, y, rcond=None)[0]
    S = np.linalg.inv(X.T @ X) * np.sum((y - X @ b) ** 2) / (len(y) - K - 1)
    nearest, t = project(b, S, differences(K + 1))
    assert np.allclose(nearest, [lines[f"K{K}.ols.btilde{k}"] for k in range(K + 1)], atol=1e-6)
    assert t == pytest.approx(lines[f"K{K}.ols.TP2.T"], rel=1e-6, abs=1e-6)
    weights = cone_weights(differences(K + 1), S, np.random.default_rng(1), 4000)[1:]
    printed = np.array([lines[f"K{K}.ols.TP2.w{k}"] for k in range(K + 1)])[::-1]
    assert np.all(np.abs(weights - printed) < 4 * np.sqrt(np.maximum(printed, 1e-3) / 4000) + QMC)


def one_score(n, K, seed):
    rng = np.random.default_rng(seed)
    s = rng.random((n, 1))
    y = (rng.random(n) < 0.15 + 0.4 * s[:, 0] ** 2).astype(float)
    return s, y, face_of(moments(s, y, None, [2 * K]), (K,), (1,), 1e-10)


def by_increments(s, y, K):
    """Fitted values by non-negative least squares on increments: another algorithm, for fits below the bound of 1."""
    X = binom.pmf(np.arange(K + 1), K, s)[:, ::-1].cumsum(axis=1)[:, ::-1]
    return X @ nnls(X, y)[0]


@pytest.mark.parametrize("K", [2, 5, 9])
def test_leaving_a_row_out_changes_what_non_negative_least_squares_says(K):
    s, y, face = one_score(80, K, 1)
    found = deletions(face, s, y)
    whole = by_increments(s, y, K)
    assert face.fit.beta.max() < 1 - 1e-6  # so that the bound of 1, which the other algorithm lacks, does not bind
    assert np.allclose(found.fitted, whole, atol=1e-8)
    for i in range(len(y)):
        X = binom.pmf(np.arange(K + 1), K, s)[:, ::-1].cumsum(axis=1)[:, ::-1]
        keep = np.arange(len(y)) != i
        increments = nnls(X[keep], y[keep])[0]
        if increments.sum() > 1 - 1e-9:
            continue
        change = whole[i] - X[i] @ increments
        assert not found.stays[i] or found.change[i] == pytest.approx(change, abs=1e-7)
        again = without(face, binom.pmf(np.arange(K + 1), K, s[i]), y[i])
        assert whole[i] - by_row(again.beta, s[i], K) == pytest.approx(change, abs=1e-7)
        if not found.stays[i]:
            assert abs(found.change[i] - change) > 1e-9


def by_row(beta, x, K):
    return float(binom.pmf(np.arange(K + 1), K, x) @ beta)


def test_leverages_of_the_face_sum_to_its_degrees_of_freedom_and_means_are_by_hand():
    s, y, face = one_score(150, 8, 4)
    found = deletions(face, s, y)
    assert found.leverage.sum() == pytest.approx(face.fit.df, abs=1e-6)
    # two places, no order binding: each fitted value is its mean, h = 1/rows there, change = r / (rows - 1)
    s, y = np.repeat([[0.0], [1.0]], [4, 5], axis=0), np.array([1.0, 0, 0, 0, 1, 1, 1, 1, 0])
    found = deletions(face_of(moments(s, y, None, [2]), (1,), (1,), 0.0), s, y)
    assert np.allclose(found.leverage, np.repeat([1 / 4, 1 / 5], [4, 5]))
    assert np.allclose(found.change, np.r_[(y[:4] - 0.25) / 3, (y[4:] - 0.8) / 4])
    assert found.stays.all()  # also without the only event of the first place, which then just touches its bound


def test_degrees_of_freedom_of_one_score_are_positive_increments_less_one():
    for seed in range(8):
        _, _, face = one_score(60, 12, seed)
        increments = np.diff(np.r_[0.0, face.fit.beta, 1.0])
        assert face.fit.df == np.sum(increments > 1e-9) - 1


def test_a_row_that_alone_decides_its_value_is_said_to():
    s, y = np.array([[0.0], [0.0], [1.0]]), np.array([0.0, 1.0, 1.0])
    w = np.array([1.0, 1.0, 0.5])
    y = np.array([0.2, 0.4, 0.7])  # any responses will do: away from the bounds, nothing is ambiguous
    found = deletions(face_of(moments(s, y, w, [2]), (1,), (1,), 0.0), s, y, w)
    assert found.leverage.round(12).tolist() == [0.5, 0.5, 1.0]
    assert np.isnan(found.change[2]) and found.stays.tolist() == [True, True, False]


def test_effective_rows_of_means_are_rows_and_weights_count_by_their_spread():
    s = np.repeat([[0.0], [1.0]], [7, 12], axis=0)
    G = gram(moments(s, np.zeros(19), None, [2]).T0, (1,))
    assert np.allclose(effective_rows(G, (1,), np.array([[0.0], [1.0]])), [7, 12])
    assert effective_rows(2 * G, (1,), np.array([[0.0]]), rows=0.5)[0] == pytest.approx(7)
    side, places = grid_of_places(2)
    assert places.shape == (len(side) ** 2, 2) and places[1].tolist() == [0.0, side[1]]


def test_learning_curve_of_means_falls_like_one_over_rows():
    # f is the mean of m labels: E (f_a - f_b)^2 / 2 = p (1 - p) / m, drawn without replacement from 2,000 rows
    rng = np.random.default_rng(5)
    y = rng.permutation(np.repeat([0.0, 1.0], [1400, 600]))
    found = learning_curve(lambda parts: np.stack([np.full(2000, y[r].mean()) for r in parts]), y, np.ones(2000), rng,
                           repeats=100)  # fmt: skip
    assert found.slope == pytest.approx(-1, abs=0.12)
    assert np.allclose(found.variance * found.size, 0.21, rtol=0.35)
    assert found.held_out[-1] == pytest.approx(0.21, rel=0.02)


def test_sizes_of_a_learning_curve():
    assert sizes(1000, 0)[[0, -1]].tolist() == [31, 500]
    assert sizes(1000, 72)[0] == 72 and sizes(1000, 500)[0] == 125
    assert sizes(20, 0)[[0, -1]].tolist() == [5, 10]

"""Partial orders: cover pairs, bounds, and least squares under them. Optimality is proven by scipy's nnls."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression, nnls

from isocal.numerics import order_fit, orders
from isocal.numerics.order_fit import fit, laplacian, similarities, smallest_if_not_convex
from isocal.numerics.orders import (
    bitsets,
    collapse,
    cover_pairs,
    ends_of_levels,
    largest_below,
    running_maximum,
    sweep,
)


def bounds_at(points, values, s):
    """Bounds from all points, where the package asks the ends of level sets alone."""
    return largest_below(points, values, s), -largest_below(-points, -values, -s)


def below(points):
    """(n, n) whether row i is below column j, by its definition."""
    return np.all(points[:, None] <= points[None, :], axis=2) & np.any(points[:, None] != points[None, :], axis=2)


def covers_by_definition(points):
    under = below(points)
    between = (under.astype(int) @ under.astype(int)) > 0
    return set(zip(*map(np.ndarray.tolist, np.nonzero(under & ~between))))


def random_points(rng, n, M, decimals=None):
    s = rng.random((n, M)) * 0.5 + rng.random((n, 1)) * 0.5
    return np.unique(s if decimals is None else np.round(s, decimals), axis=0)


@pytest.mark.parametrize("M", [1, 2, 3, 4, 5])
def test_cover_pairs_are_the_transitive_reduction(M):
    rng = np.random.default_rng(M)
    for n, decimals in ((1, 1), (2, 1), (9, 0), (60, 1), (150, 2), (200, None)):
        points = random_points(rng, n, M, decimals)
        wanted = covers_by_definition(points)
        for find in (cover_pairs, bitsets, *([sweep] if M == 2 else [])):
            low, high = find(points)
            assert set(zip(low.tolist(), high.tolist())) == wanted and len(low) == len(wanted)
            assert np.all(low < high)  # lexicographic order is a linear extension


def test_cover_pairs_by_hand():
    points = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    low, high = cover_pairs(points)
    assert sorted(zip(low.tolist(), high.tolist())) == [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]


def test_collapse_by_hand_and_whatever_the_order_of_rows():
    s = np.array([[0.5, 0.5], [0.0, 1.0], [0.5, 0.5], [-0.0, 1.0], [0.5, 0.25]])
    points, weight, mean = collapse(s, np.array([1.0, 0, 0, 0, 1]), np.array([1.0, 2, 3, 1, 0.5]))
    assert points.tolist() == [[0.0, 1.0], [0.5, 0.25], [0.5, 0.5]]
    assert weight.tolist() == [3.0, 0.5, 4.0] and mean.tolist() == [0.0, 1.0, 0.25]
    rng = np.random.default_rng(2)
    s, y, w = np.round(rng.random((300, 2)), 1), rng.integers(0, 2, 300).astype(float), rng.random(300)
    first = collapse(s, y, w)
    for _ in range(3):
        o = rng.permutation(300)
        assert all(np.array_equal(a, b) for a, b in zip(first, collapse(s[o], y[o], w[o])))


@pytest.mark.parametrize("M", [1, 2, 3])
def test_bounds_are_those_of_the_definition(M, monkeypatch):
    monkeypatch.setattr(orders, "CELLS", 500)  # several parts
    rng = np.random.default_rng(M)
    points = random_points(rng, 120, M, 1)
    low, high = cover_pairs(points)
    values = running_maximum(np.round(rng.random(len(points)), 1), low, high)
    s = np.r_[rng.random((60, M)), points, np.zeros((1, M)), np.ones((1, M))]
    lower = [max((v for v, p in zip(values, points) if np.all(p <= x)), default=-np.inf) for x in s]
    upper = [min((v for v, p in zip(values, points) if np.all(p >= x)), default=np.inf) for x in s]
    found = bounds_at(points, values, s)
    assert np.array_equal(found[0], lower) and np.array_equal(found[1], upper)
    first, last = ends_of_levels(values, low, high)
    assert np.array_equal(bounds_at(points[first], values[first], s)[0], lower)
    assert np.array_equal(bounds_at(points[last], values[last], s)[1], upper)
    assert first.sum() < len(points) or M > 1


def test_running_maximum_is_the_smallest_isotone_majorant():
    rng = np.random.default_rng(5)
    points = random_points(rng, 80, 2)
    values = rng.random(80)
    under = below(points) | np.eye(80, dtype=bool)
    wanted = np.where(under, values[:, None], -np.inf).max(axis=0)
    assert np.array_equal(running_maximum(values, *cover_pairs(points)), wanted)


# ------------------------------------------------------------------------------------------------------- least squares


def problem(seed, n=40):
    """(points, c, mean, lam, Omega) of many kinds: tied scores, heavy and light weights, all strengths."""
    rng = np.random.default_rng(seed)
    M = 1 + seed % 4
    s = random_points(rng, n, M)
    s = s if seed % 3 else np.round(s, 1)
    y = (rng.random(n) < (0.5 if seed % 5 else 0.05)).astype(float) if seed % 2 else (rng.random(n) < s.mean(1)) * 1.0
    w = (None, rng.integers(1, 5, n).astype(float), rng.lognormal(0, 2, n))[seed % 7 % 3]
    points, c, mean = collapse(s, y, w)
    return points, c, mean, (0.0, 1e-5, 1e-3, 0.1, 10.0)[seed % 11 % 5], laplacian(similarities(points, c))


def unproven(x, low, high, c, mean, lam, Omega):
    """What non-negative multipliers of the pairs with equal values leave of the gradient: 0 at the solution alone."""
    g = 2 * c * (x - mean) + lam * (Omega @ x)
    active = np.abs(x[high] - x[low]) <= 1e-10
    A = np.zeros((len(x), int(active.sum())))
    A[low[active], np.arange(A.shape[1])] += 1.0
    A[high[active], np.arange(A.shape[1])] -= 1.0
    left = nnls(A, -g)[1] if A.shape[1] else np.linalg.norm(g)
    return left / np.mean(2 * c + lam * np.diag(Omega))


@pytest.mark.parametrize("seed", range(60))
def test_the_optimality_conditions_hold_by_a_separate_solver(seed):
    points, c, mean, lam, Omega = problem(seed)
    low, high = cover_pairs(points)
    found = fit(low, high, c, mean, lam, Omega)
    assert np.all(found.x[high] - found.x[low] >= -1e-12)
    assert unproven(found.x, low, high, c, mean, lam, Omega) <= 1e-9
    assert found.kkt <= 1e-12


def test_a_chain_is_isotonic_regression():
    rng = np.random.default_rng(1)
    mean, c = rng.random(300), rng.lognormal(0, 1, 300)
    found = fit(np.arange(299), np.arange(1, 300), c, mean)
    assert np.max(np.abs(found.x - isotonic_regression(mean, weights=c).x)) <= 1e-12
    assert found.df == len(np.unique(found.x))


def test_df_is_the_divergence():
    for seed in (3, 9):
        points, c, mean, _, Omega = problem(seed, 16)
        mean, (low, high) = np.random.default_rng(seed).random(len(mean)), cover_pairs(points)
        for lam in (0.0, 0.01, 1.0):
            total = 0.0
            for i in range(len(c)):
                bump = 1e-6 * (np.arange(len(c)) == i)
                up, down = (fit(low, high, c, mean + d, lam, Omega).x[i] for d in (bump, -bump))
                total += (up - down) / 2e-6
            assert fit(low, high, c, mean, lam, Omega).df == pytest.approx(total, abs=1e-5)


def test_a_start_does_not_change_the_solution():
    points, c, mean, _, Omega = problem(5, 80)
    low, high = cover_pairs(points)
    at, x = fit(low, high, c, mean, 0.1, Omega), None
    for lam in (1e-6, 1e-3, 10.0, 0.1):
        x = running_maximum(fit(low, high, c, mean, lam, Omega, x).x, low, high)
    assert np.max(np.abs(x - at.x)) <= 1e-12


def test_what_did_not_converge_is_never_reported(monkeypatch):
    points, c, mean, lam, Omega = problem(2)
    low, high = cover_pairs(points)
    monkeypatch.setattr(order_fit, "ROUNDS", 1)
    with pytest.raises(ValueError, match="did not end in 1 rounds: use lam=0"):
        fit(low, high, c, mean, lam, Omega)
    monkeypatch.setattr(order_fit, "ROUNDS", 300)
    monkeypatch.setattr(order_fit, "FAILED", -1.0)
    with pytest.raises(ValueError, match=r"was not solved \(KKT residual"):
        fit(low, high, c, mean, lam, Omega)


def test_many_points_keep_within_the_integers_of_the_flow():
    """An arrow without limit must outlast the sum of all supply: once they were equal, and a block split wrongly."""
    y = np.repeat([0.0, 1, 0, 1], [9, 6, 2, 8])
    found = fit(np.arange(24), np.arange(1, 25), np.ones(25), y)
    assert np.allclose(found.x, np.repeat([0, 0.75, 1], [9, 8, 8]), rtol=0, atol=1e-15)


def test_convexity_by_hand():
    """Three points 0, 1/3, 1: W = 3 [[1, 1, r], [1, 1, 1], [r, 1, 1]] with r = 1/3, smallest eigenvalue
    3 ((2 + r) - sqrt(r^2 + 8))/2.
    """
    points, c = np.array([[0.0], [1 / 3], [1.0]]), np.ones(3)
    W = similarities(points, c)
    assert np.allclose(W, [[3, 3, 1], [3, 3, 1.5], [1, 1.5, 3]])
    points = np.array([[0.0], [0.3], [0.6]])
    r = (1 / 0.6) / 3
    W = similarities(points, c)
    smallest = 3 * ((2 + r) - np.sqrt(r**2 + 8)) / 2
    assert smallest_if_not_convex(c, -1.99 / smallest, W) is None
    assert smallest_if_not_convex(c, 10.0, W) == pytest.approx(2 + 10 * smallest)

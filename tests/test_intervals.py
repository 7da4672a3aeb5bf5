"""Bootstrap intervals against R's package boot and closed forms; edges made monotone; many cone problems at once."""

from pathlib import Path

import exact_solver
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, skew

from isocal.numerics import intervals
from isocal.numerics.basis import design
from isocal.numerics.cone import cone
from isocal.numerics.isotone import isotone_edges
from isocal.numerics.many_qp import solve_each
from isocal.numerics.qp import solve, tie_break

DIAG = Path(__file__).parents[1].parent / "shared" / "reference" / "diag"
R = 1e-12  # agreement with R, both in double precision


@pytest.fixture(scope="module")
def niamey():
    """(differences of squared errors, replicates of their mean, R's values); boot 1.3.28.1, its indices saved."""
    if not DIAG.exists():
        pytest.skip("shared folder is absent")
    d = pd.read_csv(DIAG / "inputs" / "niamey2016_reliabilitydiag.csv")
    index = pd.read_csv(DIAG / "inputs" / "boot_indices_niamey_R999.csv", header=None).to_numpy() - 1
    r = pd.read_csv(DIAG / "outputs" / "paired_comparison_boot.csv")
    r = r[r.case == "niamey_ENS-EMOS"].set_index("quantity").value.astype(float)
    x = ((d.y - d.ENS) ** 2 - (d.y - d.EMOS) ** 2).to_numpy()
    return x, x[index], r


def without_each(x):
    return (x.sum() - x) / (len(x) - 1)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("kind", ["normal", "basic", "percent", "bca", "student"])
def test_intervals_are_those_of_boot(niamey, kind, level):
    x, samples, r = niamey
    t, t0, n = samples.mean(axis=1), x.mean(), len(x)
    found = {
        "normal": lambda: intervals.normal(t, t0, level),
        "basic": lambda: intervals.basic(t, t0, level),
        "percent": lambda: intervals.percentile(t, t0, level),
        "bca": lambda: intervals.bca(t, t0, level, intervals.acceleration(without_each(x))),
        "student": lambda: intervals.studentized(t, t0, level, samples.var(axis=1, ddof=1) / n, x.var(ddof=1) / n),
    }[kind]()
    assert np.array(found) == pytest.approx(np.array([r[f"{kind}_{level}_lo"], r[f"{kind}_{level}_hi"]]), abs=R)


def test_acceleration_is_that_of_boot(niamey):
    x, _, r = niamey
    assert intervals.acceleration(without_each(x)) == pytest.approx(r.bca_a_jack, abs=R)


def test_acceleration_of_a_mean_is_its_skewness_over_six_root_n():
    x = np.random.default_rng(0).exponential(size=50)
    assert intervals.acceleration(without_each(x)) == pytest.approx(skew(x) / (6 * np.sqrt(50)), abs=1e-12)
    assert intervals.acceleration(np.full(5, 2.0)) == 0


def test_quantile_at_and_between_order_statistics():
    t = np.arange(9.0, 0.0, -1)
    assert [intervals.quantile(t, q) for q in (0.1, 0.5, 0.9)] == [1, 5, 9]  # (9 + 1) q is whole
    assert intervals.quantile(t, 0.01) == 1 and intervals.quantile(t, 0.999) == 9
    a, b, c = norm.ppf([0.25, 0.3, 0.5])
    assert intervals.quantile(np.array([5.0, 1.0, 2.0]), 0.3) == pytest.approx(1 + (b - a) / (c - a), abs=1e-14)
    columns = np.stack([t, 2 * t], axis=1)
    assert intervals.quantile(columns, np.array([0.1, 0.5])).tolist() == [1, 10]
    assert np.isnan(intervals.quantile(t, np.nan))


def test_bca_without_bias_and_acceleration_is_the_percentile_interval():
    t = np.random.default_rng(1).normal(size=1000)
    t0 = np.median(t)  # half of the replicates lie below
    found, plain = np.array(intervals.bca(t, t0, 0.9, 0.0)), np.array(intervals.percentile(t, t0, 0.9))
    assert found == pytest.approx(plain, abs=1e-12)
    assert np.isnan(intervals.bca(t, t.min() - 1, 0.9, 0.0)).all()


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_simultaneous_band_holds_just_the_level_of_whole_curves(level):
    rng = np.random.default_rng(2)
    t = np.sort(rng.normal(size=(200, 30)).cumsum(axis=1) / 10 + rng.normal(size=(200, 1)), axis=1)
    low, high = intervals.simultaneous_percentile(t, level)
    assert np.mean(np.all((t >= low) & (t <= high), axis=1)) >= level
    s = np.sort(t, axis=0)
    cut = int(np.searchsorted(s[:, 0], low[0])) + 1
    assert np.mean(np.all((t >= s[cut]) & (t <= s[-cut - 1]), axis=1)) < level
    assert np.all(np.diff(low) >= 0) and np.all(np.diff(high) >= 0)


@pytest.mark.parametrize("kind", ["simultaneous", "pointwise"])
def test_sup_t_holds_the_level_and_bears_a_constant_place(kind):
    t = np.random.default_rng(3).normal(size=(999, 20)) * np.linspace(0.5, 2, 20)
    t[:, 7] = 0.0
    half = intervals.sup_t(t, np.zeros(20), 0.9, kind)
    inside = np.abs(t) <= half
    share = inside.all(axis=1).mean() if kind == "simultaneous" else np.delete(inside.mean(axis=0), 7)
    assert share == pytest.approx(0.9, abs=2e-3)


def test_edges_along_the_partial_order_by_brute_force():
    rng = np.random.default_rng(4)
    places, low, high = rng.integers(0, 4, (40, 3)) / 3, rng.random(40), rng.random(40)
    found = isotone_edges(places, low, high, (1, -1, 0))
    for i, a in enumerate(places):
        below = [j for j, b in enumerate(places) if b[0] <= a[0] and b[1] >= a[1] and b[2] == a[2]]
        above = [j for j, b in enumerate(places) if b[0] >= a[0] and b[1] <= a[1] and b[2] == a[2]]
        assert (found[0][i], found[1][i]) == (max(low[below]), min(high[above]))
    assert isotone_edges(places, low, high, (0, 0, 0)) == (low, high)


def problems(seed, n, K, r, rate):
    """Weighted least squares of r bootstrap samples: G (r, p, p), t (r, p), weights, means."""
    rng = np.random.default_rng(seed)
    s = rng.random((n, len(K)))
    y = (rng.random(n) < rate * s.mean(axis=1)).astype(float)
    X, W = design(s, K), rng.multinomial(n, np.full(n, 1 / n), r).astype(float)
    G, t = np.einsum("ri,ij,ik->rjk", W, X, X), (W * y) @ X
    return G, t, W.sum(axis=1), W @ y / n, (s, y, W)


@pytest.mark.parametrize(
    ("K", "directions", "n", "rate"),
    [((5, 5), (1, 1), 300, 1.0), ((5, 4), (1, -1), 200, 1.9), ((3, 3), (1, 0), 80, 1.0), ((20,), (1,), 300, 1.9),
     ((2, 2, 2), (1, 1, -1), 100, 0.4), ((1,), (1,), 12, 0.3), ((9, 9), (1, 1), 150, 1.0)],
)  # fmt: skip
def test_many_problems_have_the_solutions_of_one_by_one(K, directions, n, rate):
    G, t, weight, mean, _ = problems(5, n, K, 8 if len(K) == 2 and K[0] == 9 else 40, rate)
    limits = cone(tuple(k + 1 for k in K), directions)
    penalty = tie_break(limits.shape, 1e-10)
    found = solve_each(G, t, weight, mean, limits, penalty)
    assert found.kkt.max() < 1e-9 and found.polished.all()
    for j in range(len(t)):
        alone = solve(G[j], t[j], weight[j], mean[j], limits, penalty)
        # the mean loss is what is certain: coefficients off the data hang on the tie-break of 1e-10
        loss = [b @ G[j] @ b - 2 * t[j] @ b for b in (found.beta[j], alone.beta)]
        assert loss[0] == pytest.approx(loss[1], abs=1e-11 * weight[j])
        assert found.beta[j] == pytest.approx(alone.beta, abs=1e-6) and found.df[j] == alone.df


def test_many_problems_against_exact_rational_arithmetic():
    K, n = (3,), 14
    G, t, weight, mean, (s, y, W) = problems(6, n, K, 5, 1.0)
    found = solve_each(G, t, weight, mean, cone((4,), (1,)), None)
    for j in range(5):
        keep = W[j] > 0
        rows = [exact_solver.basis_row(x, K) for x in s[keep]]
        exact = exact_solver.solve(s[keep], y[keep], W[j][keep], K, (1,))
        fitted = [float(exact_solver.value(exact.beta, row)) for row in rows]
        assert design(s[keep], K) @ found.beta[j] == pytest.approx(fitted, abs=1e-9)


def test_many_problems_share_a_gram_matrix_and_bear_one_class():
    G, t, weight, mean, _ = problems(7, 60, (2, 2), 6, 1.0)
    limits = cone((3, 3), (1, 1))
    whole = G[0].sum(axis=1)  # every label one
    T, means = np.stack([np.zeros(9), whole, t[0]]), np.array([0.0, 1.0, mean[0]])
    found = solve_each(G[:1], T, np.full(3, weight[0]), means, limits, tie_break((3, 3), 1e-10))
    assert np.all(found.beta[0] == 0) and np.all(found.beta[1] == 1) and found.df[:2].tolist() == [0, 0]
    assert found.beta[2] == pytest.approx(solve(G[0], t[0], 60.0, mean[0], limits, tie_break((3, 3), 1e-10)).beta)

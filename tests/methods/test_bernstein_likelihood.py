"""Bernstein(loss="log"): closed forms, scipy's SLSQP, and the optimality conditions of the likelihood itself."""

import numpy as np
import pytest
from by_hand import CASES
from hard_cases.cases import HAND
from scipy.optimize import minimize, nnls
from scipy.special import expit
from scipy.stats import binom

import isocal
from isocal.methods import Bernstein
from isocal.numerics.likelihood_fit import derivatives, log_likelihood
from isocal.numerics.moments import gram, rhs

MEANS = [case for case in CASES if "tied" not in case[0]]  # f takes the (pooled) means at the places of these designs
CORNERS = [c for c in HAND if c.fitted and set(np.ravel(c.rows)) <= {0.0, 1.0} and 1e-200 < min(c.weights) < 1e200]
SOLVER = 1e-8


def design(s, K):
    """The Bernstein design by scipy's binomial probabilities, C order."""
    out = np.ones((len(s), 1))
    for m, k in enumerate(K):
        out = np.einsum("np,nk->npk", out, binom.pmf(np.arange(k + 1)[None, :], k, s[:, m : m + 1])).reshape(len(s), -1)
    return out


def constraints(K, directions):
    """(A, c) with A beta <= c: steps in the promised direction, bounds 0 and 1 on every coefficient."""
    shape = [k + 1 for k in K]
    nodes, p = np.arange(np.prod(shape)).reshape(shape), int(np.prod(shape))
    rows = []
    for axis, d in enumerate(directions):
        low, high = (np.take(nodes, range(a, a + K[axis]), axis=axis).ravel() for a in (0, 1))
        rows += [d * (np.eye(p)[i] - np.eye(p)[j]) for i, j in zip(low, high, strict=True) if d]
    A = np.array([*rows, *-np.eye(p), *np.eye(p)]) if rows else np.r_[-np.eye(p), np.eye(p)]
    return A, np.r_[np.zeros(len(rows) + p), np.ones(p)]


def optimality(curve, s, t, w=None):
    """The largest violation of the conditions of maximum likelihood, per unit of weight; t: labels or pseudo-labels."""
    X, beta, w = design(s, curve.K), curve.beta.ravel(), np.ones(len(t)) if w is None else w
    f = X @ beta
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(t > 0, t / f, 0.0) - np.where(t < 1, (1 - t) / (1 - f), 0.0)
    gradient = -X.T @ (w * slope) / w.sum()
    A, c = constraints(curve.K, curve.directions)
    active = A[c - A @ beta < 1e-9]
    return nnls(active.T, -gradient)[1] if len(active) else float(np.linalg.norm(gradient))


def slsqp(s, y, w, K, directions):
    """The largest mean log-likelihood that scipy's SLSQP finds."""
    X, (A, c) = design(s, K), constraints(K, directions)

    def loss(b):
        f = np.clip(X @ b, 1e-12, 1 - 1e-12)
        return -np.sum(w * (y * np.log(f) + (1 - y) * np.log(1 - f))) / w.sum()

    def slope(b):
        f = np.clip(X @ b, 1e-12, 1 - 1e-12)
        return -X.T @ (w * (y / f - (1 - y) / (1 - f))) / w.sum()

    start = np.full(X.shape[1], w @ y / w.sum())
    rules = [{"type": "ineq", "fun": lambda b: c - A @ b, "jac": lambda b: -A}]
    return -minimize(loss, start, jac=slope, constraints=rules, method="SLSQP", options={"ftol": 1e-14}).fun


def rows(seed, n, M, rate=0.4):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 1)) + rng.normal(size=(n, M))
    p = expit(z.sum(axis=1) + np.log(rate / (1 - rate)))
    return expit(z), (rng.random(n) < p).astype(float)


@pytest.mark.parametrize("case", MEANS, ids=lambda c: c[0])
def test_means_that_a_polynomial_reaches_are_the_maximum(case):
    """Pooled means maximise a Bernoulli likelihood as they minimise squares (Ayer et al. 1955)."""
    _, s, y, w, K, beta = case
    assert Bernstein(K=K, loss="log").fit_arrays(s, y, w).beta.ravel() == pytest.approx(beta, abs=SOLVER)


@pytest.mark.parametrize("case", CORNERS, ids=lambda c: c.name)
def test_the_zoo_at_the_corners(case):
    s, y, w = np.array(case.rows), np.array(case.y, dtype=float), np.array(case.weights, dtype=float)
    tie_break = 1e-10 if case.tie_break is None else case.tie_break
    curve = Bernstein(K=case.K, monotone=case.monotone, loss="log", tie_break=tie_break).fit_arrays(s, y, w)
    fitted = np.array([np.nan if v is None else v for v in case.fitted], dtype=float)
    assert np.nanmax(np.abs(curve(s) - fitted)) <= max(case.tolerance, SOLVER)


def test_a_line_by_hand():
    """Degree 1 at s = 0, 1/2, 1 with 1 of 4, 1 of 2, 3 of 4 events: the line .25 + .5 s meets every mean."""
    s, y = np.array([0.0, 0.5, 1.0])[:, None].repeat(2, axis=0), np.tile([1.0, 0.0], 3)
    curve = Bernstein(K=1, loss="log").fit_arrays(s, y, np.array([1.0, 3, 1, 1, 3, 1]))
    assert curve.beta == pytest.approx([0.25, 0.75], abs=1e-10)


CONFIGURATIONS = [
    (1, (5,), "increasing", 0.4), (1, (9,), "decreasing", 0.1), (2, (3, 4), "increasing", 0.4),
    (2, (5, 5), "increasing", 0.05), (2, (3, 3), ("none", "increasing"), 0.9), (2, (4, 3), ("decreasing", "none"), 0.3),
    (3, (2, 2, 2), "increasing", 0.2),
]  # fmt: skip


@pytest.mark.parametrize("M, K, monotone, rate", CONFIGURATIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_against_slsqp_and_the_conditions(M, K, monotone, rate, weighted):
    s, y = rows(3 * M + weighted, 150, M, rate)
    w = np.random.default_rng(1).exponential(size=150) if weighted else np.ones(150)
    curve = Bernstein(K=K, monotone=monotone, loss="log").fit_arrays(s, y, w)
    assert curve.kkt <= 1e-9 and curve.polished
    assert optimality(curve, s, y, w) <= 1e-8
    llf = log_likelihood(curve(s), y, w)
    assert np.isfinite(llf.value) and llf.impossible == 0
    assert llf.value / w.sum() >= slsqp(s, y, w, K, curve.directions) - 1e-7


@pytest.mark.parametrize("seed", range(6))
def test_conditions_hold_where_curvatures_lie_ten_orders_of_magnitude_apart(seed):
    s, y = rows(seed, 300, 2, 0.02)
    w = np.exp(6 * np.random.default_rng(seed).normal(size=300))
    curve = Bernstein(K=5, loss="log").fit_arrays(s, y, w)
    assert curve.kkt <= 1e-9 and optimality(curve, s, y, w) <= 1e-7


@pytest.mark.parametrize("seed", [3, 35, 60, 83])
def test_rare_events_under_weights_twelve_orders_of_magnitude_apart(seed):
    """Where log(1 - f) lost its digits, Newton's method stopped at what looked like a rise of the loss."""
    s, y = rows(seed, 60, 3)[0], np.r_[1.0, 1.0, np.zeros(58)]
    w = 10 ** np.random.default_rng(seed).uniform(-6, 6, 60)
    curve = Bernstein(K=(2, 1, 2), monotone=("increasing", "none", "increasing"), loss="log").fit_arrays(s, y, w)
    assert curve.kkt <= 1e-9 and log_likelihood(curve(s), y, w).impossible == 0


@pytest.mark.parametrize("seed", [512, 832])
def test_a_solver_that_hangs_at_its_own_start_is_started_elsewhere(seed):
    """cvxopt gives up after 100 steps on the first quadratic programme, of four coefficients between 0 and 1."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(80, 1)) + rng.normal(size=(80, 3))
    y, w = (rng.random(80) < expit(1.5 * z.mean(axis=1) - 0.8)).astype(float), rng.integers(1, 4, 80).astype(float)
    s = isocal.transforms.Ecdf.learn(expit(z[:, 0]), w)(expit(z[:, 0]))[:, None]
    w *= np.random.default_rng(seed).multinomial(80, np.full(80, 1 / 80))
    s, y, w = s[w > 0], y[w > 0], w[w > 0]
    curve = Bernstein(K=3, monotone="none", loss="log").fit_arrays(s, y, w)
    assert curve.kkt <= 1e-9 and optimality(curve, s, y, w) <= 1e-8


@pytest.mark.parametrize("t", [0.0, 2.0**-40])
def test_the_loss_keeps_its_digits_where_events_are_rare(t):
    """-log(1 - f) = f + f^2/2 + ...: formed from 1 - f it would be 1e-8 off, relatively, at f = 1e-9."""
    f, s = 1e-9, np.linspace(0, 1, 7)[:, None]
    found = derivatives(np.full(4, f), s, np.full(7, t), None)
    assert found.loss == pytest.approx(7 * ((1 - t) * (f + f**2 / 2) - t * np.log(f)), rel=1e-14, abs=0)
    other = derivatives(np.full(4, 1 - 2.0**-30), s, np.full(7, 1 - t), None)
    assert other.loss == pytest.approx(7 * ((1 - t) * (2.0**-30 + 2.0**-61) + t * 30 * np.log(2)), rel=1e-14, abs=0)


def test_events_and_others_change_places():
    s, y = rows(5, 200, 2, 0.03)
    f = Bernstein(K=4, loss="log").fit_arrays(s, y)
    g = Bernstein(K=4, loss="log").fit_arrays(1 - s, 1 - y)
    assert np.allclose(g(1 - s), 1 - f(s), rtol=0, atol=1e-9)


def test_derivatives_are_those_of_finite_differences():
    s, _ = rows(7, 40, 2)
    t, w = np.random.default_rng(8).random(40), np.random.default_rng(9).exponential(size=40)
    grid = np.sort(np.random.default_rng(2).random(12)).reshape(3, 4)
    X = design(s, (2, 3))
    found = derivatives(grid, s, t, w)

    def loss(b):
        f = X @ b
        return -np.sum(w * (t * np.log(f) + (1 - t) * np.log(1 - f)))

    assert found.loss == pytest.approx(loss(grid.ravel()), rel=1e-12)
    step = 1e-6 * np.eye(12)
    slope = [(loss(grid.ravel() + e) - loss(grid.ravel() - e)) / 2e-6 for e in step]
    assert -rhs(found.score, (2, 3)) == pytest.approx(np.array(slope), rel=1e-6, abs=1e-6)
    f = X @ grid.ravel()
    H = X.T @ (X * (w * (t / f**2 + (1 - t) / (1 - f) ** 2))[:, None])
    assert gram(found.curvature, (2, 3)) == pytest.approx(H, rel=1e-12)


def test_separable_labels_are_certain_and_new_rows_that_contradict_are_counted():
    s, y = np.array([0.0, 0, 0, 1, 1, 1])[:, None], np.array([0.0, 0, 0, 1, 1, 1])
    curve = Bernstein(K=3, loss="log").fit_arrays(s, y)
    assert curve(s).tolist() == y.tolist() and log_likelihood(curve(s), y).value == 0.0
    new = log_likelihood(curve(np.array([[0.0], [1.0], [1.0]])), np.array([1.0, 0.0, 1.0]))
    assert new.value == -np.inf and new.impossible == 2


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_class_is_certain(label):
    s = np.random.default_rng(0).random((20, 2))
    curve = Bernstein(loss="log").fit_arrays(s, np.full(20, label))
    assert set(curve.beta.ravel()) == {label} and curve.df == 0


def test_criteria_use_the_likelihood_of_the_fit():
    s, y = rows(11, 120, 1)
    path = Bernstein(K="bic", loss="log").fit_arrays(s, y).tables()["path"]
    for K in (1, 2, 4):
        llf = 120 * slsqp(s, y, np.ones(120), (K,), (1,))
        assert path["bic"][K - 1] == pytest.approx(-2 * llf + np.log(120) * path["df"][K - 1], abs=1e-3)
        assert path["aic"][K - 1] == pytest.approx(-2 * llf + 2 * path["df"][K - 1], abs=1e-3)
    assert path["bic"][path["chosen"].index("*")] <= min(path["bic"]) * (1 + 1e-6)


def test_results_show_the_loss_and_a_finite_likelihood():
    data = isocal.datasets.simulate_scores(300, M=2, rng=4, truth="rare")
    squares, likelihood = (isocal.bernstein("y ~ s1 + s2", data, K=3, loss=loss).fit() for loss in ("brier", "log"))
    assert likelihood.curve.facts()["Loss"] == "log (maximum likelihood)"
    assert np.isfinite(likelihood.llf) and likelihood.llf > squares.llf
    assert likelihood.aic == pytest.approx(-2 * likelihood.llf + 2 * likelihood.df_model)


def test_fit_many_is_fit_by_fit():
    s, y = rows(2, 90, 2)
    W = np.random.default_rng(1).integers(0, 3, (90, 3)).astype(float)
    recipe = Bernstein(K=3, loss="log")
    for j, curve in enumerate(recipe.fit_many(s, y, W)):
        assert np.allclose(curve(s), recipe.fit_arrays(s, y, W[:, j])(s), rtol=0, atol=1e-9)

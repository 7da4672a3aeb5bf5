"""Many quadratic programmes at once and the parts of folds, against optimality conditions and sums over rows."""

import numpy as np
import pytest
from scipy.stats import binom

from isocal.numerics.block_qp import minima
from isocal.numerics.cone import cone
from isocal.numerics.fold_fits import losses
from isocal.numerics.fold_parts import fold_moments
from isocal.numerics.folds import deal, fold_weights, row_hash
from isocal.numerics.moments import gram, rhs
from isocal.numerics.qp import tie_break


def design(s, K):
    """The n x p design from scipy's binomial probabilities."""
    out = np.ones((len(s), 1))
    for m, k in enumerate(K):
        b = binom.pmf(np.arange(k + 1)[None, :], k, s[:, m : m + 1])
        out = (out[:, :, None] * b[:, None, :]).reshape(len(s), -1)
    return out


def programme(rng, n, K, directions, kind):
    """(P, q, cone, upper) of a fit to simulated rows, scaled as the block solver takes it."""
    truth = rng.normal(size=n)
    s = 1 / (1 + np.exp(-(truth[:, None] + rng.normal(size=(n, len(K))) * (0.2 if kind == "tight" else 1))))
    s = np.round(s, 1) if kind == "ties" else s
    y = truth > 0.2 if kind == "separable" else rng.random(n) < 1 / (1 + np.exp((4 if kind == "rare" else 0) - truth))
    y = y | (truth == truth.max())  # one event at least
    mean = np.mean(y)
    X, c = design(s, K), cone(tuple(k + 1 for k in K), directions)
    G = X.T @ X
    size = np.trace(G) / c.p
    penalty = tie_break(c.shape, 1e-10)
    return G / size + penalty, -X.T @ y / (mean * size) - penalty.sum(axis=1), c, 1 / mean


@pytest.mark.parametrize("kind", ["plain", "ties", "tight", "rare", "separable"])
@pytest.mark.parametrize("K, directions", [((1,), (1,)), ((15,), (-1,)), ((3, 5), (1, -1)), ((9, 9), (1, 1)),
                                           ((6, 4), (1, 0)), ((2, 3, 2), (1, 1, 1))])  # fmt: skip
def test_minima_of_a_block_by_their_optimality_conditions(kind, K, directions):
    """Written out with a dense matrix of the constraints: the four conditions together prove the minimum."""
    rng = np.random.default_rng([len(kind), *K])
    P, q, cones, upper = zip(*[programme(rng, n, K, directions, kind) for n in (40, 200, 3000)], strict=True)
    c = cones[0]
    found = minima(np.array(P), np.array(q), c, np.array(upper))
    identity = np.eye(c.p)
    A = np.vstack([identity[c.low] - identity[c.high], -identity[c.bottom], identity[c.top]])
    for j in range(3):
        x, z = found.x[j], found.multipliers[j]
        slack = np.r_[np.zeros(len(c.low) + len(c.bottom)), np.full(len(c.top), upper[j])] - A @ x
        assert slack.min() >= -1e-12 * upper[j] and z.min() >= 0
        assert np.max(np.abs(P[j] @ x + q[j] + A.T @ z)) <= 2e-12
        assert np.max(np.abs(slack * z)) <= 2e-12
        assert found.kkt[j] <= 2e-12
        alone = minima(P[j][None], q[j][None], c, np.array(upper[j : j + 1]))
        assert np.allclose(alone.x[0], x, rtol=0, atol=1e-6 * upper[j]), "off the data only the tie-break decides"


def test_a_problem_that_cannot_be_solved_leaves_the_others_alone():
    P, q, c, upper = programme(np.random.default_rng(1), 100, (4,), (1,), "plain")
    three = np.array([P, np.full_like(P, np.nan), P])
    found = minima(three, np.array([q, q, q]), c, np.full(3, upper))
    assert np.isinf(found.kkt[1]) and np.all(found.kkt[[0, 2]] < 1e-12)
    assert np.array_equal(found.x[0], found.x[2])


def test_a_hash_knows_its_row_alone():
    rng = np.random.default_rng(12)
    s, y = rng.random((20_000, 2)), rng.integers(0, 2, 20_000)
    some = np.r_[0, 8191, 8192, 8193, 19_999]
    assert np.array_equal(row_hash(y, s)[some], row_hash(y[some], s[some]))
    assert row_hash([1], np.array([[0.0]])) == row_hash([1], np.array([[-0.0]]))


@pytest.mark.parametrize("weights", ["none", "ones", "integers", "fractions"])
@pytest.mark.parametrize("K", [(3,), (2, 4), (1, 2, 1)])
def test_moments_and_losses_of_test_parts_are_sums_over_their_rows(weights, K):
    rng = np.random.default_rng(13)
    s, y = np.round(rng.random((400, len(K))), 2), rng.integers(0, 2, 400).astype(float)
    w = {"none": None, "ones": np.ones(400), "integers": rng.integers(1, 9, 400).astype(float),
         "fractions": rng.random(400)}[weights]  # fmt: skip
    W, X = fold_weights(y, s, w), design(s, K)
    parts = fold_moments(s, y, w, deal(y, s, w), [2 * k for k in K])
    beta = rng.random((5, X.shape[1]))
    direct = [np.sum(W[:, f] * (y - X @ beta[f]) ** 2) for f in range(5)]
    assert losses(beta, parts, K) == pytest.approx(direct, rel=1e-10)
    for f, part in enumerate(parts):
        assert np.allclose(gram(part.T0, K), X.T @ (W[:, f, None] * X), rtol=1e-11, atol=1e-12)
        assert np.allclose(rhs(part.T1, K), X.T @ (W[:, f] * y), rtol=1e-11, atol=1e-12)
        assert (part.n, part.weight) == (np.sum(W[:, f] > 0), pytest.approx(W[:, f].sum()))
        assert part.events == pytest.approx(W[:, f] @ y)

"""Least squares under a partial order: minimise sum c (ybar - x)^2 + lam x' Omega x/2 subject to x[low] <= x[high].

Blocks of points of one value are split where a set of points that is closed upwards would gain by rising; a minimum
cut finds the best such set of every block at once, exactly. Blocks that meet on the way to the new values are joined.
Without Omega that is the recursive partitioning of Maxwell & Muckstadt (1985), doi:10.1287/opre.33.6.1316, and Luss,
Rosset & Shahar (2012), doi:10.1214/11-AOAS504, and nothing is ever joined. Where no set gains, the flow holds the
multipliers: the optimality conditions are proven by it, not believed of a solver. An interior-point method (cvxopt)
takes 3 to 40 times as long and leaves 1e-5 to 1e-9 of error; a round here costs one sweep over Omega, never n^3.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, eigvalsh
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow
from scipy.spatial.distance import cdist

ROUNDS = 300  # of splitting; a dozen is usual
ZOOMS = 6  # flows are integers: what one leaves over is sent again in finer units
UNITS, ENDLESS = 2**28, 2**30  # sum of all capacities but the endless ones; int32 holds sums and differences of both
ROUND_OFF = 1e-13  # of sums over all points, relative
SAME = 1e-12  # values of neighbours that differ by less are one level
FAILED = 1e-8  # KKT residual above which nothing is reported as fitted
MOST_EIGENVALUES = 2000  # points up to which an error names the smallest eigenvalue


@dataclass(frozen=True, eq=False)
class OrderFit:
    """x (n,) non-decreasing; level (n,): number of each point's connected set of equal values; df, the divergence of x
    in ybar; kkt, the largest violation of the optimality conditions (second derivatives of mean 1).
    """

    x: np.ndarray
    level: np.ndarray
    df: float
    kkt: float


@dataclass(frozen=True, eq=False)
class _Problem:
    """c (n,), target = 2 c ybar, lam, Omega (n, n) or None, pairs low and high."""

    low: np.ndarray
    high: np.ndarray
    c: np.ndarray
    target: np.ndarray
    lam: float
    Omega: np.ndarray | None

    def pull(self, x):
        """How much each point gains by rising: minus the gradient."""
        g = self.target - 2 * self.c * x
        return g if self.Omega is None else g - self.lam * (self.Omega @ x)

    def solve(self, block):
        """(values of the points, df) with blocks tied."""
        k = int(block.max()) + 1
        C, t = np.bincount(block, self.c, minlength=k), np.bincount(block, self.target, minlength=k)
        if self.Omega is None:
            return (t / (2 * C))[block], lambda: float(k)
        first = np.r_[0, np.cumsum(np.bincount(block, minlength=k))]
        Z = csr_matrix((np.ones(len(block)), np.argsort(block, kind="stable"), first), shape=(k, len(block)))
        H = self.lam * (Z @ (Z @ self.Omega).T)
        H[np.diag_indices(k)] += 2 * C
        factor = cho_factor(H, check_finite=False)
        v = cho_solve(factor, t, check_finite=False)
        v = v + cho_solve(factor, t - H @ v, check_finite=False)  # iterative refinement
        return v[block], lambda: float(np.trace(cho_solve(factor, np.diag(2 * C), check_finite=False)))


def fit(low, high, c, mean, lam=0.0, Omega=None, start=None):
    """The OrderFit of means (n,) with weights c (n,) > 0 along cover pairs; Omega (n, n) symmetric, or None.

    start (n,): feasible values that lie near, such as those of a slightly different lam. ValueError where the
    optimality conditions are not met in the end.
    """
    Omega = None if lam == 0 else Omega
    problem = _Problem(low, high, c, 2 * c * mean, lam, Omega)
    if start is None:
        x, block = np.full(len(c), (c @ mean) / c.sum()), np.zeros(len(c), dtype=np.intp)
    else:
        x, block = start, _joined(np.arange(len(c)), low, high, start[low] == start[high])
    for _ in range(ROUNDS):
        x, block = _descend(problem, x, block)
        rising, residual = _cut(problem, problem.pull(x), block)
        if rising is None:
            break
        block = np.unique(2 * block + rising, return_inverse=True)[1].ravel()
    else:
        raise ValueError(f"the fit of {len(c):,} points under their order did not end in {ROUNDS} rounds: use lam=0")
    level = _joined(block, low, high, x[high] - x[low] <= SAME)
    x, df = problem.solve(level)
    kkt = residual / np.mean(2 * c + (0.0 if Omega is None else lam * np.diag(Omega)))
    if not kkt <= FAILED:
        raise ValueError(
            f"the fit of {len(c):,} points under their order was not solved (KKT residual {kkt:.1e} > {FAILED}): "
            "use a smaller lam"
        )
    return OrderFit(x, level, df(), float(kkt))


def _joined(block, low, high, tied):
    """Blocks joined along the pairs that are tied, numbered from 0."""
    a, b, k = block[low[tied]], block[high[tied]], int(block.max()) + 1
    return connected_components(csr_matrix((np.ones(len(a)), (a, b)), shape=(k, k)), directed=False)[1][block]


def _descend(problem, x, block):
    """(x, block): from feasible x toward the best values of the blocks; those that meet on the way are joined."""
    while True:
        goal, _ = problem.solve(block)
        a, b = problem.low, problem.high
        falls = goal[a] - goal[b] > ROUND_OFF * max(np.max(np.abs(goal)), np.finfo(float).tiny)
        falls &= block[a] != block[b]
        if not falls.any():
            return goal, block
        a, b, step = a[falls], b[falls], goal - x
        gap, closing = np.maximum(x[b] - x[a], 0.0), step[a] - step[b]
        share = np.where(closing > 0, gap / np.where(closing > 0, closing, 1.0), 0.0)
        nearest = min(share.min(), 1.0)
        x = x + nearest * step
        block = _joined(block, a, b, share <= nearest * (1 + 1e-9) + 1e-15)


def _cut(problem, pull, block):
    """(rising (n,) bool, nan): sets that part some blocks with gain; or (None, largest residual) where there are none.

    The pull is carried upwards along pairs of one block as a flow from points that would rise to points that would
    fall. Where it cannot all be carried, the points that the rest still reaches rise.
    """
    n, k, scale = len(pull), int(block.max()) + 1, np.sum(np.abs(pull))
    inside = block[problem.low] == block[problem.high]
    low, high, size = problem.low[inside], problem.high[inside], np.bincount(block, minlength=k)
    carried, rest = np.zeros(len(low)), pull
    for _ in range(ZOOMS):
        if not np.sum(np.abs(rest)) > ROUND_OFF * scale:
            break
        units = UNITS / np.sum(np.abs(rest))
        graph, flow = _flow(np.rint(rest * units), low, high, carried * units)
        reached = _reached(graph - flow, n)
        count = np.bincount(block, reached, minlength=k)
        gain = np.bincount(block, np.where(reached, pull, 0.0), minlength=k)
        parts = (gain > np.maximum(ROUND_OFF * scale, count / units)) & (count > 0) & (count < size)
        if parts.any():
            return reached & parts[block], np.nan
        carried = np.maximum(carried + np.asarray(flow[low, high]).ravel() / units, 0.0)
        rest = pull - np.bincount(low, carried, minlength=n) + np.bincount(high, carried, minlength=n)
    return None, float(np.max(np.abs(rest), initial=0.0))


def _flow(supply, low, high, back):
    """(capacities, maximum flow) from points of positive to points of negative supply (n,).

    Along pairs there is no limit upwards; downwards, what is carried already may be taken back.
    """
    n = len(supply)
    plus, minus, less = np.flatnonzero(supply > 0), np.flatnonzero(supply < 0), np.flatnonzero(back >= 1)
    rows = np.concatenate([np.full(len(plus), n), minus, low, high[less]])
    columns = np.concatenate([plus, np.full(len(minus), n + 1), high, low[less]])
    limits = [supply[plus], -supply[minus], np.full(len(low), ENDLESS), np.minimum(np.floor(back[less]), ENDLESS)]
    graph = csr_matrix((np.concatenate(limits).astype(np.int32), (rows, columns)), shape=(n + 2, n + 2))
    return graph, maximum_flow(graph, n, n + 1).flow


def _reached(rest, n):
    """(n,) whether a point is reached from the source, node n, along what is left of the capacities."""
    rest.data[rest.data < 0] = 0
    rest.eliminate_zeros()
    out = np.zeros(n + 2, dtype=bool)
    out[breadth_first_order(rest, n, return_predecessors=False)] = True
    return out[:n]


def similarities(points, weight):
    """c_i c_j / max(|S_i - S_j|, 1/n), (k, k): the graph that couples points, n the sum of weights."""
    out = cdist(points, points)
    np.maximum(out, 1.0 / weight.sum(), out=out)
    np.reciprocal(out, out=out)
    out *= weight[:, None]
    out *= weight
    return out


def laplacian(W):
    """D - W, in the place of W; 0 for constants."""
    np.fill_diagonal(W, 0.0)
    total = W.sum(axis=1)
    np.negative(W, out=W)
    np.fill_diagonal(W, total)
    return W


def smallest_if_not_convex(c, lam, Omega):
    """None where the second derivatives 2C + lam Omega are positive definite; else their smallest eigenvalue.

    NaN above 2,000 points, where it takes long.
    """
    H = lam * Omega
    H[np.diag_indices_from(H)] += 2 * c
    try:
        cholesky(H, check_finite=False)
    except LinAlgError:
        if len(H) > MOST_EIGENVALUES:
            return float("nan")
        return float(eigvalsh(H, subset_by_index=[0, 0], check_finite=False)[0])
    return None

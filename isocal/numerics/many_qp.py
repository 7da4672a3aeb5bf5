"""Many cone problems, each with a Gram matrix of its own or all with one, solved exactly and with a proof.

What `qp.solve` does one by one, done for a block of problems in one stroke, because at a few dozen coefficients the
cost is Python's: a primal-dual interior-point method (Mehrotra 1992, doi:10.1137/0802028) finds the active rows, the
normal equations of the level sets make the solution exact, and the optimality conditions are verified. A problem that
misses them goes to `qp.solve`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .basis import along_axes, elevation
from .cone import cone as cone_of
from .cone import running_maximum
from .moments import gram, moment_matrix
from .qp import RANK, ROUNDS, VIOLATION, exact, solve, tie_break
from .sieve import _peaks

ROOM = 1 << 17  # numbers in the matrices of one block, which stay in the cache; a function of p alone
MOST = 80  # coefficients: beyond, arithmetic costs more than Python, and qp.solve does as well
STEPS, GAP = 40, 1e-9  # of the interior-point method; the mean of slack times multiplier at which it stops
PROJECTIONS = 50


@dataclass(frozen=True)
class ManyFits:
    """beta (r, p) in the cone; df (r,); kkt (r,) residuals; polished (r,): False where an interior solution stands."""

    beta: np.ndarray
    df: np.ndarray
    kkt: np.ndarray
    polished: np.ndarray


def solve_each(G, t, weight, mean, cone, penalty=None):
    """Minimise beta' G_j beta / 2 - t_j' beta (+ penalty toward the mean) over the cone for every j.

    G (r, p, p) or (1, p, p), t (r, p), weight (r,), mean (r,) of the responses in [0, 1], penalty (p, p) or None,
    relative to the mean diagonal of G.
    """
    r, step = len(t), max(4, ROOM // cone.p**2)
    one = len(G) == 1
    beta = np.repeat(np.clip(mean, 0.0, 1.0)[:, None], cone.p, axis=1)
    between = (mean > 0.0) & (mean < 1.0)
    df, kkt, polished = np.zeros(r), np.where(between, np.inf, 0.0), np.ones(r, dtype=bool)
    for turned in (False, True):
        mine = np.flatnonzero(between & ((mean > 0.5) == turned)) if cone.p <= MOST else ()
        limits = cone.reversed if turned else cone
        for a in range(0, len(mine), step):
            j = mine[a : a + step]
            g = G if one else G[j]
            right, middle = (g.sum(axis=2) - t[j], 1.0 - mean[j]) if turned else (t[j], mean[j])
            x, df[j], kkt[j] = _block(g, right, middle, limits, penalty)
            beta[j] = 1.0 - x if turned else x
    for j in np.flatnonzero(~(kkt <= exact(cone))):
        fit = solve(G[0 if one else j], t[j], weight[j], mean[j], cone, penalty)
        beta[j], df[j], kkt[j], polished[j] = fit.beta, fit.df, fit.kkt, fit.polished
    grids = running_maximum(beta.reshape(r, *cone.shape), (0, *cone.directions))
    return ManyFits(np.clip(grids, 0.0, 1.0).reshape(r, -1), df, kkt, polished)


def _block(G, t, mean, cone, penalty):
    """(beta, df, kkt) of problems whose mean is at most one half; kkt infinite where the active rows were not found."""
    size = np.trace(G, axis1=1, axis2=2) / cone.p
    bare, q, upper = G / size[:, None, None], -t / (mean * size)[:, None], 1.0 / mean
    P = np.broadcast_to(bare, (len(t), cone.p, cone.p))
    if penalty is not None:
        P, q = P + penalty, q - penalty.sum(axis=1)
    try:
        slack, z = _interior(P, q, cone, upper)
        x, levels, active = _polished(P, q, cone, upper, z > slack)
        multipliers = _multipliers(_times(P, x) + q, cone, active, levels, z)
    except np.linalg.LinAlgError:  # one of them is singular on the way: the others need not suffer
        if len(t) == 1:
            return np.zeros_like(t), np.zeros(1), np.full(1, np.inf)
        parts = np.array_split(np.arange(len(t)), 2)
        found = [_block(G if len(G) == 1 else G[j], t[j], mean[j], cone, penalty) for j in parts]
        return tuple(map(np.concatenate, zip(*found, strict=True)))
    x = _in_order(x, cone, upper)
    kkt = _kkt(P, q, cone, upper, x, multipliers)
    beta = np.where(levels == -2, 1.0, np.minimum(mean[:, None] * x, 1.0))
    return beta, _ranks(bare, levels), np.where(np.isnan(kkt), np.inf, kkt)


def _times(A, x):
    return (A @ x[:, :, None])[:, :, 0]


def _solved(A, b):
    return np.linalg.solve(A, b[:, :, None])[:, :, 0]


def _slack(x, cone, upper):
    """(r, rows) how far each row is from being active."""
    full = np.hstack([x, np.zeros((len(x), 1)), upper[:, None]])
    return full[:, cone.ends[:, 1]] - full[:, cone.ends[:, 0]]


def _difference(cone):
    """(rows, p) matrix A with slack = constant - A x."""
    rows, columns, values, size = cone.signed
    return coo_array((values, (rows, columns)), shape=(size, cone.p)).toarray()


def _weighted_gram(d, cone, A):
    """(r, p, p) A' diag(d_j) A: each row joins two nodes, or one node and a constant."""
    out = np.zeros((len(d), cone.p, cone.p))
    first, second = cone.ends.T
    inside = (first < cone.p) & (second < cone.p)
    out[:, first[inside], second[inside]] = -d[:, inside]  # no row stands twice
    out += out.transpose(0, 2, 1)
    node = np.arange(cone.p)
    out[:, node, node] = d @ (A * A)
    return out


def _interior(P, q, cone, upper):
    """(slack, multipliers) near the solutions: enough to tell which rows are active."""
    A = _difference(cone)
    x = _start(cone)[None, :] * upper[:, None]
    s = _slack(x, cone, upper)
    z = np.ones_like(s)
    todo = np.arange(len(x))
    for _ in range(STEPS):
        dual = _times(P[todo], x[todo]) + q[todo] + z[todo] @ A
        far = (np.mean(s[todo] * z[todo], axis=1) > GAP) | (np.max(np.abs(dual), axis=1) > GAP)
        todo, dual = todo[far], dual[far]
        if not len(todo):
            break
        dx, ds, dz = _direction(P[todo], dual, s[todo], z[todo], cone, A)
        step = 0.995 * _longest(s[todo], ds, z[todo], dz)
        x[todo] += step * dx
        s[todo] += step * ds
        z[todo] += step * dz
    return s, z


def _direction(P, dual, s, z, cone, A):
    """(dx, ds, dz) toward the central path, Mehrotra's predictor corrected."""
    H = P + _weighted_gram(z / s, cone, A)
    pull = z @ A - dual
    ds = -(_solved(H, pull) @ A.T)
    dz = -z - z / s * ds
    step, gap = _longest(s, ds, z, dz), np.mean(s * z, axis=1)
    after = np.mean((s + step * ds) * (z + step * dz), axis=1)
    push = ((after / gap) ** 3 * gap)[:, None] - ds * dz
    dx = _solved(H, pull - (push / s) @ A)
    ds = -(dx @ A.T)
    return dx, ds, (push - z * ds) / s - z


def _longest(s, ds, z, dz):
    """(r, 1) the longest step, at most 1, that keeps slack and multipliers positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = [np.where(d < 0, -v / d, np.inf).min(axis=1) for v, d in ((s, ds), (z, dz))]
    return np.minimum(1.0, np.minimum(*reach))[:, None]


def _start(cone):
    """(p,) a grid strictly inside the cone with upper bound one."""
    grid = np.zeros(cone.shape)
    for axis, d in enumerate(cone.directions):
        step = np.arange(cone.shape[axis]) * (d / max(cone.shape[axis] - 1, 1))
        grid = grid + step.reshape([-1 if a == axis else 1 for a in range(grid.ndim)])
    spread = np.ptp(grid)
    return (0.1 + 0.8 * (grid - grid.min()) / spread if spread > 0 else grid + 0.5).ravel()


def _level_sets(cone, active):
    """(r, p) levels tied by the active rows, from 0; -1 and -2 where tied to the constants. Failed: -3 throughout."""
    r, width = len(active), cone.p + 2
    problem, row = np.nonzero(active)
    ends = problem[:, None] * width + cone.ends[row]
    graph = coo_array((np.ones(len(row), dtype=np.int8), ends.T), shape=(r * width, r * width))
    label = connected_components(graph, directed=False)[1].reshape(r, width)
    levels = label - label.min(axis=1)[:, None]
    zero, one = levels[:, cone.p, None], levels[:, cone.p + 1, None]
    levels = np.where(levels == zero, -1, np.where(levels == one, -2, levels))[:, : cone.p]
    return np.where(zero == one, -3, levels)


def _members(levels):
    """(r, p, c) 0/1 matrices of the free level sets; columns of no set are zero."""
    return (levels[:, :, None] == np.arange(max(levels.max() + 1, 1))).astype(np.float64)


def _polished(P, q, cone, upper, active):
    """(x, levels, active rows): exact on the level sets and feasible, rows that are violated joining the active."""
    levels = _level_sets(cone, active)
    x = _on_levels(P, q, levels, upper)
    todo = np.arange(len(x))
    for _ in range(ROUNDS):
        violated = _slack(x[todo], cone, upper[todo]) < -VIOLATION
        todo, violated = todo[violated.any(axis=1)], violated[violated.any(axis=1)]
        if not len(todo):
            break
        active[todo] |= violated
        levels[todo] = _level_sets(cone, active[todo])
        x[todo] = _on_levels(P[todo], q[todo], levels[todo], upper[todo])
    return x, levels, active


def _on_levels(P, q, levels, upper):
    """The minimiser with the level sets tied."""
    x = np.where(levels == -2, upper[:, None], 0.0)
    Z = _members(levels)
    Zt = np.ascontiguousarray(Z.transpose(0, 2, 1))
    small = Zt @ (P @ Z)
    c = np.arange(Z.shape[2])
    small[:, c, c] += Z.sum(axis=1) == 0
    for _ in range(2):  # the second pass is iterative refinement
        x = x + _times(Z, _solved(small, -_times(Zt, _times(P, x) + q)))
    return x


def _multipliers(g, cone, active, levels, z):
    """Multipliers of the active rows with g + A' lambda = 0 as nearly as projections in turn find them; >= 0.

    The equations are solved through the Laplacian of the graph of active rows, one node of each free set grounded.
    """
    A = _difference(cone)
    Z = _members(levels)
    L = _weighted_gram(active.astype(np.float64), cone, A)
    ground = np.argmax(Z, axis=1)  # the first node of each set
    problem, column = np.nonzero(Z.any(axis=1))
    node = ground[problem, column]
    L[problem, node, node] += 1.0
    inverse = np.linalg.inv(L)
    found = np.where(active, z, 0.0)
    todo = np.arange(len(z))
    for _ in range(PROJECTIONS):
        u = _times(inverse[todo], g[todo] + found[todo] @ A)
        now = np.where(active[todo], found[todo] - u @ A.T, 0.0)
        low = now.min(axis=1) < -exact(cone)
        found[todo] = now
        todo = todo[low]
        if not len(todo):
            break
        found[todo] = np.maximum(found[todo], 0.0)
    return np.maximum(found, 0.0)


def _in_order(x, cone, upper):
    grids = np.reshape(x / upper[:, None], (len(x), *cone.shape))
    return upper[:, None] * np.clip(running_maximum(grids, (0, *cone.directions)), 0.0, 1.0).reshape(x.shape)


def _kkt(P, q, cone, upper, x, multipliers):
    """(r,) the largest of |gradient + A' lambda|, infeasibility and |lambda slack|."""
    slack = _slack(x, cone, upper)
    gradient = _times(P, x) + q + multipliers @ _difference(cone)
    parts = np.hstack([gradient, np.minimum(slack, 0.0), multipliers * slack])
    return np.max(np.abs(parts), axis=1)


def _ranks(G, levels):
    """(r,) degrees of freedom: rank of Z'GZ."""
    Z = _members(levels)
    return np.sum(np.linalg.eigvalsh(Z.transpose(0, 2, 1) @ (G @ Z)) > RANK, axis=1).astype(np.float64)


def fit_rows(s, Y, W, K, directions, strength):
    """(ManyFits, support (r, K_1 + 1, ...)) of one degree: the counterpart of sieve.fit_degree and sieve.node_support.

    s (n, M) in [0, 1], responses Y (n, 1 or r) and weights W (n, 1 or r). One pass over the rows: where all problems
    have the same labels, moments of the events and of the other rows together give both sides.
    """
    r, D = max(Y.shape[1], W.shape[1]), [2 * k for k in K]
    if Y.shape[1] == 1 and np.all((Y == 0) | (Y == 1)):
        event = Y[:, 0] == 1
        T1, rest = (moment_matrix(s[part], W.T[:, part].T, D) for part in (event, ~event))
        T0, t = T1 + rest, _at_nodes(T1, K)
    else:
        T0, t = moment_matrix(s, W, D), moment_matrix(s, W * Y, K)
    weight = np.broadcast_to(W.sum(axis=0), r)
    mean = np.einsum("ij,ij->j", *np.broadcast_arrays(W, Y)) / weight
    limits = cone_of(tuple(k + 1 for k in K), tuple(directions))
    penalty = tie_break(limits.shape, float(strength)) if strength else None
    G = np.stack([gram(part, K) for part in T0])
    fits = solve_each(G, np.broadcast_to(t.reshape(len(t), -1), (r, limits.p)), weight, mean, limits, penalty)
    return fits, np.broadcast_to(_at_nodes(T0, K) / _peaks(tuple(K)), (r, *limits.shape))


def _at_nodes(T, K):
    """(r, K_1 + 1, ...) sums of degree K from those of degree 2K."""
    return np.moveaxis(along_axes(np.moveaxis(T, 0, -1), [elevation(k, 2 * k) for k in K]), -1, 0)

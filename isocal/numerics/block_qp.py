"""Cone problems solved exactly, a block at a time: an interior point tells the active rows, their level sets the rest.

Minimise x'Px/2 + q'x over the cone with upper bound `upper`, P of mean diagonal one and x of order one. With the
coefficients of each level set tied the normal equations are small and their solution exact; rows it violates join the
active ones. Whether it is the minimum is then verified: there must be multipliers >= 0 of the active rows alone that
balance the gradient. Rows whose multipliers are negative leave; a problem for which that leads nowhere goes back to
the interior for a closer look.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpbtrf, dpbtrs
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .cone import running_maximum
from .interior import Points, advance, rows_of

LOOKS = (0.1, 1e-8, 0), (0.03, 1e-10, 2), (0.01, 1e-12, 2), (0.0, 1e-12, 2)  # at interior points in turn: share of
# rows not told apart, gap, steps from the point before
ROUNDS = 4  # of polishing; rows that the level-set solve violates join the active set in each
LEAVING, CLEAR = 3, 0.1  # times that rows may leave: those whose multipliers are at least this share of the lowest
VIOLATION = 1e-12  # a row violated by less is round-off: the running maximum removes it
RANK = 1e-10  # eigenvalues of the level-set Gram above this times the mean Gram diagonal count
FEW = 500  # edges of a graph whose components Python finds before scipy has begun


@dataclass(frozen=True, eq=False)
class Minima:
    """x (r, p) in the cone; levels (r, p): number of each coefficient's level set, -1 and -2 where tied to 0 and to
    the upper bound; multipliers (r, rows); kkt (r,), infinite where no solution was found.
    """

    x: np.ndarray
    levels: np.ndarray
    multipliers: np.ndarray
    kkt: np.ndarray

    def first(self):
        """(x, levels, multipliers, kkt) of the first problem, its level sets numbered without gaps."""
        numbers, levels = np.unique(self.levels[0], return_inverse=True)
        levels = np.where(self.levels[0] < 0, self.levels[0], levels - np.count_nonzero(numbers < 0))
        return self.x[0], levels, self.multipliers[0], float(self.kkt[0])


def exact(cone):
    """KKT residual at which the active set is right, round-off of p sums aside."""
    return 1e-12 * (1 + cone.p / 300)


def minima(P, q, cone, upper):
    """The Minima of r problems: P (r or 1, p, p), q (r, p), upper (r,)."""
    r, rows = len(q), rows_of(cone)
    out = Minima(np.zeros_like(q), np.full(q.shape, -3), np.zeros((r, rows.count)), np.full(r, np.inf))
    points, todo = Points.inside(rows, upper), np.arange(r)
    for look in LOOKS:
        advance(points, P, q, rows, *look)
        _finish(out, todo, P, q, cone, upper, points.sides)
        missed = ~(out.kkt[todo] <= exact(cone))
        if not missed.any():
            break
        todo, points, P, q, upper = todo[missed], points.some(missed), _some(P, missed), q[missed], upper[missed]
    return out


def _finish(out, todo, P, q, cone, upper, sides):
    """Write into out what the active rows lead to that slacks and multipliers, sides (r, 2, rows), tell."""
    active, z, j = sides[:, 1] > sides[:, 0], sides[:, 1], np.arange(len(todo))
    for _ in range(LEAVING):
        *found, multipliers, kkt, joined = _on_face(_some(P, j), q[j], cone, upper[j], active[j], z[j])
        better = kkt < out.kkt[todo[j]]
        into = (out.x, out.levels, out.multipliers, out.kkt)
        for whole, part in zip(into, (*found, np.maximum(multipliers, 0.0), kkt), strict=True):
            whole[todo[j[better]]] = part[better]
        lowest = multipliers.min(axis=1)
        wrong = ~(kkt <= exact(cone)) & (lowest < -exact(cone))
        if not wrong.any():
            break
        active[j] = joined & ~(multipliers < CLEAR * lowest[:, None])
        j = j[wrong]


def _some(P, j):
    return P if len(P) == 1 else P[j]


def _on_face(P, q, cone, upper, active, z):
    """(x in the cone, levels, multipliers, kkt, active rows): the minimum with rows that join the active ones tied.

    Halved where a matrix is singular: the others need not suffer.
    """
    rows = rows_of(cone)
    try:
        x, levels, joined = _polished(P, q, cone, upper, active.copy())
        multipliers = _multipliers(_times(P, x) + q, rows, joined, levels, z)
    except np.linalg.LinAlgError:
        if len(q) == 1:
            return np.zeros_like(q), np.full(q.shape, -3), np.zeros_like(z), np.full(1, np.inf), active
        halves = np.array_split(np.arange(len(q)), 2)
        parts = [_on_face(_some(P, j), q[j], cone, upper[j], active[j], z[j]) for j in halves]
        return tuple(map(np.concatenate, zip(*parts, strict=True)))
    x = _in_order(x, cone, upper)
    kkt = _kkt(P, q, rows, upper, x, np.maximum(multipliers, 0.0))
    return x, levels, multipliers, np.where(np.isnan(kkt), np.inf, kkt), joined


def _times(A, x):
    return (A @ x[:, :, None])[:, :, 0]


def _level_sets(cone, active):
    """(r, p) levels tied by the active rows, from 0; -1 and -2 where tied to the constants. Failed: -3 throughout."""
    r, width = len(active), cone.p + 2
    problem, row = np.nonzero(active)
    label = _components((problem[:, None] * width + cone.ends[row]).T, r * width).reshape(r, width)
    levels = label - label.min(axis=1)[:, None]
    zero, one = levels[:, cone.p, None], levels[:, cone.p + 1, None]
    levels = np.where(levels == zero, -1, np.where(levels == one, -2, levels))[:, : cone.p]
    return np.where(zero == one, -3, levels)


def _components(ends, count):
    """(count,) number of the connected component of each node, in the order of their first nodes."""
    if ends.shape[1] > FEW:
        graph = coo_array((np.ones(ends.shape[1], dtype=np.int8), ends), shape=(count, count))
        return connected_components(graph, directed=False)[1]
    parent = list(range(count))
    for a, b in zip(*ends.tolist(), strict=True):
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    for i, above in enumerate(parent):  # parents come first, so that theirs is a root already
        parent[i] = parent[above]
    return np.unique(parent, return_inverse=True)[1]


def members(levels):
    """(r, p, c) 0/1 matrices of the free level sets; columns of no set are zero."""
    return (levels[:, :, None] == np.arange(max(levels.max() + 1, 1))).astype(np.float64)


def _polished(P, q, cone, upper, active):
    """(x, levels, active rows): exact on the level sets and feasible, rows that are violated joining the active."""
    levels = _level_sets(cone, active)
    x = _on_levels(P, q, levels, upper)
    todo, rows = np.arange(len(x)), rows_of(cone)
    for _ in range(ROUNDS):
        violated = rows.slack(x[todo], upper[todo]) < -VIOLATION
        todo, violated = todo[violated.any(axis=1)], violated[violated.any(axis=1)]
        if not len(todo):
            break
        active[todo] |= violated
        levels[todo] = _level_sets(cone, active[todo])
        x[todo] = _on_levels(_some(P, todo), q[todo], levels[todo], upper[todo])
    return x, levels, active


def _on_levels(P, q, levels, upper):
    """The minimiser with the level sets tied."""
    x = np.where(levels == -2, upper[:, None], 0.0)
    Z = members(levels)
    Zt = np.ascontiguousarray(Z.transpose(0, 2, 1))
    small = Zt @ (P @ Z)
    c = np.arange(Z.shape[2])
    small[:, c, c] += Z.sum(axis=1) == 0
    for _ in range(2):  # the second pass is iterative refinement
        right = -_times(Zt, _times(P, x) + q)
        x = x + _times(Z, np.linalg.solve(small, right[:, :, None])[:, :, 0])
    return x


def _multipliers(g, rows, active, levels, z):
    """(r, rows) multipliers of the active rows with g + A' lambda = 0; the point is optimal if they are >= 0.

    They are not unique for two scores or more: those nearest to z, in units of z itself, so that small ones stay
    positive. The equations are solved through A_A' diag(z) A_A, the Laplacian of the graph of active rows.
    """
    weight = np.where(active, z, 0.0)
    right = g - rows.pull(weight)
    right[~np.isfinite(right).all(axis=1)] = 0.0  # one problem must not spoil the others of the block
    u = dpbtrs(_laplacian(rows, weight, levels), right.reshape(-1), lower=1)[0].reshape(g.shape)
    return weight + weight * rows.rise(u)


def _laplacian(rows, weight, levels):
    """(band + 1, r p) Cholesky factor of A' diag(weight) A, block diagonal, in LAPACK's lower banded storage.

    One node of each free set is tied to the ground: right sides sum to zero on the set, so the tie carries nothing.
    """
    r, p = levels.shape
    bands = np.zeros((max((stride for _, stride, _ in rows.strides), default=0) + 1, r, p))
    bands[0] = rows.weights(weight)
    for low, stride, part in rows.strides:
        bands[stride][:, low] = -weight[:, part]
    first = np.unique(levels + (p + 3) * np.arange(r)[:, None], return_index=True)[1]  # of each level set
    bands[0].reshape(-1)[first[levels.ravel()[first] >= 0]] += 1.0
    factor, info = dpbtrf(bands.reshape(len(bands), r * p), lower=1)
    if info:
        raise np.linalg.LinAlgError("the active rows do not tie what they should")
    return factor


def _in_order(x, cone, upper):
    grids = np.reshape(x / upper[:, None], (len(x), *cone.shape))
    return upper[:, None] * np.clip(running_maximum(grids, (0, *cone.directions)), 0.0, 1.0).reshape(x.shape)


def _kkt(P, q, rows, upper, x, multipliers):
    """(r,) the largest of |gradient + A' lambda|, infeasibility and |lambda slack|."""
    slack = rows.slack(x, upper)
    gradient = _times(P, x) + q - rows.pull(multipliers)
    parts = np.hstack([gradient, np.minimum(slack, 0.0), multipliers * slack])
    return np.max(np.abs(parts), axis=1)


def ranks(G, size, levels):
    """(r,) degrees of freedom: rank of Z'GZ, Z the 0/1 matrix of free level sets, G (r or 1, p, p) of mean diagonal
    size (r,).
    """
    Z = members(levels)
    values = np.linalg.eigvalsh(Z.transpose(0, 2, 1) @ (G @ Z))
    return np.sum(values > RANK * size[:, None], axis=1).astype(np.float64)

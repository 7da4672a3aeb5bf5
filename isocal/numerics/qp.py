"""Least squares over the cone: minimise beta' G beta / 2 - t' beta, exactly and with a proof.

An interior point finds the active set; solving the normal equations on its level sets makes the solution exact; the
optimality conditions (stationarity, feasibility, signs of the multipliers) are then verified here, because "optimal"
from a solver is no proof when the objective is badly scaled. `block_qp` does all that for nearly every problem; this
file does it for the others, from cvxopt's interior point and with rows that leave the active set as well as join it.
Degrees of freedom: Meyer & Woodroofe (2000), the divergence of the projection.
"""

from dataclasses import dataclass
from functools import lru_cache

import cvxopt
import numpy as np
from cvxopt import solvers
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import nnls
from scipy.sparse import coo_array

from .block_qp import RANK, VIOLATION, exact, minima

TOLERANCE = 1e-10  # of the interior-point solve
SIGN = 1e-9  # accepted round-off in multipliers and stationarity, relative to the mean Gram diagonal
ROUNDS = 12  # of polishing; rows that the level-set solve violates join the active set in each
PROJECTIONS, MOST_FOR_NNLS = 50, 300  # rounds; active rows
FAILED = 1e-6  # an unpolished solution with a larger KKT residual is not a fit


@dataclass(frozen=True)
class ConeFit:
    """beta (p,) in the cone; df; kkt, the largest violation of the optimality conditions (Gram diagonal of mean 1);
    levels (p,): number of each coefficient's level set, -1 and -2 where tied to 0 and to 1;
    multipliers (rows of the cone,) of the mean loss; polished: False if the interior solution had to be kept.
    """

    beta: np.ndarray
    df: float
    kkt: float
    levels: np.ndarray
    multipliers: np.ndarray
    polished: bool


def solve(G, t, weight, mean, cone, penalty=None, rough=False):
    """Minimise beta' G beta / 2 - t' beta (+ penalty toward the mean) over the cone.

    G (p, p), t (p,), weight = sum of weights, mean of the response in [0, 1], penalty (p, p) or None, relative to
    the mean diagonal of G. Scaled by hand: the solver sees a mean diagonal of one and a solution of order one.
    rough: where the exact solution is hard to find, the interior one, neither polished nor verified (df, kkt NaN):
    held-out losses are right to about 1e-7, enough to compare degrees, never to be reported as a fit.
    """
    if mean <= 0.0 or mean >= 1.0:
        value = float(np.clip(mean, 0.0, 1.0))
        levels = np.full(cone.p, -1 if value == 0 else -2)
        return ConeFit(np.full(cone.p, value), 0.0, 0.0, levels, np.zeros(len(cone.ends)), True)
    if mean > 0.5:
        fit = solve(G, G.sum(axis=1) - t, weight, 1.0 - mean, cone.reversed, penalty, rough)
        swapped = np.where(fit.levels == -1, -2, np.where(fit.levels == -2, -1, fit.levels))
        e, b = len(cone.low), len(cone.bottom)
        m = fit.multipliers
        back = np.r_[m[:e], m[len(m) - b :], m[e : len(m) - b]]
        return ConeFit(1.0 - fit.beta, fit.df, fit.kkt, swapped, back, fit.polished)
    size = np.trace(G) / cone.p
    bare, q, upper = G / size, -t / (mean * size), 1.0 / mean
    P = bare
    if penalty is not None:
        P, q = bare + penalty, q - penalty.sum(axis=1)  # the second differences of a constant are 0: only the ridge
    found = minima(P[None], q[None], cone, np.array([upper]))
    if found.kkt[0] <= exact(cone):
        x, levels, multipliers, kkt, polished = *found.first(), True
    elif rough:
        x, _, z = _interior(P, q, cone, upper)
        nowhere = np.full(cone.p, -3)
        return ConeFit(mean * _ordered(x, cone, upper), np.nan, np.nan, nowhere, z * (mean * size / weight), False)
    else:
        x, levels, multipliers, kkt, polished = _minimise(P, q, cone, upper)
    beta = np.where(levels == -2, 1.0, np.minimum(mean * x, 1.0))
    return ConeFit(beta, _rank(bare, levels), kkt, levels, multipliers * (mean * size / weight), polished)


def _minimise(P, q, cone, upper):
    """(x, level sets, multipliers, KKT residual, polished?) of the scaled problem."""
    interior, slack, z = _interior(P, q, cone, upper)
    best = _polished(P, q, cone, upper, z > slack, z)
    if best is not None and best[3] <= SIGN:
        return best
    x = _ordered(interior, cone, upper)
    kkt = _kkt(P, q, cone, upper, x, z)
    if not kkt <= FAILED:
        raise ValueError(
            f"the quadratic programme of {cone.p} coefficients was not solved (KKT residual {kkt:.1e} > {FAILED}): "
            "use a smaller K, or tie_break=1e-10 if it was switched off"
        )
    return x, _level_sets(cone, cone.slack(x, upper) <= 1e-9 * upper)[0], z, kkt, False


def _polished(P, q, cone, upper, active, z):
    """The best polished solution from an active set; rows leave and join it until the conditions hold. Or None."""
    best = None
    for _ in range(ROUNDS):
        found = _polish(P, q, cone, upper, active)
        if found is None:
            break
        x, levels, active = found
        g = P @ x + q
        multipliers = _multipliers(g, cone, active, levels, z)
        x = _ordered(x, cone, upper)
        kkt = _kkt(P, q, cone, upper, x, multipliers)
        if best is None or kkt < best[3]:
            best = x, levels, multipliers, kkt, True
        leaving = active & _moves_apart(-(g + cone.transpose(multipliers)), cone)
        if kkt <= exact(cone) or not leaving.any():
            break
        active = active & ~leaving
    return best


def _moves_apart(direction, cone):
    """Rows that a direction leaves. What non-negative multipliers leave of the gradient is, reversed, a direction of
    descent that violates no active row (it is a projection on their cone): rows it leaves should not be active.
    """
    full = np.r_[direction, 0.0, 0.0]
    return full[cone.ends[:, 1]] - full[cone.ends[:, 0]] > 1e-3 * np.max(np.abs(direction))


def _ordered(x, cone, upper):
    return upper * cone.restore(x / upper).ravel() if upper != 1 else cone.restore(x).ravel()


@lru_cache(maxsize=64)
def _constraints(cone):
    rows, columns, values, size = cone.signed
    return cvxopt.spmatrix(values.tolist(), rows.tolist(), columns.tolist(), (size, cone.p))


def _interior(P, q, cone, upper):
    """(x, slack, multipliers) of cvxopt's interior-point method; the options are per call, never global."""
    options = {"show_progress": False, "maxiters": 100} | dict.fromkeys(("abstol", "reltol", "feastol"), TOLERANCE)
    h = np.zeros(len(cone.ends))
    h[len(h) - len(cone.top) :] = upper
    A, b, c = _constraints(cone), cvxopt.matrix(h), cvxopt.matrix(q)
    for ridge, kktsolver in ((0.0, "chol2"), (0.0, "ldl"), (1e-8, "chol2")):
        try:
            found = solvers.qp(
                cvxopt.matrix(P + ridge * np.eye(cone.p) if ridge else P), c, A, b, kktsolver=kktsolver, options=options
            )
        except (ArithmeticError, ValueError):  # a singular Gram matrix: the ridge only helps to find the active set
            continue
        if found["x"] is not None and found["z"] is not None:
            return tuple(np.array(found[a]).ravel() for a in "xsz")
    raise ValueError("the quadratic programme could not be started: the Gram matrix is singular; use tie_break=1e-10")


def _level_sets(cone, active):
    """Levels (p,) tied by the active rows, numbered from 0; -1 and -2 where tied to the constants. And their count."""
    parent = list(range(cone.p + 2))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in cone.ends[active].tolist():
        parent[root(a)] = root(b)
    labels = np.array([root(i) for i in parent])
    if labels[cone.p] == labels[cone.p + 1]:
        return None, 0
    number = np.full(cone.p + 2, -3)
    number[labels[cone.p]], number[labels[cone.p + 1]] = -1, -2
    free = np.unique(labels[number[labels] == -3])
    number[free] = np.arange(len(free))
    return number[labels[: cone.p]], len(free)


def _polish(P, q, cone, upper, active):
    """(x, levels, active rows) with x exact on its level sets and feasible up to round-off, or None."""
    for _ in range(ROUNDS):
        levels, count = _level_sets(cone, active)
        if levels is None:
            return None
        x = np.where(levels == -2, upper, 0.0)
        if count:
            Z = (levels[:, None] == np.arange(count)).astype(float)
            ZPZ = Z.T @ (P @ Z)
            for _ in range(2):  # the second pass is iterative refinement
                x = x + Z @ _solve(ZPZ, -Z.T @ (P @ x + q))
        violated = cone.slack(x, upper) < -VIOLATION
        if not violated.any():
            return x, levels, active
        active = active | violated
    return None


def _solve(A, b):
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(A, b, rcond=None)[0]


def _multipliers(g, cone, active, levels, z):
    """Multipliers >= 0 of the active rows with g + A' lambda = 0 as nearly as there are any.

    They are not unique for two scores or more: the active rows are linearly dependent. Projections in turn on the
    equations and on the orthant, from the solver's; non-negative least squares where those do not settle.
    """
    out = np.zeros(len(z))
    if not active.any():
        return out
    first, second = cone.ends[active].T
    factor = cho_factor(_grounded_laplacian(cone, first, second, levels), check_finite=False)
    lagrange = z[active]
    for _ in range(PROJECTIONS):
        out[active] = lagrange
        u = np.r_[cho_solve(factor, g + cone.transpose(out), check_finite=False), 0.0, 0.0]
        lagrange = lagrange - (u[first] - u[second])
        if lagrange.min() >= -exact(cone):
            break
        lagrange = np.maximum(lagrange, 0.0)
    out[active] = lagrange
    wrong = out.min() < -exact(cone) or np.max(np.abs(g + cone.transpose(out))) > exact(cone)
    if wrong and len(lagrange) <= MOST_FOR_NNLS:
        rows, columns, values, size = cone.signed
        A = coo_array((values, (rows, columns)), shape=(size, cone.p)).toarray()[active]
        out[active] = nnls(A.T, -g)[0]
    return np.maximum(out, 0.0)


def _grounded_laplacian(cone, first, second, levels):
    """A_A' A_A, the Laplacian of the graph of active rows, with one node of each free level set tied to the ground.

    The right sides it is solved for sum to zero on each level set, so that the tie carries nothing.
    """
    L = np.zeros((cone.p + 2, cone.p + 2))
    L[first, second] = -1.0  # no row stands twice
    L = L + L.T
    L[np.diag_indices_from(L)] = -L.sum(axis=1)
    number, ground = np.unique(levels, return_index=True)
    ground = ground[number >= 0]
    L[ground, ground] += 1.0
    return L[: cone.p, : cone.p]


def _kkt(P, q, cone, upper, x, multipliers):
    """The largest of |gradient + A' lambda|, infeasibility, -lambda and |lambda slack|."""
    slack = cone.slack(x, upper)
    parts = [P @ x + q + cone.transpose(multipliers), np.minimum(slack, 0), np.minimum(multipliers, 0)]
    return float(max(np.max(np.abs(v), initial=0.0) for v in [*parts, multipliers * slack]))


def _rank(G, levels):
    """Degrees of freedom: rank of Z'GZ, Z the 0/1 matrix of free level sets, G of mean diagonal one."""
    count = levels.max(initial=-1) + 1
    if count == 0:
        return 0.0
    Z = (levels[:, None] == np.arange(count)).astype(float)
    return float(np.sum(np.linalg.eigvalsh(Z.T @ G @ Z) > RANK))


@lru_cache(maxsize=32)
def tie_break(shape, strength):
    """Second differences along each axis plus a ridge, (p, p): settles coefficients that no row identifies."""
    p = int(np.prod(shape))
    out = np.eye(p)
    for axis, size in enumerate(shape):
        if size > 2:
            D = np.diff(np.eye(size), n=2, axis=0)
            before, after = int(np.prod(shape[:axis])), int(np.prod(shape[axis + 1 :]))
            out += np.kron(np.kron(np.eye(before), D.T @ D), np.eye(after))
    return strength * out

"""Many cone problems, each with a Gram matrix of its own or all with one, solved exactly and with a proof.

What `qp.solve` does one by one, done for a block of problems in one stroke (`block_qp`), because at a few dozen
coefficients the cost is Python's. A problem that misses the optimality conditions goes to `qp.solve`.
"""

from dataclasses import dataclass

import numpy as np

from .basis import along_axes, elevation
from .block_qp import exact, minima, ranks
from .cone import cone as cone_of
from .cone import running_maximum
from .moments import gram, moment_matrix
from .qp import solve, tie_break
from .sieve import _peaks

ROOM = 1 << 17  # numbers in the matrices of one block, which stay in the cache; a function of p alone
LEAST, LARGEST = 6, 1 << 21  # problems of a block, all rows and five folds, unless so many numbers are too many


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
    r, step = len(t), max(1, min(LEAST, LARGEST // cone.p**2), ROOM // cone.p**2)
    one = len(G) == 1
    beta = np.repeat(np.clip(mean, 0.0, 1.0)[:, None], cone.p, axis=1)
    between = (mean > 0.0) & (mean < 1.0)
    df, kkt, polished = np.zeros(r), np.where(between, np.inf, 0.0), np.ones(r, dtype=bool)
    for turned in (False, True):
        mine = np.flatnonzero(between & ((mean > 0.5) == turned))
        limits = cone.reversed if turned else cone
        for a in range(0, len(mine), step):
            j = mine[a : a + step]
            g = G if one or len(j) == r else G[j]
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
    P, q, upper = G / size[:, None, None], -t / (mean * size)[:, None], 1.0 / mean
    if penalty is not None:
        P += penalty
        q -= penalty.sum(axis=1)
    found = minima(P, q, cone, upper)
    beta = np.where(found.levels == -2, 1.0, np.minimum(mean[:, None] * found.x, 1.0))
    return beta, ranks(G, size, found.levels), found.kkt


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

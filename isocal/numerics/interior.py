"""Interior points of cone problems, a block at a time: which rows of the cone are nearly active, and which are not.

Minimise x'Px/2 + q'x over A x <= (0, .., 0, upper, .., upper) by a primal-dual method (Mehrotra 1992,
doi:10.1137/0802028, with the centrality correction of Gondzio 1996, doi:10.1007/BF00249643). Its iterates stay near
the central path, so that slacks and multipliers part early and a rough solve tells the active set; how rough depends
on the rows, for with many of them the order is a matter of small differences. At a few dozen coefficients the cost is
Python's, shared by the block; beyond, it is one Cholesky factor of P + A'WA a step.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotrf, dpotrs

STEPS = 40
NEAR = 1e-3  # mean of slack times multiplier, and dual residual, below which they may tell the active set
APART = 10.0  # ratio of slack and multiplier from which a row is told
SHORT, AHEAD = 0.995, 0.3  # share of the way to the boundary; how much longer the step is that the correction aims at
SPREAD = 0.1  # products of slack and multiplier are corrected that lie below this share of their mean, or as far above
DENSE = 64  # coefficients up to which a dense matrix of the rows beats slices of the grid
CORRECTED = 60  # coefficients from which a correction costs less than the steps it saves
BY_ROW = 90  # coefficients from which two triangular solves are quicker than LAPACK's one


class Rows:
    """The rows of a cone as differences of slices of the coefficient grid, for blocks x (r, p), v (r, rows)."""

    def __init__(self, cone):
        self.shape, self.p, self.count = cone.shape, cone.p, len(cone.ends)
        nodes, whole = np.arange(cone.p).reshape(cone.shape), [slice(None)] * len(cone.shape)
        self.steps, self.strides, self.start, at = [], [], _start(cone), 0
        for axis, d in enumerate(cone.directions):
            if d == 0:
                continue
            low, high = (tuple(whole[:axis] + [part] + whole[axis + 1 :]) for part in (slice(-1), slice(1, None)))
            size = nodes[low].size
            ends = (low, high) if d > 0 else (high, low)
            self.steps.append((*((..., *part) for part in ends), slice(at, at + size), nodes[low].shape))
            self.strides.append((nodes[low].ravel(), int(np.prod(cone.shape[axis + 1 :])), slice(at, at + size)))
            at += size
        none = [np.zeros(0, dtype=np.intp)]
        self.inside = slice(at)
        self.beside = np.concatenate([low * self.p + low + stride for low, stride, _ in self.strides] or none)
        ends = [[slice(None) if d == 0 else slice(1) if d == sign else slice(-1, None) for d in cone.directions]
                for sign in (1, -1)]  # fmt: skip
        self.bounds = []
        for part in ends:
            size = nodes[tuple(part)].size
            self.bounds.append(((..., *part), slice(at, at + size), nodes[tuple(part)].shape))
            at += size
        self.upper = np.zeros(at)
        self.upper[self.bounds[1][1]] = 1.0
        self.matrix = self._rise(np.eye(self.p)).T.copy() if self.p <= DENSE else None
        self.sizes = None if self.matrix is None else np.abs(self.matrix)

    def slack(self, x, upper):
        """(r, rows) how far each row is from being active."""
        return self.rise(x) + upper[:, None] * self.upper

    def rise(self, x):
        """-A x, (r, rows)."""
        return self._rise(x) if self.matrix is None else x @ self.matrix.T

    def pull(self, v):
        """-A'v, (r, p): what multipliers v subtract from the gradient."""
        return self._gather(v, -1) if self.matrix is None else v @ self.matrix

    def weights(self, v):
        """(r, p) sum of v over the rows of each coefficient, the diagonal of A'diag(v)A."""
        return self._gather(v, 1) if self.matrix is None else v @ self.sizes

    def _rise(self, x):
        r, out = len(x), np.empty((len(x), self.count))
        grid = x.reshape(r, *self.shape)
        for first, second, rows, shape in self.steps:
            np.subtract(grid[second], grid[first], out=out[:, rows].reshape(r, *shape))
        (bottom, low, _), (top, high, _) = self.bounds
        out[:, low] = grid[bottom].reshape(r, -1)
        np.negative(grid[top].reshape(r, -1), out=out[:, high])
        return out

    def _gather(self, v, sign):
        r = len(v)
        grid = np.zeros((r, *self.shape))
        for first, second, rows, shape in self.steps:
            part = v[:, rows].reshape(r, *shape)
            grid[second] += part
            if sign < 0:
                grid[first] -= part
            else:
                grid[first] += part
        (bottom, low, below), (top, high, above) = self.bounds
        grid[bottom] += v[:, low].reshape(r, *below)
        grid[top] += sign * v[:, high].reshape(r, *above)
        return grid.reshape(r, -1)


def _start(cone):
    """(p,) a grid strictly inside the cone with upper bound one."""
    grid = np.zeros(cone.shape)
    for axis, d in enumerate(cone.directions):
        step = np.arange(cone.shape[axis]) * (d / max(cone.shape[axis] - 1, 1))
        grid = grid + step.reshape([-1 if a == axis else 1 for a in range(grid.ndim)])
    spread = np.ptp(grid)
    return (0.1 + 0.8 * (grid - grid.min()) / spread if spread > 0 else grid + 0.5).ravel()


@lru_cache(maxsize=128)
def rows_of(cone):
    """The Rows of a cone."""
    return Rows(cone)


@dataclass(frozen=True, eq=False)
class Points:
    """Of r problems: x (r, p); sides (r, 2, rows) > 0, the slack of each row and its multiplier; advanced in place."""

    x: np.ndarray
    sides: np.ndarray

    @classmethod
    def inside(cls, rows, upper):
        """A start far from every row; upper (r,)."""
        x = rows.start * upper[:, None]
        slack = rows.slack(x, upper)
        return cls(x, np.stack([slack, np.ones_like(slack)], axis=1))

    def some(self, j):
        """Those of problems j."""
        return Points(self.x[j], self.sides[j])


def advance(points, P, q, rows, share, gap, least):
    """Steps until at most that share of p rows is neither active nor clearly not, or slacks times multipliers <= gap.

    P (r or 1, p, p) of mean diagonal one, q (r, p); least: steps to take in any case. A problem whose matrix is no
    longer positive definite stays.
    """
    matrices = list(P) if len(P) > 1 else [P[0]] * len(q)
    room, todo, x, sides = np.empty((len(q), rows.p, rows.p)), np.arange(len(q)), points.x, points.sides
    for taken in range(STEPS):
        gradient = np.array([A @ v for A, v in zip(matrices, x, strict=True)]) + q
        total, w = np.einsum("ij,ij->i", sides[:, 0], sides[:, 1]), sides[:, 1] / sides[:, 0]
        stays = (total <= NEAR * rows.count) & (taken >= least)
        if stays.any():
            told = np.count_nonzero((w < APART) & (w > 1 / APART), axis=1) <= share * rows.p
            stays &= (told | (total <= gap * rows.count)) & (_residual(gradient, sides, rows) <= NEAR)
        factors = _factors(room, matrices, w, stays, rows)
        if stays.any():
            points.x[todo], points.sides[todo], on = x, sides, ~stays
            todo, x, sides, q, gradient, total, w = (a[on] for a in (todo, x, sides, q, gradient, total, w))
            matrices = [A for A, go in zip(matrices, on, strict=True) if go]
            if not len(todo):
                return
        dx, move = _direction(gradient, sides, total, w, factors, rows)
        step = np.minimum(1.0, SHORT / _reach(sides, move))
        x += step[:, None] * dx
        move *= step[:, None, None]
        sides += move
    points.x[todo], points.sides[todo] = x, sides


def _residual(gradient, sides, rows):
    """(r,) largest entry of the gradient that multipliers leave."""
    return np.abs(gradient - rows.pull(sides[:, 1])).max(axis=1)


def _factors(room, matrices, w, stays, rows):
    """Cholesky factors of P + A' diag(w) A, of those that go on; stays where there is none."""
    beside, on, found = w[:, rows.inside], rows.weights(w), []
    for k in np.flatnonzero(~stays):
        H = room[k]
        H[:] = matrices[k]
        flat = H.reshape(-1)
        flat[rows.beside] -= beside[k]  # the half that is read
        flat[:: rows.p + 1] += on[k]
        L, stays[k] = dpotrf(H.T, lower=1, overwrite_a=1, clean=0)
        if not stays[k]:
            found.append(L)
    return found


def _solved(factors, b):
    """The factors' systems for b (r, p), which is overwritten."""
    for k, L in enumerate(factors):
        b[k] = dpotrs(L, b[k], lower=1)[0] if len(L) < BY_ROW else dtrsv(L, dtrsv(L, b[k], lower=1), lower=1, trans=1)
    return b


def _direction(gradient, sides, total, w, factors, rows):
    """(dx, changes of the sides) toward the central path: a predictor, the corrector, and one of stray products."""
    s, z = sides[:, 0], sides[:, 1]

    def toward(push=None):
        """The Newton step after which s z is push s, to first order; 0 without push."""
        dx = _solved(factors, -gradient if push is None else rows.pull(push) - gradient)
        move = np.empty_like(sides)
        ds = move[:, 0] = rows.rise(dx)
        move[:, 1] = (-z if push is None else push - z) - w * ds
        return dx, move

    _, move = toward()
    step = np.minimum(1.0, 1.0 / _reach(sides, move))
    then = sides + step[:, None, None] * move
    mean = ((np.einsum("ij,ij->i", then[:, 0], then[:, 1]) / total) ** 3 * total / rows.count)[:, None]
    push = (mean - move[:, 0] * move[:, 1]) / s
    dx, move = toward(push)
    if rows.p < CORRECTED:
        return dx, move
    reach = _reach(sides, move)
    then = sides + np.minimum(1.0, SHORT / reach + AHEAD)[:, None, None] * move
    product = then[:, 0] * then[:, 1]
    stray = np.maximum(np.clip(product, SPREAD * mean, mean / SPREAD) - product, -mean / SPREAD)
    other_dx, other = toward(push + stray / s)
    better = _reach(sides, other) < reach
    return np.where(better[:, None], other_dx, dx), np.where(better[:, None, None], other, move)


def _reach(sides, move):
    """(r,) one over the longest step that keeps slacks and multipliers from falling below zero; at least 1e-300."""
    return np.maximum((move / sides).reshape(len(sides), -1).min(axis=1) * -1.0, 1e-300)

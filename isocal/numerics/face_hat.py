"""What one row does to a least-squares fit over the cone while the set of active constraints stays: its face.

On its face a fit is linear: f = H y + constant with H = X Z (Z'X'WXZ)^-1 Z'X'W, Z the 0/1 matrix of free level sets.
Without row i its own fitted value moves by r_i h_i / (1 - h_i), exactly while the face stays optimal; whether it does
is checked here row by row. Cook (1977), doi:10.1080/00401706.1977.10489493.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import nnls

from .basis import design
from .cone import cone
from .moments import gram, rhs
from .qp import solve, tie_break
from .sieve import fit_degree, node_support

CHUNK = 1024
SUPPORTED = 1e-3  # weight at a node relative to its peak below which its coefficient is the tie-break's
VIOLATION = 1e-6  # of a constraint, or of a multiplier in units of a row whose residual is one
ALONE = 1 - 1e-9  # a row of this leverage alone decides its fitted value
PROJECTIONS = 60  # rounds, before non-negative least squares settles what is left


@dataclass(frozen=True, eq=False)
class Face:
    """G, penalty (p, p) and t (p,) of the normal equations (G + penalty) beta = t + penalty 1 mean; fit, its ConeFit;
    shape and directions of the coefficient grid; support (p,); weight and mean of the rows.
    """

    G: np.ndarray
    t: np.ndarray
    penalty: np.ndarray
    fit: object
    shape: tuple
    directions: tuple
    support: np.ndarray
    weight: float
    mean: float
    strength: float

    @property
    def K(self):
        """Degree of each score."""
        return tuple(size - 1 for size in self.shape)

    @property
    def cone(self):
        """The constraints."""
        return cone(self.shape, self.directions)

    @cached_property
    def members(self):
        """Z (p, d): which coefficients make up each free level set."""
        levels = self.fit.levels
        return (levels[:, None] == np.arange(levels.max(initial=-1) + 1)).astype(np.float64)

    @cached_property
    def inverse(self):
        """(Z'(G + penalty)Z)^-1, (d, d)."""
        Z = self.members
        return np.linalg.inv(Z.T @ (self.G + self.penalty) @ Z) if Z.shape[1] else np.zeros((0, 0))

    @cached_property
    def active(self):
        """(rows of the cone,) True where both ends of a constraint lie in one level set."""
        levels = np.r_[self.fit.levels, -1, -2]
        ends = levels[self.cone.ends]
        return ends[:, 0] == ends[:, 1]

    @cached_property
    def gradient(self):
        """(p,) derivative of half the penalised sum of squares at the fit."""
        return self.G @ self.fit.beta - self.t + self.penalty @ (self.fit.beta - self.mean)

    def conditions(self, beta):
        """{condition of optimality: size of its violation} at beta (p,), for the mean loss."""
        multipliers = self.fit.multipliers
        slack = self.cone.slack(beta, 1.0)
        gradient = self.G @ beta - self.t + self.penalty @ (beta - self.mean)
        return {
            "stationarity": float(np.max(np.abs(gradient / self.weight + self.cone.transpose(multipliers)))),
            "infeasibility": float(max(0.0, -slack.min())),
            "negative multiplier": float(max(0.0, -multipliers.min(initial=0.0))),
            "complementary slackness": float(np.max(np.abs(multipliers * slack), initial=0.0)),
            "duality gap": float(abs(multipliers @ slack)),
        }


def face_of(sums, K, directions, strength):
    """The Face of the fit of degrees K from moments."""
    sums = sums.lower([2 * k for k in K])
    fit, G = fit_degree(sums, K, directions, strength), gram(sums.T0, K)
    shape = tuple(k + 1 for k in K)
    penalty = tie_break(shape, float(strength)) * (np.trace(G) / len(G)) if strength else np.zeros_like(G)
    support = node_support(sums, K).ravel()
    mean = sums.events / sums.weight
    return Face(G, rhs(sums.T1, K), penalty, fit, shape, tuple(directions), support, sums.weight, mean, strength)


@dataclass(frozen=True, eq=False)
class Deletions:
    """Per row (n,): fitted; leverage h; change of its own fitted value when it is left out (fitted - without);
    stays: whether the active set does, so that change is exact.
    """

    fitted: np.ndarray
    leverage: np.ndarray
    change: np.ndarray
    stays: np.ndarray


def deletions(face, s, y, w=None):
    """Every row left out in turn, on the face of the fit, chunk by chunk."""
    parts = []
    for a in range(0, len(y), CHUNK):
        rows = slice(a, a + CHUNK)
        X = design(s[rows], face.K)
        parts.append(_deleted(face, X, y[rows], np.ones(len(X)) if w is None else w[rows]))
    return Deletions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _deleted(face, X, y, w):
    Z, R = face.members, face.inverse
    XZ = X @ Z
    fitted = X @ face.fit.beta
    h = np.minimum(w * np.einsum("ij,jk,ik->i", XZ, R, XZ), 1.0)
    rest = np.where(h < ALONE, 1 - h, np.nan)
    residual = y - fitted
    change = residual * h / rest
    pull = X.T * np.nan_to_num(w * residual / rest)  # (p, rows): what leaves the normal equations
    move = -(Z @ (R @ (Z.T @ pull)))
    stays = np.isfinite(rest) & _feasible(face, move)
    stays[stays] = _optimal(face, face.gradient[:, None] + (face.G + face.penalty) @ move[:, stays] + pull[:, stays])
    return fitted, h, change, stays


def _feasible(face, move):
    """(rows,) whether the inactive constraints between supported nodes still hold after each move (p, rows)."""
    support = np.r_[face.support, np.inf, np.inf]
    ends = face.cone.ends[~face.active]
    ends = ends[np.all(support[ends] >= SUPPORTED, axis=1)]
    full = np.vstack([face.fit.beta[:, None] + move, np.zeros(move.shape[1]), np.ones(move.shape[1])])
    return np.all(full[ends[:, 1]] - full[ends[:, 0]] >= -VIOLATION, axis=0)


def _optimal(face, gradient):
    """(rows,) whether some multipliers >= 0 of the active constraints balance each gradient (p, rows)."""
    if not face.active.any() or not gradient.shape[1]:
        return np.max(np.abs(gradient), axis=0, initial=0.0) <= VIOLATION
    limits = face.cone
    first, second = limits.ends[face.active].T
    A = np.zeros((len(first), limits.p + 2))
    A[np.arange(len(first)), first] = 1.0
    A[np.arange(len(first)), second] -= 1.0
    A = A[:, : limits.p]
    factor = cho_factor(A.T @ A + _ground(face.fit.levels))
    found = np.repeat(face.fit.multipliers[face.active][:, None] * face.weight, gradient.shape[1], axis=1)
    todo = np.arange(gradient.shape[1])
    good = np.zeros(len(todo), dtype=bool)
    for _ in range(PROJECTIONS):
        found[:, todo] -= A @ cho_solve(factor, gradient[:, todo] + A.T @ found[:, todo])
        done = found[:, todo].min(axis=0) >= -VIOLATION
        good[todo[done]] = True
        todo = todo[~done]
        if not len(todo):
            return good
        found[:, todo] = np.maximum(found[:, todo], 0.0)
    blocks = _blocks(A, face.fit.levels)
    for j in todo:
        good[j] = all(
            nnls(A[np.ix_(rows, nodes)].T, -gradient[nodes, j])[1] <= VIOLATION
            for rows, nodes in blocks
            if found[rows, j].min() <= 0.0
        )
    return good


def _blocks(A, levels):
    """[(active constraints, coefficients)] of each level set: their multipliers balance apart from one another."""
    level = levels[np.argmax(A != 0, axis=1)]
    return [(np.flatnonzero(level == v), np.flatnonzero(levels == v)) for v in np.unique(level)]


def _ground(levels):
    """Ties one node of each free level set to the ground: A'A + this is invertible on what the rows can balance."""
    number, first = np.unique(levels, return_index=True)
    return np.diag(np.isin(np.arange(len(levels)), first[number >= 0]).astype(np.float64))


def without(face, x, y, w=1.0):
    """ConeFit without a row of design x (p,), solved anew."""
    weight = face.weight - w
    if weight <= 0:
        return None
    G, t = face.G - w * np.outer(x, x), face.t - w * y * x
    mean = float(np.clip((face.mean * face.weight - w * y) / weight, 0.0, 1.0))
    penalty = tie_break(face.shape, float(face.strength)) if face.strength else None
    mean = 0.0 if mean < 1e-12 else 1.0 if mean > 1 - 1e-12 else mean
    return solve(G, t, weight, mean, face.cone, penalty)

"""Logistic regression of labels on logits with normal priors about their mean, averaged by marginal likelihood.

How far intercept and slopes may leave the mean logit is learned: where it is calibrated the fit stays near it, where
it is not the priors give way. All priors are fitted at once, as one array of coefficients.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

SPREADS = (0.05, 0.2, 0.8, 3.0)  # standard deviations of the priors
MANY = 50_000  # rows; above, priors hardly matter and only the widest is taken
STEPS, HALVINGS = 100, 40
GRADIENT = 1e-10  # converged: largest component relative to weight x the column's largest value + prior precision
STALLED = 1e-6  # enough where round-off lets no step improve the posterior
ROUND_OFF = 1e-13  # of the loss, that a step may seem to lose
CHUNK = 8_192


@dataclass(frozen=True, eq=False)
class PoolFit:
    """coef (M + 1,), intercept first, the mean over priors; cov (M + 1, M + 1) of the posterior, NaN for a slope of 0;
    df, coefficients determined by the data; spreads (G, 2) of the priors, level and contrast; weights (G,) of them.
    """

    coef: np.ndarray
    cov: np.ndarray
    df: float
    spreads: np.ndarray
    weights: np.ndarray


def fit_pool(X, t, w):
    """The PoolFit of targets t (n,) in [0, 1] on logits X (n, M), weights w (n,); no slope b_m is negative.

    Priors: intercept N(0, u^2), sum of the slopes N(1, u^2), differences from the mean slope N(0, v^2) each; u and v
    run over SPREADS. Each prior's weight is its marginal likelihood by Laplace's approximation at the mode.
    """
    M = X.shape[1]
    spreads = np.array([(u, v) for u, v in product(SPREADS, SPREADS if M > 1 else (1.0,))])
    if np.count_nonzero(w) > MANY:
        spreads = spreads[-1:]
    Z, mean, precision = np.column_stack([np.ones(len(t)), X]), np.r_[0.0, np.full(M, 1.0 / M)], _precision(spreads, M)
    problem = _Problem(Z, t, w, mean, precision)
    coef, loss, information = _modes(problem)
    evidence = (np.linalg.slogdet(precision)[1] - np.linalg.slogdet(information)[1]) / 2 - loss
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    return _averaged(coef, information, precision, spreads, weights)


def _precision(spreads, M):
    """(G, M + 1, M + 1) of the priors."""
    u, v = spreads.T[:, :, None, None] ** -2.0
    common = np.full((M, M), 1.0 / M)
    out = np.zeros((len(spreads), M + 1, M + 1))
    out[:, 0, 0] = u[:, 0, 0]
    out[:, 1:, 1:] = u * M * common + v * (np.eye(M) - common)
    return out


@dataclass(frozen=True, eq=False)
class _Problem:
    """Design Z (n, p), targets t, weights w, the priors' mean (p,) and precisions (G, p, p)."""

    Z: np.ndarray
    t: np.ndarray
    w: np.ndarray
    mean: np.ndarray
    precision: np.ndarray

    def at(self, coef):
        """(minus log posterior (G,), its gradient (G, p), its second derivatives (G, p, p)) at coef (G, p)."""
        away = coef - self.mean
        gradient, curvature = np.einsum("gpq,gq->gp", self.precision, away), self.precision.copy()
        loss, p = np.einsum("gp,gp->g", gradient, away) / 2, len(self.mean)
        for a in range(0, len(self.t), CHUNK):
            Z, t, w = self.Z[a : a + CHUNK], self.t[a : a + CHUNK, None], self.w[a : a + CHUNK, None]
            eta = Z @ coef.T
            small = np.exp(-np.abs(eta))
            q = np.where(eta > 0, 1.0, small) / (1.0 + small)
            loss += np.sum(w * (np.log1p(small) + np.maximum(eta, 0.0) - t * eta), axis=0)
            gradient += (w * (q - t)).T @ Z
            pairs = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), p * p)
            curvature += ((w * q * (1 - q)).T @ pairs).reshape(-1, p, p)
        return loss, gradient, curvature


def _modes(problem):
    """(coef (G, p), minus log posterior (G,), second derivatives (G, p, p)) at the modes with slopes >= 0.

    Newton's method: each step goes toward the minimum of the quadratic approximation over slopes >= 0.
    """
    coef = np.tile(problem.mean, (len(problem.precision), 1))
    prior = np.einsum("gpp->gp", problem.precision)
    unit, now = problem.w.sum() * np.max(np.abs(problem.Z), axis=0) + prior, problem.at(coef)
    for _ in range(STEPS):
        if _left(coef, now[1], unit) <= GRADIENT:
            break
        coef, now, moved = _advance(problem, coef, now, _nearest(coef, *now[1:]) - coef)
        if not moved:
            break
    if not _left(coef, now[1], unit) <= STALLED:
        raise ValueError(
            f"pooled logistic regression did not converge in {STEPS} steps, relative gradient "
            f"{_left(coef, now[1], unit):.1e}: look for weights many orders of magnitude apart"
        )
    return coef, now[0], now[2]


def _left(coef, gradient, unit):
    """Largest relative component of the gradients (G, p), those that press a slope of 0 further down aside."""
    held = (coef <= 0) & (gradient > 0)
    held[:, 0] = False
    return float(np.max(np.where(held, 0.0, np.abs(gradient) / unit)))


def _nearest(coef, gradient, curvature):
    """(G, p) minima of the quadratic approximations at coef over slopes >= 0: the best feasible one of all faces."""
    G, p = coef.shape
    right, best, out = np.einsum("gpq,gq->gp", curvature, coef) - gradient, np.full(G, np.inf), np.zeros((G, p))
    for slopes in product((True, False), repeat=p - 1):
        free = np.r_[True, slopes]
        found = np.zeros((G, p))
        part = curvature[:, free][:, :, free]
        found[:, free] = np.linalg.solve(part, right[:, free, None])[:, :, 0]
        value = -np.einsum("gp,gp->g", right, found)
        better = (value < best) & np.all(found[:, 1:] >= 0, axis=1)
        best[better], out[better] = value[better], found[better]
        if free.all() and better.all():
            break
    return out


def _advance(problem, coef, now, step):
    """(coef, values there, whether any moved): per prior the longest of step, step / 2, ... that is no worse."""
    size, open_, moved = np.ones(len(coef)), np.ones(len(coef), dtype=bool), False
    out, found = coef.copy(), tuple(part.copy() for part in now)
    for _ in range(HALVINGS):
        trial = np.where(open_[:, None], coef + size[:, None] * step, out)
        there = problem.at(trial)
        better = open_ & (there[0] <= now[0] + ROUND_OFF * np.abs(now[0]))
        moved |= bool(np.any(trial[better] != coef[better]))
        out[better] = trial[better]
        for part, new in zip(found, there, strict=True):
            part[better] = new[better]
        open_ &= ~better
        if not open_.any():
            break
        size[open_] /= 2
    return out, found, moved


def _averaged(coef, information, precision, spreads, weights):
    """The PoolFit of modes (G, p); a slope of 0 has no variance."""
    mean, held = weights @ coef, coef <= 0
    held[:, 0] = False
    free = ~(held[:, :, None] | held[:, None, :])
    inside = np.linalg.inv(np.where(free, information, 0.0) + np.eye(len(mean)) * held[:, :, None]) * free
    away = coef - mean
    cov = np.einsum("g,gpq->pq", weights, inside) + (away.T * weights) @ away
    df = weights @ (np.sum(~held, axis=1) - np.einsum("gpq,gpq->g", inside, precision))
    nothing = np.r_[False, mean[1:] == 0]
    cov[nothing, :] = cov[:, nothing] = np.nan
    return PoolFit(mean, cov, float(df), spreads, weights)

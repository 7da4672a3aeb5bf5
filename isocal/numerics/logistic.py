"""Logistic regression by Newton's method, for fractional targets and case weights, slopes held non-negative or not."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import expit

STEPS = 100
GRADIENT = 1e-12  # converged: largest gradient component per unit of weight, columns standardised
STALLED = 1e-10  # enough where round-off lets no step improve the likelihood
SINGULAR = 1e-13  # eigenvalues of the information below this share of the largest are zero
TINY = 1e-12  # logits are of scores clipped to [TINY, 1 - TINY]
MANY, SAMPLE = 50_000, 10_000  # above MANY rows Newton starts from the fit of every (n / SAMPLE)-th row


@dataclass(frozen=True)
class LogisticFit:
    """coef (p,) intercept first; cov (p, p) inverse observed information, NaN for coefficients held at 0 and, where
    collinear columns leave coefficients undetermined, altogether; rank: number of coefficients determined.
    """

    coef: np.ndarray
    cov: np.ndarray
    rank: int


def clipped_logit(s):
    """log s - log(1 - s) of scores clipped to [1e-12, 1 - 1e-12]."""
    s = np.clip(s, TINY, 1 - TINY)
    return np.log(s) - np.log1p(-s)


def smoothed_targets(y, w):
    """Platt's targets: (n+ + 1)/(n+ + 2) for events, 1/(n- + 2) for the rest, n+ and n- sums of weights."""
    events, others = float(np.sum(w[y == 1])), float(np.sum(w[y != 1]))
    return np.where(y == 1, (events + 1) / (events + 2), 1 / (others + 2))


def fit_logistic(X, t, w, intercept=True, offset=0.0, non_negative=False):
    """Maximise sum w [t log p + (1 - t) log(1 - p)], p = expit(offset + c + X b); X (n, k), t in [0, 1].

    Columns are centred (with an intercept) and scaled inside, so that shifted or stretched scores do not matter;
    a constant column gets slope 0; of coefficients that collinear columns leave undetermined the standardised ones
    are the smallest. non_negative: every slope >= 0. Raises ValueError where Newton's method does not converge.
    """
    k, share = X.shape[1], w / w.sum()
    center = share @ X if intercept else np.zeros(k)
    Z = X - center
    scale = np.sqrt(share @ Z**2)
    free = scale > 1e-13 * np.maximum(np.abs(center), np.max(np.abs(X), axis=0, initial=0))
    scale = np.where(free, scale, 1.0)
    Z = np.column_stack([np.ones(len(t))] * intercept + [Z / scale])
    allowed = np.r_[np.ones(int(intercept), dtype=bool), free]
    offset = np.broadcast_to(np.asarray(offset, dtype=np.float64), t.shape)
    problem = Problem(Z, t, share, offset)
    coef, allowed = _bounded(problem, allowed, int(intercept)) if non_negative else (_best(problem, allowed), allowed)
    cov, rank = _covariance(problem, coef, allowed, w.sum())
    back = np.diag(np.r_[np.ones(int(intercept)), 1 / scale])  # to the original columns
    if intercept:
        back[0, 1:] = -center / scale
    return LogisticFit(back @ coef, _transformed(back, cov), rank)


@dataclass(frozen=True)
class Problem:
    """Design Z (n, p), targets t, weights that sum to one, offset (n,): the mean log-likelihood and its derivatives."""

    Z: np.ndarray
    t: np.ndarray
    w: np.ndarray
    offset: np.ndarray

    def thinned(self):
        """Every so many rows of a large problem."""
        step = len(self.t) // SAMPLE
        w = self.w[::step]
        return Problem(self.Z[::step], self.t[::step], w / w.sum() if w.any() else w, self.offset[::step])

    def loss(self, coef):
        """Minus the mean log-likelihood."""
        eta = self.offset + self.Z @ coef
        return float(self.w @ (np.logaddexp(0.0, eta) - self.t * eta))

    def slope(self, coef):
        """(p (n,), gradient of the mean log-likelihood)."""
        p = expit(self.offset + self.Z @ coef)
        return p, self.Z.T @ (self.w * (self.t - p))

    def information(self, p):
        """Minus the matrix of second derivatives where the probabilities are p."""
        return (self.Z.T * (self.w * p * (1 - p))) @ self.Z


def _best(problem, allowed):
    """Coefficients (p,), zero where not allowed, of the largest likelihood."""
    part = Problem(problem.Z if allowed.all() else problem.Z[:, allowed], problem.t, problem.w, problem.offset)
    start = np.zeros(part.Z.shape[1])
    if len(part.t) > MANY:
        found, gradient = _newton(part.thinned(), start)
        near = np.max(np.abs(gradient), initial=0.0) <= 1e-6 and part.loss(found) < part.loss(start)
        start = found if near else start
    found, gradient = _newton(part, start)
    steepest = float(np.max(np.abs(gradient), initial=0.0))
    if not steepest <= STALLED:
        raise ValueError(
            f"logistic regression did not converge in {STEPS} steps (gradient {steepest:.1e} per unit of weight): scores "
            "that (almost) part the labels, or weights many orders of magnitude apart, have no finite best fit"
        )
    out = np.zeros(len(allowed))
    out[allowed] = found
    return out


def _newton(problem, coef):
    """(coefficients, gradient) where Newton's method with step halving stops."""
    p, gradient = problem.slope(coef)
    for _ in range(STEPS):
        if np.max(np.abs(gradient), initial=0.0) <= GRADIENT:
            break
        step = _inverse(problem.information(p))[0] @ gradient
        found = _advance(problem, coef, step)
        if found is None:
            break
        coef, p, gradient = found
    return coef, gradient


def _advance(problem, coef, step):
    """(coefficients, p, gradient) after the longest of step, step/2, ... that does not lower the likelihood."""
    loss = None
    for k in range(40):
        trial = coef + 0.5**k * step
        if np.array_equal(trial, coef):
            return None
        p, gradient = problem.slope(trial)
        if gradient @ step >= 0:  # still uphill: the log-likelihood is concave, so it has risen up to here
            return trial, p, gradient
        loss = problem.loss(coef) if loss is None else loss
        if problem.loss(trial) <= loss:
            return trial, p, gradient
    return None


def _inverse(H):
    """(pseudo-inverse, rank) of a positive semi-definite matrix."""
    if not len(H):
        return H, 0
    values, vectors = np.linalg.eigh(H)
    good = values > SINGULAR * values[-1]
    return (vectors[:, good] / values[good]) @ vectors[:, good].T, int(good.sum())


def _covariance(problem, coef, allowed, total):
    """(inverse observed information of the allowed coefficients, NaN elsewhere; rank)."""
    p, _ = problem.slope(coef)
    inverse, rank = _inverse(problem.information(p)[np.ix_(allowed, allowed)])
    cov = np.full((len(coef),) * 2, np.nan)
    if rank == allowed.sum():
        cov[np.ix_(allowed, allowed)] = inverse / total
    return cov, rank


def _transformed(back, cov):
    """back cov back', where a NaN (held) coefficient is known to be zero but keeps its NaN variance."""
    held = np.isnan(np.diag(cov))
    out = back @ np.where(np.isnan(cov), 0.0, cov) @ back.T
    out[held, :] = out[:, held] = np.nan
    return out


def _bounded(problem, allowed, first):
    """(coef, allowed) of the best fit with non-negative slopes: every subset of slopes where dropping is not enough."""
    always = np.arange(len(allowed)) < first
    chosen = allowed
    coef = _best(problem, chosen)
    while np.any(coef[first:] < 0):
        chosen = chosen & (always | (coef >= 0))
        coef = _best(problem, chosen)
    at_zero = allowed & ~chosen
    if not at_zero.any() or np.all(problem.slope(coef)[1][at_zero] <= 1e-9):
        return coef, chosen
    best = (problem.loss(coef), coef, chosen)
    for some in product([True, False], repeat=len(allowed) - first):
        mask = allowed & (always | np.r_[np.zeros(first, dtype=bool), some])
        trial = _best(problem, mask)
        if np.all(trial[first:] >= 0):
            best = min(best, (problem.loss(trial), trial, mask), key=lambda found: found[0])
    return best[1:]


def separable(x, y):
    """Whether a threshold on x (n,) parts the labels y, ties at it aside: then no finite slope is best."""
    events, others = x[y == 1], x[y == 0]
    if not len(events) or not len(others):
        return True
    if x.min() == x.max():
        return False
    return bool(others.max() <= events.min() or events.max() <= others.min())

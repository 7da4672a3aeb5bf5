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
MANY, SAMPLE = 50_000, 10_000  # above MANY rows Newton starts from the fit of every (n / SAMPLE)-th row,
NEAR = 0.1  # unless the gradient of all rows is larger than this there
CHUNK = 8_192


@dataclass(frozen=True)
class LogisticFit:
    """coef (p,) intercept first; cov (p, p) inverse observed information, NaN for coefficients held at 0 and, where
    collinear columns leave coefficients undetermined, altogether; rank: number of coefficients determined.
    """

    coef: np.ndarray
    cov: np.ndarray
    rank: int


def clipped_logit(s, low=TINY, high=1 - TINY):
    """log s - log(1 - s) of scores clipped to [low, high], by default [1e-12, 1 - 1e-12]."""
    s = np.clip(s, low, high)
    return np.log(s) - np.log1p(-s)


def edges(x):
    """(low, high) at which logits of scores like x (n,) in [0, 1] are clipped: half as far from 0 and 1 as any is.

    A score of exactly 0 or 1 is a rounded one (votes of 100 trees, deciles): as a logit of 27.6 it would outweigh all
    other rows. Where nothing lies between, 1e-12 from 0 and 1.
    """
    inner = x[(x > TINY) & (x < 1 - TINY)]
    if not len(inner):
        return TINY, 1 - TINY
    return max(TINY, float(inner.min()) / 2), 1 - max(TINY, (1 - float(inner.max())) / 2)


def smoothed_targets(y, w):
    """Platt's targets: (n+ + 1)/(n+ + 2) for events, 1/(n- + 2) for the rest, n+ and n- sums of weights."""
    events, others = float(w @ y), float(w @ (1 - y))
    return np.where(y == 1, (events + 1) / (events + 2), 1 / (others + 2))


def fit_logistic(X, t, w, intercept=True, offset=0.0, non_negative=False):
    """Maximise sum w [t log p + (1 - t) log(1 - p)], p = expit(offset + c + X b); X (n, k), t in [0, 1].

    Columns are centred (with an intercept) and scaled inside, so that shifted or stretched scores do not matter;
    a constant column gets slope 0; of coefficients that collinear columns leave undetermined the standardised ones
    are the smallest. non_negative: every slope >= 0. Raises ValueError where Newton's method does not converge.
    """
    first, share = int(intercept), w / w.sum()
    Z = np.ones((len(t), first + X.shape[1]), order="F")  # by columns: products are much faster
    center = share @ X if intercept else np.zeros(X.shape[1])
    np.subtract(X, center, out=Z[:, first:])
    scale = np.sqrt([share @ column**2 for column in Z[:, first:].T])
    free = scale > 1e-13 * np.maximum(np.abs(center), np.max(np.abs(X), axis=0, initial=0))
    scale = np.where(free, scale, 1.0)
    Z[:, first:] /= scale
    allowed = np.r_[np.ones(first, dtype=bool), free]
    offset = np.broadcast_to(np.asarray(offset, dtype=np.float64), t.shape)
    problem = Problem(Z, t, share, offset)
    coef, allowed = _bounded(problem, allowed, first) if non_negative else (_best(problem, allowed), allowed)
    cov, rank = _covariance(problem, coef, allowed, w.sum())
    back = np.diag(np.r_[np.ones(first), 1 / scale])  # to the original columns
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

    def of_rows(self, rows):
        """The same for a slice of rows."""
        return Problem(self.Z[rows], self.t[rows], self.w[rows], self.offset[rows])

    def thinned(self):
        """About SAMPLE rows, at equal steps."""
        few = self.of_rows(slice(None, None, len(self.t) // SAMPLE))
        return Problem(few.Z, few.t, few.w / max(few.w.sum(), np.finfo(np.float64).tiny), few.offset)

    def loss(self, coef):
        """Minus the mean log-likelihood."""
        eta = self.offset + self.Z @ coef
        return float(self.w @ (np.logaddexp(0.0, eta) - self.t * eta))

    def derivatives(self, coef):
        """(gradient (p,), minus second derivatives (p, p)) of the mean log-likelihood, in chunks that fit the cache."""
        gradient, information = np.zeros(len(coef)), np.zeros((len(coef),) * 2)
        for start in range(0, len(self.t), CHUNK):
            part = self.of_rows(slice(start, start + CHUNK))
            p = expit(part.offset + part.Z @ coef)
            gradient += part.Z.T @ (part.w * (part.t - p))
            information += (part.Z.T * (part.w * p * (1 - p))) @ part.Z
        return gradient, information


def _best(problem, allowed):
    """Coefficients (p,), zero where not allowed, of the largest likelihood."""
    part = Problem(problem.Z if allowed.all() else problem.Z[:, allowed], problem.t, problem.w, problem.offset)
    start = np.zeros(part.Z.shape[1])
    if len(part.t) > MANY:
        found, _ = _newton(part.thinned(), start)
        start = found if _size(part.derivatives(found)[0]) < NEAR else start
    found, gradient = _newton(part, start)
    if not _size(gradient) <= STALLED:
        raise ValueError(
            f"logistic regression did not converge in {STEPS} steps, gradient {_size(gradient):.1e} a unit of weight: "
            "look for scores that almost part the labels, or weights many orders of magnitude apart"
        )
    out = np.zeros(len(allowed))
    out[allowed] = found
    return out


def _size(gradient):
    return float(np.max(np.abs(gradient), initial=0.0))


def _newton(problem, coef):
    """(coefficients, gradient) where Newton's method with step halving stops."""
    gradient, information = problem.derivatives(coef)
    for _ in range(STEPS):
        if _size(gradient) <= GRADIENT:
            break
        found = _advance(problem, coef, gradient, _inverse(information)[0] @ gradient)
        if found is None:
            break
        coef, gradient, information = found
    return coef, gradient


def _advance(problem, coef, before, step):
    """(coefficients, gradient, information) after the longest of step, step/2, ... that brings the maximum nearer.

    Where the gradient still points ahead a concave log-likelihood has risen; a small gradient halved is progress too;
    only otherwise the likelihoods themselves are compared.
    """
    loss = None
    for k in range(40):
        trial = coef + 0.5**k * step
        if np.array_equal(trial, coef):
            return None
        gradient, information = problem.derivatives(trial)
        if gradient @ step >= 0 or (_size(before) < 1e-3 and _size(gradient) <= _size(before) / 2):
            return trial, gradient, information
        loss = problem.loss(coef) if loss is None else loss
        if problem.loss(trial) <= loss:
            return trial, gradient, information
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
    inverse, rank = _inverse(problem.derivatives(coef)[1][np.ix_(allowed, allowed)])
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
    if not at_zero.any() or np.all(problem.derivatives(coef)[0][at_zero] <= 1e-9):
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

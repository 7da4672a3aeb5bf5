"""Maximum likelihood over the cone: the Bernoulli log-likelihood of a Bernstein polynomial, by Newton's method.

Each step is a quadratic programme of the form that least squares solves: with responses t in [0, 1] the second
derivative of -[t log f + (1 - t) log(1 - f)] in f is t/f^2 + (1 - t)/(1 - f)^2, for labels the weights w/f^2 at
y = 1 and w/(1 - f)^2 at y = 0 with working responses 2f and 2f - 1. Both derivatives enter through their Bernstein
moments, so no n x p design is formed. The optimality conditions verified are those of the likelihood, not of the last
quadratic programme. f = 0 or 1 at the optimum is legitimate: where no row contradicts it.
"""

from dataclasses import dataclass, replace

import numpy as np

from .basis import elevate
from .moments import _blocks as blocks
from .moments import _product as product
from .moments import gram, rhs
from .newton_qp import newton_step
from .qp import FAILED, SIGN

STEPS = 60
SHARES = (1.0, 0.8, *0.5 ** np.arange(1.0, 40.0))  # of a step that are tried
FALL = 0.2  # a whole step that leaves less of the probability of what a row saw goes too far for its model
CLOSE = 0.99  # probabilities whose distance from 1 is computed anew
INWARD = 0.01  # share of the mean in the start, which every row then finds possible
ROUND_OFF = 1e-12  # relative change of the loss
ENOUGH, ROUGH, NEAR = 1e-11, 1e-7, 1e-5  # KKT residuals: of a fit, of one to compare degrees, of one to be polished


@dataclass(frozen=True, eq=False)
class LikelihoodFit:
    """beta (p,) in the cone; df; kkt, the largest violation of the conditions of the likelihood; polished: the last
    quadratic programme was solved exactly.
    """

    beta: np.ndarray
    df: float
    kkt: float
    polished: bool


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Of minus the log-likelihood: loss; curvature and score, moments of degree 2K of its second and minus its first
    derivative in f, None where the loss is infinite; f, 1 - f (2, n) at the rows.
    """

    loss: float
    curvature: np.ndarray | None
    score: np.ndarray | None
    at_rows: np.ndarray


def derivatives(grid, s, t, w):
    """Derivatives at coefficients grid (K_1 + 1, ...) for rows s (n, M), responses t (n,) in [0, 1], w (n,) or None."""
    degrees = [2 * (size - 1) for size in grid.shape]
    sizes = [D + 1 for D in degrees]
    raised = elevate(grid, degrees)
    loss, total, at_rows = 0.0, 0.0, np.empty((2, len(s)))
    for left, right, rows in blocks(s, sizes):
        B = raised.reshape(len(left), len(right))
        f = np.einsum("kn,kn->n", left, B @ right)
        g, near = 1.0 - f, f > CLOSE
        if near.any():  # without cancellation
            g[near] = np.einsum("kn,kn->n", left[:, near], (1.0 - B) @ right[:, near])
        at_rows[0, rows], at_rows[1, rows] = f, g
        part, slope, curve = _terms(f, g, t[rows])
        if not np.isfinite(part).all():
            return Derivatives(np.inf, None, None, at_rows)
        if w is not None:
            part, slope, curve = part * w[rows], slope * w[rows], curve * w[rows]
        loss += float(part.sum())
        total = total + product(np.concatenate([left * curve, left * slope]), right)
    curvature, score = np.reshape(total, (2, *sizes))
    return Derivatives(loss, curvature, score, at_rows)


def _terms(f, g, t):
    """(loss, minus its first, its second derivative) of each row; infinite loss where f says a label is impossible."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if np.all((t == 0) | (t == 1)):
            own, other = np.where(t == 1, f, g), np.where(t == 1, g, f)
            inverse = 1.0 / own
            return -_log(own, other), np.where(t == 1, inverse, -inverse), inverse * inverse
        a, b = np.where(t > 0, t / f, 0.0), np.where(t < 1, (1 - t) / g, 0.0)
        loss = -(np.where(t > 0, t * _log(f, g), 0.0) + np.where(t < 1, (1 - t) * _log(g, f), 0.0))
        curve = np.where(t > 0, a / f, 0.0) + np.where(t < 1, b / g, 0.0)
        return loss, a - b, curve


def _log(own, other):
    """log of own = 1 - other, to the precision of the smaller of the two.

    Where events are rare the last digits of log(1 - f) decide whether a step lowers the loss. Both the logarithm and
    the divisor err by the rounding of own, and their ratio does not.
    """
    apart = 1.0 - own
    return np.where(apart > 0, np.log(own) * (other / apart), -other)


@dataclass(frozen=True)
class LogLikelihood:
    """value, -inf where a row saw what had probability 0; impossible: how many rows did."""

    value: float
    impossible: int


def log_likelihood(p, y, w=None):
    """Bernoulli log-likelihood of labels y (n,) under probabilities p (n,), weights w (n,) or None."""
    own = np.where(y == 1, p, 1 - p)
    with np.errstate(divide="ignore"):
        terms = np.log(own)
    return LogLikelihood(float(np.sum(terms) if w is None else w @ terms), int(np.count_nonzero(own <= 0)))


def inward(beta, mean):
    """A start that every row finds possible, from the coefficients of least squares and a mean between 0 and 1."""
    return (1 - INWARD) * beta + INWARD * mean


def maximise(s, t, w, sums, limits, penalty, beta, rough=False):
    """The LikelihoodFit of responses t (n,); sums: moments of the same rows, with both classes; beta (p,): a start.

    penalty (p, p) or None is that of least squares, in its units, so that it never grows with the curvature. rough:
    neither polished nor verified. Raises ValueError where Newton's method does not converge.
    """
    mean = sums.events / sums.weight
    if mean > 0.5:  # small probabilities are the precise ones
        other = replace(sums, T1=sums.T0 - sums.T1, events=sums.weight - sums.events)
        fit = maximise(s, 1 - t, w, other, limits.reversed, penalty, 1 - beta, rough)
        return replace(fit, beta=1 - fit.beta)
    problem = _Problem.of(s, t, w, sums, limits, penalty, mean)
    enough, now, best = ROUGH if rough else ENOUGH, problem.at(beta), None
    for _ in range(STEPS):
        H = problem.curvature(now)
        far = best is None or best.kkt > NEAR  # whether the active rows may still change, so that polishing is idle
        target = problem.newton(H, now, beta, rough or far)
        trial, then, whole = problem.descend(beta, now, target.beta)
        before = np.inf if best is None else best.kkt
        if whole:
            kkt = problem.kkt(target, then, H)
            if kkt < before or (target.polished and not best.polished and kkt <= SIGN):
                best = LikelihoodFit(target.beta, target.df, kkt, target.polished)
        if then is None or (best is not None and best.kkt <= enough and (rough or best.polished)):
            break
        if best is not None and best.kkt <= SIGN and before / 2 < best.kkt:
            break  # round-off leaves nothing to gain
        beta, now = trial, then
    if best is None or not best.kkt <= FAILED:
        reached = "" if best is None else f", KKT residual {best.kkt:.1e} > {FAILED}"
        raise ValueError(
            f"maximum likelihood of {limits.p} coefficients was not found in {STEPS} Newton steps{reached}: use a "
            "smaller K, or loss='brier'; weights many orders of magnitude apart do this"
        )
    return best


@dataclass(frozen=True, eq=False)
class _Problem:
    """rows (s, t, w) of one likelihood; mean in (0, 1/2]; cone; ridge (p, p), the penalty in units of the loss."""

    rows: tuple
    mean: float
    limits: object
    ridge: np.ndarray

    @classmethod
    def of(cls, s, t, w, sums, limits, penalty, mean):
        K = [size - 1 for size in limits.shape]
        unit = sums.weight / len(t)  # the loss does not depend on the size of weights, and must not overflow with it
        size = np.trace(gram(sums.lower([2 * k for k in K]).T0, K) / unit) / limits.p
        ridge = np.zeros((limits.p, limits.p)) if penalty is None else size * penalty
        return cls((s, t, None if w is None else w / unit), mean, limits, ridge)

    @property
    def K(self):
        """Degrees."""
        return tuple(size - 1 for size in self.limits.shape)

    def at(self, beta):
        """Derivatives with the loss of the penalty added."""
        found = derivatives(beta.reshape(self.limits.shape), *self.rows)
        away = beta - self.mean
        return replace(found, loss=found.loss + float(away @ self.ridge @ away) / 2)

    def curvature(self, now):
        """(p, p) second derivatives of the loss."""
        return gram(now.curvature, self.K)

    def newton(self, H, now, beta, rough):
        """The Step to the minimiser over the cone of the second-order model at beta."""
        gradient = self.ridge @ (beta - self.mean) - rhs(now.score, self.K)
        return newton_step(H + self.ridge, gradient, beta, self.mean, self.limits, rough)

    def kkt(self, target, then, H):
        """Largest violation of the conditions of the likelihood at the target; Newton matrix of mean diagonal one."""
        unit = self.mean * np.trace(H) / self.limits.p
        gradient = self.ridge @ (target.beta - self.mean) - rhs(then.score, self.K)
        slack = self.limits.slack(target.beta, 1.0) / self.mean
        multipliers = target.multipliers / unit
        parts = (gradient / unit + self.limits.transpose(multipliers), np.minimum(slack, 0.0), multipliers * slack)
        return float(max(np.max(np.abs(part), initial=0.0) for part in parts))

    def descend(self, beta, now, target):
        """(coefficients, derivatives, whole step?) on the way to the target, nearer until the loss does not rise."""
        for share in SHARES:
            trial = target if share == 1 else beta + share * (target - beta)
            then = self.at(trial)
            if then.loss <= now.loss + ROUND_OFF * abs(now.loss) and (share < 1 or not self._falls(now, then)):
                return trial, then, share == 1
        return beta, None, False

    def _falls(self, now, then):
        """Whether any row with that outcome loses nearly all probability of it."""
        t = self.rows[1]
        (f, g), (f_then, g_then) = now.at_rows, then.at_rows
        return bool(np.any((f_then < FALL * f) & (t > 0)) or np.any((g_then < FALL * g) & (t < 1)))

"""Smallest and largest linear predictor over a likelihood region of a logistic regression.

The region {b : 2 [l(best) - l(b)] <= k} is convex, so a linear function c'b has one maximum over it. Each step
maximises c'b over the ellipsoid that the quadratic model of l at the present boundary point allows (closed form), goes
that way as far as c'b grows, and returns to the boundary along the ray from the best fit; the objective never falls.
"""

import numpy as np
from scipy.special import expit

STEPS = 60
GAIN = 1e-12  # done: relative gain of the objective
WIDTH, ORDER = 0.03, 6  # of condensed()
CELLS = 4_000_000  # rows times directions held at once


def extremes(X, events, w, best, k, C):
    """(low (r,), high (r,)) of C b, C (r, d), over {b : deviance(b) - deviance(best) <= k}.

    X (n, d) with any intercept column, events (n,) of w (n,) rows, best (d,) the maximum likelihood fit.
    """
    first = np.linalg.qr(X, mode="r")
    X = np.linalg.solve(first.T, X.T).T
    R = np.linalg.cholesky((X.T * w) @ X).T  # unlike a QR of weighted rows it bears the signs of condensed()
    best, C = first @ best, np.linalg.solve(first.T, C.T).T
    Q, at, D = np.linalg.solve(R.T, X.T).T, R @ best, np.linalg.solve(R.T, C.T).T
    size = max(1, CELLS // len(X))
    parts = [np.vstack([D[i : i + size], -D[i : i + size]]) for i in range(0, len(D), size)]
    tops = [_largest(Q, events, w, at, k, part) for part in parts]
    high = np.concatenate([top[: len(top) // 2] for top in tops])
    low = -np.concatenate([top[len(top) // 2 :] for top in tops])
    return low, high


def _largest(Q, events, w, best, k, D):
    """(r,) maxima of D b over the region, in the coordinates of Q."""
    center = Q @ best
    base = _loss(center[:, None], events, w)[0]
    move = _model_step(Q, events, w, center[:, None], np.zeros((1, len(best))), D, k)  # the ellipsoid at the best fit
    move = _to_boundary(Q, events, w, center, base, k, move)
    value = np.sum(D * move, axis=1)
    active = np.arange(len(D))
    for _ in range(STEPS):
        start, d = move[active], D[active]
        target = _model_step(Q, events, w, center[:, None] + Q @ start.T, start, d, None)
        new, gained = _ascend(Q, events, w, center, base, k, start, target, d)
        grown = gained > value[active] + GAIN * np.maximum(1.0, np.abs(value[active]))
        better = gained > value[active]
        move[active[better]], value[active[better]] = new[better], gained[better]
        active = active[grown]
        if not len(active):
            break
    return D @ best + value


def _ascend(Q, events, w, center, base, k, start, target, d):
    """Boundary points from start (r, d) toward target, halving the step until the objective does not fall."""
    now = np.sum(d * start, axis=1)
    new, gained = start.copy(), now.copy()
    open_, length = np.arange(len(start)), 1.0
    while len(open_) and length > 1e-6:
        trial = start[open_] + length * (target[open_] - start[open_])
        trial = _to_boundary(Q, events, w, center, base, k, trial)
        value = np.sum(d[open_] * trial, axis=1)
        good = value > now[open_]
        new[open_[good]], gained[open_[good]] = trial[good], value[good]
        settled = good | (value >= now[open_] - GAIN * np.maximum(1.0, np.abs(now[open_])))
        open_, length = open_[~settled], length / 2
    return new, gained


def _model_step(Q, events, w, eta, start, D, k):
    """Maxima of D b over the model ellipsoids of l at start (r or 1, d): centre H^-1 g, squared radius k + g'H^-1 g.

    With k None the ellipsoid passes through start itself.
    """
    p = expit(eta)
    gradient = (events[:, None] - w[:, None] * p).T @ Q
    spread = w[:, None] * p * (1 - p)
    d = Q.shape[1]
    pairs = (Q[:, :, None] * Q[:, None, :]).reshape(len(Q), d * d)
    H = (spread.T @ pairs).reshape(-1, d, d)
    newton = np.linalg.solve(H, gradient[:, :, None])[:, :, 0]
    along = np.linalg.solve(np.broadcast_to(H, (len(D), d, d)), D[:, :, None])[:, :, 0]
    radius = (0.0 if k is None else k) + np.sum(gradient * newton, axis=1)
    return start + newton + along * np.sqrt(radius / np.sum(D * along, axis=1))[:, None]


def _to_boundary(Q, events, w, center, base, k, move):
    """Each move (r, d) from the best fit, stretched so that the deviance is up by k: Newton on its square root."""
    ray = Q @ move.T
    stretch = np.ones(len(move))
    for _ in range(STEPS):
        eta = center[:, None] + stretch * ray
        gap = np.maximum(2 * (_loss(eta, events, w) - base), 1e-300)
        slope = np.sum((w[:, None] * expit(eta) - events[:, None]) * ray, axis=0)  # half the derivative of gap
        root = np.sqrt(gap)
        change = (np.sqrt(k) - root) * root / np.maximum(slope, 1e-300)
        change = np.clip(change, -0.5 * stretch, stretch)
        stretch = stretch + change
        if np.all(np.abs(change) <= 1e-8 * stretch):  # the error is now the square of it
            break
    return move * stretch[:, None]


def _loss(eta, events, w):
    """Minus log-likelihood of each column of eta (n, r)."""
    return w @ np.logaddexp(0.0, eta) - events @ eta


def condensed(x, events, w):
    """(x, events, w) of fewer rows with the same sums of smooth functions of x (n,) to about round-off.

    In cells of width WIDTH each row is spread over ORDER Chebyshev nodes by its Lagrange polynomials: sums of
    polynomials of lower degree stay the same, others change by their error of interpolation. Weights may be negative.
    """
    cells, cell = np.unique(np.floor(x / WIDTH), return_inverse=True)
    if len(cells) * ORDER >= len(x):
        return x, events, w
    nodes = np.cos(np.pi * (np.arange(ORDER) + 0.5) / ORDER)
    inside = 2 * (x / WIDTH - cells[cell]) - 1
    share = np.ones((ORDER, len(x)))
    for j in range(ORDER):
        for other in np.delete(nodes, j):
            share[j] *= (inside - other) / (nodes[j] - other)
    sums = [[np.bincount(cell, v * part) for part in share] for v in (events, w)]
    places = (cells + (nodes[:, None] + 1) / 2) * WIDTH
    return places.ravel(), np.ravel(sums[0]), np.ravel(sums[1])

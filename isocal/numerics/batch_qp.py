"""Many cone problems with one Gram matrix at once, by the alternating direction method of multipliers.

Accurate to about 1e-3 in the coefficients after 250 steps, in single precision: good for bootstrap draws, never for a
reported fit. Boyd, Parikh, Chu, Peleato & Eckstein (2011), doi:10.1561/2200000016, section 3.4.3 for over-relaxation.
With v = relaxed slack + scaled dual, z = max(v, 0) and u = min(v, 0), so that one array a constraint is all the state
and z - u = |v|. Slacks are differences of slices of the coefficient grid: one (p, p) product a step remains.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .cone import cone, running_maximum

RELAXATION, STEPS = 1.7, 250
AT_ONCE = 256  # problems solved together: their slacks stay in the second-level cache


def solve_many(G, T, shape, directions, penalty):
    """argmin beta' G beta / 2 - t' beta over the cone for every column t of T (p, r); returns (p, r) in the cone.

    shape, directions (of +1 and 0): those of the coefficient grid. penalty (p, p) is relative to the mean diagonal of
    G and pulls toward each column's own mean, sum(t) / sum(G).
    """
    p = len(G)
    size = np.trace(G) / p
    Q = T / size + penalty.sum(axis=1)[:, None] * (T.sum(axis=0) / G.sum())
    rho = max(1.0, (max(shape) - 1) / 5)
    inverse = cho_solve(cho_factor(G / size + penalty + rho * _incidence(shape, directions)), np.eye(p))
    base, step = (inverse @ Q).astype(np.float32), (rho * inverse).astype(np.float32)
    out = np.empty_like(base)
    for a in range(0, T.shape[1], AT_ONCE):
        out[:, a : a + AT_ONCE] = _admm(step, base[:, a : a + AT_ONCE], shape, directions)
    ordered = running_maximum(out.reshape(*shape, -1), (*directions, 0))
    return np.clip(ordered, 0.0, 1.0).reshape(p, -1)


def _admm(step, base, shape, directions):
    """(p, r) coefficients of one block of problems; step = rho (P + rho D'D)^-1, base its solution without slacks."""
    r = base.shape[1]
    axes, bottom, top = _slices(shape, directions)
    beta, pull = base.reshape(*shape, r), np.empty((*shape, r), dtype=np.float32)
    states = [np.zeros_like(beta[high]) for _, high in axes]
    at_bottom, at_top = np.zeros_like(beta[bottom]), np.zeros_like(beta[top])
    room = [np.empty_like(v) for v in (*states, at_bottom, at_top)]
    for _ in range(STEPS):
        pull[:] = 0.0
        for v, spare, (low, high) in zip(states, room, axes, strict=False):
            np.abs(v, out=spare)
            pull[high] += spare
            pull[low] -= spare
        pull[bottom] += np.abs(at_bottom)
        pull[top] += 1.0 - np.abs(at_top)
        beta = (base + step @ pull.reshape(-1, r)).reshape(*shape, r)
        for v, spare, (low, high) in zip(states, room, axes, strict=False):
            np.subtract(beta[high], beta[low], out=spare)
            _advance(v, spare)
        _advance(at_bottom, beta[bottom].copy())
        _advance(at_top, 1.0 - beta[top])
    return beta.reshape(-1, r)


def _advance(v, slack):
    """v + 1.7 (slack - max(v, 0)) in place; slack is overwritten."""
    slack -= np.maximum(v, 0.0)
    slack *= RELAXATION
    v += slack


def _slices(shape, directions):
    """Per directed axis (lower nodes, upper nodes) of its differences; the minimal and the maximal nodes."""
    whole = [slice(None)] * len(shape)
    axes = [
        (tuple(whole[:m] + [slice(None, -1)] + whole[m + 1 :]), tuple(whole[:m] + [slice(1, None)] + whole[m + 1 :]))
        for m, d in enumerate(directions) if d
    ]  # fmt: skip
    bottom = tuple(slice(0, 1) if d else slice(None) for d in directions)
    top = tuple(slice(k - 1, k) if d else slice(None) for k, d in zip(shape, directions, strict=True))
    return axes, bottom, top


def _incidence(shape, directions):
    """D'D of the constraint rows, (p, p)."""
    limits = cone(tuple(shape), tuple(directions))
    D = np.zeros((len(limits.ends), limits.p + 2))
    row = np.arange(len(D))
    D[row, limits.ends[:, 1]] += 1.0
    D[row, limits.ends[:, 0]] -= 1.0
    D = D[:, : limits.p]
    return D.T @ D

"""Newton's step over the cone: a quadratic programme in the step itself, each coefficient in a unit of its own.

What `qp.solve` does for coefficients, but its accuracy is relative to the largest curvature. Those of a likelihood may
differ by ten orders of magnitude: a row of probability f weighs 1/f^2. Written for the step the programme is solved to
a share of what the step gains, so that Newton's method ends at round-off.
"""

from dataclasses import dataclass

import cvxopt
import numpy as np
from cvxopt import solvers

from .qp import ROUNDS, SIGN, VIOLATION, _level_sets, _multipliers, _rank, _solve

OPTIONS = {"show_progress": False, "maxiters": 100, "abstol": 1e-30, "reltol": 1e-9, "feastol": 1e-9}
SMALLEST = 1e-14  # curvature, relative to the largest, that still sets a unit
NEGLIGIBLE = 1e-12  # duality gap in units of the loss of one row: Newton's method has arrived
STALLED = 0.1  # duality gap, relative to the first-order gain: the solver can hang at its own start even if p = 4


@dataclass(frozen=True, eq=False)
class Step:
    """beta (p,), where the step leads, in the cone; multipliers (rows of the cone,); df; polished: exact on its level
    sets.
    """

    beta: np.ndarray
    multipliers: np.ndarray
    df: float
    polished: bool


def newton_step(G, g, beta, mean, cone, rough=False):
    """Minimise g'd + d' G d / 2 over steps d with beta + d in the cone; G (p, p), g (p,), beta (p,) in the cone.

    mean: the usual size of beta. rough: neither polished nor with df. Raises ValueError where the solver fails.
    """
    slack = np.maximum(cone.slack(beta, 1.0), 0.0)
    d, s, z = _interior(G, g, slack, cone)
    target, scale = beta + d, mean * np.trace(G) / cone.p
    if rough:
        return Step(cone.restore(target).ravel(), np.maximum(z, 0.0), np.nan, False)
    exact, levels, active = _polished(G, g, beta, target, cone, z / scale > s / mean)
    df = _rank(G * (mean / scale), levels)
    if exact is not None:
        gradient = (g + G @ (exact - beta)) / scale
        multipliers = _multipliers(gradient, cone, active, levels, np.maximum(z, 0.0) / scale)
        if np.max(np.abs(gradient + cone.transpose(multipliers))) <= SIGN:
            return Step(cone.restore(exact).ravel(), multipliers * scale, df, True)
    return Step(cone.restore(target).ravel(), np.maximum(z, 0.0), df, False)


def _interior(G, g, slack, cone):
    """(step, slack left, multipliers) of cvxopt's interior-point method."""
    diagonal = np.diag(G)
    unit = 1.0 / np.sqrt(np.maximum(diagonal, SMALLEST * diagonal.max()))
    rows, columns, values, size = cone.signed
    A = cvxopt.spmatrix((values * unit[columns]).tolist(), rows.tolist(), columns.tolist(), (size, cone.p))
    P = G * unit[:, None] * unit
    ones = cvxopt.matrix(1.0, (size, 1))
    inside = {"x": cvxopt.matrix(0.0, (cone.p, 1)), "s": cvxopt.matrix(np.maximum(slack, 1.0)), "z": ones}
    best = None
    for ridge, kktsolver, start in ((0.0, "chol2", None), (0.0, "chol2", inside), (0.0, "ldl", inside),
                                    (1e-10, "chol2", inside)):  # fmt: skip
        try:
            found = solvers.qp(
                cvxopt.matrix(P + ridge * np.eye(cone.p) if ridge else P), cvxopt.matrix(g * unit), A,
                cvxopt.matrix(slack), kktsolver=kktsolver, initvals=start, options=OPTIONS,
            )  # fmt: skip
        except (ArithmeticError, ValueError):  # a singular matrix: the ridge shortens the step, no more
            continue
        if found["x"] is None or found["z"] is None:
            continue
        best = found if best is None or found["gap"] < best["gap"] else best
        gain = abs(g @ (unit * np.array(found["x"]).ravel()))
        if found["status"] == "optimal" or found["gap"] <= max(STALLED * gain, NEGLIGIBLE):
            break
    if best is not None:
        d, s, z = (np.array(best[a]).ravel() for a in "xsz")
        return unit * d, s, z
    raise ValueError("the quadratic programme of a Newton step could not be solved: use tie_break=1e-10 or a smaller K")


def _polished(G, g, beta, target, cone, active):
    """(minimiser with the level sets tied, levels, active rows), violated rows joining; None where that fails."""
    first, _ = _level_sets(cone, active)
    for _ in range(ROUNDS):
        levels, count = _level_sets(cone, active)
        if levels is None:
            break
        x = _on_levels(G, g, beta, target, levels, count)
        violated = cone.slack(x, 1.0) < -VIOLATION
        if not violated.any():
            return x, levels, active
        active = active | violated
    return None, np.arange(cone.p) if first is None else first, active


def _on_levels(G, g, beta, target, levels, count):
    """(p,) the minimiser with the level sets tied, found near the target."""
    Z = (levels[:, None] == np.arange(count)).astype(float)
    x = np.where(levels == -2, 1.0, 0.0)
    if not count:
        return x
    x = x + Z @ ((Z.T @ target) / Z.sum(axis=0))
    ZGZ = Z.T @ (G @ Z)
    unit = 1.0 / np.sqrt(np.maximum(np.diag(ZGZ), np.finfo(np.float64).tiny))
    for _ in range(2):  # the second pass is iterative refinement
        x = x + Z @ (unit * _solve(ZGZ * unit[:, None] * unit, -unit * (Z.T @ (g + G @ (x - beta)))))
    return x

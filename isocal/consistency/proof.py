"""Is it monotone on the whole domain, and is it the minimum it claims to be?"""

import numpy as np

from ..summary import power_above
from .finding import ACT, FINE, LOOK, Finding

OPTIMAL, NEARLY = 1e-9, 1e-6  # residuals of the mean loss: proven, and near enough to use
WORDS = {FINE: "Nothing to do.", LOOK: "Fitted values are right to about 1e-6: lower K if more is needed."}


def certificate(fit):
    """Smallest step along each score, bounds, and the conditions of optimality recomputed from the rows.

    Sufficient, not necessary: coefficients that never fall make a polynomial that never falls (Theorem 1). A curve
    with ``members`` is certified member by member: a convex combination of monotone maps is monotone.
    """
    steps = [step for step in _steps(fit.curve) if step is not None]
    optimality = _optimality(fit)
    if not steps and not optimality:
        raise ValueError("this method gives no coefficient steps and no conditions of optimality to certify")
    low, high = float(np.min(fit.fitted)), float(np.max(fit.fitted))
    smallest, outside = min(steps, default=np.nan), max(-low, high - 1.0, 0.0)
    figures = {"smallest step": smallest, "outside [0, 1]": outside} | optimality
    worst = max((v for k, v in optimality.items() if k in ("stationarity", "duality gap")), default=0.0)
    shown = f"smallest step {smallest:.2g}" if steps else "no direction is promised"
    shown += f", optimal to {power_above(worst)}" if optimality else ""
    verdict = LOOK if worst > OPTIMAL else FINE
    advice = WORDS[verdict]
    if smallest < 0 or outside > 0 or worst > NEARLY:
        verdict = ACT
        advice = "Do not use this fit: the solver or the file failed; refit, with a smaller K or tie_break=1e-10."
    return Finding("certificate", smallest, shown, "steps >= 0", verdict, advice, figures, _detail(fit))


def _members(curve):
    """[(name, curve)] of what a mixture combines."""
    found = getattr(curve, "members", None) or ()
    return list(found.items()) if isinstance(found, dict) else [(str(i + 1), c) for i, c in enumerate(found)]


def _steps(curve):
    own = curve.steps()
    return own if own is not None else [v for _, c in _members(curve) for v in _steps(c)]


def _optimality(fit):
    if not fit.is_least_squares:
        stored = getattr(fit.curve, "kkt", np.nan)
        return {"stationarity": float(stored)} if np.isfinite(stored) else {}
    return fit.face.conditions(fit.grid.ravel())


def _detail(fit):
    if _members(fit.curve):
        rows = [(name, v) for name, c in _members(fit.curve) for v in _steps(c) if v is not None]
        return {"member": [name for name, _ in rows], "smallest_step": [v for _, v in rows]}
    steps = _steps(fit.curve)
    if len(steps) != fit.M:
        return {}
    return {"score": list(fit.names), "smallest_step": [np.nan if v is None else v for v in steps]}

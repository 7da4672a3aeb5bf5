"""Where the order binds: plateaus of coefficients and bounds at 0 and 1."""

import numpy as np

from .finding import FINE, LOOK, Finding

CERTAIN = 1e-6  # a probability nearer to 0 or 1 makes the log loss of one surprise enormous
FLAT = 0.01  # slope, in probability over the whole range of a score, below which the curve is flat


def active_constraints(fit):
    """Plateaus (level sets of two nodes or more) and nodes at the bounds, with multipliers and the rows on them.

    A multiplier is what the mean loss would fall by, per unit, were that constraint relaxed. Share of rows: the mean
    over rows of the basis functions of those nodes, which sum to one over all nodes.
    """
    face, p = fit.face, fit.fitted
    detail = _sets(fit)
    sure = float(fit.weights @ ((p < CERTAIN) | (p > 1 - CERTAIN)) / fit.weights.sum())
    slopes = np.abs(fit.curve.gradient(fit.s))
    flat = [float(fit.weights @ (slopes[:, m] < FLAT) / fit.weights.sum()) for m in range(fit.M)]
    held = int(face.active.sum())
    verdict = LOOK if sure > 0 else FINE
    advice = "Nothing to do: plateaus are what the order makes of noise." if verdict == FINE else (
        f"{sure:.1%} of the rows get a probability of 0 or 1, and one surprise there makes the log loss infinite: "
        "try shrink=1."
    )  # fmt: skip
    figures = {"share of rows at 0 or 1": sure, "active": held, "constraints": len(face.active)}
    figures |= {f"share of rows where {name} is flat": v for name, v in zip(fit.names, flat, strict=True)}
    shown = f"{held} of {len(face.active)} active, {len(detail['nodes'])} level sets"
    return Finding("active_constraints", sure, shown, "no row at 0 or 1", verdict, advice, figures, detail)


def _sets(fit):
    """{column: list}: one row for each set of tied nodes and for each bound that holds."""
    face = fit.face
    levels, shape = face.fit.levels, face.shape
    share = _shares(fit)
    tied = np.r_[levels, -1, -2][face.cone.ends]
    inside = tied[:, 0] == tied[:, 1]
    out = {"kind": [], "nodes": [], "size": [], "probability": [], "multiplier": [], "share_of_rows": []}
    for level in np.unique(levels):
        nodes = np.flatnonzero(levels == level)
        if level >= 0 and len(nodes) < 2:
            continue
        kind = {-1: "at 0", -2: "at 1"}.get(int(level), "plateau")
        at = np.array(np.unravel_index(nodes, shape))
        ranges = (f"{a}" if a == b else f"{a}-{b}" for a, b in zip(at.min(axis=1), at.max(axis=1), strict=True))
        row = (
            kind, ", ".join(ranges), len(nodes), float(face.fit.beta[nodes[0]]),
            float(face.fit.multipliers[inside & (tied[:, 0] == level)].sum()), float(share[nodes].sum()),
        )  # fmt: skip
        for column, v in zip(out.values(), row, strict=True):
            column.append(v)
    return out


def _shares(fit):
    """(p,) mean of each basis function over the rows."""
    return fit.face.G.sum(axis=1) / fit.face.weight

"""A convex combination of fitted maps, each on its own scale of the scores: monotone wherever all of them are."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..numerics.basis import elevate
from ..numerics.cone import running_maximum
from .base import Curve, finite_array, own_classes
from .bernstein import BernsteinCurve
from .fuse_scales import Scale

CHUNK = 65_536
SUM = 1e-9  # how far from one the weights of a file may sum


@dataclass(frozen=True, eq=False)
class Member:
    """name; weight >= 0; scale, a position in the mixture's scales; curve; brier, log_loss: out of fold, or NaN."""

    name: str
    weight: float
    scale: int
    curve: Curve
    brier: float = float("nan")
    log_loss: float = float("nan")


@dataclass(frozen=True, eq=False, kw_only=True)
class Mixture(Curve):
    """f(s) = sum_j weight_j f_j(scale_j(s)); weights sum to one.

    parts: tuple of Member; scales: tuple of Scale; M scores; brier, log_loss: out of fold, of the mixture; notes.
    """

    parts: tuple
    scales: tuple
    M: int
    brier: float = float("nan")
    log_loss: float = float("nan")
    notes: dict = field(default_factory=dict)

    def __call__(self, s):
        out = np.empty(len(s))
        for a in range(0, len(s), CHUNK):
            rows = s[a : a + CHUNK]
            total = np.zeros(len(rows))
            for scale, terms in self._terms:
                x = self.scales[scale](rows)
                for weight, curve in terms:
                    total += weight * curve(x)
            out[a : a + CHUNK] = total
        return np.clip(out, 0.0, 1.0)

    @cached_property
    def _terms(self):
        """[(scale, [(weight, curve)])] with the polynomials of a scale added up to one."""
        out = []
        for k in sorted({part.scale for part in self.parts}):
            own = [(part.weight, part.curve) for part in self.parts if part.scale == k and part.weight > 0]
            rest = [(w, c) for w, c in own if not isinstance(c, BernsteinCurve)]
            out.append((k, rest + _added([(w, c) for w, c in own if isinstance(c, BernsteinCurve)])))
        return out

    @property
    def members(self):
        """{name: curve}."""
        return {part.name: part.curve for part in self.parts}

    def coef(self):
        return {part.name: part.weight for part in self.parts}

    def steps(self):
        """The smallest step of any member with a weight, each on its own scale."""
        each = [part.curve.steps() for part in self.parts if part.weight > 0]
        if any(steps is None for steps in each):
            return None
        return [min(column) for column in zip(*each, strict=True)]

    def facts(self):
        weights = np.array([part.weight for part in self.parts])
        used = weights[weights > 0]
        count = np.exp(-np.sum(used * np.log(used)))
        return {"Members": f"{len(weights)}, as many as {count:.1f} of equal weight", **self.notes}

    def tables(self):
        rows = sorted(self.parts, key=lambda part: -part.weight)
        columns = {
            "member": [part.name.removesuffix(f" on {self.scales[part.scale].name}") for part in rows],
            "on": [self.scales[part.scale].name for part in rows],
            "weight": [part.weight for part in rows], "brier": [part.brier for part in rows],
            "log_loss": [part.log_loss for part in rows],
        }  # fmt: skip
        whole = ("mixture", "", sum(columns["weight"]), self.brier, self.log_loss)
        return {"members": {k: [*v, last] for (k, v), last in zip(columns.items(), whole, strict=True)}}

    def to_dict(self):
        parts = [
            {"name": p.name, "weight": p.weight, "scale": p.scale, "class": type(p.curve).__name__,
             "values": p.curve.to_dict(), "brier": p.brier, "log_loss": p.log_loss}
            for p in self.parts
        ]  # fmt: skip
        if strange := [p["class"] for p in parts if p["class"] not in own_classes(Curve)]:
            raise ValueError(f"a {strange[0]} is not of isocal, so a file cannot hold this mixture: leave it out of "
                             "the library, or keep the fit with pickle")  # fmt: skip
        return {"parts": parts, "scales": [scale.to_dict() for scale in self.scales], "M": self.M,
                "brier": self.brier, "log_loss": self.log_loss, "notes": dict(self.notes)}  # fmt: skip

    @classmethod
    def from_dict(cls, d):
        scales, known = tuple(Scale.from_dict(v) for v in d["scales"]), own_classes(Curve)
        weights = finite_array([p["weight"] for p in d["parts"]], "weights", 0.0, 1.0)
        M = d["M"]
        if abs(weights.sum() - 1.0) > SUM:
            raise ValueError(f"mixture: weights must sum to one; they sum to {weights.sum():.6g}")
        if any(len(scale.chains) != M for scale in scales):
            raise ValueError(f"mixture: every scale needs transforms for {M} scores")
        parts = []
        for p, weight in zip(d["parts"], weights.tolist(), strict=True):
            if p["class"] not in known or p["scale"] not in range(len(scales)):
                raise ValueError(f"mixture: member {p['name']!r} has a curve or a scale that is not known")
            curve = known[p["class"]].from_dict(p["values"])
            if len(curve.steps() or [0.0] * M) != M:
                raise ValueError(f"mixture: member {p['name']!r} is not a curve of {M} scores")
            parts.append(Member(str(p["name"]), weight, p["scale"], curve, float(p["brier"]), float(p["log_loss"])))
        return cls(
            parts=tuple(parts), scales=scales, M=M, brier=float(d["brier"]), log_loss=float(d["log_loss"]),
            notes={str(k): str(v) for k, v in d["notes"].items()},
        )  # fmt: skip


def _added(terms):
    """[(1, polynomial)] equal to a weighted sum of polynomials at their highest degree; [] for none.

    Elevated coefficients keep their order up to round-off, which the running maximum removes.
    """
    if not terms:
        return []
    one = terms[0][1]
    top = [max(curve.K[m] for _, curve in terms) for m in range(one.beta.ndim)]
    beta = sum(weight * elevate(curve.beta, top) for weight, curve in terms)
    return [(1.0, replace(one, beta=np.clip(running_maximum(beta, one.directions), 0.0, 1.0)))]

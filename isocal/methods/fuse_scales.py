"""The scales on which the members of a super learner see the scores: fitted maps of every score, averaged in pairs."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..numerics.logistic import clipped_logit, edges
from ..numerics.pool_logistic import fit_pool
from ..transforms import TRANSFORMS, apply_chain, learn_chain
from .base import finite_array

CHAINS = {
    "scores": ((),), "ecdf": (("ecdf",),), "logit_unit": (("logit_unit",),), "calibrated": (("calibrated",),),
    "halfway": (("ecdf",), ("calibrated",)),
}  # fmt: skip
LEAST_SLOPE = 0.01  # of a calibrated score, which would be constant where a score says nothing


@dataclass(frozen=True)
class Calibrated:
    """expit(intercept + slope logit(x)), x clipped to [low, high]: one score's own logistic calibration."""

    intercept: float
    slope: float
    low: float
    high: float

    @classmethod
    def learn(cls, x, y, w=None):
        """Of scores x (n,) in [0, 1] and labels y (n,), drawn toward the identity as far as the rows leave it open."""
        low, high = edges(x)
        fit = fit_pool(clipped_logit(x, low, high)[:, None], y, np.ones(len(y)) if w is None else w)
        return cls(float(fit.coef[0]), max(float(fit.coef[1]), LEAST_SLOPE), low, high)

    def __call__(self, x, out=None):
        """Probabilities; NaN stays NaN. out may be x itself."""
        return expit(self.intercept + self.slope * clipped_logit(x, self.low, self.high), out=out)

    def to_dict(self):
        """Plain JSON types."""
        return {"intercept": self.intercept, "slope": self.slope, "low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, d):
        """The inverse of to_dict."""
        intercept, slope, low, high = finite_array([d[k] for k in ("intercept", "slope", "low", "high")], "calibrated")
        if not (slope > 0 and 0 < low < high < 1):
            raise ValueError("calibrated: a positive slope and 0 < low < high < 1 are expected")
        return cls(float(intercept), float(slope), float(low), float(high))


KNOWN = TRANSFORMS | {"calibrated": Calibrated}


@dataclass(frozen=True, eq=False)
class Scale:
    """A name; for each score the chains whose values are averaged, each ((name, fitted transform), ...), innermost
    first.
    """

    name: str
    chains: tuple

    def __call__(self, s):
        """(n, M) scores on this scale; NaN stays NaN."""
        out = np.empty(s.shape, order="F")
        for m, chains in enumerate(self.chains):
            x = np.ascontiguousarray(s[:, m])
            first, *rest = ([transform for _, transform in chain] for chain in chains)
            apply_chain(first, x, out=out[:, m])
            for chain in rest:
                out[:, m] += apply_chain(chain, x, out=np.empty(len(x)))
            out[:, m] /= len(chains)
        return out

    def to_dict(self):
        """Plain JSON types."""
        chains = [[[[name, f.to_dict()] for name, f in chain] for chain in chains] for chains in self.chains]
        return {"name": self.name, "chains": chains}

    @classmethod
    def from_dict(cls, d):
        """The inverse of to_dict; transforms are looked up by name."""
        if any(not chains for chains in d["chains"]):
            raise ValueError(f"scale {d['name']!r}: every score needs a chain of transforms")
        return cls(str(d["name"]), tuple(
            tuple(tuple((name, KNOWN[name].from_dict(values)) for name, values in chain) for chain in chains)
            for chains in d["chains"]
        ))  # fmt: skip


def learn_scales(names, first, s, y, w):
    """{name: fitted Scale} on scores s (n, M), labels y (n,), weights w (n,) or None; first: "scores" or "expit" each.

    Where a score goes through expit, so does it first on every scale.
    """
    before, own = [[] if name == "scores" else [name] for name in first], {}
    for m, (start, x) in enumerate(zip(before, s.T, strict=True)):
        for steps in dict.fromkeys(steps for on in names for steps in CHAINS[on]):
            own[m, steps] = _learned([*start, *steps], np.ascontiguousarray(x), y, w)
    return {on: Scale(on, tuple(tuple(own[m, k] for k in CHAINS[on]) for m in range(s.shape[1]))) for on in names}


def _learned(names, x, y, w):
    known, out = [name for name in names if name in TRANSFORMS], np.empty(len(x))
    chain = list(zip(known, learn_chain(known, x, w, out=out), strict=True))
    if len(known) < len(names):
        chain.append((names[-1], Calibrated.learn(out, y, w)))
    return tuple(chain)

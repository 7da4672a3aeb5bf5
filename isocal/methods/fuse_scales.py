"""The scales on which the members of a super learner see the scores: fitted maps of every score, averaged in pairs."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..numerics.logistic import clipped_logit, edges
from ..numerics.pool_logistic import fit_pool
from ..transforms import TRANSFORMS, apply_chain
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


@dataclass(frozen=True)
class Standard:
    """(x - center) / spread: mean and standard deviation of the rows of the fit."""

    center: float
    spread: float

    @classmethod
    def learn(cls, x, y=None, w=None):
        """Of scores x (n,) that are not all equal; weights w (n,) or None."""
        center = float(np.average(x, weights=w))
        spread = float(np.sqrt(np.average((x - center) ** 2, weights=w)))
        return cls(center, spread or 1.0)

    def __call__(self, x, out=None):
        """Standardised scores; NaN stays NaN. out may be x itself."""
        return np.divide(np.subtract(x, self.center, out=out), self.spread, out=out)

    def to_dict(self):
        """Plain JSON types."""
        return {"center": self.center, "spread": self.spread}

    @classmethod
    def from_dict(cls, d):
        """The inverse of to_dict."""
        center, spread = finite_array([d["center"], d["spread"]], "standard")
        if not spread > 0:
            raise ValueError(f"standard: the standard deviation must be positive; got {spread}")
        return cls(float(center), float(spread))


OWN = {"calibrated": Calibrated, "standard": Standard}
KNOWN = TRANSFORMS | OWN
FIRST = {"scores": (), "expit": ("expit",), "standard": ("standard", "expit")}  # how a score becomes a probability


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
    """{name: fitted Scale} on scores s (n, M), labels y (n,), weights w (n,) or None; first: a key of FIRST for each
    score, through which it goes before all else.
    """
    own = {}
    for m, (before, x) in enumerate(zip(first, s.T, strict=True)):
        for steps in dict.fromkeys(steps for on in names for steps in CHAINS[on]):
            own[m, steps] = _learned((*FIRST[before], *steps), np.ascontiguousarray(x), y, w)
    return {on: Scale(on, tuple(tuple(own[m, k] for k in CHAINS[on]) for m in range(s.shape[1]))) for on in names}


def _learned(names, x, y, w):
    """((name, fitted transform), ...), from the innermost outwards."""
    chain = []
    for name in names:
        chain.append((name, OWN[name].learn(x, y, w) if name in OWN else TRANSFORMS[name].learn(x, w)))
        x = chain[-1][1](x)
    return tuple(chain)


def flat(scales):
    """Positions of scores that do not rise with the events by their own calibrations, if there are any."""
    chains = next((scale.chains for scale in scales if scale.name in ("calibrated", "halfway")), ())
    return [m for m, own in enumerate(chains) if own[-1][-1][1].slope <= LEAST_SLOPE]

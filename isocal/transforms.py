"""Score transforms as array objects: learned once from the rows of a fit, stored, and reused in every prediction.

Each has learn(x, w) -> fitted object, __call__(x) (NaN stays NaN), merge(other) for data in pieces, and
to_dict(); from_dict() is the inverse. All are non-decreasing, so they never undo a promise of monotonicity.
"""

from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.special import expit as logistic

from .numerics.basis import basis

MOST_KNOTS = 10_000  # distinct values kept exactly; beyond it 10,001 equally spaced ranks


@dataclass(frozen=True, eq=False)
class Ecdf:
    """Empirical distribution function sum w 1{X <= x} / sum w, the transform of Wang & Liu (2020).

    knots (k,) increasing values, cumulated (k,) weight at or below each, thinned: more than 10,000 distinct values,
    so that the knots are equally spaced ranks and the function is exact at the knots.
    """

    knots: np.ndarray
    cumulated: np.ndarray
    thinned: bool = False

    @classmethod
    def learn(cls, x, w=None):
        """The ecdf of x (n,) without NaN, with case weights w (n,) or None."""
        if w is None:
            x = np.sort(x)
            cumulated = np.arange(1.0, len(x) + 1)
        else:
            order = np.argsort(x)
            x, cumulated = x[order], np.cumsum(w[order])
        last = np.r_[x[1:] != x[:-1], True]
        return cls(x[last] + 0.0, cumulated[last])._thin()

    def _thin(self):
        if len(self.knots) <= MOST_KNOTS + 1:
            return self
        ranks = np.linspace(0.0, 1.0, MOST_KNOTS + 1) * self.cumulated[-1]
        keep = np.unique(np.minimum(np.searchsorted(self.cumulated, ranks), len(self.knots) - 1))
        return Ecdf(self.knots[keep], self.cumulated[keep], True)

    def __call__(self, x):
        """Values in [0, 1]: 0 below the smallest knot, 1 from the largest on."""
        steps = np.r_[0.0, self.cumulated / self.cumulated[-1]]
        out = steps[np.searchsorted(self.knots, x, side="right")]
        out[np.isnan(x)] = np.nan  # searchsorted ranks NaN last
        return out

    def merge(self, other):
        """The ecdf of both sets of rows together."""
        knots = np.concatenate([self.knots, other.knots])
        mass = np.concatenate([np.diff(e.cumulated, prepend=0.0) for e in (self, other)])
        merged = Ecdf.learn(knots, mass)
        return Ecdf(merged.knots, merged.cumulated, self.thinned or other.thinned or merged.thinned)

    def to_dict(self):
        """Plain JSON types."""
        return {"knots": self.knots.tolist(), "cumulated": self.cumulated.tolist(), "thinned": self.thinned}

    @classmethod
    def from_dict(cls, d):
        """The inverse of to_dict; refuses knots that are not increasing."""
        knots, cumulated = _numbers(d["knots"], "knots"), _numbers(d["cumulated"], "cumulated")
        if len(knots) != len(cumulated) or not len(knots) or cumulated[0] <= 0:
            raise ValueError("ecdf: knots and cumulated weights must be equally many, at least one, and positive")
        if np.any(np.diff(knots) <= 0) or np.any(np.diff(cumulated) < 0):
            raise ValueError("ecdf: knots must increase and cumulated weights must not decrease")
        return cls(knots, cumulated, bool(d["thinned"]))


@dataclass(frozen=True)
class Unit:
    """(x - low) / (high - low), clipped to [0, 1]; low and high are the range of the rows of the fit."""

    low: float
    high: float

    @classmethod
    def learn(cls, x, w=None):
        """The range of x (n,); weights do not matter. A single value maps to 0 or 1."""
        return cls(float(np.min(x)), float(np.max(x)))

    def __call__(self, x):
        """Values in [0, 1]; NaN stays NaN."""
        if self.high == self.low:
            return np.where(np.isnan(x), np.nan, (x >= self.low).astype(float))

        span = self.high - self.low
        if not np.isfinite(span):  # halves do not overflow
            return np.clip((x / 2 - self.low / 2) / (self.high / 2 - self.low / 2), 0.0, 1.0)
        return np.clip((x - self.low) / span, 0.0, 1.0)

    def merge(self, other):
        """The range of both."""
        return Unit(min(self.low, other.low), max(self.high, other.high))

    def to_dict(self):
        """Plain JSON types."""
        return {"low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, d):
        """The inverse of to_dict."""
        low, high = _numbers([d["low"], d["high"]], "low, high")
        if not low <= high:
            raise ValueError(f"unit: low {low} exceeds high {high}")
        return cls(float(low), float(high))


@dataclass(frozen=True)
class Expit:
    """1 / (1 + exp(-x)): for log-odds and decision values. Nothing is learned."""

    @classmethod
    def learn(cls, x, w=None):
        """Nothing to learn."""
        return cls()

    def __call__(self, x):
        """Values in [0, 1]; NaN stays NaN."""
        return logistic(x)

    def merge(self, other):
        """Nothing to merge."""
        return self

    def to_dict(self):
        """Plain JSON types."""
        return {}

    @classmethod
    def from_dict(cls, d):
        """The inverse of to_dict."""
        return cls()


TRANSFORMS = {"ecdf": Ecdf, "unit": Unit, "expit": Expit}


def _numbers(values, what):
    out = np.asarray(values, dtype=np.float64)
    if out.ndim != 1 or not np.isfinite(out).all():
        raise ValueError(f"{what}: finite numbers in one dimension are expected")
    return out


def apply_chain(chain, x):
    """Apply fitted transforms from the innermost outwards."""
    return reduce(lambda v, transform: transform(v), chain, x)


def learn_chain(names, x, w=None):
    """Learn transforms, given from the innermost outwards, on x (n,); returns (fitted transforms, their values)."""
    chain = []
    for name in names:
        chain.append(TRANSFORMS[name].learn(x, w))
        x = chain[-1](x)
    return tuple(chain), x


def bern(s, K):
    """Bernstein design of one score, for any patsy or statsmodels formula.

    Column k holds b_{k,K}(s) = C(K, k) s^k (1 - s)^(K - k) (Wang & Liu 2020, eq. 9).

    Parameters
    ----------
    s : array_like, shape (n,)
        Scores in [0, 1]; NaN gives a row of NaN.
    K : int
        Degree, at least 1.

    Returns
    -------
    numpy.ndarray, shape (n, K + 1)
        Non-negative; each row sums to one.

    Raises
    ------
    ValueError
        If a score lies outside [0, 1] or K is not an integer of at least 1.

    Examples
    --------
    >>> import isocal
    >>> isocal.bern([0.0, 0.5, 1.0], 2)
    array([[1.  , 0.  , 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.  , 1.  ]])

    References
    ----------
    Wang, Y. & Liu, X. (2020). Multivariate probability calibration with isotonic Bernstein polynomials. IJCAI-20,
    2547-2553. doi:10.24963/ijcai.2020/353
    """
    s = np.asarray(s, dtype=np.float64)
    if isinstance(K, bool) or K != int(K) or K < 1:
        raise ValueError(f"K must be an integer of at least 1; got {K!r}")
    if s.size and (np.nanmin(s) < 0 or np.nanmax(s) > 1):
        raise ValueError(f"bern: scores must lie in [0, 1]; got {np.nanmin(s):.4g} to {np.nanmax(s):.4g}; "
                         "map them first, e.g. (s - min) / (max - min)")  # fmt: skip
    return basis(s.ravel(), int(K)).T

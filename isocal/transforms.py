"""Score transforms as array objects: learned once from the rows of a fit, stored, and reused in every prediction.

Each has learn(x, w) -> fitted object, __call__(x) (NaN stays NaN), merge(other) for data in pieces, and
to_dict(); from_dict() is the inverse. All are non-decreasing, so they never undo a promise of monotonicity.
"""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import expit as logistic

from .numerics.basis import basis
from .numerics.logistic import clipped_logit, edges

MOST_KNOTS = 10_000  # distinct values kept exactly; beyond it 10,001 equally spaced ranks
MARGIN = 0.1  # of logit_unit() on both sides
CHUNK = 16_384  # rows looked up at a time: sorted first, as the search is four times faster on neighbours


@dataclass(frozen=True, eq=False)
class Ecdf:
    """Empirical distribution function sum w 1{X <= x} / sum w, the transform of Wang & Liu (2020).

    knots (k,) increasing values, cumulated (k,) weight at or below each, thinned: more than 10,000 distinct values,
    so that the knots are equally spaced ranks and the function is exact at the knots.
    """

    knots: np.ndarray
    cumulated: np.ndarray
    thinned: bool = False
    learned = True

    @classmethod
    def learn(cls, x, w=None, room=None):
        """The ecdf of x (n,) without NaN, with case weights w (n,) or None; room (n,), if given, is overwritten."""
        x, w = _present(x, w, "ecdf")
        ordered = np.empty(len(x)) if room is None else room[: len(x)]
        if w is None:
            ordered[:] = x
            ordered.sort()
        else:
            order = _order(x, w)
            np.take(x, order, out=ordered, mode="clip")  # "raise" would buffer a copy
            cumulated = w[order]
            np.cumsum(cumulated, out=cumulated)
        last = np.append(ordered[1:] != ordered[:-1], True)
        thinned = bool(np.count_nonzero(last) > MOST_KNOTS + 1)
        if not thinned:
            at = np.flatnonzero(last)
        else:
            ranks = _ranks(len(x) if w is None else cumulated[-1])
            reach = np.ceil(ranks).astype(np.intp) - 1 if w is None else np.searchsorted(cumulated, ranks)
            knots = np.unique(ordered[np.append(np.maximum(reach, 0), len(x) - 1)])
            at = np.searchsorted(ordered, knots, side="right") - 1
        return cls(ordered[at] + 0.0, at + 1.0 if w is None else cumulated[at], thinned)

    def __call__(self, x, out=None):
        """Values in [0, 1]: 0 below the smallest knot, 1 from the largest on. out may be x itself."""
        out = np.empty(len(x)) if out is None else out
        steps = np.append(0.0, self.cumulated / self.cumulated[-1])
        for a in range(0, len(x), CHUNK):
            part = x[a : a + CHUNK]
            order = np.argsort(part)
            part = part[order]  # NaN last, and so are its ranks
            value = steps[np.searchsorted(self.knots, part, side="right")]
            value[np.isnan(part)] = np.nan
            out[a : a + CHUNK][order] = value
        return out

    def merge(self, other):
        """The ecdf of both sets of rows together; up to 2e-4 off where one of them is thinned."""
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
    learned = True

    @classmethod
    def learn(cls, x, w=None, room=None):
        """The range of x (n,) without NaN over the rows of positive weight. A single value maps to 0 or 1."""
        x, _ = _present(x, w, "unit")
        return cls(float(np.min(x)) + 0.0, float(np.max(x)) + 0.0)

    def __call__(self, x, out=None):
        """Values in [0, 1]; NaN stays NaN. out may be x itself."""
        if self.high == self.low:
            step = np.where(np.isnan(x), np.nan, x >= self.low)
            return np.add(step, 0.0, out=out)
        scale = 1.0 if np.isfinite(self.high - self.low) else 0.5  # halves do not overflow
        out = np.multiply(x, scale, out=out)
        out -= self.low * scale
        out /= self.high * scale - self.low * scale
        return np.clip(out, 0.0, 1.0, out=out)

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

    learned = False

    @classmethod
    def learn(cls, x, w=None, room=None):
        """Nothing to learn."""
        return cls()

    def __call__(self, x, out=None):
        """Values in [0, 1]; NaN stays NaN. out may be x itself."""
        return logistic(x, out=out)

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


@dataclass(frozen=True)
class LogitUnit:
    """(logit x - low) / (high - low), clipped to [0, 1], for probabilities of rare events, where an ecdf saturates.

    low, high: range of the logits of the fit, .1 wider at both ends; 0 and 1 count as half as far away as the nearest.
    """

    low: float
    high: float
    learned = True

    @classmethod
    def learn(cls, x, w=None, room=None):
        """The range of the logits of x (n,) in [0, 1] over the rows of positive weight."""
        x, _ = _present(x, w, "logit_unit")
        low, high = float(np.min(x)), float(np.max(x))
        if low < 0 or high > 1:
            raise ValueError(f"logit_unit: scores must lie in [0, 1], but range from {low:.6g} to {high:.6g}: try unit")
        low, high = clipped_logit(np.array([low, high]), *edges(x)).tolist()
        return cls(low - MARGIN, high + MARGIN)

    def __call__(self, x, out=None):
        """Values in [0, 1]; NaN stays NaN. out may be x itself."""
        return np.clip((clipped_logit(x) - self.low) / (self.high - self.low), 0.0, 1.0, out=out)

    def merge(self, other):
        """The range of both."""
        return LogitUnit(min(self.low, other.low), max(self.high, other.high))

    def to_dict(self):
        """Plain JSON types."""
        return {"low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, d):
        """The inverse of to_dict."""
        low, high = _numbers([d["low"], d["high"]], "low, high")
        if not low < high:
            raise ValueError(f"logit_unit: low {low} is not below high {high}")
        return cls(float(low), float(high))


TRANSFORMS = {"ecdf": Ecdf, "unit": Unit, "expit": Expit, "logit_unit": LogitUnit}


def _present(x, w, what):
    """The rows of positive weight: zero weight means absent."""
    if w is not None and np.any(w == 0):
        x, w = x[w > 0], w[w > 0]
    if not len(x):
        raise ValueError(f"{what}: there are no rows to learn from")
    return x, w


def _order(x, w):
    """Positions that sort x; ties by weight unless sums of weights are exact, so that row order leaves no trace."""
    exact = w.sum() < 2**53 and np.array_equal(w, np.rint(w))
    return np.argsort(x) if exact else np.lexsort((w, x))


def _ranks(total):
    """10,001 equally spaced ranks; a hair lower, lest round-off in summed weights moves one to the next value."""
    return np.linspace(0.0, 1.0, MOST_KNOTS + 1) * (total * (1.0 - 1e-9))


def _numbers(values, what):
    out = np.asarray(values, dtype=np.float64)
    if out.ndim != 1 or not np.isfinite(out).all():
        raise ValueError(f"{what}: finite numbers in one dimension are expected")
    return out


def apply_chain(chain, x, out=None):
    """Apply fitted transforms from the innermost outwards; into out (n,), if given."""
    if not chain:
        return x if out is None else np.add(x, 0.0, out=out)
    x = chain[0](x, out=out)
    for transform in chain[1:]:
        x = transform(x, out=x)
    return x


def learn_chain(names, x, w=None, *, out):
    """Learn transforms, given from the innermost outwards, on x (n,); their values go to out (n,), not x itself."""
    chain, room = [], out
    if not names:
        out[:] = x
    for name in names:
        chain.append(TRANSFORMS[name].learn(x, w, room=room))
        x, room = chain[-1](x, out=out), None  # from here on x lies in out
    return tuple(chain)


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
    if s.ndim != 1:
        raise ValueError(f"bern: s must be one score, (n,); got shape {s.shape}: write bern(s1, K) for each score")
    if isinstance(K, bool) or not isinstance(K, Real) or K < 1 or K % 1:
        raise ValueError(f"K must be an integer of at least 1; got {K!r}")
    if np.any(s < 0) or np.any(s > 1):
        raise ValueError(f"bern: scores must lie in [0, 1]; got {np.nanmin(s):.4g} to {np.nanmax(s):.4g}; "
                         "map them first, e.g. (s - min) / (max - min)")  # fmt: skip
    return basis(s, int(K)).T

"""Isotonic Bernstein fusion (Wang & Liu 2020): least squares over the coefficient cone.

Departures from the paper: a tie-break penalty settles coefficients that no row identifies; the bounds hold at every
minimal and maximal node, so that free axes stay in [0, 1]; decreasing and free scores; case weights; M up to 5.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ..numerics.basis import along_axes, basis, elevation, evaluate, gradient
from ..numerics.cone import cone, node_volumes, smallest_steps
from ..numerics.moments import Moments, gram, moment_matrix, moments, rhs
from ..numerics.qp import solve, tie_break
from .base import Curve, Recipe, arrays, by_name, columns, score_name

MOST_COEFFICIENTS = 3000
WORDS = {"increasing": 1, "decreasing": -1, "none": 0}
DEFAULT_K = {1: 5, 2: 5, 3: 5, 4: 4, 5: 3}


@dataclass(frozen=True, eq=False, kw_only=True)
class BernsteinCurve(Curve):
    """f(s) = sum_k beta_k prod_m b_{k_m,K_m}(s_m); beta has shape (K_1 + 1, ..., K_M + 1).

    directions (M,) of +1, -1, 0; df; kkt residual of the fit; polished: the active set was solved exactly;
    support (shape of beta): whether the rows weigh on each node; notes: {what: value} for the summary.
    """

    beta: np.ndarray
    directions: tuple
    df: float
    kkt: float
    polished: bool
    support: np.ndarray
    notes: dict = field(default_factory=dict)

    def __call__(self, s):
        p = evaluate(self.beta, np.clip(s, 0.0, 1.0))
        return np.clip(p, self.beta.min(), self.beta.max())

    @property
    def K(self):
        """Degree along each score."""
        return tuple(size - 1 for size in self.beta.shape)

    def coef(self):
        return {f"beta[{','.join(map(str, k))}]": float(b) for k, b in np.ndenumerate(self.beta)}

    def grid(self):
        return self.beta

    def steps(self):
        return smallest_steps(self.beta, self.directions)

    def gradient(self, s):
        return gradient(self.beta, np.clip(s, 0.0, 1.0))

    def supported(self, s):
        """Whether the node nearest to each score is supported."""
        bad = np.isnan(s).any(axis=1)
        nearest = np.rint(np.clip(np.where(bad[:, None], 0.0, s), 0.0, 1.0) * self.K).astype(int)
        return self.support[tuple(nearest.T)] & ~bad

    def unsupported_share(self):
        """Share of the unit cube nearest to a node without support."""
        return float(np.sum(node_volumes(self.beta.shape)[~self.support]))

    def facts(self):
        K = set(self.K)
        steps = ["free" if v is None else f"{v:.4f}" for v in self.steps()]
        return {
            "Loss": "Brier (least squares)",
            "K": f"{self.K[0] if len(K) == 1 else self.K}",
            **{k: v for k, v in self.notes.items() if k == "K chosen by"},
            "Coefficients": f"{self.beta.size}",
            "KKT residual": _bound(self.kkt) + ("" if self.polished else " (interior solution)"),
            "Smallest step": ", ".join(steps),
            "Range of f": f"{max(self.beta.min(), 0.0):.4f} to {self.beta.max():.4f}",
            "Unsupported": f"{self.unsupported_share():.1%} of the domain",
            **{k: v for k, v in self.notes.items() if k != "K chosen by"},
        }

    def to_dict(self):
        return {
            "beta": self.beta.tolist(), "directions": list(self.directions), "df": self.df, "kkt": self.kkt,
            "polished": self.polished, "support": self.support.tolist(), "notes": dict(self.notes),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, d):
        beta, directions = np.array(d["beta"], dtype=np.float64), tuple(int(v) for v in d["directions"])
        if beta.ndim != len(directions) or not 1 <= beta.ndim <= Bernstein.max_scores or min(beta.shape) < 2:
            raise ValueError(f"bernstein: coefficients of shape {beta.shape} do not fit {len(directions)} scores")
        if not (np.isfinite(beta).all() and beta.min() >= 0 and beta.max() <= 1):
            raise ValueError("bernstein: coefficients must be finite and lie in [0, 1]")
        if any(step is not None and step < 0 for step in smallest_steps(beta, directions)):
            raise ValueError("bernstein: the coefficients break the promised direction of a score")
        support = np.array(d["support"], dtype=bool)
        if support.shape != beta.shape:
            raise ValueError(f"bernstein: support has shape {support.shape}, coefficients {beta.shape}")
        return cls(
            beta=beta, directions=directions, df=float(d["df"]), kkt=float(d["kkt"]), polished=bool(d["polished"]),
            support=support, notes={str(k): str(v) for k, v in d["notes"].items()},
        )  # fmt: skip


def _bound(residual):
    """A residual as a power of ten it lies below: round-off differs between machines, its size does not."""
    return f"< 1e-{int(np.clip(np.floor(-np.log10(residual)), 0, 12)):02d}" if residual > 0 else "< 1e-12"


@dataclass(frozen=True)
class Bernstein(Recipe):
    """Isotonic Bernstein polynomial of scores in [0, 1]: monotone in every score on the whole domain.

    Minimises sum w (y - f(s))^2 over polynomials f(s) = sum_k beta_k prod_m b_{k_m,K_m}(s_m) whose coefficients do not
    decrease along any axis and lie in [0, 1] (eq. 10-13).

    Parameters
    ----------
    K : int, tuple or dict, optional
        Degree of every score, one per score, or by score name. Default 5 for up to three scores, 4 for four, 3 for
        five. prod(K_m + 1) may be at most 3,000.
    monotone : str, tuple or dict
        "increasing" (default), "decreasing" or "none" for every score, one per score, or by score name (scores not
        named are increasing).
    tie_break : float
        Strength, relative to the mean Gram diagonal, of the second-difference and ridge penalty that settles
        coefficients no row identifies. 0 switches it off.

    Raises
    ------
    ValueError
        For an option out of range, more than 3,000 coefficients, more than five scores, scores outside [0, 1], a
        constant score.

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.methods import Bernstein
    >>> s, y = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0, 1, 0, 0])
    >>> Bernstein(K=1).fit_arrays(s, y).beta.round(3)
    array([0. , 0.5])

    References
    ----------
    Wang, Y. & Liu, X. (2020). Multivariate probability calibration with isotonic Bernstein polynomials. IJCAI-20,
    2547-2553. doi:10.24963/ijcai.2020/353
    """

    title: ClassVar[str] = "Isotonic Bernstein polynomial"
    reference: ClassVar[str] = "Wang & Liu (2020), doi:10.24963/ijcai.2020/353"
    max_scores: ClassVar[int | None] = 5

    K: int | tuple | dict | None = None
    monotone: str | tuple | dict = "increasing"
    tie_break: float = 1e-10

    def __post_init__(self):
        for k in _values(self.K):
            if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
                raise ValueError(f"K must be an integer of at least 1, a tuple or a dict by score; got {self.K!r}")
        for word in _values(self.monotone):
            if not isinstance(word, str) or word not in WORDS:
                raise ValueError(f"monotone is 'increasing', 'decreasing' or 'none', or a dict by score; got {word!r}")
        if not (isinstance(self.tie_break, int | float) and 0 <= self.tie_break <= 1e-3):
            raise ValueError(f"tie_break must lie between 0 and 0.001; got {self.tie_break!r}")

    def domain(self):
        return "unit"

    def directions(self, m):
        words = self.monotone
        if isinstance(words, dict):
            raise ValueError("monotone by score name needs names: use the formula door, or a tuple in order of scores")
        words = (words,) * m if isinstance(words, str) else words
        if len(words) != m:
            raise ValueError(f"monotone has {len(words)} entries for {m} scores: {words!r}")
        return tuple(WORDS[word] for word in words)

    def degrees(self, m):
        """Degree of each of m scores."""
        if isinstance(self.K, dict):
            raise ValueError("K by score name needs names: use the formula door, or a tuple in the order of scores")
        K = DEFAULT_K.get(m, 3) if self.K is None else self.K
        K = K if isinstance(K, tuple | list) else (K,) * m
        if len(K) != m:
            raise ValueError(f"K has {len(K)} entries for {m} scores: {self.K!r}")
        return tuple(int(k) for k in K)

    def bind(self, names):
        K, monotone = self.K, self.monotone
        if isinstance(K, dict):
            usual = DEFAULT_K.get(len(names), 3)
            K = tuple(usual if k is None else k for k in by_name(K, names, "K"))
        if isinstance(monotone, dict):
            monotone = tuple(word or "increasing" for word in by_name(monotone, names, "monotone"))
        bound = replace(self, K=K, monotone=monotone)
        if len(names) <= self.max_scores:
            bound.directions(len(names)), bound._within_limit(len(names))
        return bound

    def _within_limit(self, m):
        K = self.degrees(m)
        count = int(np.prod([k + 1 for k in K], dtype=float))
        if count > MOST_COEFFICIENTS:
            raise ValueError(
                f"K={self.K!r} with {m} scores makes {count:,} coefficients; at most {MOST_COEFFICIENTS:,} are fitted: "
                "use a smaller K, or a smaller one for some scores, K=(5, 5, 2)"
            )

    def check(self, s, y, w=None, names=None):
        super().check(s, y, w, names)
        self._within_limit(s.shape[1])
        for m in range(s.shape[1]):
            if s[0, m] == s[:, m].min() == s[:, m].max():
                raise ValueError(
                    f"{score_name(names, m)} is constant ({s[0, m]:.6g} in every row): it says nothing; leave it out"
                )

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        return self._fit(s, y, w)

    def _fit(self, s, y, w):
        found = moments(s, y, w, [2 * k for k in self.degrees(s.shape[1])])
        return self.fit_sums(found, _duplicates(s))

    def fit_many(self, s, Y, W=None):
        """One pass over the rows for all r problems, then one small quadratic programme each."""
        Y, W, r = columns(Y, W)
        D = [2 * k for k in self.degrees(s.shape[1])]
        T0 = moment_matrix(s, W, D)
        T1 = moment_matrix(s, W * Y, D)
        weight, events = W.sum(axis=0), (W * Y).sum(axis=0)
        notes = _duplicates(s)
        return [
            self.fit_sums(Moments(T0[j % len(T0)], T1[j], len(s), weight[j % len(T0)], events[j]), notes)
            for j in range(r)
        ]

    def sums(self, s, y, w=None):
        """Bernstein moments of degree 2K: they add."""
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        return moments(s, y, w, [2 * k for k in self.degrees(s.shape[1])])

    def fit_sums(self, sums, notes=None):
        """The curve of accumulated moments."""
        K = tuple(d // 2 for d in sums.degrees)
        limits = cone(tuple(k + 1 for k in K), self.directions(len(K)))
        penalty = tie_break(limits.shape, float(self.tie_break)) if self.tie_break else None
        mean = sums.events / sums.weight
        fit = solve(gram(sums.T0, K), rhs(sums.T1, K), sums.weight, mean, limits, penalty)
        beta = limits.restore(fit.beta)
        weight_at_node = along_axes(sums.T0, [elevation(k, 2 * k) for k in K])
        support = weight_at_node / _peaks(K) >= 1.0
        return BernsteinCurve(
            beta=beta, directions=limits.directions, df=fit.df, kkt=fit.kkt, polished=fit.polished, support=support,
            notes=notes or {},
        )  # fmt: skip


def _values(option):
    if isinstance(option, dict):
        return list(option.values())
    return option if isinstance(option, tuple | list) else [option]


def _duplicates(s):
    """A note on scores that are equal in every row."""
    M = s.shape[1]
    same = [f"{a + 1} = {b + 1}" for a in range(M) for b in range(a + 1, M) if np.array_equal(s[:, a], s[:, b])]
    return {"Duplicated": "scores " + ", ".join(same)} if same else {}


@lru_cache(maxsize=64)
def _peaks(K):
    """Largest value of each product of basis functions, the shape of the grid."""
    out = np.ones(())
    for k in K:
        out = np.multiply.outer(out, np.diag(basis(np.linspace(0.0, 1.0, k + 1), k)))
    return out

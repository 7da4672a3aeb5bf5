"""Isotonic Bernstein fusion (Wang & Liu 2020): least squares over the coefficient cone.

Departures from the paper: a tie-break penalty settles coefficients that no row identifies; the bounds hold at every
minimal and maximal node, so that free axes stay in [0, 1]; decreasing and free scores; case weights; M up to 5.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..numerics.basis import evaluate, gradient
from ..numerics.cone import cone, node_volumes, smallest_steps
from ..numerics.folds import fold_weights
from ..numerics.moments import Moments, moment_matrix, moments
from ..numerics.selection import candidates, degree_path, fold_moments
from ..numerics.sieve import fit_degree, node_support
from .base import Curve, Recipe, arrays, by_name, check_choice, columns, per_score, positive, score_name

MOST_COEFFICIENTS = 3000
WORDS = {"increasing": 1, "decreasing": -1, "none": 0}
CRITERIA = {"cv": "five-fold Brier score", "aic": "AIC", "bic": "BIC"}
DEFAULT_K = {1: 5, 2: 5, 3: 5, 4: 4, 5: 3}


@dataclass(frozen=True, eq=False, kw_only=True)
class BernsteinCurve(Curve):
    """f(s) = sum_k beta_k prod_m b_{k_m,K_m}(s_m); beta has shape (K_1 + 1, ..., K_M + 1).

    directions (M,) of +1, -1, 0; df; kkt residual of the fit; polished: the active set was solved exactly;
    support (shape of beta): whether the rows weigh on each node; notes: {what: value} for the summary; path: the
    table of degrees among which K was chosen, or None.
    """

    beta: np.ndarray
    directions: tuple
    df: float
    kkt: float
    polished: bool
    support: np.ndarray
    notes: dict = field(default_factory=dict)
    path: dict | None = None

    def __call__(self, s):
        p = evaluate(self.beta, np.clip(s, 0.0, 1.0))
        return np.clip(p, self.beta.min(), self.beta.max())

    K = property(lambda self: tuple(size - 1 for size in self.beta.shape))

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
            "K": f"{self.K[0] if len(K) == 1 else self.K}{self.notes.get('K', '')}",
            "Coefficients": f"{self.beta.size}",
            "KKT residual": _bound(self.kkt) + ("" if self.polished else " (interior solution)"),
            "Smallest step": ", ".join(steps),
            "Range of f": f"{max(self.beta.min(), 0.0):.4f} to {self.beta.max():.4f}",
            "Unsupported": f"{self.unsupported_share():.1%} of the domain",
            **{k: v for k, v in self.notes.items() if k != "K"},
        }

    def tables(self):
        return {} if self.path is None else {"path": self.path}

    def to_dict(self):
        return {
            "beta": self.beta.tolist(), "directions": list(self.directions), "df": self.df, "kkt": self.kkt,
            "polished": self.polished, "support": self.support.tolist(), "notes": dict(self.notes), "path": self.path,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, d):
        beta, directions = np.array(d["beta"], dtype=np.float64), tuple(int(v) for v in d["directions"])
        if beta.ndim != len(directions) or not 1 <= beta.ndim <= Bernstein.max_scores or min(beta.shape) < 2:
            raise ValueError(f"bernstein: coefficients of shape {beta.shape} do not fit {len(directions)} scores")
        if beta.size > MOST_COEFFICIENTS or not (float(d["kkt"]) >= 0 and float(d["df"]) >= 0):
            raise ValueError(f"bernstein: more than {MOST_COEFFICIENTS:,} coefficients, or kkt or df below 0")
        if not (np.isfinite(beta).all() and beta.min() >= 0 and beta.max() <= 1):
            raise ValueError("bernstein: coefficients must be finite and lie in [0, 1]")
        if any(step is not None and step < 0 for step in smallest_steps(beta, directions)):
            raise ValueError("bernstein: the coefficients break the promised direction of a score")
        support, notes = np.array(d["support"], dtype=bool), {str(k): str(v) for k, v in d["notes"].items()}
        if support.shape != beta.shape:
            raise ValueError(f"bernstein: support has shape {support.shape}, coefficients {beta.shape}")
        return cls(
            beta=beta, directions=directions, df=float(d["df"]), kkt=float(d["kkt"]), polished=bool(d["polished"]),
            support=support, notes=notes, path=d["path"],
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
    K : int, tuple, dict or {"cv", "aic", "bic"}, optional
        Degree of every score, one per score, or by score name. Default 5 for up to three scores, 4 for four, 3 for
        five. prod(K_m + 1) may be at most 3,000. "cv": smallest five-fold cross-validated Brier score among 1 to 15
        (as far as 700 coefficients go); "aic", "bic": smallest criterion of the Bernoulli likelihood.
    anisotropic : bool
        With a criterion and two scores: try a degree of its own for each score.
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

    K: int | tuple | dict | str | None = None
    monotone: str | tuple | dict = "increasing"
    tie_break: float = 1e-10
    anisotropic: bool = False

    def __post_init__(self):
        for k in () if self.needs_raw else _values(self.K):
            if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
                raise ValueError(
                    "K must be an integer of at least 1, a tuple or a dict by score, or one of "
                    f"{', '.join(map(repr, CRITERIA))}; got {self.K!r}"
                )
        check_choice("anisotropic", self.anisotropic, (True, False))
        if self.anisotropic and not self.needs_raw:
            raise ValueError(f"anisotropic=True needs K to be chosen, K='cv'; got K={self.K!r}")
        for word in _values(self.monotone):
            if not isinstance(word, str) or word not in WORDS:
                raise ValueError(f"monotone is 'increasing', 'decreasing' or 'none', or a dict by score; got {word!r}")
        if not (isinstance(self.tie_break, int | float) and 0 <= self.tie_break <= 1e-3):
            raise ValueError(f"tie_break must lie between 0 and 0.001; got {self.tie_break!r}")

    @property
    def needs_raw(self):
        """Whether K is chosen on folds."""
        return isinstance(self.K, str) and self.K in CRITERIA

    def domain(self):
        return "unit"

    def directions(self, m):
        return tuple(WORDS[word] for word in per_score(self.monotone, m, "monotone"))

    def degrees(self, m):
        """Degree of each of m scores."""
        return tuple(int(k) for k in per_score(DEFAULT_K.get(m, 3) if self.K is None else self.K, m, "K"))

    def bind(self, names):
        K, monotone, usual = self.K, self.monotone, DEFAULT_K.get(len(names), 3)
        if isinstance(K, dict):
            K = tuple(usual if k is None else k for k in by_name(K, names, "K"))
        if isinstance(monotone, dict):
            monotone = tuple(word or "increasing" for word in by_name(monotone, names, "monotone"))
        bound = replace(self, K=K, monotone=monotone)
        if len(names) <= self.max_scores:
            bound.directions(len(names)), bound._within_limit(len(names))
        return bound

    def _within_limit(self, m):
        if self.needs_raw:
            if self.anisotropic and m != 2:
                raise ValueError(f"anisotropic=True is for two scores; this formula has {m}")
            return
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
                    f"{score_name(names, m)} is constant (one value in every row): it says nothing; leave it out"
                )

    def fit_arrays(self, s, y, w=None, raw=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        if self.needs_raw:
            return self._choose(s, y, w, s if raw is None else raw)
        found = moments(s, y, w, [2 * k for k in self.degrees(s.shape[1])])
        return self.fit_sums(found, _duplicates(s))

    def _choose(self, s, y, w, raw, details=True):
        """The curve of the degree that the criterion chooses, with the path of all of them."""
        M = s.shape[1]
        tried = candidates(M, self.anisotropic)
        folds = fold_moments(s, y, w, fold_weights(y, raw, w), [2 * max(k) for k in zip(*tried, strict=True)])
        path = degree_path(folds, tried, self.directions(M), float(self.tie_break), self.K, (s, y, w), details)
        sums = sum(folds[1:], folds[0]).lower([2 * k for k in path.K[path.chosen]])
        note = {"K": f" (by {CRITERIA[self.K]})"}
        curve = self.fit_sums(sums, note | _duplicates(s))
        return replace(curve, path=path.columns()) if details else curve

    def fit_many(self, s, Y, W=None):
        """One pass over the rows for all r problems, then one small quadratic programme each."""
        Y, W, r = columns(Y, W)
        if self.needs_raw:
            parts = (positive(s, Y[:, j % Y.shape[1]], W[:, j % W.shape[1]]) for j in range(r))
            return [self._choose(*part, part[0], details=False) for part in parts]
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
        directions = self.directions(len(K))
        fit = fit_degree(sums, K, directions, self.tie_break)
        beta = cone(tuple(k + 1 for k in K), directions).restore(fit.beta)
        return BernsteinCurve(
            beta=beta, directions=directions, df=fit.df, kkt=fit.kkt, polished=fit.polished,
            support=node_support(sums, K) >= 1.0, notes=notes or {},
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

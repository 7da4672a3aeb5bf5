"""Isotonic Bernstein fusion (Wang & Liu 2020): least squares or maximum likelihood over the coefficient cone.

Departures from the paper: a tie-break penalty settles coefficients that no row identifies; the bounds hold at every
minimal and maximal node, so that free axes stay in [0, 1]; decreasing and free scores; case weights; M up to 5;
averages over degrees; the likelihood; shrinkage.
"""

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

import numpy as np

from ..numerics.basis import evaluate, gradient
from ..numerics.cone import node_volumes, smallest_steps
from ..numerics.estimation import estimate, of_part
from ..numerics.moments import moments
from ..numerics.sieve import Part
from ..summary import power_above
from . import bernstein_many as many
from . import bernstein_options as options
from .anchor import check_names, numeric_anchor, read_anchor, written_anchor
from .base import Curve, Recipe, arrays, arrays_and_raw, check_constant, per_score


@dataclass(frozen=True, eq=False, kw_only=True)
class BernsteinCurve(Curve):
    """f(s) = sum_k beta_k prod_m b_{k_m,K_m}(s_m); beta has shape (K_1 + 1, ..., K_M + 1).

    directions (M,) of +1, -1, 0; df; kkt residual of the fit; polished: the active set was solved exactly;
    support (shape of beta): whether the rows weigh on each node; notes: {what: value} for the summary; path: the
    table of degrees among which K was chosen, or None; loss; shrink: weight of the anchor; more: further tables.
    """

    beta: np.ndarray
    directions: tuple
    df: float
    kkt: float
    polished: bool
    support: np.ndarray
    notes: dict = field(default_factory=dict)
    path: dict | None = None
    loss: str = "brier"
    shrink: float = 0.0
    more: dict = field(default_factory=dict)

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
            "Loss": options.LOSSES[self.loss],
            "K": f"{self.K[0] if len(K) == 1 else self.K}{self.notes.get('K', '')}",
            "Coefficients": f"{self.beta.size}",
            "KKT residual": f"< {power_above(self.kkt)}" + ("" if self.polished else " (interior solution)"),
            "Smallest step": ", ".join(steps),
            "Range of f": f"{max(self.beta.min(), 0.0):.4f} to {self.beta.max():.4f}",
            "Unsupported": f"{self.unsupported_share():.1%} of the domain",
            **{k: v for k, v in self.notes.items() if k != "K"},
        }

    def tables(self):
        return ({} if self.path is None else {"path": self.path}) | self.more

    def to_dict(self):
        return {
            "beta": self.beta.tolist(), "directions": list(self.directions), "kkt": self.kkt,
            "df": None if np.isnan(self.df) else self.df, "polished": self.polished, "support": self.support.tolist(),
            "notes": dict(self.notes), "path": self.path, "loss": self.loss, "shrink": self.shrink, "more": self.more,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, d):
        beta, directions = np.array(d["beta"], dtype=np.float64), tuple(int(v) for v in d["directions"])
        support, notes = np.array(d["support"], dtype=bool), {str(k): str(v) for k, v in d["notes"].items()}
        options.check_coefficients(beta, directions, support, Bernstein.max_scores)
        loss, shrink, more = d.get("loss", "brier"), d.get("shrink", 0.0), d.get("more", {})  # not in the first files
        options.check_read(d["kkt"], loss, shrink)
        return cls(
            beta=beta, directions=directions, df=float("nan") if d["df"] is None else float(d["df"]),
            kkt=float(d["kkt"]), polished=bool(d["polished"]), support=support, notes=notes, path=d["path"],
            loss=loss, shrink=float(shrink), more=dict(more),
        )  # fmt: skip


@dataclass(frozen=True)
class Bernstein(Recipe):
    """Isotonic Bernstein polynomial of scores in [0, 1]: monotone in every score on the whole domain.

    Minimises sum w (y - f(s))^2, or maximises the Bernoulli likelihood, over polynomials f(s) = sum_k beta_k
    prod_m b_{k_m,K_m}(s_m) whose coefficients do not decrease along any axis and lie in [0, 1] (eq. 10-13).

    Parameters
    ----------
    K : int, tuple, dict or {"cv", "aic", "bic", "average"}, optional
        Degree of every score, one per score, or by score name. Default 5 for up to three scores, 4 for four, 3 for
        five. prod(K_m + 1) may be at most 3,000. "cv": smallest five-fold cross-validated Brier score among 1 to 15
        (as far as 700 coefficients go); "aic", "bic": smallest criterion of the Bernoulli likelihood; "average": the
        fits of all of them, averaged.
    anisotropic : bool
        With a criterion and two scores: try a degree of its own for each score.
    monotone : str, tuple or dict
        "increasing" (default), "decreasing" or "none" for every score, one per score, or by score name (scores not
        named are increasing).
    tie_break : float
        Strength, relative to the mean Gram diagonal, of the second-difference and ridge penalty that settles
        coefficients no row identifies. 0 switches it off.
    average : {"stack", "equal", "exp"}
        Weights of K="average", >= 0 and of sum one: those of the smallest five-fold Brier score of the average;
        equal; or exp(-n (B_K - min B)/(2 min B)), B_K the five-fold Brier score and n the sum of weights.
    loss : {"brier", "log"}
        Least squares, or maximum likelihood: better where events are rare. f may then be 0 or 1 where no row of the
        fit says otherwise; a new row that does has log-likelihood -inf.
    shrink : float or "cv", optional
        Weight, relative to that of the rows, of pseudo-data from the anchor; df is then not defined. "cv": the
        smallest five-fold Brier score among 0, .1, .25, .5, 1, 2, 4, at the usual K where K is to be chosen.
    anchor : {"logistic", "pool", "mean"}, Curve or Results
        Logistic regression with slopes that follow `monotone` on the logits of the scores before transforms where they
        lie in [0, 1], else after them, with Platt's smoothed targets (they, anchor_rows and average="exp" depend on
        the size of the weights, not only on their ratios); the same near the mean logit of rising scores in [0, 1], as
        logistic_fusion(prior="pool"); the mean of y; or a curve on the same transformed scores.
    anchor_rows : float, optional
        In place of shrink: what the anchor weighs in rows; shrink is then anchor_rows / sum of weights.

    Raises
    ------
    ValueError
        For an option out of range, more than 3,000 coefficients, more than five scores, scores outside [0, 1], a
        constant score, an anchor on other scores.

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
    average: str = "stack"
    loss: str = "brier"
    shrink: float | str | None = None
    anchor: object = "logistic"
    anchor_rows: float | None = None

    def __post_init__(self):
        object.__setattr__(self, "anchor", read_anchor(self.anchor))
        options.check_options(self)

    def __eq__(self, other):
        return type(other) is type(self) and self.to_dict() == other.to_dict()

    def __hash__(self):
        return hash((type(self), str(self.K), self.loss))

    def to_dict(self):
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"anchor": written_anchor(self.anchor)}

    @property
    def needs_raw(self):
        """Whether folds are made of the scores before transforms, or the anchor is."""
        return isinstance(self.K, str) or self.shrink is not None or self.anchor_rows is not None

    def domain(self):
        return "unit"

    def directions(self, m):
        return tuple(options.WORDS[word] for word in per_score(self.monotone, m, "monotone"))

    def degrees(self, m):
        """Degree of each of m scores."""
        if isinstance(self.K, str):
            raise ValueError(f"K={self.K!r} is settled by the fit: fit first, its degrees are res.curve.K")
        return tuple(int(k) for k in per_score(options.DEFAULT_K.get(m, 3) if self.K is None else self.K, m, "K"))

    def bind(self, names):
        bound = replace(self, **options.by_position(self, names))
        check_names(self.anchor, names)
        if len(names) <= self.max_scores:
            bound.directions(len(names)), options.check_size(bound, len(names))
        return bound

    def hold(self, curve):
        chosen = options.held(self, curve)
        return replace(self, **chosen) if chosen else self

    def check(self, s, y, w=None, names=None):
        super().check(s, y, w, names)
        options.check_size(self, s.shape[1])
        check_constant(s, names)

    def fit_arrays(self, s, y, w=None, raw=None):
        s, y, w, raw = arrays_and_raw(s, y, w, raw)
        self.check(s, y, w)
        return self.fit_checked(s, y, w, raw)

    def fit_many(self, s, Y, W=None, raw=None):
        """One pass over the rows for all r problems where no folds are needed, then one small problem each."""
        return many.replicates(self, s, Y, W, raw)

    @classmethod
    def fit_together(cls, recipes, sets):
        """One pass over each set of rows for all degrees and shrinkages that need no folds."""
        found = many.together(recipes, sets)
        return super().fit_together(recipes, sets) if found is None else found

    def sums(self, s, y, w=None):
        """Bernstein moments of degree 2K, which add; None where rows are needed: folds, anchors, the likelihood."""
        if self.needs_raw or self.loss != "brier":
            return None
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        return moments(s, y, w, [2 * k for k in self.degrees(s.shape[1])])

    def fit_sums(self, sums, notes=None):
        """The curve of accumulated moments."""
        K = tuple(d // 2 for d in sums.degrees)
        found = of_part(Part(sums), replace(options.plan_of(replace(self, K=K), len(K), 0.0), K=K))
        return self.curve(found, None, notes)

    def fit_checked(self, s, y, w, raw, details=True):
        """The curve of checked rows; details: with the columns of tables on which nothing depends."""
        plan = options.plan_of(self, s.shape[1], len(y) if w is None else w.sum())
        found = estimate(s, y, w, s if raw is None else raw, self.pull(s, y, w, raw), plan, details)
        return self.curve(found, s)

    def pull(self, s, y, w, raw, fitted=None):
        """The numerics' Anchor for these rows; None where nothing is shrunk; fitted: as Rows.anchors."""
        if not self.shrink and not self.anchor_rows:
            return None
        return numeric_anchor(self.anchor, s, raw, self.directions(s.shape[1]), w, fitted)

    def curve(self, found, s, notes=None):
        """The curve of an Estimate on scores s (n, M); notes for the summary, by default its own."""
        tables = dict(found.tables)
        notes = options.notes_of(self, found, s) if notes is None and s is not None else notes or {}
        return BernsteinCurve(
            beta=found.beta, directions=self.directions(found.beta.ndim), df=found.df, kkt=found.kkt,
            polished=found.polished, support=found.support, notes=notes, path=tables.pop("path", None), loss=self.loss,
            shrink=found.shrink, more=tables,
        )  # fmt: skip

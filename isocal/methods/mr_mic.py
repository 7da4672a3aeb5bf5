"""MR-MIC (Zhong & Kwok 2013; Wang & Liu 2020, section 3.2): smoothed isotonic probabilities at the rows, interpolated.

Departures: tied rows collapse to one point, exactly; Omega is the Laplacian of the similarities, which alone leaves
constants free, the raw matrix on request; the quadratic programme is solved exactly (numerics/order_fit.py); a second
way to predict, which is monotone off the rows too.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..numerics.between import Between
from ..numerics.orders import largest_below
from ..numerics.smoothed_order import held_out_path, smoothed
from ..summary import power_above
from .base import Curve, Recipe, arrays_and_raw, check_choice, check_number, finite_array

GRID = tuple(float(f"{a}e{e}") for e in range(-6, -1) for a in (1, 3)) + (0.1,)  # half decades
MOST, MOST_SMOOTHED = 10_000, 5_000  # distinct rows; where Omega, a dense matrix, couples them
MOST_LINEAR = {2: 10_000, 3: 10_000, 4: 2_000, 5: 1_000}  # by the number of scores: simplices grow with both
OMEGA = {"laplacian": "graph Laplacian", "similarity": "similarity matrix"}
PREDICT = ("linear", "envelope")


@dataclass(frozen=True, eq=False, kw_only=True)
class MRMICCurve(Curve):
    """Probabilities values (k,) at distinct points (k, M) in lexicographic order, and what lies between.

    simplices (t, M + 1): positions in points and absent corners of the unit cube together, in lexicographic order;
    empty for one score and for predict="envelope". weight (k,) of the points; pairs, active: numbers of cover pairs
    and of those with equal values; path: the table of lam, or None.
    """

    points: np.ndarray
    values: np.ndarray
    weight: np.ndarray
    simplices: np.ndarray
    predict: str
    lam: float
    omega: str
    pairs: int
    active: int
    kkt: float
    df: float
    path: dict | None = None

    def __call__(self, s):
        out, known = np.full(len(s), np.nan), ~np.isnan(s).any(axis=1)
        out[known] = self.between.at(self.values, np.clip(s[known], 0.0, 1.0))
        return out

    @cached_property
    def between(self):
        """What carries the values to the places between the points."""
        return Between(self.points, self.predict, self.simplices)

    def supported(self, s):
        """Whether a row lies among the points: in their convex hull, or for "envelope" above one and below another."""
        bad = np.isnan(s).any(axis=1)
        return self.between.among(self.values, np.clip(np.where(bad[:, None], 0.0, s), 0.0, 1.0)) & ~bad

    def coef(self):
        names = [f"p({', '.join(f'{v:.6g}' for v in point)})" for point in self.points]
        if len(set(names)) < len(names):
            names = [f"p({', '.join(map(repr, point))})" for point in self.points.tolist()]
        return dict(zip(names, self.values.tolist(), strict=True))

    def steps(self):
        if not self.between.monotone:
            return None
        low, high = self.between.pairs
        return [float(np.min(self.values[high] - self.values[low], initial=1.0))] * self.points.shape[1]

    def facts(self):
        smooth = self.lam > 0
        return {
            "lambda": f"{self.lam:g}" + ("" if self.path is None else " (by five-fold Brier score)"),
            "Points": f"{len(self.points):,} distinct",
            "Cover pairs": f"{self.pairs:,}",
            "Active pairs": f"{self.active:,}",
            "Omega": OMEGA[self.omega] if smooth else "none (lambda = 0)",
            "KKT residual": f"< {power_above(self.kkt)}",
            "Between points": described(self.predict, self.points.shape[1]),
            "Range of f": f"{self.values.min():.4f} to {self.values.max():.4f}",
        }

    def tables(self):
        return {} if self.path is None else {"path of lambda": self.path}

    def to_dict(self):
        numbers = {name: getattr(self, name) for name in ("lam", "pairs", "active", "kkt", "df")}
        lists = {name: getattr(self, name).tolist() for name in ("points", "values", "weight", "simplices")}
        return lists | numbers | {"predict": self.predict, "omega": self.omega, "path": self.path}

    @classmethod
    def from_dict(cls, d):
        points, values = np.array(d["points"], dtype=np.float64), finite_array(d["values"], "values", 0.0, 1.0)
        weight, simplices = finite_array(d["weight"], "weight", 0.0), np.array(d["simplices"], dtype=np.intp)
        check_choice("predict", d["predict"], PREDICT)
        check_choice("omega", d["omega"], OMEGA)
        for name in ("lam", "kkt", "df", "pairs", "active"):
            check_number(name, d[name], at_least=0)
        check_points(points, values, weight)
        curve = cls(points=points, values=values, weight=weight, simplices=simplices.reshape(-1, points.shape[1] + 1),
                    path=d["path"], **{k: d[k] for k in ("predict", "omega", "lam", "kkt", "df", "pairs", "active")})
        check_simplices(curve)
        return curve


def described(predict, M):
    """How the summary says what lies between the points."""
    if predict == "envelope":
        return "midpoint of the order bounds, monotone"
    return "linear" if M == 1 else "linear, not monotone off the data"


def check_points(points, values, weight):
    """Raise where points from a file are not distinct, in order and in [0, 1], or values fall along their order."""
    if points.ndim != 2 or not len(points) == len(values) == len(weight) > 0 or not points.shape[1]:
        raise ValueError(f"mr_mic: points of shape {points.shape} do not fit {len(values)} values and weights")
    if not (np.isfinite(points).all() and points.min() >= 0 and points.max() <= 1):
        raise ValueError("mr_mic: points must be finite and lie in [0, 1]")
    if len(points) > MOST or not np.array_equal(np.unique(points, axis=0), points):
        raise ValueError(f"mr_mic: points must be distinct, in lexicographic order and at most {MOST:,}")
    if np.any(largest_below(points, values, points) > values):
        raise ValueError("mr_mic: the values fall along the order of the points")


def check_simplices(curve):
    """Raise where simplices from a file are not corners of the points."""
    mesh, M = curve.simplices, curve.points.shape[1]
    if (len(mesh) > 0) != (curve.predict == "linear" and M > 1):
        raise ValueError("mr_mic: simplices are for predict='linear' and several scores")
    if len(mesh) and not (mesh.min() >= 0 and mesh.max() < len(curve.between.nodes[0])):
        raise ValueError("mr_mic: the simplices name points that are not there")


@dataclass(frozen=True)
class MRMIC(Recipe):
    """MR-MIC: manifold-regularised multivariate isotonic calibration, the benchmark method of Wang & Liu (2020).

    Minimises sum_i c_i (ybar_i - p_i)^2 + (lam/2) p' Omega p over probabilities p_i at the distinct rows of scores, of
    weight c_i and mean label ybar_i, with p_i >= p_j wherever row i is at least row j in every score (eq. 6). The
    solution is exact; elsewhere it is interpolated. Scaling all weights changes the fit unless lam = 0, because Omega
    holds products of weights and the sum of weights n.

    Parameters
    ----------
    lam : float or "cv"
        Strength of the smoothing, >= 0 (default 1e-5). "cv": the smallest five-fold cross-validated Brier score among
        1e-6, 3e-6, 1e-5, ..., 0.1, in ``.table("path of lambda")``.
    omega : {"laplacian", "similarity"}
        D - W, the Laplacian of w_ij = c_i c_j / max(|S_i - S_j|, 1/n) (default): differences between near rows cost,
        constants do not, and the mean probability is the mean label. Or W itself, as the paper prints it, which
        pulls p toward 0 and whose objective need not be convex.
    predict : {"linear", "envelope"}
        Between the rows: "linear" (the paper's), over the Delaunay triangulation of the rows and those corners of the
        unit cube that are no rows, up to five scores; monotone at the rows, for two scores or more *not* between them.
        "envelope": midway between the largest probability at or below and the smallest at or above; a step function,
        monotone everywhere, for any number of scores. Where nothing is comparable the bounds are 0 and 1.

    Raises
    ------
    ValueError
        For an option out of range; scores outside [0, 1]; more than 10,000 distinct rows, or 5,000 with lam > 0 (then
        time and memory grow with their square: `isocal.bernstein` takes any number); "linear" with more than five
        scores, 2,000 distinct rows of four or 1,000 of five; omega="similarity" where the objective is not convex.

    Notes
    -----
    df is the divergence of p in ybar (Meyer & Woodroofe 2000, doi:10.1214/aos/1015956708): with lam = 0 the number of
    level sets, comparable neighbours of equal value being one; with lam > 0 the trace of the smoother on its level
    sets. A small lam parts values that were equal, so df does not fall to that of lam = 0.

    Examples
    --------
    Monotone at the rows, and not between them:

    >>> import numpy as np
    >>> from isocal.methods import MRMIC
    >>> s, y = np.array([[0.2, 0.7], [0.5, 0.6], [0.1, 0.8]]), np.array([1, 0, 0])
    >>> MRMIC(lam=0).fit_arrays(s, y)(np.array([[0.2, 0.7], [0.3, 0.7]])).round(9)
    array([1., 0.])
    >>> MRMIC(lam=0, predict="envelope").fit_arrays(s, y)(np.array([[0.2, 0.7], [0.3, 0.7]]))
    array([1., 1.])

    References
    ----------
    Zhong, L. W. & Kwok, J. T. (2013). Accurate probability calibration for multiple classifiers. IJCAI-13, 1939-1945.
    Wang, Y. & Liu, X. (2020). Multivariate probability calibration with isotonic Bernstein polynomials. IJCAI-20,
    2547-2553. doi:10.24963/ijcai.2020/353
    """

    title: ClassVar[str] = "MR-MIC"
    reference: ClassVar[str] = "Zhong & Kwok (2013); Wang & Liu (2020), doi:10.24963/ijcai.2020/353"
    curve_type: ClassVar[type] = MRMICCurve

    lam: float | str = 1e-5
    omega: str = "laplacian"
    predict: str = "linear"

    @property
    def needs_raw(self):
        """Whether folds are made of the scores before transforms."""
        return self.lam == "cv"

    def __post_init__(self):
        if isinstance(self.lam, str):
            check_choice("lam", self.lam, ("cv",))
        else:
            check_number("lam", self.lam, at_least=0)
        check_choice("omega", self.omega, OMEGA)
        check_choice("predict", self.predict, PREDICT)

    def domain(self):
        return "unit"

    def directions(self, m):
        return (1 if self.predict == "envelope" or m == 1 else 0,) * m

    def hold(self, curve):
        return replace(self, lam=curve.lam)

    def check(self, s, y, w=None, names=None):
        super().check(s, y, w, names)
        check_size(self, s)

    def fit_arrays(self, s, y, w=None, raw=None):
        s, y, w, raw = arrays_and_raw(s, y, w, raw)
        self.check(s, y, w)
        lam, path = self._lam(s, y, w, s if raw is None else raw)
        problem = smoothed(s, y, w, self.omega, self.predict, coupled=lam > 0)
        found, values = problem.solve(lam)
        low, high = problem.between.pairs
        return MRMICCurve(
            points=problem.between.points, values=values, weight=problem.weight, simplices=problem.between.simplices,
            predict=self.predict, lam=lam, omega=self.omega, pairs=len(low), kkt=found.kkt, df=found.df, path=path,
            active=int(np.sum(values[low] == values[high])),
        )  # fmt: skip

    def _lam(self, s, y, w, raw):
        """(lam, table of those it was chosen from, or None)."""
        if self.lam != "cv":
            return float(self.lam), None
        scores = held_out_path(s, y, w, raw, GRID, self.omega, self.predict)
        if scores is None or not len(scores):
            why = "no row can be held out" if scores is None else "omega='similarity' is not convex with any of them"
            raise ValueError(f"lam='cv' has nothing to choose from ({why}): give a number, lam=1e-5")
        best = int(np.argmin(scores))
        marks = ["*" if k == best else "" for k in range(len(scores))]
        return GRID[best], {"lam": list(GRID[: len(scores)]), "cv_brier": scores.tolist(), "chosen": marks}


def check_size(recipe, s):
    """Raise where there are too many distinct rows, or too many scores to triangulate."""
    M, coupled = s.shape[1], recipe.lam != 0
    most, why = (MOST_SMOOTHED, "with lam > 0 ") if coupled else (MOST, "")
    linear = recipe.predict == "linear" and M > 1
    if linear and M not in MOST_LINEAR:
        raise ValueError(f"MR-MIC with predict='linear' takes at most five scores, got {M}: use predict='envelope'")
    if linear and MOST_LINEAR[M] < most:
        most, why = MOST_LINEAR[M], f"with predict='linear' and {M} scores "
    if len(s) <= most:
        return
    k = len(np.unique(s + 0.0, axis=0))
    if k > most:
        other = ", lam=0" * (coupled and k <= MOST) + ", predict='envelope'" * (linear and MOST_LINEAR[M] < MOST)
        raise ValueError(
            f"MR-MIC {why}takes at most {most:,} distinct rows of scores, got {k:,}: use isocal.bernstein, whose cost "
            f"does not grow with them{other}, or round the scores"
        )

"""The whole contract of a method: a Recipe holds hyper-parameters, a Curve is what fitting finds.

Someone adds a calibrator by writing one file with a Recipe and a Curve and one import line; everything else (formula,
summary, bands, JSON, scikit-learn, contract tests) asks only what stands here.
"""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from keyword import iskeyword
from typing import ClassVar

import numpy as np


class Curve(ABC):
    """A fitted map from scores to a probability; holds coefficients, never hyper-parameters or rows."""

    df = float("nan")  # effective parameters; NaN prints "not defined"

    @abstractmethod
    def __call__(self, s):
        """Probabilities (n,) in [0, 1] at scores s (n, M); NaN for a row with NaN."""

    @abstractmethod
    def coef(self):
        """{name: value} in printing order."""

    @abstractmethod
    def to_dict(self):
        """Plain JSON types."""

    @classmethod
    @abstractmethod
    def from_dict(cls, d):
        """The inverse of to_dict; predicts bit-identically and refuses what breaks a promise."""

    def facts(self):
        """Header lines of summary() in order: {what: value}."""
        return {}

    def tables(self):
        """Further tables: {title: {column: list}}."""
        return {}

    def bse(self):
        """{name: standard error} of the coefficients, or None where they have none."""
        return None

    def steps(self):
        """Smallest step along each score in the promised direction: the certificate. None if there is none."""
        return None

    def gradient(self, s):
        """Partial derivatives (n, M) at scores s, or None where they are not defined."""
        return None

    def supported(self, s):
        """(n,) True where rows of the fit lie near enough to say something, or None where that is not defined."""
        return None

    def grid(self):
        """The coefficients as an array with one axis per score, or None where they do not form one."""
        return None

    def posterior(self, s):
        """Mixture of Beta distributions at each score, or None."""
        return None


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one fit: s (n, M), y (n,), w (n,) or None; raw (n, M), the scores before transforms, or None; anchors
    {word: p (n,)}: what an option `anchor` may name, where it is fitted to these rows already.
    """

    s: np.ndarray
    y: np.ndarray
    w: np.ndarray | None = None
    raw: np.ndarray | None = None
    anchors: dict | None = None


class Recipe(ABC):
    """Frozen hyper-parameters of a method; fit_arrays is the array door."""

    title: ClassVar[str]
    reference: ClassVar[str]
    min_scores: ClassVar[int] = 1
    max_scores: ClassVar[int | None] = None
    needs_raw = False  # whether fit_arrays also takes raw=, the scores before transforms, to make folds from

    @abstractmethod
    def fit_arrays(self, s, y, w=None):
        """The Curve of scores s (n, M), labels y (n,) in {0, 1} and case weights w (n,) or None for ones."""

    def domain(self):
        """Where scores must lie: "unit" is [0, 1]."""
        return "real"

    def domain_remedy(self):
        """What else than a transform helps when scores leave the domain, to end an error message with."""
        return ""

    def directions(self, m):
        """(m,) of +1, -1, 0: what every curve of this recipe promises along each score on the whole domain."""
        return (0,) * m

    def bind(self, names):
        """The recipe with options keyed by score name turned into positions."""
        return self

    def settle(self, s):
        """The recipe with what all rows decide together fixed, so that folds and replicates do not decide anew."""
        return self

    def hold(self, curve):
        """The recipe with what the fit of this curve has chosen held, so that replicates do not choose anew."""
        return self

    def check(self, s, y, w=None, names=None):
        """Raise what is wrong with the rows, naming scores where names are given."""
        check_rows(s, y, w)
        check_scores(self, s, names)

    def fit_many(self, s, Y, W=None, raw=None):
        """r curves: responses Y (n,) or (n, r), weights W None, (n,) or (n, r). Rows are not checked again.

        raw (n, M), the scores before transforms, goes to fit_arrays where needs_raw.
        """
        (Y, W, r), out = columns(Y, W), []
        for j in range(r):
            y, w = Y[:, j % Y.shape[1]], W[:, j % W.shape[1]]
            before = {"raw": raw[w > 0]} if self.needs_raw and raw is not None else {}
            out.append(self.fit_arrays(*positive(s, y, w), **before))
        return out

    @classmethod
    def fit_together(cls, recipes, sets):
        """[[curve of each of several recipes of this class] for each of several sets of rows, Rows]; work that they
        can share is theirs to share.
        """
        def fit(recipe, rows):
            before = {"raw": rows.raw} if recipe.needs_raw and rows.raw is not None else {}
            return recipe.fit_arrays(rows.s, rows.y, rows.w, **before)

        return [[fit(recipe, rows) for recipe in recipes] for rows in sets]

    def sums(self, s, y, w=None):
        """An additive statistic with fit_sums(sums), or None where the method has none."""
        return None

    def to_dict(self):
        """Options in plain JSON types."""
        return asdict(self)


def own_classes(root):
    """{name: class} of isocal's own subclasses of Curve or Recipe, to find one that a file names."""
    found, todo = {}, [root]
    while todo:
        for kind in todo.pop().__subclasses__():
            todo.append(kind)
            if kind.__module__.startswith(__package__ + "."):
                found[kind.__name__] = kind
    return found


def columns(Y, W):
    """(Y, W, r) with two axes each, one or r columns."""
    Y = Y[:, None] if Y.ndim == 1 else Y
    W = np.ones((len(Y), 1)) if W is None else W[:, None] if W.ndim == 1 else W
    return Y, W, max(Y.shape[1], W.shape[1])


def positive(s, y, w):
    """The rows of positive weight: zero weight means absent."""
    keep = w > 0
    return (s, y, w) if keep.all() else (s[keep], y[keep], w[keep])


def arrays(s, y, w=None):
    """The array door: float64 copies where needed, s made (n, M), zero-weight rows left out, unit weights None."""
    s, y = np.asarray(s, dtype=np.float64), np.asarray(y, dtype=np.float64)
    s = s[:, None] if s.ndim == 1 else s
    if w is not None:
        w = np.asarray(w, dtype=np.float64)
        check_rows(s, y, w)
        s, y, w = positive(s, y, w)
        w = None if np.all(w == 1.0) else w
    return s, y, w


def arrays_and_raw(s, y, w=None, raw=None):
    """The array door of a recipe that takes raw scores too: (s, y, w, raw), raw None where it was not given."""
    if raw is not None:
        raw = np.asarray(raw, dtype=np.float64)
        raw = raw if w is None else raw[np.asarray(w) > 0]
    return *arrays(s, y, w), raw


def check_rows(s, y, w=None):
    """Shapes, labels of 0 and 1, finite scores, weights >= 0 with a positive one."""
    if s.ndim != 2 or y.shape != (len(s),) or (w is not None and w.shape != y.shape):
        shapes = ", ".join(f"{k} {v.shape}" for k, v in (("s", s), ("y", y), ("w", w)) if v is not None)
        raise ValueError(f"s must be (n, M), y and w (n,); got {shapes}")
    if len(y) == 0:
        raise ValueError("there are no rows")
    if not np.all((y == 0) | (y == 1)):
        raise ValueError(f"y must hold 0 and 1 only; got {y[(y != 0) & (y != 1)][0]:g}")
    if not np.isfinite(s).all():
        raise ValueError("scores must be finite; leave rows with missing or infinite scores out")
    if w is not None and not (np.all(np.isfinite(w)) and np.all(w >= 0) and np.any(w > 0)):
        raise ValueError("weights must be finite and >= 0, and at least one must be positive")


def check_scores(recipe, s, names=None):
    """The number of scores and, for a recipe on the unit cube, their range, with the remedy."""
    M = s.shape[1]
    if recipe.max_scores is not None and M > recipe.max_scores:
        if recipe.max_scores == 1:
            raise ValueError(f"{recipe.title} takes one score, got {M}: fuse several with isocal.bernstein")
        raise ValueError(f"{recipe.title} takes at most {recipe.max_scores} scores, got {M}: leave some out")
    if recipe.min_scores > M:
        raise ValueError(f"{recipe.title} joins {recipe.min_scores} or more scores, got {M}: calibrate one with "
                         "isocal.platt or isocal.bbq")  # fmt: skip
    if recipe.domain() != "unit":
        return
    for m in range(M):
        low, high = float(s[:, m].min()), float(s[:, m].max())
        if low < 0 or high > 1:
            name = score_name(names, m)
            remedy = "map it to [0, 1] first"
            if names is not None:
                code = names[m] if "(" in names[m] else typed(names[m])
                remedy = f"use ecdf({code}), unit({code}) or expit({code}) in the formula{recipe.domain_remedy()}"
            raise ValueError(f"{name} must lie in [0, 1], but ranges from {low:.6g} to {high:.6g}: {remedy}")


def check_constant(s, names=None):
    """Raise for a score of one value: fits of it identify nothing."""
    for m in range(s.shape[1]):
        if s[0, m] == s[:, m].min() == s[:, m].max():
            name = score_name(names, m)
            raise ValueError(f"{name} is constant (one value in every row): it says nothing; leave it out")


def typed(column):
    """A column as a formula names it."""
    return column if column.isidentifier() and not iskeyword(column) else f"Q({column!r})"


def score_name(names, m):
    """How an error calls score m."""
    return f"score {m + 1}" if names is None else f"score {names[m]!r}"


def by_name(option, names, what):
    """A dict keyed by score name as a list in the order of names, None where a name is not mentioned."""
    unknown = [k for k in option if k not in names]
    if unknown:
        raise ValueError(f"{what}: {unknown[0]!r} is not a score of this formula; its scores are {', '.join(names)}")
    return [option.get(name) for name in names]


def per_score(option, m, what):
    """One value for every score, or one each, as a tuple of m."""
    if isinstance(option, dict):
        raise ValueError(f"{what} by score name needs names: use the formula door, or a tuple in order of the scores")
    values = tuple(option) if isinstance(option, tuple | list) else (option,) * m
    if len(values) != m:
        raise ValueError(f"{what} has {len(values)} entries for {m} scores: {option!r}")
    return values


def check_number(name, value, above=None, at_least=None):
    """A finite number above or not below a limit, else an error that says which."""
    rule = f"> {above:g}" if above is not None else f">= {at_least:g}"
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool) and np.isfinite(value)
    if not number or (above is not None and value <= above) or (at_least is not None and value < at_least):
        raise ValueError(f"{name} must be a number {rule}; got {value!r}")


def check_choice(name, value, choices):
    """One of the choices, else an error that lists them."""
    if not any(value is c or (isinstance(c, str) and value == c) for c in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def finite_array(values, name, low=-np.inf, high=np.inf):
    """A vector read from a file: finite and within limits, else an error that names it."""
    out = np.asarray(values, dtype=np.float64)
    if out.ndim != 1 or not np.isfinite(out).all() or np.any(out < low) or np.any(out > high):
        raise ValueError(f"{name}: a list of finite numbers between {low:g} and {high:g} is expected")
    return out

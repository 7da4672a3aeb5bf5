"""The options of the Bernstein recipe: what they may be, what they ask of the numerics, how the summary says so."""

import numpy as np

from ..numerics.cone import smallest_steps
from ..numerics.estimation import Plan
from ..numerics.sieve import Sieve
from .anchor import called
from .base import by_name, check_choice, check_number

MOST_COEFFICIENTS = 3000
WORDS = {"increasing": 1, "decreasing": -1, "none": 0}
CRITERIA = {"cv": "five-fold Brier score", "aic": "AIC", "bic": "BIC"}
AVERAGES = {"stack": "stacked on five folds", "equal": "equal weights", "exp": "exponential weights on five folds"}
DEFAULT_K = {1: 5, 2: 5, 3: 5, 4: 4, 5: 3}
LOSSES = {"brier": "Brier (least squares)", "log": "log (maximum likelihood)"}


def check_options(recipe):
    """Raise for the first option that is out of range."""
    K = recipe.K
    for k in () if isinstance(K, str) and K in (*CRITERIA, "average") else _values(K):
        if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
            words = ", ".join(map(repr, (*CRITERIA, "average")))
            raise ValueError(
                f"K must be an integer of at least 1, a tuple or a dict by score, or one of {words}; got {K!r}"
            )
    check_choice("anisotropic", recipe.anisotropic, (True, False))
    if recipe.anisotropic and K not in CRITERIA:
        raise ValueError(f"anisotropic=True needs K to be chosen, K='cv'; got K={K!r}")
    for word in _values(recipe.monotone):
        if not isinstance(word, str) or word not in WORDS:
            raise ValueError(f"monotone is 'increasing', 'decreasing' or 'none', or a dict by score; got {word!r}")
    if not (isinstance(recipe.tie_break, int | float) and 0 <= recipe.tie_break <= 1e-3):
        raise ValueError(f"tie_break must lie between 0 and 0.001; got {recipe.tie_break!r}")
    check_choice("average", recipe.average, AVERAGES)
    if recipe.average != "stack" and K != "average":
        raise ValueError(f"average={recipe.average!r} needs several degrees, K='average'; got K={K!r}")
    check_choice("loss", recipe.loss, LOSSES)
    _check_shrink(recipe)


def _check_shrink(recipe):
    shrink = recipe.shrink if recipe.anchor_rows is None else recipe.anchor_rows
    if recipe.anchor_rows is not None:
        if recipe.shrink is not None:
            raise ValueError("shrink weighs the anchor relative to the rows, anchor_rows in rows: give one of them")
        check_number("anchor_rows", recipe.anchor_rows, at_least=0)
    if isinstance(shrink, str):
        check_choice("shrink", shrink, ("cv",))
    elif shrink is not None:
        check_number("shrink", shrink, at_least=0)
    if shrink is None and recipe.anchor != "logistic":
        raise ValueError("anchor says what to shrink toward, and shrink or anchor_rows how much: give shrink=1.0 or "
                         "shrink='cv'")  # fmt: skip
    if shrink is not None and isinstance(recipe.K, str) and recipe.K in ("aic", "bic"):
        raise ValueError(
            f"K={recipe.K!r} needs degrees of freedom, which shrinking leaves undefined: use K='cv' or K='average'"
        )


def check_size(recipe, m):
    """Raise where m scores make too many coefficients, or cannot have the options."""
    if isinstance(recipe.K, str):
        if recipe.anisotropic and m != 2:
            raise ValueError(f"anisotropic=True is for two scores; this formula has {m}")
        return
    count = int(np.prod([k + 1 for k in recipe.degrees(m)], dtype=float))
    if count > MOST_COEFFICIENTS:
        raise ValueError(
            f"K={recipe.K!r} with {m} scores makes {count:,} coefficients; at most {MOST_COEFFICIENTS:,} are fitted: "
            "use a smaller K, or a smaller one for some scores, K=(5, 5, 2)"
        )


def _values(option):
    if isinstance(option, dict):
        return list(option.values())
    return option if isinstance(option, tuple | list) else [option]


def by_position(recipe, names):
    """{option: value} of those that may go by the names of the scores."""
    K, monotone, usual = recipe.K, recipe.monotone, DEFAULT_K.get(len(names), 3)
    if isinstance(K, dict):
        K = tuple(usual if k is None else k for k in by_name(K, names, "K"))
    if isinstance(monotone, dict):
        monotone = tuple(word or "increasing" for word in by_name(monotone, names, "monotone"))
    return {"K": K, "monotone": monotone}


def plan_of(recipe, M, total):
    """What the numerics are asked for M scores and rows of this total weight."""
    shrink = 0.0 if recipe.shrink in (None, "cv") else float(recipe.shrink)
    if recipe.anchor_rows is not None:
        shrink = float(recipe.anchor_rows / total)
    sieve = Sieve(recipe.directions(M), float(recipe.tie_break), recipe.loss, shrink)
    K = recipe.K if isinstance(recipe.K, str) else recipe.degrees(M)
    usual = (DEFAULT_K.get(M, 3),) * M
    return Plan(K, usual, sieve, recipe.average, recipe.shrink == "cv", recipe.anisotropic)


def held(recipe, curve):
    """{option: value} of what a fit has chosen."""
    out = {"K": curve.K, "anisotropic": False} if recipe.K in CRITERIA else {}
    return out | ({"shrink": curve.shrink} if recipe.shrink == "cv" else {})


def share_sums(recipes, plans):
    """Whether the same sums over the rows serve all: no folds, one anchor, the same directions."""
    alike = all(r.anchor == recipes[0].anchor and r.monotone == recipes[0].monotone for r in recipes)
    return alike and not any(plan.needs_folds for plan in plans)


def notes_of(recipe, found, s):
    """{what: value} for the summary: how K was settled, what the fit is shrunk toward, scores equal in every row."""
    notes = {}
    if recipe.K == "average":
        notes["K"] = f" (1 to {found.beta.shape[0] - 1} averaged, {AVERAGES[recipe.average]})"
    elif isinstance(recipe.K, str):
        notes["K"] = f" (by {CRITERIA[recipe.K]})"
    if recipe.shrink is not None or recipe.anchor_rows is not None:
        chosen = " (by five-fold Brier score)" if recipe.shrink == "cv" else ""
        notes["Shrunk"] = f"toward {called(recipe.anchor)}, weight {found.shrink:.4g}{chosen}"
    return notes | duplicates(s)


def duplicates(s):
    """A note on scores that are equal in every row."""
    M = s.shape[1]
    same = [f"{a + 1} = {b + 1}" for a in range(M) for b in range(a + 1, M) if np.array_equal(s[:, a], s[:, b])]
    return {"Duplicated": "scores " + ", ".join(same)} if same else {}


def check_read(kkt, loss, shrink):
    """Raise where figures from a file are none."""
    check_number("kkt", kkt, at_least=0)
    check_choice("loss", loss, LOSSES)
    check_number("shrink", shrink, at_least=0)


def check_coefficients(beta, directions, support, most_scores):
    """Raise where coefficients from a file break a promise."""
    if beta.ndim != len(directions) or not 1 <= beta.ndim <= most_scores or min(beta.shape) < 2:
        raise ValueError(f"bernstein: coefficients of shape {beta.shape} do not fit {len(directions)} scores")
    if beta.size > MOST_COEFFICIENTS:
        raise ValueError(f"bernstein: more than {MOST_COEFFICIENTS:,} coefficients")
    if not (np.isfinite(beta).all() and beta.min() >= 0 and beta.max() <= 1):
        raise ValueError("bernstein: coefficients must be finite and lie in [0, 1]")
    if any(step is not None and step < 0 for step in smallest_steps(beta, directions)):
        raise ValueError("bernstein: the coefficients break the promised direction of a score")
    if support.shape != beta.shape:
        raise ValueError(f"bernstein: support has shape {support.shape}, coefficients {beta.shape}")

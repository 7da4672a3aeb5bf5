"""Two nested fits compared: does a score add anything given the others, is the degree enough."""

from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from . import bootstrap as engine
from .calibration_tests.outcome import Outcome
from .methods import Bernstein
from .results import Results

OWN = ("K", "monotone", "anisotropic")  # options in which nested fits may differ
EQUAL = 1e-12  # losses that differ by less are equal: ties count against the large fit


@dataclass(frozen=True, eq=False)
class NestedTest(Outcome):
    """What `anova` returns: the loss difference, its p value and the draws it is compared with.

    Attributes
    ----------
    statistic : float
        Mean Brier loss of the small fit minus that of the large one, on the rows of both.
    p_value : float
        Share of draws (with the observed one) whose difference is at least as large.
    n_boot, seed : int
    draws : numpy.ndarray, shape (n_boot,)
        Differences of refits to responses drawn from the small fit.
    fits : dict
        The two fits: {column: list}.
    """

    term: ClassVar[str] = "nested"
    title: ClassVar[str] = "Nested Fits"
    tests: ClassVar[str] = "the small fit holds; the large one is closer to the rows by chance."

    n_boot: int = 0
    seed: int = 0
    draws: np.ndarray = field(default_factory=lambda: np.empty(0))
    fits: dict = field(default_factory=dict)

    def facts(self):
        """The seed."""
        return {"Seed": f"{self.seed}"}

    def tables(self):
        """The two fits."""
        return {"Fits": self.fits}

    def notes(self):
        """What the statistic is."""
        return ("Statistic: mean Brier loss of the small fit minus that of the large one, on the rows of the fits.",)


def anova(small, large, rng=None, n_boot=499, n_jobs=1, progress=True):
    """Test a fit against a larger one that contains it, both monotone: a parametric bootstrap of the loss difference.

    Responses are drawn from the small fit at the rows, both are refitted, and the p value is the share of draws whose
    loss falls by at least as much as it did on the data. Chi-squared limits do not hold where constraints bind. A K
    that the rows chose is held; the choice itself is not part of the test.

    Parameters
    ----------
    small, large : Results
        Isotonic Bernstein fits of the same rows. The scores of the small one are among those of the large one, with
        the same direction (or none required in the large one) and no higher degree.
    rng : None, int or numpy.random.Generator
        None takes fresh entropy, kept as ``seed``.
    n_boot : int
        Draws, at least 19.
    n_jobs : int or None
        Cores, as in `Results.bootstrap`; it changes no number.
    progress : bool
        Whether a bar is shown.

    Returns
    -------
    NestedTest
        ``statistic p_value draws fits summary()``.

    Raises
    ------
    TypeError
        If an argument is not a Results, or not an isotonic Bernstein fit.
    ValueError
        If the fits are the same, of different rows, or not nested, with what stands in the way.

    Notes
    -----
    Measured (benchmarks/anova_size.py, 300 runs a setting): at level .05 it rejected .017 to .060 of the time where the
    small fit holds (a second score, K = 3 and 5, n = 200 to 1,000; K = 12 against 5; a constant truth), and .56 and .94
    of the time at n = 300 and 1,000 where the second score raises the probability from .15 + .5 s1 by .2 s2.

    References
    ----------
    Davison, A. C. & Hinkley, D. V. (1997), section 4.2. doi:10.1017/CBO9780511802843

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> small = isocal.bernstein("y ~ s1", data, K=3).fit()
    >>> large = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> isocal.anova(small, large, rng=0, n_boot=99).p_value
    0.01
    """
    check_nested(small, large)
    if isinstance(n_boot, bool) or not isinstance(n_boot, int | np.integer) or n_boot < 19:
        raise ValueError(f"n_boot must be a whole number of at least 19, such as 499; got {n_boot!r}")
    seed = engine.new_seed(rng)
    rows = [_rows(res) for res in (small, large)]
    sampling = engine.Sampling("parametric", len(rows[0].y), seed, p=small.curve(rows[0].s))
    found = []
    for res, own in zip((small, large), rows, strict=True):
        recipe = res.recipe.hold(res.curve)
        replicates = engine.refit(recipe, own, sampling, int(n_boot), n_jobs, progress)
        found.append(dict(zip(replicates.numbers, engine.losses(replicates, own, sampling, recipe), strict=True)))
    draws = np.array([loss - found[1][j] for j, loss in found[0].items() if j in found[1]])
    observed = [_loss(res, own) for res, own in zip((small, large), rows, strict=True)]
    difference = observed[0] - observed[1]
    p = float((1 + np.sum(draws >= difference - EQUAL)) / (len(draws) + 1))
    null = f"{len(draws):,} draws from the small fit"
    return NestedTest(
        difference, p, None, null, float(rows[0].w.sum()), len(draws), seed, draws,
        {
            "fit": ["small", "large"], "formula": [small.formula, large.formula],
            "K": [_degrees(small), _degrees(large)], "df": [f"{small.df_model:g}", f"{large.df_model:g}"],
            "brier": observed,
        },
    )  # fmt: skip


def _rows(res):
    rows = res.rows
    return engine.Rows(rows.raw, res.terms.scores(rows.raw, res.recipe.domain()), rows.y, rows.weights)


def _loss(res, rows):
    """Mean Brier loss on the rows of the fit."""
    return float(rows.w @ (rows.y - res.curve(rows.s)) ** 2 / rows.w.sum())


def _degrees(res):
    return ", ".join(map(str, res.curve.K))


def check_nested(small, large):
    """Raise what keeps the small fit from being a special case of the large one."""
    for name, res in (("small", small), ("large", large)):
        if not isinstance(res, Results):
            raise TypeError(f"anova() compares two results, what .fit() returns; {name} is {type(res).__name__}")
        if not isinstance(res.recipe, Bernstein):
            raise TypeError(f"anova() compares isotonic Bernstein fits; {name} is {res.recipe.title}")
        res.rows_or("anova()")
        if res.recipe.K == "average":
            raise ValueError(f"{name} averages degrees, and averages are not nested: fit one K")
        if getattr(res.recipe, "shrink", None):
            raise ValueError(f"{name} is shrunk toward a fit of its own scores: shrunk fits are not nested")
    _same_rows(small.rows, large.rows, small.response, large.response)
    for f in fields(small.recipe):
        mine, other = (getattr(res.recipe, f.name) for res in (small, large))
        if f.name not in OWN and mine != other:
            raise ValueError(f"the fits differ in {f.name} ({mine!r} and {other!r}): they are not nested")
    _terms_within(small, large)
    _shape_within(small, large)


def _same_rows(a, b, first, second):
    if first.label != second.label:
        raise ValueError(f"the fits model different events, {first.label} and {second.label}")
    if len(a.y) != len(b.y):
        raise ValueError(
            f"the fits use different rows, {len(a.y):,} and {len(b.y):,}: a score with missing values drops some; "
            "leave these out of both, e.g. data.dropna()"
        )
    if not np.array_equal(a.y, b.y) or not np.array_equal(a.weights, b.weights):
        raise ValueError("the fits use different rows: their responses or weights differ")


def _terms_within(small, large):
    few, many = small.terms.labels, large.terms.labels
    for m, label in enumerate(few):
        if label not in many:
            swapped = ": swap them" if set(many) < set(few) else ""
            raise ValueError(f"{label!r} is in the small fit and not in the large one{swapped}")
        if not np.array_equal(small.rows.raw[:, m], large.rows.raw[:, many.index(label)]):
            raise ValueError(f"the fits use different rows: the values of {label!r} differ")


def _shape_within(small, large):
    few, many = small.terms.labels, large.terms.labels
    mine, other = (res.recipe.directions(len(res.terms.labels)) for res in (small, large))
    at = [many.index(label) for label in few]
    for m, label in enumerate(few):
        low, high = small.curve.K[m], large.curve.K[at[m]]
        if low > high:
            raise ValueError(f"K of {label!r} is {low} in the small fit and {high} in the large one: not nested")
        if other[at[m]] not in (0, mine[m]):
            raise ValueError(f"{label!r} is monotone in the large fit, and not in the same way in the small one")
    same = [(small.curve.K[m], mine[m]) == (large.curve.K[a], other[a]) for m, a in enumerate(at)]
    if len(few) == len(many) and all(same):
        raise ValueError("the two fits are the same: nothing to test")

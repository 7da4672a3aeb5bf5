"""Model: formula + data + recipe, ready to fit; and the doors, one for each method."""

import difflib
import inspect
from dataclasses import fields

import pandas as pd

from . import methods
from .formula import bernstein_design
from .methods import Recipe
from .results import Results
from .terms import read

COMMON = ("event", "weights", "subset", "missing")


class Model:
    """A formula evaluated on data, and the recipe to fit; nothing in it is fitted.

    Parameters
    ----------
    formula : str
        Response and scores, e.g. ``"y ~ ecdf(s1) + ecdf(s2)"``. A term is a column, ``Q("odd name")``, one of
        ``ecdf() unit() expit() logit_unit()`` of a column or expression, or an expression of columns.
    data : DataFrame
        Of pandas, polars, pyarrow or any library narwhals knows; or a dict of columns.
    recipe : Recipe
        A method and its options, from isocal.methods or your own.
    event : optional
        The value of the response that is modelled. Not needed for {0, 1}, {-1, 1}, bool and ordered two-level factors.
    weights : str or array_like, shape (n,), optional
        Case weights >= 0: a column name or an array aligned with data.
    subset : str or array_like of bool, shape (n,), optional
        Rows to use: an expression such as ``"age > 30"``, or a mask.
    missing : {"drop", "raise"}
        What to do with rows that miss the response, a score or a weight.

    Attributes
    ----------
    endog_names, exog_names : str, list of str
        The modelled event and the terms.
    formula : str

    Raises
    ------
    FormulaError
        A formula that cannot be read, a name that is not a column (with close matches).
    ValueError
        Data the recipe cannot take, with rule, column, value and remedy.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(100, M=2, rng=1)
    >>> isocal.Model("y ~ s1 + s2", data, isocal.methods.Bernstein(K=2)).fit().nobs
    100
    """

    def __init__(self, formula, data, recipe, event=None, weights=None, subset=None, missing="drop"):
        if not isinstance(recipe, Recipe):
            raise TypeError(f"recipe must be a Recipe such as isocal.methods.Bernstein(K=5); got {recipe!r}")
        self.formula, self.data = formula, data
        self._options = {"event": event, "weights": weights, "subset": subset, "missing": missing}
        self.response, terms, self.rows = read(formula, data, **self._options)
        self._recipe = recipe
        bound = recipe.bind(terms.names)
        self.terms, scores = terms.learn(self.rows.raw, self.rows.w)
        bound.check(scores, self.rows.y, self.rows.w, terms.names)
        self.recipe = bound.settle(scores)
        self._scores = scores

    endog_names = property(lambda self: self.response.label)
    exog_names = property(lambda self: self.terms.labels)

    def fit(self):
        """Fit the recipe to the rows; returns Results. Nothing is drawn at random."""
        raw = {"raw": self.rows.raw} if self.recipe.needs_raw else {}
        curve = self.recipe.fit_arrays(self._scores, self.rows.y, self.rows.w, **raw)
        return Results(self.recipe, curve, self.terms, self.response, self.rows, self)

    def update(self, formula=None, **options):
        """The same model with another formula or other options, evaluated on the same data.

        Options are those of the method (``K=3``) and ``event weights subset missing``.
        """
        if self.data is None:
            raise ValueError("update() needs the data of the model, which pickling leaves out: make the model anew")
        common = {k: options.pop(k) for k in COMMON if k in options}
        own = {f.name: getattr(self._recipe, f.name) for f in fields(self._recipe)}
        check_options(type(self._recipe), options)
        recipe = type(self._recipe)(**{**own, **options})
        return Model(formula or self.formula, self.data, recipe, **{**self._options, **common})

    def design_matrix(self):
        """The n x p Bernstein design of the fit, made by patsy from ``isocal.bern``.

        Returns
        -------
        pandas.DataFrame
            One column a coefficient in C order, ``beta[k1,k2]``; the rows used, with their index.

        Raises
        ------
        TypeError
            If the recipe is not a Bernstein polynomial.
        """
        if not isinstance(self.recipe, methods.Bernstein):
            raise TypeError(f"{self.recipe.title} has no Bernstein design")
        design, names = bernstein_design(self._scores, self.recipe.degrees(self._scores.shape[1]))
        return pd.DataFrame(design, columns=names, index=self.rows.index)

    def summary(self):
        """A model holds nothing fitted: raises the error that says so."""
        raise AttributeError("nothing is fitted yet: call .fit() first, then .summary() on what it returns")

    def __repr__(self):
        return f"<isocal model: {self.recipe.title}, {self.formula}, {len(self.rows.y):,} rows; call .fit()>"

    def __getstate__(self):
        return {**self.__dict__, "data": None, "_options": {**self._options, "weights": None, "subset": None}}


def check_options(recipe_type, options):
    """A misspelt option is named, with the one that was meant."""
    known = [f.name for f in fields(recipe_type)]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name.lower(), [k.lower() for k in [*known, *COMMON]], n=1, cutoff=0.5)
            meant = next((k for k in [*known, *COMMON] if near and k.lower() == near[0]), None)
            hint = f"did you mean {meant!r}?" if meant else f"its options are {', '.join([*known, *COMMON])}"
            raise TypeError(f"{recipe_type.__name__} has no option {name!r}: {hint}")


def door(recipe_type, name):
    """The function isocal.<name>(formula, data, **options) of a recipe."""

    def open_model(formula, data, *, event=None, weights=None, subset=None, missing="drop", **options):
        check_options(recipe_type, options)
        return Model(formula, data, recipe_type(**options), event, weights, subset, missing)

    own = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default) for f in fields(recipe_type)
    ]  # fmt: skip
    shared = [p for p in inspect.signature(open_model).parameters.values() if p.kind != p.VAR_KEYWORD]
    open_model.__signature__ = inspect.Signature([*shared[:2], *own, *shared[2:]])
    open_model.__name__ = open_model.__qualname__ = name
    open_model.__module__ = "isocal"
    open_model.__doc__ = (
        f"{inspect.cleandoc(recipe_type.__doc__)}\n\nThe formula door: ``isocal.{name}(formula, data, **options)`` is "
        f"``Model(formula, data, {recipe_type.__name__}(**options))``; call ``.fit()`` on it. `Model` documents the "
        "formula and ``event weights subset missing``."
    )
    return open_model


bernstein = door(methods.Bernstein, "bernstein")
bbq = door(methods.BBQ, "bbq")
platt = door(methods.Platt, "platt")
isotonic = door(methods.Isotonic, "isotonic")
histogram = door(methods.Histogram, "histogram")
beta = door(methods.Beta, "beta")
temperature = door(methods.Temperature, "temperature")
identity = door(methods.Identity, "identity")
fuse = door(methods.Fuse, "fuse")
logistic_fusion = door(methods.LogisticFusion, "logistic_fusion")
mean_score = door(methods.MeanScore, "mean_score")
copula_fusion = door(methods.CopulaFusion, "copula_fusion")
mr_mic = door(methods.MRMIC, "mr_mic")

"""load(): a saved fit from its file. Recipes and curves are looked up by name; no text of the file is ever run."""

import io
import tokenize

import numpy as np

from . import store
from .formula import parse
from .methods import Recipe
from .methods.base import check_scores
from .response import Response
from .results import Results
from .results.export import curve_type, own_recipes
from .store import short
from .terms import Terms
from .transforms import TRANSFORMS

BROKEN = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, MemoryError, SyntaxError)
LONGEST = 100_000  # characters of a formula
OPERATORS = {"+", "-", "~", "(", ")", "0", "1"}
CALLABLE = {"Q", *TRANSFORMS}
METRICS = ("Brier score", "Log loss", "AUC")  # of schema 1


def load(path, recipes=()):
    """A fit that `Results.save` wrote: predictions and summary are those of the fit that was saved.

    Rows are not in the file, so what needs them (bootstrap, predict() without data) says so.

    Parameters
    ----------
    path : str or path-like
        The JSON file.
    recipes : sequence of Recipe classes
        Recipes from outside isocal that the file may use. Nothing is imported because a file says so.

    Returns
    -------
    Results

    Raises
    ------
    ValueError
        Naming the file and the reason: not a fit of isocal, of a newer isocal, truncated or corrupted, of a recipe not
        in `recipes`, or with values that break a promise (shapes, coefficients that are NaN or fall where they must
        rise, a formula that is not of the terms).
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import isocal, os, tempfile
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "fit.json")
    ...     isocal.bernstein("y ~ s1 + ecdf(s2)", data, K=3).fit().save(path)
    ...     res = isocal.load(path)
    >>> res
    <isocal results: Isotonic Bernstein polynomial, y ~ s1 + ecdf(s2)>
    """
    from . import __version__

    known, where = _known(recipes), "recipe"
    parts = store.read_fit(path, __version__)
    try:
        kind, recipe = _recipe(parts["recipe"], known)
        where = "response"
        response = _response(parts["response"])
        where = "terms"
        terms = _terms(parts["terms"], response.column)
        where = "recipe"
        recipe = _bound(recipe, terms.names)
        where = "curve"
        curve = _curve(parts["curve"], kind, recipe, len(terms.names))
        where = "facts"
        facts = _facts(parts["facts"], parts["cross_validated"], len(terms.names))
    except KeyError as error:
        raise ValueError(f"{path}: {where}: {error} is missing") from None
    except BROKEN as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path}: {where}: {reason[:400]}") from None
    return Results(recipe, curve, terms, response, facts=facts)


def _known(recipes):
    """{(name, whether from outside): recipe class}."""
    for kind in recipes:
        if not (isinstance(kind, type) and issubclass(kind, Recipe)):
            raise TypeError(f"recipes must be Recipe classes, e.g. load(path, recipes=[MyRecipe]); got {kind!r}")
    own = {(name, False): kind for name, kind in own_recipes().items()}
    return own | {(kind.__name__, True): kind for kind in recipes}


def _recipe(d, known):
    name, module, options = d["class"], d["module"], d["options"]
    if (name, module is not None) not in known:
        if module is None:
            names = ", ".join(n for n, outside in known if not outside)
            raise ValueError(f"this isocal has no method {short(name)}: it has {names}")
        raise ValueError(
            f"{short(name)} of module {short(module)} is not isocal's own: import it yourself and allow it, "
            f"load(path, recipes=[{name if str(name).isidentifier() else '...'}])"
        )
    kind = known[name, module is not None]
    recipe = kind(**options)
    _refuse_change(recipe.to_dict(), options)
    return kind, recipe


def _response(d):
    column, event = d["column"], d["event"]
    known = isinstance(event, str | bool | int) or (isinstance(event, float) and np.isfinite(event))
    if not isinstance(column, str) or not known:
        raise ValueError(f"a column name and a value are expected; got {short(column)} and {short(event)}")
    return Response(column, event)


def _terms(d, response):
    terms, text = Terms.from_dict(d, response), d["formula"]
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError(f"the formula must be text of at most {LONGEST:,} characters; got {short(text)}")
    _refuse_change(terms.to_dict(), d)
    _refuse_code(text)
    said = parse(text)
    if said.response != response or said.terms != terms.parsed.terms:
        raise ValueError(f"the formula {short(text)} does not say the response and the terms that the file holds")
    if not (np.isfinite(terms.low).all() and np.isfinite(terms.high).all() and np.all(terms.low <= terms.high)):
        raise ValueError("low and high must be finite, and low at most high")
    return terms


def _refuse_code(text):
    """Names, Q("..."), isocal's transforms and + - ~ ( ) 0 1 are what a saved formula is made of."""
    readline = io.StringIO(text.replace("\n", " ").strip()).readline
    try:
        tokens = [t for t in tokenize.generate_tokens(readline) if t.string]
    except (tokenize.TokenError, SyntaxError):
        raise ValueError(f"the formula {short(text)} cannot be read") from None
    for token, after in zip(tokens, [*tokens[1:], None]):
        called = token.type == tokenize.NAME and after is not None and after.string == "("
        plain = token.type in (tokenize.NAME, tokenize.STRING) or token.string in OPERATORS
        if not plain or (called and token.string not in CALLABLE):
            raise ValueError(
                f"the formula {short(text)} holds {short(token.string)}: a file holds columns and "
                f"{', '.join(TRANSFORMS)} of columns, and no code"
            )


def _bound(recipe, names):
    """The recipe checked against the scores of the formula."""
    recipe = recipe.bind(names)
    check_scores(recipe, np.full((1, len(names)), 0.5), names)
    return recipe


def _curve(d, kind, recipe, M):
    found = curve_type(d["class"], kind)
    if found is None:
        raise ValueError(f"{kind.__name__} has no curve {short(d['class'])}")
    curve, promised = found.from_dict(d["values"]), tuple(recipe.directions(M))
    _refuse_change(curve.to_dict(), d["values"])
    steps, grid = curve.steps(), curve.grid()
    if (steps is not None and len(steps) != M) or (grid is not None and grid.ndim != M):
        raise ValueError(f"the coefficients are not those of {M} scores")
    if tuple(getattr(curve, "directions", promised)) != promised:
        raise ValueError(f"its directions {curve.directions} are not those of the recipe, {promised}")
    if steps is not None and any(d != 0 and not (v is not None and v >= 0) for d, v in zip(promised, steps)):
        raise ValueError("the coefficients break the promised direction of a score")
    if not (np.isnan(curve.df) or 0 <= curve.df < 1e15):
        raise ValueError(f"its degrees of freedom, {curve.df!r}, must be a number of at least 0 or NaN")
    p = curve(np.full((1, M), 0.5))
    if p.shape != (1,) or not 0 <= p[0] <= 1:
        raise ValueError(f"it predicts {p}, which is no probability")
    if not all(isinstance(v, str) for v in curve.facts().values()) or not all(map(_is_table, curve.tables().values())):
        raise ValueError("a fact or a table of the method is not of the right form")
    return curve


def _refuse_change(read, written):
    """What was read must be what stands in the file: text is no number, and nothing is quietly rounded."""
    read, written = store.encode(read), store.encode(written)
    for name, value in written.items():
        if name not in read or read[name] != value:
            raise ValueError(f"{short(name)}: {short(value)} is not a possible value")


def _is_table(columns):
    """Columns of numbers or text, equally long."""
    cells = [v for values in columns.values() for v in values]
    return len({len(v) for v in columns.values()}) == 1 and all(isinstance(v, str | int | float | tuple) for v in cells)


def _facts(facts, cross_validated, M):
    numbers = [facts["weight"], facts["events"], facts["n_eff"], facts["llf"]]
    numbers += [facts["apparent"][name] for name in METRICS] + [cross_validated[name] for name in facts["apparent"]]
    numbers += [*facts["apparent"].values(), *cross_validated.values(), *facts["dropped"].values()]
    numbers += facts["slopes"] or []
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in numbers):
        raise ValueError("counts and figures must be numbers")
    if type(facts["n"]) is not int or facts["n"] < 1 or not 0 <= facts["events"] <= facts["weight"] * (1 + 1e-9):
        raise ValueError(f"{short(facts['events'])} events in {short(facts['n'])} rows cannot be")
    if not 0 < facts["weight"] < np.inf or any(v < 0 for v in facts["dropped"].values()):
        raise ValueError("counts of rows must be positive and finite")
    if facts["slopes"] is not None and len(facts["slopes"]) != M:
        raise ValueError(f"{len(facts['slopes'])} mean slopes for {M} scores")
    return {"facts": facts, "cross_validated": cross_validated}

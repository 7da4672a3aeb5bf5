"""Keeping a fit: what of it goes to disk."""

import sys

from .. import methods, store
from ..methods import Curve, Recipe


def save(self, path, overwrite=True):
    """Write the fit to a JSON file that `isocal.load` reads; loaded, it predicts the same floating-point numbers.

    The file holds options, coefficients, transforms, the counts and the apparent and cross-validated figures that
    summary() shows (computed now where they have not been): nothing that loading would run, and no rows. It is written
    beside `path` and renamed, so an interrupted save leaves the old file whole.

    Parameters
    ----------
    path : str or path-like
        Where to write, e.g. "fit.json". Its folder must exist.
    overwrite : bool
        Whether an existing file is replaced, as pandas and R do. False makes it an error.

    Raises
    ------
    ValueError
        If a term is an expression, which only running code could restore: make a column of it. If an option or a
        fact has no JSON form, or reads back as something else.
    OSError
        If the file cannot be written (FileNotFoundError, IsADirectoryError, PermissionError), or exists and
        ``overwrite=False`` (FileExistsError).

    Notes
    -----
    pickle keeps a fit with its rows and expressions, for use between sessions of the same versions; unpickling runs
    code, so load pickles of your own only.

    Examples
    --------
    >>> import isocal, os, tempfile
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "fit.json")
    ...     res.save(path)
    ...     again = isocal.load(path)
    >>> again.predict(data).equals(res.predict(data)), again.summary() == res.summary()
    (True, True)
    """
    from .. import __version__

    store.target(path, overwrite)  # what stands in the way is said before anything is computed
    store.write_fit(path, _parts(self), __version__, overwrite)


def _parts(self):
    """The fit as plain types; terms first, since an expression there is refused before anything is computed."""
    terms, response = self.terms.to_dict(), self.response.to_dict()
    kind, curve = type(self.recipe), type(self.curve)
    options = self.recipe.to_dict()
    if kind(**options) != self.recipe:
        raise ValueError(f"{kind.__name__}: its options do not read back as the same recipe, so it cannot be saved")
    if curve_type(curve.__name__, kind) is not curve:
        raise ValueError(f"{curve.__name__} must stand in the module of {kind.__name__}, where loading finds it")
    own = own_recipes().get(kind.__name__) is kind
    return {
        "recipe": {"class": kind.__name__, "module": None if own else kind.__module__, "options": options},
        "curve": {"class": curve.__name__, "values": self.curve.to_dict()},
        "terms": terms,
        "response": response,
        "facts": self.facts,
        "cross_validated": self.cross_validated,
    }


def own_recipes():
    """{name: recipe class} of isocal itself."""
    named = {name: getattr(methods, name) for name in methods.__all__}
    return {k: v for k, v in named.items() if isinstance(v, type) and issubclass(v, Recipe) and v is not Recipe}


def curve_type(name, recipe_type):
    """The Curve class of that name: from the module of the recipe, else from those of isocal's methods."""
    for home in (recipe_type, *own_recipes().values()):
        found = vars(sys.modules[home.__module__]).get(name)
        if isinstance(found, type) and issubclass(found, Curve) and found is not Curve:
            return found
    return None

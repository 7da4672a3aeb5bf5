"""Yardsticks of a comparison: what needs no method, or the plainest one, on the same scores and rows."""

from ..methods import Identity, LogisticFusion, MeanScore
from ..methods.base import typed
from ..model import Model
from ..results import Results


def yardsticks(fits):
    """{name: fit} of the mean score (or the one score as it came) and of a logistic fusion, where they can be made.

    On the raw columns of the fit with most scores, with its event, weights and rows; a name that is taken is left out.
    """
    made = [f for f in fits.values() if isinstance(f, Results) and f.model is not None and f.model.data is not None]
    plain = [f for f in made if all(term.column is not None for term in f.terms.parsed.terms)]
    if not plain:
        raise ValueError(
            "yardsticks=True needs a fit with its data whose scores are columns: none of these fits is one; compare "
            "with isocal.logistic_fusion and isocal.mean_score by name"
        )
    model = max(plain, key=lambda f: len(f.terms.names)).model
    columns = [term.column for term in model.terms.parsed.terms]
    formula = f"{typed(model.response.column)} ~ {' + '.join(map(typed, columns))}"
    first = ("score as it came", Identity()) if len(columns) == 1 else ("mean score", MeanScore())
    unit, out = model.rows.raw.min() >= 0 and model.rows.raw.max() <= 1, {}
    for name, recipe in (first, ("logistic fusion", LogisticFusion())):
        if name not in fits and (unit or recipe.domain() != "unit"):
            out[name] = Model(formula, model.data, recipe, **model._options).fit()
    return out

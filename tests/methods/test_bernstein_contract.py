"""Every promise again for averaged, likelihood and shrunk fits; test_contract.py runs them for the default options."""

import pytest
from promises import PROMISES, weights_are_case_weights

from isocal.methods import Bernstein
from isocal.numerics import selection


class Sized(Bernstein):
    """Scaling all weights changes Platt's smoothed targets, and the folds: a whole weight counts as so many rows."""


# Tolerances are those of promises.py (1e-9 at the rows, 1e-6 elsewhere: sums in another order differ by round-off).
# The average runs over degrees 1 to 4: what is promised does not depend on how many there are, and 15 take minutes.
RECIPES = {
    "average": (Sized, {"K": "average"}), "log": (Bernstein, {"loss": "log"}), "shrink": (Sized, {"shrink": 1.0}),
    "shrink, log": (Sized, {"shrink": 1.0, "loss": "log", "K": 3}),
}  # fmt: skip
EXACT = {"order_of_rows_is_irrelevant": {"exact": False}}


@pytest.mark.parametrize("promise", PROMISES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", RECIPES)
def test_option_keeps_promise(name, promise, monkeypatch):
    monkeypatch.setattr(selection, "HIGHEST", 4)
    kind, options = RECIPES[name]
    promise(kind(**options), **EXACT.get(promise.__name__, {}))


@pytest.mark.parametrize("options", [{"shrink": 1.0, "K": 2}, {"K": "average"}])
def test_scaling_weights_matters_where_it_is_said_to(options, monkeypatch):
    """The exemption is needed: remove Sized if it is not."""
    monkeypatch.setattr(selection, "HIGHEST", 3)
    with pytest.raises(AssertionError, match="scaling all weights"):
        weights_are_case_weights(Bernstein(**options))

"""All tests of one forecast in one table."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..summary import Block, Summary
from .adaptive import Tcal, tcal
from .belt import Giviti, giviti
from .e_values import Ehl, ehl
from .goodness import HosmerLemeshow, hosmer_lemeshow
from .inputs import drawing, prepared, size
from .outcome import printed_p
from .recalibration import Cox, cox
from .z_test import Spiegelhalter, spiegelhalter

COLUMNS = ["term", "statistic", "df", "p_value", "tests"]
TESTS = {
    "spiegelhalter": (spiegelhalter, Spiegelhalter), "hosmer_lemeshow": (hosmer_lemeshow, HosmerLemeshow),
    "cox": (cox, Cox), "giviti": (giviti, Giviti), "ehl": (ehl, Ehl), "tcal": (tcal, Tcal),
}  # fmt: skip
PARTS = {
    "cox_citl": ("lr_citl", "logit P(y = 1) is logit p, against a + logit p (calibration-in-the-large)."),
    "cox_slope": ("lr_slope", "Given the citl, the slope of logit P(y = 1) in logit p is 1."),
}


@dataclass(frozen=True, eq=False)
class AllTests:
    """results {term: result}; refused {term: why}; n rows; seed that makes the draws again (None: Generator given)."""

    results: dict
    refused: dict
    n: float
    seed: int | None

    @property
    def table(self):
        """One row a test (term, statistic, df, p_value, tests); NaN where it was refused. A pandas.DataFrame."""
        return pd.DataFrame(list(self._rows()), columns=COLUMNS).astype({"df": float})

    def _rows(self):
        for term, (_, kind) in TESTS.items():
            res = self.results.get(term)
            yield (term, *_figures(res), kind.tests)
            if term == "cox":
                for name, (part, asks) in PARTS.items():
                    yield (name, *_figures(res and getattr(res, part)), asks)

    @property
    def notes(self):
        """One sentence for every refusal."""
        return tuple(f"{why if why.startswith(term) else f'{term}: {why}'}." for term, why in self.refused.items())

    def summary(self):
        """The table, what each test asks, and every refusal; as text, HTML and LaTeX.

        Returns
        -------
        Summary
        """
        table = self.table
        rows = [
            ("" if np.isnan(s) else f"{s:.4g}", "" if np.isnan(df) else f"{df:g}", "" if np.isnan(p) else printed_p(p))
            for s, df, p in zip(table.statistic, table.df, table.p_value, strict=True)
        ]
        block = Block("Tests of Calibration", ("test", "statistic", "df", "p_value"), tuple(table.term), tuple(rows))
        asks = [f"{term}: {text}" for term, text in zip(table.term, table.tests, strict=True)]
        seed = [] if self.seed is None else [f"Seed of the draws: {self.seed}."]
        return Summary((block,), (f"Rows: {self.n:,.6g}.", *asks, *(f"Refused: {note}" for note in self.notes), *seed))

    def __str__(self):
        return self.summary().as_text()

    __repr__ = __str__


def all_tests(y, p, w=None, rng=None, clip=None, kind="external", progress=True):
    """Every test of calibration in this package, in one table; a test that does not apply says why.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities in [0, 1].
    w : array_like, shape (n,), optional
        Case weights; `ehl` and `tcal` take whole numbers only.
    rng : None, int or numpy.random.Generator
        For `ehl` and `tcal`; None takes fresh entropy, kept as `seed`.
    clip : float, optional
        Move p into [clip, 1 - clip] first, for every test.
    kind : {"external", "internal"}
        For `hosmer_lemeshow` and `giviti`.
    progress : bool
        Show a bar for the draws of `tcal` where they take longer than half a second.

    Returns
    -------
    AllTests
        table (term, statistic, df, p_value, tests), notes (one a refusal), results {term: result}, refused.

    Raises
    ------
    ValueError
        Bad labels, probabilities or weights, or an unknown kind. A refusal of a single test is a note.

    Notes
    -----
    The tests ask different questions and are not corrected for being many. All belong on held-out or cross-validated
    predictions: on the rows of the fit they are vacuous.

    Examples
    --------
    >>> from isocal.calibration_tests import all_tests
    >>> found = all_tests([0, 1, 0, 1] * 10, [0.0, 0.6, 0.4, 0.9] * 10, rng=0)
    >>> list(found.refused)
    ['cox', 'giviti']
    """
    if kind not in ("external", "internal"):
        raise ValueError(f"kind must be 'external' or 'internal'; got {kind!r}")
    _, _, weights = prepared(y, p, w, clip)
    generator, seed = drawing(rng)
    own = {
        "hosmer_lemeshow": {"kind": kind}, "giviti": {"kind": kind, "level": None},
        "ehl": {"rng": generator}, "tcal": {"rng": generator, "progress": progress},
    }  # fmt: skip
    results, refused = {}, {}
    for term, (test, _) in TESTS.items():
        try:
            results[term] = test(y, p, w, clip=clip, **own.get(term, {}))
        except ValueError as error:
            refused[term] = str(error)
    return AllTests(results, refused, size(weights), seed)


def _figures(res):
    """(statistic, df, p_value), NaN where there is none."""
    if res is None:
        return np.nan, np.nan, np.nan
    return res.statistic, np.nan if res.df is None else res.df, res.p_value

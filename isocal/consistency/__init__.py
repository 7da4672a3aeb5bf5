"""Is a fit to be trusted, and why: one function per diagnostic, arrays in, a Finding out.

Each diagnostic says what it needs; `diagnose` runs those that a fit has it all for and names the others.
"""

from dataclasses import dataclass

from .active import active_constraints
from .degree import degree_adequacy, degree_path
from .finding import Finding
from .fitted_rows import FEWEST, FittedRows
from .learning import learning_curve
from .order import bartholomew, isotonicity
from .proof import certificate
from .sieve import degrees_of_freedom, sieve_ratio, slope_ceiling, support
from .unseen import held_out

__all__ = [
    "DIAGNOSTICS", "Diagnosis", "Finding", "FittedRows", "active_constraints", "bartholomew", "certificate",
    "degree_adequacy", "degree_path", "degrees_of_freedom", "diagnose", "held_out", "isotonicity", "learning_curve",
    "sieve_ratio", "slope_ceiling", "support",
]  # fmt: skip

SIEVE, LEAST_SQUARES, DIRECTION, ROWS, DRAWS = "sieve", "least squares", "direction", "rows", "draws"
DIAGNOSTICS = {  # what each needs beside the rows of the fit
    certificate: set(),
    support: {SIEVE},
    degrees_of_freedom: {LEAST_SQUARES},
    sieve_ratio: {LEAST_SQUARES},
    slope_ceiling: {SIEVE, DIRECTION},
    degree_path: {SIEVE},
    degree_adequacy: {SIEVE, ROWS, DRAWS},
    isotonicity: {DIRECTION, ROWS},
    active_constraints: {LEAST_SQUARES},
    learning_curve: {ROWS, DRAWS},
    held_out: {ROWS},
}
REASONS = {
    SIEVE: "needs a Bernstein sieve, and this method has no grid of coefficients",
    LEAST_SQUARES: "needs a Bernstein fit by least squares, which this is not",
    DIRECTION: "needs a promised direction, and no score has one",
    ROWS: f"needs at least {FEWEST} rows",
    DRAWS: "draws at random: quick=False runs it",
}


@dataclass(frozen=True)
class Diagnosis:
    """findings {term: Finding} in order; skipped {term: why}."""

    findings: dict
    skipped: dict


def diagnose(fit):
    """Every diagnostic on FittedRows.

    Returns
    -------
    Diagnosis
        Interrupted (KeyboardInterrupt), what is done so far, the rest named as skipped.

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.consistency import FittedRows, diagnose
    >>> from isocal.methods import Bernstein
    >>> s, y = np.linspace(0, 1, 60)[:, None], np.repeat([0.0, 1.0, 0.0, 1.0], [24, 6, 6, 24])
    >>> recipe = Bernstein(K=3)
    >>> curve = recipe.fit_arrays(s, y)
    >>> fit = FittedRows(s, y, None, recipe, curve, ["s"], lambda: (y, curve(s), None), None, quick=True)
    >>> diagnose(fit).findings["certificate"].verdict
    'fine'
    """
    findings, skipped, has = {}, {}, _has(fit)
    for diagnostic, needs in DIAGNOSTICS.items():
        term = diagnostic.__name__
        missing = [need for need in REASONS if need in needs and need not in has]
        if missing:
            skipped[term] = REASONS[missing[0]]
            continue
        try:
            findings[term] = diagnostic(fit)
        except ValueError as error:
            skipped[term] = str(error)
        except KeyboardInterrupt:
            rest = [d.__name__ for d in DIAGNOSTICS if d.__name__ not in findings and d.__name__ not in skipped]
            return Diagnosis(findings, skipped | dict.fromkeys(rest, "interrupted"))
    return Diagnosis(findings, skipped)


def _has(fit):
    has = set()
    if any(fit.directions):
        has.add(DIRECTION)
    if fit.grid is not None:
        has |= {SIEVE, LEAST_SQUARES} if fit.is_least_squares else {SIEVE}
    if fit.n >= FEWEST:
        has.add(ROWS)
    return has if fit.quick else has | {DRAWS}

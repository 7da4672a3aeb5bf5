"""Every animal of the zoo: the answer, its certificate, and the answer again with the rows in another order."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from exact_solver import basis_row, solve, value
from hard_cases.cases import HAND
from hard_cases.cases_exact import EXACT

from isocal.methods import Bernstein

CASES = HAND + EXACT
WORDS = {"increasing": 1, "decreasing": -1, "none": 0}
SMALL = 9  # coefficients up to which a hand-derived answer is also proved by exact_solver
EXCESS = 1e-15  # mean squared error above the exact minimum: round-off in the fitted values enters squared
STEP = 2e-15  # floating point allows no smaller promise than that for predicted steps


def by_name(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda c: c.name)


def degrees(case):
    M = len(case.rows[0])
    return case.K if isinstance(case.K, tuple) else (case.K,) * M


def directions(case):
    M = len(case.rows[0])
    return tuple(WORDS[v] for v in (case.monotone if isinstance(case.monotone, tuple) else (case.monotone,) * M))


def size(case):
    return int(np.prod([k + 1 for k in degrees(case)]))


@cache
def exact(case):
    return solve(case.rows, case.y, case.weights, degrees(case), directions(case))


def expected(case):
    """(fitted, beta) as floats; NaN or None where nothing is claimed."""
    if case.fitted is None:
        return np.array([float(v) for v in exact(case).fitted]), None
    fitted = np.array([np.nan if v is None else float(v) for v in case.fitted])
    return fitted, None if case.beta is None else np.array(case.beta, dtype=float)


def fit(case, tie_break, order=slice(None)):
    s, y, w = np.array(case.rows)[order], np.array(case.y, dtype=float)[order], np.array(case.weights, float)[order]
    return Bernstein(K=degrees(case), monotone=case.monotone, tie_break=tie_break).fit_arrays(s, y, w)


def runs(cases):
    """(case, tie_break) for each case with and without the penalty, or with the one the case asks for."""
    return [
        pytest.param(case, tie, id=f"{case.name}, tie_break={tie:g}")
        for case in cases
        for tie in ((0.0, 1e-10) if case.tie_break is None else (case.tie_break,))
    ]


def test_the_zoo_is_large_and_its_names_differ():
    assert len(CASES) >= 30
    assert len({case.name for case in CASES}) == len(CASES)


@by_name([case for case in HAND if size(case) <= SMALL])
def test_answers_derived_by_hand_are_exact(case):
    fitted, beta = expected(case)
    claimed = ~np.isnan(fitted)
    proved = np.array([float(v) for v in exact(case).fitted])
    assert np.max(np.abs(proved - fitted)[claimed]) <= 1e-15
    if beta is not None:
        assert np.max(np.abs(np.array([float(b) for b in exact(case).beta]) - beta)) <= 1e-15


@pytest.mark.parametrize(("case", "tie_break"), runs(CASES))
def test_fitted_values_and_coefficients(case, tie_break):
    curve = fit(case, tie_break)
    fitted, beta = expected(case)
    found = curve(np.array(case.rows))
    assert np.isfinite(found).all()
    assert np.nanmax(np.abs(found - fitted)) <= case.tolerance
    if beta is not None:
        assert np.max(np.abs(curve.beta.ravel() - beta)) <= case.tolerance


@by_name([case for case in CASES if (case.fitted is None or size(case) <= SMALL) and not case.tie_break])
def test_loss_is_the_exact_minimum(case):
    beta = [Fraction(b) for b in fit(case, case.tie_break or 0.0).beta.ravel()]
    rows = [basis_row(r, degrees(case)) for r in case.rows]
    triples = zip(case.weights, case.y, rows, strict=True)
    loss = sum(Fraction(w) * (y - value(beta, row)) ** 2 for w, y, row in triples)
    excess = (loss - exact(case).loss) / sum(map(Fraction, case.weights))
    assert -EXCESS <= float(excess) <= EXCESS


@pytest.mark.parametrize(("case", "tie_break"), runs(CASES))
def test_certificate_holds(case, tie_break):
    curve = fit(case, tie_break)
    assert curve.beta.min() >= 0 and curve.beta.max() <= 1
    assert all(step is None or step >= 0 for step in curve.steps())
    assert curve.polished and curve.kkt <= 1e-9
    M = len(case.rows[0])
    ticks = np.unique(np.r_[np.linspace(0, 1, {1: 101, 2: 21, 3: 7}.get(M, 4)), np.ravel(case.rows)])
    ticks = ticks if M < 4 else ticks[[0, -1]]
    values = curve(np.array(list(product(ticks, repeat=M)))).reshape((len(ticks),) * M)
    for axis, d in enumerate(directions(case)):
        if d:
            assert np.min(d * np.diff(values, axis=axis)) >= -STEP


@by_name(CASES)
def test_order_of_rows_does_not_matter(case):
    tie_break = 1e-10 if case.tie_break is None else case.tie_break
    rows = np.array(case.rows)
    there, back = fit(case, tie_break)(rows), fit(case, tie_break, slice(None, None, -1))(rows)
    assert np.max(np.abs(there - back)) <= 1e-12

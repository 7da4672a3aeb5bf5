"""The promises of every method (DESIGN section 3): one function each, taking a recipe; AssertionError if broken."""

import copy
import json
import pickle
import subprocess
import sys
import warnings

import cvxopt
import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import isocal

ROUND_OFF = 1e-12  # sums of a few hundred float64 products in another order
SOLVER = 1e-9  # at the rows: an exact active set solved twice from sums that differ by round-off
OFF_DATA = 1e-6  # anywhere else: the tie-break penalty of 1e-10 magnifies that round-off where no row speaks


def rows(n=240, M=2, seed=3):
    """Scores in [0, 1] with ties (two decimals) and labels that rise with them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 1)) + rng.normal(size=(n, M))
    s = np.round(1 / (1 + np.exp(-z)), 2)
    return s, (rng.random(n) < s.mean(axis=1)).astype(float)


def scores_of(recipe):
    """How many scores to test a recipe with."""
    return [M for M in ([1] if recipe.max_scores == 1 else [1, 2, 3]) if recipe.min_scores <= M]


def grid(M, seed=4):
    """Random and adversarial places: corners, knots, neighbours one ulp apart."""
    rng = np.random.default_rng(seed)
    knots = np.r_[np.arange(11) / 10, np.nextafter(np.arange(11) / 10, 2), np.nextafter(np.arange(11) / 10, -1)]
    return np.clip(np.r_[rng.random((200, M)), rng.choice(knots, (200, M))], 0, 1)


def weights_are_case_weights(recipe):
    """1. Integer weight = repeated rows, zero weight = absent, scaling changes nothing unless documented."""
    for M in scores_of(recipe):
        s, y = rows(M=M)
        w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
        repeated = recipe.fit_arrays(np.repeat(s, w.astype(int), axis=0), np.repeat(y, w.astype(int)))
        weighted = recipe.fit_arrays(s, y, w)
        assert np.allclose(repeated(s), weighted(s), rtol=0, atol=SOLVER), "weights differ from repeats"
        many = recipe.fit_many(s, y, np.c_[np.ones(len(y)), w])
        assert np.allclose(many[1](s), weighted(s), rtol=0, atol=SOLVER), "fit_many differs from fit_arrays"
        if "scaling" not in (type(recipe).__doc__ or "").lower():
            scaled = recipe.fit_arrays(s, y, 2.5 * w)
            assert np.allclose(scaled(s), weighted(s), rtol=0, atol=SOLVER), "scaling all weights changes the fit"


def order_of_rows_is_irrelevant(recipe, exact=True):
    """2. Shuffled rows: bit for bit, or to solver tolerance; equal scores get equal probabilities."""
    for M in scores_of(recipe):
        s, y = rows(M=M)
        first = recipe.fit_arrays(s, y)
        at_rows, off = (0.0, 0.0) if exact else (SOLVER, OFF_DATA)
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(len(y))
            again = recipe.fit_arrays(s[order], y[order])
            assert np.max(np.abs(again(s) - first(s))) <= at_rows, "row order matters at the rows"
            assert np.max(np.abs(again(grid(M)) - first(grid(M)))) <= off, "row order matters off the rows"
        twice = np.r_[s, s]
        assert np.array_equal(first(twice)[: len(s)], first(twice)[len(s) :]), "equal scores, unequal probabilities"


def storage_is_irrelevant(recipe):
    """3. float32, memory order and the data-frame library change nothing, bit for bit."""
    for M in scores_of(recipe):
        s, y = rows(M=M)
        s = s.astype(np.float32).astype(np.float64)
        first = recipe.fit_arrays(s, y)(s)
        for other in (s.astype(np.float32), np.asfortranarray(s), np.ascontiguousarray(s)):
            assert np.array_equal(recipe.fit_arrays(other, y)(s), first), "storage changes the fit"
        names = [f"s{m}" for m in range(M)]
        frame = pd.DataFrame(s, columns=names).assign(y=y)
        formula = "y ~ " + " + ".join(names)
        frames = (frame, frame.astype("float32"), pl.from_pandas(frame), pa.Table.from_pandas(frame), dict(frame))
        for data in frames:
            found = isocal.Model(formula, data, recipe).fit().predict(data)
            assert np.array_equal(np.asarray(found), first), f"{type(data)} changes the fit"


def predictions_are_probabilities(recipe):
    """4. In [0, 1] and finite; NaN score -> NaN at the same row; the index is kept."""
    for M in scores_of(recipe):
        s, y = rows(M=M)
        p = recipe.fit_arrays(s, y)(grid(M))
        assert np.isfinite(p).all() and p.min() >= 0 and p.max() <= 1, "not a probability"
        names = [f"s{m}" for m in range(M)]
        data = pd.DataFrame(s, columns=names, index=np.arange(len(y)) % 7).assign(y=y)
        res = isocal.Model("y ~ " + " + ".join(names), data, recipe).fit()
        new = data.iloc[::-3].copy()
        new.iloc[[0, 4], M - 1] = np.nan
        found = res.predict(new)
        assert found.index.equals(new.index) and len(found) == len(new), "rows or index changed"
        assert list(np.flatnonzero(found.isna())) == [0, 4], "NaN moved, vanished or appeared"


def degenerate_data_are_answered(recipe):
    """5. One class, n = 1, constant or duplicated scores, separable data: an answer, or an error naming the cause."""
    s = np.array([[0.2], [0.4], [0.6], [0.8]])
    s = s if recipe.min_scores == 1 else np.c_[s, s**2]
    cases = {
        "one class, 0": (s, np.zeros(4)), "one class, 1": (s, np.ones(4)), "separable": (s, np.array([0.0, 0, 1, 1])),
        "n = 1": (s[:1], np.ones(1)), "constant": (np.full(s.shape, 0.5), np.array([0.0, 1, 0, 1])),
        "reversed": (s, np.array([1.0, 1, 0, 0])),
    }  # fmt: skip
    if recipe.max_scores != 1:
        cases["duplicated"] = (np.c_[s, s], np.array([0.0, 1, 0, 1]))
    for name, (scores, y) in cases.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                p = recipe.fit_arrays(scores, y)(grid(scores.shape[1]))
        except ValueError as error:
            assert len(str(error)) > 30, f"{name}: the error does not say what is wrong: {error}"
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
        else:
            assert np.isfinite(p).all(), name


def directions_hold(recipe):
    """6. Promised directions hold on the whole domain: coefficient steps exactly, predictions to 2e-15."""
    for M in scores_of(recipe):
        directions = recipe.directions(M)
        for seed in range(3):
            s, y = rows(M=M, seed=seed)
            curve = recipe.fit_arrays(s, y)
            steps = curve.steps() or [None] * M
            assert all(step is None or step >= 0.0 for step in steps), "the certificate is broken"
            for m in range(M):
                places = np.repeat(grid(M, seed), 9, axis=0)
                start = places[:, m].copy()
                ahead = np.tile([0, 1e-16, 1e-9, 1e-3, 0.01, 0.1, 0.3, 0.6, 1], len(start) // 9)
                places[:, m] = np.clip(start + ahead, 0, 1)
                along = np.diff(curve(places).reshape(-1, 9), axis=1) * directions[m]
                assert along.min() >= -2e-15, f"falls by {-along.min():.1e} along score {m + 1}"


def round_trips_are_exact(recipe, fresh_process=False):
    """7. pickle and JSON predict bit-identically, also in a fresh process."""
    for M in scores_of(recipe):
        s, y = rows(M=M)
        curve = recipe.fit_arrays(s, y)
        wanted = curve(grid(M))
        try:
            again = [pickle.loads(pickle.dumps(curve))]
            again.append(type(curve).from_dict(json.loads(json.dumps(curve.to_dict(), allow_nan=False))))
        except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
            raise AssertionError(f"does not survive: {error}") from error
        assert all(np.array_equal(c(grid(M)), wanted) for c in again), "a round trip changes predictions"
        if fresh_process and M == scores_of(recipe)[-1]:  # once: a process takes a second to begin
            code = (
                "import pickle, sys; curve, s, wanted = pickle.loads(sys.stdin.buffer.read()); "
                "import numpy as np; sys.exit(0 if np.array_equal(curve(s), wanted) else 3)"
            )
            sent = pickle.dumps((curve, grid(M), wanted))
            assert subprocess.run([sys.executable, "-c", code], input=sent, check=False).returncode == 0


def rows_are_predicted_alone(recipe):
    """8. Predicting one row is that row of predicting all, bit for bit."""
    for M in scores_of(recipe):
        s, y = rows(M=M)
        curve, places = recipe.fit_arrays(s, y), np.tile(grid(M), (13, 1))
        together = curve(places)
        for i in (0, 1, 250, 399, 4095, 4096, len(places) - 1):
            assert np.array_equal(curve(places[i : i + 1]), together[i : i + 1]), f"row {i} alone differs"


def nothing_global_changes(recipe):
    """9. No random state, rcParams, warnings filter, cvxopt options."""

    def state():
        legacy = np.random.get_state()  # noqa: NPY002 - the state that must not change
        return copy.deepcopy(
            (legacy[1].tolist(), legacy[2], dict(matplotlib.rcParams), warnings.filters,
             dict(cvxopt.solvers.options), np.geterr())
        )  # fmt: skip

    before = state()
    for M in scores_of(recipe):
        s, y = rows(M=M)
        recipe.fit_arrays(s, y)(s)
    assert state() == before, "global state changed"


PROMISES = [
    weights_are_case_weights, order_of_rows_is_irrelevant, storage_is_irrelevant, predictions_are_probabilities,
    degenerate_data_are_answered, directions_hold, round_trips_are_exact, rows_are_predicted_alone,
    nothing_global_changes,
]  # fmt: skip

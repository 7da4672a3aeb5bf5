"""The default band: against its specification written out, its numerics against loops and exact solutions."""

import importlib.util
import sys
from itertools import product
from pathlib import Path

import exact_solver
import numpy as np
import plain_bands
import pytest
from scipy.stats import binom

from isocal.bands import conf_band, model, problem, standard_grid
from isocal.numerics import partial_order
from isocal.numerics.basis import design
from isocal.numerics.batch_qp import solve_many
from isocal.numerics.moments import gram, moments
from isocal.numerics.partial_order import hull, near_rows, running_best
from isocal.numerics.qp import tie_break

ADMM = 0.01  # of a probability: what 250 steps in single precision leave


def rows(n, M=1, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.random((n, M))
    return s, (rng.random(n) < 0.1 + 0.8 * s.mean(axis=1) ** 2).astype(float)


@pytest.mark.parametrize("kind", ["simultaneous", "pointwise"])
@pytest.mark.parametrize("n, seed, level", [(120, 1, 0.9), (150, 3, 0.8)])
def test_default_band_of_one_score_is_the_specification(n, seed, level, kind):
    s, y = rows(n, seed=seed)
    places = np.array([0.03, 0.31, 0.5, 0.77, 0.98])
    band = conf_band(s, y, None, places[:, None], (1,), level=level, kind=kind, rng=5, n_draws=39)
    assert band.degree == plain_bands.degrees(s[:, 0], y)[1]
    low, high = plain_bands.default_band(s[:, 0], y, places, level, 39, np.random.default_rng(5), kind)
    assert band.low == pytest.approx(low, abs=ADMM) and band.high == pytest.approx(high, abs=ADMM)


@pytest.mark.parametrize("K, directions", [((4,), (1,)), ((2, 2), (1, 1)), ((2, 1), (0, 1)), ((3, 1), (1, 0))])
def test_batch_against_exact_rational_solutions(K, directions):
    s, _ = rows(14, len(K), seed=2)
    Y = np.random.default_rng(3).integers(0, 2, (14, 5)).astype(float)
    shape = tuple(k + 1 for k in K)
    G = gram(moments(s, Y[:, 0], None, tuple(2 * k for k in K)).T0, K)
    found = solve_many(G, design(s, K).T @ Y, shape, directions, tie_break(shape, 1e-10))
    for y, beta in zip(Y.T, found.T, strict=True):
        exact = exact_solver.solve(s.tolist(), y.tolist(), [1.0] * 14, K, directions)
        assert design(s, K) @ beta == pytest.approx(np.array(exact.fitted, dtype=float), abs=3e-3)
        grid = beta.reshape(shape)
        for axis, d in enumerate(directions):
            assert not d or np.all(np.diff(grid, axis=axis) >= 0)
        assert grid.min() >= 0 and grid.max() <= 1


@pytest.mark.parametrize("directions", [(1,), (1, 1), (1, 0), (1, 1, 1), (0, 1, 1)])
@pytest.mark.parametrize("most", [0, 4_000_000])
def test_running_best_against_loops(directions, most, monkeypatch):
    monkeypatch.setattr(partial_order, "MOST_CELLS", most)
    rng = np.random.default_rng(4)
    places = rng.integers(0, 9, (130, len(directions))) / 8  # many ties
    value, high = rng.random(130), rng.random(130)

    def under(a, b):
        return all(x <= z if d else x == z for x, z, d in zip(a, b, directions, strict=True))

    expected = [max(v for q, v in zip(places, value, strict=True) if under(q, p)) for p in places]
    assert running_best(places, value, directions).tolist() == expected
    expected = [min(v for q, v in zip(places, high, strict=True) if under(p, q)) for p in places]
    assert hull(places, value, high, directions)[1].tolist() == expected


def test_running_best_of_one_place_and_of_distinct_ones(monkeypatch):
    monkeypatch.setattr(partial_order, "MOST_CELLS", 0)
    assert running_best(np.array([[0.5, 0.5]]), np.array([0.3]), (1, 1)).tolist() == [0.3]
    places, value = rows(77, 2)[0], np.random.default_rng(0).random(77)
    expected = [value[(places <= p).all(axis=1)].max() for p in places]
    assert running_best(places, value, (1, 1)).tolist() == expected


@pytest.mark.parametrize("M", [1, 2, 3])
def test_near_rows_against_loops(M):
    s, places = np.round(rows(60, M)[0], 1), np.round(rows(20, M, seed=9)[0], 1)
    expected = [int(np.sum(np.all(np.abs(s - p) <= 0.25, axis=1))) for p in places]
    assert near_rows(s, places, 0.25).tolist() == expected


def test_same_seed_same_band_and_pieces_leave_no_trace(monkeypatch):
    s, y = rows(300, 2)
    places = standard_grid(2)[::7]
    first = conf_band(s, y, None, places, (1, 1), rng=3, n_draws=99)
    again = conf_band(s, y, None, places, (1, 1), rng=np.random.default_rng(3), n_draws=99)
    assert first.low.tobytes() == again.low.tobytes() and first.high.tobytes() == again.high.tobytes()
    monkeypatch.setattr(model, "ROOM", 7 * 99)
    monkeypatch.setattr(model, "PLACES", 50)
    pieces = conf_band(s, y, None, places, (1, 1), rng=3, n_draws=99)
    assert pieces.low == pytest.approx(first.low, abs=1e-4) and pieces.se == pytest.approx(first.se, abs=1e-4)


def test_both_edges_are_monotone_and_hold_pointwise_edges():
    s, y = rows(250, 2)
    grid = standard_grid(2)
    wide, narrow = (conf_band(s, y, None, grid, (1, 1), kind=k, rng=1, n_draws=99)
                    for k in ("simultaneous", "pointwise"))  # fmt: skip
    for edge in (wide.low, wide.high, narrow.low, narrow.high):
        for axis in (0, 1):
            assert np.all(np.diff(edge.reshape(25, 25), axis=axis) >= 0)
    assert np.all(wide.low <= narrow.low) and np.all(wide.high >= narrow.high) and np.all(wide.low < wide.high)


def test_a_falling_score_is_a_rising_one_turned_round():
    s, y = rows(200, 2)
    places = rows(30, 2, seed=5)[0]
    rising = conf_band(s, y, None, places, (1, 1), rng=1, n_draws=49)
    turned = [np.c_[x[:, 0], 1 - x[:, 1]] for x in (s, places)]
    falling = conf_band(turned[0], y, None, turned[1], (1, -1), rng=1, n_draws=49)
    assert falling.low == pytest.approx(rising.low, abs=1e-3) and falling.high == pytest.approx(rising.high, abs=1e-3)


def test_a_free_score_carries_no_bound_across():
    s, y = rows(300, 2)
    band = conf_band(s, y, None, standard_grid(2), (1, 0), rng=1, n_draws=49)
    low = band.low.reshape(25, 25)
    assert np.all(np.diff(low, axis=0) >= 0) and np.any(np.diff(low, axis=1) < 0)


def test_equal_weights_are_no_weights_and_unequal_ones_widen():
    s, y = rows(300)
    places = np.linspace(0, 1, 21)[:, None]
    plain = conf_band(s, y, None, places, (1,), rng=1, n_draws=199)
    same = conf_band(s, y, np.full(300, 4.0), places, (1,), rng=1, n_draws=199)
    assert same.low == pytest.approx(plain.low, abs=1e-5) and same.high == pytest.approx(plain.high, abs=1e-5)
    w = np.random.default_rng(0).choice([0.1, 3.0], 300)
    unequal = conf_band(s, y, w, places, (1,), rng=1, n_draws=199)
    assert np.mean(unequal.high - unequal.low) > 1.1 * np.mean(plain.high - plain.low)


@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("M", [1, 2])
def test_one_class_only_is_answered(label, M):
    s = rows(200, M)[0]
    band = conf_band(s, np.full(200, label), None, standard_grid(M), (1,) * M, rng=1, n_draws=49)
    edge, other = (band.low, band.high) if label == 0 else (1 - band.high, 1 - band.low)
    assert np.all(edge == 0) and np.all(other > 0) and other.min() < 0.12


@pytest.mark.parametrize("n", [1, 2, 4])
def test_few_rows_say_nothing(n):
    s, y = rows(n)
    band = conf_band(s, y, None, np.array([[0.0], [0.5], [1.0]]), (1,), rng=1, n_draws=39)
    assert band.low.tolist() == [0, 0, 0] and band.high.tolist() == [1, 1, 1]


def test_one_distinct_score_bounds_both_sides():
    s, y = np.full((200, 1), 0.4), np.r_[np.ones(60), np.zeros(140)]
    band = conf_band(s, y, None, np.array([[0.2], [0.4], [0.9]]), (1,), rng=1, n_draws=199)
    assert band.low[0] == 0 and band.high[2] == 1
    assert band.low[1] < 0.3 < band.high[1] and band.high[1] - band.low[1] < 0.3
    assert band.high[0] == pytest.approx(band.high[1], abs=0.01) and band.low[2] == pytest.approx(band.low[1], abs=0.01)


def test_more_than_three_scores_warn():
    s, y = rows(150, 4)
    with pytest.warns(UserWarning, match="untested for 4 scores: read conf_band"):
        band = conf_band(s, y, None, s[:10], (1,) * 4, rng=1, n_draws=39)
    assert band.degree == 3 and np.all(band.low <= band.high)


def test_too_few_draws_say_how_many():
    s, y = rows(50)
    for level, least in ((0.95, 19), (0.99, 99), (0.5, 1)):
        with pytest.raises(ValueError, match=f"too few for level={level}: use at least {least}$"):
            problem.rank_of_level(least - 1, level)
        assert problem.rank_of_level(least, level) == least - 1
    with pytest.raises(ValueError, match="n_draws=18 is too few"):
        conf_band(s, y, None, s, (1,), n_draws=18)


def test_a_seeded_miniature_of_the_coverage_simulation():
    """Forty runs of each of two truths: fewer hits than any share of .92 would give in one of 10,000 tests."""
    truths = (lambda x: 1 / (1 + np.exp(-6 * (x - 0.5))), lambda x: 0.02 + 0.1 * x**2)
    places = np.linspace(0, 1, 51)
    for f, seed in product(truths, [7]):
        rng, hits = np.random.default_rng(seed), 0
        for _ in range(40):
            x = rng.random((300, 1))
            y = (rng.random(300) < f(x[:, 0])).astype(float)
            band = conf_band(x, y, None, places[:, None], (1,), rng=rng, n_draws=99)
            hits += bool(np.all((band.low <= f(places)) & (f(places) <= band.high)))
        assert hits >= binom.ppf(1e-4, 40, 0.92)


BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    """A function that loads a benchmark script; not by its name, as `coverage` is a package of many environments."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)

    def load(name):
        spec = importlib.util.spec_from_file_location(f"{name}_script", BENCHMARKS / f"{name}.py")
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCHMARKS)):
            del sys.modules[name]


def test_the_simulation_goes_on_where_it_stopped(tmp_path, monkeypatch, script):
    coverage = script("coverage")
    few = [coverage.Cell(1, truth, "uniform", 60, "honest", runs=30) for truth in ("S", "staircase")]
    monkeypatch.setattr(coverage, "cells", lambda: few)
    whole = coverage.simulate(tmp_path / "whole.csv", 10)
    assert [(line.first, line.runs) for line in whole] == [(0, 20), (0, 20), (20, 10), (20, 10)]
    monkeypatch.setattr(coverage, "one_round", _stops_after(3, coverage.one_round))
    with pytest.raises(KeyboardInterrupt):
        coverage.simulate(tmp_path / "parts.csv", 10)
    monkeypatch.undo()
    monkeypatch.setattr(coverage, "cells", lambda: few)
    assert len(coverage.read(tmp_path / "parts.csv")) == 3
    assert coverage.simulate(tmp_path / "parts.csv", 0) == coverage.read(tmp_path / "parts.csv")
    resumed = coverage.simulate(tmp_path / "parts.csv", 10)
    assert [_result(line) for line in resumed] == [_result(line) for line in whole]
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["parts.csv", "whole.csv"]


def _stops_after(calls, made):
    left = [calls]

    def one_round(*args):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return made(*args)

    return one_round


def _result(line):
    return line.cell, line.first, line.runs, line.covered, line.pointwise, line.width


def test_a_cell_misses_when_its_upper_limit_does(capsys, script):
    coverage, bench_bands, coverage_table = (script(name) for name in ("coverage", "bench_bands", "coverage_table"))
    limits, table = coverage_table.limits, coverage_table.table
    assert limits(8, 10) == pytest.approx((0.4439045, 0.9747893), abs=1e-7)  # Clopper & Pearson, any table
    assert limits(10, 10)[1] == 1 and limits(0, 10)[0] == 0
    cells = [coverage.Cell(1, "S", "uniform", n, runs=100, target=0.92) for n in (300, 1000, 3000)]
    lines = [coverage.Line(c.name, 0, 100, k, 99.0, 25.0, 1.0) for c, k in zip(cells[:2], (85, 86), strict=True)]
    text = table(lines, cells)
    assert "200 runs of 300 planned, at least 100 in each of 2 of 3 cells; 1 cell misses its target" in text
    assert text.count("MISS (0.92)") == 1 and "| 0.850 | 0.765-0.914 | 0.990 | 0.250 | MISS (0.92) |" in text
    coverage.main(["--quick"])
    assert "12 runs of 12 planned" in capsys.readouterr().out
    bench_bands.ROWS = bench_bands.ROWS[::5]
    bench_bands.main(["--quick"])
    assert capsys.readouterr().out.count("isocal_ms=") == 3

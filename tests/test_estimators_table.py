"""The tables of benchmarks/estimators.py: paired differences and their standard errors, worked out by hand."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def tables():
    spec = importlib.util.spec_from_file_location("estimators_table", FOLDER / "estimators_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("estimators_table", None)


def rows():
    """Two repetitions of one setting: errors 2, 4 for K=5 and 1, 5 for cv; adult has no truth."""
    figures = {"brier": 0.2, "log_loss": 0.5, "log_loss_tight": 0.6, "at_edge": 0}
    for source in ("smooth", "adult"):
        for repetition, errors in enumerate(({"K=5": 2, "cv": 1}, {"K=5": 4, "cv": 5})):
            for method, error in errors.items():
                squared = "nan" if source == "adult" else error
                yield {"source": source, "n": 200, "M": 2, "repetition": repetition, "method": method,
                       "squared_error": squared, **figures}  # fmt: skip


def test_differences_are_paired(tables):
    runs = tables.Runs(rows())
    own, base = runs.pairs(("smooth", 200, 2), "cv", "squared_error")
    assert tables.difference(own, base) == pytest.approx((0.0, 1.0))  # differences -1 and 1: sd sqrt(2), over sqrt(2)
    assert tables.over(runs, "cv", "squared_error", [("smooth", 200, 2)], True) == pytest.approx((1.0, 1 / 3))
    assert tables.over(runs, "log", "brier", [("smooth", 200, 2)], False) is None


def test_files_are_written(tables, tmp_path):
    tables.write_tables(list(rows()), tmp_path)
    first, *lines = (tmp_path / "estimators.csv").read_text().splitlines()
    assert first.startswith("source,n,M,method,repetitions,squared_error,") and len(lines) == 4
    page = (tmp_path / "estimators.md").read_text()
    assert "| cv | 1.00 (0.33) |" in page and "from 2 repetitions of 2 settings" in page

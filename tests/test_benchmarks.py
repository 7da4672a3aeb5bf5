"""The benchmark scripts run and print their rows; no test asserts a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "benchmarks" / "bench_bernstein.py"


@pytest.mark.parametrize(
    "name, packages",
    [
        ("bench_univariate", ("sklearn", "probcal")),
        ("bench_metrics", ("sklearn",)),
        ("bench_calibration_tests", ()),
        ("bench_everyday", ()),
        ("bench_bands", ()),
        ("bench_fusion", ("sklearn",)),
        ("quality", ("sklearn", "lightgbm")),
        ("fuse_choices", ("sklearn",)),
    ],
)
def test_other_scripts_run(name, packages):
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is in the extra 'bench'")
    if name == "fuse_choices" and not (SCRIPT.parents[2] / "shared" / "data").exists():
        pytest.skip("../shared/data holds the sets")
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(SCRIPT.with_name(f"{name}.py")), "--quick"]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env)
    assert made.returncode == 0, made.stderr
    assert len(made.stdout.splitlines()) > 3


def test_bench_bernstein_prints_its_rows():
    for package in ("sklearn", "cvxpy", "clarabel"):
        pytest.importorskip(package, reason=f"{package} is in the extra 'bench'")
    # One thread each: beside other tests the threads of OpenMP and OpenBLAS wait for each other, for a minute in all.
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(SCRIPT), "--quick"]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env)
    assert made.returncode == 0, made.stderr
    header, *rows = made.stdout.splitlines()
    assert header.startswith("# ") and "cores" in header
    cells = [dict(cell.split("=", 1) for cell in row.split(" | ")) for row in rows]
    assert [(c["what"], c["M"]) for c in cells] == [
        ("fit_arrays", "2"), ("fit_arrays", "2"), ("DataFrame, ecdf terms", "2"),
        ("DataFrame, plain terms", "2"), ("predict, plain terms", "2"),
        ("DataFrame, ecdf terms", "2"), ("predict, ecdf terms", "2"),
        ("fit_arrays", "3"), ("fit_arrays", "4"), ("fit_arrays", "1"), ("fit_arrays", "1"),
        ("import isocal, beyond the peer", "0"),
    ]  # fmt: skip
    assert all(float(c["isocal_ms"]) > 0 for c in cells)
    assert "mean losses" in cells[0]["note"]
    assert {c["peer"] for c in cells if "peer" in c} >= {
        "cvxpy + Clarabel", "HistGradientBoosting monotonic_cst", "IsotonicRegression",
    }  # fmt: skip

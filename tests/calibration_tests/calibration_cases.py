"""Forecasts and what other programs print for them: copies in tests/reference/diag, the rest in ../shared."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

REFERENCE = Path(__file__).resolve().parent.parent / "reference"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "reference" / "diag"
OPEN = {"sim": ("sim_known_truth.csv", "p"), "sim_tied": ("diag/sim_tied.csv", "p")}
ELSEWHERE = {
    "icu": ("icu_givitiR.csv", "p"), "birthwt": ("birthwt_internal.csv", "p"),
    "bc_lr": ("breastcancer_oof.csv", "p_lr"), "bc_nb": ("breastcancer_oof.csv", "p_nb"),
}  # fmt: skip
NIAMEY = ("EMOS", "ENS", "EPC", "Logistic")
ELSEWHERE |= {f"niamey_{name}": ("niamey2016_reliabilitydiag.csv", name) for name in NIAMEY}
CASES = [*OPEN, *ELSEWHERE]
CERTAIN = {"bc_nb", "niamey_ENS"}  # p of 0 or 1
INSIDE = [case for case in CASES if case not in CERTAIN]


def shared(path):
    """A file of the shared folder; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip("shared folder is absent")
    return SHARED / path


@lru_cache
def _read(path):
    return pd.read_csv(path, skipinitialspace=True)


def forecast(case):
    """(y, p) of a case."""
    name, column = OPEN.get(case) or ELSEWHERE[case]
    table = _read(REFERENCE / name if case in OPEN else shared(f"inputs/{name}"))
    return table["y"].to_numpy(dtype=float), table[column].to_numpy(dtype=float)


def printed(file, case):
    """{quantity: value} that the program behind an output file printed."""
    if case in OPEN or case == "cdf":
        table = _read(REFERENCE / "diag" / "calibration_tests_sim.csv")
        table = table[table.file == file]
    else:
        table = _read(shared(f"outputs/{file}.csv"))
    table = table[table.case == case]
    return dict(zip(table.quantity, pd.to_numeric(table.value), strict=True))


def belts(case):
    """Rows of givitiR's belts: devel, conf, p, L, U."""
    table = _read(REFERENCE / "diag" / "giviti_belt_sim.csv" if case in OPEN else shared("outputs/giviti_belt.csv"))
    return table[table.case == case]


def splits(case):
    """0-based rows of the first half, one array a split."""
    path = REFERENCE / "diag" / "ehl_splits_sim.csv" if case in OPEN else shared("inputs/ehl_splits_seed42.csv")
    table = _read(path)
    return [part.idx1.to_numpy() - 1 for _, part in table[table.case == case].groupby("split")]


def calibrated(n, rng):
    """A forecast that is right, away from 0 and 1."""
    p = rng.uniform(0.05, 0.95, n)
    return (rng.uniform(size=n) < p).astype(float), p


def miscalibrated(n=240, seed=5):
    """A forecast with ties that is off, as plain arrays with whole-number weights."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.uniform(0.05, 0.95, n), 2)
    y = (rng.uniform(size=n) < p**1.5).astype(float)
    return y, p, rng.integers(1, 4, n).astype(float)

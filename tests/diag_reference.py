"""Inputs and what other programs print for them: `sim` and `sim_tied` here, the others in the shared folder."""

import functools
from pathlib import Path

import pandas as pd
import pytest

HERE = Path(__file__).parent / "reference"
SHARED = Path(__file__).parents[1].parent / "shared" / "reference" / "diag"
NIAMEY = {f"niamey_{name}": ("niamey2016_reliabilitydiag", name) for name in ("EMOS", "ENS", "EPC", "Logistic")}
SHARED_INPUTS = {
    "icu": ("icu_givitiR", "p"), **NIAMEY, "birthwt": ("birthwt_internal", "p"),
    "bc_nb": ("breastcancer_oof", "p_nb"), "bc_lr": ("breastcancer_oof", "p_lr"),
}  # fmt: skip
LOCAL_INPUTS = {"sim": HERE / "sim_known_truth.csv", "sim_tied": HERE / "diag" / "sim_tied.csv"}
CASES = [*LOCAL_INPUTS, *SHARED_INPUTS]


def forecast(case):
    """(y, p) of a case; skips where the shared folder is absent."""
    if case in LOCAL_INPUTS:
        rows, column = pd.read_csv(LOCAL_INPUTS[case]), "p"
    else:
        if not SHARED.exists():
            pytest.skip("shared folder is absent")
        file, column = SHARED_INPUTS[case]
        rows = pd.read_csv(SHARED / "inputs" / f"{file}.csv")
    return rows["y"].to_numpy(float), rows[column].to_numpy(float)


@functools.cache
def _read(path):
    return pd.read_csv(path)


def table(file, case):
    """The lines of an output file for a case."""
    found = _read((HERE / "diag" if case in LOCAL_INPUTS else SHARED) / "outputs" / f"{file}.csv")
    return found[found["case"] == case]


def printed(file, case):
    """{quantity: value} of an output file for a case."""
    lines = table(file, case)
    return dict(zip(lines["quantity"], lines["value"].astype(float), strict=True))

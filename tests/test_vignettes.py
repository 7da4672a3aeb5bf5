"""Every vignette runs in a fresh kernel and prints what its stored outputs say."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

VIGNETTES = sorted((Path(__file__).parents[1] / "vignettes").glob("*.ipynb"))


def printed(cell):
    """The text outputs of a cell, without what differs between machines (object addresses, elapsed times)."""
    text = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream" and output.name == "stdout":
            text.append(output.text)
        elif output.output_type in ("execute_result", "display_data") and "image/png" not in output.data:
            text.append(output.data.get("text/plain", ""))
    return re.sub(r"0x[0-9a-f]+", "0x", "".join(text)).strip()


@pytest.mark.parametrize("path", VIGNETTES, ids=lambda p: p.stem)
def test_vignette_runs_and_prints_what_is_stored(path):
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    for cell in fresh.cells:
        cell.pop("outputs", None)
        if cell.cell_type == "code":
            cell.outputs = []
    NotebookClient(fresh, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}).execute()
    for old, new in zip(stored.cells, fresh.cells, strict=True):
        assert printed(new) == printed(old), old.source
        pictures = [sum("image/png" in o.get("data", {}) for o in c.get("outputs", [])) for c in (old, new)]
        assert pictures[0] == pictures[1]


@pytest.mark.parametrize("path", VIGNETTES, ids=lambda p: p.stem)
def test_vignette_is_short_and_was_executed(path):
    """Five minutes at 200 words a minute; every code cell that shows something has its output in git."""
    notebook = nbformat.read(path, as_version=4)
    words = sum(len(cell.source.split()) for cell in notebook.cells if cell.cell_type == "markdown")
    assert words < 1000
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert any("image/png" in o.get("data", {}) for c in notebook.cells for o in c.get("outputs", []))

"""Imports point down only (DESIGN section 2), those inside functions included."""

import ast
from pathlib import Path

import isocal

ROOT = Path(isocal.__file__).parent
FLOORS = [
    {"numerics"}, {"frames", "transforms"}, {"methods", "formula"}, {"response"}, {"terms"},
    {"metrics", "corp", "calibration_tests", "consistency", "influence", "bootstrap", "bands", "plots", "store",
     "theory"},
    {"assessment", "diagnosis"}, {"results"}, {"model", "loading", "forecasts"},
    {"nested", "comparison", "chunked", "report", "sklearn", "cli", "__main__", "__init__"},
]  # fmt: skip
ALONE = {"datasets", "versions", "summary"}  # know nothing of the rest
FLOOR = {name: i for i, floor in enumerate(FLOORS) for name in floor} | dict.fromkeys(ALONE, -1)
FORBIDDEN = {  # beyond the order of floors
    "numerics": {"pandas", "patsy", "narwhals", "statsmodels", "matplotlib"},
    "methods": {"formula", "terms", "frames", "patsy", "narwhals"},
    "metrics": {"methods", "formula", "terms"},
    "results": {"formula", "terms", "patsy"},
    "plots": {"methods", "formula", "terms"},
}
ONLY_IN = {"patsy": {"formula"}, "narwhals": {"frames"}, "cvxopt": {"numerics"}}


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield path, parts[0], parts


def imported(path, parts):
    """Top-level names a file imports: rooms of isocal, or packages outside it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names = alias.name.split(".")
                yield names[1] if names[0] == "isocal" and len(names) > 1 else names[0]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                package = list(parts[: len(parts) - node.level])
                inside = package + (node.module.split(".") if node.module else [])
                yield from [inside[0]] if inside else [alias.name for alias in node.names]
            else:
                names = node.module.split(".")
                yield names[1] if names[0] == "isocal" and len(names) > 1 else names[0]


def test_arrows_point_down():
    wrong = []
    for path, room, parts in modules():
        assert room in FLOOR, f"{path.name}: say in test_layers.py on which floor {room!r} stands"
        for name in set(imported(path, parts)):
            if name in FLOOR and name != room and (FLOOR[name] > FLOOR[room] or name in FORBIDDEN.get(room, ())):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
            if name in FORBIDDEN.get(room, ()) or (name in ONLY_IN and room not in ONLY_IN[name]):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_rooms_on_one_floor_do_not_lean_on_each_other():
    allowed = {("plots", "metrics"), ("consistency", "calibration_tests"), ("calibration_tests", "metrics"),
               ("consistency", "metrics"), ("bootstrap", "metrics"), ("transforms", "frames"),
               ("__main__", "cli")}  # fmt: skip
    for path, room, parts in modules():
        for name in set(imported(path, parts)) - {room}:
            if room != "__init__" and name in FLOOR and FLOOR[name] == FLOOR[room] and room not in ALONE:
                assert (room, name) in allowed, f"{path.relative_to(ROOT)} imports {name} on its own floor"


def test_no_module_is_named_like_an_exported_function():
    names = {path.stem for path, _, parts in modules() if len(parts) == 1}
    functions = {n for n in isocal.__all__ if callable(getattr(isocal, n)) and not isinstance(getattr(isocal, n), type)}
    assert not names & functions


def test_files_and_functions_are_short():
    long = []
    for path, _, _ in modules():
        text = path.read_text()
        if len(text.splitlines()) > 300:
            long.append(f"{path.name}: {len(text.splitlines())} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                doc = ast.get_docstring(node, clean=False)
                lines = node.end_lineno - node.lineno + 1 - (len(doc.splitlines()) if doc else 0)
                if lines > 40:
                    long.append(f"{path.name}: {node.name} has {lines} lines")
    assert not long, "\n".join(long)


def test_importing_isocal_imports_nothing_heavy():
    import subprocess
    import sys

    heavy = ("matplotlib.pyplot", "scipy.stats", "sklearn", "dask", "statsmodels.api")
    code = f"import sys, isocal; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

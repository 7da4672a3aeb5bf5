"""What the benchmark scripts do with their rows: print them as they are measured, write the table unless --quick."""

import argparse
import csv
import os
import platform
from pathlib import Path

import numpy as np

import isocal


def machine():
    """Where it ran."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    cpu = next((line.split(": ")[1] for line in text.splitlines() if line.startswith("model name")), "unknown CPU")
    cores = text.count("\nprocessor") + text.startswith("processor")
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, isocal {isocal.__version__}"
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    return f"{cpu}, {cores or '?'} cores, {load}, {platform.system()}, {versions}"


def run(about, rows, results, arguments=None):
    """rows(quick) yields {column: text}; results is the path of the table."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, writes nothing")
    quick = parser.parse_args(arguments).quick
    print(f"# {machine()}")
    table = []
    for cells in rows(quick):
        table.append(cells)
        print(" | ".join(f"{k}={v}" for k, v in cells.items() if v), flush=True)
    if not quick:
        with results.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)

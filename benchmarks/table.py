"""What the benchmark scripts do with their rows: print them as they are measured, write the table unless --quick."""

import argparse
import csv

from bench_bernstein import machine


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

"""A study of many jobs that can be stopped and goes on where it was: its rows are kept after every job."""

import argparse
import csv
import os
import time

import numpy as np
from tqdm import tqdm


def main(about, path, columns, jobs, quick, write_table):
    """jobs() -> [(key, function giving the rows of one job)]; a key is what each of its rows begins with, as text.

    quick() prints a few rows; write_table() turns the file at path into tables.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after this long")
    parser.add_argument("--table", action="store_true", help="only rewrite the tables")
    parser.add_argument("--quick", action="store_true", help="a few rows, writes nothing")
    asked = parser.parse_args()
    if asked.quick:
        quick()
        return
    lines, start = _kept(path), time.monotonic()
    if not asked.table:
        found = jobs()
        done = {tuple(line[: len(found[0][0])]) for line in lines}
        for run in tqdm([run for key, run in found if key not in done], desc="sets and repetitions"):
            if time.monotonic() - start > 60 * asked.minutes:
                break
            lines += run()
            _keep(lines, path, columns)
    write_table()


def _kept(path):
    """Rows of the file, or none."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.reader(file))[1:]


def _keep(lines, path, columns):
    """Write all rows beside the file and put them in its place."""
    beside = path.with_suffix(".tmp")
    with open(beside, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *lines])
    os.replace(beside, path)

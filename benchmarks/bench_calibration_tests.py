"""Speed of the calibration tests.

    python benchmarks/bench_calibration_tests.py            all rows, about a minute, writes results/
    python benchmarks/bench_calibration_tests.py --quick    tiny sizes, a few seconds, writes nothing

Times are medians of three runs after one warm-up run; the forecasts have as many distinct values as rows. Target: the
GiViTI test with both belts (100 grid points, levels 0.8 and 0.95) at n = 1,000 in 2 s.
"""

import argparse
import csv
import os
import platform
import statistics
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import scipy

from isocal.calibration_tests import all_tests, cox, delong, ehl, giviti, hosmer_lemeshow, spiegelhalter, tcal
from isocal.numerics.chi2_sums import quantile

RESULTS = Path(__file__).resolve().parent / "results" / "bench_calibration_tests.csv"
SEED = 20240215


def forecast(n, bent):
    """(y, p): calibrated, or with a curved recalibration of degree above one."""
    rng = np.random.default_rng(SEED)
    logit = rng.normal(scale=1.5, size=n)
    p = 1 / (1 + np.exp(-logit))
    truth = 1 / (1 + np.exp(-(logit - 0.4 * logit**2 + 0.3))) if bent else p
    return (rng.uniform(size=n) < truth).astype(float), p


def seconds(call):
    """Median of three runs after one to warm up; what is remembered between calls is forgotten before each."""
    found = []
    for _ in range(4):
        quantile.cache_clear()
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return statistics.median(found[1:])


def rows(small, large):
    """(what, n, call, target in s)."""
    for bent in (False, True):
        y, p = forecast(small, bent)
        word = "curved" if bent else "calibrated"
        yield f"giviti, test and two belts, {word}", small, partial(giviti, y, p), 2.0
        yield f"giviti internal, test and two belts, {word}", small, partial(giviti, y, p, kind="internal"), 2.0
    y, p = forecast(large, False)
    for test in (spiegelhalter, hosmer_lemeshow, cox):
        yield test.__name__, large, partial(test, y, p), None
    yield "giviti, test only", large, partial(giviti, y, p, level=None), None
    yield "giviti, test and two belts", large, partial(giviti, y, p), None
    yield "ehl, 10 splits", large, partial(ehl, y, p, rng=0), None
    yield "tcal, adaptive, 1,999 draws", large, partial(tcal, y, p, rng=0), None
    yield "tcal, 15 bins, 1,999 draws", large, partial(tcal, y, p, bins=15, rng=0), None
    yield "delong", large, partial(delong, y, p, np.round(p, 2)), None
    yield "all_tests", large, partial(all_tests, y, p, rng=0), None


def main():
    """Print the rows; write them unless --quick."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}"
    head = f"# {platform.machine()}, {os.cpu_count()} cores, {versions}"
    print(head)
    table = []
    for what, n, call, target in rows(*((200, 500) if quick else (1_000, 100_000))):
        table.append({"what": what, "n": n, "seconds": f"{seconds(call):.3g}", "target_s": target or ""})
        print(" | ".join(f"{k}={v}" for k, v in table[-1].items()), flush=True)
    if quick:
        return
    with RESULTS.open("w", newline="") as file:
        file.write(head + "\n")
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    sys.exit(main())

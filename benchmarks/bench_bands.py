"""Speed of confidence bands against the targets of the project.

    python benchmarks/bench_bands.py            all rows, about two minutes, writes results/bench_bands.csv
    python benchmarks/bench_bands.py --quick    tiny sizes, a few seconds, writes nothing

Through the formula door, progress bar included, on the default grid (101 scores, or 25 x 25). Times are medians of
repeated calls after one warm-up call (`times_ms` of bench_bernstein.py); spread_ms is their interquartile range.
"""

import warnings
from pathlib import Path

from bench_bernstein import times_ms
from table import run

import isocal

RESULTS = Path(__file__).resolve().parent / "results" / "bench_bands.csv"
ROWS = (  # method, rows, scores, draws, target in ms
    ("model-supt", 500, 1, 999, 1000),
    ("model-supt", 500, 2, 999, 3000),
    ("model-supt", 100_000, 1, 999, None),
    ("model-supt", 100_000, 2, 999, 10_000),
    ("model-supt", 500, 3, 999, None),
    ("honest", 500, 1, 0, None),
    ("honest", 500, 2, 0, 3000),
    ("honest", 100_000, 2, 0, None),
    ("unconstrained-supt", 500, 2, 999, None),
    ("studentized", 500, 1, 999, None),
    ("studentized", 500, 2, 999, None),
)


def timed(method, n, M, n_draws, target, seconds):
    """One line of the table."""
    formula = "y ~ " + " + ".join(f"s{m + 1}" for m in range(M))
    res = isocal.bernstein(formula, isocal.datasets.simulate_scores(n, M=M, rng=1), K=3).fit()
    options = {"method": method, "rng": 1, "n_draws": max(n_draws, 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit outside its band is not the matter here
        middle, spread = times_ms(lambda: res.conf_band(**options), seconds)
    return {"method": method, "n": n, "M": M, "n_draws": n_draws, "isocal_ms": f"{middle:.3g}",
            "spread_ms": f"{spread:.2g}", "target_ms": target or ""}  # fmt: skip


def rows(quick):
    """All rows of the table."""
    for method, n, M, n_draws, target in ROWS:
        n, n_draws = (min(n, 200), min(n_draws, 39)) if quick else (n, n_draws)
        yield timed(method, n, M, n_draws, target, 0.0 if quick else 4.0)


def main(arguments=None):
    """Measure, print and, unless --quick, write the table."""
    run(__doc__, rows, RESULTS, arguments)


if __name__ == "__main__":
    main()

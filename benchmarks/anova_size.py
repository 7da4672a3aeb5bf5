"""How often isocal.anova rejects: its size where the small fit holds, its power where it does not.

    python benchmarks/anova_size.py            all cells, about ten minutes, writes results/anova_size.csv
    python benchmarks/anova_size.py --quick    three runs a cell, a few seconds, writes nothing

Each run simulates a table, fits both, draws 199 responses from the small fit. "rejected" is the share of p values at
most .05; low and high are its Clopper-Pearson limits at 95 %. A cell "size" fails when its low limit exceeds .05.
"""

import argparse
import csv
import sys
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from scipy.stats import beta
from tqdm import tqdm

import isocal

SEED = 20240607
RESULTS = Path(__file__).resolve().parent / "results" / "anova_size.csv"
RUNS, DRAWS, LEVEL = 300, 199, 0.05


@dataclass(frozen=True)
class Cell:
    """A question: truth, rows, the two formulas with their K; what: size (the small fit holds) or power."""

    what: str
    truth: str
    n: int
    small: tuple
    large: tuple


ONE, TWO = "y ~ s1", "y ~ s1 + s2"


def straight(s):
    """In the small sieve of every degree, free of s2."""
    return 0.2 + 0.6 * s[:, 0]


def rising(s):
    """A polynomial of degree 5 in s1."""
    return 0.05 + 0.9 * s[:, 0] ** 5


def faint(s):
    """A small effect of s2 beside that of s1."""
    return 0.15 + 0.5 * s[:, 0] + 0.2 * s[:, 1]


TRUTHS = {"straight": straight, "rising": rising, "faint": faint}
CELLS = (
    Cell("size", "constant", 300, (ONE, 3), (TWO, 3)),
    Cell("size", "straight", 200, (ONE, 3), (TWO, 3)),
    Cell("size", "straight", 300, (ONE, 5), (TWO, 5)),
    Cell("size", "straight", 1000, (ONE, 5), (TWO, 5)),
    Cell("size", "rising", 300, (ONE, 5), (ONE, 12)),
    Cell("size", "rising", 1000, (ONE, 5), (ONE, 12)),
    Cell("size", "straight", 300, (TWO, 2), (TWO, 5)),
    Cell("power", "faint", 300, (ONE, 5), (TWO, 5)),
    Cell("power", "faint", 1000, (ONE, 5), (TWO, 5)),
    Cell("power", "rising", 300, (ONE, 2), (ONE, 8)),
    Cell("power", "rising", 1000, (ONE, 2), (ONE, 8)),
)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    truth: str
    n: int
    small: str
    large: str
    runs: int
    rejected: float
    low: float
    high: float


def p_values(cell, runs, draws, seed):
    """P values of `runs` simulated tables."""
    out = []
    for stream in np.random.SeedSequence([SEED, seed]).spawn(runs):
        rng = np.random.default_rng(stream)
        data = isocal.datasets.simulate_scores(cell.n, M=2, rng=rng, truth=TRUTHS.get(cell.truth, cell.truth))
        fits = [isocal.bernstein(formula, data, K=K).fit() for formula, K in (cell.small, cell.large)]
        out.append(isocal.anova(*fits, rng=rng, n_boot=draws, progress=False).p_value)
    return np.array(out)


def row(cell, p):
    """Share of rejections with its limits."""
    k, runs = int(np.sum(p <= LEVEL)), len(p)
    low = 0.0 if k == 0 else float(beta.ppf(0.025, k, runs - k + 1))
    high = 1.0 if k == runs else float(beta.ppf(0.975, k + 1, runs - k))
    names = [f"{formula}, K={K}" for formula, K in (cell.small, cell.large)]
    return Row(cell.what, cell.truth, cell.n, *names, runs, round(k / runs, 4), round(low, 4), round(high, 4))


def main():
    """Print the table, write it unless --quick."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rows = []
    for seed, cell in enumerate(tqdm(CELLS, desc="cells")):
        rows.append(row(cell, p_values(cell, 3 if quick else RUNS, 19 if quick else DRAWS, seed)))
        print(*astuple(rows[-1]), sep=" | ", flush=True)
    if not quick:
        with RESULTS.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([f.name for f in fields(Row)])
            writer.writerows(map(astuple, rows))
    return int(any(r.what == "size" and r.low > LEVEL for r in rows))


if __name__ == "__main__":
    sys.exit(main())

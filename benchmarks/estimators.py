"""Quality of the Bernstein estimators: error to a known truth, Brier score and log loss, paired over repetitions.

    nice -n 10 python benchmarks/estimators.py           about two hours on one core; resumes where it was stopped
    python benchmarks/estimators.py --quick              one repetition of the smallest settings, writes no table

Simulated scores (Gaussian copula, correlation .5) have a known truth: squared error to it, expected Brier score and
expected log loss are means over 4,000 new rows. Subsamples of data/adult_scores.csv are scored on all other rows.
Rows are kept as they come in the file named by --kept; the tables are made of it at the end.
"""

import argparse
import csv
import tempfile
import zlib
from dataclasses import fields
from itertools import product
from pathlib import Path

import numpy as np
from estimators_table import write_tables

from isocal.datasets import load_adult_scores, simulate_scores, truths
from isocal.methods import Bernstein
from isocal.numerics import fold_fits, sieve
from isocal.numerics.many_qp import ManyFits
from isocal.transforms import Ecdf

RESULTS = Path(__file__).resolve().parent / "results"
KEPT = Path(tempfile.gettempdir()) / "isocal_estimators.csv"
FIGURES = ("squared_error", "brier", "log_loss", "log_loss_tight", "at_edge")
COLUMNS = ("source", "n", "M", "repetition", "method", *FIGURES)
REPETITIONS, NEW_ROWS, SIZES = 20, 4_000, (200, 500, 2_000)
TIGHT = 1e-6  # predictions are clipped at half a row, .5/(n + 1), for log_loss and here for log_loss_tight


def scarce(s):
    """Events of 0.5 to 20 %, 5 % on average: the range at which the likelihood should pay."""
    return 0.005 + 0.195 * s.mean(axis=1) ** 3


SOURCES = {name: truths[name] for name in ("smooth", "kink", "staircase", "rare")} | {"scarce": scarce, "adult": None}
METHODS = {
    "K=5": {"K": 5}, "cv": {"K": "cv"}, "aic": {"K": "aic"}, "bic": {"K": "bic"},
    "average stack": {"K": "average"}, "average exp": {"K": "average", "average": "exp"},
    "average equal": {"K": "average", "average": "equal"},
    "log K=5": {"K": 5, "loss": "log"}, "log, equal": {"K": "average", "average": "equal", "loss": "log"},
    "shrink 1": {"K": 5, "shrink": 1.0}, "shrink cv": {"K": 5, "shrink": "cv"},
    "shrink 1, stack": {"K": "average", "shrink": 1.0},
    "shrink 1, equal": {"K": "average", "average": "equal", "shrink": 1.0},
    "log, shrink 1": {"K": 5, "loss": "log", "shrink": 1.0},
}  # fmt: skip
SLOW = {("log, equal", 3)}  # methods left out for three scores


def remember_solutions():
    """Estimators ask for many of the same quadratic programmes: solve each once, to full accuracy; clear() forgets."""
    solve, known = sieve.solve, {}

    def solved(G, t, weight, mean, cone, penalty=None, rough=False):
        key = (cone.shape, cone.directions, hash(G.tobytes()), t.tobytes(), weight, mean)
        if key not in known:
            known[key] = solve(G, t, weight, mean, cone, penalty)
        return known[key]

    def each(G, t, weight, mean, cone, penalty=None):
        fits = [solved(*part, cone, penalty) for part in zip(G, t, weight, mean, strict=True)]
        return ManyFits(*(np.array([getattr(fit, f.name) for fit in fits]) for f in fields(ManyFits)))

    sieve.solve, fold_fits.solve_each = solved, each
    return known


def seed_of(*names):
    """One seed for each setting and repetition, the same on every machine."""
    return zlib.crc32("/".join(map(str, names)).encode())


def simulated(source, n, M, repetition):
    """(s, raw, y) of the fit and (s, truth, None) of new rows."""
    old = simulate_scores(n, M=M, rng=seed_of(source, n, M, repetition), truth=SOURCES[source])
    new = simulate_scores(NEW_ROWS, M=M, rng=seed_of(source, n, M, repetition, "new"), truth=SOURCES[source])
    names = [f"s{m + 1}" for m in range(M)]
    s = old[names].to_numpy()
    return (s, s, old["y"].to_numpy(dtype=float)), (new[names].to_numpy(), new["p"].to_numpy())


def adult(n, M, repetition):
    """The same from the file: scores through the ecdf of the rows of the fit, labels in place of the truth."""
    names = [f"s{m + 1}" for m in range(M)]
    data = load_adult_scores().dropna(subset=names)
    order = np.random.default_rng(seed_of("adult", n, M, repetition)).permutation(len(data))
    raw, y = data[names].to_numpy()[order], data["y"].to_numpy(dtype=float)[order]
    s = np.column_stack([Ecdf.learn(raw[:n, m])(raw[:, m]) for m in range(M)])
    return (s[:n], raw[:n], y[:n]), (s[n:], y[n:])


def judge(curve, places, p, n, known):
    """Scores of a curve at new rows; p is their true probability, or their label where known is False."""
    f = curve(places)
    found = {"squared_error": np.mean((f - p) ** 2) if known else np.nan}
    found["brier"] = np.mean((f - p) ** 2) + np.mean(p * (1 - p))
    for name, edge in (("log_loss", 0.5 / (n + 1)), ("log_loss_tight", TIGHT)):
        g = np.clip(f, edge, 1 - edge)
        found[name] = -np.mean(p * np.log(g) + (1 - p) * np.log(1 - g))
    return found | {"at_edge": np.mean((f <= 0) | (f >= 1))}


def settings(quick):
    """(source, n, M, repetition), repetition by repetition, so that a stopped run is a smaller one."""
    sizes, repetitions = (SIZES[:1], 1) if quick else (SIZES, REPETITIONS)
    for repetition, M, n in product(range(repetitions), (2, 3), sizes):
        yield from ((source, n, M, repetition) for source in SOURCES)


def rows_of(setting, solutions):
    """One row a method."""
    source, n, M, repetition = setting
    solutions.clear()
    (s, raw, y), (places, p) = adult(n, M, repetition) if source == "adult" else simulated(*setting)
    for method, options in METHODS.items():
        if (method, M) in SLOW:
            continue
        curve = Bernstein(**options).fit_many(s, y, raw=raw)[0]
        found = judge(curve, places, p, n, source != "adult")
        yield dict(zip(COLUMNS, (*setting, method, *(f"{found[name]:.8g}" for name in FIGURES)), strict=True))


def read(path):
    """Rows kept by an earlier run."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main(arguments=None):
    """Run what is missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one repetition of the smallest settings, no table")
    parser.add_argument("--kept", type=Path, default=KEPT, help="file that keeps the rows of an interrupted run")
    parser.add_argument("--tables", action="store_true", help="only write the tables of the rows that are kept")
    options = parser.parse_args(arguments)
    done = {(r["source"], int(r["n"]), int(r["M"]), int(r["repetition"])) for r in read(options.kept)}
    solutions = remember_solutions()
    for setting in () if options.tables else settings(options.quick):
        if options.quick:
            for row in rows_of(setting, solutions):
                print(" | ".join(f"{k}={v}" for k, v in row.items()), flush=True)
        elif setting not in done:
            found = list(rows_of(setting, solutions))
            fresh = not options.kept.exists()
            with options.kept.open("a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writerows([dict(zip(COLUMNS, COLUMNS, strict=True))] * fresh + found)
            print(*setting, flush=True)
    if not options.quick:
        write_tables(read(options.kept), RESULTS)


if __name__ == "__main__":
    main()

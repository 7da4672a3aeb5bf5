"""Sizes and powers of the consistency diagnostics, against simulated truths.

    python benchmarks/diagnostics.py            every setting that the table lacks, half an hour in all; resumable
    python benchmarks/diagnostics.py --only degree_adequacy learning_curve    these parts
    python benchmarks/diagnostics.py --quick    few runs, under a minute, writes nothing

Every setting has a seed of its own, so that the table does not depend on order or interruption; a finished setting is
written at once and not run again. Level of the tests: 0.05. Truths of one score are functions below, on uniform scores;
those of two are `isocal.datasets.truths` with a normal copula of correlation one half.
"""

import argparse
import csv
import os
import zlib
from pathlib import Path

import numpy as np
from scipy.special import expit

import isocal
from isocal.consistency import FittedRows, degree_adequacy, degree_path, isotonicity, learning_curve, slope_ceiling
from isocal.methods import Bernstein
from isocal.numerics.basis import design, evaluate
from isocal.numerics.cone import cone
from isocal.numerics.many_qp import solve_each
from isocal.numerics.qp import tie_break

RESULTS = Path(__file__).resolve().parent / "results" / "diagnostics.csv"
COLUMNS = ["part", "setting", "n", "runs", "quantity", "value", "target", "met"]
LEVEL = 0.05


def _in_sieve(*beta):
    return lambda s: evaluate(np.array(beta), s)


def _dip(s, depth):
    return 0.2 + 0.6 * s[:, 0] - depth * np.exp(-(((s[:, 0] - 0.6) / 0.15) ** 2))


TRUTHS = {
    "constant": lambda s: np.full(len(s), 0.3),
    "line": lambda s: 0.1 + 0.8 * s[:, 0],
    "S-curve": lambda s: expit(6 * s[:, 0] - 3),
    "steep": lambda s: 0.02 + 0.96 * expit(25 * (s[:, 0] - 0.5)),  # slope 6 in the middle
    "staircase": lambda s: 0.1 + 0.8 * np.minimum(np.floor(4 * s[:, 0]), 3) / 3,
    "flat, then rise": lambda s: 0.2 + 0.6 * np.maximum(s[:, 0] - 0.5, 0) / 0.5,
    "bump": lambda s: 0.2 + 0.5 * np.exp(-(((s[:, 0] - 0.5) / 0.15) ** 2)),  # falls by 0.50
    "dip of 0.28": lambda s: _dip(s, 0.45),
    "dip of 0.19": lambda s: _dip(s, 0.35),
    "in F_4, inner": _in_sieve(0.1, 0.2, 0.5, 0.8, 0.9),
    "in F_4, plateau": _in_sieve(0.2, 0.2, 0.2, 0.8, 0.8),
    "in F_4, at 0 and 1": _in_sieve(0.0, 0.0, 0.5, 1.0, 1.0),
}


def drawn(truth, n, rng, M=1):
    """(s, y) of n rows."""
    if M > 1:
        data = isocal.datasets.simulate_scores(n, M=M, rng=rng, truth=truth)
        return data[[f"s{m + 1}" for m in range(M)]].to_numpy(), data["y"].to_numpy(float)
    s = rng.random((n, 1))
    f = TRUTHS[truth] if isinstance(truth, str) else truth
    return s, (rng.random(n) < f(s)).astype(float)


def fitted(s, y, K, rng):
    """FittedRows of a Bernstein fit."""
    recipe = Bernstein(K=K)
    names = [f"s{m + 1}" for m in range(s.shape[1])]
    return FittedRows(s, y, None, recipe, recipe.fit_arrays(s, y), names, None, rng)


def share(diagnostic, truth, n, K, runs, rng, M=1, judge=None):
    """Share of runs in which a diagnostic rejects at 5 %, or judge says so."""
    judge = judge or (lambda found: found.value < LEVEL)
    return float(np.mean([judge(diagnostic(fitted(*drawn(truth, n, rng, M), K, rng))) for _ in range(runs)]))


def _bump_of_two(s):
    return 0.15 + 0.6 * np.exp(-(((s.mean(axis=1) - 0.5) / 0.15) ** 2))


def isotonicity_parts():
    """(setting, n, runs, target, share)."""
    for n in (200, 800):
        for truth in ("constant", "S-curve", "steep", "staircase", "flat, then rise"):
            runs = 4000 if truth == "constant" else 1000  # the least favourable: at its level, not below
            yield f"size: {truth}", n, runs, "<= 0.06", lambda runs, rng, t=truth, n=n: share(
                isotonicity, t, n, 2, runs, rng)  # fmt: skip
    for truth, target in (("bump", ">= 0.95"), ("dip of 0.28", ">= 0.7"), ("dip of 0.19", "")):
        yield f"power: {truth}", 800, 1000, target, lambda runs, rng, t=truth: share(isotonicity, t, 800, 2, runs, rng)
    for truth in ("constant", "smooth", "staircase", "kink"):
        yield f"size, M=2: {truth}", 800, 300, "<= 0.06", lambda runs, rng, t=truth: share(
            isotonicity, t, 800, 2, runs, rng, 2)  # fmt: skip
    yield "power, M=2: bump", 800, 300, ">= 0.95", lambda runs, rng: share(
        isotonicity, _bump_of_two, 800, 2, runs, rng, 2)  # fmt: skip


def degree_parts():
    """(setting, n, runs, target, share)."""
    for n in (200, 800):
        for truth in ("constant", "in F_4, inner", "in F_4, plateau", "in F_4, at 0 and 1"):
            yield f"size, K=4: {truth}", n, 500, "<= 0.08", lambda runs, rng, t=truth, n=n: share(
                degree_adequacy, t, n, 4, runs, rng)  # fmt: skip
        yield "power, K=4: steep", n, 500, ">= 0.95", lambda runs, rng, n=n: share(
            degree_adequacy, "steep", n, 4, runs, rng)  # fmt: skip
        yield "power, K=4: S-curve", n, 500, "", lambda runs, rng, n=n: share(
            degree_adequacy, "S-curve", n, 4, runs, rng)  # fmt: skip
    for truth in ("constant", "first", "product"):  # each a polynomial of degree 1 in each score
        yield f"size, M=2, K=4: {truth}", 800, 200, "<= 0.08", lambda runs, rng, t=truth: share(
            degree_adequacy, t, 800, 4, runs, rng, 2)  # fmt: skip
    yield "size, M=3, K=3: first", 800, 100, "<= 0.08", lambda runs, rng: share(
        degree_adequacy, "first", 800, 3, runs, rng, 3)  # fmt: skip


def other_parts():
    """How often the unpaired diagnostics speak up: no target but the sentence of the issue."""
    for truth in ("S-curve", "in F_4, inner", "constant"):
        for word, judge in (("look or act", "fine"), ("act", "")):
            said = (lambda f: f.verdict != "fine") if judge else (lambda f: f.verdict == "act")
            yield f"degree_path, {word}: {truth}, K=5", 800, 300, "", lambda runs, rng, t=truth, j=said: share(
                degree_path, t, 800, 5, runs, rng, 1, j)  # fmt: skip
    for truth, K in (("steep", 4), ("S-curve", 10), ("constant", 5), ("line", 5)):
        yield f"slope_ceiling, look or act: {truth}, K={K}", 800, 300, "", lambda runs, rng, t=truth, K=K: share(
            slope_ceiling, t, 800, K, runs, rng, 1, lambda f: f.verdict != "fine")  # fmt: skip
    yield "degree_path, act: steep, K=4", 800, 300, "", lambda runs, rng: share(
        degree_path, "steep", 800, 4, runs, rng, 1, lambda f: f.verdict == "act")  # fmt: skip
    yield "degree_path, look or act, M=2: smooth, K=5", 1000, 100, "", lambda runs, rng: share(
        degree_path, "smooth", 1000, 5, runs, rng, 2, lambda f: f.verdict != "fine")  # fmt: skip


def df_parts():
    """Mean df over its covariance definition, sum_i cov(fitted_i, y_i) / var(y_i), at a fixed design."""
    for truth in ("constant", "S-curve", "flat, then rise", "steep"):
        for K in (4, 8, 16):
            yield f"{truth}, K={K}", 400, 4000, "within 10 %", lambda runs, rng, t=truth, K=K: _df_ratio(
                t, K, 400, runs, rng)  # fmt: skip


def _df_ratio(truth, K, n, runs, rng):
    s = ((np.arange(n) + 0.5) / n)[:, None]
    p, X = TRUTHS[truth](s), design(s, (K,))
    Y = (rng.random((runs, n)) < p).astype(float)
    limits, mean = cone((K + 1,), (1,)), Y.mean(axis=1)
    fits = solve_each((X.T @ X)[None], Y @ X, np.full(runs, float(n)), mean, limits, tie_break((K + 1,), 1e-10))
    F = fits.beta @ X.T
    covariance = np.mean((F - F.mean(axis=0)) * (Y - p), axis=0) / (p * (1 - p))
    return float(fits.df.mean() / covariance.sum())


def slope_parts():
    """Mean slope of the learning curve at fixed K."""
    for M, truth, n, runs in ((1, "line", 1000, 40), (1, "S-curve", 1000, 40), (1, "constant", 1000, 40),
                              (1, "line", 4000, 20), (1, "S-curve", 4000, 20), (1, "constant", 4000, 20),
                              (2, "smooth", 1000, 20), (2, "smooth", 4000, 10)):  # fmt: skip
        for K in (5,) if M == 1 else (2, 5):
            yield f"M={M}, K={K}: {truth}", n, runs, "-1 +- 0.2", lambda runs, rng, t=truth, n=n, M=M, K=K: float(
                np.mean([learning_curve(fitted(*drawn(t, n, rng, M), K, rng)).value for _ in range(runs)]))  # fmt: skip


PARTS = {
    "isotonicity": (isotonicity_parts, "share rejected"), "degree_adequacy": (degree_parts, "share rejected"),
    "degrees_of_freedom": (df_parts, "mean df / covariance df"), "learning_curve": (slope_parts, "mean slope"),
    "verdicts": (other_parts, "share of runs"),
}  # fmt: skip


def met(value, target):
    """Whether a value meets its target, in words; empty where there is none."""
    if not target:
        return ""
    if target.startswith(("<=", ">=")):
        limit = float(target[3:])
        return "yes" if (value <= limit if target[0] == "<" else value >= limit) else "no"
    return "yes" if (abs(value + 1) <= 0.2 if target.startswith("-1") else abs(value - 1) <= 0.1) else "no"


def settings():
    """(part, setting, n, runs, quantity, target, measure)."""
    for part, (rows, quantity) in PARTS.items():
        for setting, n, runs, target, measure in rows():
            yield part, setting, n, runs, quantity, target, measure


def finished():
    """{(part, setting, n)} of the table as it stands: two processes may fill it."""
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return {(row["part"], row["setting"], row["n"]) for row in csv.DictReader(file)}


def main():
    """Run what the table lacks; print it, and append it unless --quick."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few runs, writes nothing")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="part")
    quick, only = (vars(parser.parse_args())[name] for name in ("quick", "only"))
    os.nice(10)
    if not quick and not RESULTS.exists():
        RESULTS.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    for part, setting, n, runs, quantity, target, measure in settings():
        if part not in only or (not quick and (part, setting, str(n)) in finished()):
            continue
        runs = 2 if quick else runs
        value = measure(runs, np.random.default_rng(zlib.crc32(f"{part} {setting} {n}".encode())))
        row = [part, setting, n, runs, quantity, f"{value:.4f}", target, met(value, target)]
        print(" | ".join(map(str, row)), flush=True)
        if not quick:
            with RESULTS.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerow(row)


if __name__ == "__main__":
    main()

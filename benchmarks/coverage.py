"""Do the bands of `Results.conf_band` cover the true map as often as they say? A simulation that can be resumed.

    python benchmarks/coverage.py                  all cells, rounds of 20 runs each, until every cell has its runs
    python benchmarks/coverage.py --minutes 60     stop after an hour; the next call goes on where this one stopped
    python benchmarks/coverage.py --table          only rewrite results/coverage.md from results/coverage.csv
    python benchmarks/coverage.py --quick          three cells of four runs, a few seconds, writes nothing

A run draws scores from a design and events from a truth, makes the band at level .95 and asks whether it holds the
truth at every place of a grid. Run r of a cell is seeded by (SEED, name of the cell, r): stopping, resuming and the
order of cells change nothing. results/coverage.csv has one line for each cell and round and is replaced whole, so an
interrupted write leaves the old one. A cell misses its target when its upper 97.5 % limit (Clopper-Pearson, over runs)
lies below it.
"""

import argparse
import csv
import os
import time
from dataclasses import dataclass, fields
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from coverage_designs import DESIGNS, TRUTHS
from coverage_table import table
from tqdm import tqdm

import isocal
from isocal.bands import conf_band
from isocal.transforms import Ecdf

SEED = 20240607
ROUND = 20
RESULTS = Path(__file__).resolve().parent / "results"
EIGHT = ("S", "constant", "flat then rise", "steep", "logit shift", "cubic", "kink", "rare")
FOUR = ("smooth", "s1 only", "kink", "product")
DRAWS, RUNS, SIDE = {1: 199, 2: 99, 3: 99}, {1: 300, 2: 150, 3: 60}, {1: 101, 2: 25, 3: 9}
OTHERS = ("unconstrained-supt", "percentile", "basic", "studentized", "hulc")


@dataclass(frozen=True)
class Cell:
    """One setting: M scores of a design, a truth, n rows; how scores enter; the band's method; runs wanted; target."""

    M: int
    truth: str
    design: str
    n: int
    method: str = "model-supt"
    scores: str = "plain"
    runs: int = 0
    target: float | None = None

    @property
    def name(self):
        """Of the cell in seeds and files."""
        return "|".join(map(str, (self.M, self.truth, self.design, self.n, self.method, self.scores)))


@dataclass(frozen=True)
class Line:
    """A line of coverage.csv: runs first..first + runs - 1 of a cell; sums over them."""

    cell: str
    first: int
    runs: int
    covered: int
    pointwise: float
    width: float
    seconds: float


def target(M, truth, n, method):
    """What the issue asks of a cell; None where failure is expected and reported."""
    if method == "honest":
        return 0.95
    if method != "model-supt" or truth in ("staircase", "corner") or M == 3:
        return None
    if M == 1:
        return 0.92
    return (0.92 if n <= 500 else 0.85) if truth == "kink" else 0.94


def cells():
    """Every cell, those of the issue first."""
    wanted = [(1, t, d, n, "model-supt", "plain") for n in (300, 1000, 3000) for t in EIGHT for d in DESIGNS[1]]
    wanted += [(2, t, d, n, "model-supt", "plain") for n in (300, 1000) for t in (*FOUR, "rare") for d in DESIGNS[2]]
    wanted += [(1, t, "uniform", n, "model-supt", s) for n in (300, 1000) for t in ("S", "steep", "rare")
               for s in ("10 levels", "ecdf")]  # fmt: skip
    wanted += [(1, "steep", "uniform", n, "model-supt", "fit at K=5") for n in (300, 1000)]
    wanted += [(1, "staircase", "uniform", n, m, "plain") for n in (300, 1000) for m in ("model-supt", "honest")]
    wanted += [(1, t, "uniform", n, "honest", "plain") for n in (300, 1000) for t in ("S", "steep", "kink", "rare")]
    wanted += [(1, t, d, 1000, "honest", "plain") for t in ("S", "rare") for d in list(DESIGNS[1])[1:]]
    wanted += [(1, t, "uniform", 1000, "honest", "10 levels") for t in ("S", "staircase")]
    wanted += [(2, t, "copula", n, "honest", "plain") for n in (300, 1000) for t in (*FOUR, "rare", "staircase")]
    wanted += [(2, "staircase", "copula", n, "model-supt", "plain") for n in (300, 1000)]
    wanted += [(2, "corner", d, n, "model-supt", "plain") for n in (300, 1000, 3000) for d in DESIGNS[2]]
    wanted += [(3, t, "uniform", 500, "model-supt", "plain") for t in TRUTHS[3]]
    wanted += [(1, t, "uniform", n, m, "plain") for m in OTHERS for n in (300, 1000) for t in ("S", "steep", "rare")]
    wanted += [(2, t, "copula", 300, m, "plain") for m in OTHERS for t in ("smooth", "kink")]
    wanted += [(1, t, "uniform", 300, "bootstrap", s) for t in ("S", "steep", "rare")
               for s in ("ecdf held", "ecdf refitted")]  # fmt: skip
    return [Cell(*w, _runs(*w), target(w[0], w[1], w[3], w[4])) for w in wanted]


def _runs(M, truth, design, n, method, scores):
    if method == "bootstrap":
        return 40
    return RUNS[M] if method in ("model-supt", "honest") else 100 if M == 1 else 20


def run(cell, r, draws=None):
    """(covered everywhere, share of places covered, mean width) of run r of a cell."""
    rng = np.random.default_rng([SEED, crc32(cell.name.encode()), r])
    x = DESIGNS_OF[cell.M, cell.design](rng, cell.n)
    if cell.scores == "10 levels":
        x = np.ceil(10 * x) / 10
    f = TRUTHS[cell.M][cell.truth]
    y = (rng.random(cell.n) < f(x)).astype(float)
    places = _places(cell)
    low, high = _band(cell, x, y, places, draws or DRAWS[cell.M], rng)
    inside = (low <= f(places) + 1e-9) & (f(places) <= high + 1e-9)
    return bool(inside.all()), float(inside.mean()), float((high - low).mean())


def _places(cell):
    if cell.scores == "10 levels":
        return np.linspace(0.1, 1.0, 10)[:, None]
    axes = np.meshgrid(*[np.linspace(0.0, 1.0, SIDE[cell.M])] * cell.M, indexing="ij")
    return np.stack([a.ravel() for a in axes], axis=1)


def _band(cell, x, y, places, draws, rng):
    """Both edges at the places, through the arrays or, for a fixed degree, through the formula."""
    if cell.method == "bootstrap":
        return _bootstrap_band(cell, x, y, places, draws, rng)
    options = {"method": cell.method, "n_draws": draws, "rng": rng, "progress": False}
    options["kind"] = "pointwise" if cell.method == "hulc" else "simultaneous"
    if cell.scores == "fit at K=5":
        res = isocal.bernstein("y ~ s", pd.DataFrame({"s": x[:, 0], "y": y}), K=5).fit()
        found = res.conf_band(pd.DataFrame({"s": places[:, 0]}), **options)
        return found.conf_low.to_numpy(), found.conf_high.to_numpy()
    if cell.scores == "ecdf":
        learned = Ecdf.learn(x[:, 0])
        x, places = learned(x[:, 0])[:, None], learned(places[:, 0])[:, None]
    found = conf_band(x, y, None, places, (1,) * cell.M, **options)
    return found.low, found.high


def _bootstrap_band(cell, x, y, places, draws, rng):
    """Edges of Bootstrap.conf_band, of the variability of the fit, with the ecdf held or learned in each replicate."""
    res = isocal.bernstein("y ~ ecdf(s)", pd.DataFrame({"s": x[:, 0], "y": y}), K="cv").fit()
    boot = res.bootstrap(n_boot=draws, refit_transform=cell.scores == "ecdf refitted", rng=rng, progress=False)
    found = boot.conf_band(pd.DataFrame({"s": places[:, 0]}), kind="simultaneous")
    return found.conf_low.to_numpy(), found.conf_high.to_numpy()


DESIGNS_OF = {(M, name): draw for M, designs in DESIGNS.items() for name, draw in designs.items()}


def read(path):
    """The lines of a table of rounds; none if it is not there yet."""
    if not path.exists():
        return []
    kinds = {f.name: f.type for f in fields(Line)}
    with path.open(newline="", encoding="utf-8") as file:
        return [Line(**{k: kinds[k](v) for k, v in row.items()}) for row in csv.DictReader(file)]


def write(path, lines):
    """Replace the table at once."""
    beside = path.with_suffix(".part")
    with beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f.name for f in fields(Line)])
        writer.writerows([getattr(line, f.name) for f in fields(Line)] for line in lines)
    os.replace(beside, path)


def one_round(cell, first, size, draws=None):
    """The Line of runs first..first + size - 1."""
    start = time.perf_counter()
    found = [run(cell, r, draws) for r in range(first, first + size)]
    covered, pointwise, width = (sum(values) for values in zip(*found, strict=True))
    return Line(cell.name, first, size, covered, round(pointwise, 6), round(width, 6),
                round(time.perf_counter() - start, 2))  # fmt: skip


def simulate(path, minutes, only=""):
    """Rounds over all cells in turn until each has its runs or the time is over."""
    wanted, lines, end = [c for c in cells() if only in c.name], read(path), time.monotonic() + 60 * minutes
    done = {c.name: sum(line.runs for line in lines if line.cell == c.name) for c in wanted}
    total = sum(c.runs for c in wanted)
    with tqdm(total=total, initial=min(total, sum(done.values())), desc="runs", mininterval=10) as bar:
        while any(done[c.name] < c.runs for c in wanted):
            least = min(done[c.name] for c in wanted if done[c.name] < c.runs)
            for cell in (c for c in wanted if done[c.name] == least and least < c.runs):
                if time.monotonic() > end:
                    return lines
                lines.append(one_round(cell, least, min(ROUND, cell.runs - least)))
                done[cell.name] += lines[-1].runs
                write(path, lines)
                bar.update(lines[-1].runs)
    return lines


QUICK = (
    Cell(1, "S", "uniform", 300, runs=4),
    Cell(1, "staircase", "uniform", 300, "honest", runs=4),
    Cell(2, "smooth", "copula", 300, runs=4),
)


def main(arguments=None):
    """Simulate, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after this long")
    parser.add_argument("--only", default="", help="cells whose name contains this text")
    parser.add_argument("--table", action="store_true", help="only rewrite the table")
    parser.add_argument("--quick", action="store_true", help="three cells of four runs, writes nothing")
    options = parser.parse_args(arguments)
    if options.quick:
        print(table([one_round(cell, 0, cell.runs, 49) for cell in QUICK], QUICK))
        return
    path = RESULTS / "coverage.csv"
    lines = read(path) if options.table else simulate(path, options.minutes, options.only)
    text = table(lines, cells())
    (RESULTS / "coverage.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

"""Speed and memory of res.bootstrap, its intervals and isocal.anova against the targets of the project.

    python benchmarks/bench_bootstrap.py            all rows, about two minutes, writes results/bench_bootstrap.csv
    python benchmarks/bench_bootstrap.py --quick    tiny sizes, a few seconds, writes nothing

Times are medians of repeated calls after one warm-up call (`times_ms` of bench_bernstein.py); cpu_ms is processor time
of one call, which other processes inflate less. memory_mb: peak of memory that numpy and Python asked for in the call.
The peer refits with the same weights one by one, `fit_arrays` in a loop.
"""

import time
import tracemalloc
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from bench_bernstein import times_ms
from table import run

import isocal
from isocal.methods import Bernstein

SEED = 20240131
RESULTS = Path(__file__).resolve().parent / "results" / "bench_bootstrap.csv"


@dataclass
class Row:
    """One line of the table."""

    what: str
    n: int
    replicates: int
    isocal_ms: float
    spread_ms: float | None = None
    cpu_ms: float | None = None
    target_ms: float | None = None
    memory_mb: float | None = None
    peer_ms: float | None = None

    def cells(self):
        """Names and printed values."""
        out = {f.name: getattr(self, f.name) for f in fields(self)}
        return {k: f"{v:.4g}" if isinstance(v, float) else "" if v is None else str(v) for k, v in out.items()}


def measured(call, seconds):
    """(median, spread, processor time in ms, peak memory in MB) of a call."""
    middle, spread = times_ms(call, seconds)
    start = time.process_time()
    call()
    cpu = 1000 * (time.process_time() - start)
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return middle, spread, cpu, peak


def one_by_one(res, n, replicates):
    """Milliseconds of refits in a loop, from a tenth of them."""
    rng, rows = np.random.default_rng(SEED), res.rows
    part = max(2, replicates // 10)
    start = time.perf_counter()
    for _ in range(part):
        w = np.bincount(rng.integers(0, n, n), minlength=n).astype(float)
        Bernstein(K=5).fit_arrays(rows.raw, rows.y, w)
    return 1000 * (time.perf_counter() - start) * replicates / part


def bootstrap_rows(sizes, replicates, seconds):
    """Pairs replicates, their intervals, nested tests."""
    for n, target in zip(sizes, (1500.0, 8000.0), strict=True):
        data = isocal.datasets.simulate_scores(n, M=2, rng=SEED)
        res = isocal.bernstein("y ~ s1 + s2", data, K=5).fit()
        again = {"n_boot": replicates, "rng": 0, "progress": False}
        middle, spread, cpu, peak = measured(lambda res=res, o=again: res.bootstrap(**o), seconds)
        yield Row("pairs, M=2, K=5", n, replicates, middle, spread, cpu, target, peak, one_by_one(res, n, replicates))
        for method in ("bayesian", "parametric"):
            own = times_ms(lambda res=res, m=method, o=again: res.bootstrap(method=m, **o), seconds)
            yield Row(f"{method}, M=2, K=5", n, replicates, *own)
        boot = res.bootstrap(**again)
        places = data.head(625)
        yield Row("conf_band at 625 places", n, replicates, *times_ms(lambda b=boot, g=places: b.conf_band(g), seconds))
    small = sizes[0]
    data = isocal.datasets.simulate_scores(small, M=2, rng=SEED)
    fits = [isocal.bernstein(formula, data, K=5).fit() for formula in ("y ~ s1", "y ~ s1 + s2")]
    draws = max(19, replicates // 2)
    own = times_ms(lambda: isocal.anova(*fits, rng=0, n_boot=draws, progress=False), seconds)
    yield Row("anova, s2 given s1, K=5", small, draws, *own)
    res = isocal.platt("y ~ s1", data).fit()
    own = times_ms(lambda: res.bootstrap(n_boot=replicates, rng=0, progress=False), seconds)
    yield Row("platt, weighted refits", small, replicates, *own)


def rows(quick):
    """All rows of the table."""
    sizes, n_boot, seconds = ((60, 300), 39, 0.05) if quick else ((500, 100_000), 999, 4.0)
    return (row.cells() for row in bootstrap_rows(sizes, n_boot, seconds))


if __name__ == "__main__":
    run(__doc__, rows, RESULTS)

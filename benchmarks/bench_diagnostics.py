"""Speed of the consistency diagnostics and of influence.

    python benchmarks/bench_diagnostics.py            all rows, about two minutes, writes results/
    python benchmarks/bench_diagnostics.py --quick    tiny sizes, a few seconds, writes nothing

Medians of three runs after one to warm up, in seconds; simulated scores with a normal copula of correlation one half.
Targets at n = 1,000, K = 5, two scores: consistency() 10 s, consistency(quick=True) 1 s, influence() 3 s.
"""

import statistics
import sys
import time
from pathlib import Path

from table import run

import isocal

RESULTS = Path(__file__).resolve().parent / "results" / "bench_diagnostics.csv"


def seconds(call, runs):
    """Median time of a call after one to warm up."""
    call()
    found = []
    for _ in range(runs):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def rows(quick):
    """Every call at every size."""
    sizes = [(2, 60, 2)] if quick else [(1, 1000, 5), (2, 1000, 5), (3, 1000, 5), (2, 10_000, 5), (2, 100_000, 5)]
    for M, n, K in sizes:
        data = isocal.datasets.simulate_scores(n, M=M, rng=20240215)
        res = isocal.bernstein("y ~ " + " + ".join(f"s{m + 1}" for m in range(M)), data, K=K).fit()
        calls = {
            "consistency()": (lambda r=res: r.consistency(rng=0, progress=False), 10),
            "consistency(quick=True)": (lambda r=res: r.consistency(quick=True, rng=0), 1),
            "influence()": (lambda r=res: r.influence(), 3),
        }
        for what, (call, target) in calls.items():
            aimed = f"{target}" if (M, n) == (2, 1000) else ""
            took = seconds(call, 1 if quick or n > 10_000 else 3)
            yield {"what": what, "M": f"{M}", "n": f"{n}", "K": f"{K}", "seconds": f"{took:.3g}", "target_s": aimed}


if __name__ == "__main__":
    sys.exit(run(__doc__, rows, RESULTS))

"""Speed of averaging, the likelihood and shrinkage against the targets of the project.

    python benchmarks/bench_estimators.py            all rows, about a minute, writes results/bench_estimators.csv
    python benchmarks/bench_estimators.py --quick    tiny sizes, a few seconds, writes nothing

Times are medians of repeated fits of two scores through the array door, after one warm-up fit.
"""

import time
from pathlib import Path

from bench_bernstein import Row, arrays, data, times_ms
from table import run

from isocal.methods import Bernstein

RESULTS = Path(__file__).resolve().parent / "results" / "bench_estimators.csv"
SIZES, QUICK = (500, 1_000_000), (60, 2_000)
SMALL = [
    ("K='cv'", {"K": "cv"}, None), ("K='average', stack", {"K": "average"}, 300.0),
    ("K='average', exp", {"K": "average", "average": "exp"}, 300.0),
    ("K='average', equal", {"K": "average", "average": "equal"}, 300.0), ("loss='log'", {"K": 5, "loss": "log"}, 20.0),
    ("shrink=1", {"K": 5, "shrink": 1.0}, None), ("shrink='cv'", {"K": 5, "shrink": "cv"}, 400.0),
    ("shrink=1, loss='log'", {"K": 5, "shrink": 1.0, "loss": "log"}, None),
    ("K='average', shrink='cv'", {"K": "average", "shrink": "cv"}, None),
    ("K='average', loss='log'", {"K": "average", "loss": "log"}, None),
]  # fmt: skip
LARGE = [("least squares", {"K": 5}, None), ("loss='log'", {"K": 5, "loss": "log"}, 1500.0),
         ("shrink=1", {"K": 5, "shrink": 1.0}, None), ("K='average', stack", {"K": "average"}, None)]  # fmt: skip


def cpu_ms(call):
    """Processor time of one call in ms: what remains comparable when other processes hold the cores."""
    start = time.process_time()
    call()
    return 1e3 * (time.process_time() - start)


def rows(quick):
    """A row for each option and size; n and the degrees of the fit stand in their columns."""
    small, large = QUICK if quick else SIZES
    for n, cases in ((small, SMALL), (large, LARGE)):
        s, y = arrays(data(n, 2))
        for what, options, target in cases:
            recipe = Bernstein(**options)
            K = recipe.fit_arrays(s, y).K[0]
            own = times_ms(lambda recipe=recipe, s=s, y=y: recipe.fit_arrays(s, y), 0.0 if quick else 4.0)
            used = cpu_ms(lambda recipe=recipe, s=s, y=y: recipe.fit_arrays(s, y))
            cells = Row(what, n, 2, K, *own, target, note=f"{used:.3g} ms of processor time").cells()
            yield {k: v for k, v in cells.items() if not k.startswith(("peer", "ratio", "memory"))}


if __name__ == "__main__":
    run(__doc__, rows, RESULTS)

"""Speed and memory of the Bernstein fit against the targets of the project and against peers, in one run.

    python benchmarks/bench_bernstein.py            all rows, about three minutes, writes results/bench_bernstein.csv
    python benchmarks/bench_bernstein.py --quick    tiny sizes, a few seconds, writes nothing

Times are medians of repeated runs after one warm-up run; the spread printed beside them is the interquartile range.
"""

import statistics
import subprocess
import sys
import time
import tracemalloc
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
from table import run

import isocal
from isocal.methods import Bernstein
from isocal.numerics.basis import basis

SEED = 20240131
RESULTS = Path(__file__).resolve().parent / "results" / "bench_bernstein.csv"
SIZES = {"small": 500, "large": 1_000_000, "cube": 100_000}
QUICK = {"small": 60, "large": 2_000, "cube": 500}


@dataclass
class Row:
    """One line of the table: times in ms, extra memory in multiples of the score columns (limit 3)."""

    what: str
    n: int
    M: int
    K: int
    isocal_ms: float
    spread_ms: float
    target_ms: float | None = None
    memory_x: float | None = None
    peer: str = ""
    peer_ms: float | None = None
    note: str = ""

    @property
    def ratio(self):
        """How many times longer the peer takes."""
        return None if self.peer_ms is None else self.peer_ms / self.isocal_ms

    def cells(self):
        """Names and printed values."""
        out = {f.name: getattr(self, f.name) for f in fields(self)}
        out["ratio"] = self.ratio
        note = out.pop("note")
        return {k: f"{v:.3g}" if isinstance(v, float) else "" if v is None else str(v) for k, v in out.items()} | {
            "note": note
        }


def times_ms(call, seconds, most=300):
    """(median, interquartile range) in ms of repeated calls that take about the given seconds in all."""
    call()
    start, found = time.perf_counter(), []
    while len(found) < 3 or (len(found) < most and time.perf_counter() - start < seconds):
        begin = time.perf_counter()
        call()
        found.append(1e3 * (time.perf_counter() - begin))
    low, middle, high = statistics.quantiles(found, n=4)
    return middle, high - low


def memory_bytes(call):
    """Peak of memory traced during the call above what was there before."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return peak - before


def data(n, M):
    """A frame of M correlated scores in (0, 1) and labels y."""
    rng = np.random.default_rng(SEED + 10 * M)
    truth = rng.normal(size=n)
    z = truth[:, None] + rng.normal(size=(n, M))
    y = rng.random(n) < 1 / (1 + np.exp(-1.5 * truth))
    return pd.DataFrame(1 / (1 + np.exp(-z)), columns=[f"s{m + 1}" for m in range(M)]).assign(y=y.astype(int))


def arrays(frame):
    """(s, y) as the array door takes them."""
    return frame.filter(like="s").to_numpy(), frame["y"].to_numpy(dtype=float)


def cvxpy_problem(s, y, K):
    """The same least-squares problem in cvxpy (M = 2), built and solved by Clarabel; returns its mean loss."""
    import cvxpy

    Phi = np.einsum("in,jn->nij", basis(s[:, 0], K), basis(s[:, 1], K)).reshape(len(s), -1)
    beta = cvxpy.Variable((K + 1, K + 1))
    loss = cvxpy.sum_squares(Phi @ cvxpy.vec(beta, order="C") - y) / len(y)
    steps = [cvxpy.diff(beta, axis=0) >= 0, cvxpy.diff(beta, axis=1) >= 0]
    problem = cvxpy.Problem(cvxpy.Minimize(loss), [*steps, beta[0, 0] >= 0, beta[K, K] <= 1])
    problem.solve(solver=cvxpy.CLARABEL)
    return problem.value


def hist_gradient_boosting(s, y):
    """Monotone gradient boosting of scikit-learn with its default options."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(monotonic_cst=[1] * s.shape[1], random_state=0).fit(s, y)


def isotonic(s, y):
    """Isotonic regression of scikit-learn on the only score."""
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s[:, 0], y)


def small_rows(n, seconds):
    """Array door and formula door at the paper's size, against cvxpy and gradient boosting."""
    frame = data(n, 2)
    s, y = arrays(frame)
    recipe = Bernstein(K=5)
    own = times_ms(lambda: recipe.fit_arrays(s, y), seconds)
    peer = times_ms(lambda: cvxpy_problem(s, y, 5), seconds)
    ours, theirs = np.mean((y - recipe.fit_arrays(s, y)(s)) ** 2), cvxpy_problem(s, y, 5)
    agreement = f"mean losses {ours:.10f} and {theirs:.10f}, difference {abs(ours - theirs):.1e}"
    if not abs(ours - theirs) <= 1e-6:
        raise SystemExit(f"isocal and cvxpy disagree: {agreement}")
    yield Row("fit_arrays", n, 2, 5, *own, 2.0, None, "cvxpy + Clarabel", peer[0], agreement)
    peer = times_ms(lambda: hist_gradient_boosting(s, y), seconds)
    yield Row("fit_arrays", n, 2, 5, *own, 2.0, None, "HistGradientBoosting monotonic_cst", peer[0])
    whole = times_ms(lambda: isocal.bernstein("y ~ ecdf(s1) + ecdf(s2)", frame, K=5).fit(), seconds)
    yield Row("DataFrame, ecdf terms", n, 2, 5, *whole, 8.0, None, "Wang & Liu (2020)", 501.0, "as printed there")


def large_rows(n, seconds):
    """The formula door on a million rows, its memory, and prediction."""
    frame = data(n, 2)
    s, y = arrays(frame)
    peer = times_ms(lambda: hist_gradient_boosting(s, y), seconds)[0]
    for what, formula in (("plain terms", "y ~ s1 + s2"), ("ecdf terms", "y ~ ecdf(s1) + ecdf(s2)")):

        def fit(formula=formula):
            return isocal.bernstein(formula, frame, K=5).fit()

        own, memory = times_ms(fit, seconds), memory_bytes(fit) / s.nbytes
        yield Row(f"DataFrame, {what}", n, 2, 5, *own, 500.0, memory, "HistGradientBoosting monotonic_cst", peer)
        result = fit()
        yield Row(f"predict, {what}", n, 2, 5, *times_ms(lambda result=result: result.predict(frame), seconds))


def cube_rows(n, seconds):
    """Three and four scores."""
    for M, K, target in ((3, 5, 250.0), (4, 4, 1500.0)):
        s, y = arrays(data(n, M))
        recipe = Bernstein(K=K)
        own = times_ms(lambda s=s, y=y, recipe=recipe: recipe.fit_arrays(s, y), seconds)
        yield Row("fit_arrays", n, M, K, *own, target)


def single_rows(sizes, seconds):
    """One score, against isotonic regression."""
    for n in sizes:
        s, y = arrays(data(n, 1))
        own = times_ms(lambda s=s, y=y: Bernstein(K=5).fit_arrays(s, y), seconds)
        peer = times_ms(lambda s=s, y=y: isotonic(s, y), seconds)
        yield Row("fit_arrays", n, 1, 5, *own, None, None, "IsotonicRegression", peer[0])


def import_row(repeats):
    """What `import isocal` costs beyond pandas, patsy and scipy.optimize, each time in a fresh process."""
    code = (
        "import time; a = time.perf_counter(); import pandas, patsy, scipy.optimize; b = time.perf_counter(); "
        "import isocal; print(1e3 * (b - a), 1e3 * (time.perf_counter() - b))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
            for _ in range(repeats)]  # fmt: skip
    base, own = zip(*[map(float, run) for run in runs], strict=True)
    low, middle, high = statistics.quantiles(own, n=4)
    peer = "pandas, patsy, scipy.optimize"
    yield Row("import isocal, beyond the peer", 0, 0, 0, middle, high - low, 250.0, None, peer, statistics.median(base))


def rows(quick):
    """All rows of the table."""
    sizes, seconds = (QUICK, 0.0) if quick else (SIZES, 4.0)
    yield from small_rows(sizes["small"], seconds)
    yield from large_rows(sizes["large"], seconds)
    yield from cube_rows(sizes["cube"], seconds)
    yield from single_rows((sizes["small"], sizes["large"]), seconds)
    yield from import_row(2 if quick else 11)


if __name__ == "__main__":
    run(__doc__, lambda quick: (row.cells() for row in rows(quick)), RESULTS)

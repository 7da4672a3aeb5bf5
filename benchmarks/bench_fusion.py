"""Speed of the methods that fuse scores, other than Bernstein, against the targets of the project.

    python benchmarks/bench_fusion.py            all rows, about two minutes, writes results/bench_fusion.csv
    python benchmarks/bench_fusion.py --quick    tiny sizes, a few seconds, writes nothing

Times are medians of repeated calls after one warm-up call (`times_ms` of bench_bernstein.py). A further method is one
function that yields rows, and its name in CASES.
"""

from pathlib import Path

import numpy as np
from bench_bernstein import Row, arrays, data, memory_bytes, times_ms
from scipy.special import ndtr
from table import run

from isocal.methods import MRMIC, CopulaFusion, Fuse, LogisticFusion
from isocal.numerics.copulas import FAMILIES
from isocal.numerics.smoothed_order import smoothed
from isocal.transforms import Ecdf

RESULTS = Path(__file__).resolve().parent / "results" / "bench_fusion.csv"
MR_MIC_TARGETS = {(500, 1e-5): 60.0, (1_000, 1e-5): 300.0, (5_000, 0.0): 5000.0}
PAPER = {(500, 1e-5): 1335.0, (1_000, 1e-5): 7964.0}
FUSE_TARGETS = {(500, 2): 600.0, (1_000_000, 2): 30_000.0}
COPULA_TARGETS = {(500, 2): 80.0, (20_000, 2): 1500.0}


def unit_scores(n, M):
    """Scores after ecdf(), as the papers use them, and labels."""
    s, y = arrays(data(n, M))
    return np.stack([Ecdf.learn(x)(x) for x in s.T], axis=1), y


def direct_sums(x, h, s):
    """Density and distribution function of a reflected kernel estimate at s, every kernel evaluated at every score."""
    f, F = np.empty(len(s)), np.empty(len(s))
    for a in range(0, len(s), 1000):
        z = [(s[a : a + 1000, None] - c) / h for c in (x, -x, 2.0 - x)]
        f[a : a + 1000] = sum(np.exp(-v * v / 2).mean(axis=1) for v in z) / (h * np.sqrt(2 * np.pi))
        F[a : a + 1000] = sum(ndtr(v).mean(axis=1) for v in z) - 1
    return f, F


def copula_rows(quick, seconds):
    """Fits with all families at several sizes, each family alone, and prediction beside direct kernel sums."""
    sizes = ((60, 2), (60, 3)) if quick else ((500, 2), (20_000, 2), (200_000, 2), (500, 3), (20_000, 3))
    for n, M in sizes:
        s, y = unit_scores(n, M)
        own = times_ms(lambda s=s, y=y: CopulaFusion().fit_arrays(s, y), seconds)
        memory = memory_bytes(lambda s=s, y=y: CopulaFusion().fit_arrays(s, y)) / s.nbytes
        yield Row("copula fusion, fit, all families", n, M, 0, *own, COPULA_TARGETS.get((n, M)), memory)
    n = sizes[0][0]
    s, y = unit_scores(n, 2)
    for name in FAMILIES:
        recipe = CopulaFusion(families=name)
        own = times_ms(lambda r=recipe: r.fit_arrays(s, y), seconds / 4)
        yield Row(f"copula fusion, fit, {name} and margins", n, 2, 0, *own)
    new = np.random.default_rng(0).random((200 if quick else 100_000, 2))
    for names in ("gaussian", "student"):
        curve = CopulaFusion(families=names).fit_arrays(s, y)
        own = times_ms(lambda c=curve: c(new), seconds / 2)
        margins = [(s[y == k, m], curve.margins[k][m].h, new[:, m]) for k in (0, 1) for m in (0, 1)]
        theirs = times_ms(lambda g=margins: [direct_sums(*each) for each in g], 0.0)[0] if names == "gaussian" else None
        peer = "direct kernel sums of the margins" if names == "gaussian" else ""
        what = f"copula fusion, predict {len(new):,} rows, {names}"
        yield Row(what, n, 2, 0, *own, None, None, peer, theirs)


def interior_point(problem, lam):
    """The same quadratic programme by cvxopt, sparse in its rows; tolerances of 1e-10."""
    import cvxopt

    (low, high), c, n = problem.between.pairs, problem.weight, len(problem.weight)
    row = list(range(len(low)))
    G = cvxopt.spmatrix([1.0] * len(low) + [-1.0] * len(low), row + row, low.tolist() + high.tolist(), (len(low), n))
    P = cvxopt.spdiag(cvxopt.matrix(2 * c)) if lam == 0 else cvxopt.matrix(np.diag(2 * c) + lam * problem.Omega)
    options = {"show_progress": False} | dict.fromkeys(("abstol", "reltol", "feastol"), 1e-10)
    q, h = cvxopt.matrix(-2 * c * problem.mean), cvxopt.matrix(0.0, (len(low), 1))
    return np.array(cvxopt.solvers.qp(P, q, G, h, options=options)["x"]).ravel()


def mr_mic_rows(quick, seconds):
    """Whole fits, beside cvxopt on the quadratic programme alone where that ends soon, and the paper; predictions."""
    cases = ((60, 1e-5), (60, 0.0)) if quick else ((500, 1e-5), (1_000, 1e-5), (500, 0.0), (1_000, 0.0), (5_000, 0.0),
                                                   (5_000, 1e-5), (10_000, 0.0))  # fmt: skip
    for n, lam in cases:
        s, y = unit_scores(n, 2)
        own = times_ms(lambda s=s, y=y, lam=lam: MRMIC(lam=lam).fit_arrays(s, y), seconds)
        what, target = f"MR-MIC, fit, lam={lam:g}", MR_MIC_TARGETS.get((n, lam))
        peer, theirs, note = "", None, ""
        if n <= 1_000:
            problem = smoothed(s, y, None, "laplacian", "envelope", lam > 0)
            gap = np.max(np.abs(problem.solve(lam)[0].x - interior_point(problem, lam)))
            note = f"largest difference {gap:.0e}, KKT residual here {problem.solve(lam)[0].kkt:.0e}"
            theirs = times_ms(lambda problem=problem, lam=lam: interior_point(problem, lam), 0.0)[0]
            peer = "cvxopt, quadratic programme alone"
        yield Row(what, n, 2, 0, *own, target, None, peer, theirs, note)
        if (n, lam) in PAPER:
            yield Row(what, n, 2, 0, *own, target, None, "Wang & Liu (2020)", PAPER[n, lam], "as printed there")
    s, y = unit_scores(cases[0][0], 2)
    own = times_ms(lambda: MRMIC(lam="cv").fit_arrays(s, y), 0.0)
    yield Row("MR-MIC, fit, lam='cv'", len(y), 2, 0, *own)
    new = np.random.default_rng(0).random((200 if quick else 100_000, 2))
    for predict in ("linear", "envelope"):
        curve = MRMIC(predict=predict).fit_arrays(s, y)
        own = times_ms(lambda c=curve: c(new), seconds / 2)
        yield Row(f"MR-MIC, predict {len(new):,} rows, {predict}", len(y), 2, 0, *own)


def boosting(s, y):
    """Monotone gradient boosting, the usual alternative."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(monotonic_cst=[1] * s.shape[1], random_state=0).fit(s, y)


def fuse_rows(quick, seconds):
    """The super learner from 500 rows to a million, its prediction, and its simplest members."""
    sizes = ((60, 2), (60, 3)) if quick else ((500, 1), (500, 2), (500, 3), (500, 4), (20_000, 2), (1_000_000, 2))
    for n, M in sizes:
        s, y = arrays(data(n, M))
        few = seconds if n <= 20_000 else 0.0
        own = times_ms(lambda s=s, y=y: Fuse().fit_arrays(s, y), few)
        theirs = times_ms(lambda s=s, y=y: boosting(s, y), few)[0] if M == 2 else None
        peer = "HistGradientBoosting monotonic_cst" if M == 2 else ""
        yield Row("fuse, fit", n, M, 0, *own, FUSE_TARGETS.get((n, M)), None, peer, theirs)
    curve = Fuse().fit_arrays(s[:500], y[:500])
    own = times_ms(lambda: curve(s), 0.0)
    yield Row("fuse, predict", len(s), 2, 0, *own, None if quick else 3000.0)
    own = times_ms(lambda: LogisticFusion().fit_arrays(s, y), seconds / 2)
    yield Row("logistic fusion, fit", len(s), 2, 0, *own)


CASES = (copula_rows, mr_mic_rows, fuse_rows)


def rows(quick):
    """All rows of the table; the column K of bench_bernstein.py says nothing here."""
    for case in CASES:
        for row in case(quick, 0.0 if quick else 3.0):
            yield {k: v for k, v in row.cells().items() if k != "K"}


if __name__ == "__main__":
    run(__doc__, rows, RESULTS)

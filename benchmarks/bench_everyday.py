"""Choosing the degree, keeping and drawing a fit, against the targets of the project.

    python benchmarks/bench_everyday.py            all rows, half a minute, writes results/bench_everyday.csv
    python benchmarks/bench_everyday.py --quick    tiny sizes, a few seconds, writes nothing
"""

import tempfile
from pathlib import Path

import matplotlib
from bench_bernstein import Row, data, times_ms
from table import run

import isocal

matplotlib.use("Agg")

RESULTS = Path(__file__).resolve().parent / "results" / "bench_everyday.csv"
FORMULA = "y ~ ecdf(s1) + ecdf(s2)"


def draw(res):
    """The figure of two scores, rendered."""
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots()
    res.plot(ax=ax)
    fig.canvas.draw()
    plt.close(fig)


def keep(res, path):
    """Save and load."""
    res.save(path)
    isocal.load(path)


def rows(quick):
    """All rows of the table."""
    small, large, seconds = (200, 2_000, 0.0) if quick else (500, 1_000_000, 4.0)
    for n, formula, target in ((small, FORMULA, 200.0), (large, "y ~ s1 + s2", 1000.0), (large, FORMULA, None)):
        rows_of = data(n, 2)
        fit = times_ms(lambda f=formula, d=rows_of: isocal.bernstein(f, d, K="cv").fit(), seconds)
        yield Row(f"DataFrame, K='cv', {formula}", n, 2, 15, *fit, target).cells()
    res = isocal.bernstein(FORMULA, data(small, 2), K=5).fit()
    res.summary()  # the cross-validated figures are part of the file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.json"
        yield Row("save and load", small, 2, 5, *times_ms(lambda: keep(res, path), seconds), 50.0).cells()
    yield Row("plot, rendered", small, 2, 5, *times_ms(lambda: draw(res), seconds), 1000.0).cells()
    summary = times_ms(lambda: str(isocal.bernstein(FORMULA, data(small, 2)).fit().summary()), seconds)
    yield Row("fit and summary", small, 2, 5, *summary, None).cells()


if __name__ == "__main__":
    run(__doc__, rows, RESULTS)

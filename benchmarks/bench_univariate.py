"""Speed and memory of the one-score methods against the targets of the project and against peers, in one run.

    python benchmarks/bench_univariate.py            all rows, about two minutes, writes results/bench_univariate.csv
    python benchmarks/bench_univariate.py --quick    tiny sizes, a few seconds, writes nothing

Times are medians of repeated calls after one warm-up call (`times_ms` of bench_bernstein.py); a fit includes the sort.
Peers whose note says "quoted" were measured once on another day (METHODS section 2) and not in this run.
"""

from pathlib import Path

import numpy as np
from bench_bernstein import Row, arrays, data, isotonic, memory_bytes, times_ms
from table import run

from isocal.methods import BBQ, Beta, Histogram, Isotonic, Platt, Temperature

RESULTS = Path(__file__).resolve().parent / "results" / "bench_univariate.csv"
SIZES, QUICK = (100_000, 1_000_000), (200, 2_000)
QUOTED = {"CalibratR": 3600.0, "netcal": 5400.0, "pycalib": 13_000.0, "the authors' MATLAB code in Octave": 38_000.0}
TARGETS = {("BBQ", 100_000): 60.0, ("BBQ", 1_000_000): 500.0, ("Platt", 1_000_000): 500.0}


def probcal_fit(name, s, y):
    """A fitted calibrator of probcal with its default options."""
    import probcal

    return getattr(probcal, name)().fit(s[:, 0], y)


def logistic_regression(s, y):
    """Logistic regression of scikit-learn on the logit of the score, without penalty: Platt with hard targets."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=np.inf).fit(np.log(s) - np.log1p(-s), y)


PEERS = {
    "BBQ": {"probcal BBQCalibrator": lambda s, y: probcal_fit("BBQCalibrator", s, y)},
    "Platt": {
        "probcal PlattCalibrator": lambda s, y: probcal_fit("PlattCalibrator", s, y),
        "scikit-learn LogisticRegression": logistic_regression,
    },
    "Isotonic": {"scikit-learn IsotonicRegression": isotonic},
    "Histogram": {"probcal HistogramBinningCalibrator": lambda s, y: probcal_fit("HistogramBinningCalibrator", s, y)},
    "Beta": {"probcal BetaCalibrator": lambda s, y: probcal_fit("BetaCalibrator", s, y)},
    "Temperature": {"probcal TemperatureCalibrator": lambda s, y: probcal_fit("TemperatureCalibrator", s, y)},
}


def agreement(s, y):
    """Largest difference to scikit-learn's isotonic regression, which has one right answer; stops if it is not tiny."""
    found = np.max(np.abs(Isotonic(interpolate="linear").fit_arrays(s, y)(s) - isotonic(s, y).predict(s[:, 0])))
    if not found <= 1e-9:
        raise SystemExit(f"isocal and scikit-learn disagree on isotonic regression by {found:.1e}")
    return f"largest difference at the rows {found:.1e}"


def fit_rows(recipe, n, seconds):
    """One method at one size, a line for each peer."""
    name = type(recipe).__name__
    s, y = arrays(data(n, 1))
    own = times_ms(lambda: recipe.fit_arrays(s, y), seconds)
    memory = memory_bytes(lambda: recipe.fit_arrays(s, y)) / s.nbytes
    note = agreement(s, y) if name == "Isotonic" else ""
    for peer, fit in PEERS[name].items():
        theirs = times_ms(lambda fit=fit: fit(s, y), seconds)[0]
        target = theirs if name == "Isotonic" and n == SIZES[1] else TARGETS.get((name, n))
        yield Row(f"{name} fit", n, 1, 0, *own, target, memory, peer, theirs, note)
    if name == "BBQ" and n in (SIZES[0], QUICK[0]):
        for peer, theirs in QUOTED.items():
            yield Row(f"{name} fit", n, 1, 0, *own, TARGETS.get((name, n)), memory, peer, theirs, "quoted, n = 100,000")


def predict_row(recipe, n, seconds):
    """Prediction of as many new scores as the fit had rows."""
    s, y = arrays(data(n, 1))
    curve, new = recipe.fit_arrays(s, y), np.random.default_rng(0).random((n, 1))
    target = 150.0 if isinstance(recipe, BBQ) and n == SIZES[1] else None
    own = times_ms(lambda: curve(new), seconds)
    return Row(f"{type(recipe).__name__} predict", n, 1, 0, *own, target, memory_bytes(lambda: curve(new)) / new.nbytes)


def rows(quick):
    """All rows of the table; the columns M and K of bench_bernstein.py say nothing here."""
    sizes, seconds = (QUICK, 0.0) if quick else (SIZES, 3.0)
    for recipe in (BBQ(), Platt(), Isotonic(), Histogram(), Beta(), Temperature()):
        for n in sizes:
            found = [*fit_rows(recipe, n, seconds), predict_row(recipe, n, seconds)]
            yield from ({k: v for k, v in row.cells().items() if k not in ("M", "K")} for row in found)


if __name__ == "__main__":
    run(__doc__, rows, RESULTS)

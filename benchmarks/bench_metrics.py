"""Speed of metrics, CORP bands and the honest band against the targets of the project.

    python benchmarks/bench_metrics.py            all rows, about two minutes, writes results/bench_metrics.csv
    python benchmarks/bench_metrics.py --quick    tiny sizes, a few seconds, writes nothing

Times are medians of repeated calls after one warm-up call (`times_ms` of bench_bernstein.py); the spread printed
beside them is the interquartile range. The row "all but smooth_ece and ici" is the sum of the medians above it.
"""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from bench_bernstein import times_ms
from table import run

from isocal import metrics
from isocal.corp import confidence_band, consistency_band, honest_band, yang_barber_band

SEED = 20240131
RESULTS = Path(__file__).resolve().parent / "results" / "bench_metrics.csv"
SIZES = {"large": 1_000_000, "band": 10_000, "scores": 2_000}
QUICK = {"large": 2_000, "band": 200, "scores": 100}
PLAIN = (
    "brier", "rmse", "brier_skill", "log_loss", "auc", "accuracy", "ece", "mce", "ace", "debiased_ce", "ks", "murphy",
    "corp", "decision_curve",
)  # fmt: skip


@dataclass
class Row:
    """One line of the table: times in ms."""

    what: str
    n: int
    isocal_ms: float
    spread_ms: float | None = None
    target_ms: float | None = None

    def cells(self):
        """Names and printed values."""
        out = {f.name: getattr(self, f.name) for f in fields(self)}
        return {k: f"{v:.3g}" if isinstance(v, float) else "" if v is None else str(v) for k, v in out.items()}


def forecast(n):
    """Labels and slightly overconfident probabilities, all distinct."""
    rng = np.random.default_rng(SEED)
    truth = rng.random(n)
    logit = 1.3 * np.log(truth / (1 - truth))
    return (rng.random(n) < truth).astype(float), 1 / (1 + np.exp(-logit))


def metric_rows(n, seconds):
    """Every metric on a million rows."""
    y, p = forecast(n)
    calls = {name: lambda name=name: getattr(metrics, name)(y, p) for name in PLAIN}
    calls |= {"ece, equal mass": lambda: metrics.ece(y, p, strategy="mass")}
    calls |= {"grid_error": lambda: metrics.grid_error(lambda s: s[:, 0], np.c_[p, p], y, min_count=1)}
    calls |= {"truth_error": lambda: metrics.truth_error(lambda s: s, lambda s: s**2, p)}
    total = 0.0
    for name, call in calls.items():
        middle, spread = times_ms(call, seconds)
        total += middle
        yield Row(name, n, middle, spread)
    yield Row("all but smooth_ece and ici", n, total, None, 2000.0)
    yield Row("smooth_ece", n, *times_ms(lambda: metrics.smooth_ece(y, p), seconds), 1000.0)
    yield Row("ici", n, *times_ms(lambda: metrics.ici(y, p), seconds))


def band_rows(n, scores, seconds):
    """Bands with the progress bar of the default."""
    y, p = forecast(n)
    for name, band in (("consistency", consistency_band), ("confidence", confidence_band)):
        own = times_ms(lambda band=band: band(y, p, n_boot=1000, rng=0), seconds)
        yield Row(f"{name} band, 1,000 draws", n, *own, 5000.0 if name == "consistency" else None)
    y, p = forecast(scores)
    yield Row("honest band, standard", scores, *times_ms(lambda: honest_band(y, p, method="standard"), seconds), 5000.0)
    yield Row("Yang-Barber band", scores, *times_ms(lambda: yang_barber_band(y, p), seconds))
    y, p = forecast(n)
    yield Row("honest band, round to 3 decimals", n, *times_ms(lambda: honest_band(y, p, method="round"), seconds))


def rows(quick):
    """All rows of the table."""
    sizes, seconds = (QUICK, 0.0) if quick else (SIZES, 2.0)
    yield from metric_rows(sizes["large"], seconds)
    yield from band_rows(sizes["band"], sizes["scores"], seconds)


if __name__ == "__main__":
    run(__doc__, lambda quick: (row.cells() for row in rows(quick)), RESULTS)

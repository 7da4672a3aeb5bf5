"""Quality of fusion methods on real scores and on simulated truths, paired over repetitions.

    python benchmarks/quality.py                 all sets, ten repetitions; resumes where it was stopped
    python benchmarks/quality.py --minutes 30    stop after half an hour
    python benchmarks/quality.py --table         only rewrite results/quality.md from results/quality.csv
    python benchmarks/quality.py --quick         one repetition of two small sets, writes nothing

Each repetition fits every method to the same rows and judges it on rows that no method saw: labels for real scores,
the true probabilities for simulated ones. Log loss: probabilities clipped at 1e-6. Grid errors: section 5.2 of Wang &
Liu (10 x 10 cells of the ecdf of the fitted rows with at least 150 judged rows, two scores). ../shared/data holds most
of the real scores; without it only the bundled and the simulated sets are run.
"""

import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import study
from quality_sets import Setting, rows, settings
from quality_table import CHOSEN, MEMBER, write_table

from isocal.methods import Bernstein, Fuse, Isotonic, LogisticFusion, MeanScore
from isocal.metrics import debiased_ce, grid_error
from isocal.transforms import Ecdf

RESULTS = Path(__file__).resolve().parent / "results" / "quality.csv"
FIGURES = ("brier", "log_loss", "debiased_ce", "grid_mean", "grid_largest", "squared_error", "seconds")
COLUMNS = ("kind", "name", "M", "n", "repetition", "method", *FIGURES)
REPETITIONS, EDGE, LEAST_IN_CELL = 10, 1e-6, 150
SIEVES = {
    "bernstein K=5": {"K": 5}, "bernstein cv": {"K": "cv"}, "bernstein average": {"K": "average"},
    "bernstein log": {"K": 5, "loss": "log"}, "bernstein shrink": {"K": 5, "shrink": 1.0},
}  # fmt: skip


def on_ecdf(recipe, s, y):
    """A fit to the ecdf of the scores, as a function of raw scores."""
    chain = [Ecdf.learn(np.ascontiguousarray(x)) for x in s.T]

    def scale(t):
        return np.stack([f(np.ascontiguousarray(x)) for f, x in zip(chain, t.T, strict=True)], axis=1)

    curve = recipe.fit_arrays(scale(s), y, raw=s)
    return lambda t: curve(scale(t))


def isotonic_of_mean(s, y):
    """Isotonic regression on the mean score."""
    curve = Isotonic().fit_arrays(s.mean(axis=1), y)
    return lambda t: curve(t.mean(axis=1)[:, None])


def boosting(kind, s, y):
    """Gradient boosting of trees, monotone in every score, with the library's defaults."""
    if kind == "lightgbm":
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(monotone_constraints=[1] * s.shape[1], verbose=-1, random_state=0, n_jobs=1)
    else:
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(monotonic_cst=[1] * s.shape[1], random_state=0)
    model.fit(s, y)
    return lambda t: model.predict_proba(t)[:, 1]


def fitted(s, y):
    """{method: (function of raw scores, seconds)}; members of fuse, as fitted in it, and the one best out of fold."""
    fits = {"mean score": lambda: MeanScore().fit_arrays(s, y), "log pool": lambda: MeanScore("log").fit_arrays(s, y),
            "logistic fusion": lambda: LogisticFusion().fit_arrays(s, y),
            "isotonic of mean": lambda: isotonic_of_mean(s, y),
            "boosting (sklearn)": lambda: boosting("sklearn", s, y),
            "boosting (lightgbm)": lambda: boosting("lightgbm", s, y)}  # fmt: skip
    for name, options in SIEVES.items():
        fits[name] = lambda options=options: on_ecdf(Bernstein(**options), s, y)
    fits["fuse"] = lambda: Fuse().fit_arrays(s, y)
    out = {}
    for name, fit in fits.items():
        start = time.perf_counter()
        try:
            out[name] = (fit(), time.perf_counter() - start)
        except ValueError as error:
            warnings.warn(f"{name}: {error}", stacklevel=1)
    mixture = out["fuse"][0]
    for part in mixture.parts:
        scale, curve = mixture.scales[part.scale], part.curve
        out[MEMBER + part.name] = (lambda t, scale=scale, curve=curve: curve(scale(t)), np.nan)
    out[CHOSEN] = out[MEMBER + min(mixture.parts, key=lambda part: part.log_loss).name]
    return out


def judged(f, data, setting):
    """{figure: value} of a function of raw scores."""
    p, t = f(data.s_new), data.p_new
    q = np.clip(p, EDGE, 1 - EDGE)
    out = {"brier": np.mean((t - p) ** 2 + t * (1 - t)), "log_loss": -np.mean(t * np.log(q) + (1 - t) * np.log(1 - q))}
    if setting.kind == "simulated":
        return out | {"squared_error": np.mean((t - p) ** 2)}
    out["debiased_ce"] = debiased_ce(t, p, bins=15, strategy="mass")
    if setting.M == 2:
        knots = [np.sort(x) for x in data.s.T]
        rank = [np.searchsorted(k, x, side="right") / len(k) for k, x in zip(knots, data.s_new.T, strict=True)]
        back = [lambda u, k=k: k[np.clip(np.ceil(u * len(k)).astype(int) - 1, 0, len(k) - 1)] for k in knots]
        on_grid = grid_error(lambda u: f(np.stack([b(x) for b, x in zip(back, u.T, strict=True)], axis=1)),
                             np.stack(rank, axis=1), t, min_count=LEAST_IN_CELL)  # fmt: skip
        out |= {"grid_mean": on_grid.mean, "grid_largest": on_grid.largest}
    return out


def run(setting, repetition):
    """One row for each method and member."""
    data = rows(setting, repetition)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = fitted(data.s, data.y)
    head = [setting.kind, setting.name, setting.M, setting.n, repetition]
    out = []
    for name, (f, seconds) in fits.items():
        found = judged(f, data, setting) | {"seconds": seconds}
        out.append([*head, name, *(f"{found[figure]:.6g}" if figure in found else "" for figure in FIGURES)])
    return out


def jobs():
    """All sets and repetitions."""
    both = [(s, r) for r in range(REPETITIONS) for s in settings()]
    return [((s.kind, s.name, str(s.M), str(s.n), str(r)), partial(run, s, r)) for s, r in both]


def quick():
    """One repetition of two small sets."""
    for setting in (Setting("simulated", "smooth", 2, 200), Setting("bundled", "adult_scores", 2, 200)):
        for line in run(setting, 0):
            print(*line[1:9])


if __name__ == "__main__":
    study.main(__doc__, RESULTS, COLUMNS, jobs, quick, partial(write_table, RESULTS))

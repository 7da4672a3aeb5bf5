"""What the choices in isocal.fuse are worth, on scores of scikit-learn's classifiers on 35 sets of ../shared/data.

    python benchmarks/fuse_choices.py                 all sets, three repetitions; resumes where it was stopped
    python benchmarks/fuse_choices.py --minutes 30    stop after half an hour
    python benchmarks/fuse_choices.py --table         only rewrite results/fuse_choices.md
    python benchmarks/fuse_choices.py --quick         one set, writes nothing

These are the sets on which the choices were made (with networks at other sizes), apart from those of quality.py. Three
classifiers drawn from eight are trained on a third of a set (at most 1,500 rows); 200, 500 or 1,000 further rows fit
the fusion of two of them and of all three; the rest, at most 6,000, judge. Log loss: probabilities clipped at 1e-6.
"""

import warnings
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import study
from quality import EDGE
from quality_sets import loader
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isocal.methods import Bernstein, Fuse, LogisticFusion, MeanScore
from isocal.methods.fuse_library import ANCHOR_ROWS, DEGREES

RESULTS = Path(__file__).resolve().parent / "results" / "fuse_choices.csv"
COLUMNS = ("set", "repetition", "M", "n", "scores", "method", "brier", "log_loss")
REPETITIONS, LEAST_ROWS, LEAST_EVENTS = 3, 1_000, 6
BASE = "fuse"


def classifiers(seed):
    """{name: classifier}."""
    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "forest": RandomForestClassifier(100, random_state=seed),
        "forest5": RandomForestClassifier(200, min_samples_leaf=5, random_state=seed),
        "bayes": GaussianNB(),
        "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=seed),
        "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
        "network": make_pipeline(StandardScaler(), MLPClassifier((20,), max_iter=150, random_state=seed)),
        "trees": ExtraTreesClassifier(200, min_samples_leaf=3, random_state=seed),
    }  # fmt: skip


def library(M, anchor="pool", scales=("halfway", "calibrated"), shrink=None):
    """The default library with one choice changed."""
    logistic = LogisticFusion(prior="pool" if anchor == "pool" else "flat")
    weigh = {"anchor_rows": ANCHOR_ROWS} if shrink is None else {"shrink": shrink}
    sieves = [Bernstein(K=K, anchor=anchor, **weigh) for K in DEGREES[M]]
    return (MeanScore(), MeanScore("log"), logistic, *((on, sieve) for on in scales for sieve in sieves))


def prototype(M):
    """The library of the prototype: no prior, all degrees, shrunk by a share of the rows or not."""
    degrees = (2, 4, 6, 9, 12) if M == 2 else (2, 4, 6)
    sieves = [Bernstein(K=K, shrink=shrink) for K in degrees for shrink in (None, 1.0)]
    return (MeanScore(), LogisticFusion(), *((on, sieve) for on in ("ecdf", "logit_unit") for sieve in sieves))


def fits(M):
    """{name: recipe}."""
    return {
        BASE: Fuse(),
        "prototype": Fuse(library=prototype(M), rate=0.0, steps=300),
        "weights by 300 EM steps from equal ones": Fuse(rate=0.0, steps=300),
        "weights exponential, no EM": Fuse(steps=0),
        "flat prior": Fuse(library=library(M, anchor="logistic")),
        "anchor weighs as much as the rows": Fuse(library=library(M, shrink=1.0)),
        "sieves on the ecdf and on logits": Fuse(library=library(M, scales=("ecdf", "logit_unit"))),
        "logistic fusion near the mean logit alone": LogisticFusion(prior="pool"),
        "logistic fusion alone": LogisticFusion(),
    }


def names():
    """Sets of at least 1,000 rows that are neither large nor without error."""
    other = ("mushrooms", "adult", "census")
    return [r["name"] for r in loader().manifest()
            if r["kind"] == "features" and int(r["n"]) >= LEAST_ROWS and r["name"] not in other]  # fmt: skip


def cells(name, repetition):
    """[(names of scores, s, y, s_new, y_new)] of one set, the same on every machine."""
    rng = np.random.default_rng(zlib.crc32(f"{name}/{repetition}".encode()))
    X, y = loader().load(name)
    order, made = rng.permutation(len(y))[:12_000], classifiers(repetition)
    train = order[: min(int(0.35 * len(order)), 1_500)]
    rest, used = order[len(train) :], list(rng.choice(sorted(made), 3, replace=False))
    s = np.stack([made[k].fit(X[train], y[train]).predict_proba(X[rest])[:, 1] for k in used], axis=1).astype(float)
    n, y = min(int(rng.choice([200, 500, 1_000])), len(rest) // 2), y[rest].astype(float)
    if min(y[:n].sum(), n - y[:n].sum()) < LEAST_EVENTS:
        return []
    new = slice(n, n + 6_000)
    return [("+".join(used[:M]), s[:n, :M], y[:n], s[new, :M], y[new]) for M in (2, 3)]


def run(name, repetition):
    """One row for each cell and method."""
    out = []
    for used, s, y, s_new, y_new in cells(name, repetition):
        for method, recipe in fits(s.shape[1]).items():
            p = recipe.fit_arrays(s, y)(s_new)
            own = np.clip(np.where(y_new == 1, p, 1 - p), EDGE, 1 - EDGE)
            figures = np.mean((y_new - p) ** 2), -np.mean(np.log(own))
            out.append([name, repetition, s.shape[1], len(y), used, method, *(f"{v:.6g}" for v in figures)])
    return out


def write_table():
    """results/fuse_choices.md from the csv: paired differences, each set once."""
    frame = pd.read_csv(RESULTS)
    lines = []
    for method in frame.method.unique():
        row = [method]
        for figure in ("brier", "log_loss"):
            wide = frame.pivot_table(index=["set", "repetition", "M"], columns="method", values=figure)
            apart = 100 * (wide[method] - wide[BASE])
            each = apart.groupby("set").mean()
            row += [f"{100 * wide[method].groupby('set').mean().mean():.3f}",
                    "" if method == BASE else f"{each.mean():+.3f} ({each.std(ddof=1) / np.sqrt(len(each)):.3f})",
                    f"{np.median(each):+.3f}", f"{np.mean(each > 0):.2f}"]  # fmt: skip
        lines.append("| " + " | ".join(row) + " |")
    cells = len(frame[["set", "repetition", "M"]].drop_duplicates())
    text = f"""# What the choices in fuse are worth

Made by `benchmarks/fuse_choices.py`: {frame.set.nunique()} sets, {cells} cells. All figures are 100 x; differences to
fuse are paired, averaged within a set first, with the standard error over sets in brackets; "worse on" is the share of
sets. These are the sets on which the choices were made: `quality.md` has others.

| method | Brier | difference | median | worse on | log loss | difference | median | worse on |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(lines)}
"""
    RESULTS.with_suffix(".md").write_text(text)


def jobs():
    """All sets and repetitions."""
    return [((name, str(r)), partial(run, name, r)) for r in range(REPETITIONS) for name in names()]


def quick():
    """One set."""
    for line in run("flare-F", 0):
        print(*line)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    study.main(__doc__, RESULTS, COLUMNS, jobs, quick, write_table)

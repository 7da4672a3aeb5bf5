"""Make adult_scores.csv: three classifiers' scores for 8,000 held-out people of the UCI Adult set.

    python data/make_adult_scores.py [path of shared/data/load.py]

README.md describes the table, names the versions it was made with and holds the checksum printed here.
"""

import hashlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

HERE = Path(__file__).resolve().parent
LOAD_PY = HERE.parent.parent / "shared" / "data" / "load.py"
SEED = 2020
N_TRAIN = 5000
N_HELD_OUT = 8000
MISSING = {"s2": 0.015, "s3": 0.010}
# With many one-hot columns naive Bayes says 0 or 1 and little between. These five leave scores that rank well
# and are badly calibrated, which is what a calibrator is for. Capital gains, mostly 0, spoil the ranking.
BAYES_COLUMNS = ["age", "education-num", "hours-per-week", "marital-status=Married-civ-spouse", "sex"]


def import_loader(path):
    """The module load.py."""
    spec = importlib.util.spec_from_file_location("load", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def split(n):
    """Rows of the three training sets and of the held-out people: four disjoint index arrays, shuffled."""
    order = np.random.default_rng(SEED).permutation(n)
    ends = [N_TRAIN, 2 * N_TRAIN, 3 * N_TRAIN, 3 * N_TRAIN + N_HELD_OUT]
    return np.split(order[: ends[-1]], ends[:-1])


def features(loader):
    """Features as a float64 frame (capital gains and losses as log(1 + x)) and y."""
    X, y, names = loader.load("adult", return_names=True)
    X = pd.DataFrame(X.astype(np.float64), columns=names)
    capital = ["capital-gain", "capital-loss"]
    X[capital] = np.log1p(X[capital])
    return X, y.astype(np.int64)


def classifiers(X):
    """{score: (classifier, columns)}."""
    every = [c for c in X.columns if c != "fnlwgt"]  # a sampling weight, not a property of the person
    return {
        "s1": (make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000)), every),
        "s2": (HistGradientBoostingClassifier(max_iter=150, learning_rate=0.1, random_state=SEED), every),
        "s3": (GaussianNB(), BAYES_COLUMNS),
    }


def make(loader):
    """The table, without the missing scores."""
    X, y = features(loader)
    *training, held_out = split(len(y))
    table = {
        "age": X["age"].to_numpy()[held_out].astype(np.int64),
        "sex": np.where(X["sex"].to_numpy()[held_out] == 1, "Male", "Female"),  # levels in load.py's order
    }
    for rows, (score, (classifier, columns)) in zip(training, classifiers(X).items(), strict=True):
        Z = X[columns].to_numpy()
        table[score] = classifier.fit(Z[rows], y[rows]).predict_proba(Z[held_out])[:, 1]
    table["income"] = np.where(y[held_out] == 1, ">50K", "<=50K")
    table["y"] = y[held_out]
    return pd.DataFrame(table)


def remove_some(table):
    """The table with scores missing completely at random."""
    rng = np.random.default_rng(SEED + 1)
    holes = {score: rng.random(len(table)) < share for score, share in MISSING.items()}
    return table.assign(**{score: table[score].mask(hole) for score, hole in holes.items()})


def main(load_py=LOAD_PY):
    """Write adult_scores.csv beside this file and print what README.md says of it."""
    table = make(import_loader(load_py))
    for s in ("s1", "s2", "s3"):
        auc, brier = roc_auc_score(table["y"], table[s]), brier_score_loss(table["y"], table[s])
        print(f"{s}: AUC {auc:.4f}, Brier score {brier:.4f}, mean {table[s].mean():.4f}")
    table = remove_some(table)
    path = HERE / "adult_scores.csv"
    table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    print(f"events {table['y'].mean():.4f}, missing {table.isna().sum().to_dict()}")
    print("sha256", hashlib.sha256(path.read_bytes()).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])

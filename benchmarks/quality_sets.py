"""Rows of the comparison of fusion methods: real scores with the rest of their rows to judge, and simulated truths."""

import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isocal.datasets import load_adult_scores, simulate_scores

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
MOST = 30_000  # rows to judge by
NETWORKS = ("adult", "census", "covertype", "dota2", "susy8")
PUBLISHED = ("segment", "compas", "cifar10", "imagenet")
TRUTHS = ("smooth", "kink", "additive", "product", "staircase", "rare")
SIZES = (200, 500, 2_000)


@dataclass(frozen=True)
class Setting:
    """One set: real or not; its name, number of scores M and of rows n to fit."""

    kind: str
    name: str
    M: int
    n: int

    def __str__(self):
        return f"{self.name} M={self.M} n={self.n}"


@dataclass(frozen=True, eq=False)
class Rows:
    """s (n, M), y (n,) to fit; s_new (m, M), p_new (m,): labels there, or the true probabilities."""

    s: np.ndarray
    y: np.ndarray
    s_new: np.ndarray
    p_new: np.ndarray


def settings():
    """All of them; those that need ../shared only where it is."""
    out = [Setting("bundled", "adult_scores", M, n) for M in (2, 3) for n in SIZES]
    out += [Setting("simulated", truth, M, n) for truth in TRUTHS for M, n in ((2, 500), (3, 500), (2, 2_000))]
    if SHARED.exists():
        out = [Setting("networks", name, 2, 500) for name in NETWORKS] + [
            Setting("published", name, 2, 500) for name in PUBLISHED
        ] + out  # fmt: skip
    return out


def rows(setting, repetition):
    """The Rows of one repetition, the same on every machine."""
    rng = np.random.default_rng(zlib.crc32(f"{setting}/{repetition}".encode()))
    if setting.kind == "networks":
        return _networks(setting.name, repetition)
    if setting.kind == "simulated":
        return _simulated(setting, rng)
    s, y = _published(setting.name) if setting.kind == "published" else _adult(setting.M)
    order = rng.permutation(len(y))
    fit, new = order[: setting.n], order[setting.n : setting.n + MOST]
    return Rows(s[fit], y[fit], s[new], y[new])


def _simulated(setting, rng):
    frame = simulate_scores(setting.n + MOST // 3, M=setting.M, truth=setting.name, rng=rng)
    s, y, p = frame.filter(regex=r"^s\d").to_numpy(), frame.y.to_numpy(float), frame.p.to_numpy()
    n = setting.n
    return Rows(s[:n], y[:n], s[n:], p[n:])


def _adult(M):
    frame = load_adult_scores()[[*(f"s{m + 1}" for m in range(M)), "y"]].dropna()
    return frame.iloc[:, :M].to_numpy(), frame.y.to_numpy(float)


def _networks(name, repetition):
    d = loader().scores(name, repetition)
    return Rows(d["cal_s"], d["cal_y"].astype(float), d["test_s"][:MOST], d["test_y"][:MOST].astype(float))


def _published(name):
    if name == "segment":
        d = loader().public(name)
        return np.c_[d["s_logistic"], d["s_nb"]], d["y"].astype(float)
    if name == "compas":
        d = loader().public(name)
        return np.c_[d["decile"], d["v_decile"]] / 10.0, d["y"].astype(float)
    first, second = {"cifar10": ("resnet110", "densenet40"), "imagenet": ("resnet101", "densenet161")}[name]
    d = loader().public(f"{name}_resnet_densenet")
    right = d[f"pred_{first}"] == d["label"]
    return np.c_[d[f"conf_{first}"], d[f"conf_{second}"]].astype(float), right.astype(float)


def loader():
    """The module that reads ../shared/data."""
    if str(SHARED) not in sys.path:
        sys.path.insert(0, str(SHARED))
    import load

    return load

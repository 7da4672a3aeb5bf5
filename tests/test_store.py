"""Keeping a fit: save, load, pickle, and what stands in the way of writing. Broken files: test_broken_files.py."""

import csv
import json
import math
import os
import pickle
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from saved_fits import line

import isocal
from isocal import store
from isocal.methods import Bernstein, Curve, Recipe
from isocal.results.export import own_recipes

FITS = Path(__file__).parent / "reference" / "fits"
ROUND_OFF = 1e-15  # a few units in the last place of a probability


@pytest.fixture(scope="module")
def data():
    return isocal.datasets.simulate_scores(200, M=3, rng=3).assign(w=np.arange(200) % 3 + 1.0)


@pytest.fixture(scope="module")
def fit(data):
    return isocal.bernstein("y ~ ecdf(unit(s1)) + s2", data, K=(3, 2), weights="w", subset="s3 > 0.1").fit()


# What comes back


@pytest.mark.parametrize("schema", range(1, store.SCHEMA + 1))
def test_a_file_of_every_schema_predicts_what_exact_arithmetic_says(schema):
    res = isocal.load(FITS / f"schema-{schema}.json")
    with open(FITS / f"schema-{schema}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    new = pd.DataFrame({k: [float(r[k] or "nan") for r in rows] for k in rows[0]})
    np.testing.assert_allclose(res.predict(new), new["predicted"], rtol=0, atol=ROUND_OFF)
    stored = json.loads((FITS / f"schema-{schema}.json").read_text())
    assert res.nobs == stored["facts"]["n"]
    assert f"{stored['cross_validated']['Brier score']:.4f}" in res.summary().as_text()


def test_the_reference_predictions_are_those_of_the_file():
    sys.path.insert(0, str(FITS))
    try:
        from exact_predictions import predict
    finally:
        sys.path.remove(str(FITS))
    stored = json.loads((FITS / "schema-1.json").read_text())
    with open(FITS / "schema-1.csv", newline="") as file:
        for row in csv.DictReader(file):
            p = predict(stored, row)
            assert row["predicted"] == ("" if p is None else repr(p))


def test_a_file_written_by_hand(tmp_path):
    res = isocal.load(line(tmp_path / "fit.json"))
    x = np.linspace(0, 1, 101)
    np.testing.assert_allclose(res.predict({"s1": x}), x, atol=ROUND_OFF)
    assert math.isnan(res.cross_validated["AUC"]) and res.cross_validated["Log loss"] == math.inf
    assert res.response.label == "P(y = 1)" and res.model is None


FITTED = [
    ("y ~ ecdf(s1) + ecdf(s2)", {}),
    ("y ~ s1", {"K": 7}),
    ("y ~ unit(s1) + expit(s2) + s3", {"K": {"s1": 2, "s2": 3}, "monotone": {"s3": "none"}}),
    ("y ~ s1 + s2 - 1", {"monotone": ("increasing", "decreasing"), "tie_break": 0.0, "K": 2}),
    ("y ~ ecdf(s1)", {"K": "cv"}),
]


@pytest.mark.parametrize(("formula", "options"), FITTED)
def test_round_trip(formula, options, data, tmp_path):
    res = isocal.bernstein(formula, data, **options).fit()
    path = tmp_path / "fit.json"
    assert res.save(path) is None
    again = isocal.load(path)
    new = pd.DataFrame(np.random.default_rng(0).uniform(-0.2, 1.2, (500, 3)), columns=["s1", "s2", "s3"])
    new.loc[3, "s1"] = np.nan
    pd.testing.assert_frame_equal(again.predict_frame(new), res.predict_frame(new), check_exact=True)
    assert again.summary() == res.summary() and str(again) == str(res) and again.recipe == res.recipe
    assert again.facts == res.facts and again.formula == formula
    before = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", own_recipes().values(), ids=own_recipes())
def test_every_method_comes_back(kind, data, tmp_path):
    res = isocal.Model("y ~ s1" if kind.min_scores == 1 else "y ~ s1 + s2", data, kind()).fit()
    res.save(tmp_path / "fit.json")
    again = isocal.load(tmp_path / "fit.json")
    new = pd.DataFrame({"s1": np.linspace(-0.1, 1.1, 500), "s2": np.linspace(0.9, 0.2, 500)})
    assert again.predict(new).equals(res.predict(new)) and again.summary() == res.summary()


def test_the_text_is_strict_json_and_plain_types_come_back(tmp_path):
    nested = {"a": (1, (2.5, "x")), "b": [math.inf, -math.inf, None, True], "c": {1: "one", "$d": {}}, "e": -0.0}
    text = json.dumps(store.encode(nested), allow_nan=False)
    back = json.loads(text, object_pairs_hook=store._decoded, parse_constant=pytest.fail)
    assert back == nested and isinstance(back["a"][1], tuple) and math.copysign(1, back["e"]) == -1
    nan = json.loads(json.dumps(store.encode([math.nan]), allow_nan=False), object_pairs_hook=store._decoded)
    assert math.isnan(nan[0])
    assert store.encode(np.float64(1.5)) == 1.5 and type(store.encode(np.int64(3))) is int


@pytest.mark.parametrize("value", [{1, 2}, np.zeros(2), object(), 2**63, b"x"])
def test_what_has_no_json_form_is_named(value):
    with pytest.raises(ValueError, match=r"options\.K\[1\] holds an? "):
        store.encode([0, value], "options.K")


def test_pickle_predicts_the_same_in_a_fresh_process(fit, data):
    code = "import pickle, sys; res, new = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(pickle.dumps("
    code += "(res.predict(new), res.summary().as_text(), res.predict())))"
    sent = pickle.dumps((fit, data))
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    predicted, text, fitted = pickle.loads(done.stdout)
    assert predicted.equals(fit.predict(data)) and text == fit.summary().as_text() and fitted.equals(fit.fittedvalues)


def test_a_loaded_fit_says_what_needs_rows(fit, tmp_path):
    fit.save(tmp_path / "fit.json")
    with pytest.raises(ValueError, match="needs the rows of the fit, which a loaded fit does not hold"):
        isocal.load(tmp_path / "fit.json").predict()


# Recipes from outside


class LineCurve(Curve):
    """f(s) = a + b s of one score."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __call__(self, s):
        return np.clip(self.a + self.b * s[:, 0], 0.0, 1.0)

    def coef(self):
        return {"a": self.a, "b": self.b}

    def to_dict(self):
        return {"a": self.a, "b": self.b}

    @classmethod
    def from_dict(cls, d):
        return cls(float(d["a"]), float(d["b"]))


@dataclass(frozen=True)
class Line(Recipe):
    """A recipe from outside isocal."""

    title: ClassVar[str] = "Line"
    reference: ClassVar[str] = "none"
    slope: float = 0.5

    def fit_arrays(self, s, y, w=None):
        return LineCurve(0.25, self.slope)


@dataclass(frozen=True)
class Astray(Line):
    """Its options do not come back as what they were."""

    slope: object = 0.5

    def to_dict(self):
        return {"slope": 0.75}


def test_a_recipe_from_outside_is_allowed_by_hand_and_never_imported(data, tmp_path):
    path = tmp_path / "line.json"
    res = isocal.Model("y ~ s1", data, Line(slope=0.125)).fit()
    res.save(path)
    with pytest.raises(ValueError, match=r"'Line' of module '[\w.]*test_store' is not isocal's own.*recipes=\[Line\]"):
        isocal.load(path)
    again = isocal.load(path, recipes=[Line])
    assert again.recipe == Line(slope=0.125)
    assert again.predict(data).equals(0.25 + 0.125 * data["s1"].rename("predicted"))
    with pytest.raises(TypeError, match=r"must be Recipe classes, e\.g\. load\(path, recipes=\[MyRecipe\]\)"):
        isocal.load(path, recipes=[Line()])


def test_a_foreign_recipe_cannot_pose_as_isocals_own(data, tmp_path):
    path = line(tmp_path / "fit.json", recipe__module="os")
    with pytest.raises(ValueError, match="'Bernstein' of module 'os' is not isocal's own"):
        isocal.load(path, recipes=[Line])


def test_save_refuses_what_would_not_come_back(data, tmp_path):
    with pytest.raises(ValueError, match="Astray: its options do not read back as the same recipe"):
        isocal.Model("y ~ s1", data, Astray()).fit().save(tmp_path / "fit.json")
    res = isocal.bernstein("y ~ np.sqrt(s1) + s2", data, K=2).fit()
    with pytest.raises(ValueError, match=r"term 'np.sqrt\(s1\)' is an expression.*make a column of it, e.g. data"):
        res.save(tmp_path / "fit.json")
    assert list(tmp_path.iterdir()) == []


# Writing


def test_overwrite_and_places_that_cannot_be_written(fit, tmp_path):
    path = tmp_path / "fit.json"
    path.write_text("old")
    with pytest.raises(FileExistsError, match=r"fit\.json: exists already and is left as it is"):
        fit.save(path, overwrite=False)
    assert path.read_text() == "old"
    fit.save(str(path))
    assert isocal.load(path).summary() == fit.summary()
    with pytest.raises(FileNotFoundError, match=r"the folder '.*absent' does not exist; make it first"):
        fit.save(tmp_path / "absent" / "fit.json")
    with pytest.raises(IsADirectoryError, match="a folder; give the name of a file in it"):
        fit.save(tmp_path)
    with pytest.raises(ValueError, match="not a regular file, which is never replaced"):
        fit.save(os.devnull)
    with pytest.raises(OSError, match=r"cannot be written: File name too long"):
        fit.save(tmp_path / ("x" * 300))


def test_a_folder_without_permission(fit, tmp_path, monkeypatch):
    monkeypatch.setattr(store.os, "access", lambda *a: False)  # the tests may run as root, who may do anything
    with pytest.raises(PermissionError, match=r"fit\.json: the folder '.*' cannot be written to"):
        fit.save(tmp_path / "fit.json")


@pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")
def test_mode_and_links_are_those_of_an_ordinary_write(fit, tmp_path):
    plain, real, link = tmp_path / "plain", tmp_path / "real.json", tmp_path / "link.json"
    plain.write_text("")
    fit.save(real)
    assert stat.S_IMODE(real.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    real.chmod(0o640)
    link.symlink_to(real)
    fit.save(link)
    assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize("stop", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "Ctrl-C"])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(stop, fit, tmp_path, monkeypatch):
    path = tmp_path / "fit.json"
    path.write_text("old")

    def fail(*args):
        raise stop

    monkeypatch.setattr(store.os, "fsync", fail)
    with pytest.raises(type(stop)):
        fit.save(path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_killed_in_mid_write_the_old_file_is_whole(tmp_path):
    path = tmp_path / "fit.json"
    path.write_text("old")
    code = "import os, signal, sys; from isocal import store\nwith store.written_beside(sys.argv[1]) as file:\n"
    code += "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL and path.read_text() == "old"


def test_save_twice_gives_the_same_bytes(fit, tmp_path):
    fit.save(tmp_path / "a.json")
    fit.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert Bernstein(K=(3, 2)) == isocal.load(tmp_path / "a.json").recipe

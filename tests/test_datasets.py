"""The bundled scores and the simulated ones. Expected values are closed forms or facts of the source."""

import importlib.util
import math
import shutil
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from isocal import datasets
from isocal.datasets import load_adult_scores, simulate_scores, truths

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
# Round-off of a handful of float64 operations on numbers of size 1.
ROUND_OFF = 2e-15


@pytest.fixture(scope="module")
def adult():
    return load_adult_scores()


def test_adult_columns(adult):
    assert list(adult.columns) == ["age", "sex", "s1", "s2", "s3", "income", "y"]
    assert len(adult) == 8000
    assert set(adult["sex"]) == {"Female", "Male"}
    assert set(adult["income"]) == {"<=50K", ">50K"}
    assert adult["y"].isin([0, 1]).all()
    assert ((adult["income"] == ">50K") == (adult["y"] == 1)).all()


def test_adult_scores_are_probabilities_some_missing(adult):
    s = adult[["s1", "s2", "s3"]]
    assert (s.isna() | ((s > 0) & (s < 1))).all(axis=None)
    missing = s.isna().mean()
    assert missing["s1"] == 0
    # 8,000 draws with chances 1.5 % and 1 %: within four standard errors.
    assert abs(missing["s2"] - 0.015) < 4 * math.sqrt(0.015 * 0.985 / 8000)
    assert abs(missing["s3"] - 0.010) < 4 * math.sqrt(0.010 * 0.990 / 8000)


def test_adult_scores_rank_and_s3_is_badly_calibrated(adult):
    full = adult.dropna()
    for score in ("s1", "s2", "s3"):
        u = stats.mannwhitneyu(full.loc[full["y"] == 1, score], full.loc[full["y"] == 0, score]).statistic
        assert u / (full["y"].sum() * (1 - full["y"]).sum()) > 0.85
    # Standardised difference of mean score and event rate: at most chance for s1, far beyond it for s3.
    z = {s: (full["y"] - full[s]).sum() / math.sqrt((full[s] * (1 - full[s])).sum()) for s in ("s1", "s3")}
    assert abs(z["s1"]) < 4 < 8 < abs(z["s3"])


def test_adult_people_are_those_of_the_source(adult):
    if not SHARED.exists():
        pytest.skip("shared folder is absent")
    pytest.importorskip("sklearn")
    spec = importlib.util.spec_from_file_location("make_adult_scores", ROOT / "data" / "make_adult_scores.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    X, y, names = make.import_loader(make.LOAD_PY).load("adult", encode="ordinal", return_names=True)
    parts = make.split(len(y))
    assert [len(rows) for rows in parts] == [5000, 5000, 5000, 8000]
    assert len(np.unique(np.concatenate(parts))) == 23000
    held_out = parts[-1]
    np.testing.assert_array_equal(adult["y"], y[held_out])
    np.testing.assert_array_equal(adult["age"], X[held_out, names.index("age")])
    # In UCI Adult two of three are men, and a "Husband" is one.
    np.testing.assert_array_equal(adult["sex"] == "Male", X[held_out, names.index("sex")] == 1)
    assert (adult["sex"] == "Male").mean() == pytest.approx(0.669, abs=0.02)


def test_adult_is_read_from_the_checkout(adult):
    assert datasets._find("adult_scores.csv") == ROOT / "data" / "adult_scores.csv"


def package_copy(folder, monkeypatch):
    """Let isocal.datasets believe it is installed in folder/site, in an environment that holds no data."""
    monkeypatch.setattr(datasets, "__file__", str(folder / "site" / "isocal" / "datasets.py"))
    monkeypatch.setattr(datasets.importlib.metadata, "files", lambda name: None)
    monkeypatch.setattr(sysconfig, "get_path", lambda name, scheme=None: str(folder / (scheme or "prefix")))


def test_data_beside_an_installed_package_are_not_taken_for_a_checkout(tmp_path, monkeypatch):
    package_copy(tmp_path, monkeypatch)
    (tmp_path / "site" / "data").mkdir(parents=True)
    shutil.copy(ROOT / "data" / "adult_scores.csv", tmp_path / "site" / "data")
    with pytest.raises(FileNotFoundError, match=r"'adult_scores.csv' was not found(.|\n)*Reinstall isocal"):
        load_adult_scores()
    (tmp_path / "site" / "setup.cfg").write_text("")
    assert len(load_adult_scores()) == 8000


@pytest.mark.parametrize("place", ["prefix", sysconfig.get_preferred_scheme("user"), "site"])
def test_data_of_an_installed_wheel(place, tmp_path, monkeypatch):
    package_copy(tmp_path, monkeypatch)
    folder = tmp_path / place / "share" / "isocal" / "data"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "data" / "adult_scores.csv", folder)
    assert datasets._find("adult_scores.csv") == folder / "adult_scores.csv"
    assert len(load_adult_scores()) == 8000


def test_simulated_columns_and_seed():
    frame = simulate_scores(50, M=3, rng=7)
    assert list(frame.columns) == ["s1", "s2", "s3", "y", "p"]
    assert frame["y"].isin([0, 1]).all() and frame.attrs == {"seed": 7}
    assert frame.equals(simulate_scores(50, M=3, rng=np.random.default_rng(7)))
    fresh = simulate_scores(50)
    assert not fresh.equals(simulate_scores(50))
    assert fresh.equals(simulate_scores(50, rng=fresh.attrs["seed"]))


def test_a_generator_moves_on_and_the_global_one_does_not():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    generator = np.random.default_rng(1)
    assert not simulate_scores(20, rng=generator).equals(simulate_scores(20, rng=generator))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize(("M", "rho"), [(1, 0.5), (2, 0.7), (2, -0.9), (3, -0.45), (5, 0.0)])
def test_margins_are_uniform_and_the_copula_is_gaussian(M, rho):
    s = simulate_scores(40_000, M=M, rng=3, rho=rho)[[f"s{j + 1}" for j in range(M)]].to_numpy()
    for j in range(M):
        assert stats.kstest(s[:, j], "uniform").pvalue > 1e-4
    # Uniform scores with a Gaussian copula: their correlation is (6/pi) arcsin(rho/2).
    expected = 6 / math.pi * math.asin(rho / 2)
    off = np.corrcoef(s, rowvar=False)[np.triu_indices(M, 1)] if M > 1 else np.array([])
    np.testing.assert_allclose(off, expected, atol=5 / math.sqrt(40_000))


@pytest.mark.parametrize("name", truths)
def test_labels_follow_the_truth(name):
    frame = simulate_scores(100_000, M=3, rng=11, truth=name)
    score = (frame["y"] - frame["p"]).sum() / math.sqrt((frame["p"] * (1 - frame["p"])).sum())
    assert abs(score) < 4


@pytest.mark.parametrize("M", [1, 2, 4])
@pytest.mark.parametrize("name", truths)
def test_truths_are_probabilities_that_never_fall(name, M):
    rng = np.random.default_rng(5)
    s = np.vstack([rng.random((2000, M)), np.zeros(M), np.ones(M), rng.integers(0, 5, (200, M)) / 4])
    p = truths[name](s)
    assert p.shape == (len(s),) and (p >= 0).all() and (p <= 1).all()
    for j in range(M):
        higher = s.copy()
        higher[:, j] = rng.uniform(s[:, j], 1)
        assert (truths[name](higher) - p >= -ROUND_OFF).all()


BY_HAND = {
    "smooth": 1 / (1 + math.exp(-0.75)),  # mean 5/8: 6 * 5/8 - 3 = 3/4
    "additive": 0.05 + 0.9 * (1 / 16 + 1) / 2,  # (1/4)**2 and 1**(1/2)
    "kink": 0.05 + 0.9 / 4,
    "product": 0.05 + 0.9 / 4,
    "staircase": 0.1 + 0.8 * (1 + 3) / 2 / 3,  # steps 1 and 3 of 0..3
    "rare": 0.002 + 0.04 * 25 / 64,
    "first": 0.05 + 0.9 / 4,
    "constant": 0.3,
}


@pytest.mark.parametrize("name", truths)
def test_truths_by_hand(name):
    assert truths[name](np.array([[0.25, 1.0]]))[0] == pytest.approx(BY_HAND[name], abs=ROUND_OFF)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"n": 0}, ValueError, "n, the number of rows, must be at least 1, not 0"),
        ({"n": 2.0}, TypeError, r"n, the number of rows, must be an int, not 2.0; pass int\(n\)"),
        ({"n": True}, TypeError, "n, the number of rows, must be an int, not True"),
        ({"M": 0}, ValueError, "M, the number of scores, must be at least 1, not 0"),
        ({"M": "2"}, TypeError, "M, the number of scores, must be an int, not '2'"),
        ({"rho": 1.0}, ValueError, r"rho, .* of 2 scores, must lie in \(-1, 1\), not 1.0; use rho=0"),
        ({"rho": -0.5, "M": 3}, ValueError, r"rho, .* of 3 scores, must lie in \(-0.5, 1\), not -0.5"),
        ({"rho": math.nan}, ValueError, r"must lie in \(-1, 1\), not nan"),
        ({"rho": "high"}, TypeError, "rho, .* must be a number, not 'high'"),
        ({"truth": "smoth"}, ValueError, "truth must be one of smooth, additive, .*, constant, not 'smoth'"),
        ({"truth": 3}, TypeError, "truth must be a name or a function of .*, not 3"),
        ({"truth": lambda s: 2 * s[:, 0] + 1}, ValueError, r"in \[0, 1\]; .* in row 0 \(9 such rows\)"),
        ({"truth": lambda s: s[:, 0] * math.nan}, ValueError, r"returned nan in row 0 \(9 such rows\)"),
        ({"truth": lambda s: s}, ValueError, r"shape \(9,\); .* shape \(9, 2\): reduce over the scores"),
    ],
)
def test_errors_name_rule_value_and_remedy(arguments, error, text):
    with pytest.raises(error, match=text):
        simulate_scores(**{"n": 9, "rng": 0, **arguments})

"""Files that load() refuses: foreign, newer, truncated, corrupted, hostile."""

import json
import os

import pandas as pd
import pytest
from saved_fits import line

import isocal
from isocal import store


@pytest.fixture(scope="module")
def data():
    return isocal.datasets.simulate_scores(200, M=2, rng=3)


@pytest.fixture(scope="module")
def fit(data):
    return isocal.bernstein("y ~ ecdf(unit(s1)) + s2", data[::5], K=(3, 2)).fit()


BETA = "curve__values__beta"
CHANGED = [
    ({"format": "other"}, "not a fit that isocal saved"),
    ({"schema": 2, "isocal": "9.1"}, r"schema 2 of isocal '9.1' is newer than schema 1, .* upgrade isocal"),
    ({"schema": "1"}, "schema must be a number from 1 to 1; got '1'"),
    ({"schema": 0}, "schema must be a number"),
    ({"schema": True}, "schema must be a number"),
    ({"isocal": 3}, "'isocal' must be text; got 3"),
    ({"curve": None}, "'curve' must be an object; got None"),
    ({"curve": {}}, "curve: 'class' is missing"),
    ({BETA: [0, {"$float": "nan"}, 1]}, "curve: bernstein: coefficients must be finite"),
    ({BETA: [0.5, 0.25, 1]}, "curve: .* break the promised direction"),
    ({BETA: [0, 0.5, 1.5]}, r"coefficients must be finite and lie in \[0, 1\]"),
    ({BETA: [0, "0.5", 1]}, "curve: 'beta': a list of 3 is not a possible value"),
    ({BETA: [[0, 0.5, 1]]}, "curve: .* do not fit 1 scores"),
    ({BETA: [[0], [0.5, 1]]}, "curve: .*inhomogeneous"),
    ({BETA: [0, 1]}, "curve: bernstein: support has shape"),
    ({BETA: {}}, "curve: "),
    ({"curve__values__directions": [-1]}, "curve: .* break the promised direction"),
    ({"curve__values__directions": [0]}, r"directions \(0,\) are not those of the recipe, \(1,\)"),
    ({"curve__values__df": -1}, "degrees of freedom, -1.0, must be"),
    ({"curve__values__path": {"K": [1, 2], "aic": [1]}}, "not of the right form"),
    ({"curve__class": "Curve"}, "Bernstein has no curve 'Curve'"),
    ({"curve__class": "os"}, "Bernstein has no curve 'os'"),
    ({"curve__class": ["x"]}, "curve: "),
    ({"recipe__class": "Recipe"}, "this isocal has no method 'Recipe': it has .*Bernstein"),
    ({"recipe__class": "os.system"}, "this isocal has no method 'os.system'"),
    ({"recipe__class": []}, "recipe: "),
    ({"recipe__options": {"K": "banana"}}, "recipe: K must be an integer"),
    ({"recipe__options": {"K": {"$tuple": [2, 2]}}}, "recipe: K has 2 entries for 1 scores"),
    ({"recipe__options": {"L": 2}}, "recipe: .*unexpected keyword argument 'L'"),
    ({"recipe__options": [1]}, "recipe: "),
    ({"recipe__options": {"monotone": "decreasing"}}, r"directions \(1,\) are not those of the recipe, \(-1,\)"),
    ({"terms__terms": []}, "terms: at least one term"),
    ({"terms__low": [{"$float": "nan"}]}, "terms: low and high must be finite"),
    ({"terms__low": [2]}, "terms: .* low at most high"),
    ({"terms__high": [1, 2]}, "terms: "),
    ({"terms__formula": "y ~ s2"}, "formula 'y ~ s2' does not say the response and the terms that the file holds"),
    ({"terms__formula": "z ~ s1"}, "formula 'z ~ s1' does not say"),
    ({"terms__formula": "y ~ s1 + ecdf(s1)"}, "does not say"),
    ({"terms__formula": 3}, "terms: "),
    ({"terms__formula": "y ~ s1 + " * 20_000}, "formula must be text of at most 100,000 characters"),
    ({"terms__terms": [{"label": "s1", "column": "s1", "transforms": [["eval", {}]]}]}, "unknown transform 'eval'"),
    ({"terms__terms": [{"label": "s1", "column": "s2", "transforms": []}]}, "does not say"),
    ({"response__event": None}, "response: a column name and a value are expected; got 'y' and None"),
    ({"response__event": {"$float": "nan"}}, "response: "),
    ({"response__column": 1}, "response: "),
    ({"facts__n": "4"}, "facts: '4'|facts: .* cannot be"),
    ({"facts__events": 5}, "facts: 5 events in 4 rows cannot be"),
    ({"facts__llf": "x"}, "facts: counts and figures must be numbers"),
    ({"facts__slopes": [1, 2]}, "facts: 2 mean slopes for 1 scores"),
    ({"facts__apparent": {}}, "facts: 'Brier score' is missing"),
    ({"cross_validated": {}}, "facts: 'Brier score' is missing"),
    ({"cross_validated": {"$float": "one"}}, "the mark '\\$float' is not understood"),
]


@pytest.mark.parametrize(("changes", "reason"), CHANGED, ids=[str(c)[:60] for c, _ in CHANGED])
def test_a_changed_file_is_refused_with_its_name_and_the_reason(changes, reason, tmp_path):
    path = line(tmp_path / "fit.json", **changes)
    with pytest.raises(ValueError, match=reason) as caught:
        isocal.load(path)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


HOSTILE = [
    "y ~ s1 + __import__('os').system('touch {}')",
    "y ~ s1 + eval(\"open('{}', 'w')\")",
    "y ~ s1 + Q(f\"{{open('{}', 'w')}}\")",
    "y ~ s1 + (lambda: open('{}', 'w'))()",
    "y ~ s1 ** 99999999",
    "y ~ s1 + " + "(" * 5000 + "s2" + ")" * 5000,
    "y ~ s1 + '",
    "y ~ s1\x00",
]


@pytest.mark.parametrize("formula", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_formula_is_refused_and_not_run(formula, tmp_path):
    trap = tmp_path / "trap"
    path = line(tmp_path / "fit.json", terms__formula=formula.format(trap))
    with pytest.raises(ValueError, match=r"fit\.json: terms: ") as caught:
        isocal.load(path)
    assert not trap.exists() and "\n" not in str(caught.value)
    path = line(tmp_path / "fit.json", terms__terms=[{"label": formula.format(trap), "column": "s1", "transforms": []}])
    with pytest.raises(ValueError, match=r"fit\.json: terms: "):
        isocal.load(path)
    assert not trap.exists()


def swap(text, old, new):
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


TEXTS = [
    (lambda t: "", "the file is empty"),
    (lambda t: " \n", "the file is empty"),
    (lambda t: t[: len(t) // 2], r"not whole JSON text, truncated or corrupted: .* \(line 1, column \d+\)"),
    (lambda t: t[:-1], "truncated or corrupted"),
    (lambda t: t + "}", "truncated or corrupted: Extra data"),
    (lambda t: "s1,y\n1,2\n", "not a fit that isocal saved"),
    (lambda t: "[1, 2]", "not a fit that isocal saved"),
    (lambda t: "{}", "not a fit that isocal saved"),
    (lambda t: swap(t, "0.5", "NaN"), "NaN is not JSON"),
    (lambda t: swap(t, "0.5", "-Infinity"), "-Infinity is not JSON"),
    (lambda t: swap(t, "0.5", "1e999"), "the number 1e999 is beyond float64"),
    (lambda t: swap(t, "0.5", "0." + "5" * 2_000_000), r"a number of 2,000,002 characters, 0\.5{10}\.\.\.; at"),
    (lambda t: swap(t, "0.5", "5" * 2_000_000), "a number of 2,000,000 characters"),
    (lambda t: swap(t, "0.5", "9" * 30), "beyond 64 bits"),
    (lambda t: swap(t, "0.5", "[" * 100_000), "nested too deeply"),
    (lambda t: swap(t, "0.5", '{"a":' * 100_000), "nested too deeply"),
    (lambda t: swap(t, '"df": 3', '"df": 3, "df": 4'), "the key 'df' stands twice"),
    (lambda t: swap(t, "0.5", '{"$code": "x"}'), r"the mark '\$code' is not understood"),
    (lambda t: swap(t, "0.5", '{"$dict": [[[1], 2]]}'), r"the mark '\$dict' is not understood"),
]


@pytest.mark.parametrize(("spoil", "reason"), TEXTS, ids=range(len(TEXTS)))
def test_a_spoilt_text_is_refused(spoil, reason, tmp_path):
    path = line(tmp_path / "fit.json")
    path.write_text(spoil(path.read_text()))
    with pytest.raises(ValueError, match=reason) as caught:
        isocal.load(path)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


def test_every_truncation_is_refused(tmp_path):
    path = line(tmp_path / "fit.json")
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"fit\.json: "):
            isocal.load(path)


def test_values_of_the_wrong_kind_are_refused_or_harmless(fit, data, tmp_path):
    """Every place of a saved file takes every odd value: refused in one line, or the fit still prints and predicts."""
    path = tmp_path / "fit.json"
    fit.save(path)
    text = path.read_text()
    odd = [None, True, -1, 2.5, 1e308, "x", [], {}, [[1]], {"$float": "nan"}, 10**18]
    harmless = 0
    for way in places(json.loads(text)):
        for value in odd:
            changed = json.loads(text)
            at = changed
            for key in way[:-1]:
                at = at[key]
            at[way[-1]] = value
            path.write_text(json.dumps(changed))
            try:
                res = isocal.load(path)
            except ValueError as error:
                assert str(error).startswith(f"{path}: ") and "\n" not in str(error), (way, value)
            else:
                harmless += 1
                p = res.predict(data[:3])
                assert ((p >= 0) & (p <= 1)).all() and str(res) and isinstance(res.glance(), pd.DataFrame), (way, value)
    assert harmless > 0


def places(value, way=()):
    """Ways to everything inside a JSON value, the first two of each list."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, inside in parts:
        yield (*way, key)
        yield from places(inside, (*way, key))


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "huge.json"
    with open(path, "wb") as file:
        file.truncate(2**30)  # a hole: no room is taken
    with pytest.raises(ValueError, match=r"huge\.json: 1,073,741,824 bytes; files of at most 134,217,728 are read"):
        isocal.load(path)


def test_a_fit_too_large_to_be_read_back_is_not_written(fit, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"the fit takes [\d,]+ bytes, and files of at most 1,000 are read"):
        fit.save(tmp_path / "fit.json")
    assert list(tmp_path.iterdir()) == []


def test_other_bytes_and_other_places(tmp_path):
    path = tmp_path / "fit.json"
    path.write_bytes(b"\x80\x04pickle")
    with pytest.raises(ValueError, match=r"not a fit that isocal saved \(no UTF-8 text\)"):
        isocal.load(path)
    line(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())  # a byte-order mark from an editor
    assert isocal.load(str(path)).nobs == 4
    with pytest.raises(FileNotFoundError, match=r"absent\.json: there is no such file"):
        isocal.load(tmp_path / "absent.json")
    with pytest.raises(IsADirectoryError, match="a folder, not a file"):
        isocal.load(tmp_path)
    with pytest.raises(ValueError, match="not a regular file"):
        isocal.load(os.devnull)

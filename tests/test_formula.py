"""The rules of the formula: what a term is, where names come from, in which order things happen, what is modelled."""

import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import isocal
from isocal.formula import Expression, FormulaError, parse
from isocal.frames import open_frame
from isocal.numerics.moments import gram, moments
from isocal.terms import Terms, read


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    s = rng.random((200, 2))
    y = (rng.random(200) < s.mean(axis=1)).astype(int)
    return pd.DataFrame({"s1": s[:, 0], "s2": s[:, 1], "y": y})


def model(formula, data, **options):
    return isocal.bernstein(formula, data, K=2, **options)


def raw(formula, data, **options):
    return read(formula, data, **options)[2].raw


# --------------------------------------------------------------------------------------------------------------- terms


@pytest.mark.parametrize(
    ("formula", "labels", "names"),
    [
        ("y ~ s1 + s2", ["s1", "s2"], ["s1", "s2"]),
        ("y ~ s1 - 1", ["s1"], ["s1"]),
        ("y ~ s1 + 0", ["s1"], ["s1"]),
        ("y ~ 0 + s1 + s2 - s2", ["s1"], ["s1"]),
        ("y ~ s1 + s1", ["s1"], ["s1"]),
        ("y~ecdf( s1 )+unit(s2)", ["ecdf(s1)", "unit(s2)"], ["s1", "s2"]),
        ("y ~ s1 + ecdf(s1)", ["s1", "ecdf(s1)"], ["s1", "ecdf(s1)"]),
        ("y ~ expit(Q('score 1'))", ["expit(Q('score 1'))"], ["score 1"]),
        ("y ~ unit(ecdf(s1))", ["unit(ecdf(s1))"], ["s1"]),
        ("y ~ I(s1 + s2)", ["I(s1 + s2)"], ["I(s1 + s2)"]),
    ],
)
def test_terms(formula, labels, names):
    parsed = parse(formula)
    assert [t.label for t in parsed.terms] == labels
    assert parsed.names == names
    assert parsed.response == "y"


def test_transforms_are_read_from_the_inside_out():
    (term,) = parse("y ~ unit(ecdf(a))").terms
    assert (term.transforms, term.column, term.code) == (("ecdf", "unit"), "a", None)
    (term,) = parse("y ~ ecdf(a * b)").terms
    assert (term.transforms, term.column, term.code) == (("ecdf",), None, "a * b")


def test_a_plain_column_needs_no_patsy_and_an_expression_does(data, monkeypatch):
    def refuse(*_):
        raise AssertionError("patsy was asked")

    monkeypatch.setattr(Expression, "evaluate", refuse)
    assert np.array_equal(raw("y ~ ecdf(s1) + Q('s2')", data), data[["s1", "s2"]])
    with pytest.raises(AssertionError, match="patsy was asked"):
        raw("y ~ I(s1)", data)


def test_expressions_by_numpy(data):
    assert callable(halve)
    s1, s2 = data.s1.to_numpy(), data.s2.to_numpy()
    for code, expected in (
        ("I(s1 + s2)", s1 + s2),
        ("np.sqrt(s1)", np.sqrt(s1)),
        ("halve(s1)", s1 / 2),
        ("math.pi * s1", math.pi * s1),
        ("s1.clip(0.2, 0.4)", s1.clip(0.2, 0.4)),
        ("abs(s1)", s1),
        ("center(s1)", s1 - s1.mean()),
        ("standardize(s1)", (s1 - s1.mean()) / s1.std()),
        ("np.where(s2 > 0.5, s1, 0)", np.where(s2 > 0.5, s1, 0)),
        ("Q('s1') * 2", s1 * 2),
        ("np.maximum(s1, s2)", np.maximum(s1, s2)),
        ("s1 > s2", (s1 > s2).astype(float)),
    ):
        assert np.allclose(raw(f"y ~ unit({code})", data)[:, 0], expected, rtol=0, atol=1e-14), code


def halve(x):
    return x / 2


# --------------------------------------------------------------------------------------- where names may come from


def test_functions_come_from_the_caller_local_or_global(data):
    def local(x):
        return x**2

    assert callable(local)
    assert np.allclose(read("y ~ unit(local(s1))", data)[2].raw[:, 0], data.s1**2)


def test_a_function_of_a_callers_caller_is_not_found(data):
    def far_away(x):
        return x

    assert callable(far_away)
    with pytest.raises(FormulaError, match="your code has no such function: 'far_away' is not a column"):
        raw_of_far_away(data)


def raw_of_far_away(data):
    return raw("y ~ far_away(s1)", data)


def test_the_callers_function_wins_over_that_of_patsy_and_over_a_column_of_its_name(data):
    def center(x):
        return x + 7

    assert callable(center)
    rows = read("y ~ unit(center(s1))", data.assign(center=0.0))[2]
    assert np.allclose(rows.raw[:, 0], data.s1 + 7)


def test_columns_of_new_rows_never_become_functions(data):
    res = model("y ~ unit(np.log(s1)) + unit(halve(s2))", data).fit()
    assert np.array_equal(res.predict(data.assign(np=0.0, halve=0.0)), res.fittedvalues)


def test_a_transform_of_isocal_wins_over_the_callers_function(data):
    def unit(x):
        raise AssertionError

    assert callable(unit)
    assert model("y ~ unit(s1)", data).terms.labels == ["unit(s1)"]


@pytest.mark.parametrize("formula", ["y ~ s9", "y ~ ecdf(s9)", "y ~ I(s1 * s9)", "y ~ unit(halve(s9))", "s9 ~ s1"])
def test_values_never_come_from_the_caller(data, formula):
    s9 = data.s1.to_numpy()
    assert len(s9)
    with pytest.raises(FormulaError, match=r"'s9' is not a column of data: did you mean 's[12]' or 's[12]'\?"):
        model(formula, data)


def test_values_do_not_come_through_an_attribute_either(data):
    other = data
    assert len(other)
    for formula in ("y ~ unit(other.s1)", "y ~ unit(other.s1.abs())"):
        with pytest.raises(FormulaError, match=r"values come from data only.* 'other' is not a column"):
            raw(formula, data)


def test_names_of_a_subset_come_from_the_data_only(data):
    threshold = 0.5
    assert threshold
    with pytest.raises(FormulaError, match="'threshold' is not a column of data"):
        model("y ~ s1", data, subset="s1 > threshold")
    with pytest.raises(FormulaError, match=r"weights: 'S1' is not a column of data: did you mean 's1'\?"):
        model("y ~ s1", data, weights="S1")


def test_close_matches_ignore_case_and_odd_names_are_quoted():
    frame = pd.DataFrame({"Score_LR": [0.1, 0.9], "score 1": [0.2, 0.3], "y": [0, 1]})
    with pytest.raises(FormulaError, match=r"'score_lr' is not a column of data: did you mean 'Score_LR'"):
        model("y ~ score_lr", frame)
    with pytest.raises(FormulaError, match=r"a name such as 'score 1' is written Q\('score 1'\)"):
        model("y ~ score", frame)
    with pytest.raises(FormulaError, match="the columns are Score_LR, score 1, y"):
        model("y ~ nothing_alike", frame)


def test_odd_names(data):
    odd = data.rename(columns={"s1": "score 1", "y": "is it?"})
    m = model("Q('is it?') ~ Q('score 1') + Q(\"s2\")", odd)
    assert m.terms.names == ["score 1", "s2"]
    assert m.endog_names == "P(is it? = 1)"
    assert np.array_equal(m.fit().predict(odd), model("y ~ s1 + s2", data).fit().predict(data))


def test_columns_named_by_numbers(data):
    numbered = pd.DataFrame(data.to_numpy())
    m = model("Q(2) ~ Q(0) + unit(Q(1))", numbered)
    assert (m.endog_names, m.terms.names) == ("P(2 = 1)", ["0", "1"])
    assert np.array_equal(m.rows.raw, data[["s1", "s2"]])
    with pytest.raises(FormulaError, match=r"'0' is not a column of data: did you mean 0\?"):
        model("Q(2) ~ Q('0')", numbered)
    with pytest.raises(ValueError, match=r"term 'Q\(0\)': a file holds columns with names of text; rename 0"):
        m.terms.to_dict()


# -------------------------------------------------------------------------------------------------- formulas refused


@pytest.mark.parametrize(
    ("formula", "what"),
    [
        ("y ~ s1:s2", r"'s1:s2' is an interaction: write 's1 \+ s2', the fused surface contains every interaction"),
        ("y ~ s1*s2", r"is an interaction: write 's1 \+ s2'"),
        ("y ~ (s1 + s2)**2", "is an interaction"),
        ("y ~ C(g)", "'C\\(g\\)' is categorical: scores are numbers with an order; fit each group by itself"),
        ("y ~ ecdf(C(g))", "is categorical"),
        ("y ~ 1", r"has no scores on the right of ~: write e\.g\. 'y ~ s1 \+ s2'"),
        ("y ~ 0", "has no scores on the right"),
        ("y ~", "cannot be read"),
        ("y ~ s1 +", "cannot be read"),
        ("y ~ ecdf(s1", "cannot be read: unclosed bracket"),
        ("y ~ s1 ~ s2", "cannot be read"),
        ("y ~ `score 1`", r"an odd column name is written Q\('odd name'\), without backticks"),
        ("y ~ score 1", r"'score 1' is not an expression: a column of that name is written Q\('score 1'\)"),
        ("y ~ .", r"'\.' is not an expression: name each score"),
        ("y ~ Q(s1)", r"Q\(\) takes one column name in quotes, Q\('odd name'\)"),
        ("", "needs one response on the left of ~"),
        ("s1", "needs one response on the left of ~"),
        ("~ s1", "needs one response on the left of ~"),
        ("y + z ~ s1", "needs one response on the left of ~"),
        ("I(y == 1) ~ s1", r"the response must be a column, got the expression 'I\(y == 1\)'; make a column of it"),
        ("y ~ s1 + y", "the response 'y' stands on both sides of ~"),
        ("y ~ ecdf(s1 + y)", "the response 'y' stands on both sides of ~"),
        ("y ~ ecdf(s1, s2)", r"ecdf\(\) takes one score and nothing else"),
        ("y ~ unit()", r"unit\(\) takes one score and nothing else"),
        ("y ~ expit(x=s1)", r"expit\(\) takes one score and nothing else"),
        ("y ~ ecdf(1)", "holds no column"),
        ("y ~ 's1'", "holds no column"),
    ],
)
def test_formulas_that_say_what_to_do(formula, what):
    with pytest.raises(FormulaError, match=what):
        parse(formula)


@pytest.mark.parametrize("formula", [None, 3, b"y ~ s1", ["y ~ s1"], pd.DataFrame({"y": [1]})])
def test_a_formula_is_text(formula):
    with pytest.raises(FormulaError, match=r"a formula is a string such as 'y ~ s1 \+ s2' and comes first; got"):
        isocal.bernstein(formula, {"y": [0, 1], "s1": [0.1, 0.9]})


@pytest.mark.parametrize(
    ("formula", "what"),
    [
        ("y ~ bs(s1, df=4)", r"must give one number for each row; got shape \(200, 4\)"),
        ("y ~ np.mean(s1)", r"must give one number for each row; got shape \(\)"),
        ("y ~ I(g)", r"must give one number for each row; got shape \(200,\) of object"),
        ("y ~ nosuch(s1)", "expression 'nosuch\\(s1\\)': your code has no such function"),
        ("y ~ ecdf(s2 + unit(s1))", r"unit\(\) must stand outermost, e\.g\. unit\(s1 \+ s2\)"),
        ("y ~ I(s1 / g)", r"expression 'I\(s1 / g\)' cannot be evaluated: TypeError"),
        ("y ~ np.nosuch(s1)", "cannot be evaluated: AttributeError: module 'numpy' has no attribute 'nosuch'"),
    ],
)
def test_expressions_that_cannot_be(data, formula, what):
    with pytest.raises(FormulaError, match=what):
        raw(formula, data.assign(g="a"))


# --------------------------------------------------------------------------------------- order of evaluation, one mask


def test_expressions_first_then_one_mask_then_transforms_learn_on_the_kept_rows():
    frame = pd.DataFrame(
        {
            "y": [0, 1, 0, 1, np.nan, 1, 0, 1],
            "a": [1.0, 2.0, 3.0, np.nan, 100.0, 6.0, 200.0, -1.0],
            "b": [1.0, 2.0, 4.0, 8.0, 16.0, np.nan, 64.0, 3.0],
            "w": [1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0],
        }
    )
    m = isocal.bernstein("y ~ ecdf(b) + ecdf(np.log(a))", frame, K=1, weights="w")
    # rows left: 0, 1, 2; row 3 misses a, 4 y, 5 b, 6 has no weight, and log(-1) made row 7 missing
    assert m.rows.kept.tolist() == [True, True, True, False, False, False, False, False]
    assert m.rows.dropped == {"zero weight": 1, "missing y": 1, "missing b": 1, "missing ecdf(np.log(a))": 2}
    assert np.allclose(m.rows.raw, np.c_[[1, 2, 4], np.log([1, 2, 3])], rtol=0, atol=1e-15)
    assert m.rows.weights.tolist() == [1.0, 2.0, 1.0]
    for chain in m.terms.chains:
        assert chain[0].cumulated.tolist() == [1.0, 3.0, 4.0]
    assert m.terms.high.tolist() == [4.0, np.log(3.0)]


def test_a_stateful_expression_learns_before_the_mask():
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "a": [1.0, 2.0, 3.0, 6.0]})
    assert raw("y ~ unit(center(a))", frame, subset="a < 5")[:, 0].tolist() == [-2.0, -1.0, 0.0]  # the mean is 3


def test_a_missing_value_in_an_expression_is_left_out_of_what_it_learns():
    frame = pd.DataFrame({"y": [0, 1, 0], "a": [1.0, np.nan, 3.0]})
    assert raw("y ~ unit(center(a))", frame)[:, 0].tolist() == [-1.0, 1.0]


def test_what_is_learned_is_reused_in_predict(data):
    res = model("y ~ ecdf(s1) + unit(center(s2))", data).fit()
    whole = res.predict(data)
    assert np.array_equal(res.fittedvalues, whole)
    assert res.predict(data.iloc[[5]]).iloc[0] == whole.iloc[5]
    assert np.array_equal(res.predict(data.iloc[::-1]), whole[::-1])


def test_expected_scores_in_predict_by_hand(data):
    terms = model("y ~ ecdf(s1) + unit(s2)", data).terms
    new = pd.DataFrame({"s1": [0.3, np.nan, 5.0, -1.0], "s2": [0.6, 0.1, 2.0, np.nan]})
    low, high = data.s2.min(), data.s2.max()
    expected = [
        [(data.s1 <= 0.3).mean(), (0.6 - low) / (high - low)],
        [np.nan, max(0.1 - low, 0) / (high - low)],
        [1.0, 1.0],
        [0.0, np.nan],
    ]
    found = terms.scores(terms.raw(open_frame(new)), "unit")
    assert np.allclose(found, expected, rtol=0, atol=1e-15, equal_nan=True)


def test_terms_through_json_text(data):
    m = model("y ~ ecdf(s1) + expit(s2) + unit(Q('s2'))", data)
    text = json.dumps(m.terms.to_dict())
    back = Terms.from_dict(json.loads(text), "y")
    assert back.parsed == m.terms.parsed
    values = np.asfortranarray(np.random.default_rng(2).normal(size=(50, 3)))
    assert np.array_equal(back.scores(values, "unit"), m.terms.scores(values, "unit"))
    assert np.array_equal(back.extrapolated(values), m.terms.extrapolated(values))


def test_json_refuses_code(data):
    with pytest.raises(ValueError, match=r"term 'unit\(s1 \+ s2\)' is an expression.*make a column of it, e\.g\. data"):
        model("y ~ unit(s1 + s2)", data).terms.to_dict()
    stored = model("y ~ unit(s1)", data).terms.to_dict()
    stored["terms"][0]["transforms"][0][0] = "eval"
    with pytest.raises(ValueError, match="unknown transform 'eval': this isocal knows ecdf, unit, expit"):
        Terms.from_dict(stored, "y")


def test_pickled_expressions_predict_the_same_in_a_fresh_process(data, tmp_path):
    res = model("y ~ unit(center(s1)) + unit(np.log(s2)) + expit(standardize(s1))", data).fit()
    new = data.sample(20, random_state=1) * 1.1
    new.to_pickle(tmp_path / "new.pkl")
    (tmp_path / "res.pkl").write_bytes(pickle.dumps(res))
    code = (
        "import pickle, sys, pathlib, pandas as pd; d = pathlib.Path(sys.argv[1]);"
        "res = pickle.loads((d / 'res.pkl').read_bytes()); res = pickle.loads(pickle.dumps(res));"
        "res.predict(pd.read_pickle(d / 'new.pkl')).to_pickle(d / 'p.pkl')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)
    pd.testing.assert_series_equal(pd.read_pickle(tmp_path / "p.pkl"), res.predict(new), check_exact=True)


# ------------------------------------------------------------------------------------------------ what is modelled

YES_NO = np.array(["yes", "no", "no", "yes"])


@pytest.mark.parametrize(
    ("column", "event", "label", "expected"),
    [
        ([0, 1, 1, 0], None, "P(y = 1)", [0, 1, 1, 0]),
        ([0.0, 1.0, 1.0, 0.0], 0, "P(y = 0)", [1, 0, 0, 1]),
        ([-1, 1, 1, -1], None, "P(y = 1)", [0, 1, 1, 0]),
        ([-1, 1, 1, -1], -1, "P(y = -1)", [1, 0, 0, 1]),
        ([0, 0, 0, 0], None, "P(y = 1)", [0, 0, 0, 0]),
        ([0, 0, 0, 0], 1, "P(y = 1)", [0, 0, 0, 0]),
        ([True, False, False, True], None, "P(y = True)", [1, 0, 0, 1]),
        ([True, False, False, True], False, "P(y = False)", [0, 1, 1, 0]),
        ([1, 2, 2, 1], 2, "P(y = 2)", [0, 1, 1, 0]),
        ([1, 2, 2, 1], np.int64(1), "P(y = 1)", [1, 0, 0, 1]),
        ([0.25, 2, 2, 0.25], 0.25, "P(y = 0.25)", [1, 0, 0, 1]),
        (YES_NO, "yes", "P(y = 'yes')", [1, 0, 0, 1]),
        (YES_NO, np.str_("no"), "P(y = 'no')", [0, 1, 1, 0]),
        (pd.Categorical(YES_NO, ["yes", "no"], ordered=True), None, "P(y = 'no')", [0, 1, 1, 0]),
        (pd.Categorical(YES_NO, ["yes", "no"], ordered=True), "yes", "P(y = 'yes')", [1, 0, 0, 1]),
        (pd.Categorical(["no"] * 4, ["no", "yes"], ordered=True), None, "P(y = 'yes')", [0, 0, 0, 0]),
        (pd.Categorical(["no"] * 4, ["no", "yes"], ordered=True), "yes", "P(y = 'yes')", [0, 0, 0, 0]),
        (pd.Categorical([0, 1, 1, 0], [1, 0], ordered=True), None, "P(y = 0)", [1, 0, 0, 1]),
        (pd.Categorical([1, 2, 2, 1], [1, 2], ordered=True), None, "P(y = 2)", [0, 1, 1, 0]),
        (pd.Categorical(YES_NO), "yes", "P(y = 'yes')", [1, 0, 0, 1]),
    ],
)
def test_events(column, event, label, expected):
    frame = pd.DataFrame({"y": column, "s": [0.1, 0.2, 0.3, 0.4]})
    response, _, rows = read("y ~ s", frame, event=event)
    assert response.label == label
    assert rows.y.tolist() == expected
    assert rows.y.dtype == np.float64


def test_events_of_a_polars_enum():
    frame = pl.DataFrame({"y": pl.Series(YES_NO, dtype=pl.Enum(["no", "yes"])), "s": [0.1, 0.2, 0.3, 0.4]})
    response, _, rows = read("y ~ s", frame)
    assert (response.label, rows.y.tolist()) == ("P(y = 'yes')", [1, 0, 0, 1])


@pytest.mark.parametrize(
    ("column", "event", "what"),
    [
        ([1, 2, 1, 2], None, "response 'y' has the values 1, 2: say which one is the event, event=2"),
        (YES_NO, None, "has the values 'no', 'yes': say which one is the event, event='yes'"),
        (["0", "1", "1", "0"], None, "has the values '0', '1': say which one is the event, event='1'"),
        (pd.Categorical(YES_NO), None, "say which one is the event, event='yes'"),
        (pd.Categorical(YES_NO, ["no", "so", "yes"], ordered=True), None, "say which one is the event"),
        (["a", "a", "a", "a"], None, "has the values 'a': say which one is the event, event='a'"),
        (["a", 1, 1, "a"], None, "say which one is the event"),
        ([0, 1, 2, 1], None, r"has 3 values \(0, 1, 2\): labels are two, .* subset=, or make a column, data\.assign"),
        (["a", "b", "c", "a"], None, r"has 3 values \('a', 'b', 'c'\).*data\.assign\(event=data\['y'\] == 'c'\)"),
        ([0, 1, 2, 1], 2, r"a probability of one event needs two; make a column of it, .*data\['y'\] == 2"),
        ([0.3, 0.1, 0.9, 0.3], None, "3 values from 0.1 to 0.9: labels are 0 and 1 .proportions: one row for each"),
        (YES_NO, "Yes", "event='Yes' is not a value of 'y': its values are 'no', 'yes'"),
        ([0, 1, 1, 0], "1", "event='1' is not a value of 'y': its values are 0, 1"),
        ([0, 1, 1, 0], 2, "event=2 is not a value"),
        ([0, 1, 1, 0], np.nan, "event=nan is not a value"),
        ([0, 1, 1, 0], [1], r"event=\[1\] is not a value"),
        ([0, 1, 1, 0], np.array([1]), r"event=array\(\[1\]\) is not a value"),
        ([[0], [1], [1], [0]], None, "say which one is the event"),
    ],
)
def test_events_that_need_a_word(column, event, what):
    frame = pd.DataFrame({"y": column, "s": [0.1, 0.2, 0.3, 0.4]})
    with pytest.raises(ValueError, match=what):
        read("y ~ s", frame, event=event)


def test_labels_outside_the_subset_or_without_weight_do_not_count():
    frame = pd.DataFrame({"y": [0, 1, 2, 9], "s": [0.1, 0.2, 0.3, 0.4], "w": [1, 1, 1, 0]})
    _, _, rows = read("y ~ s", frame, subset="y != 2", weights="w")
    assert rows.y.tolist() == [0, 1]
    assert rows.dropped == {"not in subset": 1, "zero weight": 1}


# ------------------------------------------------------------------------------------------- subset, weights, missing


@pytest.mark.parametrize(
    "subset",
    [
        "s1 > 0.5",
        "(s1 > 0.5) & (s2 >= 0)",
        "Q('s1') > 0.5",
        "np.abs(s1) > 0.5",
        "g == 'hi'",
        "half == 1",
        lambda d: (d.s1 > 0.5).to_numpy(),
        lambda d: (d.s1 > 0.5).tolist(),
        lambda d: d.s1 > 0.5,
        lambda d: (d.s1 > 0.5).astype("boolean"),
        lambda d: pl.Series((d.s1 > 0.5).to_numpy()),
    ],
)
def test_subsets(data, subset):
    data = data.assign(g=np.where(data.s1 > 0.5, "hi", "lo"), half=(data.s1 > 0.5).astype(int))
    given = subset(data) if callable(subset) else subset
    assert np.array_equal(raw("y ~ s1", data, subset=given)[:, 0], data.s1[data.s1 > 0.5])


def test_where_a_subset_is_missing_the_row_is_outside():
    frame = pd.DataFrame({"y": [0, 1, 1], "s": [0.1, 0.2, 0.3], "age": [20, np.nan, 40]})
    frame["g"] = pd.array(["a", None, "a"], dtype="string")
    for subset in ("age > 30", "g == 'a'", pd.array([True, None, True], dtype="boolean")):
        subset = pd.Series(subset) if not isinstance(subset, str) else subset
        assert read("y ~ s", frame, subset=subset)[2].dropped["not in subset"] == (2 if "age" in str(subset) else 1)


@pytest.mark.parametrize(
    "weights",
    [
        lambda w: "w",
        lambda w: w,
        lambda w: list(w),
        lambda w: pd.Series(w),
        lambda w: pd.Series(w).astype("Float64"),
        lambda w: pl.Series(w),
        lambda w: w.astype(int),
    ],
)
def test_weights(data, weights):
    w = np.arange(200.0) % 4
    rows = read("y ~ s1", data.assign(w=w), weights=weights(w))[2]
    assert rows.w.tolist() == w[w > 0].tolist()
    assert rows.dropped == {"zero weight": 50}
    w[:] = 0
    assert rows.w.max() == 3  # an own copy


def test_weights_of_one_are_no_weights(data):
    assert read("y ~ s1", data, weights=np.ones(200))[2].w is None


def test_a_series_must_have_the_index_of_the_data(data):
    off = pd.Series(np.ones(200), index=np.arange(200) + 1)
    with pytest.raises(ValueError, match=r"weights is a Series whose index differs .* align it, or pass its .to_numpy"):
        model("y ~ s1", data, weights=off)
    with pytest.raises(ValueError, match="subset is a Series whose index differs"):
        model("y ~ s1", data, subset=off > 0)
    twice = data.set_index(np.zeros(200, dtype=int))
    assert read("y ~ s1", twice, weights=twice.s1)[2].w.tolist() == data.s1.tolist()


def test_missing_raise_names_reason_and_row(data):
    data.loc[7, "s2"] = np.nan
    what = r"1 row has a missing s2, the first is row 7 \(counting from 0\); missing='drop' leaves such rows out"
    with pytest.raises(ValueError, match=what):
        model("y ~ s1 + s2", data, missing="raise")
    assert len(model("y ~ s1 + s2", data, missing="drop").rows.y) == 199
    w = np.ones(200)
    w[7] = 0  # a row of zero weight is absent, so that nothing is missing
    assert len(model("y ~ s1 + s2", data, missing="raise", weights=w).rows.y) == 199


# ------------------------------------------------------------------------------------------------------ design matrix


@pytest.mark.parametrize(("formula", "K"), [("y ~ ecdf(s1)", 4), ("y ~ s1 + unit(s2)", (2, 3))])
def test_design_matrix_is_the_design_that_is_fitted(data, formula, K):
    data = data.set_index(pd.Index(np.arange(200) // 2))
    w = np.arange(200) % 3
    m = isocal.bernstein(formula, data, K=K, weights=w)
    design = m.design_matrix()
    s = m.terms.scores(m.rows.raw, "unit")
    K = m.recipe.degrees(s.shape[1])
    by_hand = np.ones((len(s), 1))
    for j, k in enumerate(K):
        b = np.array([math.comb(k, i) * s[:, j] ** i * (1 - s[:, j]) ** (k - i) for i in range(k + 1)]).T
        by_hand = (by_hand[:, :, None] * b[:, None, :]).reshape(len(s), -1)
    assert np.allclose(design, by_hand, rtol=0, atol=1e-14)
    found = moments(s, m.rows.y, m.rows.w, [2 * k for k in K])
    G = design.to_numpy().T @ (m.rows.w[:, None] * design.to_numpy())
    assert np.allclose(gram(found.T0, K), G, rtol=1e-12, atol=1e-12)
    assert design.columns[-1] == f"beta[{','.join(map(str, K))}]"
    assert design.columns.tolist() == list(m.fit().curve.coef())
    assert design.index.equals(data.index[w > 0])

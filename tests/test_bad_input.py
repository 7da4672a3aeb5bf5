"""Every item of the bad-input list: an error a stranger can act on, or a defined answer.

What formulas, columns and events refuse stands in test_formula.py and test_frames.py.
"""

import numpy as np
import pandas as pd
import pytest

import isocal
from isocal import FormulaError
from isocal.methods import Bernstein


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    s = rng.random((100, 2))
    return pd.DataFrame({"s1": s[:, 0], "s2": s[:, 1], "y": (rng.random(100) < s.mean(axis=1)).astype(int)})


def fit(data, formula="y ~ s1 + s2", **options):
    return isocal.bernstein(formula, data, **{"K": 2, **options}).fit()


def refused(what, data, formula="y ~ s1 + s2", error=ValueError, **options):
    with pytest.raises(error, match=what):
        fit(data, formula, **options)


# ---------------------------------------------------------------------------------------------------------------- rows


def test_empty_frame(data):
    refused("data has no rows", data.head(0))


def test_all_rows_missing(data):
    refused("no row is left to fit: 100 missing s1", data.assign(s1=np.nan))
    refused("no row is left to fit: 100 missing s1", data.assign(s1=None))
    refused("no row is left to fit: 100 missing y", data.assign(y=np.nan))
    refused("no row is left to fit: 100 missing y", data.assign(y=None))
    half = np.arange(100) < 50
    refused(
        "no row is left to fit: 50 missing s1, 50 missing s2",
        data.assign(s1=data.s1.mask(half), s2=data.s2.mask(~half)),
    )
    refused("no row is left to fit: 100 not in subset", data, subset="s1 > 2")
    refused(r"no row is left to fit: 100 missing unit\(np\.log\(s1\)\)", -data, "y ~ unit(np.log(s1))", event=-1)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_is_fitted_by_a_constant(data, label):
    res = fit(data.assign(y=label))
    assert np.allclose(res.fittedvalues, label, rtol=0, atol=1e-6)
    assert np.isfinite(res.predict(data)).all()


def test_one_class_of_text_needs_the_word(data):
    refused("response 'y' has the values 'no': say which one is the event, event='no'", data.assign(y="no"))


def test_one_row(data):
    refused("score 's1' is constant", data.head(1))


def test_three_classes_and_proportions(data):
    refused(r"response 'y' has 3 values \(0, 1, 2\).*subset=", data.assign(y=np.arange(100) % 3))
    refused("'y' has 100 values from 0 to 1: labels are 0 and 1 .proportions", data.assign(y=np.linspace(0, 1, 100)))
    refused("has the values 0.3: say which one is the event", data.assign(y=0.3))
    refused("has the values 1, 2: say which one is the event, event=2", data.assign(y=data.y + 1))
    assert fit(data.assign(y=data.y + 1), event=2).predict(data).equals(fit(data).predict(data))


# -------------------------------------------------------------------------------------------------------------- scores


def test_scores_outside_the_unit_interval(data):
    what = r"score 's1' must lie in \[0, 1\], but ranges from -3 to 4: use ecdf\(s1\), unit\(s1\) or expit\(s1\)"
    refused(what, data.assign(s1=np.linspace(-3, 4, 100)))
    wide = data.assign(s1=np.linspace(-3, 4, 100)).rename(columns={"s1": "score 1"})
    refused(r"score 'score 1' must lie .* use ecdf\(Q\('score 1'\)\)", wide, "y ~ Q('score 1')")
    for transform in ("ecdf", "unit", "expit"):
        assert fit(wide, f"y ~ {transform}(Q('score 1'))").nobs == 100


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_scores(data, bad):
    data.loc[[3, 5], "s1"] = bad
    for formula in ("y ~ s1", "y ~ ecdf(s1)", "y ~ unit(s1 + s2)"):
        refused("2 of 100 rows are infinite; replace them by finite values .or NaN", data, formula, FormulaError)
    assert fit(data, subset="abs(s1) < 9").nobs == 98


def test_an_expression_that_becomes_infinite(data):
    data.loc[3, "s1"] = 0.0
    refused(r"term 'unit\(np\.log\(s1\)\)': 1 of 100 rows are infinite", data, "y ~ unit(np.log(s1))", FormulaError)


def test_constant_scores(data):
    refused(r"score 's1' is constant \(one value in every row\): .* leave it out", data.assign(s1=0.3))
    refused("score 's1' is constant", data.assign(s1=7.0), "y ~ ecdf(s1) + s2")
    refused("score 's1' is constant", data.assign(s1=7.0), "y ~ unit(s1) + s2")


def test_duplicated_scores_are_fitted_and_reported(data):
    res = fit(data.assign(s2=data.s1))
    assert "Duplicated" in str(res.summary())
    assert np.isfinite(res.fittedvalues).all()


@pytest.mark.parametrize("dtype", ["str", "object", "string", "category"])
def test_numbers_as_text(data, dtype):
    text = data.assign(s1=data.s1.astype(str).astype(dtype))
    refused(r"column 's1' holds text such as '0\.\d+': .* convert it first, e\.g\. with pandas\.to_numeric", text)
    refused("column 's1' holds text", text, weights="s1")
    refused("has the values '0', '1': say which one is the event, event='1'", data.assign(y=data.y.astype(str)))
    assert fit(data.assign(y=data.y.astype(str)), event="1").nobs == 100


# ------------------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize("K", [0, -1, 2.5, "auto", True, (2, 0), {"s1": "2"}])
def test_degrees_that_are_none(data, K):
    refused("K must be an integer of at least 1, a tuple or a dict by score.*; got", data, K=K)


def test_degrees_that_do_not_fit_the_scores(data):
    refused(r"K has 3 entries for 2 scores: \(2, 2, 2\)", data, K=(2, 2, 2))
    refused("K: 's9' is not a score of this formula; its scores are s1, s2", data, K={"s9": 3})
    refused("monotone: 's9' is not a score of this formula", data, monotone={"s9": "decreasing"})
    refused("monotone is 'increasing', 'decreasing' or 'none'", data, monotone="up")
    refused(r"K=60 with 2 scores makes 3,721 coefficients; at most 3,000 .* use a smaller K", data, K=60)


def test_misspelt_options(data):
    refused("has no option 'k': did you mean 'K'", data, error=TypeError, k=3)
    refused("has no option 'weight': did you mean 'weights'", data, error=TypeError, weight="s1")
    refused("missing must be 'drop' or 'raise'; got 'keep'", data, missing="keep")


@pytest.mark.parametrize(
    ("weights", "what"),
    [
        (np.r_[-1.0, np.ones(99)], r"weights must be finite and >= 0; got -1 in row 0 \(counting from 0\)"),
        (np.r_[1.0, np.inf, np.ones(98)], "weights must be finite and >= 0; got inf in row 1"),
        (np.zeros(100), "weights: no weight is positive, so no row is left"),
        (np.full(100, np.nan), "weights: no weight is positive"),
        (np.ones(3), r"weights has shape \(3,\), but data has 100 rows: give one weight for each row"),
        (np.ones((100, 1)), r"weights has shape \(100, 1\)"),
        (2.0, r"weights has shape \(\), but data has 100 rows"),
        (["a"] * 100, "weights must be numbers, one for each row"),
        (pd.Series(["a"] * 100), "weights holds text such as 'a'"),
        ("nosuch", "weights: 'nosuch' is not a column of data"),
        ("negative", "weights 'negative' must be finite and >= 0; got -1 in row 0"),
    ],
)
def test_weights_that_are_none(data, weights, what):
    refused(what, data.assign(negative=-1.0), weights=weights)


def test_missing_weights_are_missing_rows(data):
    w = np.r_[np.nan, np.ones(99)]
    assert isocal.bernstein("y ~ s1", data, K=2, weights=w).rows.dropped == {"missing weight": 1}
    refused("1 row has a missing weight, the first is row 0", data, weights=w, missing="raise")
    assert fit(data, weights=w).predict(data).equals(fit(data.iloc[1:]).predict(data))


@pytest.mark.parametrize(
    ("subset", "what"),
    [
        ([1, 2, 3], "subset must be one True or False for each of the 100 rows, .* got list"),
        (np.ones(100, dtype=int), "got ndarray of int64"),
        (np.ones(3, dtype=bool), r"got shape \(3,\)"),
        (lambda d: d.s1 > 0.5, "an expression such as 'age > 30'; got function"),
        ("s1", "'s1' gives numbers such as 0"),
        ("s1 >", "'s1 >' is not an expression"),
        ("S1 > 0", "'S1' is not a column of data: did you mean 's1'"),
        ("(s1 > 0) and (s2 > 0)", r"cannot be evaluated: ValueError: The truth value .* ambiguous"),
    ],
)
def test_subsets_that_are_none(data, subset, what):
    refused(what, data, subset=subset)


def test_an_integer_mask_would_be_mistaken_for_positions():
    frame = {"y": [0, 1], "s1": [0.1, 0.9]}
    refused("got ndarray of int64", frame, "y ~ s1", subset=np.array([0, 1]))


# --------------------------------------------------------------------------------------------------------- predictions


def test_predicting_with_a_missing_column(data):
    res = fit(data)
    with pytest.raises(FormulaError, match=r"term 's2': 's2' is not a column of data: did you mean 's1'\?"):
        res.predict(data[["s1"]])
    with pytest.raises(TypeError, match="data must be a DataFrame"):
        res.predict(data.to_numpy())
    with pytest.raises(ValueError, match="column 's1' holds text"):
        res.predict(data.assign(s1="0.5"))


def test_the_response_is_not_needed_and_other_columns_do_not_matter(data):
    res = fit(data)
    for new in (data[["s2", "s1"]], data.assign(y="?", z=[[]] * 100), data[["s1", "s2"]].to_dict("list")):
        assert np.array_equal(res.predict(new), res.fittedvalues)


@pytest.mark.parametrize(
    "formula", ["y ~ s1 + s2", "y ~ ecdf(s1) + unit(s2)", "y ~ unit(np.log(s1)) + unit(center(s2))"]
)
def test_zero_rows_and_one_row(data, formula):
    res = fit(data, formula)
    none = res.predict(data.head(0))
    assert none.shape == (0,) and none.dtype == np.float64
    frame = res.predict_frame(data.head(0))
    assert frame.shape == (0, 3) and frame.columns.tolist() == ["predicted", "extrapolated", "supported"]
    one = res.predict(data.iloc[[42]])
    assert one.index.tolist() == [42]
    assert one.iloc[0] == res.fittedvalues.iloc[42]


def test_missing_and_infinite_scores_and_new_extremes(data):
    res = fit(data, "y ~ s1 + ecdf(s2)")
    low, high = data.min(), data.max()
    new = pd.DataFrame(
        {
            "s1": [np.nan, 0.5, np.inf, -np.inf, 7.0, low.s1, 0.5, 0.5],
            "s2": [0.5, np.nan, 0.5, 0.5, 0.5, low.s2, 9.0, np.inf],
        }
    )
    found = res.predict_frame(new)
    assert found.predicted.isna().tolist() == [True, True] + [False] * 6
    assert found.extrapolated.tolist() == [False, False, True, True, True, False, True, True]
    edge = res.predict(pd.DataFrame({"s1": [1.0, 0.0, 1.0, 0.5], "s2": [0.5, 0.5, 0.5, high.s2]}))
    assert found.predicted[[2, 3, 4]].tolist() == edge[:3].tolist()  # clipped to the domain
    assert found.predicted[6] == found.predicted[7] == edge[3]
    assert found.predicted.dropna().between(0, 1).all()


def test_an_expression_of_new_missing_values(data):
    res = fit(data, "y ~ unit(np.sqrt(s1)) + s2")
    new = data.assign(s1=np.r_[np.nan, -1.0, data.s1[2:]])
    p = res.predict(new)
    assert p.isna().tolist() == [True, True] + [False] * 98
    assert np.array_equal(p[2:], res.fittedvalues[2:])
    assert res.predict(new.iloc[:2]).isna().all()


def test_duplicated_and_odd_indexes_come_back(data):
    res = fit(data)
    pairs = pd.MultiIndex.from_product([range(10), list("abcdefghij")])
    for index in ([0] * 100, pd.date_range("2020", periods=100), pairs):
        odd = data.set_axis(index, axis=0)
        assert res.predict(odd).index.equals(odd.index)
        again = fit(odd.assign(s1=odd.s1.mask(np.arange(100) == 3)))
        assert again.fittedvalues.index.equals(odd.index.delete(3))
        assert again.resid.index.equals(odd.index.delete(3))


# ---------------------------------------------------------------------------------------------------------- array door


@pytest.mark.parametrize(
    ("s", "y", "w", "what"),
    [
        (np.zeros((0, 1)), np.zeros(0), None, "there are no rows"),
        ([[0.1], [np.nan]], [0, 1], None, "scores must be finite; leave rows with missing or infinite scores out"),
        ([[0.1], [2.0]], [0, 1], None, r"score 1 must lie in \[0, 1\], but ranges from 0\.1 to 2: map it"),
        ([[0.1], [0.2]], [1, 2], None, "y must hold 0 and 1 only; got 2"),
        ([[0.1], [0.2]], [0, np.nan], None, "y must hold 0 and 1 only; got nan"),
        ([[0.1], [0.2]], [0, 1, 1], None, r"s must be \(n, M\), y and w \(n,\); got s \(2, 1\), y \(3,\)"),
        ([[0.1], [0.2]], [0, 1], [1, -1], "weights must be finite and >= 0"),
        ([[0.1], [0.2]], [0, 1], [0, 0], "at least one must be positive"),
        ([[0.1], [0.1]], [0, 1], None, "score 1 is constant"),
        (np.random.default_rng(0).random((9, 6)), np.arange(9) % 2, None, "takes at most 5 scores, got 6"),
    ],
)
def test_arrays_that_cannot_be_fitted(s, y, w, what):
    with pytest.raises(ValueError, match=what):
        Bernstein(K=1).fit_arrays(s, y, w)

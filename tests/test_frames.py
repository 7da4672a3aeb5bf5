"""Columns of every kind as float64, and what comes back to the caller."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isocal import frames

HALVES = [0.5, None, 0.25]
NUMBER_COLUMNS = {
    "float64": pd.Series([0.5, np.nan, 0.25]),
    "float32": pd.Series([0.5, np.nan, 0.25], dtype="float32"),
    "float16": pd.Series([0.5, np.nan, 0.25], dtype="float16"),
    "longdouble": pd.Series(np.array([0.5, np.nan, 0.25], dtype=np.longdouble)),
    "sparse": pd.Series(pd.arrays.SparseArray([0.5, np.nan, 0.25])),
    "Float64": pd.Series([0.5, pd.NA, 0.25], dtype="Float64"),
    "arrow double": pd.Series(HALVES, dtype="double[pyarrow]"),
    "arrow decimal": pd.Series([Decimal("0.50"), None, Decimal("0.25")], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    "object None": pd.Series([0.5, None, 0.25], dtype=object),
    "object NA": pd.Series([0.5, pd.NA, 0.25], dtype=object),
    "object NaT": pd.Series([0.5, pd.NaT, 0.25], dtype=object),
    "Decimal": pd.Series([Decimal("0.5"), None, Decimal("0.25")]),
    "Decimal NaN": pd.Series([Decimal("0.5"), Decimal("NaN"), Decimal("0.25")]),
    "polars": pl.Series(HALVES),
    "polars f32": pl.Series(HALVES, dtype=pl.Float32),
    "polars NaN": pl.Series([0.5, float("nan"), 0.25]),
    "polars decimal": pl.Series([Decimal("0.50"), None, Decimal("0.25")]),
    "polars object": pl.Series([Decimal("0.50"), None, 0.25], dtype=pl.Object),
    "pyarrow": pa.chunked_array([pa.array([0.5, None]), pa.array([0.25])]),
    "pyarrow decimal": pa.chunked_array([pa.array([Decimal("0.50"), None, Decimal("0.25")])]),
}
WHOLE_COLUMNS = {
    "Int64": pd.Series([1, pd.NA, 0], dtype="Int64"),
    "UInt8": pd.Series([1, pd.NA, 0], dtype="UInt8"),
    "boolean": pd.Series([True, pd.NA, False], dtype="boolean"),
    "arrow bool": pd.Series([True, None, False], dtype="bool[pyarrow]"),
    "arrow int": pd.Series([1, None, 0], dtype="int64[pyarrow]"),
    "object bool": pd.Series([True, None, False], dtype=object),
    "polars int": pl.Series([1, None, 0]),
    "polars bool": pl.Series([True, None, False]),
    "pyarrow int": pa.chunked_array([[1, None, 0]]),
    "pyarrow bool": pa.chunked_array([[True, None, False]]),
}


def frame_of(column):
    if isinstance(column, pl.Series):
        return frames.open_frame(pl.DataFrame({"x": column}))
    if isinstance(column, pa.ChunkedArray):
        return frames.open_frame(pa.table({"x": column}))
    return frames.open_frame(pd.DataFrame({"x": column}))


@pytest.mark.parametrize("kind", NUMBER_COLUMNS)
def test_numbers_of_every_kind(kind):
    found = frames.numbers(frame_of(NUMBER_COLUMNS[kind]), "x")
    assert found.dtype == np.float64
    assert np.array_equal(found, [0.5, np.nan, 0.25], equal_nan=True)


@pytest.mark.parametrize("kind", WHOLE_COLUMNS)
def test_whole_numbers_and_booleans_of_every_kind(kind):
    frame = frame_of(WHOLE_COLUMNS[kind])
    assert np.array_equal(frames.numbers(frame, "x"), [1.0, np.nan, 0.0], equal_nan=True)
    found = frames.labels(frame, "x")
    assert np.array_equal(found.values, [1.0, np.nan, 0.0], equal_nan=True)
    assert found.missing.tolist() == [False, True, False]
    assert found.kind == ("bool" if "bool" in kind else "number")


@pytest.mark.parametrize(
    "column", [pd.Series([None, None], dtype=object), pl.Series([None, None]), pa.chunked_array([pa.nulls(2)])]
)
def test_a_column_of_nulls_is_all_missing(column):
    assert np.isnan(frames.numbers(frame_of(column), "x")).all()
    assert frames.labels(frame_of(column), "x").missing.all()


TEXT = {
    "object": pd.Series(["a", None, "b"], dtype=object),
    "object NA": pd.Series(["a", pd.NA, "b"], dtype=object),
    "string": pd.Series(["a", pd.NA, "b"], dtype="string"),
    "str": pd.Series(["a", None, "b"], dtype="str"),
    "arrow string": pd.Series(["a", None, "b"], dtype="string[pyarrow]"),
    "ArrowDtype": pd.Series(["a", None, "b"], dtype=pd.ArrowDtype(pa.string())),
    "category": pd.Series(["a", None, "b"], dtype="category"),
    "polars": pl.Series(["a", None, "b"]),
    "polars categorical": pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "pyarrow": pa.chunked_array([["a", None, "b"]]),
    "pyarrow dictionary": pa.chunked_array([pa.array(["a", None, "b"]).dictionary_encode()]),
}


@pytest.mark.parametrize("kind", TEXT)
def test_text_of_every_kind(kind):
    found = frames.labels(frame_of(TEXT[kind]), "x")
    assert found.kind == "text"
    assert found.levels is None
    assert found.missing.tolist() == [False, True, False]
    assert found.values[[0, 2]].tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="column 'x' holds text such as 'a': scores and weights must be numbers"):
        frames.numbers(frame_of(TEXT[kind]), "x")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["lo", "hi"], ["hi", "lo"], ordered=True)),
        pl.Series(["lo", "hi"], dtype=pl.Enum(["hi", "lo"])),
    ],
)
def test_levels_of_ordered_factors(column):
    assert frames.labels(frame_of(column), "x").levels == ["hi", "lo"]


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pd.Series(pd.date_range("2020", periods=2)), "holds Timestamp values such as .* make a numeric column of it"),
        (pd.Series([0.5, datetime.date(2020, 1, 1)]), "holds date values"),
        (pd.Series([0.5 + 1j, 0.1]), "holds complex values"),
        (pd.Series([[0.5], [0.1]]), "holds list values"),
        (pd.Series([0.5, 0.1]).astype("category"), r"is categorical: .* with \.astype\(float\)"),
        (pd.Series([0.5, "0.1"]), r"holds text such as '0\.1': .* with pandas\.to_numeric"),
        (pl.Series([datetime.date(2020, 1, 1)]), "holds date values"),
    ],
)
def test_columns_that_hold_no_numbers(column, what):
    with pytest.raises(ValueError, match=f"column 'x' {what}"):
        frames.numbers(frame_of(column), "x")


def test_data_that_is_no_frame():
    for bad, what in (
        (np.zeros((2, 2)), r"got numpy\.ndarray: wrap it, e\.g\. pandas\.DataFrame"),
        (None, "got NoneType"),
        ("s1", "got str"),
        (pd.Series([1.0]), r"got pandas\.Series"),
        (pl.LazyFrame({"x": [1.0]}), r"got polars\.LazyFrame: call \.collect\(\) first"),
    ):
        with pytest.raises(TypeError, match=what):
            frames.open_frame(bad)


def test_dicts_of_columns():
    assert frames.numbers(frames.open_frame({"x": [1, 2]}), "x").tolist() == [1.0, 2.0]
    for bad in ({"x": [1, 2], "z": [1]}, {"x": 1.0}):
        with pytest.raises(ValueError, match="a dict must hold columns of one length"):
            frames.open_frame(bad)


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1.0, 2.0]], columns=["x", "x"]),
        pa.table([pa.array([1.0]), pa.array([2.0])], names=["x", "x"]),
    ],
)
def test_two_columns_of_one_name(data):
    with pytest.raises(ValueError, match="column names must be unique; 'x' appears more than once: rename one"):
        frames.open_frame(data)


def test_what_comes_back_is_of_the_callers_library():
    values = np.array([0.5, np.nan])
    index = pd.Index(["b", "b"])
    back = frames.series(values, "p", frames.open_frame(pd.DataFrame({"x": [1]})), index)
    pd.testing.assert_series_equal(back, pd.Series([0.5, np.nan], index=index, name="p"))
    back = frames.series(values, "p", frames.open_frame(pl.DataFrame({"x": [1]})))
    assert isinstance(back, pl.Series) and back.to_list() == [0.5, None] and back.name == "p"
    back = frames.series(values, "p", frames.open_frame(pa.table({"x": [1]})))
    assert isinstance(back, pa.ChunkedArray) and back.to_pylist() == [0.5, None]


def test_tables_and_columns_beside_a_frame():
    columns = {"p": np.array([0.5, np.nan]), "far": np.array([True, False])}
    for data in (pd.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [1, 2]}), pa.table({"x": [1, 2]})):
        frame = frames.open_frame(data)
        assert type(frames.table(columns, frame)) is type(data)
        both = frames.beside(frame, columns)
        assert type(both) is type(data)
        both = both if isinstance(both, pd.DataFrame) else frames.open_frame(both).to_pandas()
        assert both.columns.tolist() == ["x", "p", "far"]
        assert both.far.tolist() == [True, False]
        assert both.p.isna().tolist() == [False, True]
        assert frames.open_frame(data).columns == ["x"]

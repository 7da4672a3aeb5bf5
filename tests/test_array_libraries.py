"""The same fit and the same predictions from every data frame library and column type."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isocal
from isocal.terms import read

FORMULA = "y ~ ecdf(s1) + s2"


@pytest.fixture(scope="module")
def data():
    """Scores of multiples of 1/64, so that every column type holds the same numbers; two missing."""
    rng = np.random.default_rng(2)
    s = rng.integers(0, 65, (150, 2)) / 64
    frame = pd.DataFrame({"y": (rng.random(150) < s.mean(axis=1)).astype(int), "s1": s[:, 0], "s2": s[:, 1]})
    return frame.assign(s1=frame.s1.mask(frame.index == 3), s2=frame.s2.mask(frame.index == 140))


def as_decimal(column):
    return pd.Series([None if np.isnan(v) else Decimal(float(v)) for v in column], index=column.index, dtype=object)


FRAMES = {
    "float32": lambda d: d.astype({"s1": "float32", "s2": "float32"}),
    "Float64": lambda d: d.astype({"y": "Int64", "s1": "Float64", "s2": "Float64"}),
    "boolean": lambda d: d.astype({"y": "boolean"}),
    "arrow": lambda d: d.convert_dtypes(dtype_backend="pyarrow"),
    "object": lambda d: d.astype(object).where(d.notna(), None),
    "NA": lambda d: d.astype(object).where(d.notna(), pd.NA),
    "Decimal": lambda d: d.assign(y=as_decimal(d.y), s1=as_decimal(d.s1), s2=as_decimal(d.s2)),
    "reversed columns": lambda d: d[["s2", "s1", "y"]],
    "C order": lambda d: pd.DataFrame(np.ascontiguousarray(d.to_numpy()), columns=d.columns),
    "duplicated index": lambda d: d.set_axis([7] * len(d), axis=0),
    "dict": lambda d: d.to_dict("list"),
    "dict of arrays": lambda d: {c: d[c].to_numpy() for c in d},
    "polars": lambda d: pl.from_pandas(d),
    "polars NaN": lambda d: pl.DataFrame({c: d[c].to_numpy() for c in d}),
    "polars f32": lambda d: pl.from_pandas(d).with_columns(pl.col("s1", "s2").cast(pl.Float32)),
    "polars chunks": lambda d: pl.concat([pl.from_pandas(d[:70]), pl.from_pandas(d[70:])], rechunk=False),
    "pyarrow": lambda d: pa.Table.from_pandas(d),
    "pyarrow chunks": lambda d: pa.concat_tables([pa.Table.from_pandas(d[:70]), pa.Table.from_pandas(d[70:])]),
}


@pytest.mark.parametrize("library", FRAMES)
def test_every_library_gives_the_same_rows_fit_and_predictions(data, library):
    expected = isocal.bernstein(FORMULA, data, K=3).fit()
    other = FRAMES[library](data)
    res = isocal.bernstein(FORMULA, other, K=3).fit()
    for rows in (res.rows, expected.rows):
        assert np.array_equal(rows.raw, data[["s1", "s2"]].dropna())
        assert rows.dropped == {"missing s1": 1, "missing s2": 1}
    assert np.array_equal(res.curve.beta, expected.curve.beta)
    for new in (other, data):  # and a fit predicts rows of another library
        found = np.asarray(pd.Series(list(res.predict(new)), dtype=object).map(plain), dtype=float)
        assert np.array_equal(found, expected.predict(data), equal_nan=True)
    assert np.isnan(expected.predict(data)).to_numpy().nonzero()[0].tolist() == [3, 140]


def plain(value):
    value = value.as_py() if hasattr(value, "as_py") else value
    return np.nan if value is None else value


@pytest.mark.parametrize(
    ("make", "series", "frame"),
    [
        (lambda d: d, pd.Series, pd.DataFrame),
        (lambda d: d.to_dict("list"), pd.Series, pd.DataFrame),
        (pl.from_pandas, pl.Series, pl.DataFrame),
        (pa.Table.from_pandas, pa.ChunkedArray, pa.Table),
    ],
)
def test_results_come_back_in_the_callers_library(data, make, series, frame):
    res = isocal.bernstein(FORMULA, make(data), K=2).fit()
    for back, rows in ((res.predict(make(data)), 150), (res.fittedvalues, 148), (res.resid, 148)):
        assert isinstance(back, series)
        assert len(back) == rows
    for back, rows in ((res.predict_frame(make(data)), 150), (res.predict_frame(), 148), (res.augment(), 150)):
        assert isinstance(back, frame)
        assert len(back) == rows
    assert len(res.predict(make(data.head(0)))) == 0
    p = res.predict(make(data))
    nulls = p.isna().sum() if isinstance(p, pd.Series) else p.null_count() if isinstance(p, pl.Series) else p.null_count
    assert nulls == 2


@pytest.mark.parametrize("library", ["arrow", "polars", "pyarrow"])
def test_text_weights_and_subsets_of_every_library(data, library):
    labelled = data.assign(y=np.where(data.y == 1, "yes", "no"), w=np.arange(150.0) % 3, g=["a", "b", "c"] * 50)
    labelled.loc[5, ["y", "g"]] = None
    response, _, rows = read(FORMULA, FRAMES[library](labelled), event="yes", weights="w", subset="g != 'b'")
    used = labelled[(labelled.g != "b") & labelled.g.notna()]
    used = used[used.w > 0].dropna(subset=["y", "s1", "s2"])
    assert response.label == "P(y = 'yes')"
    assert np.array_equal(rows.raw, used[["s1", "s2"]])
    assert np.array_equal(rows.y, (used.y == "yes").astype(float))
    assert np.array_equal(rows.w, used.w)
    expression = read("y ~ unit(s1 + s2)", FRAMES[library](data))[2].raw[:, 0]
    assert np.array_equal(expression, (data.s1 + data.s2).dropna())


def test_the_callers_data_is_never_written_to(data):
    before = data.copy()
    arrays = {c: data[c].dropna().to_numpy()[:100].copy() for c in data}
    for a in arrays.values():
        a.setflags(write=False)
    m = isocal.bernstein("y ~ s1 + unit(s2)", arrays, K=2, weights=np.ones(100))
    m.fit().summary()
    assert not np.shares_memory(m.rows.raw, arrays["s1"])
    assert not np.shares_memory(m.rows.y, arrays["y"])
    isocal.bernstein("y ~ ecdf(s1) + unit(s2 + s1)", data, K=2).fit().augment()
    pd.testing.assert_frame_equal(data, before)

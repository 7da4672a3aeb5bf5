"""The one file that knows data frames (through narwhals): columns in as float64 arrays, series and frames out."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd


def open_frame(data):
    """A narwhals view of an eager frame of any library; a mapping of columns becomes a pandas frame."""
    if isinstance(data, Mapping):
        try:
            data = pd.DataFrame(dict(data))
        except ValueError as error:
            shape = "a dict must hold columns of one length, {'s1': [0.2, 0.7], 's2': [0.1, 0.9]}"
            raise ValueError(f"data: {shape}: {error}") from None
    names = data.columns if isinstance(data, pd.DataFrame) else pd.Index(getattr(data, "column_names", []))
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise ValueError(f"data: column names must be unique; {twice!r} appears more than once: rename one of them")
    try:
        return nw.from_native(data, eager_only=True)
    except TypeError:
        kind = f"{type(data).__module__.split('.')[0]}.{type(data).__name__}".removeprefix("builtins.")
        raise TypeError(f"data must be a DataFrame (pandas, polars, pyarrow, ...) or a dict of columns; "
                        f"got {kind}: {_eager(data)}") from None  # fmt: skip


def _eager(data):
    """How to make a frame of something that is none."""
    ways = [f"call .{name}() first" for name in ("compute", "collect") if hasattr(data, name)]
    return ways[0] if ways else "wrap it, e.g. pandas.DataFrame({'s1': ..., 'y': ...})"


def numbers(frame, name):
    """A column as a float64 array, missing values as NaN, which may share the caller's memory: never write to it.

    Text, dates and complex numbers are errors.
    """
    return _floats(_column(frame, name), f"column {name!r}")


def _column(frame, name):
    return frame.get_column(name)  # frame[0] would be a row, and names may be numbers


def vector(values, what):
    """An array or Series of any library as float64 numbers, missing values as NaN; see `numbers`."""
    column = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return _floats(column, what)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers, one for each row: {error}") from None


def flags(values, what):
    """An array or Series of any library as a bool array, missing as False; None where it holds no booleans."""
    column = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return _floats(column, what) == 1.0 if column.dtype == nw.Boolean else None
    values = np.asarray(values)
    return values if values.dtype == bool else None


def _floats(column, what):
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype == nw.Unknown:  # e.g. sparse columns
        values = np.asarray(column.to_numpy())
        if values.dtype.kind in "fiub":
            return values.astype(np.float64)
    values, missing = _objects(column)
    present = values[~missing]
    bad = next((v for v in present if not isinstance(v, Real | Decimal | np.bool_)), None)
    if bad is not None or (len(present) and dtype in (nw.Categorical, nw.Enum)):
        raise ValueError(f"{what} {_kind(dtype, bad)}")
    out = np.full(len(values), np.nan)
    out[~missing] = present.astype(np.float64)
    return out


def _kind(dtype, bad):
    """What is wrong with a column that holds no numbers, and what to do."""
    rule = "scores and weights must be numbers"
    if isinstance(bad, str):
        return f"holds text such as {bad!r}: {rule}; convert it first, e.g. with pandas.to_numeric"
    if bad is None:
        return f"is categorical: {rule}; convert it first, e.g. with .astype(float)"
    return f"holds {type(bad).__name__} values such as {bad!r}: {rule}; make a numeric column of it"


def _objects(column):
    """(values as Python objects (n,), missing (n,))."""
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_list()
    return values, _missing(values)


def _missing(values):
    """None, NaN, NaT and NA of any library."""
    return np.asarray(pd.isna(values), dtype=bool)


def anything(frame, name):
    """(values, missing) of a column: numbers where it holds numbers, else dates or Python objects."""
    column = _column(frame, name)
    if column.dtype.is_temporal():
        values = np.asarray(column.to_numpy())
        return values, _missing(values)
    try:
        values = numbers(frame, name)
    except ValueError:
        return _objects(column)
    return values, np.isnan(values)


@dataclass(frozen=True)
class Labels:
    """A response column: values (n,), missing (n,) mask, kind "number", "bool" or "text", levels if ordered."""

    values: np.ndarray
    missing: np.ndarray
    kind: str
    levels: list | None


def labels(frame, name):
    """A response column as Labels; numbers and booleans come as float64."""
    column = _column(frame, name)
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        values = numbers(frame, name)
        return Labels(values, np.isnan(values), "bool" if column.dtype == nw.Boolean else "number", None)
    levels = list(column.dtype.categories) if isinstance(column.dtype, nw.Enum) else None
    values, missing = _objects(column)
    present = values[~missing]
    for kind, types in (("bool", bool | np.bool_), ("number", Real | Decimal)):
        if len(present) and all(isinstance(v, types) for v in present):
            return Labels(np.where(missing, np.nan, values).astype(np.float64), missing, kind, levels)
    return Labels(values, missing, "text", levels)


def index_of(data):
    """The pandas index of the caller's rows, or None for libraries without one."""
    return data.index if isinstance(data, pd.DataFrame | pd.Series) else None


def series(values, name, like, index=None):
    """A float64 series in the library of the narwhals frame `like`; NaN becomes null where there is an own null."""
    if isinstance(like.to_native(), pd.DataFrame):
        return pd.Series(values, index=index, name=name)
    return nw.from_native(table({name: values}, like), eager_only=True)[name].to_native()


def table(columns, like, index=None):
    """A frame of the caller's library from {name: array}."""
    if isinstance(like.to_native(), pd.DataFrame):
        return pd.DataFrame(columns, index=index)
    made = nw.from_dict(columns, backend=like.implementation)
    floats = [c for c in made.columns if made[c].dtype == nw.Float64 and np.isnan(columns[c]).any()]
    return made.with_columns(*(nw.when(~nw.col(c).is_nan()).then(nw.col(c)).alias(c) for c in floats)).to_native()


def beside(frame, columns):
    """The caller's frame with further columns."""
    if isinstance(frame.to_native(), pd.DataFrame):
        return frame.to_native().assign(**columns)
    made = nw.from_native(table(columns, frame), eager_only=True)
    return frame.with_columns(*(made[c] for c in made.columns)).to_native()

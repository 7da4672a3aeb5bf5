"""The one file that knows data frames (through narwhals): columns in as float64 arrays, series and frames out."""

import numbers as numbers_abc
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd


def open_frame(data):
    """A narwhals view of an eager frame of any library; a mapping of columns becomes a pandas frame."""
    if isinstance(data, Mapping):
        data = pd.DataFrame(dict(data))
    if isinstance(data, pd.DataFrame) and not data.columns.is_unique:
        twice = data.columns[data.columns.duplicated()][0]
        raise ValueError(f"data: column names must be unique; {twice!r} appears more than once: rename one of them")
    try:
        return nw.from_native(data, eager_only=True)
    except TypeError:
        remedy = "call .collect() first" if hasattr(data, "collect") else "wrap it, e.g. pandas.DataFrame({'s': ...})"
        kind = f"{type(data).__module__.split('.')[0]}.{type(data).__name__}"
        raise TypeError(f"data must be a DataFrame (pandas, polars, pyarrow, ...) or a dict of columns; "
                        f"got {kind}: {remedy}") from None  # fmt: skip


def numbers(frame, name):
    """A column as its own float64 array, missing values as NaN; text, dates and complex numbers are errors."""
    column = frame[name]
    dtype = column.dtype
    if dtype == nw.Object:
        values = column.to_numpy()
        bad = next((v for v in values if isinstance(v, (str, bytes, complex))), None)
        if bad is None:
            return np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        raise ValueError(f"column {name!r} holds {type(bad).__name__} values such as {bad!r}: {_TO_NUMBERS}")
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    example = next((v for v in column.to_numpy() if isinstance(v, str)), None)
    text = f" holds text such as {example!r}" if example is not None else f" has type {dtype}"
    raise ValueError(f"column {name!r}{text}: {_TO_NUMBERS}")


_TO_NUMBERS = "scores and weights must be numbers; convert it first, e.g. with pandas.to_numeric"


@dataclass(frozen=True)
class Labels:
    """A response column: values (n,), missing (n,) mask, kind "number", "bool" or "text", levels if ordered."""

    values: np.ndarray
    missing: np.ndarray
    kind: str
    levels: list | None


def labels(frame, name):
    """A response column as Labels; numbers and booleans come as float64."""
    column = frame[name]
    missing = column.is_null().to_numpy()
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        values = np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return Labels(values, missing | np.isnan(values), "bool" if column.dtype == nw.Boolean else "number", None)
    values = np.array(column.to_numpy(), dtype=object)
    missing = missing | np.array([v is None or v != v for v in values], dtype=bool)
    present = values[~missing]
    for kind, types in (("bool", bool | np.bool_), ("number", numbers_abc.Real | Decimal)):
        if len(present) and all(isinstance(v, types) for v in present):
            return Labels(np.where(missing, np.nan, values).astype(np.float64), missing, kind, None)
    levels = list(column.dtype.categories) if isinstance(column.dtype, nw.Enum) else None
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

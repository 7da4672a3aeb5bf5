"""Tables of values of methods on data sets, wide or long, as one frame of numbers."""

import numpy as np
import pandas as pd

from .. import frames
from ..formula import require_column


def read_table(table, dataset=None, method=None, value=None):
    """(values (N, k) as a DataFrame, notes) of a wide table, or of a long one whose three columns are named."""
    frame = frames.open_frame(table)
    given = {"dataset": dataset, "method": method, "value": value}
    for what, column in given.items():
        if column is not None:
            require_column(frame, column, what)
    if (method is None) != (value is None) or (method is not None and dataset is None):
        missing = next(what for what, column in given.items() if column is None)
        raise ValueError(f"a long table needs dataset=, method= and value=, its columns; {missing}= is missing")
    found, notes = _wide(frame, table, dataset) if method is None else _pivoted(frame, dataset, method, value)
    _check(found)
    return found, notes


def _wide(frame, table, dataset):
    columns = [c for c in frame.columns if c != dataset]
    index = frames.index_of(table) if dataset is None else pd.Index(_labels(frame, dataset), name=dataset)
    found = pd.DataFrame({str(c): _numbers(frame, c, dataset is None) for c in columns})
    found.index = pd.RangeIndex(len(frame)) if index is None else index
    return found, ()


def _pivoted(frame, dataset, method, value):
    long = pd.DataFrame({
        "dataset": _labels(frame, dataset), "method": _labels(frame, method), "value": _numbers(frame, value, False)
    })  # fmt: skip
    if long.value.isna().any():
        row = long[long.value.isna()].iloc[0]
        raise ValueError(f"{value!r} of method {row.method!r} on data set {row.dataset!r} is missing: {REMEDY}")
    cells = long.groupby(["dataset", "method"], sort=False).value
    found = cells.mean().unstack("method")[list(dict.fromkeys(long.method))]
    found = found.loc[list(dict.fromkeys(long.dataset))].rename_axis(columns=None)
    fewest, most = int(cells.size().min()), int(cells.size().max())
    count = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return found, (f"Each value is the mean of {count} rows.",) if most > 1 else ()


REMEDY = "every method needs a value on every data set; drop the data set or the method"


def _labels(frame, column):
    values, missing = frames.anything(frame, column)
    if missing.any():
        raise ValueError(f"column {column!r} has no name in row {int(np.argmax(missing))} (counting from 0)")
    return [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in values]


def _numbers(frame, column, may_name):
    try:
        return frames.numbers(frame, column)
    except ValueError:
        remedy = f"; if it names the data sets, say dataset={column!r}" if may_name else ""
        raise ValueError(f"column {column!r} must hold numbers, one for each data set{remedy}") from None


def _check(found):
    N, k = found.shape
    if k < 2:
        raise ValueError(f"rank_test() compares two methods or more; the table has {k}")
    if N < 2:
        raise ValueError(f"rank_test() needs two data sets or more, one a row; the table has {N}")
    for kind, wrong in (("missing", found.isna().to_numpy()), ("infinite", np.isinf(found.to_numpy()))):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            more = f" ({int(wrong.sum())} cells are)" if wrong.sum() > 1 else ""
            raise ValueError(
                f"the value of method {found.columns[j]!r} on data set {found.index[i]!r} is {kind}{more}: {REMEDY}"
            )

"""CSV and Parquet files in and out. What is passed through from CSV to CSV stays the text it was."""

import csv
import gzip
import io
import re
import sys
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path

import pandas as pd

from .. import store

ENDINGS = (".csv", ".csv.gz", ".parquet")
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
WIDE = 1000  # above so many columns only those needed are split off, and the length of rows is not checked
DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")


def ending(path):
    """Which of ENDINGS a path has; another one is an error."""
    found = [e for e in ENDINGS if str(path).lower().endswith(e)]
    if not found:
        raise ValueError(f"{path}: the name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    return found[-1]


def open_table(path, wanted=()):
    """The table in a file, with its columns known and nothing else read; `wanted` names help to find the delimiter."""
    kind, place = ending(path), Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{path}: a folder, not a file")
    if not place.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if kind == ".parquet":
        return Parquet(path, _parquet_columns(path))
    try:
        return _open_csv(path, wanted)
    except UnicodeDecodeError as error:
        byte = f"{error.object[error.start]:#x}"
        raise ValueError(f"{path}: not UTF-8 text (byte {byte}): save it as UTF-8 first") from None
    except (csv.Error, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None


def _open_csv(path, wanted):
    header, first = _first_rows(path, ",")
    delimiter = ","
    if not set(wanted) <= set(header):
        for other in list(DELIMITERS)[1:]:
            try:
                found = _first_rows(path, other)
            except csv.Error:  # the line as one field is too long: surely not this delimiter
                continue
            if set(wanted) <= set(found[0]) or (len(found[0]) > len(header) and not set(wanted) <= set(header)):
                delimiter, (header, first) = other, found
    if not header:
        raise ValueError(f"{path}: the file is empty")
    if len(first) > len(header):
        raise ValueError(f"{path}: the header names {len(header)} columns, but the first row has {len(first)} fields")
    if delimiter != ",":
        _note(f"{path}: read as columns separated by {DELIMITERS[delimiter]}")
    return Csv(path, header, delimiter)


def _first_rows(path, delimiter):
    """The header and the row below it, [] where there is none."""
    rows = (row for row in _csv_rows(path, delimiter) if not _blank(row))
    return next(rows, []), next(rows, [])


def _csv_rows(path, delimiter):
    opened = gzip.open if ending(path) == ".csv.gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        yield from csv.reader(file, delimiter=delimiter)


def _blank(row):
    """Whether pandas skips a line that splits into this row."""
    return not row or (len(row) == 1 and row[0].isspace())


def _note(text):
    print(f"isocal: note: {text}", file=sys.stderr)


@dataclass
class Csv:
    """A CSV file: columns in order, the delimiter, and the mark between whole and decimal digits."""

    path: str
    columns: list
    delimiter: str
    decimal: str = "."

    def read(self, names):
        """A frame of the named columns, types inferred as pandas does."""
        twice = [name for name in names if self.columns.count(name) > 1]
        if twice:
            raise ValueError(f"{self.path}: {self.columns.count(twice[0])} columns are called {twice[0]!r}: rename one")
        frame = self._frame([self.columns.index(name) for name in names])
        if self.delimiter == ";" and any(map(_has_decimal_comma, (frame[c] for c in frame))):
            self.decimal = ","
            _note(f"{self.path}: read with decimal commas")
            frame = self._frame([self.columns.index(name) for name in names])
        return frame[names]

    def whole(self):
        """A frame of all columns, types inferred."""
        return self._frame(range(len(self.columns)))

    def rows(self):
        """(Header, rows below it as lists of text); lines that are blank for pandas are left out."""
        return self.columns, islice((r for r in _csv_rows(self.path, self.delimiter) if not _blank(r)), 1, None)

    def _frame(self, positions):
        positions = sorted(positions)
        narrow = {"usecols": positions} if len(self.columns) > WIDE and len(positions) < len(self.columns) else {}
        try:
            frame = pd.read_csv(
                self.path, sep=self.delimiter, decimal=self.decimal, encoding="utf-8-sig", index_col=False,
                low_memory=False, **narrow,
            )  # fmt: skip
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path}: not UTF-8 text ({error.reason}): save it as UTF-8 first") from None
        except (ValueError, EOFError) as error:
            raise ValueError(f"{self.path}: cannot be read: {error}") from None
        if not narrow:
            frame = frame.iloc[:, positions]
        return frame.set_axis([self.columns[k] for k in positions], axis=1)


def _has_decimal_comma(column):
    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    texts = [v for v in column.head(200) if isinstance(v, str)]
    return bool(texts) and all(DECIMAL_COMMA.fullmatch(v) for v in texts)


@dataclass
class Parquet:
    """A Parquet file and its columns in order."""

    path: str
    columns: list
    delimiter = ","
    decimal = "."

    def read(self, names):
        """A frame of the named columns."""
        return pd.read_parquet(self.path, columns=names).reset_index(drop=True)[names]

    def rows(self):
        """(Header, rows as lists of text); an index that is stored is a column too."""
        frame = pd.read_parquet(self.path, dtype_backend="pyarrow")
        stored = frame.index.name is not None or not isinstance(frame.index, pd.RangeIndex)
        rows = csv.reader(io.StringIO(frame.to_csv(index=stored)))
        return next(rows), rows


def _parquet_columns(path):
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise ImportError(f"{path}: Parquet files need pyarrow: pip install pyarrow") from None
    try:
        return list(parquet.read_schema(path).names)
    except ArrowInvalid as error:
        raise ValueError(f"{path}: no Parquet file: {str(error).splitlines()[0]}") from None


def write_table(path, table, found, only=False, force=False):
    """Write the columns `found`, beside those of `table` unless `only`; path None is CSV on standard output."""
    if path is None:
        _write_csv(sys.stdout, table, found, only)
        return
    with store.written_beside(path, force) as file:
        if ending(path) == ".parquet":
            _write_parquet(file, table, found, only)
            return
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if ending(path) == ".csv.gz" else file
        text = io.TextIOWrapper(packed, "utf-8", newline="")
        _write_csv(text, table, found, only)
        text.detach()
        if packed is not file:
            packed.close()


def _write_parquet(file, table, found, only):
    """Columns of Parquet pass through as they are, with what the file says of their types and its index."""
    if only or isinstance(table, Csv):
        frame = found if only else table.whole().assign(**{c: found[c] for c in found})
        frame.to_parquet(file)
        return
    import pyarrow
    from pyarrow import parquet

    whole = parquet.read_table(table.path)
    for name in found:
        whole = whole.append_column(name, pyarrow.array(found[name].to_numpy(), from_pandas=True))
    parquet.write_table(whole, file)


def _write_csv(file, table, found, only):
    """Row by row, so that a wide or a long table costs no memory."""
    predicted = [_texts(found[c], table.decimal) for c in found]
    header, rows = ([], repeat([])) if only else table.rows()
    writer = csv.writer(file, delimiter=table.delimiter, lineterminator="\n")
    writer.writerow([*header, *found.columns])
    count = 0
    for new, row in zip(zip(*predicted), rows):  # in this order: no row is taken and lost at the end
        writer.writerow([*row, *[""] * (len(header) - len(row)), *new])
        count += 1
    if count != len(found) or (not only and next(rows, None) is not None):
        raise ValueError(f"{table.path}: has other rows on second reading: was it changed, or are lines blank?")
    file.flush()


def _texts(column, decimal):
    """Cells as text: the shortest that reads back as the same number, nothing for a missing one."""
    if column.dtype.kind != "f":
        return map(str, column)
    return ("" if v != v else repr(v).replace(".", decimal) for v in column.tolist())

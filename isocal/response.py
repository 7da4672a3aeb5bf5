"""The left side of a formula: which column and which of its values is the event that is modelled."""

from dataclasses import dataclass

import numpy as np

from . import frames
from .formula import require_column


@dataclass(frozen=True)
class Response:
    """The modelled event: column and the value that counts as 1."""

    column: str
    event: object

    @property
    def label(self):
        """What is modelled, e.g. P(income = '>50K')."""
        return f"P({self.column} = {self.event!r})"

    def to_dict(self):
        """Plain JSON types; an event of another type cannot be kept."""
        if not isinstance(self.event, str | bool | int | float):
            raise ValueError(f"event {self.event!r} of type {type(self.event).__name__} cannot be written to JSON")
        return {"column": self.column, "event": self.event}


def read_response(frame, column, event=None, rows=None):
    """(Response, y): y (n,) is 1.0 for the event, 0.0 for the other value, NaN where missing.

    Only the values in `rows` (n,) count: those outside a subset, or without weight, may be anything.
    """
    require_column(frame, column, "response")
    found = frames.labels(frame, column)
    use = ~found.missing if rows is None else ~found.missing & rows
    values = found.values if use.all() else found.values[use]
    distinct = _distinct(values)
    if isinstance(event, np.generic):
        event = event.item()
    if len(distinct) and event is None:
        event = _usual_event(column, found, distinct)
    elif len(distinct) and not _matches(event, found, distinct):
        raise ValueError(
            f"event={event!r} is not a value of {column!r}: its values are {', '.join(map(_plain, distinct[:6]))}"
        )
    if len(distinct) > 2:
        raise ValueError(
            f"response {column!r} has {len(distinct)} values ({', '.join(map(_plain, distinct[:6]))}): a probability "
            f"of one event needs two; make a column of it, e.g. data.assign(event=data[{column!r}] == {event!r})"
        )
    return Response(column, _native(event, found.kind)), _zeros_and_ones(values, event, use)


def _zeros_and_ones(values, event, use):
    y = np.asarray(values == event, dtype=np.float64)
    if len(y) == len(use):
        return y
    out = np.full(len(use), np.nan)
    out[use] = y
    return out


def _usual_event(column, found, distinct):
    """The value that needs no naming: the last of two ordered levels, True, 1 of {0, 1} or {-1, 1}."""
    if found.levels is not None and len(found.levels) == 2:
        return found.levels[1]
    if found.kind == "bool":
        return True
    if found.kind == "number" and (set(distinct) <= {0.0, 1.0} or set(distinct) <= {-1.0, 1.0}):
        return 1.0
    shown = ", ".join(map(_plain, distinct[:6])) + (", ..." if len(distinct) > 6 else "")
    if len(distinct) > 2 and found.kind == "number" and not all(v % 1 == 0 for v in distinct):
        raise ValueError(
            f"response {column!r} has {len(distinct)} values from {_plain(distinct[0])} to {_plain(distinct[-1])}: "
            "labels are 0 and 1 (proportions: one row for each label, with weights=)"
        )
    if len(distinct) > 2:
        raise ValueError(
            f"response {column!r} has {len(distinct)} values ({shown}): labels are two, such as 0 and 1; choose the "
            f"rows of two with subset=, or make a column, data.assign(event=data[{column!r}] == "
            f"{_plain(distinct[-1])})"
        )
    raise ValueError(
        f"response {column!r} has the values {shown}: say which one is the event, event={_plain(distinct[-1])}"
    )


def _matches(event, found, distinct):
    """Whether the event occurs, or could: {0, 1} may lack one of its values in these rows."""
    if not np.isscalar(event) and np.ndim(event):
        return False
    usual = ((0.0, 1.0), (-1.0, 1.0)) if found.kind == "number" else ((False, True),) if found.kind == "bool" else ()
    usual += (tuple(found.levels),) if found.levels is not None else ()
    return any(event == v for v in distinct) or any(event in u and all(v in u for v in distinct) for u in usual)


def _native(event, kind):
    """The event in plain Python types; None, where no label is known, stays."""
    if kind == "bool" and event is not None:
        return bool(event)
    return int(event) if kind == "number" and event is not None and float(event).is_integer() else event


def _plain(value):
    """A value as the user would type it."""
    value = value.item() if isinstance(value, np.generic) else value
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


def _distinct(values):
    """The distinct values in order; 0 and 1 are found without sorting."""
    if values.dtype != object:
        usual = {v: np.count_nonzero(values == v) for v in (0.0, 1.0)}
        known = [v for v, count in usual.items() if count]
        return known if sum(usual.values()) == len(values) else [float(v) for v in np.unique(values)]
    try:
        return sorted(set(values))
    except TypeError:  # of several types, or without a hash
        return [v for _, v in sorted({repr(v): v for v in values}.items())]

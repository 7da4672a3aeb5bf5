"""Response and terms of a fit: what is modelled, how raw columns become scores, and which rows are used."""

from dataclasses import dataclass, replace

import numpy as np

from . import frames
from .formula import Expression, FormulaError, Parsed, Term, parse, require_column
from .transforms import TRANSFORMS, apply_chain, learn_chain


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


def read_response(frame, column, event=None):
    """(Response, y): y (n,) is 1.0 for the event, 0.0 for the other value, NaN where missing."""
    require_column(frame, column, "response")
    found = frames.labels(frame, column)
    values = found.values[~found.missing]
    distinct = _distinct(values)
    if event is None:
        event = _usual_event(column, found, distinct)
    elif not _matches(event, found, distinct):
        raise ValueError(
            f"event={event!r} is not a value of {column!r}: its values are {', '.join(map(_plain, distinct[:6]))}"
        )
    if len(distinct) > 2:
        raise ValueError(
            f"response {column!r} has {len(distinct)} values ({', '.join(map(_plain, distinct[:6]))}): a probability "
            f"of one event needs two; make a column of it, e.g. data.assign(event=data[{column!r}] == {event!r})"
        )
    y = np.full(len(found.values), np.nan)
    y[~found.missing] = (values == event).astype(float)
    return Response(column, _native(event, found.kind)), y


def _usual_event(column, found, distinct):
    """The value that needs no naming: 1 of {0, 1} or {-1, 1}, True, the last of two ordered levels."""
    if found.kind == "bool":
        return True
    if found.kind == "number" and (set(distinct) <= {0.0, 1.0} or set(distinct) <= {-1.0, 1.0}):
        return 1.0
    if found.levels is not None and len(found.levels) == 2:
        return found.levels[1]
    if len(distinct) > 2 and found.kind == "number":
        raise ValueError(
            f"response {column!r} has {len(distinct)} values from {_plain(distinct[0])} to {_plain(distinct[-1])}: "
            "labels are 0 and 1 (proportions: one row per label, with weights=)"
        )
    shown = ", ".join(map(_plain, distinct[:6]))
    raise ValueError(
        f"response {column!r} has the values {shown}: say which one is the event, event={_plain(distinct[-1])}"
    )


def _matches(event, found, distinct):
    if isinstance(event, np.generic):
        event = event.item()
    usual = ({0.0, 1.0}, {-1.0, 1.0}) if found.kind == "number" else ({False, True},) if found.kind == "bool" else ()
    return any(event == v for v in distinct) or any(event in u and set(distinct) <= u for u in usual)


def _native(event, kind):
    if isinstance(event, np.generic):
        event = event.item()
    if kind == "bool":
        return bool(event)
    return int(event) if kind == "number" and float(event).is_integer() else event


def _plain(value):
    """A value as the user would type it."""
    value = value.item() if isinstance(value, np.generic) else value
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


def _distinct(values):
    if values.dtype != object:
        return list(np.unique(values))
    try:
        return sorted(set(values))
    except TypeError:
        return sorted(set(values), key=repr)


@dataclass(frozen=True)
class Terms:
    """How columns become scores: parsed formula, fitted transforms per term, raw range seen in fitting.

    chains: per term the fitted transforms from the innermost outwards; low, high (M,) raw ranges;
    expressions: {label: Expression} of the terms that patsy evaluates.
    """

    parsed: Parsed
    chains: tuple = ()
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    expressions: dict | None = None

    @property
    def names(self):
        """Score names."""
        return self.parsed.names

    @property
    def labels(self):
        """The terms as written."""
        return [t.label for t in self.parsed.terms]

    def raw(self, frame):
        """(n, M) float64 values of columns and expressions before isocal's transforms."""
        out = np.empty((len(frame), len(self.parsed.terms)), order="F")
        for m, term in enumerate(self.parsed.terms):
            if term.column is not None:
                require_column(frame, term.column, f"term {term.label!r}")
                out[:, m] = frames.numbers(frame, term.column)
            else:
                out[:, m] = self.expressions[term.label].evaluate(frame)
        return out

    def learn(self, raw, w=None):
        """(Terms with transforms learned on raw (n, M) without NaN and weights w, the scores (n, M))."""
        chains, scores = [], np.empty_like(raw, order="F")
        for m, term in enumerate(self.parsed.terms):
            chain, scores[:, m] = learn_chain(term.transforms, raw[:, m], w)
            chains.append(chain)
        return replace(self, chains=tuple(chains), low=raw.min(axis=0), high=raw.max(axis=0)), scores

    @property
    def learns(self):
        """Whether any transform depends on the rows of the fit."""
        return any(c.to_dict() for chain in self.chains for c in chain)

    def scores(self, raw, domain):
        """(n, M) scores of new rows; clipped to [0, 1] where the recipe lives there. NaN stays NaN."""
        out = np.empty_like(raw, order="F")
        for m, chain in enumerate(self.chains):
            out[:, m] = apply_chain(chain, raw[:, m])
        return np.clip(out, 0.0, 1.0) if domain == "unit" else out

    def extrapolated(self, raw):
        """(n,) True where any score lies outside the range seen in fitting."""
        return np.any((raw < self.low) | (raw > self.high), axis=1)

    def to_dict(self):
        """Formula, (transforms, column) pairs and ranges in plain JSON types; never a formula to run."""
        made = [t for t in self.parsed.terms if t.column is None or not isinstance(t.column, str)]
        if made:
            raise ValueError(
                f"term {made[0].label!r} is an expression, and a file holds columns only, never code to run: make a "
                f"column of it, e.g. data.assign(score={made[0].code}), and fit that"
            )
        terms = [
            {
                "label": t.label, "column": t.column,
                "transforms": [[name, c.to_dict()] for name, c in zip(t.transforms, chain, strict=True)],
            }
            for t, chain in zip(self.parsed.terms, self.chains, strict=True)
        ]  # fmt: skip
        return {"formula": self.parsed.text, "terms": terms, "low": self.low.tolist(), "high": self.high.tolist()}

    @classmethod
    def from_dict(cls, d, response):
        """The inverse of to_dict; unknown transforms are refused, nothing is evaluated."""
        terms, chains = [], []
        for t in d["terms"]:
            names = tuple(name for name, _ in t["transforms"])
            unknown = [n for n in names if n not in TRANSFORMS]
            if unknown:
                raise ValueError(f"unknown transform {unknown[0]!r}: this isocal knows {', '.join(TRANSFORMS)}")
            terms.append(Term(str(t["label"]), names, str(t["column"])))
            chains.append(tuple(TRANSFORMS[name].from_dict(c) for name, c in t["transforms"]))
        low, high = np.array(d["low"], dtype=np.float64), np.array(d["high"], dtype=np.float64)
        if not terms or low.shape != (len(terms),) or high.shape != (len(terms),):
            raise ValueError("terms: at least one term and one range for each are needed")
        return cls(Parsed(str(d["formula"]), response, tuple(terms)), tuple(chains), low, high, {})


@dataclass(frozen=True)
class Rows:
    """The rows of a fit: raw (n, M) scores before transforms, y (n,), w (n,) or None for ones, their index.

    like: an empty frame of the caller's library; kept: (rows of data,) mask; dropped: {reason: rows}, by first reason.
    """

    raw: np.ndarray
    y: np.ndarray
    w: np.ndarray | None
    index: object
    like: object
    kept: np.ndarray
    dropped: dict

    @property
    def weight(self):
        """Sum of weights."""
        return float(len(self.y)) if self.w is None else float(self.w.sum())

    @property
    def weights(self):
        """Weights as an array, ones where none were given."""
        return np.ones(len(self.y)) if self.w is None else self.w


def read(formula, data, event=None, weights=None, subset=None, missing="drop"):
    """(Response, Terms not yet learned, Rows) of a formula on a data frame."""
    if missing not in ("drop", "raise"):
        raise ValueError(f"missing must be 'drop' or 'raise'; got {missing!r}")
    frame, parsed = frames.open_frame(data), parse(formula)
    if len(frame) == 0:
        raise ValueError("data has no rows")
    response, y = read_response(frame, parsed.response, event)
    terms = Terms(parsed, expressions={t.label: Expression(t.code) for t in parsed.terms if t.code})
    raw = terms.raw(frame)
    w = _weights(frame, data, weights)
    kept, dropped = _keep(y, raw, w, _subset(frame, data, subset), parsed, missing)
    _refuse_infinite(raw, kept, parsed)
    index = frames.index_of(data)
    if not kept.all():
        raw, y, w = np.asfortranarray(raw[kept]), y[kept], None if w is None else w[kept]
        index = None if index is None else index[kept]
    w = None if w is None or np.all(w == 1.0) else w
    return response, terms, Rows(raw, y, w, index, frame.head(0), kept, dropped)


def _weights(frame, data, weights):
    if weights is None:
        return None
    if isinstance(weights, str):
        require_column(frame, weights, "weights")
        w, name = frames.numbers(frame, weights), f"weights {weights!r}"
    else:
        w, name = np.array(_aligned(data, weights, "weights"), dtype=np.float64), "weights"
    if len(w) != len(frame) or w.ndim != 1:
        raise ValueError(f"{name} has shape {w.shape}, but data has {len(frame)} rows: give one weight for each row")
    if np.any(np.isinf(w)) or np.any(w < 0):
        bad = int(np.flatnonzero(np.isinf(w) | (w < 0))[0])
        raise ValueError(f"{name} must be finite and >= 0; got {w[bad]:g} in row {bad} (counting from 0)")
    if not np.any(w > 0):
        raise ValueError(f"{name}: no weight is positive, so no row is left")
    return w


def _aligned(data, values, what):
    index, own = frames.index_of(data), frames.index_of(values)
    if index is not None and own is not None and len(index) == len(own) and not index.equals(own):
        raise ValueError(f"{what} is a Series whose index differs from that of data: align it, or pass its .to_numpy()")
    return values


def _subset(frame, data, subset):
    if subset is None:
        return np.ones(len(frame), dtype=bool)
    if isinstance(subset, str):
        mask = np.asarray(Expression(subset).evaluate(frame))
        mask = mask == 1.0 if set(np.unique(mask[~np.isnan(mask.astype(float))])) <= {0.0, 1.0} else mask
    else:
        mask = np.asarray(_aligned(data, subset, "subset"))
    if mask.dtype != bool or mask.shape != (len(frame),):
        raise ValueError(
            f"subset must be one True or False for each of the {len(frame)} rows, or an expression such as 'age > 30'; "
            f"got shape {mask.shape} of {mask.dtype}"
        )
    return mask


def _keep(y, raw, w, subset, parsed, missing):
    """(mask of rows used, {reason: rows dropped for it first})."""
    reasons = {f"missing {parsed.response}": np.isnan(y)}
    reasons |= {f"missing {t.column or t.label}": np.isnan(raw[:, m]) for m, t in enumerate(parsed.terms)}
    if w is not None:
        reasons |= {"missing weight": np.isnan(w)}
    gone, dropped = ~subset, {}
    if not subset.all():
        dropped["not in subset"] = int((~subset).sum())
    for reason, mask in reasons.items():
        new = mask & ~gone
        if new.any():
            dropped[reason] = int(new.sum())
            gone |= new
            if missing == "raise":
                raise ValueError(f"{dropped[reason]} rows have a {reason} (missing='drop' leaves them out)")
    if w is not None and np.any((w == 0) & ~gone):
        dropped["zero weight"] = int(np.sum((w == 0) & ~gone))
        gone |= w == 0
    if gone.all():
        raise ValueError(f"no row is left to fit: {', '.join(f'{n} {r}' for r, n in dropped.items())}")
    return ~gone, dropped


def _refuse_infinite(raw, kept, parsed):
    for m, term in enumerate(parsed.terms):
        bad = int(np.sum(np.isinf(raw[kept, m])))
        if bad:
            raise FormulaError(
                f"term {term.label!r}: {bad} of {int(kept.sum())} rows are infinite; replace them by finite values "
                "(or NaN, to leave those rows out)"
            )

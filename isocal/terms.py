"""Terms and rows of a fit: how raw columns become scores, and which rows are used."""

from dataclasses import dataclass, replace

import numpy as np

from . import frames
from .formula import Expression, FormulaError, Parsed, Term, parse, require_column
from .response import read_response
from .transforms import TRANSFORMS, apply_chain, learn_chain


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
        """(Terms with transforms learned on raw (n, M) without NaN and weights w, the scores (n, M)).

        Where no term has a transform the scores are raw itself: nobody may write to either.
        """
        chains = [() for _ in self.parsed.terms]
        scores = raw
        if any(t.transforms for t in self.parsed.terms):
            scores = np.empty_like(raw, order="F")
            for m, term in enumerate(self.parsed.terms):
                chains[m] = learn_chain(term.transforms, raw[:, m], w, out=scores[:, m])
        return replace(self, chains=tuple(chains), low=raw.min(axis=0), high=raw.max(axis=0)), scores

    @property
    def learns(self):
        """Whether any transform depends on the rows of the fit."""
        return any(t.learned for chain in self.chains for t in chain)

    def scores(self, raw, domain):
        """(n, M) scores of new rows; clipped to [0, 1] where the recipe lives there. NaN stays NaN."""
        out = np.empty_like(raw, order="F")
        for m, chain in enumerate(self.chains):
            apply_chain(chain, raw[:, m], out=out[:, m])
        return np.clip(out, 0.0, 1.0, out=out) if domain == "unit" else out

    def extrapolated(self, raw):
        """(n,) True where any score lies outside the range seen in fitting."""
        return np.any((raw < self.low) | (raw > self.high), axis=1)

    def to_dict(self):
        """Formula, (transforms, column) pairs and ranges in plain JSON types; never a formula to run."""
        for term in self.parsed.terms:
            if term.column is None:
                raise ValueError(
                    f"term {term.label!r} is an expression, and a file holds columns only, never code to run: make a "
                    f"column of it, e.g. data.assign(score={term.code}), and fit that"
                )
            if not isinstance(term.column, str):
                raise ValueError(
                    f"term {term.label!r}: a file holds columns with names of text; rename {term.column!r}"
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
    parsed = parse(formula)
    frame = frames.open_frame(data)
    if len(frame) == 0:
        raise ValueError("data has no rows")
    w, inside = _weights(frame, data, weights), _subset(frame, data, subset)
    present = inside if w is None else inside & (w != 0)
    response, y = read_response(frame, parsed.response, event, present)
    terms = Terms(parsed, expressions={t.label: Expression(t.code) for t in parsed.terms if t.code})
    raw = terms.raw(frame)
    kept, dropped = _keep(y, raw, w, inside, parsed, missing)
    index = frames.index_of(frame.to_native())
    if not kept.all():
        y, w = y[kept], None if w is None else w[kept]
        raw = _rows_of(raw, kept)
        index = None if index is None else index[kept]
    _refuse_infinite(raw, parsed)
    w = None if w is None or np.all(w == 1.0) else w
    return response, terms, Rows(raw, y, w, index, frame.head(0), kept, dropped)


def _rows_of(raw, kept):
    """raw[kept] in Fortran order, with no copy in between."""
    out = np.empty((np.count_nonzero(kept), raw.shape[1]), order="F")
    for m in range(raw.shape[1]):
        np.compress(kept, raw[:, m], out=out[:, m])
    return out


def _weights(frame, data, weights):
    if weights is None:
        return None
    if isinstance(weights, str):
        require_column(frame, weights, "weights")
        w, name = frames.numbers(frame, weights), f"weights {weights!r}"
    else:
        w, name = frames.vector(_aligned(data, weights, "weights"), "weights"), "weights"
    if w.shape != (len(frame),):
        raise ValueError(f"{name} has shape {w.shape}, but data has {len(frame)} rows: give one weight for each row")
    wrong = np.isinf(w) | (w < 0)
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise ValueError(f"{name} must be finite and >= 0; got {w[bad]:g} in row {bad} (counting from 0)")
    if not np.any(w > 0):
        raise ValueError(f"{name}: no weight is positive, so no row is left")
    return w.copy()


def _aligned(data, values, what):
    index, own = frames.index_of(data), frames.index_of(values)
    if index is not None and own is not None and len(index) == len(own) and not index.equals(own):
        raise ValueError(f"{what} is a Series whose index differs from that of data: align it, or pass its .to_numpy()")
    return values


def _subset(frame, data, subset):
    """(n,) mask; where an expression or a nullable mask is missing, the row is outside."""
    if subset is None:
        return np.ones(len(frame), dtype=bool)
    if isinstance(subset, str):
        found = Expression(subset).evaluate(frame)
        known = found[~np.isnan(found)]
        mask = found == 1.0 if np.all((known == 0.0) | (known == 1.0)) else None
        got = f"{subset!r} gives numbers such as {known[0]:.6g}" if mask is None else ""
    else:
        mask = frames.flags(_aligned(data, subset, "subset"), "subset")
        got = type(subset).__name__
        if hasattr(subset, "dtype"):
            got += f" of {subset.dtype}"
        if mask is not None and mask.shape != (len(frame),):
            mask, got = None, f"got shape {mask.shape}"
    if mask is None:
        raise ValueError(
            f"subset must be one True or False for each of the {len(frame)} rows, or an expression such as "
            f"'age > 30'; {got if ' gives ' in got or got.startswith('got') else f'got {got}'}"
        )
    return mask


def _keep(y, raw, w, inside, parsed, missing):
    """(mask of rows used, {reason: rows dropped for it first})."""
    kept, dropped = inside.copy(), {}

    def leave_out(reason, rows):
        rows = rows & kept
        count = int(np.count_nonzero(rows))
        if count and missing == "raise" and reason.startswith("missing"):
            raise ValueError(
                f"{count} {'row has' if count == 1 else 'rows have'} a {reason}, the first is row "
                f"{int(np.argmax(rows))} (counting from 0); missing='drop' leaves such rows out"
            )
        if count:
            dropped[reason] = count
            np.greater(kept, rows, out=kept)

    if not inside.all():
        dropped["not in subset"] = int(np.count_nonzero(~inside))
    if w is not None:
        leave_out("zero weight", w == 0)
    leave_out(f"missing {parsed.response}", np.isnan(y))
    for m, term in enumerate(parsed.terms):
        leave_out(f"missing {term.column or term.label}", np.isnan(raw[:, m]))
    if w is not None:
        leave_out("missing weight", np.isnan(w))
    if not kept.any():
        raise ValueError(f"no row is left to fit: {', '.join(f'{n} {r}' for r, n in dropped.items())}")
    return kept, dropped


def _refuse_infinite(raw, parsed):
    for m, term in enumerate(parsed.terms):
        bad = int(np.count_nonzero(np.isinf(raw[:, m])))
        if bad:
            raise FormulaError(
                f"term {term.label!r}: {bad} of {len(raw)} rows are infinite; replace them by finite values "
                "(or NaN, to leave those rows out)"
            )

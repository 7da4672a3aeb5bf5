"""Which rows fits are judged on: new ones, or the rows of the fits with predictions from other folds.

A row that any fit cannot predict is left out for all, so that every fit is judged on the same rows.
"""

from dataclasses import dataclass, replace

import numpy as np

from .. import frames
from ..formula import require_column
from ..numerics.folds import fold_weights, row_hash
from ..response import read_response
from ..results import Results
from ..results.assess import held_out
from .seen import seen_share

NEW, CROSS, OWN, SOME, UNKNOWN = "new rows", "cross-validated", "own rows", "some own rows", "not known"
CROSS_VALIDATED = "Five-fold cross-validated: the same folds for all fits, each fit made anew without the rows judged."

REMEDY = "fit both to the same data, or pass newdata"


@dataclass(frozen=True, eq=False)
class Judged:
    """Forecasts of the same rows: label, y (n,), P (n, k), w (n,) or None for ones.

    how: for each fit, on which rows it is judged; left_out {reason: rows}; notes: sentences for the summary.
    """

    label: str
    y: np.ndarray
    P: np.ndarray
    w: np.ndarray | None
    how: tuple
    left_out: dict
    notes: tuple = ()


def on_new_rows(fits, newdata, response, event, weights):
    """Judged on newdata, which holds the response."""
    frame = frames.open_frame(newdata)
    left, y = read_response(frame, *_response(fits, response, event))
    w = _weights(frame, newdata, weights)
    kept, left_out = np.ones(len(y), dtype=bool), {}
    P, raws = np.empty((len(y), len(fits)), order="F"), {}
    _leave_out(kept, left_out, f"missing {left.column}", np.isnan(y))
    if w is not None:
        _leave_out(kept, left_out, "without weight", ~(w > 0))
    for j, (name, fit) in enumerate(fits.items()):
        if isinstance(fit, Results):
            raws[name] = fit.terms.raw(frame)
            P[:, j] = fit.curve(fit.terms.scores(raws[name], fit.recipe.domain()))
        else:
            P[:, j] = _column(name, fit, frame, newdata)
        _leave_out(kept, left_out, f"without a probability from {name!r}", np.isnan(P[:, j]))
    _refuse_nothing(kept, left_out)
    y = y[kept]
    how = tuple(_mark(fit, y, raws[name][kept]) if name in raws else UNKNOWN for name, fit in fits.items())
    return Judged(left.label, y, P[kept], _plain(None if w is None else w[kept]), how, left_out)


def _response(fits, column, event):
    """(column, event) that all fits model; of plain columns alone, what the caller says."""
    models = {name: fit.response for name, fit in fits.items() if isinstance(fit, Results)}
    for name, own in models.items():
        first_name, first = next(iter(models.items()))
        if own.label != first.label:
            raise ValueError(
                f"fits of different events cannot be compared: {first_name!r} models {first.label}, "
                f"{name!r} {own.label}"
            )
        if column is not None and (column != own.column or event not in (None, own.event)):
            raise ValueError(f"{name!r} models {own.label}: leave out response= and event=, or compare plain columns")
        if event is not None and column is None and event != own.event:
            raise ValueError(f"{name!r} models {own.label}, not event={event!r}: leave out event=")
    if models:
        own = next(iter(models.values()))
        return own.column, own.event
    if column is None:
        raise ValueError("plain columns do not say what they forecast: name the column of labels, response='y'")
    return column, event


def _weights(frame, data, weights):
    if weights is None:
        return None
    if isinstance(weights, str):
        require_column(frame, weights, "weights")
        w = frames.numbers(frame, weights)
    else:
        w = _aligned(weights, "weights", len(frame), data)
    wrong = np.isinf(w) | (w < 0)
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise ValueError(f"weights must be finite and >= 0; got {w[bad]:g} in row {bad} (counting from 0)")
    return w


def _aligned(values, what, n, data):
    """Values of the caller's rows as (n,) numbers."""
    index, own = frames.index_of(data), frames.index_of(values)
    out = frames.vector(values, what)
    if out.shape != (n,):
        raise ValueError(f"{what} has shape {out.shape}, but there are {n} rows: give one number for each row")
    if index is not None and own is not None and not index.equals(own):
        raise ValueError(f"{what} is a Series whose index differs from that of the rows: align it, or pass .to_numpy()")
    return out


def _column(name, fit, frame, data):
    """(n,) probabilities of a plain column."""
    what = f"fit {name!r}"
    if isinstance(fit, str):
        require_column(frame, fit, what)
        p = frames.numbers(frame, fit)
    else:
        p = _aligned(fit, what, len(frame), data)
    known = p[~np.isnan(p)]
    if len(known) and (known.min() < 0 or known.max() > 1):
        raise ValueError(
            f"{what} must hold probabilities, but ranges from {known.min():.6g} to {known.max():.6g}: turn scores into "
            "probabilities by a calibrator first, e.g. isocal.platt"
        )
    return p


def _leave_out(kept, left_out, reason, rows):
    count = int(np.count_nonzero(rows & kept))
    if count:
        left_out[reason] = count
        kept &= ~rows


def _refuse_nothing(kept, left_out):
    if not kept.any():
        why = f" ({', '.join(f'{n:,} {reason}' for reason, n in left_out.items())})" if left_out else ""
        raise ValueError(f"no row is left that all fits can predict{why}")


def _plain(w):
    return None if w is None or np.all(w == 1.0) else w


def _mark(fit, y, raw):
    if fit.rows is None:
        return UNKNOWN
    share = seen_share(row_hash(fit.rows.y, fit.rows.raw), row_hash(y, raw))
    return NEW if share == 0 else OWN if share > 0.99 else SOME


def cross_validated(fits):
    """Judged on the rows that all fits have in common, by models fitted without the fold a row is in."""
    models = {name: fit for name, fit in fits.items() if isinstance(fit, Results) and fit.rows is not None}
    if not models:
        raise ValueError(
            "none of the fits holds rows, so there is nothing to cross-validate: pass newdata, rows with the response"
        )
    _response(fits, None, None)  # refuses different events
    _refuse_other_rows(models)
    kept = np.any([fit.rows.kept for fit in models.values()], axis=0)
    left_out, P = {}, {}
    for name, fit in fits.items():
        if name in models:
            _leave_out(kept, left_out, f"not among the rows of {name!r}", ~fit.rows.kept)
            continue
        P[name] = _as_given(name, fit, models)
        _leave_out(kept, left_out, f"without a probability from {name!r}", np.isnan(P[name]))
    _refuse_nothing(kept, left_out)
    common = {name: _rows_at(fit.rows, kept) for name, fit in models.items()}
    first = next(iter(common.values()))
    W = fold_weights(first.y, _union_of_scores(models, common), first.w)
    for name, fit in models.items():
        _, P[name], failure = held_out(fit.recipe, fit.terms, common[name], W)
        if failure or np.isnan(P[name][W > 0]).any():
            raise ValueError(f"cross-validation of {name!r} failed {failure or 'for want of rows to fit to'}")
    at = np.nonzero(W > 0)
    columns = [P[name][at] if name in models else P[name][kept][at[0]] for name in fits]
    how = tuple(CROSS if name in models else UNKNOWN for name in fits)
    label = next(iter(models.values())).response.label
    return Judged(label, first.y[at[0]], np.stack(columns, axis=1), _plain(W[at]), how, left_out,
                  (CROSS_VALIDATED,))  # fmt: skip


def _as_given(name, fit, models):
    """(rows of data,) probabilities of a plain column, or of a loaded fit, at the rows of the data of the models."""
    data = next((m.model.data for m in models.values() if m.model is not None and m.model.data is not None), None)
    n = len(next(iter(models.values())).rows.kept)
    if isinstance(fit, Results | str) and data is None:
        raise ValueError(f"{name!r} needs the data of the fits, which pickling leaves out: pass newdata, or an array")
    if isinstance(fit, Results):
        frame = frames.open_frame(data)
        return fit.curve(fit.terms.scores(fit.terms.raw(frame), fit.recipe.domain()))
    if data is None:
        return _column(name, fit, range(n), None)
    return _column(name, fit, frames.open_frame(data), data)


def _rows_at(rows, kept):
    """The rows of a fit that are among kept (rows of data,)."""
    inside = kept[rows.kept]
    if inside.all():
        return rows
    w = None if rows.w is None else rows.w[inside]
    return replace(rows, raw=np.asfortranarray(rows.raw[inside]), y=rows.y[inside], w=w)


def _union_of_scores(models, common):
    """(n, m) raw scores that any model uses, each once; in an order that does not depend on that of the fits."""
    columns = {}
    for name in sorted(models, key=lambda name: (-len(models[name].terms.labels), models[name].formula)):
        for m, term in enumerate(models[name].terms.parsed.terms):
            columns.setdefault(term.code if term.column is None else term.column, common[name].raw[:, m])
    return np.stack(list(columns.values()), axis=1)


def _refuse_other_rows(models):
    """All models must come from the same rows of data, though each may have dropped others."""
    (name, first), *others = models.items()
    for other, fit in others:
        a, b = first.rows, fit.rows
        if len(a.kept) != len(b.kept):
            raise ValueError(
                f"{name!r} and {other!r} come from different rows, {len(a.kept):,} and {len(b.kept):,}: {REMEDY}"
            )
        both = a.kept & b.kept
        here, there = _rows_at(a, both), _rows_at(b, both)
        ia, ib = (None if r.index is None else r.index[both[r.kept]] for r in (a, b))
        same = np.array_equal(here.y, there.y) and (ia is None or ib is None or ia.equals(ib))
        if not same or not _same_scores(first.terms, fit.terms, here, there):
            raise ValueError(f"{name!r} and {other!r} come from different rows: {REMEDY}")
        if not np.array_equal(here.weights, there.weights):
            raise ValueError(f"{name!r} and {other!r} have different weights: fit both with the same, or pass newdata")


def _same_scores(a, b, here, there):
    mine = {t.column: m for m, t in enumerate(a.parsed.terms) if t.column is not None}
    other = {t.column: m for m, t in enumerate(b.parsed.terms) if t.column is not None}
    return all(np.array_equal(here.raw[:, mine[c]], there.raw[:, other[c]]) for c in mine if c in other)

"""The numbers of a Bootstrap: quantities of the fit and of its replicates, intervals, edges of bands."""

import warnings

import numpy as np
import pandas as pd

from .. import bootstrap as engine
from .. import frames
from ..metrics import auc, brier
from ..numerics import intervals

METHODS = ("percentile", "basic", "studentized")


def enough(boot, level):
    """Warn where the ends of an interval are the extreme replicates themselves."""
    if (boot.n_boot + 1) * (1 - level) / 2 < 1 - 1e-9:
        warnings.warn(
            f"{boot.n_boot} replicates are too few for level={level:g}: the ends are the extreme ones; use n_boot "
            f"of at least {int(np.ceil(2 / (1 - level) - 1e-9)) - 1}", UserWarning, stacklevel=3,
        )  # fmt: skip


def grid_of(boot, grid):
    """(frame, raw scores); missing ones are an error."""
    frame = frames.open_frame(grid)
    raw = boot.results.terms.raw(frame)
    missing = np.isnan(raw).any(axis=1)
    if missing.any():
        raise ValueError(
            f"grid has a missing score in {missing.sum()} of {len(raw)} rows, the first is row "
            f"{int(np.argmax(missing))} (counting from 0): leave such rows out"
        )
    return frame, raw


def at(boot, raw):
    """Probabilities of the fit (g,) and of the replicates (r, g)."""
    res = boot.results
    s = res.terms.scores(raw, res.recipe.domain())
    t0 = res.curve(s)
    t = engine.places(boot.replicates, boot.rows, raw, s, res.recipe.domain() == "unit")
    return t0, t0 + boot.sampling.shrinkage * (t - t0)


def quantity(boot, of, replicates=None, sampling=None):
    """(names, estimates (k,), replicates (r, k)) of a quantity; the jackknife passes its own replicates."""
    found = replicates or boot.replicates
    sampling = sampling or boot.sampling
    key = of if isinstance(of, str) else None
    if replicates is None and key in boot.cache:
        return boot.cache[key]
    names, t0, t = _compute(boot, of, found, sampling)
    out = names, t0, t0 + sampling.shrinkage * (t - t0)
    if replicates is None and key is not None:
        boot.cache[key] = out
    return out


def _compute(boot, of, replicates, sampling):
    res, rows, recipe = boot.results, boot.rows, boot.recipe
    if not isinstance(of, str):
        frame, raw = grid_of(boot, of)
        index = frames.index_of(frame.to_native())
        s = res.terms.scores(raw, recipe.domain())
        t = engine.places(replicates, rows, raw, s, recipe.domain() == "unit")
        return pd.RangeIndex(len(raw)) if index is None else index, res.curve(s), t
    if of == "coefficients":
        names = list(res.curve.coef())
        t, t0 = engine.coefficients(replicates, names), np.array(list(res.curve.coef().values()))
    elif of == "scores":
        p = res.curve(rows.s)
        names, t0 = ["Brier score", "AUC"], np.array([brier(rows.y, p, rows.w), auc(rows.y, p, rows.w)])
        t = engine.scores(replicates, rows, sampling, recipe, boot.progress)
    elif of == "slopes":
        gradient = res.curve.gradient(rows.s)
        names, t0 = res.terms.labels, None if gradient is None else rows.w @ gradient / rows.w.sum()
        t = None if gradient is None else engine.slopes(replicates, rows, sampling, recipe)
    else:
        raise ValueError(f"of must be 'coefficients', 'scores', 'slopes' or a DataFrame of scores; got {of!r}")
    if t is None:
        why = "no slopes" if of == "slopes" else "other coefficients in each replicate"
        raise ValueError(f"{recipe.title} has {why}: pass of=DataFrame, for the probability at its rows")
    return names, t0, t


def acceleration(boot, of):
    """Acceleration of BCa intervals, from refits without each row or group of rows."""
    if boot.method not in ("pairs", "bayesian"):
        raise ValueError(f"kind='bca' is for method='pairs' and 'bayesian'; these replicates are {boot.method}")
    left = engine.LeftOut.of(boot.sampling)
    if "left out" not in boot.cache:
        boot.cache["left out"] = engine.refit(boot.recipe, boot.rows, left, left.units, progress=False)
    t = quantity(boot, of, boot.cache["left out"], left)[2]
    return intervals.acceleration(t[np.isfinite(t).all(axis=1)])


def interval(t, t0, level, kind, bend):
    """(standard deviation, low, high) of one quantity from its finite replicates."""
    t = t[np.isfinite(t)]
    if len(t) < 2 or not np.isfinite(t0):
        return np.nan, np.nan, np.nan
    if kind == "bca":
        return t.std(ddof=1), *intervals.bca(t, t0, level, bend)
    return t.std(ddof=1), *getattr(intervals, kind)(t, t0, level)


def edges(t, t0, level, kind, method):
    """(low, high) (g,) of a band around t0 (g,) from replicates t (r, g)."""
    if method == "studentized":
        half = intervals.sup_t(t, t0, level, kind)
        return t0 - half, t0 + half
    if kind == "pointwise":
        return getattr(intervals, method)(t, t0, level)
    low, high = intervals.simultaneous_percentile(t, level)
    return (low, high) if method == "percentile" else (2 * t0 - high, 2 * t0 - low)


def check_band(kind, method):
    """A kind and a method that there are, else an error; for BCa with the reason."""
    if "bca" in (kind, method):
        raise ValueError(
            "BCa is for single numbers, not curves: on a plateau many replicates equal the estimate, so its bias "
            "correction means nothing there; use method='percentile', or conf_int(kind='bca', of=...)"
        )
    if kind not in ("simultaneous", "pointwise"):
        raise ValueError(f"kind must be 'simultaneous' or 'pointwise'; got {kind!r}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}")

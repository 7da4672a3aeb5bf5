"""Is the degree high enough: what higher degrees change, and a test of the degree."""

import numpy as np

from ..numerics.basis import along_axes, design, elevation, evaluate
from ..numerics.batch_qp import solve_many
from ..numerics.cone import cone
from ..numerics.many_qp import solve_each
from ..numerics.moments import gram, moments, rhs
from ..numerics.progress import counted
from ..numerics.qp import tie_break
from ..numerics.sieve import fit_degree
from .finding import ACT, FINE, LOOK, Finding, graded, of_p
from .sieve import FEW, _degrees

DRAWS, EXACT_UP_TO, CHUNK = 199, 80, 4096  # bootstrap samples; coefficients solved exactly in each; rows at a time
STABLE, UNSTABLE = 1.5, 2.5  # change along the path, in standard errors
BETTER = 12.0  # gain of GCV, times the rows, that is worth a word: noise alone reaches it in one fit of twenty


def degree_path(fit):
    """RSS, df, GCV and change of the curve along the degree; RSS must not rise, for the families are nested.

    The change is from the least-squares fit of the curve's degree, largest over places with five effective rows, in
    units of the standard error sqrt(p (1 - p) / n_e) there. Stable: below 1.5 up to three times the degree.
    """
    _refuse(fit)
    places, near = fit.places[1], fit.local_rows >= FEW
    places = places[near] if near.any() else fit.s
    local = fit.local_rows[near] if near.any() else fit.local_rows_at_rows
    own = np.clip(evaluate(fit.face.fit.beta.reshape(fit.face.shape), places), 0.0, 1.0)
    shrunk = (local * own + 1) / (local + 2)
    error = np.sqrt(shrunk * (1 - shrunk) / local)
    rss, df, change = [], [], []
    for K in fit.path:
        found = fit_degree(fit.sums, K, fit.directions, fit.strength)
        rss.append(_rss(fit.sums, K, found.beta))
        df.append(found.df)
        moved = np.abs(evaluate(found.beta.reshape([k + 1 for k in K]), places) - own) / error
        change.append(float(moved.max()))
    n = fit.effective
    gcv = np.array(rss) / fit.sums.weight / (1 - np.minimum(np.array(df) / n, 0.99)) ** 2
    detail = {
        "K": [_degrees(K) for K in fit.path], "rss": rss, "df": df, "gcv": gcv.tolist(), "change": change,
        "chosen": ["*" if K == fit.K else "" for K in fit.path],
    }  # fmt: skip
    return _judged(fit, detail, gcv)


def _refuse(fit):
    if fit.path[-1] == fit.K:
        scores = "1 score" if fit.M == 1 else f"{fit.M} scores"
        raise ValueError(f"no higher degree than K = {_degrees(fit.K)} can be fitted quickly for {scores}")
    if np.ptp(fit.y) == 0:
        raise ValueError("all labels are equal")


def _judged(fit, detail, gcv):
    at = fit.path.index(fit.K)
    value, best = detail["change"][-1], int(np.argmin(gcv))
    gain = float(1 - gcv[best] / gcv[at]) if gcv[at] > 1e-12 else 0.0  # else every label is met exactly
    rises = float(max(0.0, np.max(np.diff(detail["rss"]))))
    verdict = graded(value, STABLE, UNSTABLE)
    better = fit.is_least_squares and gain * fit.effective > BETTER
    if better:
        verdict = ACT if verdict == ACT else LOOK
    advice = {
        FINE: "Nothing to do.",
        LOOK: f"The curve moves with K: compare K = {_degrees(fit.path[-1])}, or let K='cv' choose.",
        ACT: f"The curve at K = {_degrees(fit.path[-1])} is another one: raise K, or let K='cv' choose.",
    }[verdict]
    if better and verdict == LOOK:
        advice = f"GCV prefers K = {_degrees(fit.path[best])}: compare it, or let K='cv' choose."
    shown = f"changes by {value:.1f} standard errors up to K = {_degrees(fit.path[-1])}"
    figures = {"gain in GCV at its best K": gain, "largest rise of RSS": rises}
    return Finding("degree_path", value, shown, f"{STABLE:g}", verdict, advice, figures, detail)


def _rss(sums, K, beta):
    low = sums.lower([2 * k for k in K])
    return float(sums.events - 2 * beta @ rhs(low.T1, K) + beta @ gram(low.T0, K) @ beta)


def degree_adequacy(fit, draws=DRAWS):
    """Parametric bootstrap of RSS_K - RSS_K', K' up to 3 K, with labels drawn from the fit at degree K.

    Rejects where the truth is no monotone polynomial of degree K; a tenth of a standard error of misfit is beyond it.
    """
    _refuse(fit)
    K, higher = fit.K, fit.path[-1]
    observed, drawn = _gains(fit, higher, draws)
    p = float((1 + np.sum(drawn >= observed)) / (1 + len(drawn)))
    verdict = of_p(p)
    advice = {
        FINE: "Nothing to do: no lack of fit is seen at this K.",
        LOOK: f"K = {_degrees(K)} may be too small: try K = {_degrees(higher)} or K='cv'.",
        ACT: f"K = {_degrees(K)} is too small for this truth: raise K (K='cv'), or use isotonic steps if it jumps.",
    }[verdict]
    figures = {"gain in RSS": float(observed), "its median if K is enough": float(np.median(drawn)), "draws": draws}
    shown = f"p = {p:.3f} against K = {_degrees(higher)}"
    return Finding("degree_adequacy", p, shown, "p >= 0.05", verdict, advice, figures)


def _gains(fit, higher, draws):
    """(RSS_K - RSS_K' of the rows, the same of each draw (draws,)), all found by the same algorithm."""
    down = np.array(fit.directions) < 0
    s = np.where(down, 1.0 - fit.s, fit.s)
    sums = moments(s, fit.y, fit.w, [2 * k for k in higher]) if down.any() else fit.sums
    p = np.clip(evaluate(fit.face.fit.beta.reshape(fit.face.shape), fit.s), 0.0, 1.0)
    T = events = 0.0
    for i in counted(-(-fit.n // CHUNK), "degree test", fit.progress):
        rows = slice(i * CHUNK, (i + 1) * CHUNK)
        Y = np.column_stack([fit.y[rows], fit.rng.random((len(p[rows]), draws)) < p[rows, None]])
        Y *= fit.weights[rows, None]
        T = T + design(s[rows], higher).T @ Y
        events = events + Y.sum(axis=0)
    gain = -_explained(fit, sums, fit.K, T, higher, events) + _explained(fit, sums, higher, T, higher, events)
    return gain[0], gain[1:]


def _explained(fit, sums, K, T, higher, events):
    """sum w y^2 - RSS_K of every column (r,): 2 beta't - beta'G beta at its minimum over the cone."""
    shape, rising = tuple(k + 1 for k in K), tuple(abs(d) for d in fit.directions)
    lower = [elevation(k, h) for k, h in zip(K, higher, strict=True)]
    t = along_axes(T.reshape(*[h + 1 for h in higher], -1), lower).reshape(-1, T.shape[1])
    G = gram(sums.lower([2 * k for k in K]).T0, K)
    penalty = tie_break(shape, fit.strength or 1e-10)
    if len(G) <= EXACT_UP_TO:
        weight = np.full(len(events), sums.weight)
        mean = np.clip(events / sums.weight, 0.0, 1.0)
        beta = solve_each(G[None], t.T, weight, mean, cone(shape, rising), penalty).beta.T
    else:
        beta = solve_many(G, t, shape, rising, penalty)
    return 2 * np.sum(beta * t, axis=0) - np.sum(beta * (G @ beta), axis=0)

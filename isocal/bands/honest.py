"""The honest band: valid in finite samples for every monotone map, jumps included; wide."""

import numpy as np
from scipy.special import betainc, betaincinv

from ..numerics.honest import clopper_pearson_hull, rounded_hull
from .problem import Band

MOST_DISTINCT = 2_000  # distinct places above which scores are grouped
DIGITS = 3  # of the ranks to which one score is rounded
LEVELS = {2: 40, 3: 12, 4: 6}  # groups of each score where there are more


def honest_band(problem):
    """Clopper-Pearson limits of all boxes between comparable rows, the best through each place; as a Band.

    Assumes independent rows and a monotone truth, nothing else; it fails nowhere, but is wide, and with many scores
    nearly empty. Where low > high no monotone map fits at this level. Measured for 95 %, simultaneous: .97 to 1.00 in
    every cell, staircases included. Scores may be any numbers here: only their order counts, and the standard grid is
    not used.
    """
    s, places, M = problem.s, problem.places, problem.M
    w = np.ones(len(s)) if problem.w is None else problem.w
    if not np.all(w == np.floor(w)):
        raise ValueError("method='honest' counts rows, so weights must be whole numbers: use method='model-supt'")
    alpha = 1 - problem.level
    if M == 1 and problem.directions[0]:
        low, high = _one_score(s[:, 0], problem.y, w, alpha, places[:, 0])
    else:
        low, high = _many_scores(s, problem.y, w, alpha, places, np.array(problem.directions) != 0)
    return Band(low, high, np.full(len(places), np.nan), None)


def _one_score(x, y, w, alpha, places):
    x, at = np.unique(x, return_inverse=True)
    rows, events = np.bincount(at, w), np.bincount(at, w * y)
    if len(x) > MOST_DISTINCT:
        rank, lower, upper = rounded_hull(np.arange(0.5, len(x)) / len(x), events, rows, alpha, DIGITS)
        x = x[np.rint(rank * len(x) - 0.5).astype(int)]
    else:
        lower, upper = clopper_pearson_hull(events, rows, alpha)
    low = np.r_[0.0, lower][np.searchsorted(x, places, side="right")]
    return low, np.r_[upper, 1.0][np.searchsorted(x, places, side="left")]


def _many_scores(s, y, w, alpha, places, directed):
    """Both edges, the upper as the lower one of the reversed order and response."""
    upward, downward = s, s
    if len(np.unique(s, axis=0)) > MOST_DISTINCT:
        upward, downward = (_grouped(s, directed, side) for side in (np.maximum, np.minimum))
    low = _lower(upward, y, w, alpha, places, directed)
    sign = np.where(directed, -1.0, 1.0)
    return low, 1 - _lower(downward * sign, 1 - y, w, alpha, places * sign, directed)


def _grouped(s, directed, side):
    """Each directed score replaced by the largest (smallest) of its group of neighbours: bounds stay valid."""
    out, levels = s.copy(), LEVELS.get(s.shape[1], 4)
    for m in np.flatnonzero(directed):
        found, at = np.unique(s[:, m], return_inverse=True)
        group = np.arange(len(found)) * levels // len(found)
        ends = np.full(levels, found[0] if side is np.maximum else found[-1])
        side.at(ends, group, found)
        out[:, m] = ends[group][at]
    return out


def below(a, b, directed):
    """(len(a), len(b)) True where a <= b on every directed axis and a = b on the free ones."""
    out = np.ones((len(a), len(b)), dtype=bool)
    for m, d in enumerate(directed):
        out &= a[:, None, m] <= b[None, :, m] if d else a[:, None, m] == b[None, :, m]
    return out


def _lower(s, y, w, alpha, places, directed):
    """lower(x) = max of the limits of all boxes [s_i, s_j] with s_i <= s_j <= x, each at alpha/(2 #pairs)."""
    x, at = np.unique(s, axis=0, return_inverse=True)
    at = at.ravel()
    rows, events = np.bincount(at, w), np.bincount(at, w * y)
    order = below(x, x, directed)
    limit = _best_limits(order, rows, events, alpha / (2 * np.count_nonzero(order)))
    out = np.empty(len(places))
    for a in range(0, len(places), 512):
        out[a : a + 512] = np.where(below(x, places[a : a + 512], directed), limit[:, None], 0.0).max(axis=0)
    return out


def _best_limits(order, rows, events, tail):
    """(N,) the largest lower Clopper-Pearson limit over the boxes that end at or below each distinct place.

    The counts of all boxes are one matrix product. A box matters only if it beats the best of a first choice of box
    for each place: P(Bin(n, best) >= k) < tail.
    """
    C = order.astype(np.float32 if rows.sum() < 2**24 else np.float64)
    n, k = (np.where(order, C @ (v[:, None].astype(C.dtype) * C), 0.0) for v in (rows, events))
    q = k / np.maximum(n, 1.0)
    promise = np.where(k > 0, q - 3 * np.sqrt((q * (1 - q) + 3 / np.maximum(n, 1.0)) / np.maximum(n, 1.0)), -np.inf)
    first, column = promise.argmax(axis=0), np.arange(len(rows))
    best = _limit(k[first, column], n[first, column], tail)
    best = np.where(order, best[:, None], 0.0).max(axis=0)
    i, j = np.nonzero((k > 0) & (q > best))
    k, n = k[i, j].astype(np.float64), n[i, j].astype(np.float64)
    better = betainc(k, n - k + 1, best[j]) < tail
    np.maximum.at(best, j[better], _limit(k[better], n[better], tail))
    return np.where(order, best[:, None], 0.0).max(axis=0)


def _limit(k, n, tail):
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    return np.where(k > 0, betaincinv(np.maximum(k, 1.0), n - k + 1, tail), 0.0)

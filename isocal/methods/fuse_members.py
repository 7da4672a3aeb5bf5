"""Members of a super learner fitted to rows, and to the rows without each fold in turn."""

from dataclasses import dataclass

import numpy as np

from ..numerics.simplex_em import TINY
from .base import Rows
from .fuse_scales import learn_scales
from .logistic_fusion import LogisticFusion

MOST_IN_EM = 50_000  # rows that are predicted out of fold


@dataclass(frozen=True, eq=False)
class HeldOut:
    """p: {member: predictions (k,) out of fold}; y, w (k,) of the same rows."""

    p: dict
    y: np.ndarray
    w: np.ndarray

    def losses(self, p):
        """(mean squared error, mean logarithmic score); what was held impossible counts as of probability 1e-300."""
        own = np.where(self.y == 1, p, 1 - p)
        squared, log = (self.y - p) ** 2, -np.log(np.maximum(own, TINY))
        return float(self.w @ squared / self.w.sum()), float(self.w @ log / self.w.sum())


def fit_members(members, expit, sets):
    """[({scale: Scale}, {member: curve}, {member: why it failed})] for each of sets, (s (n, M), y (n,), w or None)."""
    names = dict.fromkeys(["scores", *(m.on for m in members)])
    out = [(learn_scales(names, expit, s, y, w), {}, {}) for s, y, w in sets]
    units, anchors = [scales["scores"](s) for (scales, *_), (s, *_) in zip(out, sets, strict=True)], [{} for _ in sets]
    for on, kind in dict.fromkeys((m.on, type(m.recipe)) for m in members):
        group = [m for m in members if (m.on, type(m.recipe)) == (on, kind)]
        rows = [
            Rows(unit if on == "scores" else scales[on](s), y, w, unit, ready)
            for (scales, *_), (s, y, w), unit, ready in zip(out, sets, units, anchors, strict=True)
        ]
        _fit_group(kind, group, rows, out)
        pools = [m.name for m in group if on == "scores" and m.recipe == LogisticFusion(prior="pool")]
        for (_, curves, _), unit, ready in zip(out, units, anchors, strict=True):
            if pools and pools[0] in curves:
                ready["pool"] = curves[pools[0]](unit)
    return out


def _fit_group(kind, group, rows, out):
    """Put curves and failures of members of one class on one scale where they belong."""
    try:
        found = kind.fit_together([m.recipe for m in group], rows)
        for (_, curves, _), own in zip(out, found, strict=True):
            curves |= {m.name: curve for m, curve in zip(group, own, strict=True)}
    except ValueError:  # one by one, to learn which
        for (_, curves, failed), own in zip(out, rows, strict=True):
            for m in group:
                try:
                    curves[m.name] = kind.fit_together([m.recipe], [own])[0][0]
                except ValueError as error:
                    failed[m.name] = str(error)


def _kept(s, y, w):
    """(s, y, w) of the rows of positive weight; weights of one are None."""
    keep = w > 0
    return s[keep], y[keep], None if np.all(w[keep] == 1) else w[keep]


def cross_fitted(members, expit, rows, W, hashes):
    """(HeldOut, scales, curves, {member: why it failed}): at most 50,000 rows predicted by fits without their fold, W
    (n, 5), and the fit to all rows (s, y, w).
    """
    (s, y, w), trains, tests = rows, [], []
    few = np.ones(len(y), dtype=bool)
    if len(y) > MOST_IN_EM:
        few = hashes < np.partition(hashes, MOST_IN_EM)[MOST_IN_EM]
    for f in range(W.shape[1]):
        train, test = (1.0 if w is None else w) - W[:, f], np.flatnonzero((W[:, f] > 0) & few)
        if len(test) and np.any(train > 0):
            trains.append(train)
            tests.append((s[test], y[test], W[test, f]))
    fits, step = [], len(trains) if len(y) <= MOST_IN_EM else 1  # the scores of all folds are too much at once
    for a in range(0, len(trains), step):
        last = [rows] if a + step >= len(trains) else []
        fits += fit_members(members, expit, [_kept(s, y, train) for train in trains[a : a + step]] + last)
    failed = {name: reason for *_, wrong in fits for name, reason in wrong.items()}
    on = {m.name: m.on for m in members if m.name not in failed}
    p = {name: [] for name in on}
    for (scales, curves, _), (places, *_) in zip(fits, tests, strict=False):
        seen = {scale: scales[scale](places) for scale in dict.fromkeys(on.values())}
        for name, scale in on.items():
            p[name].append(curves[name](seen[scale]))
    labels, weights = (np.concatenate([test[k] for test in tests]) for k in (1, 2))
    held = HeldOut({name: np.concatenate(q) for name, q in p.items()}, labels, weights)
    return held, *fits[-1][:2], failed

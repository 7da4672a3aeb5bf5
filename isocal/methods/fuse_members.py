"""Members of a super learner fitted to rows, and to the rows without each fold in turn."""

from dataclasses import dataclass

import numpy as np

from ..numerics.simplex_em import TINY
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


def fit_members(members, expit, s, y, w):
    """({scale: Scale}, {member: curve}, {member: why it failed}) on rows s (n, M), y (n,), w (n,) or None."""
    scales = learn_scales(dict.fromkeys(["scores", *(m.on for m in members)]), expit, s, y, w)
    unit, curves, failed, anchors = scales["scores"](s), {}, {}, {}
    for on, kind in dict.fromkeys((m.on, type(m.recipe)) for m in members):
        group, x = [m for m in members if (m.on, type(m.recipe)) == (on, kind)], scales[on](s)
        try:
            found = kind.fit_together([m.recipe for m in group], x, y, w, unit, anchors)
            curves |= {m.name: curve for m, curve in zip(group, found, strict=True)}
            pools = [m.name for m in group if on == "scores" and m.recipe == LogisticFusion(prior="pool")]
            anchors |= {"pool": curves[pools[0]](unit)} if pools else {}
        except ValueError:  # one by one, to learn which
            for m in group:
                try:
                    curves[m.name] = kind.fit_together([m.recipe], x, y, w, unit)[0]
                except ValueError as error:
                    failed[m.name] = str(error)
    return scales, curves, failed


def out_of_fold(members, expit, rows, W, hashes):
    """(HeldOut, {member: why it failed}): predictions of at most 50,000 rows by fits without their fold, W (n, 5)."""
    (s, y, w), failed, parts = rows, {}, []
    few = np.ones(len(y), dtype=bool)
    if len(y) > MOST_IN_EM:
        few = hashes < np.partition(hashes, MOST_IN_EM)[MOST_IN_EM]
    for f in range(W.shape[1]):
        train, test = (1.0 if w is None else w) - W[:, f], np.flatnonzero((W[:, f] > 0) & few)
        keep = train > 0
        if not len(test) or not keep.any():
            continue
        weights = None if np.all(train[keep] == 1) else train[keep]
        scales, curves, wrong = fit_members(members, expit, s[keep], y[keep], weights)
        failed |= wrong
        places = {on: scale(s[test]) for on, scale in scales.items()}
        on = {m.name: m.on for m in members}
        parts.append(({name: curve(places[on[name]]) for name, curve in curves.items()}, y[test], W[test, f]))
        members = [m for m in members if m.name not in failed]
    p = {m.name: np.concatenate([part[0][m.name] for part in parts]) for m in members}
    return HeldOut(p, *(np.concatenate([part[k] for part in parts]) for k in (1, 2))), failed

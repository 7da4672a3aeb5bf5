"""The option `anchor`: what a fit is shrunk toward, as a word, a Curve, or the results of another fit."""

from dataclasses import dataclass

import numpy as np

from ..numerics.anchor import Anchor, regressors
from .base import Curve, own_classes

WORDS = {"logistic": "a logistic fusion", "pool": "a logistic fusion near the mean logit", "mean": "the mean"}
SAME = 1e-9  # largest difference of scores that two sets of transforms may leave


@dataclass(frozen=True, eq=False)
class FittedAnchor:
    """The curve of results, with the terms that say on which scores it lives."""

    curve: Curve
    terms: object


def read_anchor(option):
    """A word, a Curve, or a FittedAnchor made of results; a dict is what to_dict() wrote."""
    if isinstance(option, Curve | FittedAnchor) or (isinstance(option, str) and option in WORDS):
        return option
    if isinstance(option, dict):
        return own_classes(Curve)[option["class"]].from_dict(option["values"])
    if isinstance(getattr(option, "curve", None), Curve) and hasattr(option, "terms"):
        return FittedAnchor(option.curve, option.terms)
    raise ValueError(f"anchor must be 'logistic', 'pool', 'mean', or a fit or its curve; got {option!r}")


def written_anchor(anchor):
    """The anchor in plain JSON types."""
    if isinstance(anchor, str):
        return anchor
    curve = anchor.curve if isinstance(anchor, FittedAnchor) else anchor
    name = type(curve).__name__
    if own_classes(Curve).get(name) is not type(curve):
        raise ValueError(f"anchor: a {name} is not of isocal, so a file cannot hold it: shrink toward a fit of isocal")
    return {"class": name, "values": curve.to_dict()}


def called(anchor):
    """How the summary calls it."""
    return WORDS[anchor] if isinstance(anchor, str) else "a given curve"


def check_names(anchor, names):
    """The scores of a fit that is an anchor must be those of this formula."""
    if isinstance(anchor, FittedAnchor) and list(anchor.terms.names) != list(names):
        raise ValueError(f"anchor: it was fitted to {', '.join(anchor.terms.names)}, this formula has "
                         f"{', '.join(names)}: fit the anchor with the same terms")  # fmt: skip


def numeric_anchor(anchor, s, raw, directions, w, fitted=None):
    """The Anchor of rows s (n, M), raw (n, M) or None where they are s, w (n,) or None; fitted {word: p (n,)} ready."""
    if isinstance(anchor, str) and anchor in (fitted or {}):
        return Anchor(p=fitted[anchor])
    if anchor == "mean":
        return Anchor()
    if anchor == "logistic":
        return Anchor(x=regressors(s, s if raw is None else raw, directions, len(s) if w is None else w.sum()))
    if anchor == "pool":
        raw = s if raw is None else raw
        if raw.min() < 0 or raw.max() > 1 or any(d != 1 for d in directions):
            raise ValueError('anchor="pool" is near the mean logit, so every score must rise and lie in [0, 1]; they '
                             f'range from {raw.min():.6g} to {raw.max():.6g}: use anchor="logistic"')  # fmt: skip
        return Anchor(x=regressors(s, raw, directions, 0.0), pooled=True)
    curve, M = (anchor.curve if isinstance(anchor, FittedAnchor) else anchor), s.shape[1]
    grid, steps = curve.grid(), curve.steps()
    axes = M if grid is None and steps is None else len(steps) if grid is None else grid.ndim
    if axes != M:
        raise ValueError(f"anchor: a curve of {axes} scores cannot be the anchor of a fit of {M}: use the same terms")
    fixed = isinstance(anchor, FittedAnchor) and raw is not None
    p = np.asarray(curve(_its_scores(anchor.terms, s, raw, w) if fixed else s), dtype=np.float64)
    if p.shape != (len(s),) or not (np.isfinite(p).all() and p.min() >= 0 and p.max() <= 1):
        raise ValueError("anchor: the curve must give a probability in [0, 1] at every row of the fit")
    return Anchor(p=p)


def _its_scores(terms, s, raw, w):
    """The scores (n, M) of these rows by the transforms of the anchor's own fit.

    Those of this fit must be the same, or the same learned anew from its rows, as every fold does.
    """
    raw = np.asfortranarray(raw)
    own = terms.scores(raw, "unit")
    apart = np.max(np.abs(own - s))
    if apart > SAME and np.max(np.abs(terms.learn(raw, w)[1] - s)) > SAME:
        raise ValueError(
            f"anchor: its transforms give other scores, up to {apart:.2g} apart: fit the anchor with the same terms"
        )
    return own

"""Many Bernstein fits in one stroke: replicates on the same scores, and several recipes on several sets of rows."""


from ..numerics.estimation import Estimate, of_parts
from ..numerics.fold_parts import many_parts, whole_part
from ..numerics.many_qp import fit_rows
from . import bernstein_options as options
from .base import arrays_and_raw, columns


def replicates(recipe, s, Y, W, raw):
    """A curve for each of r problems; one pass over the rows where no folds are needed."""
    (Y, W, r), M = columns(Y, W), s.shape[1]
    plan = options.plan_of(recipe, M, W[:, 0].sum())
    if plan.plain:
        fits, near = fit_rows(s, Y, W, plan.K, plan.sieve.directions, plan.sieve.strength)
        each = zip(fits.beta, fits.df, fits.kkt, fits.polished, near >= 1.0, strict=True)
        found = (Estimate(b.reshape(n.shape), *map(float, dk), bool(ok), n) for b, *dk, ok, n in each)
        return [recipe.curve(e, s) for e in found]
    pairs = [(Y[:, j % Y.shape[1]], W[:, j % W.shape[1]]) for j in range(r)]
    if plan.needs_folds:
        rows = ((w > 0, y, w) for y, w in pairs)
        return [recipe.fit_checked(s[k], y[k], w[k], None if raw is None else raw[k], False) for k, y, w in rows]
    anchors = [recipe.pull(s, y, w, raw) for y, w in pairs]
    parts = list(many_parts(s, Y, W, plan.degrees(), anchors, recipe.loss == "log"))
    plans = [options.plan_of(recipe, M, part.sums.weight) for part in parts]
    return [recipe.curve(found, s) for found in of_parts(parts, plans)]


def together(recipes, sets):
    """[[curve of each recipe] for each of sets, Rows], one pass over each for all degrees and shrinkages; None where
    folds are needed or the recipes do not share their sums.
    """
    M = sets[0].s.shape[1]
    first = [options.plan_of(recipe, M, 1.0) for recipe in recipes]
    if not options.share_sums(recipes, first):
        return None
    degrees = [max(d) for d in zip(*(plan.degrees() for plan in first), strict=True)]
    pulled = next((recipe for recipe in recipes if recipe.shrink or recipe.anchor_rows), None)
    scores, parts = [], []
    for rows in sets:
        s, y, w, raw = arrays_and_raw(rows.s, rows.y, rows.w, rows.raw)
        recipes[0].check(s, y, w)
        anchor = None if pulled is None else pulled.pull(s, y, w, raw, rows.anchors)
        scores.append(s)
        parts.append(whole_part(s, y, w, degrees, anchor, "log" in {recipe.loss for recipe in recipes}))
    out = []
    for recipe in recipes:
        plans = [options.plan_of(recipe, M, part.sums.weight) for part in parts]
        out.append([recipe.curve(e, s) for e, s in zip(of_parts(parts, plans), scores, strict=True)])
    return [list(curves) for curves in zip(*out, strict=True)]

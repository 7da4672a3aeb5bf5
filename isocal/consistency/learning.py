"""Does the fit settle as rows come in: the split-half learning curve."""

import numpy as np

from ..numerics.basis import design
from ..numerics.cone import cone
from ..numerics.learning_curve import learning_curve as curve_of
from ..numerics.many_qp import solve_each
from ..numerics.moments import gram, moments, rhs
from ..numerics.qp import tie_break
from ..numerics.sieve import fit_degree
from .degree import EXACT_UP_TO
from .finding import ACT, FINE, LOOK, Finding, graded

PARAMETRIC, SLOW, STUCK = -1.0, -0.6, -0.3
REPEATS = {80: 24, 260: 8, 700: 2}  # by the number of coefficients at most
OTHERS = 4  # for methods that are refitted one by one


def learning_curve(fit):
    """Slope of log variance on log rows, between fits to disjoint parts; and the held-out Brier score along it.

    Reference: -1 at a fixed degree; -2/3 is the worst case of a sieve that grows with the rows, and the rate of
    isotonic regression. With several scores it is about -0.75 at ordinary sizes: fewer constraints bind as rows come
    in, so that degrees of freedom still grow. It shows that variance shrinks and says nothing about bias: degree_path
    and degree_adequacy do.
    """
    if np.ptp(fit.y) == 0:
        raise ValueError("all labels are equal")
    sieve = fit.is_least_squares
    predict = _of_sieve(fit) if sieve else _of_recipe(fit)
    least, repeats = _plan(fit) if sieve else (0, OTHERS)
    found = curve_of(predict, fit.y, fit.weights, fit.rng, least, repeats, fit.progress)
    if not np.isfinite(found.slope):
        raise ValueError("fits to parts of the rows do not differ: there is no variance to follow")
    verdict = graded(found.slope, SLOW, STUCK)
    typical = float(np.sqrt(found.variance[-1] * found.size[-1] / fit.n))
    advice = {
        FINE: "Nothing to do: more rows make it better at the expected rate.",
        LOOK: "More rows help less than expected: look at ties and outliers, or lower K.",
        ACT: "More rows do not settle this fit: lower K, or use a simpler method.",
    }[verdict]
    columns = {"rows": found.size, "variance": found.variance, "held_out_brier": found.held_out}
    detail = {name: column.tolist() for name, column in columns.items()}
    shown = f"slope {found.slope:.2f}; standard deviation about {typical:.3f} at {fit.n:,} rows"
    reference = f"{PARAMETRIC:g} at fixed K" if sieve and fit.M == 1 else "-1 to -2/3"
    figures = {"standard deviation at all rows": typical}
    return Finding("learning_curve", found.slope, shown, reference, verdict, advice, figures, detail)


def _plan(fit):
    """(rows from which the sieve is small for them, repeats)."""
    p = fit.grid.size
    repeats = next((times for most, times in REPEATS.items() if p <= most), 0)
    if not repeats:
        raise ValueError(f"{p:,} coefficients take too long to refit many times: a smaller K has it")
    return 2 * p, repeats


def _of_sieve(fit):
    """Fits of the same degree to parts of the rows, all in one stroke where they are small."""
    shape = tuple(k + 1 for k in fit.K)
    limits, penalty = cone(shape, fit.directions), tie_break(shape, fit.strength or 1e-10)
    X, D = design(fit.s, fit.K), [2 * k for k in fit.K]

    def predict(parts):
        sums = [moments(fit.s[r], fit.y[r], None if fit.w is None else fit.w[r], D) for r in parts]
        if limits.p > EXACT_UP_TO:
            return np.stack([X @ fit_degree(m, fit.K, fit.directions, fit.strength, rough=True).beta for m in sums])
        weight = np.array([m.weight for m in sums])
        mean = np.array([m.events for m in sums]) / weight
        G = np.stack([gram(m.T0, fit.K) for m in sums])
        t = np.stack([rhs(m.T1, fit.K) for m in sums])
        return solve_each(G, t, weight, mean, limits, penalty).beta @ X.T

    return predict


def _of_recipe(fit):
    """Fits to parts of the rows one by one, with what the fit chose held, as for the sieve."""
    recipe = fit.recipe.hold(fit.curve)

    def predict(parts):
        curves = (recipe.fit_arrays(fit.s[r], fit.y[r], None if fit.w is None else fit.w[r]) for r in parts)
        return np.stack([curve(fit.s) for curve in curves])

    return predict

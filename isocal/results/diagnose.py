"""Is it to be trusted, and why: consistency diagnostics, and the rows that move the fit."""

import numpy as np

from .judge import _judged

# The diagnostics are imported where they are used: most fits never ask for them, and they take time to import.


def consistency(self, quick=False, rng=None, progress=True):
    """Eleven diagnostics of the fit, each with its value, a reference, a verdict and what to do.

    certificate (monotone, optimal), support, degrees of freedom, sieve ratios, slope ceiling, path of degrees, test of
    the degree, test of isotonicity, active constraints, learning curve, goodness of fit of cross-validated
    predictions. Methods without a Bernstein sieve get those that apply; the others are named with the reason.

    Parameters
    ----------
    quick : bool
        Leave out what draws many times (test of the degree, learning curve).
    rng : None, int or numpy.random.Generator
        For the draws; None takes fresh entropy, kept as ``seed``.
    progress : bool
        Whether long loops show a bar; they may be interrupted, and what is done is kept.

    Returns
    -------
    Consistency
        ``summary()``, ``table``, ``detail(term)``, ``plot()``, ``verdict``.

    Raises
    ------
    ValueError
        For a fit without rows (after loading, or from a stream).

    Notes
    -----
    Verdicts are thresholds and 5 % and 1 % tests, eleven at a time: one "look" is no reason to discard a fit.
    Transforms such as ecdf() are taken as fixed. References: Meyer & Woodroofe (2000), doi:10.1214/aos/1015956708;
    Bartholomew (1959), doi:10.1093/biomet/46.1-2.36; Wang & Liu (2020), Theorem 4.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(300, M=1, rng=1)
    >>> res = isocal.bernstein("y ~ s1", data, K=4).fit()
    >>> found = res.consistency(quick=True, rng=0)
    >>> found.findings["certificate"].verdict, found.skipped["learning_curve"]
    ('fine', 'draws at random: quick=False runs it')
    """
    from ..consistency import diagnose
    from ..diagnosis import Consistency, maps_of

    fit, seed = _fitted_rows(self, "consistency()", rng, quick, progress)
    fit = fit.in_order()
    found = diagnose(fit)
    label = f"{self.recipe.title}, {self.formula}"
    return Consistency(label, found.findings, found.skipped, maps_of(fit), tuple(self.terms.labels), seed)


def influence(self, top=10, progress=True):
    """What leaving out each row does to the fit.

    A Bernstein fit by least squares is linear in the labels while its active set stays, so the change of each row's own
    fitted value is r h / (1 - h) with the leverage h of the face; rows whose deletion changes the active set are
    marked, and the strongest are refitted exactly. Other methods are refitted once a row, with the options that the
    fit has chosen. Transforms are kept.

    Parameters
    ----------
    top : int
        Rows of largest change to list, and to refit.
    progress : bool
        Whether refitting shows a bar.

    Returns
    -------
    Influence
        ``table`` (one row a row of the fit), ``summary()``, ``plot()``, ``top``.

    Raises
    ------
    ValueError
        For a fit without rows, top below 1, or a method that must be refitted on more than 5,000 rows.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=1, rng=1)
    >>> found = isocal.bernstein("y ~ s1", data, K=4).fit().influence()
    >>> found.table.shape, bool(found.table.leverage.between(0, 1).all())
    ((200, 9), True)
    """
    from ..diagnosis import influence_of
    from ..influence import least_squares_influence, refitted_influence

    if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
        raise ValueError(f"top must be a whole number of at least 1; got {top!r}")
    fit, _ = _fitted_rows(self, "influence()", 0, True, progress)
    if fit.is_least_squares:
        found = least_squares_influence(fit.face, fit.s, fit.y, fit.w, top)
    else:
        held = self.recipe.hold(self.curve)
        found = refitted_influence(held, self.curve, fit.s, fit.y, fit.w, top, progress, self.rows.raw)
    return influence_of(f"{self.recipe.title}, {self.formula}", found, fit.y, self.rows.index)


def _fitted_rows(self, what, rng, quick, progress):
    """(FittedRows of the fit, seed)."""
    from ..calibration_tests.inputs import drawing
    from ..consistency import FittedRows

    rows = self.rows_or(what)
    s = self.terms.scores(rows.raw, self.recipe.domain())
    generator, seed = drawing(rng)

    def held_out():
        y, p, w, _ = _judged(self, None, None)
        return y, p, w

    return FittedRows(s, rows.y, rows.w, self.recipe, self.curve, list(self.terms.labels), held_out, generator,
                      progress, quick), seed  # fmt: skip

"""compare(): any fits, and plain columns of probabilities, on the same rows."""

import difflib
import warnings
from collections.abc import Mapping

import numpy as np

from ..bootstrap import new_seed
from ..metrics import METRICS
from ..metrics.table import BIASED
from ..model import Model
from ..results import Results
from .compared import Comparison, frames_of
from .judged import CROSS, OWN, SOME, UNKNOWN, cross_validated, on_new_rows
from .paired import CENTRED, paired, resampled
from .yardsticks import yardsticks as made_of

DEFAULT = ("brier", "log_loss", "auc", "debiased_ce")


def compare(
    fits, newdata=None, metrics=DEFAULT, *, control=None, response=None, event=None, weights=None, level=0.95,
    n_boot=999, rng=None, progress=True, yardsticks=False,
):  # fmt: skip
    """Which fit is better? Metrics of fits and of plain probabilities on the same rows, with paired differences.

    Every fit is judged on the same rows: those of ``newdata``, or, without it, the rows of the fits by five-fold
    cross-validation, with the same folds for all. A row that any of them cannot predict is left out for all, counted.

    Parameters
    ----------
    fits : dict or list
        ``{name: fit}``; a fit is what ``.fit()`` returns, or ``isocal.load()``, the name of a column of probabilities,
        or an array of them, one for each row (of newdata; without it, of the data of the fits). In a list, fits are
        called by their method, and by their formula where two have the same; columns by their name.
    newdata : DataFrame, optional
        Rows with the response and all scores that no fit has seen.
    metrics : sequence of str
        Of `isocal.metrics.METRICS`; the first is the one that the figures go by.
    control : str, optional
        The fit that the others are compared with. Default: for each metric the best one.
    response, event : optional
        The column of labels and its event, where all fits are plain columns.
    weights : str or array_like, optional
        Case weights of newdata, a column or an array; a whole weight is a row repeated. Cross-validation takes the
        weights of the fits.
    level : float
        Coverage of the intervals, each for itself.
    n_boot : int
        Bootstrap samples, at least 20, or 0 for intervals from standard errors.
    rng : None, int or Generator
        None draws a fresh seed, kept and printed.
    progress : bool
        Whether a bar is shown. Interrupted, the samples made so far are used.
    yardsticks : bool
        Add the mean score (of one score: the score as it came) and a logistic fusion of the same columns, fitted to
        the rows of the fit with most scores.

    Returns
    -------
    Comparison
        ``print`` it; ``.frame`` (one row a fit), ``.estimates``, ``.differences``, ``.summary()``,
        ``.plot(kind="forest"|"murphy"|"reliability")``.

    Raises
    ------
    TypeError
        A model that is not fitted, or something else that is no fit.
    ValueError
        Fewer than two fits, fits of the same name, of different events or of different rows, a metric or control that
        is not known (with a close match), newdata without the response, values that are no probabilities.

    Warns
    -----
    UserWarning
        If a fit was trained on rows of newdata: it is also marked in the table.

    Notes
    -----
    *What is covered.* Fits are held fixed, so standard errors, intervals and p values speak of the noise of the rows
    judged alone: would these very fits keep their order on other rows? How much a fit would change with other training
    rows is not in them. In cross-validation the folds share training rows, which they take no account of either, and
    training rows that some fit cannot use are left out for all.

    *Errors and tests.* Brier score and log loss are means over rows: a paired t test on their differences row by row.
    AUC: DeLong. Other metrics: the standard deviation of the bootstrap and the normal law, as for AUC where weights are
    fractions. Intervals are percentiles of a bootstrap that draws the same rows for all fits; those of the debiased
    calibration error are moved to have the estimate as their mean, since resampling adds the bias it has taken off
    (measured at 95 %: .85 to .95 for differences, n = 300 and 1,500; unmoved .78 to .89).
    ECE, MCE, ACE, KS, smooth ECE, MCB, DSC and ICI are biased away from 0 by an amount that differs from fit to fit:
    they have differences and no intervals. A log loss that is infinite has none either.

    *Holm.* The best fit is chosen by looking, so its comparisons are adjusted as members of the family of all pairs.
    With a control, chosen beforehand, the family is the comparisons with it. Metrics are adjusted each for itself.

    *Marks.* ``judged_on`` is "new rows", "cross-validated", "own rows" or "some own rows" of the fit (its numbers
    flatter it), or "not known" for loaded fits and plain columns, which do not say what they were trained on.

    References
    ----------
    DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Biometrics 44(3), 837-845. doi:10.2307/2531595
    Davison, A. C. & Hinkley, D. V. (1997). Bootstrap Methods and their Application. doi:10.1017/CBO9780511802843
    Holm, S. (1979). Scandinavian Journal of Statistics 6(2), 65-70.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(400, M=2, rng=1)
    >>> fits = {"both": isocal.bernstein("y ~ s1 + s2", data, K=3).fit(), "one": isocal.platt("y ~ s1", data).fit()}
    >>> found = isocal.compare({**fits, "raw": "s1"}, n_boot=99, rng=0)
    >>> found.frame.judged_on.tolist()
    ['cross-validated', 'cross-validated', 'not known']
    >>> found.reference("brier")
    'both'
    """
    fits = named(fits, 1 if yardsticks else 2)
    fits |= made_of(fits) if yardsticks else {}
    metrics = _metrics(metrics)
    _check(fits, control, level, n_boot)
    seed = new_seed(rng)
    if newdata is not None:
        judged = on_new_rows(fits, newdata, response, event, weights)
    elif response is not None or event is not None or weights is not None:
        raise ValueError("response=, event= and weights= are of newdata; without it the fits say what theirs are")
    else:
        judged = cross_validated(fits)
    names = list(fits)
    _warn(names, judged.how)
    draws = resampled(judged.y, judged.P, judged.w, names, metrics, int(n_boot), seed, progress)
    found = [paired(m, judged.y, judged.P, judged.w, draws[m]) for m in metrics]
    estimates, differences = frames_of(found, names, control, level)
    made = max(len(t) for t in draws.values())
    return Comparison(
        judged.label, judged.y, dict(zip(names, judged.P.T, strict=True)), judged.w,
        dict(zip(names, judged.how, strict=True)), estimates, differences, control, float(level), made, seed,
        judged.left_out, (*judged.notes, *_notes(judged, metrics, estimates, control)),
    )  # fmt: skip


def named(fits, least=2):
    """{name: fit} of a dict or a list of fits, at least so many."""
    if isinstance(fits, Results | Model | str) or not isinstance(fits, Mapping | list | tuple):
        raise TypeError(f"fits must be a dict {{name: fit}} or a list of fits; got {type(fits).__name__}")
    pairs = [(str(name), fit) for name, fit in (fits.items() if isinstance(fits, Mapping) else _called(fits))]
    if len(pairs) < least:
        raise ValueError(
            f"compare() needs two fits or more; got {len(pairs)}: one fit alone is judged by its .metrics()"
        )
    for i, (name, fit) in enumerate(pairs):
        if isinstance(fit, Model):
            raise TypeError(f"fit {name!r} is a model that is not fitted: call .fit() on it")
        if not isinstance(fit, Results | str) and not (hasattr(fit, "__len__") and np.ndim(fit) == 1):
            raise TypeError(f"fit {name!r} must be results, a column name or an array; got {type(fit).__name__}")
        if name in [other for other, _ in pairs[:i]]:
            raise ValueError(f"two fits are called {name!r}: give them names, compare({{'a': ..., 'b': ...}})")
    return dict(pairs)


def _called(fits):
    """(name, fit) of fits without names."""
    titles = [fit.recipe.title if isinstance(fit, Results | Model) else None for fit in fits]
    for i, (fit, title) in enumerate(zip(fits, titles, strict=True)):
        if title is not None:
            yield (title if titles.count(title) == 1 else f"{title}, {fit.formula}"), fit
        elif isinstance(fit, str) or getattr(fit, "name", None) is not None:
            yield (fit if isinstance(fit, str) else fit.name), fit
        else:
            raise ValueError(f"fit {i} of the list has no name: use a dict, compare({{'name': ...}})")


def _metrics(metrics):
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    if not metrics:
        raise ValueError("metrics is empty: name at least one, such as 'brier'")
    for m in metrics:
        if m == "unc":
            raise ValueError("metric 'unc' does not depend on the forecast: there is nothing to compare")
        if m not in METRICS:
            near = difflib.get_close_matches(str(m).lower(), METRICS, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"they are {', '.join(METRICS)}"
            raise ValueError(f"there is no metric {m!r}: {hint}")
    return list(dict.fromkeys(metrics))


def _check(fits, control, level, n_boot):
    if control is not None and control not in fits:
        near = difflib.get_close_matches(str(control), fits, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"the fits are {', '.join(map(repr, fits))}"
        raise ValueError(f"control {control!r} is none of the fits: {hint}")
    if isinstance(level, bool) or not 0 < level < 1:
        raise ValueError(f"level is a coverage between 0 and 1, such as 0.95; got {level!r}")
    whole = isinstance(n_boot, int | np.integer) and not isinstance(n_boot, bool)
    if not whole or (n_boot != 0 and n_boot < 20):
        raise ValueError(f"n_boot must be 0 or a whole number of at least 20, such as 999; got {n_boot!r}")


def _warn(names, how):
    trained = [repr(name) for name, mark in zip(names, how, strict=True) if mark in (OWN, SOME)]
    if trained:
        warnings.warn(
            f"{', '.join(trained)} judged on rows of newdata that it was trained on: this flatters it; leave out "
            "newdata for cross-validation, or give rows that no fit has seen", UserWarning, stacklevel=3,
        )  # fmt: skip


def _notes(judged, metrics, estimates, control):
    if any(mark in (OWN, SOME) for mark in judged.how):
        yield "Judged on own rows: the fit was trained on them, and its numbers flatter it."
    if CROSS in judged.how and UNKNOWN in judged.how:
        yield "Judged on rows not known: probabilities as given; trained on these rows, they have an advantage."
    for (metric, fit), value in estimates.set_index(["metric", "fit"]).estimate.items():
        if np.isinf(value):
            yield f"Log loss of {fit} is infinite: it gave probability 0 to what happened."
        elif np.isnan(value) and fit == estimates.fit.iloc[0]:
            yield f"{metric} is not defined on these rows: one class is absent."
    biased = [m for m in metrics if m in BIASED and m not in CENTRED]
    if biased:
        yield f"No intervals for {', '.join(biased)}: biased away from 0, by an amount that differs from fit to fit."
    if control is None:
        yield "Holm: within all pairs of fits, since the best is chosen by looking."

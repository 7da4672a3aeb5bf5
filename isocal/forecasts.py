"""The doors to assessment: check_calibration() and reliability() of probability columns, by formula."""

import numpy as np

from .terms import read

ONE_ROW_SET = "Rows that miss any of the forecasts are left out for all of them."


def _forecasts(formula, data, event, weights, subset, missing):
    """(label, y, {term: probabilities}, w, notes) of a formula whose right side holds probabilities."""
    response, terms, rows = read(formula, data, event, weights, subset, missing)
    terms, p = terms.learn(rows.raw, rows.w)
    for m, label in enumerate(terms.labels):
        low, high = p[:, m].min(), p[:, m].max()
        if low < 0 or high > 1:
            raise ValueError(
                f"{label!r} must hold probabilities, but ranges from {low:.6g} to {high:.6g}: expit({label}) turns "
                "log-odds into probabilities; other scores need a calibrator first, e.g. isocal.platt"
            )
    dropped = rows.dropped
    notes = [f"Dropped: {', '.join(f'{n:,} {reason}' for reason, n in dropped.items())}."] if dropped else []
    notes += [ONE_ROW_SET] if dropped and len(terms.labels) > 1 else []
    return response.label, rows.y, {t: np.ascontiguousarray(p[:, m]) for m, t in enumerate(terms.labels)}, rows.w, notes


def check_calibration(
    formula, data, *, event=None, weights=None, subset=None, missing="drop", rng=None, clip=None,
    progress=True,
):  # fmt: skip
    """Is this column of probabilities calibrated? Every test in one table, and the figure.

    The probabilities must be forecasts of these rows by a model that has not seen them: on the rows of its own fit
    every such test is vacuous (`Results.check_calibration` uses cross-validated predictions).

    Parameters
    ----------
    formula : str
        ``"y ~ p"``; the right side is one column of probabilities (or ``expit(column)``).
    data, event, weights, subset, missing
        As in `Model`.
    rng : None, int or Generator
        For the e-value and the resampling test; None takes fresh entropy, printed.
    clip : float, optional
        Move probabilities into [clip, 1 - clip] first; tests on the logit scale refuse 0 and 1 otherwise.
    progress : bool
        Show a bar for the resampling test where it takes longer than half a second.

    Returns
    -------
    CalibrationCheck
        ``print`` it; ``.table``, ``.metrics``, ``.summary()``, ``.plot()``.

    Raises
    ------
    ValueError
        Values outside [0, 1], naming the column and the remedy; more than one column.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(300, M=1, rng=1)
    >>> check = isocal.check_calibration("y ~ p", data, rng=0)
    >>> bool(check.table.set_index("term").p_value["spiegelhalter"] > 0.01)
    True
    """
    from .assessment import check_forecast_calibration

    label, y, forecasts, w, notes = _forecasts(formula, data, event, weights, subset, missing)
    if len(forecasts) > 1:
        raise ValueError(f"check_calibration judges one forecast, got {', '.join(forecasts)}: use isocal.reliability")
    (name, p), = forecasts.items()  # fmt: skip
    return check_forecast_calibration(label, name, y, p, w, rng, clip, notes, progress)


def reliability(formula, data, *, event=None, weights=None, subset=None, missing="drop"):
    """CORP reliability diagrams of one or several forecasts of the same event on the same rows.

    Parameters
    ----------
    formula : str
        ``"y ~ p1 + p2"``; columns of probabilities (or ``expit(column)``).
    data, event, weights, subset, missing
        As in `Model`.

    Returns
    -------
    Reliability
        ``print`` it; ``.table`` (MCB, DSC, UNC), ``.plot()``, ``.plot_murphy()``, ``.band()``, ``.bins()``.

    Raises
    ------
    ValueError
        Values outside [0, 1], naming the column and the remedy.

    References
    ----------
    Dimitriadis, T., Gneiting, T. & Jordan, A. I. (2021). PNAS 118(8), e2016191118. doi:10.1073/pnas.2016191118

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.load_adult_scores()
    >>> isocal.reliability("y ~ s1 + s2 + s3", data).table.forecast.tolist()
    ['s1', 's2', 's3']
    """
    from .assessment import Reliability

    label, y, forecasts, w, notes = _forecasts(formula, data, event, weights, subset, missing)
    return Reliability(label, y, forecasts, w, tuple(notes))

"""Decompositions of mean scores: CORP (isotonic, exact) and Murphy (bins)."""

from dataclasses import dataclass

import numpy as np

from ..numerics.calibration_sums import width_position
from ..numerics.corp_curve import ReliabilityCurve, brier_of, log_of, reliability_curve_of
from ..numerics.forecast import DIGITS, blocks_of, check_forecast
from .binned import bin_sums
from .scores import brier, log_loss

SCORES = {"brier": (brier, brier_of), "log": (log_loss, log_of)}


@dataclass(frozen=True)
class Corp:
    """score = mcb - dsc + unc.

    Attributes
    ----------
    score : float
        Mean score of the forecast.
    mcb, dsc, unc : float
        Miscalibration and discrimination, both >= 0, and uncertainty (the score of the event frequency).
    curve : ReliabilityCurve
        The isotonic curve that recalibrates the forecast.
    """

    score: float
    mcb: float
    dsc: float
    unc: float
    curve: ReliabilityCurve


def corp(y, p, w=None, score="brier"):
    """CORP decomposition of a mean score into miscalibration, discrimination and uncertainty.

    The forecast is recalibrated by isotonic regression of y on p, ties pooled: MCB = S(p) - S(recalibrated),
    DSC = S(event frequency) - S(recalibrated), UNC = S(event frequency). No bins, nothing to tune, and exact.

    Parameters
    ----------
    y, p, w
        As in `brier`.
    score : {"brier", "log"}
        The log score, and with it MCB, is infinite where an event had probability 0.

    Returns
    -------
    Corp
        With one class DSC and UNC are 0.

    Raises
    ------
    ValueError
        As `brier`; if the score is another.

    References
    ----------
    Dimitriadis, T., Gneiting, T. & Jordan, A. I. (2021). Stable reliability diagrams for probabilistic classifiers.
    PNAS 118(8), e2016191118. doi:10.1073/pnas.2016191118

    Examples
    --------
    >>> from isocal.metrics import corp
    >>> parts = corp([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])
    >>> parts.unc, parts.dsc
    (0.25, 0.125)
    >>> parts.curve.cep.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    if score not in SCORES:
        raise ValueError(f"score must be 'brier' or 'log'; got {score!r}")
    of_rows, of_cells = SCORES[score]
    mean = of_rows(y, p, w)
    checked = check_forecast(y, p, w)
    curve = reliability_curve_of(blocks_of(*checked[:2], None if w is None else checked[2]))
    events, n = curve.events.sum(), curve.weight.sum()
    recalibrated = of_cells(curve.events, curve.weight, curve.cep)
    unc = of_cells(events, n, events / n)
    return Corp(mean, mean - recalibrated, unc - recalibrated, unc, curve)


@dataclass(frozen=True)
class Murphy:
    """Brier score = rel - res + unc if p is constant in bins.

    Attributes
    ----------
    rel, res, unc : float
        Reliability, resolution, uncertainty.
    sd_rel, sd_res, sd_unc : float
        Their standard errors by the delta method.
    corrected : bool
        Whether the bias of finite bins was removed.
    """

    rel: float
    res: float
    unc: float
    sd_rel: float
    sd_res: float
    sd_unc: float
    corrected: bool


def murphy(y, p, w=None, bins=10, strategy="width", corrected=False):
    """Murphy decomposition of the Brier score by bins, with standard errors.

    REL = sum_b n_b/n (o_b - e_b)^2, RES = sum_b n_b/n (o_b - ybar)^2, UNC = ybar (1 - ybar), for event frequency o_b
    and mean probability e_b of a bin. The sum is the Brier score only if p is constant in every bin.

    Parameters
    ----------
    y, p, w, bins, strategy
        As in `calibration_bins` (width bins are [a, b), the last one closed).
    corrected : bool
        Subtract the bias of REL and RES from sampling labels in bins of at least two rows; REL is then the square of
        `debiased_ce`. Where REL, RES or UNC would leave their ranges (REL, RES >= 0, RES <= 1, UNC <= 1/4), only a
        part of the correction is made. The standard errors are those of the whole correction, and bins of fewer than
        two rows do not enter them. Weights count rows here.

    Returns
    -------
    Murphy

    Raises
    ------
    ValueError
        As `calibration_bins`.

    References
    ----------
    Murphy, A. H. (1973). J. Applied Meteorology 12(4), 595-600. doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2
    Ferro, C. A. T. & Fricker, T. E. (2012). QJRMS 138(668), 1954-1960. doi:10.1002/qj.1924
    Siegert, S. (2014). QJRMS 140(682), 1771-1774. doi:10.1002/qj.2228

    Examples
    --------
    >>> from isocal.metrics import murphy
    >>> parts = murphy([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75])
    >>> parts.rel, parts.res, parts.unc
    (0.0625, 0.0625, 0.1875)
    """
    sums = bin_sums(y, p, w, bins, strategy)
    y, p, w = check_forecast(y, p, w)
    at = width_position(p, bins) if strategy == "width" else _position(p, sums.borders)
    n, rate = sums.weight.sum(), sums.events.sum() / sums.weight.sum()
    A, o, e = sums.weight, np.nan_to_num(sums.observed()), np.nan_to_num(sums.predicted())
    parts = np.array([A @ (o - e) ** 2, A @ (o - rate) ** 2, n * rate * (1 - rate)]) / n
    # influence of a row on each part: constant and slope in y by bin, and for REL the slope in y - p
    base = np.array([-((o - e) ** 2), rate**2 - o**2, np.zeros(len(A))])
    slope = np.array([np.zeros(len(A)), 2 * (o - rate), np.full(len(A), 1 - 2 * rate)])
    cross = 2 * (o - e)
    if corrected:
        share, bias, more_base, more_slope = _correction(parts, A, o, n, rate)
        enough = A >= 2
        parts, cross = parts - share * bias, cross * enough
        base[:2] *= enough
        slope[:2] *= enough
        base, slope = base - more_base, slope - more_slope
    influence = base[:, at] + slope[:, at] * y
    influence[0] += cross[at] * (y - p)
    errors = [np.sqrt(w @ (row - w @ row / n) ** 2) / n for row in influence]
    return Murphy(*map(float, parts), *map(float, errors), bool(corrected))


def _position(p, borders):
    return np.clip(np.searchsorted(borders, np.round(p, DIGITS), side="right") - 1, 0, len(borders) - 2)


def _correction(parts, A, o, n, rate):
    """(share of the correction made, bias of the three parts, and constant and slope of its influence by bin)."""
    enough = A >= 2
    safe = np.where(enough, A, 2.0)
    within = np.sum(np.where(enough, A * o * (1 - o) / (safe - 1), 0.0)) / n
    between = rate * (1 - rate) / (n - 1) if n > 1 else 0.0
    bias = np.array([within, within - between, -between])
    rel, res, unc = parts
    limits = [1.0]
    limits += [rel / within] if within > 0 else []
    limits += [max(res / bias[1], (res - 1) / bias[1])] if bias[1] != 0 else []
    limits += [(1 - 4 * unc) / (4 * between)] if between > 0 else []
    B = safe * o  # events, of bins with enough rows
    square = safe**2 - safe
    base = np.where(enough, (B * square - B * (safe - B) * (2 * safe - 1)) / square**2, 0.0)
    slope = np.where(enough, (safe - 2 * B) / square, 0.0)
    step = (1 - 2 * rate) / (n - 1) if n > 1 else 0.0
    zero = np.zeros(len(A))
    return max(0.0, min(limits)), bias, np.array([base, base, zero]), np.array([slope, slope - step, zero - step])

"""Bands that hold for all probabilities at once, in finite samples, for any non-decreasing event probability."""

import numpy as np

from ..numerics.corp_curve import reliability_curve_of
from ..numerics.forecast import whole_blocks
from ..numerics.honest import clopper_pearson_hull, rounded_hull, yang_barber
from .band import Band, check_level

MOST_SCORES = 2_000  # distinct probabilities above which they are rounded by default


def honest_band(y, p, w=None, *, level=0.95, method=None, digits=3):
    """Simultaneous band for the event probability as a non-decreasing function of p; honest in finite samples.

    Of all runs of neighbouring distinct probabilities, N of them, each gets a Clopper-Pearson interval at
    (1 - level)/(N^2 + N); the best ends through each place make the band. It assumes that rows are independent and
    that the probability does not fall in p, nothing else. Between places it is a step function.

    Parameters
    ----------
    y, p, w
        As in `reliability_curve`; weights count rows here and must be whole.
    level : float
        Probability that the whole function lies in the band, at least.
    method : {None, "standard", "round"}
        "round" first rounds p, downwards for the upper end and upwards for the lower end, which stays honest and is
        faster. None rounds above 2,000 distinct probabilities.
    digits : int
        Decimals left by "round".

    Returns
    -------
    Band
        Places from 0 to 1, kind "simultaneous". Where lower > upper, no non-decreasing function fits at this level;
        `off_diagonal()` gives the intervals where calibration is rejected.

    Raises
    ------
    ValueError
        As `isocal.metrics.brier`; if weights are not whole, or an option makes no sense.

    References
    ----------
    Dimitriadis, T., Duembgen, L., Henzi, A., Puke, M. & Ziegel, J. (2023). Honest calibration assessment for binary
    outcome predictions. Biometrika 110(3), 663-680. doi:10.1093/biomet/asac068

    Examples
    --------
    >>> from isocal.corp import honest_band
    >>> band = honest_band([0] * 40 + [1] * 40, [0.3] * 40 + [0.6] * 40)
    >>> band.lower.round(3).tolist(), band.upper.round(3).tolist()
    ([0.0, 0.0, 0.887, 0.887], [0.113, 0.113, 1.0, 1.0])
    >>> band.off_diagonal().round(3).tolist()
    [[0.113, 0.3], [0.6, 0.887]]
    """
    check_level(level)
    if method not in (None, "standard", "round"):
        raise ValueError(f"method must be None, 'standard' or 'round'; got {method!r}")
    if isinstance(digits, bool) or digits not in range(1, 7):
        raise ValueError(f"digits must be a whole number from 1 to 6; got {digits!r}")
    blocks = whole_blocks(y, p, w, "an honest band")
    if method is None:
        method = "standard" if len(blocks.x) <= MOST_SCORES else "round"
    if method == "standard":
        x, ends = blocks.x, clopper_pearson_hull(blocks.events, blocks.weight, 1 - level)
    else:
        x, *ends = rounded_hull(blocks.x, blocks.events, blocks.weight, 1 - level, int(digits))
        method = f"round to {digits} decimals"
    return _extended(x, *ends, level, f"honest, {method}")


def yang_barber_band(y, p, w=None, *, level=0.95):
    """Simultaneous band about the CORP curve from Hoeffding bounds on its means over runs of rows.

    Wider than `honest_band` where probabilities are near 0 or 1. Parameters, returns, errors: as `honest_band`.

    References
    ----------
    Yang, F. & Barber, R. F. (2019). Contraction and uniform convergence of isotonic regression. EJS 13(1), 646-677.
    doi:10.1214/18-EJS1520

    Examples
    --------
    >>> from isocal.corp import yang_barber_band
    >>> band = yang_barber_band([0] * 40 + [1] * 40, [0.3] * 40 + [0.6] * 40)
    >>> band.lower.round(3).tolist()
    [0.0, 0.0, 0.755, 0.755]
    """
    check_level(level)
    blocks = whole_blocks(y, p, w, "a Yang-Barber band")
    curve = reliability_curve_of(blocks)
    return _extended(curve.x, *yang_barber(curve.cep, curve.weight, 1 - level), level, "Yang-Barber")


def _extended(x, lower, upper, level, method):
    """The band with places at 0 and 1."""
    if x[0] > 0:
        x, lower, upper = np.r_[0.0, x], np.r_[0.0, lower], np.r_[upper[0], upper]
    if x[-1] < 1:
        x, lower, upper = np.r_[x, 1.0], np.r_[lower, lower[-1]], np.r_[upper, 1.0]
    return Band(x, lower, upper, level, "simultaneous", method, step=True)

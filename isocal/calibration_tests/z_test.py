"""Spiegelhalter's test: is the Brier score what calibrated forecasts would get?"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from .inputs import prepared, size
from .outcome import Outcome


@dataclass(frozen=True, eq=False)
class Spiegelhalter(Outcome):
    """z; positive where the Brier score is worse than calibrated forecasts expect."""

    term: ClassVar[str] = "spiegelhalter"
    title: ClassVar[str] = "Spiegelhalter"
    tests: ClassVar[str] = "The Brier score is what it would be on average if every p were right."


def spiegelhalter(y, p, w=None, clip=None):
    """Spiegelhalter's z test of calibration.

    z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)^2 p (1 - p)), the Brier score standardised under calibration.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities in [0, 1]; 0 and 1 are allowed.
    w : array_like, shape (n,), optional
        Case weights (an integer weight is that many repeats).
    clip : float, optional
        Move p into [clip, 1 - clip] first.

    Returns
    -------
    Spiegelhalter
        statistic z, p_value of the two-sided standard normal test.

    Raises
    ------
    ValueError
        Bad labels, probabilities or weights; or every p is 0, 1/2 or 1, when z is 0/0.

    Notes
    -----
    Blind spots: a forecast that is too high in one region and too low in another can have z near 0, rows at p = 1/2
    count for nothing, and an event at p = 0 adds to the numerator alone.

    References
    ----------
    Spiegelhalter, D. J. (1986). Statistics in Medicine 5(5), 421-433. doi:10.1002/sim.4780050506

    Examples
    --------
    >>> from isocal.calibration_tests import spiegelhalter
    >>> round(spiegelhalter([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9]).statistic, 4)
    0.4167
    """
    y, p, w = prepared(y, p, w, clip)
    variance = w @ ((1 - 2 * p) ** 2 * p * (1 - p))
    if variance == 0:
        raise ValueError("spiegelhalter's z is 0/0: every p is 0, 1/2 or 1")
    z = float(w @ ((y - p) * (1 - 2 * p)) / np.sqrt(variance))
    return Spiegelhalter(z, float(2 * ndtr(-abs(z))), None, "standard normal", size(w))

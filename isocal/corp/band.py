"""What a band about a reliability curve is."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Band:
    """Lower and upper ends of a band over probabilities.

    Attributes
    ----------
    x, lower, upper : ndarray, shape (k,)
        Places in order, and the band there.
    level : float
        Nominal coverage.
    kind : str
        "consistency" (about the diagonal), "confidence" (about the curve) or "simultaneous" (for all x at once).
    method : str
        How it was made.
    step : bool
        Between places the lower end keeps its value from the left, the upper end from the right; else linear.
    n_boot : int
        Draws made; 0 if none.
    rng : object
        The seed or generator given, or the fresh seed drawn where none was; None without draws.
    """

    x: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    level: float
    kind: str
    method: str
    step: bool = False
    n_boot: int = 0
    rng: object = None

    def __call__(self, p):
        """(lower, upper) at p (n,); NaN outside the places of a linear band."""
        p = np.asarray(p, dtype=np.float64)
        if not self.step:
            return tuple(np.interp(p, self.x, end, left=np.nan, right=np.nan) for end in (self.lower, self.upper))
        below, above = np.searchsorted(self.x, p, side="right"), np.searchsorted(self.x, p, side="left")
        ends = np.r_[0.0, self.lower][below], np.r_[self.upper, 1.0][above]
        return tuple(np.where(np.isnan(p), np.nan, end) for end in ends)

    def off_diagonal(self):
        """Intervals (k, 2) of probabilities that a step band excludes as calibrated: lower > p or upper < p."""
        if not self.step:
            raise ValueError("off_diagonal() needs a simultaneous band: honest_band or yang_barber_band")
        left, right = np.r_[0.0, self.x], np.r_[self.x, 1.0]
        lower, upper = np.r_[0.0, self.lower], np.r_[self.upper, 1.0]
        spans = np.r_[np.c_[left, np.minimum(lower, right)], np.c_[np.maximum(upper, left), right]]
        spans = spans[spans[:, 1] > spans[:, 0]]
        spans = spans[np.argsort(spans[:, 0])]
        if not len(spans):
            return spans
        reach = np.maximum.accumulate(spans[:, 1])
        new = np.r_[True, spans[1:, 0] > reach[:-1]]
        return np.c_[spans[new, 0], reach[np.r_[new[1:], True]]]


def check_level(level):
    """A coverage in (0, 1), never a percentage or an alpha by mistake."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise ValueError(f"level is a coverage between 0 and 1, such as 0.95; got {level!r}")

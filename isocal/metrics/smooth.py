"""Calibration errors from smooth curves: reflected-kernel smoothing (smECE) and local regression (ICI)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ..numerics.binning import tied_blocks
from ..numerics.forecast import blocks_of, check_forecast
from ..numerics.loess import loess
from ..numerics.quantiles import weighted_quantile
from ..numerics.reflected_kernel import cosine_coefficients, on_grid, smoothed_l1

NARROW = 1e-4  # no bandwidth below: the grid has 16,384 intervals
CELLS = 4_000  # above so many distinct probabilities, local regression works on means of so many cells


def smooth_ece(y, p, w=None, sigma=None):
    """Smooth calibration error smECE: residuals smoothed by a reflected Gaussian kernel, integrated in absolute value.

    smECE_sigma is the integral over t in [0, 1] of |sum_i w_i K_sigma(t, p_i) (y_i - p_i)| / sum_i w_i, where K_sigma
    is the Gaussian density with mass beyond 0 and 1 reflected. It falls in sigma; smECE is where it equals sigma, so
    that no bandwidth has to be chosen. Computed on a grid of 16,384 intervals.

    Parameters
    ----------
    y, p, w
        As in `brier`.
    sigma : float, optional
        A fixed bandwidth > 0 instead.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        As `brier`; if sigma is not positive.

    Notes
    -----
    The authors' program relplot stops after ten bisections (1/1024 in sigma). Its mirror at 0 and 1 leaves out the ends
    of its grid, so that probabilities of exactly 0 or 1 count half; where there are many its values are others (by up
    to 0.03 in our reference cases).

    References
    ----------
    Blasiok, J. & Nakkiran, P. (2024). Smooth ECE. ICLR. doi:10.48550/arXiv.2309.12236

    Examples
    --------
    >>> from isocal.metrics import smooth_ece
    >>> round(smooth_ece([0, 1, 1, 0], [0.5, 0.5, 0.5, 0.5]), 4)
    0.0
    >>> round(smooth_ece([0, 0, 0, 0], [0.3, 0.3, 0.3, 0.3]), 4)
    0.3
    """
    y, p, w = check_forecast(y, p, w)
    coefficients = cosine_coefficients(on_grid(p, w * (y - p) / w.sum()))
    if sigma is not None:
        if not sigma > 0:
            raise ValueError(f"sigma must be positive; got {sigma!r}")
        return smoothed_l1(coefficients, max(float(sigma), NARROW))
    if smoothed_l1(coefficients, NARROW) <= NARROW:
        return smoothed_l1(coefficients, NARROW)
    if smoothed_l1(coefficients, 1.0) >= 1.0:
        return 1.0
    found = brentq(lambda s: smoothed_l1(coefficients, s) - s, NARROW, 1.0, xtol=1e-10)
    return smoothed_l1(coefficients, found)


@dataclass(frozen=True)
class Ici:
    """Integrated calibration index and its companions.

    Attributes
    ----------
    ici, e50, e90, emax : float
        Mean, median, 0.9-quantile (type 7) and maximum over rows of |p - smooth curve at p|.
    smoother : str
        What made the curve; the numbers depend on it.
    """

    ici: float
    e50: float
    e90: float
    emax: float
    smoother: str


def ici(y, p, w=None, span=0.75, degree=2, smoother="loess"):
    """Integrated calibration index: distances between p and a local-regression curve of y on p.

    The curve is that of R's `loess(y ~ p, span, degree, surface = "direct")`. Above 4,000 distinct probabilities it
    is fitted at the means of 4,000 cells of about equal weight and linear between them. Or it is that of Harrell's
    val.prob, `lowess(p, y, iter = 0)` with a span of 2/3, for comparison with its Eavg, E90 and Emax.

    Parameters
    ----------
    y, p, w
        As in `brier`.
    span : float
        Share of the rows in each neighbourhood, in (0, 1].
    degree : {1, 2}
        Of the local polynomial.
    smoother : {"loess", "lowess"}
        "lowess": weights must be whole numbers, rows repeated; span and degree are 2/3 and 1.

    Returns
    -------
    Ici
        The curve may leave [0, 1], and then so may emax.

    Raises
    ------
    ValueError
        As `brier`; if span, degree or smoother make no sense; fractional weights with lowess.

    References
    ----------
    Austin, P. C. & Steyerberg, E. W. (2019). The integrated calibration index (ICI) and related metrics for
    quantifying the calibration of logistic regression models. Statistics in Medicine 38(21), 4051-4065.
    doi:10.1002/sim.8281. Harrell, F. E. (2015). Regression Modeling Strategies. doi:10.1007/978-3-319-19425-7

    Examples
    --------
    >>> from isocal.metrics import ici
    >>> found = ici([0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5])
    >>> found.ici, found.smoother
    (0.25, 'loess(span=0.75, degree=2, direct)')
    """
    if not 0 < span <= 1:
        raise ValueError(f"span is a share of the rows in (0, 1]; got {span!r}")
    if degree not in (1, 2):
        raise ValueError(f"degree must be 1 or 2; got {degree!r}")
    if smoother not in ("loess", "lowess"):
        raise ValueError(f"smoother must be 'loess' or 'lowess'; got {smoother!r}")
    y, p, w = check_forecast(y, p, w)
    if smoother == "lowess":
        return _harrell(y, p, w)
    blocks, exact = blocks_of(y, p, w), tied_blocks(p, y, w)
    if len(exact.x) == len(blocks.x):  # no two differ by round-off alone
        blocks = exact
    x, weight, events = blocks.x, blocks.weight, blocks.events
    name = f"loess(span={span:g}, degree={degree}, direct)"
    if len(x) <= CELLS:
        curve = loess(x, events / weight, weight, x, span, degree)
    else:
        name += f" on {CELLS} cells"
        starts = np.unique(np.searchsorted(blocks.weight_to, np.arange(CELLS) * (weight.sum() / CELLS)))
        starts = starts[starts < len(x)]
        heavy, total = np.add.reduceat(weight, starts), np.add.reduceat(events, starts)
        center = np.add.reduceat(weight * x, starts) / heavy
        at = np.r_[x[0], center, x[-1]]
        curve = np.interp(x, at, loess(center, total / heavy, heavy, at, span, degree))
    gap = np.abs(x - curve)
    e50, e90 = weighted_quantile(gap, weight, [0.5, 0.9])
    return Ici(float(weight @ gap / weight.sum()), float(e50), float(e90), float(gap.max()), name)


def _harrell(y, p, w):
    """The Ici of rms::val.prob: R's lowess(p, y, iter = 0), equal p averaged."""
    from statsmodels.nonparametric.smoothers_lowess import lowess

    w = np.ones(len(y)) if w is None else w
    if np.any(w != np.floor(w)):
        raise ValueError("lowess knows no fractional weights: use smoother='loess'")
    y, p = np.repeat(y, w.astype(np.intp)), np.repeat(p, w.astype(np.intp))
    order = np.lexsort([y, p])
    y, p = y[order], p[order]
    curve = lowess(y, p, frac=2 / 3, it=0, delta=0.01 * np.ptp(p), is_sorted=True, return_sorted=False)
    x, at = np.unique(p, return_inverse=True)
    mean = np.bincount(at, curve) / np.bincount(at)
    gap = np.abs(x - mean)[at]
    e50, e90 = np.quantile(gap, [0.5, 0.9])
    return Ici(float(gap.mean()), float(e50), float(e90), float(gap.max()), "lowess(f=2/3, iter=0)")

"""Pointwise bands about the diagonal and about the CORP curve."""

import numpy as np

from ..numerics.corp_curve import reliability_curve_of
from ..numerics.forecast import whole_blocks
from ..numerics.progress import collected
from ..numerics.reliability_draws import (
    block_owner,
    bridged,
    continuous_half_width,
    discrete_half_width,
    one_draw,
)
from .band import Band, check_level

MOST_PLACES = 10_000  # of a resampled band: beyond, as many distinct probabilities at equal steps of rank


def consistency_band(y, p, w=None, *, level=0.9, method="resampling", n_boot=1000, at=None, rng=None, progress=True):
    """Pointwise band about the diagonal: where the CORP curve would lie if p were calibrated.

    Parameters
    ----------
    y, p, w
        As in `reliability_curve`; weights count rows here and must be whole.
    level : float
        Coverage at each place.
    method : {"resampling", "discrete", "continuous"}
        "resampling" draws rows with replacement and labels from p, and takes quantiles (type 7) of the curves;
        "discrete" is the normal approximation for few, heavy distinct probabilities, "continuous" Chernoff's law with
        a beta-kernel density of p for many.
    n_boot : int
        Draws.
    at : array_like, shape (k,), optional
        Places of the "continuous" band; 0, 0.01, ..., 1 if left out. The others stand at the distinct p, above 10,000
        of them at 10,000 equal steps of rank.
    rng : None, int or Generator
        None draws a fresh seed, kept in the result.
    progress : bool
        Show a bar where it takes longer than half a second. Interrupted, the draws made so far are used.

    Returns
    -------
    Band

    Raises
    ------
    ValueError
        As `isocal.metrics.brier`; if weights are not whole, or an option makes no sense.

    References
    ----------
    Dimitriadis, T., Gneiting, T. & Jordan, A. I. (2021). PNAS 118(8), e2016191118. doi:10.1073/pnas.2016191118

    Examples
    --------
    >>> from isocal.corp import consistency_band
    >>> band = consistency_band([0, 1, 0, 1], [0.2, 0.2, 0.8, 0.8], method="discrete")
    >>> band.upper.round(3).tolist()
    [0.665, 1.0]
    """
    return _band("consistency", y, p, w, level, method, n_boot, at, rng, progress)


def confidence_band(y, p, w=None, *, level=0.9, method="resampling", n_boot=1000, at=None, rng=None, progress=True):
    """Pointwise band about the CORP curve: labels are drawn from the curve instead of from p.

    Where the curve is 0 or 1 such labels are all equal; inside such levels the band is a line between its neighbours.
    Parameters, errors, references: as `consistency_band`. Returns a Band.

    Examples
    --------
    >>> from isocal.corp import confidence_band
    >>> band = confidence_band([0, 1, 0, 1], [0.2, 0.2, 0.8, 0.8], method="discrete")
    >>> band.upper.round(3).tolist()
    [1.0, 1.0]
    """
    return _band("confidence", y, p, w, level, method, n_boot, at, rng, progress)


def _band(kind, y, p, w, level, method, n_boot, at, rng, progress):
    check_level(level)
    if method not in ("resampling", "discrete", "continuous"):
        raise ValueError(f"method must be 'resampling', 'discrete' or 'continuous'; got {method!r}")
    curve = reliability_curve_of(whole_blocks(y, p, w, f"a {kind} band"))
    if at is not None and method != "continuous":
        raise ValueError(f"at= is for method 'continuous'; a {method} band stands at the distinct probabilities")
    if method == "resampling":
        return _resampled(kind, curve, level, n_boot, rng, progress)
    x = curve.x
    if method == "continuous":
        x = np.arange(101) / 100 if at is None else np.asarray(at, dtype=np.float64)
    cep = np.interp(x, curve.x, curve.cep, left=np.nan, right=np.nan)
    truth = x if kind == "consistency" else cep
    if method == "discrete":
        width = discrete_half_width(truth, curve.weight, level)
    else:
        width = continuous_half_width(truth, x, curve.x, curve.weight, level)
    lower, upper = np.maximum(truth - width, 0.0), np.minimum(truth + width, 1.0)
    if kind == "confidence":
        lower, upper = bridged(lower, x, cep), bridged(upper, x, cep)
    return Band(x, lower, upper, level, kind, method)


def _resampled(kind, curve, level, n_boot, rng, progress):
    if n_boot < 20:
        raise ValueError(f"n_boot must be at least 20; got {n_boot!r}")
    k = len(curve.x)
    keep = np.arange(k) if k <= MOST_PLACES else np.linspace(0, k - 1, MOST_PLACES).round().astype(np.intp)
    rng = np.random.SeedSequence().entropy if rng is None else rng
    generator, owner = np.random.default_rng(rng), block_owner(curve.weight)
    truth = curve.x if kind == "consistency" else curve.cep
    draws = np.empty((len(keep), int(n_boot)))

    def draw(b):
        draws[:, b] = one_draw(curve.weight, truth, owner, generator)[keep]

    done = collected(int(n_boot), f"{kind} band", draw, progress=progress)
    lower, upper = np.quantile(draws[:, :done], [0.5 - level / 2, 0.5 + level / 2], axis=1)
    x, cep = curve.x[keep], curve.cep[keep]
    if kind == "confidence":
        lower, upper = bridged(lower, x, cep), bridged(upper, x, cep)
    return Band(x, lower, upper, level, kind, "resampling", n_boot=done, rng=rng)

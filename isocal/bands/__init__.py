"""Confidence bands for the true map, from arrays: their construction does not depend on the fit they are drawn around.

One file a family; METHODS lists them by the names that `Results.conf_band` takes.
"""

import numpy as np

from .honest import honest_band
from .model import model_band
from .problem import Band, Problem, standard_grid
from .resampled import basic_band, hulc_band, percentile_band, studentized_band
from .unconstrained import unconstrained_band

KINDS = ("simultaneous", "pointwise")
METHODS = {
    "model-supt": model_band, "unconstrained-supt": unconstrained_band, "honest": honest_band,
    "percentile": percentile_band, "basic": basic_band, "studentized": studentized_band, "hulc": hulc_band,
}  # fmt: skip
ONLY = {"honest": "simultaneous", "hulc": "pointwise"}  # the one kind they offer

__all__ = ["KINDS", "METHODS", "ONLY", "Band", "check", "conf_band", "standard_grid"]


def check(kind, method, n_draws):
    """Known words and a whole number of draws, else an error that lists or says them."""
    for name, value, known in (("kind", kind, KINDS), ("method", method, METHODS)):
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}")
    if kind != ONLY.get(method, kind):
        raise ValueError(f"method={method!r} is {ONLY[method]} only: use kind={ONLY[method]!r}, or another method")
    if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer) or n_draws < 1:
        raise ValueError(f"n_draws must be a whole number of at least 1; got {n_draws!r}")


def conf_band(s, y, w, places, directions, *, level=0.95, kind="simultaneous", method="model-supt", rng=None,
              n_draws=999, progress=False):  # fmt: skip
    """Band for the event probability as a monotone function of scores.

    Parameters
    ----------
    s : numpy.ndarray, shape (n, M)
        Scores in [0, 1]; any finite numbers for method "honest".
    y : numpy.ndarray, shape (n,)
        Labels 0 and 1.
    w : numpy.ndarray, shape (n,), or None
        Weights > 0. Rows vary, weights do not: a row of weight two is one row that counts double.
    places : numpy.ndarray, shape (g, M)
        Where the band is wanted, finite, on the scale of s.
    directions : tuple of int
        +1, -1 or 0 (free) for each score.
    level, kind, method, rng, n_draws, progress
        As in `Results.conf_band`.

    Returns
    -------
    Band

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.bands import conf_band
    >>> s = np.linspace(0, 1, 80)[:, None]
    >>> y = np.repeat([0.0, 1.0], 40)
    >>> band = conf_band(s, y, None, np.array([[0.2], [0.9]]), (1,), method="honest")
    >>> band.low.round(2).tolist(), band.high.round(2).tolist()
    ([0.0, 0.69], [0.39, 1.0])
    """
    check(kind, method, n_draws)
    if method != "honest":
        s, places = (np.where(np.array(directions) < 0, 1.0 - x, x) for x in (s, places))
    else:
        s, places = (np.where(np.array(directions) < 0, -x, x) for x in (s, places))
    grid = places if method == "honest" else np.vstack([standard_grid(s.shape[1]), places])
    rising = tuple(abs(int(d)) for d in directions)
    return METHODS[method](Problem(s, y, w, places, grid, rising, float(level), kind, int(n_draws),
                                   np.random.default_rng(rng), progress))  # fmt: skip

"""GiViTI: polynomial recalibration on the logit scale, degree chosen by forward selection; its test and its belt."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import chdtri, expit

from ..numerics.chi2_sums import quantile, survival
from ..numerics.likelihood_region import condensed, extremes
from ..numerics.logistic import fit_logistic, separable
from .inputs import prepared, refuse_certain, refuse_constant, refuse_one_class, size
from .outcome import Outcome

SELECTION = 0.95  # a degree is added while its likelihood ratio is above this quantile of chi-squared with df 1
MOST = 4  # highest degree
CUT = float(chdtri(1, 1 - SELECTION))
START = {"external": 1, "internal": 2}


@dataclass(frozen=True, eq=False)
class Belt:
    """Region of curves that the test at this level does not reject: lower (r,) and upper (r,) at p (r,)."""

    level: float
    p: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def departures(self):
        """[(first p, last p, "under" or "over")]: stretches of the grid where the belt leaves the diagonal.

        "under": the belt lies below it, the forecasts are too high there.
        """
        side = np.where(self.upper < self.p, -1, np.where(self.lower > self.p, 1, 0))
        starts = np.flatnonzero(np.r_[True, side[1:] != side[:-1]])
        ends = np.r_[starts[1:], len(side)] - 1
        words = {-1: "under", 1: "over"}
        runs = zip(starts, ends, strict=True)
        return [(float(self.p[a]), float(self.p[b]), words[int(side[a])]) for a, b in runs if side[a]]


@dataclass(frozen=True, eq=False)
class Giviti(Outcome):
    """degree; coef (degree + 1,) of the powers 0, 1, ... of logit p; kind; belts, one a level asked for."""

    term: ClassVar[str] = "giviti"
    title: ClassVar[str] = "GiViTI Calibration"
    tests: ClassVar[str] = "logit P(y = 1) is logit p, against a polynomial in logit p of the selected degree."

    degree: int = 1
    coef: np.ndarray = field(default_factory=lambda: np.array([0.0, 1.0]))
    kind: str = "external"
    belts: tuple = ()

    def facts(self):
        """Kind of forecast and degree."""
        return {"Kind": self.kind, "Degree": str(self.degree)}

    def tables(self):
        """Where the belts leave the diagonal."""
        runs = [(f"{b.level:g}", *run) for b in self.belts for run in b.departures()]
        if not runs:
            return {}
        names = ("level", "from p", "to p", "side")
        columns = {name: list(column) for name, column in zip(names, zip(*runs, strict=True), strict=True)}
        return {"Belt off the diagonal": columns}

    def notes(self):
        """The blind spot, where it can matter."""
        blind = self.kind == "external" and self.degree == 1
        return ("Degree 1 sees no curvature: the selection stopped at a quadratic term.",) if blind else ()


def giviti(y, p, w=None, kind="external", level=(0.8, 0.95), grid=None, clip=None):
    """GiViTI calibration test and calibration belt.

    Fits logit P(y = 1) = b0 + b1 l + ... + bm l^m, l = logit p, by maximum likelihood, and adds a degree while the
    likelihood-ratio statistic of the next one is above 3.841 (the 0.95 quantile of chi-squared with df 1), from
    m = 1 (external) or m = 2 (internal) up to 4. The statistic 2 [loglik(b) - loglik(p)] is judged by its law given
    the selected degree. The belt holds, at each p, the smallest and largest value of the curves b that the same
    law does not reject: exact convex optimisation, not a normal approximation.

    Parameters
    ----------
    y, p : array_like, shape (n,)
        Labels in {0, 1} and probabilities strictly between 0 and 1.
    w : array_like, shape (n,), optional
        Case weights (an integer weight is that many repeats).
    kind : {"external", "internal"}
        External: p comes from other data. Internal: p is fitted by logistic regression to these very rows.
    level : float, sequence of float, or None
        Levels of the belts; None makes no belt.
    grid : array_like, shape (r,), optional
        Probabilities at which the belts are computed; default 100 between the smallest and largest p, half of them
        equally spaced and half equally spaced in the logit.
    clip : float, optional
        Move p into [clip, 1 - clip] first.

    Returns
    -------
    Giviti
        statistic, p_value, degree, coef, belts; df is None as the law is no chi-squared one.

    Raises
    ------
    ValueError
        p of 0 or 1 without clip, one class, constant p, classes that p separates, an unknown kind, a level or grid
        outside (0, 1).

    Notes
    -----
    Blind spot of the external test: the selection starts at degree 1 and stops when the quadratic term adds nothing,
    so a purely cubic miscalibration (too extreme at both ends, say) can go unseen. On the rows of a logistic fit the
    external test is vacuous; use kind="internal" there, and neither on rows a flexible method was fitted to. At large n
    it rejects for harmless departures: look at the belt.

    References
    ----------
    Nattino, G., Finazzi, S. & Bertolini, G. (2014). Statistics in Medicine 33(14), 2390-2407. doi:10.1002/sim.6100
    Nattino, G., Finazzi, S. & Bertolini, G. (2016). Statistics in Medicine 35(5), 709-720. doi:10.1002/sim.6744

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.calibration_tests import giviti
    >>> p = np.tile([0.2, 0.4, 0.6, 0.8], 25)
    >>> y = np.repeat([0, 1, 0, 1], 25)
    >>> res = giviti(y, p)
    >>> res.degree, res.p_value < 0.01
    (1, True)
    """
    if kind not in START:
        raise ValueError(f"kind must be 'external' or 'internal'; got {kind!r}")
    levels = _inside(() if level is None else level, "level")
    y, p, w = prepared(y, p, w, clip)
    _refuse(y, p)
    distinct, t, weight = _by_value(y, p, w)
    grid = _grid(distinct) if grid is None else _inside(grid, "grid")
    X = _powers(distinct, min(MOST, len(distinct) - 1))
    degree, coef, statistic = _select(X, t, weight, START[kind])
    df, k = 3 - START[kind], degree - START[kind]
    belts = [_belt(X[:, : degree + 1], t, weight, coef, float(v), quantile(float(v), df, k, CUT), grid) for v in levels]
    null = f"chi-squared({df})" + (f" + {k} selected squares" if k else "")
    p_value = survival(statistic, df, k, CUT)
    return Giviti(statistic, p_value, None, null, size(w), degree, coef, kind, tuple(belts))


def _refuse(y, p):
    refuse_certain(p, "giviti")
    refuse_one_class(y, "giviti")
    refuse_constant(p, "giviti")
    if separable(p, y):
        raise ValueError("giviti has no finite estimate: a threshold on p separates the classes")


def _inside(values, name):
    values = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if values.ndim != 1 or not np.all((values > 0) & (values < 1)):
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {values.tolist()}")
    return values


def _by_value(y, p, w):
    """Distinct p, their event rate and weight: the likelihood needs no more."""
    distinct, at = np.unique(p, return_inverse=True)
    weight = np.bincount(at, w)
    return distinct, np.bincount(at, w * y) / weight, weight


def _grid(p):
    low, high = p[0], p[-1]
    ends = np.log(low) - np.log1p(-low), np.log(high) - np.log1p(-high)
    inner = np.r_[np.linspace(low, high, 50), expit(np.linspace(*ends, 52)[1:-1])]
    return np.clip(np.unique(inner), low, high)


def _powers(p, most):
    return np.vander(np.log(p) - np.log1p(-p), most + 1, increasing=True)


def _log_likelihood(X, t, w, coef):
    eta = X @ coef
    return float(w @ (t * eta - np.logaddexp(0.0, eta)))


def _select(X, t, w, start):
    """(degree, coef, statistic) of forward selection from degree start, stopping at the columns X has."""
    identity = np.r_[0.0, 1.0]
    null = _log_likelihood(X[:, :2], t, w, identity)
    if start >= X.shape[1]:
        raise ValueError(f"giviti of this kind starts at degree {start}: p needs at least {start + 1} distinct values")
    degree, coef = start, _fit(X[:, : start + 1], t, w)
    likelihood = _log_likelihood(X[:, : degree + 1], t, w, coef)
    while degree + 1 < X.shape[1]:
        trial = _fit(X[:, : degree + 2], t, w)
        more = _log_likelihood(X[:, : degree + 2], t, w, trial)
        if not 2 * (more - likelihood) > CUT:
            break
        degree, coef, likelihood = degree + 1, trial, more
    return degree, coef, max(0.0, 2 * (likelihood - null))


def _fit(X, t, w):
    """Maximum likelihood coefficients, found in orthogonal columns (powers of a logit are nearly collinear)."""
    R = np.linalg.qr(X * np.sqrt(w)[:, None], mode="r")
    columns = np.linalg.solve(R.T, X.T).T * np.sqrt(w.sum())
    return np.linalg.solve(R, fit_logistic(columns, t, w, intercept=False).coef) * np.sqrt(w.sum())


def _belt(X, t, w, coef, level, k, grid):
    x, events, w = condensed(X[:, 1], w * t, w)
    X = np.vander(x, len(coef), increasing=True)
    low, high = extremes(X, events, w, coef, k, _powers(grid, len(coef) - 1))
    return Belt(level, grid, expit(low), expit(high))

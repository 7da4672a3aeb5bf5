"""Eight copula families: log densities, fitted ranges, Kendall's tau, tail dependence (METHODS section 4).

A family works on columns that `start` makes of u once (logs, normal scores), since fitting evaluates the density at
many parameters. A leading r means rotated by 180 degrees: c(1 - u, 1 - v).

Hofert, M., Maechler, M. & McNeil, A. J. (2012). Likelihood inference for Archimedean copulas in high dimensions under
known margins. doi:10.1016/j.jmva.2012.02.019. Nelsen, R. B. (2006). An Introduction to Copulas.
doi:10.1007/0-387-28678-0
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from . import archimedean, dependence, elliptical
from .plackett import plackett


@dataclass(frozen=True)
class Family:
    """One family with a single parameter t; low, high: the range fitted, for two and for more scores.

    start(u): columns to work on; density(columns, t): log c; scale, back: t to the scale of the search and back;
    tau(t); tails(t): (lower, upper).
    """

    start: Callable
    density: Callable
    low: float
    high: float
    scale: Callable
    back: Callable
    tau: Callable
    tails: Callable
    low_many: float | None = None
    most_scores: int | None = None

    def lowest(self, d):
        """The lower end of the range for d scores."""
        return self.low if d == 2 or self.low_many is None else self.low_many


def _minus_log(u):
    return [-np.log(v) for v in u]


def _minus_log_rest(u):
    return [-np.log1p(-v) for v in u]


def _with_log(x):
    return x, [np.log(a) for a in x]


def _same(t):
    return t


def _clayton(start, upper):
    def tails(t):
        tail = 2.0 ** (-1.0 / t)
        return (0.0, tail) if upper else (tail, 0.0)

    return Family(start, archimedean.clayton, 1e-4, 28.0, np.log, np.exp, lambda t: t / (t + 2.0), tails)


def _gumbel(start, upper):
    def tails(t):
        tail = 2.0 - 2.0 ** (1.0 / t)
        return (0.0, tail) if upper else (tail, 0.0)

    return Family(
        lambda u: _with_log(start(u)), archimedean.gumbel, 1.0 + 1e-8, 50.0, lambda t: np.log(t - 1.0),
        lambda z: 1.0 + np.exp(z), lambda t: 1.0 - 1.0 / t, tails,
    )  # fmt: skip


def _none(t):
    return 0.0, 0.0


def normal_scores(u):
    """Phi^-1(u), a list of d arrays."""
    return [ndtri(v) for v in u]


MOST_CORRELATION = 0.999
NU = (2.0, 100.0)  # degrees of freedom fitted

ONE_PARAMETER = {
    "clayton": _clayton(_minus_log, upper=False),
    "rclayton": _clayton(_minus_log_rest, upper=True),
    "plackett": Family(
        list, plackett, 1e-4, 1e4, np.log, np.exp, dependence.plackett_tau, _none, most_scores=2
    ),
    "frank": Family(
        list, archimedean.frank, -35.0, 35.0, _same, _same, dependence.frank_tau, _none, low_many=0.0
    ),
    "gumbel": _gumbel(_minus_log, upper=True),
    "rgumbel": _gumbel(_minus_log_rest, upper=False),
}  # fmt: skip
FAMILIES = ("gaussian", "clayton", "rclayton", "plackett", "frank", "gumbel", "rgumbel", "student")

ELLIPTICAL = ("gaussian", "student")


def families_for(d):
    """The families that d scores allow, in their order."""
    most = {name: family.most_scores for name, family in ONE_PARAMETER.items()}
    return tuple(name for name in FAMILIES if most.get(name) is None or d <= most[name])


def log_density(name, u, theta):
    """log c of a family at u.

    Parameters
    ----------
    name : str
        One of FAMILIES.
    u : sequence of d arrays, shape (n,)
        Places in (0, 1), d >= 2.
    theta : sequence of float
        The parameter; for gaussian and student the d (d - 1)/2 correlations (1,2), (1,3), ..., for student then nu.

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> half = np.array([0.5])
    >>> log_density("gaussian", [half, half], [0.6]).round(6)  # -log(1 - 0.36)/2
    array([0.223144])
    """
    d = len(u)
    if name in ONE_PARAMETER:
        family = ONE_PARAMETER[name]
        return family.density(family.start(u), theta[0])
    if name == "gaussian":
        x = normal_scores(u)
        return elliptical.gaussian(x, theta[0]) if d == 2 else elliptical.gaussian_many(x, elliptical.matrix(theta, d))
    *r, nu = theta
    x = [elliptical.t_quantile(nu, v) for v in u]
    return elliptical.student(x, r[0], nu) if d == 2 else elliptical.student_many(x, elliptical.matrix(r, d), nu)


def count(name, d):
    """Number of parameters for d scores."""
    if name in ONE_PARAMETER:
        return 1
    return d * (d - 1) // 2 + (name == "student")


def kendall_tau(name, theta, d):
    """Kendall's tau of a pair of scores; the mean over pairs for elliptical families."""
    if name in ONE_PARAMETER:
        return float(ONE_PARAMETER[name].tau(theta[0]))
    return float(np.mean([dependence.arcsine_tau(r) for r in theta[: d * (d - 1) // 2]]))


def tail_dependence(name, theta, d):
    """(lower, upper) of a pair of scores; the mean over pairs for elliptical families."""
    if name in ONE_PARAMETER:
        return tuple(map(float, ONE_PARAMETER[name].tails(theta[0])))
    if name == "gaussian":
        return 0.0, 0.0
    *r, nu = theta
    tail = float(np.mean([dependence.student_tail(v, nu) for v in r]))
    return tail, tail


def within_range(name, theta, d):
    """Whether theta are parameters that fitting a family to d scores can return."""
    if len(theta) != count(name, d):
        return False
    if name in ONE_PARAMETER:
        family = ONE_PARAMETER[name]
        return family.lowest(d) <= theta[0] <= family.high
    r = theta[: d * (d - 1) // 2]
    smallest = np.linalg.eigvalsh(elliptical.matrix(r, d))[0]
    return smallest > 0.0 and (name == "gaussian" or NU[0] <= theta[-1] <= NU[1])

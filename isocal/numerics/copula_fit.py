"""Maximum pseudo-likelihood of copulas: ranks, then a grid and bounded Brent, or BFGS where there are correlations.

Genest, C., Ghoudi, K. & Rivest, L.-P. (1995). doi:10.1093/biomet/82.3.543. Brent, R. P. (1973). Algorithms for
Minimization without Derivatives.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from . import copulas
from .copulas import correlation, elliptical
from .orders import collapse

GRID = 25  # places on the scale of the search
NU_GRID = 9  # degrees of freedom, on the logarithmic scale
TOLERANCE = 1e-8  # of Brent, relative to the place where that is beyond 1
NEAR_END = 1e-4  # how far from an end of the range, in steps of the grid, it is seen whether the total still rises
CELLS = 1 << 16  # numbers in one block of grid values


@dataclass(frozen=True)
class CopulaFit:
    """A fitted family: theta as in `copulas.log_density`, and its log-likelihood."""

    name: str
    theta: tuple
    llf: float


def pseudo_observations(s, w):
    """u (d columns): ranks/(n + 1) of each column of s (n, d), weight below + (weight of the tie + 1)/2, n = sum w."""
    out = []
    for x in s.T:
        values, at = np.unique(x, return_inverse=True)
        tie = np.bincount(at, w, len(values))
        rank = np.cumsum(tie) - tie + (tie + 1.0) / 2.0
        out.append(rank[at] / (w.sum() + 1.0))
    return out


def distinct_rows(s, w):
    """Rows of s (n, d) in lexicographic order, each once, with their summed weights.

    Repeated rows and one row of their weight are the same arrays afterwards, and so is any other order of rows.
    """
    points, weight, _ = collapse(s, np.zeros(len(s)), w)
    return np.asfortranarray(points), weight


def best_fit(fits, criterion, n, d):
    """The CopulaFit of largest log-likelihood ("loglik"), or smallest AIC or BIC with sample size n, of d scores."""
    price = {"loglik": 0.0, "aic": 1.0, "bic": 0.5 * np.log(n)}[criterion]
    return max(fits, key=lambda fit: fit.llf - price * copulas.count(fit.name, d))


def fit_copula(name, u, w):
    """CopulaFit of one family by maximum likelihood.

    Parameters
    ----------
    name : str
        One of `copulas.FAMILIES`.
    u : list of d arrays, shape (n,)
        Pseudo-observations in (0, 1).
    w : ndarray, shape (n,)
        Weights > 0.
    """
    d = len(u)
    if name in copulas.ONE_PARAMETER:
        return _one_parameter(name, u, w)
    if name == "gaussian":
        x = copulas.normal_scores(u)
        R, value = correlation.fit_correlation(x, w) if d > 2 else correlation.gaussian_pair(x, w)
        return CopulaFit(name, _correlations(R), value)
    return _student(u, w)


def _one_parameter(name, u, w):
    family, d = copulas.ONE_PARAMETER[name], len(u)
    columns = family.start(u)
    ends = family.scale(family.lowest(d)), family.scale(family.high)

    def of(z):
        return correlation.total(w, family.density(columns, _within(family.back(z), family.lowest(d), family.high)))

    places = np.linspace(*ends, GRID)
    step = max(1, CELLS // len(w))
    parts = [places[a : a + step, None] for a in range(0, GRID, step)]
    values = np.concatenate([np.einsum("ij,j->i", family.density(columns, family.back(z)), w) for z in parts])
    z, value = _best(of, places, values)
    return CopulaFit(name, (float(_within(family.back(z), family.lowest(d), family.high)),), value)


def _within(t, low, high):
    """Round-off of the scale must not leave the range."""
    return min(max(t, low), high)


def _best(total, places, values):
    """(place, value) of the largest total: Brent between the neighbours of the best place of a grid.

    An end of the grid is the answer where the total rises towards it at the last.
    """
    k, last = int(np.argmax(values)), len(places) - 1
    best = float(places[k]), float(values[k])
    if k in (0, last) and total(places[k] + (places[abs(k - 1)] - places[k]) * NEAR_END) <= best[1]:
        return best
    bracket = places[max(k - 1, 0)], places[min(k + 1, last)]
    options = {"xatol": TOLERANCE * max(1.0, abs(places[k])), "maxiter": 200}
    found = minimize_scalar(lambda z: -total(z), bounds=bracket, method="bounded", options=options)
    return max(best, (float(found.x), -float(found.fun)), key=lambda pair: pair[1])


def _student(u, w):
    """Profile over nu: the correlations are fitted anew for each nu, from those of the nearest nu so far."""
    p, at = np.unique(np.round(np.concatenate([np.minimum(v, 1.0 - v) for v in u]), 15), return_inverse=True)
    at, sign = np.split(at, len(u)), [np.where(v > 0.5, -1.0, 1.0) for v in u]  # ranks are symmetric about 1/2
    known = {}

    def profile(z):
        nu = _within(np.exp(z), *copulas.NU)
        quantile = elliptical.t_quantile(nu, p)
        x = [plus * quantile[i] for plus, i in zip(sign, at, strict=True)]
        near = known[min(known, key=lambda k: abs(k - z))][0] if known else None
        fit = correlation.student_pair if len(u) == 2 else correlation.fit_correlation
        known[z] = fit(x, w, nu, near)
        return known[z][1]

    places = np.linspace(*np.log(copulas.NU), NU_GRID)
    z, value = _best(profile, places, np.array([profile(z) for z in places]))
    return CopulaFit("student", (*_correlations(known[z][0]), float(_within(np.exp(z), *copulas.NU))), value)


def _correlations(R):
    """The correlation of a pair, or those of a matrix in order, as a tuple."""
    return (R,) if np.ndim(R) == 0 else tuple(R[np.triu_indices(len(R), 1)].tolist())

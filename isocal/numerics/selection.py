"""Choosing the degree of a Bernstein fit from moments alone: one pass over the rows serves every degree and fold.

The held-out Brier score of a fold costs no pass either: sum (y - f)^2 = sum w y - 2 beta' T1 + beta' G beta.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from .basis import evaluate
from .moments import gram, moments, rhs
from .sieve import fit_degree

HIGHEST, MOST = 15, 700  # degree, coefficients that are tried
LIKELIHOOD_ROWS = 100_000  # above it AIC and BIC, which need a pass for each degree, are computed on request only
TIE = 1e-6  # relative: degrees whose criteria differ by less are equal, and the smallest of them is chosen


@dataclass(frozen=True)
class DegreePath:
    """One entry a degree: K (tuples), df, cv (held-out Brier score), aic, bic, change (largest change of f on a grid
    from the degree before); chosen: position of the chosen degree.
    """

    K: list
    df: np.ndarray
    cv: np.ndarray
    aic: np.ndarray
    bic: np.ndarray
    change: np.ndarray
    chosen: int

    def columns(self):
        """{column: list} for a table; a degree common to all scores is one number."""
        K = [k[0] if len(set(k)) == 1 else ", ".join(map(str, k)) for k in self.K]
        marks = ["*" if i == self.chosen else "" for i in range(len(K))]
        figures = {name: getattr(self, name).tolist() for name in ("df", "cv", "aic", "bic", "change")}
        figures["cv_brier"] = figures.pop("cv")
        order = ("df", "cv_brier", "aic", "bic", "change")
        return {"K": K, **{name: figures[name] for name in order}, "chosen": marks}


def candidates(M, anisotropic=False):
    """Degrees that are tried for M scores: 1 to 15, as far as 700 coefficients go."""
    axis = range(1, HIGHEST + 1)
    grid = product(axis, repeat=M) if anisotropic else ((k,) * M for k in axis)
    return [K for K in grid if np.prod([k + 1 for k in K]) <= MOST]


def fold_moments(s, y, w, W, degrees):
    """Moments of each test part: W (n, folds) are the weights of rows in it."""
    out = []
    for f in range(W.shape[1]):
        rows = np.flatnonzero(W[:, f] > 0)
        weights = None if w is None else W[rows, f]
        out.append(moments(s[rows], y[rows], weights, degrees))
    return out


def degree_path(folds, K_list, directions, strength, criterion, rows, details=True):
    """Fit every degree to all folds but one and to all of them; criterion "cv", "aic" or "bic".

    folds: moments of the test parts at twice the largest degree; rows (s, y, w): only the likelihood needs them;
    details=False computes the criterion alone and leaves the other columns NaN.
    """
    total = sum(folds[1:], folds[0])
    of_all = details or criterion != "cv"
    likelihood = criterion != "cv" or (details and len(rows[1]) <= LIKELIHOOD_ROWS)
    grid = _grid(len(directions))
    df, cv, llf, change = np.full((4, len(K_list)), np.nan)
    before = None
    for i, K in enumerate(K_list):
        if details or criterion == "cv":
            cv[i] = _held_out(folds, total, K, directions, strength)
        if not of_all:
            continue
        fit = fit_degree(total, K, directions, strength)
        beta, df[i] = fit.beta.reshape([k + 1 for k in K]), fit.df
        if likelihood:
            llf[i] = _log_likelihood(beta, *rows)
        at_grid = evaluate(beta, grid)
        if before is not None:
            change[i] = np.max(np.abs(at_grid - before))
        before = at_grid
    aic, bic = -2 * llf + 2 * df, -2 * llf + np.log(total.weight) * df
    chosen = _choose({"cv": cv, "aic": aic, "bic": bic}[criterion], criterion)
    return DegreePath(list(K_list), df, cv, aic, bic, change, chosen)


def _choose(values, criterion):
    finite = np.isfinite(values)
    if not finite.any():
        if criterion == "cv":  # too few rows to hold any out: the smallest degree
            return 0
        raise ValueError(
            f"K={criterion!r}: every degree gives probability 0 to a row that happened, so no likelihood is finite: "
            "use K='cv' or a number"
        )
    best = np.min(values[finite])
    tie = TIE * max(abs(best), 1e-3 if criterion == "cv" else 1.0)  # perfect fits: criteria of 0 up to round-off
    return int(np.flatnonzero(finite & (values <= best + tie))[0])


def _held_out(folds, total, K, directions, strength):
    """Brier score of each test part under the fit of the others, in total."""
    loss = weight = 0.0
    for test in folds:
        if test.n == 0 or total.n == test.n:
            continue
        beta = fit_degree(total - test, K, directions, strength, rough=True).beta
        test = test.lower([2 * k for k in K])
        loss += test.events - 2 * beta @ rhs(test.T1, K) + beta @ gram(test.T0, K) @ beta
        weight += test.weight
    return loss / weight if weight else np.nan


def _log_likelihood(beta, s, y, w):
    p = np.clip(evaluate(beta, s), beta.min(), beta.max())
    with np.errstate(divide="ignore"):
        terms = np.log(np.where(y == 1, p, 1 - p))
    return float(np.sum(terms) if w is None else w @ terms)


def _grid(M):
    side = np.linspace(0.0, 1.0, {1: 101, 2: 21, 3: 9}.get(M, 5))
    return np.stack([axis.ravel() for axis in np.meshgrid(*[side] * M, indexing="ij")], axis=1)

"""Choosing the degree and the shrinkage of a Bernstein fit on folds: one pass over the rows serves every degree.

The held-out Brier score is the criterion of likelihood fits too: the log loss of a row that a fit held impossible is
infinite.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from .basis import evaluate
from .fold_fits import fit_parts, fit_sums, losses
from .likelihood_fit import log_likelihood

HIGHEST, MOST = 15, 700  # degree, coefficients that are tried
LIKELIHOOD_ROWS = 100_000  # above it AIC and BIC, which need a pass for each degree, are computed on request only
TIE = 1e-6  # relative: degrees whose criteria differ by less are equal, and the smallest of them is chosen
SHRINKS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)  # weights of the anchor that are tried


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
        figures = {name: getattr(self, name).tolist() for name in ("df", "cv", "aic", "bic", "change")}
        figures["cv_brier"] = figures.pop("cv")
        order = ("df", "cv_brier", "aic", "bic", "change")
        return {"K": K, **{name: figures[name] for name in order}, "chosen": _marks(len(K), self.chosen)}


def _marks(count, chosen):
    return ["*" if i == chosen else "" for i in range(count)]


def candidates(M, anisotropic=False):
    """Degrees that are tried for M scores: 1 to 15, as far as 700 coefficients go."""
    axis = range(1, HIGHEST + 1)
    grid = product(axis, repeat=M) if anisotropic else ((k,) * M for k in axis)
    return [K for K in grid if np.prod([k + 1 for k in K]) <= MOST]


def degree_path(folds, K_list, sieve, criterion, rows, details=True):
    """Fit every degree to the Folds' train parts and to the whole; criterion "cv", "aic" or "bic".

    folds: parts at twice the largest degree; rows (s, y, w): only the likelihood needs them; details=False computes
    the criterion alone and leaves the other columns NaN.
    """
    of_all = details or criterion != "cv"
    likelihood = criterion != "cv" or (details and len(rows[1]) <= LIKELIHOOD_ROWS)
    grid = _grid(len(sieve.directions))
    places = np.concatenate([rows[0], grid]) if likelihood else grid
    df, cv, llf, change = np.full((4, len(K_list)), np.nan)
    train = folds.train if details or criterion == "cv" else []
    before = None
    for i, K in enumerate(K_list):
        parts = [folds.whole, *train] if of_all or sieve.loss == "log" else train
        if not parts:  # too few rows to hold any out
            break
        fits = fit_parts(parts, K, sieve, rough=True)
        if train:
            cv[i] = losses(fits.beta[-len(train) :], folds.test, K).sum() / folds.weight
        if not of_all:
            continue
        beta, df[i] = fits.beta[0].reshape([k + 1 for k in K]), np.nan if sieve.shrink else fits.df[0]
        f = evaluate(beta, places)
        at_grid = f[-len(grid) :]
        if likelihood:
            llf[i] = log_likelihood(np.clip(f[: -len(grid)], beta.min(), beta.max()), *rows[1:]).value
        if before is not None:
            change[i] = np.max(np.abs(at_grid - before))
        before = at_grid
    aic, bic = -2 * llf + 2 * df, -2 * llf + np.log(folds.whole.sums.weight) * df
    chosen = _choose({"cv": cv, "aic": aic, "bic": bic}[criterion], criterion)
    return DegreePath(list(K_list), df, cv, aic, bic, change, chosen)


def choose_shrink(folds, K, sieve):
    """(weight of the anchor, {column: list}) with the smallest held-out Brier score at degree K."""
    tried = [replace(sieve, shrink=weight) for weight in SHRINKS]
    count, tests = len(folds.train), folds.test * len(tried)
    if not count:
        cv = np.full(len(tried), np.nan)
    else:
        if sieve.loss == "brier":
            beta = fit_sums([part.shrunk(each.shrink) for each in tried for part in folds.train], K, sieve).beta
        else:
            fits = [fit_parts([folds.whole, *folds.train], K, each, rough=True) for each in tried]
            beta = np.concatenate([fit.beta[1:] for fit in fits])
        cv = losses(beta, tests, K).reshape(-1, count).sum(axis=1) / folds.weight
    chosen = _choose(cv, "cv")
    return SHRINKS[chosen], {"shrink": list(SHRINKS), "cv_brier": cv.tolist(), "chosen": _marks(len(cv), chosen)}


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


def _grid(M):
    side = np.linspace(0.0, 1.0, {1: 101, 2: 21, 3: 9}.get(M, 5))
    return np.stack([axis.ravel() for axis in np.meshgrid(*[side] * M, indexing="ij")], axis=1)

"""From rows and a plan to coefficients: one degree, a chosen one or the average of many, shrunk or not."""

from dataclasses import dataclass, field, replace

import numpy as np

from .cone import cone
from .degree_average import average_degrees
from .fold_fits import fit_sums
from .fold_parts import fold_parts, whole_part
from .selection import candidates, choose_shrink, degree_path
from .sieve import Sieve, fit_part, node_support

CRITERIA = ("cv", "aic", "bic")


@dataclass(frozen=True)
class Plan:
    """K: degrees (M,), or "cv", "aic", "bic", "average"; usual: degrees (M,) at which a shrinkage is chosen where K
    is not given; sieve; average: "stack", "exp" or "equal"; choose_shrink: on folds; anisotropic.
    """

    K: tuple | str
    usual: tuple
    sieve: Sieve
    average: str = "stack"
    choose_shrink: bool = False
    anisotropic: bool = False

    @property
    def needs_folds(self):
        """Whether anything is chosen or weighted on folds (for AIC and BIC the table of degrees shows them)."""
        held_out = self.K != "average" or self.average != "equal"
        return self.choose_shrink or (isinstance(self.K, str) and held_out)

    @property
    def plain(self):
        """Whether it is least squares of given degrees, nothing shrunk."""
        chosen = self.choose_shrink or isinstance(self.K, str)
        return not chosen and self.sieve.loss == "brier" and self.sieve.shrink == 0

    def tried(self):
        """Degrees to fit, a list of tuples."""
        chosen = isinstance(self.K, str)
        return candidates(len(self.sieve.directions), self.anisotropic) if chosen else [self.K]

    def degrees(self):
        """Degrees of the moments that serve them all."""
        also = [self.usual] if self.choose_shrink else []
        return [2 * max(k) for k in zip(*self.tried(), *also, strict=True)]


@dataclass(frozen=True, eq=False)
class Estimate:
    """beta (K_1 + 1, ...) in the cone; df, NaN where shrinking or averaging leaves none; kkt; polished; support, like
    beta; shrink, the weight of the anchor that was used; tables {title: {column: list}} of what was chosen.
    """

    beta: np.ndarray
    df: float
    kkt: float
    polished: bool
    support: np.ndarray
    shrink: float = 0.0
    tables: dict = field(default_factory=dict)


def estimate(s, y, w, raw, anchor, plan, details=True):
    """The Estimate of rows s (n, M), y (n,), w (n,) or None; raw (n, M) deals the folds; anchor: an Anchor or None.

    details=False leaves out the columns of tables on which nothing depends.
    """
    keep_rows = plan.sieve.loss == "log"
    if not plan.needs_folds:
        return of_part(whole_part(s, y, w, plan.degrees(), anchor, keep_rows), plan)
    folds, tables = fold_parts(s, y, w, raw, plan.degrees(), anchor, keep_rows), {}
    if plan.choose_shrink:
        K = plan.usual if isinstance(plan.K, str) else plan.K
        weight, tables["shrink"] = choose_shrink(folds, K, plan.sieve)
        plan = replace(plan, sieve=replace(plan.sieve, shrink=weight))
    if plan.K in CRITERIA:
        path = degree_path(folds, plan.tried(), plan.sieve, plan.K, (s, y, w), details)
        plan, tables["path"] = replace(plan, K=path.K[path.chosen]), path.columns()
    return of_part(folds.whole, plan, folds, tables if details else {})


def of_part(part, plan, folds=None, tables=None):
    """The Estimate of a Part where K is given, or of the average of degrees: folds tell its weights."""
    sieve, tables = plan.sieve, tables or {}
    if plan.K == "average":
        tried = plan.tried()
        fit, K = average_degrees(part, folds, tried, sieve, plan.average), tried[-1]
        tables = {"degrees": fit.columns()} | tables
    else:
        fit, K = fit_part(part, K=plan.K, sieve=sieve), plan.K
    beta = cone(tuple(k + 1 for k in K), tuple(sieve.directions)).restore(fit.beta)
    df = np.nan if sieve.shrink or plan.K == "average" else fit.df
    return Estimate(beta, df, fit.kkt, fit.polished, node_support(part.sums, K) >= 1.0, sieve.shrink, tables)


def of_parts(parts, plans):
    """An Estimate of each Part by its Plan, which differ in the shrinkage alone; least squares in one stroke."""
    plan = plans[0]
    if plan.sieve.loss != "brier" or isinstance(plan.K, str):
        return [of_part(part, each) for part, each in zip(parts, plans, strict=True)]
    shrinks = [each.sieve.shrink for each in plans]
    fits = fit_sums([part.shrunk(shrink) for part, shrink in zip(parts, shrinks, strict=True)], plan.K, plan.sieve)
    limits, out = cone(tuple(k + 1 for k in plan.K), tuple(plan.sieve.directions)), []
    each = zip(fits.beta, fits.df, fits.kkt.tolist(), fits.polished.tolist(), strict=True)
    for part, shrink, (beta, df, kkt, polished) in zip(parts, shrinks, each, strict=True):
        support = node_support(part.sums, plan.K) >= 1.0
        out.append(Estimate(limits.restore(beta), np.nan if shrink else float(df), kkt, polished, support, shrink))
    return out

"""How sure is it: standard errors, confidence intervals, credible bands."""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .. import frames
from ..numerics.beta_mixture import mixture_quantile

GRID = 101  # places of a default grid along one score


def check_level(level):
    """A coverage in (0, 1), never a percentage or an alpha by mistake."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise ValueError(f"level is a coverage between 0 and 1, such as 0.95; got {level!r}")


def bse(self):
    """Standard errors of the coefficients from the observed information, a Series by name.

    Raises ValueError where the method has none.
    """
    found = self.curve.bse()
    if found is None:
        raise ValueError(f"{self.recipe.title} has no standard errors of coefficients")
    return pd.Series(found, dtype=float, name="std_error")


def conf_int(self, level=0.95):
    """Normal confidence intervals of the coefficients.

    Parameters
    ----------
    level : float
        Coverage in (0, 1).

    Returns
    -------
    DataFrame
        ``conf_low conf_high`` by coefficient; NaN where a coefficient is held at its bound.

    Raises
    ------
    ValueError
        Where the method has no standard errors, or level is not a coverage.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=1, rng=1)
    >>> isocal.platt("y ~ s1", data).fit().conf_int().columns.tolist()
    ['conf_low', 'conf_high']
    """
    check_level(level)
    half = ndtri((1 + level) / 2) * bse(self)
    return pd.DataFrame({"conf_low": self.params - half, "conf_high": self.params + half})


def default_grid(self):
    """Rows along the range of a single score, as a DataFrame with its column."""
    if len(self.terms.names) > 1 or self.terms.parsed.terms[0].column is None:
        raise ValueError("give grid, a DataFrame with the columns of the formula's scores")
    column = self.terms.parsed.terms[0].column
    return pd.DataFrame({column: np.linspace(self.terms.low[0], self.terms.high[0], GRID)})


def credible_band(self, grid=None, level=0.95):
    """Pointwise Bayesian credible band of the probability, from the mixture of the kept models' Beta posteriors.

    It is the posterior given that one of the binnings is right and is not a confidence band of a smooth truth; with
    ``monotone=True`` it still describes the averaged steps before projection.

    Parameters
    ----------
    grid : DataFrame, optional
        Rows with the formula's score, of any library; default 101 equally spaced scores over the range of the fit.
    level : float
        Posterior probability of the interval, in (0, 1); equal tails.

    Returns
    -------
    DataFrame
        Of the grid's library, its rows: the score, ``predicted conf_low conf_high extrapolated``.

    Raises
    ------
    ValueError
        If the method has no posterior, or level is not in (0, 1).

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=1, rng=1)
    >>> band = isocal.bbq("y ~ s1", data).fit().credible_band()
    >>> bool((band.conf_low < band.conf_high).all())
    True
    """
    check_level(level)
    if self.curve.posterior(np.zeros((0, len(self.terms.names)))) is None:
        raise ValueError(f"{self.recipe.title} has no posterior distribution; isocal.bbq has")
    frame = frames.open_frame(default_grid(self) if grid is None else grid)
    raw = self.terms.raw(frame)
    s = self.terms.scores(raw, self.recipe.domain())
    weights, alpha, beta = self.curve.posterior(s)
    known = ~np.isnan(s).any(axis=1)
    distinct, at = np.unique(np.hstack([alpha, beta])[known], axis=0, return_inverse=True)
    a, b = np.split(distinct, 2, axis=1)
    columns = {term.column or term.label: raw[:, m] for m, term in enumerate(self.terms.parsed.terms)}
    columns["predicted"] = self.curve(s)
    for name, tail in (("conf_low", (1 - level) / 2), ("conf_high", (1 + level) / 2)):
        columns[name] = np.full(len(s), np.nan)
        columns[name][known] = mixture_quantile(weights, a, b, tail)[np.ravel(at)]
    columns["extrapolated"] = self.terms.extrapolated(raw)
    return frames.table(columns, frame, frames.index_of(frame.to_native()))

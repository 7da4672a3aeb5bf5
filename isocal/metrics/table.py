"""All metrics of one forecast in one frame."""

import numpy as np
import pandas as pd

from ..numerics.forecast import check_forecast
from ..numerics.progress import collected
from .binned import ace, debiased_ce, ece, ks, mce
from .decompositions import corp
from .scores import accuracy, auc, brier, brier_skill, log_loss, rmse
from .smooth import ici, smooth_ece

METRICS = {
    "brier": brier, "rmse": rmse, "brier_skill": brier_skill, "log_loss": log_loss, "auc": auc, "accuracy": accuracy,
    "ece": ece, "mce": mce, "ace": ace, "debiased_ce": debiased_ce, "ks": ks, "smooth_ece": smooth_ece,
    "mcb": lambda y, p, w=None: corp(y, p, w).mcb,
    "dsc": lambda y, p, w=None: corp(y, p, w).dsc,
    "unc": lambda y, p, w=None: corp(y, p, w).unc,
    "ici": lambda y, p, w=None: ici(y, p, w).ici,
}  # fmt: skip
BIASED = frozenset({"ece", "mce", "ace", "ks", "smooth_ece", "mcb", "dsc", "ici"})


def metrics_table(y, p, w=None, which=None, n_boot=0, level=0.95, rng=None, progress=True):
    """Metrics of a forecast, with bootstrap intervals on request.

    Parameters
    ----------
    y, p, w
        As in `brier`.
    which : sequence of str, optional
        Names in the order wanted; all if left out (`isocal.metrics.METRICS` lists them).
    n_boot : int
        Bootstrap samples of rows for percentile intervals; 0 for none.
    level : float
        Coverage of the intervals.
    rng : None, int or Generator
        None draws a fresh seed. The seed stands in `.attrs["rng"]`, the samples made in `.attrs["n_boot"]`.
    progress : bool
        Show a bar where it takes longer than half a second. Interrupted, the samples made so far are used.

    Returns
    -------
    DataFrame
        Index metric; column estimate, and with n_boot conf_low and conf_high. The intervals of ece, mce, ace, ks,
        smooth_ece, mcb, dsc and ici are NaN: these are biased away from 0 and a bootstrap adds the bias once more.

    Raises
    ------
    ValueError
        As `brier`; if a name is unknown or n_boot is less than 20 and not 0.

    Examples
    --------
    >>> from isocal.metrics import metrics_table
    >>> metrics_table([0, 1, 1, 0], [0.2, 0.6, 0.9, 0.4], which=["brier", "auc"])
            estimate
    metric
    brier     0.0925
    auc       1.0000
    """
    names = list(METRICS) if which is None else [which] if isinstance(which, str) else list(which)
    unknown = [name for name in names if name not in METRICS]
    if unknown:
        raise ValueError(f"there is no metric {unknown[0]!r}; there are {', '.join(METRICS)}")
    if n_boot != 0 and n_boot < 20:
        raise ValueError(f"n_boot must be 0 or at least 20; got {n_boot!r}")
    if isinstance(level, bool) or not 0 < level < 1:
        raise ValueError(f"level is a coverage between 0 and 1, such as 0.95; got {level!r}")
    checked = check_forecast(y, p, w)
    index = pd.Index(names, name="metric")
    table = pd.DataFrame({"estimate": [METRICS[name](y, p, w) for name in names]}, index=index)
    if n_boot:
        rng = np.random.SeedSequence().entropy if rng is None else rng
        draws = _bootstrap(*checked, [name for name in names if name not in BIASED], int(n_boot), rng, progress)
        table["conf_low"], table["conf_high"] = np.nan, np.nan
        for name, found in draws.items():
            ends = np.quantile(found, [0.5 - level / 2, 0.5 + level / 2])
            table.loc[name, ["conf_low", "conf_high"]] = ends
        table.attrs = {"rng": rng, "n_boot": len(next(iter(draws.values()), [])), "level": level}
    return table


def _bootstrap(y, p, w, names, n_boot, rng, progress):
    """{name: values over samples (b,)} of samples of rows; whole weights are rows repeated."""
    order = np.lexsort((w, p, y))  # the same samples whatever the order of rows
    y, p, w = y[order], p[order], w[order]
    whole = bool(np.all(w == np.floor(w)))
    owner = np.repeat(np.arange(len(y)), w.astype(np.intp)) if whole else np.arange(len(y))
    factor = np.ones(len(y)) if whole else w
    generator = np.random.default_rng(rng)
    draws = {name: np.empty(n_boot) for name in names}

    def draw(b):
        count = np.bincount(owner[generator.integers(0, len(owner), len(owner))], minlength=len(y)) * factor
        keep = count > 0
        for name in names:
            draws[name][b] = METRICS[name](y[keep], p[keep], count[keep])

    done = collected(n_boot, "bootstrap of metrics", draw, progress=progress) if names else 0
    return {name: values[:done] for name, values in draws.items()}

"""The tables of summary(bootstrap=boot): mean slopes, Brier score and AUC with standard errors and intervals."""

from dataclasses import replace

import numpy as np

from .bootstrap_doors import own_bootstrap

HEADS = ("std err", "[0.025", "0.975]")


def with_intervals(self, bootstrap, scores, fit):
    """(table of scores, table of figures, note) with 95 % percentile intervals of the replicates beside them."""
    boot = own_bootstrap(self, bootstrap)
    if self.facts["slopes"]:
        found = boot.conf_int(of="slopes")
        scores = _beside(scores, found.loc[self.terms.labels], after=scores.headers.index("mean slope"))
    found = boot.conf_int(of="scores")
    fit = _beside(fit, found.reindex(fit.stubs), after=1)
    note = (
        f"Intervals: percentiles of {boot.n_boot:,} {boot.method} replicates (seed {boot.seed}), the variability of "
        "the apparent figures."
    )
    return scores, fit, note


def _beside(block, found, after):
    """The block with standard error and interval after a column; empty where there is none."""
    cells = found[["std_error", "conf_low", "conf_high"]].to_numpy()
    rows = tuple(
        (*row[:after], *("" if np.isnan(v) else f"{v:.4f}" for v in numbers), *row[after:])
        for row, numbers in zip(block.rows, cells, strict=True)
    )
    return replace(block, headers=(*block.headers[: after + 1], *HEADS, *block.headers[after + 1 :]), rows=rows)

"""Tables of quality.py: means, paired differences to fuse with their standard errors, ranks, and the targets."""

import numpy as np
import pandas as pd

BASE, MEMBER = "fuse", "member: "
CHOSEN = MEMBER + "of the smallest log loss out of fold"
RIVALS = ("bernstein K=5", "boosting (sklearn)", "boosting (lightgbm)")
REAL = ("networks", "published", "bundled")
HUNDRED = {"brier", "log_loss", "debiased_ce", "grid_mean", "grid_largest"}


def read(path):
    """The results with a column `set`."""
    frame = pd.read_csv(path)
    frame["set"] = frame.name + np.where(frame.kind.isin(("networks", "published")), "",
                                         " M=" + frame.M.astype(str) + " n=" + frame.n.astype(str))  # fmt: skip
    return frame


def wide(frame, figure):
    """(sets x repetitions, methods) of one figure."""
    return frame.pivot_table(index=["set", "repetition"], columns="method", values=figure, sort=False)


def paired(table):
    """Mean difference of every method to fuse and its standard error: two frames, sets x methods."""
    apart = table.sub(table[BASE], axis=0).groupby("set", sort=False)
    return apart.mean(), apart.std(ddof=1) / np.sqrt(apart.count())


def means(frame, figure, digits=2):
    """Markdown: 100 x mean of a figure, a row a set, a column a method; in brackets the standard error of the paired
    difference to fuse.
    """
    table = wide(frame[~frame.method.str.startswith(MEMBER)], figure).dropna(axis=1, how="all")
    mean, (_, error) = table.groupby("set", sort=False).mean(), paired(table)
    best = mean.idxmin(axis=1)
    lines = ["| set | " + " | ".join(mean.columns) + " |", "|---|" + "---|" * len(mean.columns)]
    for name, row in mean.iterrows():
        cells = []
        for method, value in row.items():
            bold = "**" if method == best[name] else ""
            brackets = "" if method == BASE else f" ({100 * error.loc[name, method]:.{digits}f})"
            cells.append("" if np.isnan(value) else f"{bold}{100 * value:.{digits}f}{bold}{brackets}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ranks(frame, figure):
    """Mean rank over sets of the set means, a Series by method."""
    table = wide(frame[~frame.method.str.startswith(MEMBER)], figure).groupby("set", sort=False).mean()
    return table.rank(axis=1).mean()


def rank_table(frame):
    """Markdown: mean ranks for real and simulated sets."""
    real, simulated = frame[frame.kind.isin(REAL)], frame[frame.kind == "simulated"]
    columns = {f"{figure.replace('_', ' ')}, {what}": ranks(part, figure) for what, part in
               (("real", real), ("simulated", simulated)) for figure in ("brier", "log_loss") if len(part)}  # fmt: skip
    table = pd.DataFrame(columns).sort_values(next(iter(columns)))
    lines = ["| method | " + " | ".join(table.columns) + " |", "|---|" + "---|" * len(table.columns)]
    lines += [f"| {name} | " + " | ".join(f"{v:.1f}" for v in row) + " |" for name, row in table.iterrows()]
    return "\n".join(lines)


def rivals(frame):
    """Markdown lines: where fuse does not beat a rival on a real set, and by how much it is behind the best member."""
    real, lines = frame[frame.kind.isin(REAL)], []
    for figure in ("brier", "log_loss"):
        mean, error = paired(wide(real, figure))
        for name, row in mean.iterrows():
            for rival in RIVALS:
                if row[rival] <= 0:
                    lines.append(f"- {figure}, {name}: {rival} is ahead by {-100 * row[rival]:.3f} "
                                 f"(standard error {100 * error.loc[name, rival]:.3f})")  # fmt: skip
    return "\n".join(lines or ["- none: fuse is ahead of all three on every real set in both."])


def members(frame):
    """Markdown lines: sets where the best single member is more than one paired standard error ahead of fuse."""
    lines = []
    for figure in ("brier", "log_loss"):
        mean, error = paired(wide(frame, figure))
        own, size = [c for c in mean.columns if c.startswith(MEMBER) and c != CHOSEN], frame.groupby("set").n.first()
        for name, row in mean[own].iterrows():
            best = row.idxmin()
            if row[best] < -error.loc[name, best]:
                cost = f", {-row[best] * 2 * size[name]:.1f} parameters" if figure == "log_loss" else ""
                lines.append(f"- {figure}, {name}: {best.removeprefix(MEMBER)} is ahead by {-100 * row[best]:.3f} "
                             f"(standard error {100 * error.loc[name, best]:.3f}){cost}")  # fmt: skip
    return "\n".join(lines or ["- none."])


def single_members(frame):
    """Markdown: each member, and the one that the folds choose, against fuse: mean difference, sets won and lost."""
    lines = ["| member | sets | Brier | ahead, behind | log loss | ahead, behind |", "|---|---|---|---|---|---|"]
    tables = [paired(wide(frame, figure)) for figure in ("brier", "log_loss")]
    for name in [c for c in tables[0][0].columns if c.startswith(MEMBER)]:
        cells = []
        for mean, error in tables:
            known = error[name].notna()  # sets where it was fitted, at least twice
            d, e = mean[name][known], error[name][known]
            cells += [f"{100 * d.mean():+.3f}", f"{np.sum(d < -e)}, {np.sum(d > e)}"]
        lines.append(f"| {name.removeprefix(MEMBER)} | {len(d)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_table(path):
    """results/quality.md from results/quality.csv."""
    frame = read(path)
    real, simulated = frame[frame.kind.isin(REAL)], frame[frame.kind == "simulated"]
    counts = frame.groupby("set").repetition.nunique()
    often = f"{counts.min()} to {counts.max()}" if counts.min() < counts.max() else f"{counts.min()}"
    text = f"""# Fusion methods compared

Made by `benchmarks/quality.py`: {len(counts)} sets, {often} repetitions. All figures are 100 x the mean on rows that no
method saw; in brackets the standard error of the paired difference to fuse; bold: the smallest. Bernstein fits are on
the ecdf of the scores, K=5 where no degree is named, shrink 1. Boosting is monotone in every score, library defaults.
Real sets of one name at several n, and the two made of Adult, share people: ranks over them are no independent
votes.

## Mean ranks over sets

{rank_table(frame)}

## Real sets where a rival (bernstein K=5, boosting) is ahead of fuse

{rivals(frame)}

## Single members beside fuse, real sets

Mean difference to fuse (above 0: fuse is better) and the number of sets where the member is ahead of fuse, or behind
it, by more than one standard error. "Of the smallest log loss out of fold" is the member that one would pick on the
rows of the fit.

{single_members(real)}

## Sets where the best single member is more than one standard error ahead of fuse

The best member is chosen after the fact and for each set, so that fuse is compared with the luckiest of seven. A gap in
log loss is also given in parameters: one that is fitted by maximum likelihood costs 1/(2n) in expectation.

{members(frame)}

## Brier score, real sets

{means(real, "brier")}

## Log loss, real sets

{means(real, "log_loss")}

## Debiased calibration error, real sets

{means(real, "debiased_ce")}

## Mean grid error (ECE of Wang & Liu), real sets of two scores

{means(real, "grid_mean")}

## Largest grid error (MCE of Wang & Liu), real sets of two scores

{means(real, "grid_largest")}
"""
    if len(simulated):
        text += f"""
## Squared error to the truth, simulated sets

{means(simulated, "squared_error", 3)}

## Log loss, simulated sets

{means(simulated, "log_loss")}
"""
    path.with_suffix(".md").write_text(text)

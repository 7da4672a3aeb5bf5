"""Tables of estimators.py: means, paired differences to K = 5 and their standard errors, as CSV and Markdown."""

import csv
from collections import defaultdict

import numpy as np

BASE = "K=5"
FIGURES = ("squared_error", "brier", "log_loss", "log_loss_tight", "at_edge")
RARE = ("rare", "scarce")


class Runs:
    """{(source, n, M): {repetition: {method: {figure: value}}}} of the rows that are kept."""

    def __init__(self, rows):
        self.found = defaultdict(lambda: defaultdict(dict))
        for row in rows:
            setting = row["source"], int(row["n"]), int(row["M"])
            values = {name: float(row[name]) for name in FIGURES}
            self.found[setting][int(row["repetition"])][row["method"]] = values
        methods = [m for runs in self.found.values() for methods in runs.values() for m in methods]
        self.methods = list(dict.fromkeys(methods))

    def settings(self, keep):
        """Settings (source, n, M) for which keep(source, n, M) is true."""
        return sorted(s for s in self.found if keep(*s))

    def pairs(self, setting, method, figure):
        """(method, base) values of each repetition, both (repetitions,)."""
        runs = [r for r in self.found[setting].values() if method in r and BASE in r]
        return np.array([[r[method][figure], r[BASE][figure]] for r in runs]).reshape(-1, 2).T


def difference(own, base):
    """(mean difference, its standard error) of paired values."""
    d = own - base
    return d.mean(), d.std(ddof=1) / np.sqrt(len(d)) if len(d) > 1 else np.nan


def over(runs, method, figure, settings, relative):
    """Mean over settings of the mean difference to the base, or of the ratio of means, with its standard error."""
    found = []
    for setting in settings:
        own, base = runs.pairs(setting, method, figure)
        if not len(own):
            return None
        mean, error = difference(own, base)
        scale = base.mean() if relative else 1.0
        found.append((mean / scale, error / scale))
    means, errors = np.array(found).T
    return means.mean() + relative, np.sqrt(np.sum(errors**2)) / len(errors)


def cell(value, scale, digits):
    """A table cell: estimate and standard error."""
    return "" if value is None else f"{value[0] * scale:.{digits}f} ({value[1] * scale:.{digits}f})"


def table(runs, columns, figure, relative, scale=1.0, digits=2):
    """A Markdown table: a row a method, a column a group of settings; columns {title: keep(source, n, M)}."""
    groups = {title: runs.settings(keep) for title, keep in columns.items()}
    groups = {title: settings for title, settings in groups.items() if settings}
    lines = ["| method | " + " | ".join(groups) + " |", "|---|" + "---|" * len(groups)]
    for method in runs.methods:
        cells = [cell(over(runs, method, figure, settings, relative), scale, digits) for settings in groups.values()]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def known(source):
    """Whether the truth of a source is known."""
    return source != "adult"


def by_size(keep):
    """Columns for each n and M of the sources kept."""
    sizes = [(n, M) for M in (2, 3) for n in (200, 500, 2000)]
    return {f"n={n}, M={M}": lambda s, a, b, n=n, M=M: keep(s) and (a, b) == (n, M) for n, M in sizes}


def markdown(runs):
    """The page of tables."""
    everywhere = {"all": lambda s, n, M: known(s)}
    sources = list(dict.fromkeys(s for s, _, _ in runs.found))
    by_source = everywhere | {source: lambda s, n, M, source=source: s == source for source in sources if known(source)}
    counts = [len(r) for r in runs.found.values()]
    lots = f"{min(counts)} to {max(counts)}" if min(counts) != max(counts) else f"{counts[0]}"
    return f"""# Bernstein estimators compared

Made by `benchmarks/estimators.py` from {lots} repetitions of {len(runs.found)} settings; standard errors, in brackets,
are those of the differences to K=5 on the same rows. For the simulated sources scores are over 4,000 new rows of known
probability; "rare" has events of 0.2 to 4.2 %, "scarce" of 0.5 to 20 % (5 % on average); "adult" is scored on the rows
that were not fitted. Predictions are clipped at half a row, .5/(n + 1), for the log loss. Default degree K=5 where no
other is named; "log, equal" is not run for three scores.

## Squared error to the truth relative to K=5, mean over sources

{table(runs, by_size(known), "squared_error", True)}

## The same by source, mean over n and M

{table(runs, by_source, "squared_error", True)}

## Brier score minus that of K=5, times 10,000

{table(runs, by_source | {"adult": lambda s, n, M: s == "adult"}, "brier", False, 1e4, 1)}

## Log loss minus that of K=5, times 1,000

{table(runs, by_source | {"adult": lambda s, n, M: s == "adult"}, "log_loss", False, 1e3)}

## Log loss minus that of K=5, times 1,000, rare and scarce events by size

{table(runs, by_size(lambda s: s in RARE), "log_loss", False, 1e3)}

## The same with predictions clipped at 1e-6 only

{table(runs, by_size(lambda s: s in RARE), "log_loss_tight", False, 1e3)}
"""


def write_tables(rows, folder):
    """estimators.csv, a line for each setting and method, and estimators.md."""
    runs = Runs(rows)
    with (folder / "estimators.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        pairs = [name for figure in FIGURES for name in (figure, f"{figure}_minus_K5", f"{figure}_se")]
        writer.writerow(["source", "n", "M", "method", "repetitions", *pairs])
        for setting in runs.settings(lambda *_: True):
            for method in runs.methods:
                found = [runs.pairs(setting, method, figure) for figure in FIGURES]
                if not found[0].shape[1]:
                    continue
                values = [v for own, base in found for v in (own.mean(), *difference(own, base))]
                text = ["" if np.isnan(v) else f"{v:.5g}" for v in values]
                writer.writerow([*setting, method, found[0].shape[1], *text])
    (folder / "estimators.md").write_text(markdown(runs), encoding="utf-8")

"""The table of a coverage simulation, in Markdown."""

import numpy as np
from scipy.special import betaincinv

GROUPS = (
    ("Default band (model-supt), one score", lambda c: c.M == 1 and c.method == "model-supt" and c.scores == "plain"),
    ("Default band, one score: discrete, ecdf() and fits at a fixed degree",
     lambda c: c.M == 1 and c.method == "model-supt" and c.scores != "plain"),
    ("Default band, two scores", lambda c: c.M == 2 and c.method == "model-supt"),
    ("Default band, three scores", lambda c: c.M == 3 and c.method == "model-supt"),
    ("Honest band", lambda c: c.method == "honest"),
    ("Other methods (hulc is pointwise, the others are asked for a simultaneous band)",
     lambda c: c.method not in ("model-supt", "honest")),
)  # fmt: skip
FAILING = ("staircase", "corner")  # truths at which the default is expected to fall short


def limits(covered, runs):
    """Clopper-Pearson 95 % limits of a share over runs."""
    low = betaincinv(covered, runs - covered + 1, 0.025) if covered else 0.0
    high = betaincinv(covered + 1, runs - covered, 0.975) if covered < runs else 1.0
    return float(low), float(high)


def summed(lines, cells):
    """{cell: (runs, covered, mean pointwise coverage, mean width)} of the cells that have runs."""
    out = {}
    for cell in cells:
        mine = [line for line in lines if line.cell == cell.name]
        runs = sum(line.runs for line in mine)
        if runs:
            parts = (sum(line.pointwise for line in mine) / runs, sum(line.width for line in mine) / runs)
            out[cell] = (runs, sum(line.covered for line in mine), *parts)
    return out


def verdict(cell, covered, runs):
    """ok, MISS or, without a target, a dash."""
    if cell.target is None:
        return "-"
    return f"{'MISS' if limits(covered, runs)[1] < cell.target else 'ok'} ({cell.target:.2f})"


def table(lines, cells):
    """All groups of cells, their averages, and the width of the default relative to the honest band."""
    found = summed(lines, cells)
    head = "| M | truth | design | n | method | scores | runs | covered | 95 % limits | pointwise | width | target |"
    text = ["# Measured coverage of 95 % bands", "", _counted(found, cells), ""]
    for title, belongs in GROUPS:
        mine = {c: v for c, v in found.items() if belongs(c)}
        if not mine:
            continue
        text += [f"## {title}", "", head, "|" + "---|" * 12]
        text += [_row(c, *v) for c, v in mine.items()]
        text += ["", *_averages(mine), ""]
    return "\n".join(text + _widths(found)) + "\n"


def _counted(found, cells):
    made, wanted = sum(v[0] for v in found.values()), sum(c.runs for c in cells)
    missed = sum(verdict(c, covered, runs).startswith("MISS") for c, (runs, covered, *_) in found.items())
    least = min((v[0] for v in found.values()), default=0)
    misses = "1 cell misses its target" if missed == 1 else f"{missed} cells miss their target"
    return (
        f"{made:,} runs of {wanted:,} planned, at least {least} in each of {len(found)} of {len(cells)} cells; "
        f"{misses}. Limits are Clopper-Pearson over runs; a cell misses where the upper one lies below its target."
    )


def _row(cell, runs, covered, pointwise, width):
    low, high = limits(covered, runs)
    share = f"{covered / runs:.3f} | {low:.3f}-{high:.3f} | {pointwise:.3f} | {width:.3f}"
    keys = f"{cell.M} | {cell.truth} | {cell.design} | {cell.n} | {cell.method} | {cell.scores}"
    return f"| {keys} | {runs} | {share} | {verdict(cell, covered, runs)} |"


def _averages(mine):
    """Average simultaneous coverage by number of rows; jumps and steep corners are left out."""
    out = []
    for method in dict.fromkeys(c.method for c in mine):
        for n in sorted({c.n for c in mine}):
            shares = [v[1] / v[0] for c, v in mine.items() if (c.n, c.method) == (n, method) and c.truth not in FAILING]
            if shares:
                out.append(f"- {method}, n = {n}: mean {np.mean(shares):.3f}, smallest {min(shares):.3f} "
                           f"over {len(shares)} cells without jumps and steep corners")  # fmt: skip
    return out


def _widths(found):
    """Mean width of the default over that of the honest band in the cells that both have."""
    out = []
    for M in (1, 2):
        pairs = []
        for c, v in found.items():
            twin = [u for d, u in found.items() if d.method == "honest" and
                    (d.M, d.truth, d.design, d.n, d.scores) == (c.M, c.truth, c.design, c.n, c.scores)]  # fmt: skip
            if c.M == M and c.method == "model-supt" and twin and c.truth != "staircase":
                pairs.append((v[3], twin[0][3]))
        if pairs:
            ratio = sum(a for a, _ in pairs) / sum(b for _, b in pairs)
            out.append(f"- M = {M}: {ratio:.2f} over {len(pairs)} cells (target: {0.6 if M == 1 else 0.65})")
    return ["## Width of the default relative to the honest band", "", *out] if out else []

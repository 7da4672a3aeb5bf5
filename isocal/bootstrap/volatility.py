"""How many rows a subsample should have: the minimum-volatility rule of Politis, Romano & Wolf.

Intervals from subsamples that are far too small or too large move quickly with the size; between them they hardly
move, and a size is taken where they move least. Politis, D. N., Romano, J. P. & Wolf, M. (1999). Subsampling,
section 9.3. doi:10.1007/978-1-4612-1554-7
"""

from dataclasses import replace

import numpy as np

from .refits import refit

CANDIDATES, DRAWS, PLACES = 9, 99, 25
LOWEST, HIGHEST = 0.5, 0.9  # exponents of n between which sizes are tried
LEVEL = 0.95


def candidate_sizes(units, least):
    """Whole sizes at equal ratios between n^.5 and n^.9, at least `least` and below n; fewer where n is small."""
    ends = np.clip([units**LOWEST, units**HIGHEST], least, units - 1)
    return np.unique(np.rint(np.geomspace(*ends, CANDIDATES)).astype(int)).tolist()


def least_volatile(ends):
    """Position of the size where ends (k, 2, g) of intervals at g places vary least among three neighbouring sizes."""
    if len(ends) < 3:
        return len(ends) - 1
    windows = np.stack([ends[:-2], ends[1:-1], ends[2:]])
    volatility = windows.std(axis=0, ddof=1).mean(axis=(1, 2))
    return 1 + int(np.argmin(np.round(volatility, 12)))


def chosen_size(recipe, curve, rows, sampling, least, n_jobs=1, progress=True):
    """The size of subsamples that the rule takes, from 99 replicates of each size that is tried."""
    fitted = curve(rows.s)
    order = np.lexsort([*rows.s.T, fitted])
    places = rows.s[order[np.unique(np.linspace(0, len(order) - 1, PLACES).astype(int))]]
    center, sizes, ends = curve(places), candidate_sizes(sampling.units, least), []
    for size in sizes:
        some = replace(sampling, size=size)
        values = refit(recipe, rows, some, DRAWS, n_jobs, progress).values(places)
        moved = center + some.shrinkage * (values - center)
        ends.append(np.quantile(moved, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0))
    return sizes[least_volatile(np.array(ends))]

"""Edges of a band made monotone along the partial order of its places."""

import numpy as np

PLACES = 256  # compared with all others at a time


def isotone_edges(places, low, high, directions):
    """(low, high) (g,): running maximum of low and minimum of high over comparable places (g, M).

    directions of +1, -1, 0: places are comparable where they agree on every free axis. A monotone curve inside the
    band stays inside.
    """
    turned = places * np.where(np.array(directions) < 0, -1.0, 1.0)
    free = np.array(directions) == 0
    if free.all():
        return low, high
    out_low, out_high = np.empty_like(low), np.empty_like(high)
    for a in range(0, len(places), PLACES):
        part = turned[a : a + PLACES, None, :]
        same = np.all((turned[None, :, free] == part[:, :, free]), axis=2)
        below = same & np.all(turned[None, :, ~free] <= part[:, :, ~free], axis=2)
        above = same & np.all(turned[None, :, ~free] >= part[:, :, ~free], axis=2)
        out_low[a : a + PLACES] = np.where(below, low, -np.inf).max(axis=1)
        out_high[a : a + PLACES] = np.where(above, high, np.inf).min(axis=1)
    return out_low, out_high

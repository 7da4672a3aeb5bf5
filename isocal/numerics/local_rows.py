"""How many rows a fit rests on at a place, and a grid of places to ask about."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .basis import design
from .qp import tie_break

SIDE = {1: 201, 2: 41, 3: 11, 4: 6, 5: 5}  # places along each axis
CHUNK = 4096


def effective_rows(G, K, places, rows=1.0):
    """1 / [b'(G)^-1 b] at places (g, M): the rows whose plain mean would be as exact as the free polynomial there.

    G (p, p) is the Gram matrix of degrees K; rows is sum w / sum w^2, by which a unit of weight counts.
    """
    shape = tuple(k + 1 for k in K)
    factor = cho_factor(G + np.trace(G) / len(G) * tie_break(shape, 1e-10))
    out = np.empty(len(places))
    for a in range(0, len(places), CHUNK):
        b = design(places[a : a + CHUNK], K)
        out[a : a + CHUNK] = np.sum(b * cho_solve(factor, b.T).T, axis=1)
    return rows / np.maximum(out, 1e-300)


def grid_of_places(M):
    """(side, places (side^M, M)) equally spaced over the unit cube, C order."""
    side = np.linspace(0.0, 1.0, SIDE[M])
    return side, np.stack([axis.ravel() for axis in np.meshgrid(*[side] * M, indexing="ij")], axis=1)

"""Closed forms worked out by hand: (name, s, y, w, K, coefficients).

At s = 0 and s = 1 a Bernstein polynomial equals its end coefficients, so designs on the corners are isotonic
regressions of means; at s = 1/2 a polynomial of degree 2 equals (b0 + 2 b1 + b2)/4.
"""

import numpy as np

ZERO_ONE = np.array([[0.0], [1.0]])
THREE = np.array([[0.0], [0.5], [1.0]])
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def with_means(places, means, weights):
    """Rows and weights with the given mean of y and total weight at each place."""
    means, weights = np.asarray(means), np.asarray(weights)
    s = np.repeat(places, 2, axis=0)
    y = np.tile([1.0, 0.0], len(places))
    w = np.ravel(np.c_[means * weights, (1 - means) * weights])
    return s, y, w


CASES = [
    # two places in order: the polynomial interpolates both means
    ("degree 1 interpolates", *with_means(ZERO_ONE, [0.25, 0.75], [4, 8]), (1,), [0.25, 0.75]),
    # violators pool to the weighted mean (3 * .9 + 9 * .1)/12 = .3
    ("degree 1 pools violators", *with_means(ZERO_ONE, [0.9, 0.1], [3, 9]), (1,), [0.3, 0.3]),
    # b1 = (4 * .5 - .2 - .8)/2 = .5 lies between b0 and b2: no constraint is active
    ("degree 2 interpolates", *with_means(THREE, [0.2, 0.5, 0.8], [5, 2, 5]), (2,), [0.2, 0.5, 0.8]),
    # means .4, .4, .8 want b1 = .2 < b0: b1 = b0, and with r = ((3*.4+.8)/4 - .4)/(13/8) = .8/13
    # b0 = .4 - 3/4 r, b2 = .8 - r/4
    ("degree 2, lower tied", *with_means(THREE, [0.4, 0.4, 0.8], [1, 1, 1]), (2,), [4.6 / 13, 4.6 / 13, 10.2 / 13]),
    # its mirror image 1 - f(1 - s): b1 = b2
    ("degree 2, upper pair tied", *with_means(THREE, [0.2, 0.6, 0.6], [1, 1, 1]), (2,), [2.8 / 13, 8.4 / 13, 8.4 / 13]),
    # means 0, 1/2, 1 at degree 1 on three places: b0 = 0, b1 = 1 fits exactly, both bounds active
    ("bounds", *with_means(THREE, [0.0, 0.5, 1.0], [1, 1, 1]), (1,), [0.0, 1.0]),
    # 2 x 2 corners: .6 at (0,1) and .4 at (1,0) are not comparable and stay; all in order
    ("corners in order", *with_means(CORNERS, [0.1, 0.6, 0.4, 0.9], [1, 2, 3, 4]), (1, 1), [0.1, 0.6, 0.4, 0.9]),
    # (0,0) exceeds (0,1): they pool to (1*.5 + 3*.1)/4 = .2; (1,0) = .4 and (1,1) = .9 stay above
    ("corners, one pair pools", *with_means(CORNERS, [0.5, 0.1, 0.4, 0.9], [1, 3, 1, 1]), (1, 1), [0.2, 0.2, 0.4, 0.9]),
    # (1,1) below both its neighbours .6 and .8: all three pool to (.6 + .8 + .4)/3 = .6
    ("corners, three pool", *with_means(CORNERS, [0.1, 0.6, 0.8, 0.4], [1, 1, 1, 1]), (1, 1), [0.1, 0.6, 0.6, 0.6]),
]

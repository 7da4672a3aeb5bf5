"""Linear interpolation of scattered values: against scipy's, on flat simplices, and row by row."""

import numpy as np
import pytest
from scipy.interpolate import LinearNDInterpolator

from isocal.numerics.between import between, with_corners
from isocal.numerics.triangulation import Triangulation, delaunay

RNG = np.random.default_rng(7)


def points(n, M, decimals=None):
    s = RNG.random((n, M)) * 0.3 + RNG.random((n, 1)) * 0.7
    return np.unique(s if decimals is None else np.round(s, decimals), axis=0)


def mesh(given):
    nodes = with_corners(given)[0]
    return Triangulation(nodes, delaunay(nodes))


def places(M, n=400):
    """Random places, and places on edges, facets and corners."""
    return np.r_[RNG.random((n, M)), np.round(RNG.random((n, M)), 1), RNG.integers(0, 2, (20, M)).astype(float)]


@pytest.mark.parametrize("M", [2, 3, 4, 5])
@pytest.mark.parametrize("decimals", [None, 1])
def test_planes_are_reproduced_everywhere_in_the_cube(M, decimals):
    tri, s = mesh(points(120, M, decimals)), places(M)
    corners, weights = tri.locate(s)
    assert weights.min() >= 0 and np.allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-15)
    slope = RNG.normal(size=M)
    found = np.sum((tri.nodes @ slope)[corners] * weights, axis=1)
    assert np.max(np.abs(found - s @ slope)) <= 1e-11


@pytest.mark.parametrize("M", [2, 3])
def test_the_interpolation_is_that_of_scipy(M):
    tri, s = mesh(points(200, M)), RNG.random((500, M))
    values = RNG.random(len(tri.nodes))
    corners, weights = tri.locate(s)
    wanted = LinearNDInterpolator(tri.nodes, values)(s)
    assert np.max(np.abs(np.sum(values[corners] * weights, axis=1) - wanted)) <= 1e-10


@pytest.mark.parametrize("M, decimals", [(2, None), (2, 1), (3, 1), (4, None)])
def test_a_row_is_located_as_if_it_were_alone(M, decimals):
    tri, s = mesh(points(100, M, decimals)), places(M, 60)
    s = np.r_[s, tri.nodes[:30]]
    corners, weights = tri.locate(s)
    for i in range(len(s)):
        alone = tri.locate(s[i : i + 1])
        assert np.array_equal(alone[0][0], corners[i]) and np.array_equal(alone[1][0], weights[i])
    assert np.array_equal(weights[-30:].max(axis=1), np.ones(30))  # a node is itself


def test_rows_that_the_walk_lost_are_found_by_looking_at_all(monkeypatch):
    tri, s = mesh(points(150, 3)), RNG.random((200, 3))
    values = RNG.random(len(tri.nodes))
    walked = tri.locate(s)
    monkeypatch.setattr(Triangulation, "_walk", lambda self, s, rows, at, weights: rows)
    searched = tri.locate(s)
    a, b = (np.sum(values[corners] * weights, axis=1) for corners, weights in (walked, searched))
    assert np.max(np.abs(a - b)) <= 1e-10


def test_flat_simplices_answer_for_no_row():
    grid = np.stack(np.meshgrid(*[np.arange(6) / 5] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    tri = mesh(grid)
    assert tri._edges[2].any()  # Qhull leaves some between points on one sphere
    corners, weights = tri.locate(places(3))
    used = np.sort(tri.simplices[tri._edges[2]], axis=1)
    found = np.sort(corners[weights.max(axis=1) < 1], axis=1)
    assert not any(np.any(np.all(used == row, axis=1)) for row in found)


@pytest.mark.parametrize("M", [2, 3])
def test_points_on_a_line_and_points_one_ulp_apart(M):
    line = np.repeat(np.linspace(0.1, 0.9, 9)[:, None], M, axis=1)
    close = np.unique(np.r_[line, np.nextafter(line, 1)], axis=0)
    for given in (line, line[:1], close):
        tri, s = mesh(given), places(M)
        corners, weights = tri.locate(s)
        found = np.sum(tri.nodes.sum(axis=1)[corners] * weights, axis=1)
        assert np.max(np.abs(found - s.sum(axis=1))) <= 1e-9


def test_nothing_is_triangulated_where_nothing_need_be():
    assert len(between(points(9, 1), "linear").simplices) == 0 == len(between(points(9, 2), "envelope").simplices)

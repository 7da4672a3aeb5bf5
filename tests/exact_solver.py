"""Isotonic Bernstein least squares in exact rational arithmetic, written apart from isocal.

Every float is a rational number, so the Bernstein basis, the Gram matrix and the solution are rational too. The
problem min b'Gb/2 - t'b subject to Ab <= c, b >= 0 (the bounds and the order imply b >= 0) is the linear
complementarity problem w = Mz + q, w, z >= 0, w'z = 0 with M = [[G, A'], [-A, 0]], q = (-t, c), solved by Lemke's
pivoting with the lexicographic ratio test, which ends after finitely many pivots even where G is singular
(Cottle, Pang & Stone 1992, section 4.4).

Optimality does not rest on the pivoting: `solve` then checks, all in exact rationals, that the point is feasible, the
multipliers are >= 0, the gradient equals -A' multipliers + those of b >= 0, and slack times multiplier is 0. For a
convex problem these four are a proof. Fitted values at the rows are unique even where the coefficients are not.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, prod

MOST_PIVOTS = 2000


@dataclass(frozen=True)
class Exact:
    """beta: coefficients in C order; fitted: values at the rows; loss: weighted sum of squares. All Fractions."""

    beta: list
    fitted: list
    loss: Fraction


def basis_row(s, K):
    """Products of Bernstein basis functions at one row of scores, C order of the coefficient grid."""
    per_axis = [
        [comb(k, j) * Fraction(float(x)) ** j * (1 - Fraction(float(x))) ** (k - j) for j in range(k + 1)]
        for x, k in zip(s, K, strict=True)
    ]
    return [prod(factors) for factors in product(*per_axis)]


def value(beta, row):
    """The polynomial at a row of `basis_row`."""
    return sum(b * v for b, v in zip(beta, row, strict=True))


def constraints(K, directions):
    """(A, c) with A beta <= c as sparse rows {index: coefficient}: steps, then upper bounds at maximal nodes."""
    nodes = list(product(*[range(k + 1) for k in K]))
    number = {node: i for i, node in enumerate(nodes)}
    A, c = [], []
    for node in nodes:
        is_top = True
        for axis, d in enumerate(directions):
            if d == 0:
                continue
            above = number.get((*node[:axis], node[axis] + d, *node[axis + 1 :]))
            if above is not None:
                A.append({number[node]: Fraction(1), above: Fraction(-1)})
                c.append(Fraction(0))
                is_top = False
        if is_top:
            A.append({number[node]: Fraction(1)})
            c.append(Fraction(1))
    return A, c


def solve(s, y, w, K, directions):
    """The exact fit of rows s (lists of floats), y, w; raises AssertionError if optimality cannot be proved."""
    rows = [basis_row(r, K) for r in s]
    w = [Fraction(float(v)) for v in w]
    y = [Fraction(float(v)) for v in y]
    total = sum(w)
    p = prod(k + 1 for k in K)
    G = [[sum(u * r[i] * r[j] for u, r in zip(w, rows, strict=True)) / total for j in range(p)] for i in range(p)]
    t = [sum(u * v * r[i] for u, v, r in zip(w, y, rows, strict=True)) / total for i in range(p)]
    A, c = constraints(K, directions)
    z = lemke(_complementarity(G, A, p), [-v for v in t] + c)
    beta, multipliers = z[:p], z[p:]
    _prove(G, t, A, c, beta, multipliers)
    fitted = [value(beta, r) for r in rows]
    loss = sum(u * (a - b) ** 2 for u, a, b in zip(w, y, fitted, strict=True))
    return Exact(beta, fitted, loss)


def _complementarity(G, A, p):
    zero = Fraction(0)
    top = [G[i] + [row.get(i, zero) for row in A] for i in range(p)]
    return top + [[-row.get(j, zero) for j in range(p)] + [zero] * len(A) for row in A]


def _prove(G, t, A, c, beta, multipliers):
    """Feasibility, signs, stationarity and complementarity, exactly."""
    assert all(b >= 0 for b in beta), "a coefficient is negative"
    assert all(m >= 0 for m in multipliers), "a multiplier is negative"
    gradient = [value(beta, row) - v for row, v in zip(G, t, strict=True)]
    for row, bound, m in zip(A, c, multipliers, strict=True):
        slack = bound - sum(v * beta[i] for i, v in row.items())
        assert slack >= 0, "a constraint is violated"
        assert slack * m == 0, "a slack constraint has a multiplier"
        for i, v in row.items():
            gradient[i] += v * m
    # What is left of the gradient is the multiplier of beta >= 0.
    assert all(g >= 0 and g * b == 0 for g, b in zip(gradient, beta, strict=True)), "not stationary"


def lemke(M, q):
    """z >= 0 with w = Mz + q >= 0 and w'z = 0; M positive semidefinite, so that pivoting ends with a solution."""
    n = len(q)
    if min(q) >= 0:
        return [Fraction(0)] * n
    # Columns: w (0..n-1), z (n..2n-1), the artificial variable (2n), the right side (2n+1).
    table = [
        [Fraction(int(i == j)) for j in range(n)] + [-v for v in M[i]] + [Fraction(-1), q[i]] for i in range(n)
    ]  # fmt: skip
    inside = list(range(n))
    row = min(range(n), key=lambda i: (q[i], -i))
    entering = 2 * n
    for _ in range(MOST_PIVOTS):
        leaving = inside[row]
        _pivot(table, row, entering)
        inside[row] = entering
        if leaving == 2 * n:
            z = [Fraction(0)] * n
            for i, name in enumerate(inside):
                if name >= n:
                    z[name - n] = table[i][-1]
            return z
        entering = leaving + n if leaving < n else leaving - n
        row = _leaving_row(table, entering, inside, 2 * n)
    raise AssertionError("Lemke's method did not end")


def _pivot(table, row, column):
    factor = table[row][column]
    table[row] = pivot = [v / factor if v else v for v in table[row]]
    for i, other in enumerate(table):
        a = other[column]
        if i != row and a:
            table[i] = [v - a * u if u else v for v, u in zip(other, pivot, strict=True)]


def _leaving_row(table, column, inside, artificial):
    """The lexicographic ratio test; among rows of equal ratio the artificial variable leaves first."""
    able = [i for i, r in enumerate(table) if r[column] > 0]
    assert able, "the problem is unbounded"
    least = min(table[i][-1] / table[i][column] for i in able)
    tied = [i for i in able if table[i][-1] / table[i][column] == least]
    for i in tied:
        if inside[i] == artificial:
            return i
    n = len(table)
    return min(tied, key=lambda i: [v / table[i][column] for v in table[i][:n]])

"""Bernstein moments: the additive statistic from which every fit of the family is computed.

T0[k] = sum_i w_i prod_m b_{k_m,D_m}(s_im), and T1 the same with w_i y_i, D = 2K. The product of two basis functions
of degree K is C(K,i) C(K,j) / C(2K,i+j) times one of degree 2K, so the p x p Gram matrix of degree K is an index sum
of T0, and no n x p design is ever formed. Moments add over chunks and machines; those of a lower degree are linear
in those of a higher one (degree elevation, Wang & Liu 2020, eq. 17).
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .basis import POWERS_UP_TO, along_axes, bare_basis, basis, binomial, elevation, log_binomial

SERIAL = 1 << 18  # multiplications of a product that BLAS keeps on one thread: its threads wait for each other
GATHERED = 1 << 15  # rows that are copied together
ROOM = 1 << 18  # numbers in the Khatri-Rao block of one chunk: 2 MB, the second-level cache
KEEP_INDEX_UP_TO = 400  # coefficients: index maps of larger Gram matrices are made anew rather than kept


@dataclass(frozen=True)
class Moments:
    """T0, T1 of shape (D_1 + 1, ..., D_M + 1); n rows, their weight, sum of w y."""

    T0: np.ndarray
    T1: np.ndarray
    n: int
    weight: float
    events: float

    @property
    def degrees(self):
        """D, the degree of the moments on each axis (twice the degree of the fit)."""
        return tuple(size - 1 for size in self.T0.shape)

    def __add__(self, other):
        return self._combine(other, 1)

    def __sub__(self, other):
        return self._combine(other, -1)

    def _combine(self, other, sign):
        if self.degrees != other.degrees:
            raise ValueError(f"moments of degrees {self.degrees} and {other.degrees} do not add")
        names = ("T0", "T1", "n", "weight", "events")
        return Moments(*(getattr(self, a) + sign * getattr(other, a) for a in names))

    def lower(self, degrees):
        """The moments of lower degrees, without another pass over the rows."""
        if any(d > D for d, D in zip(degrees, self.degrees, strict=True)):
            raise ValueError(f"degrees {tuple(degrees)} exceed {self.degrees}")
        if tuple(degrees) == self.degrees:
            return self
        E = [elevation(d, D) for d, D in zip(degrees, self.degrees, strict=True)]
        return replace(self, T0=along_axes(self.T0, E), T1=along_axes(self.T1, E))

    def to_dict(self):
        """Plain JSON types."""
        return {
            "T0": self.T0.tolist(), "T1": self.T1.tolist(),
            "n": self.n, "weight": self.weight, "events": self.events,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, d):
        """The inverse of to_dict."""
        return cls(np.array(d["T0"]), np.array(d["T1"]), int(d["n"]), float(d["weight"]), float(d["events"]))


def moments(s, y, w, degrees):
    """Moments of rows s (n, M) in [0, 1], y (n,) in {0, 1}, w (n,) or None for ones, at the given degrees."""
    sizes = [D + 1 for D in degrees]
    T = 0.0
    for left, right, rows in _blocks(s, sizes):
        wy = y[rows] if w is None else w[rows] * y[rows]
        weighted = left if w is None else left * w[rows]
        T = T + _product(np.concatenate([weighted, left * wy]), right)
    T0, T1 = np.reshape(T, (2, *sizes)) if len(s) else np.zeros((2, *sizes))
    weight = float(len(s)) if w is None else float(np.sum(w))
    events = float(np.sum(y)) if w is None else float(w @ y)
    return Moments(T0, T1, len(s), weight, events)


def sums_of(s, w, rows, degrees):
    """sum_i w_i prod_m b_{k_m,D_m}(s_im) over some rows, an index array: an array (D_1 + 1, ..., D_M + 1)."""
    sizes = [D + 1 for D in degrees]
    T, bare = np.zeros(sizes), sum(degrees) <= POWERS_UP_TO  # binomial factors can wait for the sum
    for a in range(0, len(rows), GATHERED):
        part = rows[a : a + GATHERED]
        of_part = None if w is None else w[part]
        for left, right, some in _blocks(s[part], sizes, bare_basis if bare else basis):
            T += _product(left if w is None else left * of_part[some], right).reshape(sizes)
    for m, D in enumerate(degrees if bare else ()):
        T *= binomial(D).reshape([-1 if a == m else 1 for a in range(len(sizes))])
    return T


def _product(left, right):
    """left right', in pieces small enough for one thread where that leaves pieces worth the call."""
    width = SERIAL // (len(left) * len(right))
    if not 64 <= width < left.shape[1]:
        return left @ right.T
    return sum(left[:, a : a + width] @ right[:, a : a + width].T for a in range(0, left.shape[1], width))


def moment_matrix(s, V, degrees):
    """sum_i V[i, r] prod_m b_{k_m,D_m}(s_im) for every column of V (n, r): an (r, D_1 + 1, ..., D_M + 1) array."""
    sizes = [D + 1 for D in degrees]
    total = np.zeros((V.shape[1], int(np.prod(sizes))))
    for left, right, rows in _blocks(s, sizes):
        product = (left[:, None, :] * right[None, :, :]).reshape(-1, left.shape[1])
        total += (product @ V[rows]).T
    return total.reshape(-1, *sizes)


def _blocks(s, sizes, make=basis):
    """(left, right, rows): Khatri-Rao products of the bases of the first and the last axes, chunk by chunk."""
    M = len(sizes)
    cut = min(range(1, M), key=lambda c: np.prod(sizes[:c]) + np.prod(sizes[c:])) if M > 1 else 1
    widest = int(max(np.prod(sizes[:cut]), np.prod(sizes[cut:])))
    step = int(np.clip(ROOM // widest, 64, 4096))
    for a in range(0, len(s), step):
        rows = slice(a, min(a + step, len(s)))
        b = [make(np.ascontiguousarray(s[rows, m]), sizes[m] - 1) for m in range(M)]
        yield _khatri_rao(b[:cut]), _khatri_rao(b[cut:]) if M > 1 else np.ones((1, rows.stop - a)), rows


def _khatri_rao(matrices):
    out = matrices[0]
    for B in matrices[1:]:
        out = (out[:, None, :] * B[None, :, :]).reshape(-1, out.shape[1])
    return out


def gram(T0, K):
    """The p x p Gram matrix of degree K from moments of degree 2K, C order of the coefficient grid."""
    return grams(T0[None], K)[0]


def grams(T0, K):
    """(r, p, p) Gram matrices of degree K from moments (r, 2 K_1 + 1, ...) of degree 2K."""
    index, factor = _gram_map(tuple(K)) if np.prod(np.add(K, 1)) <= KEEP_INDEX_UP_TO else _make_gram_map(tuple(K))
    out = np.take(T0.reshape(len(T0), -1), index, axis=1)
    out *= factor
    return out


def _make_gram_map(K):
    index, factor = np.zeros((1, 1), dtype=np.intp), np.ones((1, 1))
    for k in K:
        i = np.arange(k + 1)
        sums = i[:, None] + i[None, :]
        if 2 * k <= 1000:
            ratio = binomial(k)[:, None] * (binomial(k)[None, :] / binomial(2 * k)[sums])
        else:
            ratio = np.exp(np.add.outer(log_binomial(k), log_binomial(k)) - log_binomial(2 * k)[sums])
        index = (index[:, None, :, None] * (2 * k + 1) + sums[None, :, None, :]).reshape(len(index) * (k + 1), -1)
        factor = (factor[:, None, :, None] * ratio[None, :, None, :]).reshape(index.shape)
    return index, factor


_gram_map = lru_cache(maxsize=64)(_make_gram_map)


def rhs(T1, K):
    """sum_i w_i y_i b_{k,K}(s_i) from moments of degree 2K, flattened in C order."""
    return along_axes(T1, [elevation(k, 2 * k) for k in K]).ravel()

"""The theorems behind isotonic Bernstein fusion, as functions a reader can run.

Wang & Liu (2020), Harnessing the power of classifier fusion with an isotonic Bernstein polynomial, IJCAI-20.
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from .numerics.basis import elevate as _elevate
from .numerics.basis import evaluate

VACUOUS = "It is vacuous at ordinary n: consistency is a statement about growing n, not a guarantee at this one."
MOST_COEFFICIENTS = 1_000_000


@dataclass(frozen=True)
class DeviationBound:
    """The bound of Theorem 4; ``float(bound)`` is its value, infinite where it overflows.

    Attributes
    ----------
    n : int
    p : int
        Coefficients, (K + 1)^M.
    eps : float
    log_bound : float
        Its logarithm, always finite.
    """

    n: int
    p: int
    eps: float
    log_bound: float

    @property
    def vacuous(self):
        """Whether it exceeds one and says nothing."""
        return self.log_bound >= 0

    def __float__(self):
        return float(np.exp(self.log_bound)) if self.log_bound < 700 else float("inf")

    def __str__(self):
        word = f"P[sup |empirical - expected Brier score| > {self.eps:g}] <= 10^{self.log_bound / np.log(10):.1f}"
        return f"{word} (n = {self.n:,}, {self.p:,} coefficients). {VACUOUS if self.vacuous else 'It says something.'}"

    __repr__ = __str__


def deviation_bound(n, K, M=1, eps=0.1):
    """Uniform deviation bound of Theorem 4 for the sieve F_K of M scores.

    P[ sup over F_K of | mean (f - Y)^2 - E(f - Y)^2 | > eps ] <= 24 exp{ (2p + 2) log(48 e / eps) - n eps^2 / 128 },
    p = (K + 1)^M. From it, consistency needs K -> infinity and (K + 1)^M / n -> 0. The bound is vacuous at ordinary n:
    look at the ratios in ``res.consistency()`` instead.

    Parameters
    ----------
    n : int
        Rows.
    K : int or tuple of int
        Degree of every score, or one each (M is then their number).
    M : int
        Scores.
    eps : float
        Deviation of the Brier score, in (0, 1].

    Returns
    -------
    DeviationBound
        ``float()`` of it is the bound.

    Raises
    ------
    ValueError
        If n, K or M is no positive integer, or eps not in (0, 1].

    Examples
    --------
    >>> import isocal
    >>> isocal.deviation_bound(500, K=5, M=2, eps=0.1)
    P[sup |empirical - expected Brier score| > 0.1] <= 10^231.9 (n = 500, 36 coefficients). It is vacuous ...
    >>> float(isocal.deviation_bound(10_000_000, K=5, M=2, eps=0.1)) < 1e-9
    True
    """
    _whole("n", n)
    _share("eps", eps)
    p = _coefficients(K, M)
    log_bound = np.log(24.0) + (2 * p + 2) * (np.log(48.0) + 1 - np.log(eps)) - n * eps**2 / 128
    return DeviationBound(int(n), p, float(eps), float(log_bound))


def sample_size(eps, delta, K, M=1):
    """The smallest n at which the bound of Theorem 4 is at most delta.

    n = 128 / eps^2 [ (2p + 2) log(48 e / eps) + log(24 / delta) ], rounded up. It is in the hundreds of thousands
    where fits are good at hundreds of rows: the bound is vacuous at ordinary n, and no rule for planning a study.

    Parameters
    ----------
    eps : float
        Deviation of the Brier score, in (0, 1].
    delta : float
        Probability, in (0, 1].
    K, M
        As in `deviation_bound`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        As `deviation_bound`; if delta is not in (0, 1].

    Examples
    --------
    >>> import isocal
    >>> n = isocal.sample_size(0.1, 0.05, K=5, M=2)
    >>> n > 500_000, float(isocal.deviation_bound(n, K=5, M=2, eps=0.1)) <= 0.05
    (True, True)
    """
    _share("eps", eps)
    _share("delta", delta)
    p = _coefficients(K, M)
    n = 128 / eps**2 * ((2 * p + 2) * (np.log(48.0) + 1 - np.log(eps)) + np.log(24.0 / delta))
    return int(np.ceil(n - 1e-9 * n * np.finfo(float).eps))


@dataclass(frozen=True, eq=False)
class BernsteinPolynomial:
    """f(s) = sum_k beta_k prod_m b_{k_m,K_m}(s_m) on [0, 1]^M; call it with scores (n, M), or (n,) for one score.

    Attributes
    ----------
    beta : numpy.ndarray, shape (K_1 + 1, ..., K_M + 1)
    """

    beta: np.ndarray

    def __call__(self, s):
        s = np.asarray(s, dtype=np.float64)
        s = s[:, None] if s.ndim == 1 else s
        if s.ndim != 2 or s.shape[1] != self.beta.ndim:
            raise ValueError(f"scores must be (n, {self.beta.ndim}); got shape {s.shape}")
        if np.any((s < 0) | (s > 1)):
            raise ValueError("scores must lie in [0, 1]")
        return evaluate(self.beta, s)

    def elevate(self, K):
        """The same polynomial at a higher degree."""
        return BernsteinPolynomial(elevate(self.beta, K))


def bernstein_operator(f, K, M=1):
    """Bernstein's polynomial of a function: its coefficients are the values of f at the nodes k / K (Theorem 3).

    It converges to a continuous f uniformly as K grows, and where f does not decrease in any score neither do the
    coefficients, so that every B_K f lies in the sieve: the sieve approximates every continuous monotone f.

    Parameters
    ----------
    f : callable
        Takes an (n, M) array of scores in [0, 1] and returns n numbers.
    K : int or tuple of int
        Degree of every score, or one each (M is then their number).
    M : int
        Scores.

    Returns
    -------
    BernsteinPolynomial
        Callable on scores; ``beta`` holds the coefficients.

    Raises
    ------
    ValueError
        If K or M is no positive integer, or f does not return n finite numbers.

    Examples
    --------
    >>> import numpy as np, isocal
    >>> B = isocal.bernstein_operator(lambda s: s[:, 0] ** 2, K=10)
    >>> B([0.5]).round(6).tolist()  # s^2 + s (1 - s) / K
    [0.275]
    """
    K = _degrees(K, M)
    size = _coefficients(K, len(K))
    if size > MOST_COEFFICIENTS:
        raise ValueError(f"K={K!r} makes {size:,} coefficients; at most {MOST_COEFFICIENTS:,}")
    nodes = np.meshgrid(*[np.arange(k + 1) / k for k in K], indexing="ij")
    values = np.asarray(f(np.stack([axis.ravel() for axis in nodes], axis=1)), dtype=np.float64)
    if values.shape != (size,) or not np.isfinite(values).all():
        raise ValueError(f"f must return one finite number for each of the {size} nodes; got shape {values.shape}")
    return BernsteinPolynomial(values.reshape([k + 1 for k in K]))


def elevate(beta, K):
    """Coefficients of the same polynomial at higher degrees (Theorem 2: the sieves are nested).

    One degree up, beta'_k = k / (K + 1) beta_{k-1} + (1 - k / (K + 1)) beta_k along each axis: averages of neighbours,
    so coefficients that do not decrease stay so.

    Parameters
    ----------
    beta : array_like, shape (K_1 + 1, ..., K_M + 1)
        Coefficients, one axis a score, e.g. ``res.curve.beta``.
    K : int or tuple of int
        New degree of every score, or one each; none may be lower than it is.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If a degree is lower than that of beta, or beta holds numbers that are not finite.

    Examples
    --------
    >>> import isocal
    >>> isocal.elevate([0.0, 0.5, 1.0], 3).round(4).tolist()
    [0.0, 0.3333, 0.6667, 1.0]
    """
    beta = np.asarray(beta, dtype=np.float64)
    if beta.ndim == 0 or min(beta.shape) < 2 or not np.isfinite(beta).all():
        raise ValueError(f"beta needs an axis of at least two finite coefficients a score; got shape {beta.shape}")
    return _elevate(beta, _degrees(K, beta.ndim))


def _degrees(K, M):
    if isinstance(K, tuple | list):
        for k in K:
            _whole("K", k)
        if not K or (M != 1 and len(K) != M):
            raise ValueError(f"K has {len(K)} entries for {M} scores: {K!r}")
        return tuple(int(k) for k in K)
    _whole("K", K)
    _whole("M", M)
    return (int(K),) * int(M)


def _coefficients(K, M):
    return int(np.prod([k + 1 for k in _degrees(K, M)], dtype=object))


def _whole(name, value):
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}")


def _share(name, value):
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value <= 1:
        raise ValueError(f"{name} must lie in (0, 1]; got {value!r}")

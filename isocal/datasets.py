"""Data to try things on: real scores that come with the package, and simulated ones whose truth is known."""

import importlib.metadata
import math
import numbers
import sysconfig
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

__all__ = ["load_adult_scores", "simulate_scores", "truths"]

_SHARE = "share/isocal/data"


def load_adult_scores():
    """Scores of three classifiers for 8,000 people of the UCI Adult set.

    The classifiers predict whether a person earns more than $50,000 a year. Each was trained on 5,000 people
    of its own, and none on the people in this table. Source, licence and checksum: data/README.md.

    Returns
    -------
    pandas.DataFrame
        8,000 rows, in random order, with the columns ``age`` and ``sex``; the scores in [0, 1] ``s1``
        (logistic regression), ``s2`` (gradient boosting, 112 missing) and ``s3`` (naive Bayes, badly
        calibrated, 82 missing); ``income`` ("<=50K" or ">50K") and ``y`` (1 where income is ">50K").

    Raises
    ------
    FileNotFoundError
        If the file is neither in a checkout nor where an installed isocal keeps its data.

    Examples
    --------
    >>> from isocal.datasets import load_adult_scores
    >>> data = load_adult_scores()
    >>> data.shape
    (8000, 7)
    >>> list(data.columns)
    ['age', 'sex', 's1', 's2', 's3', 'income', 'y']
    """
    return pd.read_csv(_find("adult_scores.csv"))


def _find(name):
    """Path of a data file: in the checkout, or where an installed wheel put it."""
    places = list(_places(name))
    for path in places:
        if path.is_file():
            return path
    looked = "\n  ".join(str(path) for path in places)
    raise FileNotFoundError(
        f"the data file {name!r} was not found; looked at\n  {looked}\n"
        "Reinstall isocal (pip install --force-reinstall isocal), or run from a complete checkout."
    )


def _places(name):
    """Where a data file may lie, likeliest first."""
    above = Path(__file__).resolve().parent.parent
    if (above / "setup.cfg").is_file() and (above / "data").is_dir():
        yield above / "data" / name
    try:
        installed = importlib.metadata.files("isocal") or []
    except importlib.metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        if file.as_posix().endswith(f"{_SHARE}/{name}"):
            yield Path(file.locate()).resolve()
    yield Path(sysconfig.get_path("data")) / _SHARE / name
    yield Path(sysconfig.get_path("data", sysconfig.get_preferred_scheme("user"))) / _SHARE / name
    yield above / _SHARE / name  # pip install --target


def _smooth(s):
    return expit(6.0 * s.mean(axis=1) - 3.0)


def _additive(s):
    # One score acts late, the next early, and so on: s**2, s**(1/2), s**2, ...
    power = np.where(np.arange(s.shape[1]) % 2 == 0, 2.0, 0.5)
    return 0.05 + 0.9 * (s**power).mean(axis=1)


def _kink(s):
    return 0.05 + 0.9 * s.min(axis=1)


def _product(s):
    return 0.05 + 0.9 * s.prod(axis=1)


def _staircase(s):
    return 0.1 + 0.8 * np.minimum(np.floor(4.0 * s), 3.0).mean(axis=1) / 3.0


def _rare(s):
    return 0.002 + 0.04 * s.mean(axis=1) ** 2


def _first(s):
    return 0.05 + 0.9 * s[:, 0]


def _constant(s):
    return np.full(len(s), 0.3)


#: Name -> true probability as a function of an (n, M) array of scores in [0, 1], for every M >= 1. All are
#: non-decreasing along each score. smooth: logistic in the mean score; additive: a sum of one function per
#: score; kink: linear in the smallest score; product: linear in the product; staircase: a sum of four levels
#: per score; rare: events of 0.2 to 4.2 %; first: only s1 matters; constant: no score matters.
truths = {
    "smooth": _smooth,
    "additive": _additive,
    "kink": _kink,
    "product": _product,
    "staircase": _staircase,
    "rare": _rare,
    "first": _first,
    "constant": _constant,
}


def simulate_scores(n, M=2, rng=None, rho=0.5, truth="smooth"):
    """Scores and labels with a known true probability.

    The scores are uniform on [0, 1] and joined by a Gaussian copula: s_j = Phi(z_j) with z normal, unit
    variances and all correlations `rho`. Given the scores, y is 1 with probability p = truth(s).

    Parameters
    ----------
    n : int
        Number of rows, at least 1.
    M : int
        Number of scores, at least 1.
    rng : None, int or numpy.random.Generator
        Where the randomness comes from. None draws a fresh seed. A seed, drawn or given, is kept in
        ``frame.attrs["seed"]``; passing it as `rng` draws the same table again.
    rho : float
        Correlation of every two of the z, in (-1/(M - 1), 1); for M = 1 it has no effect.
    truth : str or callable
        A name from `isocal.datasets.truths`, or a function of the (n, M) array of scores that returns n
        probabilities.

    Returns
    -------
    pandas.DataFrame
        Columns ``s1`` ... ``sM``, ``y`` (0 or 1) and ``p`` (the true probability).

    Raises
    ------
    TypeError
        If `n` or `M` is not an int, `rho` not a number, `truth` neither str nor callable.
    ValueError
        If `n` or `M` is below 1, `rho` outside its range, the name of the truth unknown, or what a callable
        returns not n probabilities.

    Examples
    --------
    >>> from isocal.datasets import simulate_scores
    >>> data = simulate_scores(500, M=3, rng=0, truth="kink")
    >>> list(data.columns)
    ['s1', 's2', 's3', 'y', 'p']
    >>> bool((data["p"] == 0.05 + 0.9 * data[["s1", "s2", "s3"]].min(axis=1)).all())
    True
    >>> half = simulate_scores(4, rng=0, truth=lambda s: 0.5 * s[:, 0])
    >>> bool((half["p"] == 0.5 * half["s1"]).all())
    True
    """
    _check_count("n", n, "rows")
    _check_count("M", M, "scores")
    _check_rho(rho, M)
    f = _truth(truth)
    if rng is None:
        rng = np.random.SeedSequence().entropy
    generator = np.random.default_rng(rng)
    s = _uniform_scores(generator, n, M, rho)
    p = _probabilities(f, s, truth)
    frame = pd.DataFrame(s, columns=[f"s{j + 1}" for j in range(M)])
    frame["y"] = (generator.random(n) < p).astype(np.int64)
    frame["p"] = p
    if isinstance(rng, numbers.Integral):
        frame.attrs["seed"] = int(rng)
    return frame


def _uniform_scores(generator, n, M, rho):
    """Uniform scores (n, M) with a Gaussian copula of equal correlations."""
    e = generator.standard_normal((n, M))
    # z = e R, R the symmetric root of (1 - rho) I + rho 11', whose eigenvalues are b**2 (along 1) and a**2.
    a, b = math.sqrt(1.0 - rho), math.sqrt(1.0 + (M - 1) * rho)
    return ndtr(a * e + (b - a) * e.mean(axis=1, keepdims=True))


def _probabilities(f, s, truth):
    """What the truth says at the scores, as float64 (n,); ValueError unless these are n probabilities."""
    p = np.asarray(f(s), dtype=np.float64)
    if p.shape != (len(s),):
        raise ValueError(
            f"truth must return one probability per row, an array of shape ({len(s)},); {truth!r} returned "
            f"shape {p.shape}: reduce over the scores, as in lambda s: s.mean(axis=1)"
        )
    bad = ~((p >= 0.0) & (p <= 1.0))
    if bad.any():
        raise ValueError(
            f"truth must return probabilities in [0, 1]; {truth!r} returned {p[bad][0]} in row {bad.argmax()}"
            f" ({bad.sum()} such rows): rescale it or clip it"
        )
    return p


def _truth(truth):
    """The function behind a name, or the callable itself."""
    if callable(truth):
        return truth
    if not isinstance(truth, str):
        raise TypeError(f"truth must be a name or a function of the (n, M) scores, not {truth!r}")
    if truth not in truths:
        raise ValueError(
            f"truth must be one of {', '.join(truths)}, not {truth!r}; for another, pass a function of the "
            "(n, M) scores"
        )
    return truths[truth]


def _check_count(name, value, what):
    """Raise unless value is an int of at least 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name}, the number of {what}, must be an int, not {value!r}; pass int({name}) if whole"
        )
    if value < 1:
        raise ValueError(f"{name}, the number of {what}, must be at least 1, not {value}")


def _check_rho(rho, M):
    """Raise unless (1 - rho) I + rho 11' is a positive definite correlation matrix."""
    if isinstance(rho, (bool, np.bool_)) or not isinstance(rho, numbers.Real):
        raise TypeError(f"rho, the correlation of every two scores, must be a number, not {rho!r}")
    low = -1.0 / max(M - 1, 1)
    if not low < rho < 1.0:
        raise ValueError(
            f"rho, the correlation of every two of {M} scores, must lie in ({low:.4g}, 1), not {rho}; use "
            "rho=0 for independent scores"
        )

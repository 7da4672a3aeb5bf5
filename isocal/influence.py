"""Which rows move the fit: every row left out in turn, on the face of the fit, and the strongest refitted exactly."""

from dataclasses import dataclass

import numpy as np

from .numerics.basis import design
from .numerics.face_hat import deletions, without
from .numerics.progress import counted

TOP, CANDIDATES = 10, 3  # rows that are listed; refitted for each
AT_ONCE, MOST_REFITS = 50, 5000  # fits a block, and most rows, of methods that must be refitted


@dataclass(frozen=True, eq=False)
class RowInfluence:
    """Per row (n,): fitted; leverage; change = fitted - fitted without the row, at the row itself; cook; moves: whether
    its deletion changes the active set; exact: change by refitting, and largest: the largest change at any row (both
    NaN except where refitted); top (k,) rows, strongest first. df and sigma2 of Cook's distance.
    """

    fitted: np.ndarray
    leverage: np.ndarray
    change: np.ndarray
    cook: np.ndarray
    moves: np.ndarray
    exact: np.ndarray
    largest: np.ndarray
    top: np.ndarray
    df: float
    sigma2: float


def least_squares_influence(face, s, y, w=None, top=TOP):
    """Influence on a least-squares Bernstein fit by its face hat matrix.

    While the active set stays, leaving row i out changes its fitted value by exactly r_i h_i / (1 - h_i); Cook's
    distance is w_i r_i^2 h_i / (df sigma2 (1 - h_i)^2). The 3 `top` rows of largest change are refitted, and the `top`
    of largest exact change listed.

    Parameters
    ----------
    face : Face
        Of `isocal.numerics.face_hat.face_of`.
    s : numpy.ndarray, shape (n, M)
        Scores in [0, 1].
    y : numpy.ndarray, shape (n,)
        Labels.
    w : numpy.ndarray, shape (n,), optional
        Case weights; a row is left out with all its weight.
    top : int
        Rows to list.

    Returns
    -------
    RowInfluence

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.influence import least_squares_influence
    >>> from isocal.numerics.face_hat import face_of
    >>> from isocal.numerics.moments import moments
    >>> s, y = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]]), np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    >>> found = least_squares_influence(face_of(moments(s, y, None, [2]), (1,), (1,), 0.0), s, y, top=2)
    >>> found.leverage.round(4).tolist(), found.change.round(4).tolist()
    ([0.5, 0.5, 0.3333, 0.3333, 0.3333], [-0.5, 0.5, -0.3333, 0.1667, 0.1667])
    """
    found = deletions(face, s, y, w)
    w = np.ones(len(y)) if w is None else w
    df, residual = face.fit.df, y - found.fitted
    sigma2 = float(w @ residual**2 / w.sum() * len(y) / max(len(y) - df, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        cook = w * residual**2 * found.leverage / (df * sigma2 * (1 - found.leverage) ** 2)
    cook = np.where(residual == 0, 0.0, cook) if df * sigma2 > 0 else np.zeros(len(y))
    order = strongest(found.change, CANDIDATES * top)
    exact, largest = np.full((2, len(y)), np.nan)
    X = design(s, face.K) if len(y) * face.cone.p <= 2**26 else None
    for i in order:
        x = design(s[i : i + 1], face.K)[0]
        again = without(face, x, y[i], w[i])
        if again is not None:
            move = face.fit.beta - again.beta
            exact[i] = x @ move
            largest[i] = np.max(np.abs(move if X is None else X @ move))
    order = order[strongest(exact[order], top)] if len(order) else order
    return RowInfluence(found.fitted, found.leverage, found.change, cook, ~found.stays, exact, largest, order, df,
                        sigma2)  # fmt: skip


def refitted_influence(recipe, curve, s, y, w=None, top=TOP, progress=False, raw=None):
    """Influence on any other fit: every row left out and the recipe fitted again, in blocks.

    Leverage and Cook's distance have no meaning here and are NaN. raw (n, M): scores before transforms, for recipes
    that look at them.
    """
    n = len(y)
    if n > MOST_REFITS:
        raise ValueError(f"influence() of {recipe.title} refits once a row: at most {MOST_REFITS:,} rows, got {n:,}")
    fitted, w = curve(s), np.ones(n) if w is None else w
    before = {"raw": raw} if recipe.needs_raw else {}
    exact, largest = np.full((2, n), np.nan)
    for block in counted(-(-n // AT_ONCE), "refits", progress):
        rows = np.arange(block * AT_ONCE, min((block + 1) * AT_ONCE, n))
        W = np.repeat(w[:, None], len(rows), axis=1)
        W[rows, np.arange(len(rows))] = 0.0
        for i, again in zip(rows, recipe.fit_many(s, y, W, **before), strict=True):
            move = fitted - again(s)
            exact[i], largest[i] = move[i], np.max(np.abs(move))
    nothing = np.full(n, np.nan)
    return RowInfluence(fitted, nothing, exact, nothing, np.zeros(n, dtype=bool), exact, largest, strongest(exact, top),
                        curve.df, np.nan)  # fmt: skip


def strongest(change, top):
    """(top,) rows of largest change, those that alone decide their fitted value (NaN) first, ties in row order."""
    size = np.round(np.where(np.isnan(change), np.inf, np.abs(change)), 12)
    return np.argsort(-size, kind="stable")[:top]

"""How far a fitted function is from the truth, on cells of the data or on a grid."""

from dataclasses import dataclass

import numpy as np

from ..numerics.calibration_sums import width_borders, width_position
from .scores import check_forecast


@dataclass(frozen=True)
class GridError:
    """Differences between a function at centres of cells and the event frequency in them, over the c cells kept.

    Attributes
    ----------
    largest, mean : float
        Of |fitted - observed| over kept cells (the MCE and ECE of Wang & Liu); NaN where none is kept.
    centers : ndarray, shape (c, m)
    n, fitted, observed : ndarray, shape (c,)
        Weight, function at the centre, event frequency.
    dropped : int
        Cells that hold rows, but fewer than min_count.
    """

    largest: float
    mean: float
    centers: np.ndarray
    n: np.ndarray
    fitted: np.ndarray
    observed: np.ndarray
    dropped: int


def grid_error(f, s, y, cells=10, min_count=1000, w=None):
    """Error of a function of scores on a grid of cells: |f(centre) - event frequency| over well filled cells.

    Section 5.2 of Wang & Liu: the unit cube is cut into cells^m equal cells, cells of fewer than min_count rows are
    dropped, and the frequency of events in a cell stands for the truth.

    Parameters
    ----------
    f : callable
        (c, m) scores -> (c,) probabilities.
    s : array_like, shape (n, m) or (n,)
        Scores in [0, 1]. A border belongs to the cell above it; both are seen to 12 decimals.
    y : array_like, shape (n,)
        Labels in {0, 1}.
    cells : int
        Along each score.
    min_count : float
        Least weight of a cell that is kept.
    w : array_like, shape (n,), optional
        Case weights.

    Returns
    -------
    GridError

    Raises
    ------
    ValueError
        If scores leave [0, 1] or are NaN, labels are not 0 and 1, or lengths differ.

    References
    ----------
    Wang, Y. & Liu, X. (2020). Multivariate probability calibration with isotonic Bernstein polynomials. IJCAI-20,
    section 5.2. doi:10.24963/ijcai.2020/353

    Examples
    --------
    >>> from isocal.metrics import grid_error
    >>> found = grid_error(lambda s: s[:, 0], [0.1, 0.2, 0.6, 0.7], [0, 0, 1, 0], cells=2, min_count=2)
    >>> found.largest, found.mean, found.observed.tolist()
    (0.25, 0.25, [0.0, 0.5])
    """
    s = np.asarray(s, dtype=np.float64)
    s = s[:, None] if s.ndim == 1 else s
    if s.ndim != 2 or not np.all((s >= 0) & (s <= 1)):
        raise ValueError("scores must be (n, m) or (n,), lie in [0, 1] and not be NaN; use ecdf() or unit() first")
    if cells < 1:
        raise ValueError(f"cells must be at least 1; got {cells!r}")
    w = np.ones(len(s)) if w is None else np.asarray(w, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    check_forecast(y, s[:, 0], w)
    m = s.shape[1]
    at = np.ravel_multi_index([width_position(column, cells) for column in s.T], (cells,) * m)
    n, events = np.bincount(at, w), np.bincount(at, w * y)
    kept = np.flatnonzero((n >= min_count) & (n > 0))
    borders = width_borders(cells)
    middle = (borders[:-1] + borders[1:]) / 2
    centers = middle[np.stack(np.unravel_index(kept, (cells,) * m), axis=1)]
    observed = events[kept] / n[kept]
    fitted = np.asarray(f(centers), dtype=np.float64) if len(kept) else np.empty(0)
    gap = np.abs(fitted - observed)
    largest, mean = (float(gap.max()), float(gap.mean())) if len(kept) else (np.nan, np.nan)
    return GridError(largest, mean, centers, n[kept], fitted, observed, int(np.sum(n > 0)) - len(kept))


@dataclass(frozen=True)
class TruthError:
    """sup and l1: the largest and the mean |f_hat - f| over a grid."""

    sup: float
    l1: float


def truth_error(f_hat, f, grid):
    """Distance between a fitted function and the true one over a grid, in sup norm and in mean.

    Parameters
    ----------
    f_hat, f : callable or array_like, shape (g,)
        Functions of the grid, or their values on it.
    grid : array_like, shape (g, m) or (g,)
        Places; the mean weighs them equally, so a regular grid gives the L1 norm of the cube.

    Returns
    -------
    TruthError

    Raises
    ------
    ValueError
        If values are not (g,).

    Examples
    --------
    >>> import numpy as np
    >>> from isocal.metrics import truth_error
    >>> truth_error(lambda s: s / 2, lambda s: s, np.linspace(0, 1, 5))
    TruthError(sup=0.5, l1=0.25)
    """
    grid = np.asarray(grid, dtype=np.float64)
    values = [np.asarray(g(grid) if callable(g) else g, dtype=np.float64) for g in (f_hat, f)]
    if any(v.shape != grid.shape[:1] for v in values) or not len(grid):
        raise ValueError(f"f_hat and f must give one value a grid place, {len(grid)}; got {[v.shape for v in values]}")
    gap = np.abs(values[0] - values[1])
    return TruthError(float(gap.max()), float(gap.mean()))

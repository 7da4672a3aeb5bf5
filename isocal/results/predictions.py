"""What does the fit say: predictions, their frame, fitted values, residuals."""

import numpy as np

from .. import frames


def predict(self, new=None):
    """Calibrated probabilities.

    Parameters
    ----------
    new : DataFrame, optional
        Rows to predict, of any library, holding the columns of the formula's scores; other columns are not needed.
        Default: the rows of the fit.

    Returns
    -------
    Series
        Of the caller's library, float64 in [0, 1], exactly new's rows and index; a missing score gives NaN (null).

    Raises
    ------
    FormulaError
        If a column is missing, naming it.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> new = data[["s1", "s2"]].head(3)
    >>> res.predict(new).index.equals(new.index)
    True
    """
    if new is None:
        return fittedvalues(self)
    frame = frames.open_frame(new)
    raw = self.terms.raw(frame)
    return frames.series(_probabilities(self, raw), "predicted", frame, frames.index_of(frame.to_native()))


def _probabilities(self, raw):
    return self.curve(self.terms.scores(raw, self.recipe.domain()))


def fittedvalues(self):
    """Probabilities at the rows of the fit, with their index."""
    rows = self.rows_or("fittedvalues")
    return frames.series(_probabilities(self, rows.raw), "predicted", rows.like, rows.index)


def resid(self):
    """y - predicted at the rows of the fit, with their index."""
    rows = self.rows_or("resid")
    return frames.series(rows.y - _probabilities(self, rows.raw), "resid", rows.like, rows.index)


def predict_frame(self, new=None):
    """Predictions with what should be known about each row.

    Parameters
    ----------
    new : DataFrame, optional
        Rows to predict; default: the rows of the fit.

    Returns
    -------
    DataFrame
        Of the caller's library, exactly new's rows: ``predicted``; ``extrapolated``, True where any score lies
        outside the range seen in fitting (scores are clipped to the domain); for two scores or more ``supported``,
        False where no row of the fit lies near.
    """
    if new is None:
        rows = self.rows_or("predict_frame() without new rows")
        frame, raw, index = rows.like, rows.raw, rows.index
    else:
        frame = frames.open_frame(new)
        raw, index = self.terms.raw(frame), frames.index_of(frame.to_native())
    return frames.table(_columns(self, raw), frame, index)


def _columns(self, raw):
    s = self.terms.scores(raw, self.recipe.domain())
    out = {"predicted": self.curve(s), "extrapolated": self.terms.extrapolated(raw)}
    supported = self.curve.supported(s) if s.shape[1] > 1 else None
    return out if supported is None else out | {"supported": supported}


def augment(self, data=None):
    """The caller's rows with predictions beside them, after R's broom.

    Parameters
    ----------
    data : DataFrame, optional
        Rows to augment; default: the data of the model, all rows.

    Returns
    -------
    DataFrame
        data with the columns of `predict_frame` and, for the default, ``resid`` = y - predicted (NaN in rows that
        were not used).
    """
    own = data is None
    if own:
        data = None if self.model is None else self.model.data
        if data is None:
            raise ValueError("augment() without data needs the data of the fit: pass data")
    frame = frames.open_frame(data)
    raw = self.terms.raw(frame)
    columns = _columns(self, raw)
    if own:
        rows = self.rows_or("augment()")
        resid = np.full(len(raw), np.nan)
        resid[rows.kept] = rows.y - columns["predicted"][rows.kept]
        columns["resid"] = resid
    return frames.beside(frame, columns)

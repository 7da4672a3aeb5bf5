"""Results of a fit: recipe, curve, terms and, when fitted in memory, the rows.

A method here is one documented function of its room bound by one line; numbers happen in functions of arrays.
"""

from functools import cached_property

from . import (
    assess,
    band_figure,
    bands_doors,
    bootstrap_doors,
    diagnose,
    draw,
    export,
    inference,
    judge,
    predictions,
    tables,
)


class Results:
    """What ``Model.fit()`` returns: a frozen view of one fit.

    Attributes
    ----------
    curve : Curve
        The fitted map on transformed scores; ``curve.beta`` holds Bernstein coefficients in C order.
    recipe : Recipe
        The hyper-parameters, bound to the scores of the formula.
    terms : Terms
        How columns become scores.
    response : Response
        The modelled event.
    model : Model or None
        The model that was fitted; None after loading.
    nobs : int
        Rows used. Weights do not count here.
    df_model, llf, aic, bic : float
        Effective parameters; Bernoulli log-likelihood at the rows of the fit and its criteria (NaN where df is not
        defined; the sum of weights is the n of bic).
    params : pandas.Series
        Coefficients by name.
    bse : pandas.Series
        Their standard errors, for methods that have them.
    """

    def __init__(self, recipe, curve, terms, response, rows=None, model=None, facts=None):
        self.recipe, self.curve, self.terms, self.response = recipe, curve, terms, response
        self.rows, self.model = rows, model
        self._stored = facts

    def rows_or(self, what):
        """The rows of the fit; the one place that says what cannot be done without them."""
        if self.rows is None:
            raise ValueError(f"{what} needs the rows of the fit, which a loaded fit does not hold: refit with data")
        return self.rows

    @property
    def formula(self):
        """The formula as written."""
        return self.terms.parsed.text

    @cached_property
    def facts(self):
        """Counts and apparent figures of the fit, {name: value}."""
        return dict(self._stored["facts"]) if self._stored else assess.facts(self)

    @cached_property
    def cross_validated(self):
        """Five-fold cross-validated scores, {metric: value}."""
        return dict(self._stored["cross_validated"]) if self._stored else assess.cross_validated(self)

    nobs = property(lambda self: self.facts["n"])
    df_model = property(lambda self: self.curve.df)
    llf = property(lambda self: self.facts["llf"])
    aic = property(tables.aic)
    bic = property(tables.bic)
    params = property(tables.params)
    bse = property(inference.bse)

    predict, predict_frame, augment = predictions.predict, predictions.predict_frame, predictions.augment
    fittedvalues = property(predictions.fittedvalues)
    resid = property(predictions.resid)
    cross_val_predict = assess.cross_val_predict
    metrics, check_calibration, reliability = judge.metrics, judge.check_calibration, judge.reliability
    summary, table, coef, tidy, glance = tables.summary, tables.table, tables.coef, tables.tidy, tables.glance
    plot, plot_path, plot_slices = draw.plot, draw.plot_path, draw.plot_slices
    conf_int, credible_band = inference.conf_int, inference.credible_band
    conf_band, plot_band = bands_doors.conf_band, band_figure.plot_band
    bootstrap, get_prediction = bootstrap_doors.bootstrap, bootstrap_doors.get_prediction
    consistency, influence = diagnose.consistency, diagnose.influence
    save = export.save
    __str__, _repr_html_ = tables.digest, tables.digest_html

    def __repr__(self):
        return f"<isocal results: {self.recipe.title}, {self.formula}>"

"""What was found, as tables: summary, digest, coefficients, one-row overviews."""

from html import escape

import numpy as np
import pandas as pd
from scipy.special import ndtr

from ..summary import Block, Summary
from .inference import conf_int

LONGEST = 20  # rows of a method's own table that summary() prints


def summary(self, bootstrap=None):
    """Everything about the fit on one page, in statsmodels' look.

    The header says what is modelled, which rows were used, and the method's own facts with its certificate; then a
    table of scores, and apparent figures beside five-fold cross-validated ones.

    Parameters
    ----------
    bootstrap : Bootstrap, optional
        Replicates of this fit (`Results.bootstrap`): adds their standard errors and 95 % percentile intervals to the
        mean slopes, the Brier score and the AUC.

    Returns
    -------
    Summary
        Prints as text, shows as HTML in Jupyter; ``as_text() as_html() as_latex()``; compare with ``==``.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> "Cross-validated" in res.summary().as_text()
    True
    """
    scores, fit, notes = _scores(self), _fit(self), list(_notes(self))
    if bootstrap is not None:
        from .bootstrap_tables import with_intervals

        scores, fit, note = with_intervals(self, bootstrap, scores, fit)
        notes.append(note)
    blocks = [_header(self), *_coefficients(self), scores, fit]
    blocks += [_extra(title, columns) for title, columns in self.curve.tables().items()]
    return Summary(tuple(blocks), tuple(notes))


def _header(self):
    facts = self.facts
    rate = facts["events"] / facts["weight"]
    left = {"Formula": self.formula, "Modelled": self.response.label, "Method": self.recipe.title}
    right = {"Rows": f"{facts['n']:,}"}
    if facts["weight"] != facts["n"]:
        right |= {"Sum of weights": f"{facts['weight']:,.6g}", "Effective rows": f"{facts['n_eff']:,.1f}"}
    right |= {"Events": f"{facts['events']:,.6g} ({rate:.1%})", "Dropped rows": f"{sum(facts['dropped'].values()):,}"}
    right |= {"Deg. of freedom": _number(self.df_model, "g"), "Log-likelihood": _number(self.llf, ".2f")}
    right |= {"AIC": _number(self.aic, ".2f"), "BIC": _number(self.bic, ".2f")}
    left |= self.curve.facts()
    pairs = [[f"{k}:", v] for k, v in left.items()], [[f"{k}:", v] for k, v in right.items()]
    height = max(map(len, pairs))
    for side in pairs:
        side.extend([["", ""]] * (height - len(side)))
    rows = tuple((a[1], b[0], b[1]) for a, b in zip(*pairs, strict=True))
    return Block(f"{self.recipe.title} Results", None, tuple(a[0] for a in pairs[0]), rows)


def _coefficients(self):
    """statsmodels' coefficient table, for methods with standard errors."""
    if self.curve.bse() is None:
        return
    t = tidy(self)
    headers = ("", "coef", "std err", "z", "P>|z|", "[0.025", "0.975]")
    figures = (t.estimate, t.std_error, t.statistic, t.p_value, t.conf_low, t.conf_high)
    rows = tuple(
        tuple(_cell(v, f".{3 if i in (2, 3) else 4}f") for i, v in enumerate(row)) for row in zip(*figures, strict=True)
    )
    yield Block(None, headers, tuple(t.term), rows)


def _number(value, spec):
    return "not defined" if np.isnan(value) else f"{value:{spec}}"


def scores_table(self):
    """{column: list}: one row a score: direction, range seen, mean slope over the rows, its share, smallest step."""
    M = len(self.terms.names)
    slopes = self.facts["slopes"] or [np.nan] * M
    total = sum(abs(v) for v in slopes)
    steps = self.curve.steps() or [None] * M
    words = {1: "increasing", -1: "decreasing", 0: "free"}
    return {
        "term": self.terms.labels,
        "direction": [words[d] for d in self.recipe.directions(M)],
        "low": self.terms.low.tolist(),
        "high": self.terms.high.tolist(),
        "mean_slope": list(slopes),
        "share": [abs(v) / total if total > 0 else np.nan for v in slopes],
        "smallest_step": [np.nan if v is None else v for v in steps],
    }


def _scores(self):
    t = scores_table(self)
    names = ["direction", "low", "high", "mean_slope", "share"]
    heads = ["direction", "lowest", "highest", "mean slope", "share"]
    shown = 5 if self.facts["slopes"] else 3  # a step function has no slopes
    columns = [t[name] for name in names[:shown]]
    formats = (str, "{:.4g}".format, "{:.4g}".format, _four, _percent)
    rows = [tuple(f(v) for f, v in zip(formats, row, strict=False)) for row in zip(*columns, strict=True)]
    return Block(None, ("", *heads[:shown]), tuple(t["term"]), tuple(rows))


def _cell(value, spec):
    return "" if np.isnan(value) else f"{value:{spec}}"


def _four(value):
    return _cell(value, ".4f")


def _percent(value):
    return _cell(value, ".1%")


def _fit(self):
    apparent, honest = self.facts["apparent"], self.cross_validated
    rows = tuple((_four(apparent[name]), _four(honest[name])) for name in apparent)
    return Block(None, ("", "Apparent", "Cross-validated"), tuple(apparent), rows)


def _extra(title, columns):
    stubs, *rest = columns
    first = {name: values[:LONGEST] for name, values in columns.items()}
    if len(columns[stubs]) > LONGEST:
        title = f"{title} (the first {LONGEST} of {len(columns[stubs])}; all in .table({title!r}))"
    columns = first
    rows = tuple(zip(*([_text(v) for v in columns[name]] for name in rest), strict=True))
    return Block(title, (stubs, *rest), tuple(_text(v) for v in columns[stubs]), rows)


def _text(value):
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    return _cell(value, ".5g") if isinstance(value, float) else f"{value}"


def _notes(self):
    facts = self.facts
    if facts["dropped"]:
        yield "Dropped: " + ", ".join(f"{n:,} {reason}" for reason, n in facts["dropped"].items()) + "."
    thinned = [
        label for label, chain in zip(self.terms.labels, self.terms.chains, strict=True)
        if any(getattr(c, "thinned", False) for c in chain)
    ]  # fmt: skip
    if thinned:
        yield f"Knots at 10,001 equally spaced ranks: {', '.join(thinned)}."
    if np.isnan(self.cross_validated["Brier score"]):
        yield "Cross-validated: not defined, a training part could not be fitted; cross_val_predict() says why."
        return
    yield "Cross-validated: five folds, transforms and options learned anew in each; trust these."


def table(self, title):
    """One of the fit's tables as a DataFrame.

    Parameters
    ----------
    title : str
        "scores", "fit" (apparent and cross-validated figures), "coefficients", or a title of the method's own.

    Raises
    ------
    ValueError
        If there is no such table, naming those there are.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> res = isocal.bernstein("y ~ s1 + s2", data, K=3).fit()
    >>> res.table("scores").term.tolist()
    ['s1', 's2']
    """
    own = self.curve.tables()
    if title == "scores":
        return pd.DataFrame(scores_table(self))
    if title == "fit":
        return pd.DataFrame({"apparent": self.facts["apparent"], "cross_validated": self.cross_validated})
    if title == "coefficients":
        return tidy(self)
    if title not in own:
        known = ", ".join(map(repr, ["scores", "fit", "coefficients", *own]))
        raise ValueError(f"there is no table {title!r}: this fit has {known}")
    return pd.DataFrame(own[title])


def params(self):
    """Coefficients as a Series."""
    return pd.Series(self.curve.coef(), dtype=float, name="estimate")


def coef(self):
    """Coefficients: for two scores on a grid a DataFrame (first score down, second across), else a Series by name.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(200, M=2, rng=1)
    >>> isocal.bernstein("y ~ s1 + s2", data, K=3).fit().coef().shape
    (4, 4)
    """
    grid = self.curve.grid()
    if grid is None or grid.ndim != 2:
        return params(self)
    a, b = (pd.RangeIndex(size, name=name) for size, name in zip(grid.shape, self.terms.names, strict=True))
    return pd.DataFrame(grid, index=a, columns=b)


def tidy(self):
    """One row a coefficient: ``term estimate``, after R's broom; where the method has standard errors also
    ``std_error statistic p_value conf_low conf_high`` (normal, 95 %).
    """
    out = pd.DataFrame({"term": list(self.curve.coef()), "estimate": list(self.curve.coef().values())})
    if self.curve.bse() is None:
        return out
    out["std_error"] = list(self.curve.bse().values())
    out["statistic"] = out.estimate / out.std_error
    out["p_value"] = 2 * ndtr(-out.statistic.abs())
    interval = conf_int(self).reset_index(drop=True)
    return out.assign(conf_low=interval.conf_low, conf_high=interval.conf_high)


def glance(self):
    """One row about the fit: method, nobs, events, df, llf, aic, bic and apparent scores, after R's broom."""
    apparent = self.facts["apparent"]
    return pd.DataFrame(
        {
            "method": [self.recipe.title], "nobs": [self.nobs], "events": [self.facts["events"]], "df": [self.df_model],
            "llf": [self.llf], "aic": [self.aic], "bic": [self.bic], "brier": [apparent["Brier score"]],
            "log_loss": [apparent["Log loss"]], "auc": [apparent["AUC"]],
        }
    )  # fmt: skip


def aic(self):
    """-2 llf + 2 df."""
    return -2 * self.llf + 2 * self.df_model


def bic(self):
    """-2 llf + log(n) df, n the sum of weights."""
    return -2 * self.llf + np.log(self.facts["weight"]) * self.df_model


def _digest(self):
    facts, curve = self.facts, self.curve
    own = curve.facts()
    picked = [f"{k} {own[k]}" for k in list(own)[:4] if k != "Loss"]
    dropped = sum(facts["dropped"].values())
    return [
        f"{self.recipe.title}: {self.formula}",
        f"{self.response.label}: {facts['events']:,.6g} events in {facts['n']:,} rows, {dropped:,} dropped",
        ", ".join([*picked, f"df {_number(self.df_model, 'g')}"]),
        "Apparent " + ", ".join(f"{k} {_four(v)}" for k, v in facts["apparent"].items()),
        "More: .summary(), .predict(new), .predict_frame(new), .cross_val_predict()",
    ]


def digest(self):
    """Five lines about the fit."""
    return "\n".join(_digest(self))


def digest_html(self):
    """The digest as HTML, every cell escaped."""
    first, *rest = map(escape, _digest(self))
    return "<p>" + "<br>\n".join([f"<b>{first}</b>", *rest]) + "</p>"

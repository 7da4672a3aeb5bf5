"""Copula fusion (Ozdemir et al. 2018; Wang & Liu 2020, 3.1): Bayes' theorem with kernel margins joined by copulas."""

import difflib
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..numerics import copulas
from ..numerics.copula_fit import CopulaFit, best_fit, distinct_rows, fit_copula, pseudo_observations
from ..numerics.kernel_margin import Margin, check_margin, kernel_margin
from .base import Curve, Recipe, arrays, check_choice, finite_array, score_name
from .copula_tables import correlations_table, described, fall_words, families_table, parameter_names

CRITERIA = ("loglik", "aic", "bic")
LEAST_ROWS = 3  # of each class
LEAST_RANGE = 1e-9  # of a score within a class
GRID_ROWS = 4096  # places at which falls are measured, at most
STEP = 1e-5  # of the central differences that make the gradient


@dataclass(frozen=True, eq=False, kw_only=True)
class CopulaFusionCurve(Curve):
    """The posterior of class 1, in log-odds. Entry l of each tuple is about class l.

    weights: n_0 and n_1; margins: a Margin for each score; fits: a CopulaFit for each family tried; criterion: by which
    one of them is chosen. df is not defined: kernel estimates have no number of parameters.
    """

    weights: tuple
    margins: tuple
    fits: tuple
    criterion: str

    def __call__(self, s):
        known = ~np.isnan(s).any(axis=1)
        if not known.all():
            out = np.full(len(s), np.nan)
            out[known] = self(s[known])
            return out
        columns = [np.clip(np.ascontiguousarray(x), 0.0, 1.0) for x in s.T]
        n0, n1 = self.weights
        eta = np.full(len(s), np.log(n1) - np.log(n0))
        for label, sign in ((1, 1.0), (0, -1.0)):
            eta = eta + sign * self._log_likelihood(label, columns)
        return expit(eta)

    def _log_likelihood(self, label, columns):
        """log f_l(s), never formed as a density."""
        edge = 0.5 / (self.weights[label] + 1.0)
        total, u = 0.0, []
        for margin, x in zip(self.margins[label], columns, strict=True):
            f, F = margin(x)
            total = total + np.log(f)
            u.append(np.clip(F, edge, 1.0 - edge))
        fit = self.chosen[label]
        return total + copulas.log_density(fit.name, u, fit.theta)

    @cached_property
    def chosen(self):
        """The CopulaFit of each class."""
        size = len(self.margins[0])
        return tuple(best_fit(f, self.criterion, n, size) for f, n in zip(self.fits, self.weights, strict=True))

    def coef(self):
        n0, n1 = self.weights
        out = {"prior": n1 / (n0 + n1)}
        out |= {f"bandwidth[{k},{m + 1}]": mg.h for k in (0, 1) for m, mg in enumerate(self.margins[k])}
        for k, fit in enumerate(self.chosen):
            names = parameter_names(fit.name, len(self.margins[k]))
            out |= {f"{fit.name}[{k}].{name}": t for name, t in zip(names, fit.theta, strict=True)}
        return out

    def gradient(self, s):
        """By central differences of 1e-5, one-sided at 0 and 1."""
        out = np.empty(s.shape)
        for m in range(s.shape[1]):
            low, high = s.copy(), s.copy()
            low[:, m], high[:, m] = np.clip(s[:, m] - STEP, 0.0, 1.0), np.clip(s[:, m] + STEP, 0.0, 1.0)
            out[:, m] = (self(high) - self(low)) / (high[:, m] - low[:, m])
        return out

    @cached_property
    def falls(self):
        """(places on each axis, share of grid steps where the probability falls, largest fall); None: too many scores.

        The grid is equally spaced on the whole cube; round-off is no fall.
        """
        M = len(self.margins[0])
        size = round(GRID_ROWS ** (1.0 / M))
        size -= size**M > GRID_ROWS
        if size < 2:
            return None
        axis = np.linspace(0.0, 1.0, size)
        places = np.stack([x.ravel() for x in np.meshgrid(*[axis] * M, indexing="ij")], axis=1)
        p = np.round(self(places), 12).reshape((size,) * M)
        steps = np.concatenate([np.diff(p, axis=m).ravel() for m in range(M)])
        return size, float(np.mean(steps < 0)), float(max(0.0, -steps.min()))

    def facts(self):
        (n0, n1), M = self.weights, len(self.margins[0])
        h = [margin.h for margins in self.margins for margin in margins]
        out = {"Prior": f"{n1 / (n0 + n1):.4f}"}
        out |= {f"Copula, class {label}": described(fit, M) for label, fit in enumerate(self.chosen)}
        out |= {} if self.falls is None else {"Monotone": fall_words(self.falls, M)}
        out |= {"Chosen by": {"loglik": "log-likelihood"}.get(self.criterion, self.criterion.upper())}
        return out | {"Bandwidths": f"{min(h):.3g} to {max(h):.3g}"}

    def tables(self):
        M, lines = len(self.margins[0]), [(label, fit) for label in (0, 1) for fit in self.fits[label]]
        out = {"families": families_table(lines, self.chosen, M)}
        if M > 2 and any(fit.name in copulas.ELLIPTICAL for _, fit in lines):
            out["correlations"] = correlations_table(lines, M)
        return out

    def to_dict(self):
        margins = [[margin.to_dict() for margin in margins] for margins in self.margins]
        fits = [[{"name": f.name, "theta": list(f.theta), "llf": f.llf} for f in fits] for fits in self.fits]
        return {"weights": list(self.weights), "margins": margins, "fits": fits, "criterion": self.criterion}

    @classmethod
    def from_dict(cls, d):
        check_choice("criterion", d["criterion"], CRITERIA)
        weights = tuple(finite_array(d["weights"], "weights").tolist())
        if len(weights) != 2 or min(weights) <= 0 or len(d["margins"]) != 2 or len(d["fits"]) != 2:
            raise ValueError("copula fusion: two positive weights, with margins and fits for each, are expected")
        size = len(d["margins"][0])
        if size < 2 or len(d["margins"][1]) != size:
            raise ValueError("copula fusion: both classes must have margins of the same scores, two or more")
        margins = tuple(
            tuple(Margin.from_dict(m, 1.0 / (n + 1.0)) for m in margins)
            for margins, n in zip(d["margins"], weights, strict=True)
        )
        fits = tuple(tuple(_fit_from(f, size) for f in fits) for fits in d["fits"])
        if not all(fits):
            raise ValueError("copula fusion: each class needs a fitted family")
        return cls(weights=weights, margins=margins, fits=fits, criterion=d["criterion"])


def _fit_from(d, size):
    """A CopulaFit read from a file: a family of `size` scores, its parameters in range."""
    check_choice("family", d["name"], copulas.families_for(size))
    theta = tuple(finite_array(d["theta"], "theta").tolist())
    if not copulas.within_range(d["name"], theta, size):
        raise ValueError(f"copula fusion: {theta} are no parameters of {d['name']} for {size} scores")
    return CopulaFit(d["name"], theta, float(d["llf"]))


@dataclass(frozen=True)
class CopulaFusion(Recipe):
    """Copula fusion: the odds of class 1 by Bayes' theorem, each class with kernel margins joined by a copula.

    log-odds f(s) = log n_1/n_0 + sum_m log f_1m(s_m)/f_0m(s_m) + log c_1(u^1) - log c_0(u^0). The density f_lm of
    score m in class l is a Gaussian kernel estimate reflected at 0 and 1 (bandwidth 1.059 min(sd, IQR/1.349)
    n_l^(-1/5)), mixed with 1/(n_l + 1) of the uniform; u^l are its distribution functions. The copula c_l has maximum
    pseudo-likelihood at ranks/(n_l + 1), the best of several families; the probability is smooth but need not rise with
    a score, and the summary says how often it falls. For more than two scores gaussian and student have a correlation
    for each pair, the others one parameter for all. Scaling all weights changes bandwidths, ranks and the uniform part,
    hence the fit. Equal scores have equal ranks. Nothing is drawn at random.

    The likelihood of these margins and copulas is not that of the labels, and kernels have no number of parameters, so
    df, AIC and BIC of the results are not defined.

    Parameters
    ----------
    families : "all", str or sequence of str
        Of gaussian, clayton, rclayton, plackett, frank, gumbel, rgumbel, student; r is rotation by 180 degrees, which
        moves the tail dependence to the other corner. plackett is for two scores; "all" leaves it out of more.
    criterion : {"loglik", "aic", "bic"}
        What chooses the family, for each class on its own: the largest log-likelihood (default, as the authors do), or
        the smallest AIC or BIC, which count parameters.

    Raises
    ------
    ValueError
        One score; scores outside [0, 1]; a class of fewer than three rows, or whose weights sum to 1 or less; a score
        without spread in a class, or so concentrated beside its range that no table could hold its density; an unknown
        or empty families; plackett for more than two scores.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(400, M=2, rng=1)
    >>> res = isocal.copula_fusion("y ~ ecdf(s1) + ecdf(s2)", data, families=("gaussian", "frank")).fit()
    >>> table = res.table("families")
    >>> table.family[table.chosen].tolist()
    ['gaussian', 'gaussian']

    References
    ----------
    Ozdemir, O., Allen, T. G., Choi, S., Wimalajeewa, T. & Varshney, P. K. (2018). Copula based classifier fusion under
    statistical dependence. IEEE Transactions on Pattern Analysis and Machine Intelligence 40(11), 2740-2748.
    doi:10.1109/TPAMI.2017.2774300. Wang, Y. & Liu, X. (2020). doi:10.24963/ijcai.2020/353
    """

    title: ClassVar[str] = "Copula fusion"
    reference: ClassVar[str] = "Ozdemir et al. (2018), doi:10.1109/TPAMI.2017.2774300"
    max_scores: ClassVar[int | None] = None
    min_scores: ClassVar[int] = 2
    curve_type: ClassVar[type] = CopulaFusionCurve

    families: str | tuple = "all"
    criterion: str = "loglik"

    def __post_init__(self):
        check_choice("criterion", self.criterion, CRITERIA)
        if self.families == "all":
            return
        asked = (self.families,) if isinstance(self.families, str) else tuple(self.families)
        if not asked:
            raise ValueError(f'families is empty: name some of {", ".join(copulas.FAMILIES)}, or "all"')
        for name in asked:
            if name not in copulas.FAMILIES:
                near = difflib.get_close_matches(str(name).lower(), copulas.FAMILIES, n=1, cutoff=0.5)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(copulas.FAMILIES)}"
                raise ValueError(f"families: {name!r} is no copula family: {hint}")
        object.__setattr__(self, "families", tuple(dict.fromkeys(asked)))

    def domain(self):
        return "unit"

    def check(self, s, y, w=None, names=None):
        super().check(s, y, w, names)
        self._names(s.shape[1])
        for label in (0, 1):
            rows = y == label if w is None else (y == label) & (w > 0)
            self._check_class(label, s[rows], np.ones(np.sum(rows)) if w is None else w[rows], names)

    def _check_class(self, label, s, w, names):
        """Enough rows, weight and spread for densities of one class."""
        if len(s) < LEAST_ROWS:
            raise ValueError(
                f"{self.title} needs {LEAST_ROWS} rows of each class for its densities, but class {label} has "
                f"{len(s)}: use more data, or isocal.bernstein"
            )
        if not w.sum() > 1.0:
            raise ValueError(
                f"{self.title}: the weights of class {label} sum to {w.sum():.6g}, but a standard deviation needs more "
                "than 1: scale all weights up, so that they sum to the number of rows"
            )
        for m in range(s.shape[1]):
            low, high = float(s[:, m].min()), float(s[:, m].max())
            if high - low < LEAST_RANGE:
                raise ValueError(
                    f"{score_name(names, m)} is {low:.6g} in all rows of class {label}, and {self.title} needs spread "
                    "within each class: leave this score out, or use isocal.bernstein"
                )
            try:
                check_margin(s[:, m], w)
            except ValueError as error:
                remedy = "spread the score with ecdf() in the formula, or use isocal.bernstein"
                raise ValueError(f"{score_name(names, m)} {error} in class {label}: {remedy}") from None

    def _names(self, M):
        """The families to fit for M scores."""
        allowed = copulas.families_for(M)
        names = allowed if self.families == "all" else self.families
        for name in names:
            if name not in allowed:
                raise ValueError(f'{name} joins two scores only, there are {M}: leave it out, or use families="all"')
        return names

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        w = np.ones(len(y)) if w is None else w
        names, weights, margins, fits = self._names(s.shape[1]), [], [], []
        for label in (0, 1):
            rows, weight = distinct_rows(s[y == label], w[y == label])
            u = pseudo_observations(rows, weight)
            weights.append(float(weight.sum()))
            margins.append(tuple(kernel_margin(x, weight) for x in rows.T))
            fits.append(tuple(fit_copula(name, u, weight) for name in names))
        return CopulaFusionCurve(
            weights=tuple(weights), margins=tuple(margins), fits=tuple(fits), criterion=self.criterion
        )  # fmt: skip

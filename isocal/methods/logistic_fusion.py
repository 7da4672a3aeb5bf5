"""Logistic fusion: logistic regression on the logits of all scores, with slopes that are never negative."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..numerics.logistic import TINY, clipped_logit, edges, fit_logistic, smoothed_targets
from ..numerics.pool_logistic import fit_pool
from .base import Curve, Recipe, arrays, check_choice, finite_array, per_score, score_name

SCALES = ("logit", "identity")


@dataclass(frozen=True, eq=False, kw_only=True)
class LogisticFusionCurve(Curve):
    """expit(intercept + sum slopes_m x_m), x_m = logit(s_m) or s_m as scale_m says.

    slopes (M,) >= 0; edges: (low, high) at which a score is clipped before its logit, for each; se (M + 1,) of
    intercept and slopes, NaN for a slope held at 0; scale (M,); targets; df; prior: None, or standard deviations of
    (level, differences) about the mean logit, geometric means over the priors averaged.
    """

    intercept: float
    slopes: tuple
    edges: tuple
    se: tuple
    scale: tuple
    targets: str
    df: float
    prior: tuple | None = None

    def __call__(self, s):
        eta = np.full(len(s), self.intercept)
        for m, slope in enumerate(self.slopes):
            eta += slope * regressor(s[:, m], self.scale[m], self.edges[m])
        return expit(eta)

    def coef(self):
        return {"intercept": self.intercept, **{f"slope[{m + 1}]": b for m, b in enumerate(self.slopes)}}

    def bse(self):
        return dict(zip(self.coef(), self.se, strict=True))

    def steps(self):
        return list(self.slopes)

    def facts(self):
        scale, held = set(self.scale), [str(m + 1) for m, b in enumerate(self.slopes) if b == 0]
        words = {"logit": "logits of the scores", "identity": "the scores"}
        mixed = ", ".join(f"{m + 1} {name}" for m, name in enumerate(self.scale))
        out = {"Targets": self.targets, "Regressors": words[self.scale[0]] if len(scale) == 1 else mixed}
        if self.prior:
            apart = f", differences {self.prior[1]:.2g}" if len(self.slopes) > 1 else ""
            out["Prior"] = f"about the mean logit; sd of level {self.prior[0]:.2g}{apart}"
        return out | ({"Held at slope 0": f"score {', '.join(held)}"} if held else {})

    def to_dict(self):
        return {
            "intercept": self.intercept, "slopes": list(self.slopes), "edges": [list(pair) for pair in self.edges],
            "se": [None if np.isnan(v) else v for v in self.se], "scale": list(self.scale), "targets": self.targets,
            "df": self.df, "prior": self.prior and list(self.prior),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, d):
        slopes = tuple(finite_array(d["slopes"], "slopes", 0.0).tolist())
        (intercept,), scale = finite_array([d["intercept"]], "intercept").tolist(), tuple(d["scale"])
        for name in scale:
            check_choice("scale", name, SCALES)
        edges = tuple(tuple(finite_array(pair, "edges", 0.0, 1.0).tolist()) for pair in d["edges"])
        if not slopes or not len(scale) == len(edges) == len(slopes) == len(d["se"]) - 1:
            raise ValueError("logistic fusion: a scale and edges for each slope are expected, one standard error more")
        if any(len(pair) != 2 or not 0 < pair[0] < pair[1] < 1 for pair in edges):
            raise ValueError("logistic fusion: edges must be two numbers between 0 and 1, the lower one first")
        se = tuple(float("nan") if v is None else float(v) for v in d["se"])
        prior = d.get("prior")  # not in the first files
        return cls(
            intercept=intercept, slopes=slopes, edges=edges, se=se, scale=scale, targets=str(d["targets"]),
            df=float(d["df"]), prior=prior and tuple(finite_array(prior, "prior", 0.0).tolist()),
        )  # fmt: skip


def regressor(x, scale, edges):
    """The logit of clipped scores, or the scores themselves."""
    return clipped_logit(x, *edges) if scale == "logit" else x


@dataclass(frozen=True)
class LogisticFusion(Recipe):
    """Logistic fusion: logistic regression of the label on all scores, with slopes >= 0.

    Maximises the Bernoulli likelihood of expit(a + sum b_m x_m), b_m >= 0, x_m the logit of score m where all of that
    score lie in [0, 1] and the score itself otherwise, for Platt's targets (n+ + 1)/(n+ + 2) and 1/(n- + 2), which
    keep separable data finite. Logits are of scores clipped half as far from 0 and 1 as the nearest score of the fit,
    so that a score of exactly 0 or 1 does not outweigh all others. The probability never falls in any score. Standard
    errors come from the observed information of the slopes that are positive; a slope held at 0 has none. Scaling all
    weights changes the smoothed targets, hence the fit.

    prior="pool" draws the fit toward the mean logit, intercept 0 and slopes 1/M, as far as the rows leave it open: the
    intercept is normal about 0 and the sum of the slopes about 1 with one standard deviation, the differences between
    slopes about 0 with another; both run over .05, .2, .8, 3, and the fits, posterior modes, are averaged by their
    marginal likelihoods (Laplace's approximation), given 16 priors. Where the mean logit is calibrated already, so is
    the fit; where it is not, a few hundred rows overrule the prior. Above 50,000 rows only the widest prior is taken.

    Parameters
    ----------
    targets : {"smooth", "hard"}, optional
        Platt's smoothed targets (default with a flat prior), or 1 and 0 (default with prior="pool").
    prior : {"flat", "pool"}
        "flat": maximum likelihood. "pool": as above; all scores must lie in [0, 1].
    scale : {"auto", "logit", "identity"} or tuple of them
        The regressor of every score, or of each: its logit or the score. "auto" is decided once
        from the rows of the fit, also for cross-validation and replicates, and printed.

    Raises
    ------
    ValueError
        With hard targets and a flat prior, where the scores part the labels (no finite maximum); scale="logit" or
        prior="pool" outside [0, 1].

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(400, M=2, rng=1)
    >>> res = isocal.logistic_fusion("y ~ s1 + s2", data).fit()
    >>> bool((res.params.iloc[1:] >= 0).all())
    True

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to regularized likelihood
    methods. Advances in Large Margin Classifiers, 61-74. Ranjan, R. & Gneiting, T. (2010).
    doi:10.1111/j.1467-9868.2009.00726.x. Kass, R. E. & Raftery, A. E. (1995), for the averaging.
    doi:10.1080/01621459.1995.10476572
    """

    title: ClassVar[str] = "Logistic fusion"
    reference: ClassVar[str] = "Platt (1999); Ranjan & Gneiting (2010), doi:10.1111/j.1467-9868.2009.00726.x"
    max_scores: ClassVar[int | None] = None
    curve_type: ClassVar[type] = LogisticFusionCurve

    targets: str | None = None
    scale: str | tuple = "auto"
    prior: str = "flat"

    def __post_init__(self):
        check_choice("prior", self.prior, ("flat", "pool"))
        if self.targets is not None:
            check_choice("targets", self.targets, ("smooth", "hard"))
        for name in self.scale if isinstance(self.scale, tuple | list) else (self.scale,):
            check_choice("scale", name, ("auto", *SCALES))

    def directions(self, m):
        return (1,) * m

    def scales(self, s):
        """The regressor of each score of s (n, M): "auto" is "logit" where all of the score lie in [0, 1]."""
        inside = (s.min(axis=0) >= 0) & (s.max(axis=0) <= 1) if len(s) else np.zeros(s.shape[1], dtype=bool)
        asked = per_score(self.scale, s.shape[1], "scale")
        return tuple(SCALES[0 if ok else 1] if a == "auto" else a for a, ok in zip(asked, inside, strict=True))

    def settle(self, s):
        return replace(self, scale=self.scales(s))

    def check(self, s, y, w=None, names=None):
        super().check(s, y, w, names)
        for m, name in enumerate(per_score(self.scale, s.shape[1], "scale")):
            low, high = s[:, m].min(), s[:, m].max()
            if name == "logit" and (low < 0 or high > 1):
                raise ValueError(
                    f'scale="logit": {score_name(names, m)} must lie in [0, 1], but ranges from {low:.6g} to '
                    f'{high:.6g}: use scale="identity" or expit() in the formula'
                )
        if self.prior == "pool" and "identity" in self.scales(s):
            m = self.scales(s).index("identity")
            raise ValueError(f'prior="pool" is about the mean logit and needs probabilities: {score_name(names, m)} '
                             f"ranges from {s[:, m].min():.6g} to {s[:, m].max():.6g}: use expit() in the formula, or "
                             'prior="flat"')  # fmt: skip

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        scale, w = self.scales(s), np.ones(len(y)) if w is None else w
        clips = tuple(edges(s[:, m]) if name == "logit" else (TINY, 1 - TINY) for m, name in enumerate(scale))
        x = np.stack([regressor(s[:, m], name, clips[m]) for m, name in enumerate(scale)], axis=1)
        targets, prior = self.targets or ("smooth" if self.prior == "flat" else "hard"), None
        t = smoothed_targets(y, w) if targets == "smooth" else y
        if self.prior == "pool":
            fit = fit_pool(x, t, w)
            df, prior = fit.df, tuple(np.exp(fit.weights @ np.log(fit.spreads)).tolist())
        else:
            fit = fit_logistic(x, t, w, non_negative=True) if targets == "smooth" else self._hard(x, y, w)
            df = float(fit.rank)
        coef = fit.coef.tolist()
        return LogisticFusionCurve(
            intercept=coef[0], slopes=tuple(max(b, 0.0) for b in coef[1:]), edges=clips, scale=scale,
            se=tuple(np.sqrt(np.diag(fit.cov)).tolist()), targets=targets, df=df, prior=prior,
        )  # fmt: skip

    def _hard(self, x, y, w):
        reason = 'no finite slopes are best with hard targets: use targets="smooth"'
        if y.min() == y.max():
            raise ValueError(f"all labels are equal, so {reason}")
        try:
            fit = fit_logistic(x, y, w, non_negative=True)
        except ValueError:
            raise ValueError(f"the scores part the labels, or nearly so: {reason}") from None
        eta = fit.coef[0] + x @ fit.coef[1:]
        if np.min(eta[y == 1]) > np.max(eta[y == 0]):
            raise ValueError(f"the scores part the labels, so {reason}")
        return fit

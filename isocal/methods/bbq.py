"""Bayesian Binning into Quantiles (Naeini, Cooper & Hauskrecht 2015); the mathematics is in numerics/averaging.py."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..numerics.averaging import (
    Binning,
    binnings,
    candidate_range,
    interval_midpoint,
    kept,
    merge,
    one_half,
    partitions,
)
from ..numerics.binning import step_values, tied_blocks
from ..numerics.pava import isotonic_means
from .base import Curve, Recipe, arrays, check_choice, check_number, finite_array


@dataclass(frozen=True, eq=False, kw_only=True)
class BBQCurve(Curve):
    """A step function: values (b,) between inner borders (b - 1,); a score on a border belongs to the right.

    models, weights: the kept binnings by falling likelihood, from which credible bands come; monotone: whether the
    values are the isotonic projection; notes: header lines of the summary about the candidates.
    """

    borders: np.ndarray
    values: np.ndarray
    models: tuple
    weights: np.ndarray
    monotone: bool
    notes: dict = field(default_factory=dict)

    def __call__(self, s):
        return step_values(self.borders, self.values, s[:, 0])

    def coef(self):
        return {f"step{i + 1}": float(v) for i, v in enumerate(self.values)}

    def steps(self):
        if not self.monotone:
            return None
        return [float(np.min(np.diff(self.values), initial=np.inf)) if len(self.values) > 1 else 0.0]

    def posterior(self, s):
        """(weights (k,), alpha (n, k), beta (n, k)): the mixture of the kept models' Beta posteriors at each score."""
        at = [np.searchsorted(model.borders, s[:, 0], side="right") for model in self.models]
        alpha = np.stack([model.alpha[i] for model, i in zip(self.models, at, strict=True)], axis=1)
        beta = np.stack([model.beta[i] for model, i in zip(self.models, at, strict=True)], axis=1)
        return self.weights, alpha, beta

    def facts(self):
        shape = "yes, the isotonic projection" if self.monotone else "no (monotone=True projects it)"
        return {**self.notes, "Models kept": f"{len(self.models)}", "Steps": f"{len(self.values)}", "Monotone": shape}

    def tables(self):
        return {
            "models": {
                "rank": list(range(1, len(self.models) + 1)),
                "bins": [len(model.alpha) for model in self.models],
                "log_marginal_likelihood": [model.log_likelihood for model in self.models],
                "weight": self.weights.tolist(),
            }
        }

    def to_dict(self):
        models = [
            {"borders": m.borders.tolist(), "alpha": m.alpha.tolist(), "beta": m.beta.tolist(), "log": m.log_likelihood}
            for m in self.models
        ]
        return {
            "borders": self.borders.tolist(), "values": self.values.tolist(), "models": models,
            "weights": self.weights.tolist(), "monotone": self.monotone, "notes": dict(self.notes),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, d):
        borders, values = finite_array(d["borders"], "borders"), finite_array(d["values"], "values", 0.0, 1.0)
        if len(values) != len(borders) + 1 or np.any(np.diff(borders) <= 0):
            raise ValueError("bbq: borders must increase and be one fewer than the values")
        if d["monotone"] and np.any(np.diff(values) < 0):
            raise ValueError("bbq: the values fall, but the file says they are monotone")
        lowest = {"borders": -np.inf, "alpha": 0.0, "beta": 0.0}
        models = tuple(
            Binning(*(finite_array(m[name], name, low) for name, low in lowest.items()), float(m["log"]))
            for m in d["models"]
        )
        weights = finite_array(d["weights"], "weights", 0.0, 1.0)
        if len(weights) != len(models) or any(not len(m.alpha) == len(m.beta) == len(m.borders) + 1 for m in models):
            raise ValueError("bbq: models, their weights, borders and parameters do not fit together")
        notes = {str(k): str(v) for k, v in d["notes"].items()}
        return cls(
            borders=borders, values=values, models=models, weights=weights, monotone=bool(d["monotone"]), notes=notes
        )  # fmt: skip


@dataclass(frozen=True)
class BBQ(Recipe):
    """Bayesian Binning into Quantiles: the posterior mean over many equal-frequency binnings of one score.

    Each candidate number of bins from n^(1/3)/C to C n^(1/3) makes a binning with Beta priors; binnings are weighted by
    their marginal likelihoods, the unlikely ones pruned, and the average is one step function. The curve is not
    monotone unless asked. Scaling all weights changes the fit: weights count as rows against the prior.

    Parameters
    ----------
    C : float
        Range of the candidate numbers of bins, > 0; default 10 as in the paper.
    min_bin : int or None
        No more bins than rows / min_bin; default 5. None: the paper's plain range.
    prior_strength : float
        Weight of the Beta prior, > 0; default 2 as in the paper.
    prior_scale : {"total", "per_bin"}
        Whether prior_strength is shared by the bins of a model (the paper) or is each bin's own (the authors' code).
    prior_mean : {"interval", "half"}
        Prior mean of a bin: the middle of its interval, for scores in [0, 1]; or 1/2, for scores on any scale.
    pruning_threshold : float or None
        Where the fall of relative likelihood over its variance is at most this, weaker models are dropped; default
        0.001. None keeps all.
    combine : {"average", "select"}
        Average the kept models, or take the best alone.
    monotone : bool
        Project the averaged steps onto non-decreasing ones (weighted isotonic regression).

    Raises
    ------
    ValueError
        For an option out of range, more than one score, scores outside [0, 1] with prior_mean="interval".

    Examples
    --------
    Four rows in one bin (n < 10 allows no more): the prior of weight 2 and mean 1/2 gives (2 + 1)/(4 + 2).

    >>> import numpy as np
    >>> from isocal.methods import BBQ
    >>> BBQ().fit_arrays(np.array([0.2, 0.4, 0.6, 0.8]), np.array([0, 1, 0, 1])).values
    array([0.5])

    References
    ----------
    Naeini, M. P., Cooper, G. F. & Hauskrecht, M. (2015). Obtaining well calibrated probabilities using Bayesian
    binning. AAAI-15, 29(1). doi:10.1609/aaai.v29i1.9602
    """

    title: ClassVar[str] = "Bayesian binning into quantiles"
    reference: ClassVar[str] = "Naeini, Cooper & Hauskrecht (2015), doi:10.1609/aaai.v29i1.9602"
    max_scores: ClassVar[int | None] = 1
    curve_type: ClassVar[type] = BBQCurve

    C: float = 10
    min_bin: int | None = 5
    prior_strength: float = 2.0
    prior_scale: str = "total"
    prior_mean: str = "interval"
    pruning_threshold: float | None = 0.001
    combine: str = "average"
    monotone: bool = False

    def __post_init__(self):
        check_number("C", self.C, above=0)
        check_number("prior_strength", self.prior_strength, above=0)
        if self.min_bin is not None:
            check_number("min_bin", self.min_bin, at_least=1)
        if self.pruning_threshold is not None:
            check_number("pruning_threshold", self.pruning_threshold, at_least=0)
        check_choice("prior_scale", self.prior_scale, ("total", "per_bin"))
        check_choice("prior_mean", self.prior_mean, ("interval", "half"))
        check_choice("combine", self.combine, ("average", "select"))
        check_choice("monotone", self.monotone, (True, False))

    def domain(self):
        return "unit" if self.prior_mean == "interval" else "real"

    def domain_remedy(self):
        return ', or prior_mean="half", which takes scores on any scale'

    def directions(self, m):
        return (1 if self.monotone else 0,) * m

    def fit_arrays(self, s, y, w=None):
        s, y, w = arrays(s, y, w)
        self.check(s, y, w)
        blocks = tied_blocks(s[:, 0], y, w)
        low, high = candidate_range(blocks.weight_to[-1], self.C, self.min_bin)
        parts = partitions(blocks, low, high)
        mean = interval_midpoint if self.prior_mean == "interval" else one_half
        models = binnings(blocks, parts, self.prior_strength, self.prior_scale == "per_bin", mean)
        order, weights = kept(np.array([m.log_likelihood for m in models]), self.pruning_threshold)
        if self.combine == "select":
            order, weights = order[:1], np.ones(1)
        chosen = tuple(models[i] for i in order)
        borders, values = merge(chosen, weights)
        if self.monotone:
            edges = np.searchsorted(blocks.x, borders, side="left")
            values = isotonic_means(values, np.diff(blocks.weight_to[np.r_[0, edges, len(blocks.x)]]))
        notes = {"Bins tried": f"{low} to {high}", "Distinct models": f"{len(models)}"}
        return BBQCurve(
            borders=borders, values=values, models=chosen, weights=weights, monotone=self.monotone, notes=notes
        )  # fmt: skip

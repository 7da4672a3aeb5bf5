"""An isotonic super learner: monotone fusions of the same scores, mixed with weights learned out of fold.

A convex combination of maps that never fall in any score never falls in any score, so the mixture keeps the
certificate of its members.
"""

import warnings
from dataclasses import asdict, dataclass, replace
from math import nan
from typing import ClassVar

import numpy as np

from ..numerics.folds import fold_weights, row_hash
from ..numerics.simplex_em import bernoulli_likelihood, em_weights, exponential_weights
from .base import (
    Recipe,
    arrays_and_raw,
    check_choice,
    check_constant,
    check_number,
    columns,
    finite_array,
    per_score,
    positive,
    score_name,
)
from .fuse_library import entries, read_library, written_library
from .fuse_members import cross_fitted, fit_members
from .fuse_scales import FIRST, flat
from .mixture import Member, Mixture

FEWEST, BLOCK = 20, 6  # rows of a fit; replicates fitted in one stroke
MOST_LOG_ODDS = 36.0  # expit of more is 1 in double precision


@dataclass(frozen=True)
class Fuse(Recipe):
    """Isotonic super learner: a mixture of monotone fusions, weighted by how they predict rows not seen.

    Members are fitted without each of five folds in turn, transforms included. Weights proportional to exp(L_j / 4),
    L_j the log-likelihood that member j gave to the folds left out, are then moved by 100 steps of
    expectation-maximisation toward the mixture of largest likelihood (stopping early is part of the method: members
    that do alike share the weight); then all members are fitted to all rows.

    The default library is small: the mean score, the mean logit, a logistic fusion drawn toward it (prior="pool"), and
    isotonic Bernstein polynomials of two degrees on two scales, "calibrated", where every score has first been through
    a logistic calibration of its own, and "halfway", the mean of that and of its ecdf; each is shrunk toward the
    logistic fusion as if that were 500 rows. So all members, where the rows say little, lie near the mean logit. Every
    one, and so the mixture, is non-decreasing in every score; the summary names a score that does not rise with the
    events, whose direction may be wrong. Scores outside [0, 1] are first mapped by expit. Weights of rows count as
    rows: scaling them all changes the fit.

    Parameters
    ----------
    library : sequence of recipes or of (scale, recipe), optional
        Members: recipes whose `directions` are all +1, fitted to the scores; or pairs of a scale, "scores", "ecdf",
        "logit_unit", "calibrated" or "halfway", and a recipe. Default: the library described above.
    rate : float
        Weights start proportional to exp(rate L_j); 0: from equal ones.
    steps : int
        Steps of expectation-maximisation.
    mixing : sequence of float, optional
        Weights >= 0 of the members, in the order of the library; they are scaled to sum to one. Default: learned.
    scale : {"auto", "scores", "expit", "standard"} or tuple of them
        Whether a score is used as it is, through expit, or standardised and then through expit. "auto": expit where a
        score leaves [0, 1] in the rows of the fit, standardised first where it leaves [-36, 36], as no log-odds do;
        decided once, also for cross-validation and replicates, and printed.

    Raises
    ------
    ValueError
        For fewer than 20 rows or 2 of a class, a constant score, more than 5 scores, a member that may fall in a
        score, an empty library, or one of which no member can be fitted.

    Warns
    -----
    UserWarning
        Names a member that could not be fitted to all rows or without one of the folds; it is left out.

    Notes
    -----
    Measured on fifteen sets of real scores, ten repetitions (benchmarks/results/quality.md): mean rank 1.3 of twelve
    methods in Brier score, 1.4 in log loss; ahead of monotone gradient boosting and of one polynomial of degree 5 on
    all. Where the mean score is calibrated already nothing is won by learning, and about .0004 of Brier score lost at
    500 rows. What each choice is worth: benchmarks/results/fuse_choices.md.

    Examples
    --------
    >>> import isocal
    >>> data = isocal.datasets.simulate_scores(300, M=2, rng=1)
    >>> res = isocal.fuse("y ~ s1 + s2", data).fit()
    >>> bool(abs(res.params.sum() - 1) < 1e-12)
    True

    References
    ----------
    van der Laan, M. J., Polley, E. C. & Hubbard, A. E. (2007). Super learner. Statistical Applications in Genetics
    and Molecular Biology, 6(1), 25. doi:10.2202/1544-6115.1309. Dalalyan, A. & Tsybakov, A. B. (2008), for the weights.
    doi:10.1007/s10994-008-5051-0. Wang, Y. & Liu, X. (2020). doi:10.24963/ijcai.2020/353
    """

    title: ClassVar[str] = "Isotonic super learner"
    reference: ClassVar[str] = "van der Laan, Polley & Hubbard (2007), doi:10.2202/1544-6115.1309"
    max_scores: ClassVar[int | None] = 5
    curve_type: ClassVar[type] = Mixture
    needs_raw: ClassVar[bool] = True

    library: tuple | None = None
    rate: float = 0.25
    steps: int = 100
    mixing: tuple | None = None
    scale: str | tuple = "auto"

    def __post_init__(self):
        if self.library is not None:
            object.__setattr__(self, "library", read_library(self.library))
        check_number("rate", self.rate, at_least=0)
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or self.steps < 0:
            raise ValueError(f"steps must be an integer of at least 0; got {self.steps!r}")
        for name in self.scale if isinstance(self.scale, tuple | list) else (self.scale,):
            check_choice("scale", name, ("auto", *FIRST))
        if self.mixing is not None:
            given = finite_array(self.mixing, "mixing", 0.0)
            if not given.sum() > 0:
                raise ValueError(f"mixing weights must be >= 0 and not all 0; got {self.mixing!r}")
            object.__setattr__(self, "mixing", tuple(given.tolist()))

    def directions(self, m):
        return (1,) * m

    def settle(self, s):
        low, high = s.min(axis=0), s.max(axis=0)
        kinds = [(low >= 0) & (high <= 1), np.maximum(-low, high) <= MOST_LOG_ODDS]
        found = np.select(kinds, ["scores", "expit"], "standard").tolist()
        asked = per_score(self.scale, s.shape[1], "scale")
        return replace(self, scale=tuple(f if a == "auto" else a for a, f in zip(asked, found, strict=True)))

    def check(self, s, y, w=None, names=None):
        super().check(s, y, w, names)
        events, n = int(np.sum(y == 1)), len(y)
        if n < FEWEST or min(events, n - events) < 2:
            raise ValueError(
                f"fuse learns its weights on folds and needs {FEWEST} rows and 2 of each class; got {n} rows, {events} "
                "of them events: use isocal.mean_score or isocal.logistic_fusion"
            )
        check_constant(s, names)
        for m, asked in enumerate(per_score(self.scale, s.shape[1], "scale")):
            low, high = s[:, m].min(), s[:, m].max()
            if asked == "scores" and (low < 0 or high > 1):
                raise ValueError(f'scale="scores": {score_name(names, m)} must lie in [0, 1], but ranges from '
                                 f'{low:.6g} to {high:.6g}: use scale="auto"')  # fmt: skip

    def to_dict(self):
        return asdict(replace(self, library=None)) | {"library": written_library(self.library)}

    def fit_arrays(self, s, y, w=None, raw=None):
        s, y, w, raw = arrays_and_raw(s, y, w, raw)
        self.check(s, y, w)
        own, members = self.settle(s), self._members(s.shape[1])
        each = [m for m, _ in members]
        if self.mixing is None:
            raw = s if raw is None else raw
            deal = fold_weights(y, raw, w), row_hash(y, raw)
            held, *fit = cross_fitted(each, own.scale, (s, y, w), *deal)
        else:
            held, (fit,) = None, fit_members(each, own.scale, [(s, y, w)])
        return own._mixture(members, *fit, held)

    def fit_many(self, s, Y, W=None, raw=None):
        """Where the weights of the mixture are given, members are fitted to a few problems in one stroke."""
        if self.mixing is None:
            return super().fit_many(s, Y, W, raw)
        (Y, W, r), own, members, out = columns(Y, W), self.settle(s), self._members(s.shape[1]), []
        for a in range(0, r, BLOCK):
            some = range(a, min(a + BLOCK, r))
            sets = [positive(s, Y[:, j % Y.shape[1]], W[:, j % W.shape[1]]) for j in some]
            fits = fit_members([m for m, _ in members], own.scale, sets)
            out += [own._mixture(members, *fit, None) for fit in fits]
        return out

    def bind(self, names):
        if self.library is None:
            return self
        return replace(self, library=tuple((on, recipe.bind(names)) for on, recipe in self.library))

    def hold(self, curve):
        if self.mixing is not None:
            return self
        learned = curve.coef()
        return replace(self, mixing=tuple(learned.get(m.name, 0.0) for m, _ in self._members(curve.M)))

    def _members(self, M):
        """[(Entry, weight or None)] of those that may get a weight."""
        found = entries(self.library, M)
        if self.mixing is None:
            return [(entry, None) for entry in found]
        if len(self.mixing) != len(found):
            raise ValueError(f"mixing has {len(self.mixing)} entries for {len(found)} members of the library")
        return [(entry, a) for entry, a in zip(found, self.mixing, strict=True) if a > 0]

    def _mixture(self, members, scales, curves, failed, held):
        """The Mixture of fitted members with the weights given, or those that the rows held out give them."""
        warn_of(failed)
        members = [(m, a) for m, a in members if m.name not in failed]
        if not members:
            raise ValueError("no member of the library could be fitted: the warnings say why")
        notes = {}
        if held is None:
            weights, losses, whole = np.array([a for _, a in members]), [(nan, nan)] * len(members), (nan, nan)
            weights, notes["Weights"] = weights / weights.sum(), "given"
        else:
            p = np.stack([held.p[m.name] for m, _ in members], axis=1)
            L = bernoulli_likelihood(p, held.y)
            weights = em_weights(L, held.w, self.steps, exponential_weights(L, held.w, self.rate))
            losses, whole = [held.losses(q) for q in p.T], held.losses(p @ weights)
            notes["Weights"] = f"rate {self.rate:g}, {self.steps} EM steps, {len(held.y):,} rows out of fold"
        for what, which in (
            ("Mapped by expit", [m for m, name in enumerate(self.scale) if name != "scores"]),
            ("Standardised", [m for m, name in enumerate(self.scale) if name == "standard"]),
            ("Not rising", flat(scales.values())),
        ):  # fmt: skip
            notes |= {what: "score " + ", ".join(str(m + 1) for m in which)} if which else {}
        order = list(scales)
        parts = tuple(
            Member(m.name, a, order.index(m.on), curves[m.name], *loss)
            for (m, _), a, loss in zip(members, weights.tolist(), losses, strict=True)
        )
        return Mixture(parts=parts, scales=tuple(scales.values()), M=len(self.scale), brier=whole[0], log_loss=whole[1],
                       notes=notes)  # fmt: skip


def warn_of(failed):
    """One warning for each member left out."""
    for name, reason in failed.items():
        warnings.warn(f"fuse: {name} is left out of the mixture: {reason}", UserWarning, stacklevel=4)

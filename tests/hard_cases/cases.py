"""The zoo: small inputs that broke other packages or nearly broke this one, with answers derived by hand.

Two facts give most answers. Rows at the corners of the unit cube see one coefficient each, so the fit there is the
weighted isotonic regression of the corner means over the order of the corners (pool adjacent violators by hand). At
degree 1 with one score f is the line from beta_0 at 0 to beta_1 at 1, and its normal equations have two unknowns.
Cases whose answer is computed by exact rational arithmetic instead stand in cases_exact.py.
"""

from dataclasses import dataclass

TINY = 5e-324  # the smallest positive float
LAST = 1 - 2**-53  # the largest float below 1


@dataclass(frozen=True)
class Case:
    """s: rows of scores (a number each if there is one score); fitted: expected at the rows, None if exact_solver has
    to say; beta: expected coefficients, where they are unique; tolerance: absolute, for both; tie_break: None runs
    with it and without.
    """

    name: str
    why: str
    s: tuple
    y: tuple
    K: int | tuple
    fitted: tuple | None = None
    derived: str = "exact_solver"
    w: tuple | None = None
    monotone: str | tuple = "increasing"
    beta: tuple | None = None
    tolerance: float = 1e-8
    tie_break: float | None = None

    @property
    def rows(self):
        """Scores as a list of lists."""
        return [list(r) if isinstance(r, tuple) else [r] for r in self.s]

    @property
    def weights(self):
        """Weights, ones where none were given."""
        return self.w or (1,) * len(self.y)


EDGES = [
    Case("two rows", "the smallest sample with a slope; CV and bin rules divide by n - 2",
         (0.0, 1.0), (0, 1), 1, (0, 1), "interpolates, both bounds active", beta=(0, 1)),
    Case("two rows, wrong way round", "pools everything: no free level but one",
         (0.0, 1.0), (1, 0), 1, (0.5, 0.5), "pooled mean", beta=(0.5, 0.5)),
    Case("two rows inside", "the unconstrained line leaves [0, 1] on both sides",
         (0.25, 0.75), (0, 1), 1, (0.25, 0.75), beta=(0, 1),
         derived="line would be (-1/2, 3/2); at (0, 1) the gradient is (1/8, -1/8): it pushes outwards"),
    Case("one distinct score per class", "logistic calibration diverges (separable)",
         (0.3, 0.3, 0.6), (0, 0, 1), 1, (0.3, 0.3, 0.6), beta=(0, 1),
         derived="at (0, 1) residuals .3, .3, -.4: gradient .42 - .16 > 0 and .18 - .24 < 0, outwards"),
    Case("perfectly separated, degree 1", "logistic calibration diverges; least squares must stop at the bounds",
         (0.1, 0.2, 0.3, 0.7, 0.8, 0.9), (0, 0, 0, 1, 1, 1), 1, (0.1, 0.2, 0.3, 0.7, 0.8, 0.9), beta=(0, 1),
         derived="at (0, 1) residuals .1 .2 .3 -.3 -.2 -.1: gradient .46 - .14 = .32 and -.32, outwards"),
    Case("perfectly anti-separated", "every difference row active, one pooled level",
         (0.1, 0.2, 0.3, 0.7, 0.8, 0.9), (1, 1, 1, 0, 0, 0), 5, (0.5,) * 6, "mean: any rise costs", beta=(0.5,) * 6),
    Case("constant within one class", "events share one score: the covariance is 0, the slope exactly on its bound",
         (0.0, 0.25, 0.5, 0.5, 0.75, 1.0), (0, 0, 1, 1, 0, 0), 1, (1 / 3,) * 6, beta=(1 / 3, 1 / 3),
         derived="cov(s, y) = 0, so the least-squares line is the mean 2/6"),
    Case("scores 0 and 1 only, degree 12", "11 of 13 coefficients see no row: a singular Gram matrix",
         (0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0), (0, 0, 0, 1, 0, 1, 1, 1), 12, (0.25,) * 4 + (0.75,) * 4,
         "means at the two ends"),
    Case("more coefficients than rows", "n = 2, 31 coefficients", (0.0, 1.0), (0, 1), 30, (0, 1), "means at the ends"),
    Case("middle row no polynomial can keep down", "b_30 at 1/2 is 2^-30: below every tolerance, not zero",
         (0.0, 0.5, 1.0), (1, 0, 1), 30, (0.5, 0.5, 1.0), tolerance=1e-8,
         derived="pool rows 1 and 2, beta_0 = .. = beta_29 = 1/2; beta_30 = 1 moves f(1/2) by 2^-31 = 5e-10"),
    Case("exact line", "no active row at all, data on the polynomial: multipliers are all 0",
         (0.0, 0.0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1.0, 1.0), (0, 1) * 5, 3,
         (0.2, 0.2, 0.35, 0.35, 0.5, 0.5, 0.65, 0.65, 0.8, 0.8), w=(16, 4, 13, 7, 10, 10, 7, 13, 4, 16),
         derived="means .2 + .6 s; degree 3 coefficients of a line are its values at k/3", beta=(0.2, 0.4, 0.6, 0.8)),
    Case("all labels 0", "no event: log loss and logits are infinite", (0.1, 0.5, 0.9), (0, 0, 0), 5, (0, 0, 0),
         "0 everywhere", beta=(0,) * 6),
    Case("all labels 1", "no non-event", (0.1, 0.5, 0.9), (1, 1, 1), 5, (1, 1, 1), "1 everywhere", beta=(1,) * 6),
]  # fmt: skip

FLOATS = [
    Case("denormal gap", "scikit-learn's IsotonicRegression returned inf between such scores (its PR 17758, 18639)",
         (0.0, 4.1e-320, 4.4e-314, 1.0), (0, 1, 0, 1), 3, (1 / 3, 1 / 3, 1 / 3, 1),
         "the first three rows see beta_0 only"),
    Case("smallest float beside 0", "1 / gap overflows", (0.0, TINY, 1.0, 1.0), (1, 0, 1, 1), 1, (0.5, 0.5, 1, 1),
         "the first two rows see beta_0 only", beta=(0.5, 1)),
    Case("subnormal scores alone", "s^2 underflows: the Gram matrix has rank 1",
         (TINY, 2 * TINY, 3 * TINY), (0, 1, 1), 4, (2 / 3,) * 3, "all rows see beta_0 only"),
    Case("scores 1e-300 apart", "differences underflow in every moment but the first",
         (1e-300, 2e-300, 3e-300), (0, 1, 1), 1, (2 / 3,) * 3, "all rows see beta_0 only"),
    Case("next to 1", "1 - s is 2^-53: the other end of the line cannot be seen",
         (LAST, LAST, 1.0, 1.0), (0, 0, 1, 1), 1, (0.5,) * 4, "all rows see beta_1 up to 1e-16"),
    Case("-0.0 and 0.0", "two zeros are one score; a hash or a sort by bits takes them apart",
         (-0.0, 0.0, 1.0), (0, 1, 1), 5, (0.5, 0.5, 1), "mean at 0, mean at 1"),
    Case("one bit apart at 1/2", "labels would need an infinite slope",
         (0.5, 0.5 + 2**-52, 0.0, 1.0), (0, 1, 0, 1), 1, (0.5, 0.5, 0, 1), "symmetric: line from 0 to 1", beta=(0, 1)),
]  # fmt: skip

TIES = [
    Case("heavy ties", "scikit-learn averaged the weights of ties where it should add them (its issue 9432)",
         (0.0, 0.0, 1.0, 1.0), (0, 1, 0, 1), 5, (0.3, 0.3, 0.7, 0.7), "means 300/1000, 2100/3000",
         w=(700, 300, 900, 2100)),
    Case("heavy ties that pool", "tie weights must add before pooling", (0.0, 0.0, 1.0, 1.0), (0, 1, 0, 1), 5,
         (0.4,) * 4, "(700 + 900) / 4000", w=(300, 700, 2100, 900), beta=(0.4,) * 6),
    Case("duplicated smallest score", "scikit-learn predicted NaN there (its PR 3995)",
         (0.0, 0.0, 1.0), (0, 0, 1), 2, (0, 0, 1), "means at the ends"),
    Case("rows repeated a million times", "case weights 1e6: the answer is that of the unweighted rows",
         (0.0, 0.0, 1.0, 1.0), (0, 1, 1, 1), 3, (0.5, 0.5, 1, 1), "means at the ends", w=(1e6,) * 4),
    Case("zero weights", "scikit-learn looped for ever (its issue 4297)",
         (0.0, 0.25, 0.5, 1.0), (0, 1, 1, 1), 5, (0, None, None, 1), "only the rows at the ends weigh",
         w=(1, 0, 0, 1)),
    Case("zero weight on the only event", "one class is left once absent rows are left out",
         (0.0, 0.5, 1.0), (0, 1, 0), 5, (0, 0, 0), "no event is left", w=(1, 0, 1), beta=(0,) * 6),
    Case("weights of 1e-300", "products of weights underflow", (0.0, 0.0, 1.0, 1.0), (0, 1, 0, 1), 5,
         (0.25, 0.25, 0.75, 0.75), "means at the ends", w=(3e-300, 1e-300, 1e-300, 3e-300)),
    Case("weights of 1e300", "products of weights overflow", (0.0, 0.0, 1.0, 1.0), (0, 1, 0, 1), 5,
         (0.25, 0.25, 0.75, 0.75), "means at the ends", w=(3e300, 1e300, 1e300, 3e300)),
    Case("weights spanning 1e12", "the light end is 1e-12 of the mean Gram diagonal: a solver's tolerance hides it",
         (0.0, 0.0, 1.0, 1.0), (0, 1, 0, 1), 1, (1 / (1e12 + 1), 1 / (1e12 + 1), 0.75, 0.75), "means at the ends",
         w=(1e12, 1, 1, 3), tie_break=0, tolerance=1e-8),
    Case("weights spanning 1e6", "the tie-break penalty can be seen: a ridge of 1e-10 x 5e5 pulls beta_1 by 9.4e-6",
         (0.0, 0.0, 1.0, 1.0), (0, 1, 0, 1), 1, (1 / (1e6 + 1), 1 / (1e6 + 1), 0.75, 0.75), "means at the ends",
         w=(1e6, 1, 1, 3), tolerance=1e-5),
    Case("base rate 1e-6", "an unscaled solver stops 16 % away from the optimum and says optimal",
         (0.0, 0.0, 1.0, 1.0), (0, 1, 0, 1), 5, (5e-7, 5e-7, 1.5e-6, 1.5e-6), "1 in 2e6 and 3 in 2e6",
         w=(1999999, 1, 1999997, 3), tolerance=1e-15),
    Case("base rate 1 - 1e-6", "the mirror image", (0.0, 0.0, 1.0, 1.0), (0, 1, 0, 1), 5,
         (1 - 1.5e-6, 1 - 1.5e-6, 1 - 5e-7, 1 - 5e-7), "3 and 1 non-events in 2e6",
         w=(3, 1999997, 1, 1999999), tolerance=5e-16),
    Case("one event, at the lowest score", "everything pools to 1/n", (0.0, 0.3, 0.6, 1.0), (1, 0, 0, 0), 5,
         (1e-3,) * 4, "mean 1/1000", w=(1, 333, 333, 333), beta=(1e-3,) * 6, tolerance=1e-12),
]  # fmt: skip

DIRECTIONS = [
    Case("decreasing on rising data", "pools to the mean", (0.0, 1.0), (0, 1), 1, (0.5, 0.5), "pooled mean",
         monotone="decreasing", beta=(0.5, 0.5)),
    Case("decreasing on falling data", "the flipped axis interpolates", (0.0, 1.0), (1, 0), 1, (1, 0), "means",
         monotone="decreasing", beta=(1, 0)),
    Case("free axis, hump", "without bounds on every node f leaves [0, 1]",
         (0.0, 0.5, 1.0), (0, 1, 0), 2, (1 / 9, 5 / 9, 1 / 9), monotone="none", beta=(1 / 9, 1, 1 / 9),
         derived="beta_1 = 1 (would be 2); b = beta_0 = beta_2 minimises 2 b^2 + (1 - b)^2 / 4, so b = 1/9"),
    Case("one axis free", "bounds at both ends of the free axis",
         ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)) * 2, (1,) * 4 + (0,) * 4, 1,
         (0.8, 0.1, 0.9, 0.3) * 2, "corner means rise along s1", w=(8, 1, 9, 3, 2, 9, 1, 7),
         monotone=("increasing", "none"), beta=(0.8, 0.1, 0.9, 0.3)),
    Case("up in one, down in the other", "mixed directions: which corner is the bottom?",
         ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)) * 2, (1,) * 4 + (0,) * 4, 1,
         (0.2, 0.1, 0.9, 0.5) * 2, "corner means rise along s1 and fall along s2", w=(2, 1, 9, 5, 8, 9, 1, 5),
         monotone=("increasing", "decreasing"), beta=(0.2, 0.1, 0.9, 0.5)),
]  # fmt: skip

CORNERS = ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))
SEVERAL = [
    Case("all at the corners", "four rows of the square and nothing between", CORNERS * 2, (1,) * 4 + (0,) * 4, 5,
         (0.1, 0.6, 0.4, 0.9) * 2, "corner means rise", w=(1, 6, 4, 9, 9, 4, 6, 1)),
    Case("corners that pool in two blocks", "two violating edges side by side", CORNERS * 2, (1,) * 4 + (0,) * 4, 1,
         (0.35, 0.35, 0.5, 0.5) * 2, w=(5, 2, 6, 4, 5, 8, 4, 6), beta=(0.35, 0.35, 0.5, 0.5),
         derived="means .5 .2 .6 .4: pool along s2; multipliers .15 and .1 are positive, .35 <= .5"),
    Case("exclusive or", "an interaction no order allows", CORNERS, (1, 0, 0, 1), 1, (1 / 3, 1 / 3, 1 / 3, 1),
         "pool the lower three; multipliers 1/3, 1/3", beta=(1 / 3, 1 / 3, 1 / 3, 1)),
    Case("exclusive or, negated", "the upper three pool", CORNERS, (0, 1, 1, 0), 4, (0, 2 / 3, 2 / 3, 2 / 3),
         "pool the upper three; multipliers 1/3, 1/3"),
    Case("anti-correlated scores", "no two rows can be compared: nothing may pool, two corners see no row",
         ((0.0, 1.0), (1.0, 0.0)) * 2, (1, 1, 0, 0), 1, (0.75, 0.25) * 2, "means of two unordered corners",
         w=(3, 1, 1, 3)),
    Case("duplicated scores", "s1 = s2: off the diagonal only sums of coefficients are identified",
         ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0)) * 2, (1,) * 3 + (0,) * 3, 1, (0.2, 0.4, 0.8) * 2,
         "f(1/2, 1/2) is the mean of the four: beta_01 + beta_10 = .6, feasible", w=(2, 4, 8, 8, 6, 2)),
    Case("three scores, four rows", "8 coefficients, 4 rows, two of them not comparable",
         ((0.0,) * 3, (1.0, 0.0, 0.0), (0.0, 1.0, 1.0), (1.0,) * 3), (0, 1, 0, 1), 1, (0, 1, 0, 1),
         "corner means rise"),
    Case("three scores, four rows, 216 coefficients", "212 coefficients see no row",
         ((0.0,) * 3, (1.0, 0.0, 0.0), (0.0, 1.0, 1.0), (1.0,) * 3), (0, 1, 1, 0), 5, (0, 2 / 3, 2 / 3, 2 / 3),
         "(1,0,0) and (0,1,1) both lie below (1,1,1): pool the three"),
    Case("five scores, two rows", "32 coefficients, 2 rows", ((0.0,) * 5, (1.0,) * 5), (1, 0), 1, (0.5, 0.5),
         "pooled mean"),
]  # fmt: skip

ALMOST_ACTIVE = [  # an interior point stops where slack and multiplier are both 1e-5: which rows are active?
    Case("two rows, one inside, degree 6", "the fit was 6e-6 off with a KKT residual of 8e-10",
         (0.25, 1.0), (0, 1), 6, (4096 / (4096**2 + 1), 4096**2 / (4096**2 + 1)),
         derived="beta_0..5 = 0, beta_6 = b minimises (b/4^6)^2 + (1 - b)^2"),
    Case("heavy zero, light middle", "b_0 is 2e-7, not 0", (0.0, 0.5), (0, 1), 6,
         (1 / 4096001, (63 + 1 / 4096001) / 64), w=(1000, 1),
         derived="beta_1..6 = 1, beta_0 = b minimises 1000 b^2 + ((1 - b)/64)^2"),
    Case("unseen corners pinned to 0 and 1", "rows fit exactly, but only at the ends of the two bounds",
         ((1.0, 1.0), (1.0, 1.0), (0.0, 0.0)), (0, 0, 1), 1, (0, 0, 1), "f = 1 at (0, 0), so 1 at (1, 0); 0 likewise",
         w=(10, 10, 1), monotone=("increasing", "decreasing"), beta=(1, 0, 1, 0)),
    Case("two corners of a decreasing square", "one mean is 1 - 1e-6", ((0.0, 0.0), (1.0, 1.0)) * 2, (1, 1, 0, 0), 2,
         (1001000 / 1001001, 0.5) * 2, "corner means fall", w=(1001000, 1e5, 1, 1e5), monotone="decreasing"),
    Case("heavy pooled edge, light corner at 1", "ten rows of three thousand hold a bound",
         ((1.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)), (1, 0, 1, 1), 2, (2001 / 3001,) * 3 + (1,),
         "pool (1, 0) with (1, 1)", w=(1, 1000, 2000, 10), monotone=("decreasing", "increasing")),
    Case("three corners of the cube, one axis free", "weights of 1e5, 1e6 and 1e3",
         ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0)) * 2, (1,) * 3 + (0,) * 3, 1,
         (1, 1000 / 1011000, 1 / 11) * 2, "corner means; the first is not comparable with the others",
         w=(1e5, 1e3, 1e2, 0, 1.01e6, 1e3), monotone=("increasing", "increasing", "none")),
]  # fmt: skip

HAND = EDGES + FLOATS + TIES + DIRECTIONS + SEVERAL + ALMOST_ACTIVE

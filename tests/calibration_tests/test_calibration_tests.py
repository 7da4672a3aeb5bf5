"""What holds for the tests without any other program: identities, weights, order, size, bad input."""

import numpy as np
import pytest
from calibration_cases import calibrated, forecast, miscalibrated
from scipy.optimize import minimize
from scipy.stats import binom, chi2

from isocal.calibration_tests import adaptive, all_tests, cox, ehl, giviti, hosmer_lemeshow, spiegelhalter, tcal
from isocal.numerics.chi2_sums import quantile

ALL = (spiegelhalter, hosmer_lemeshow, cox, giviti, ehl, tcal)
QUICK = {ehl: {"splits": 1}, tcal: {"bins": 10, "n_draws": 99}, giviti: {"level": None}}
SEEDED = {ehl: {"rng": 3}, tcal: {"rng": 3}}


def run(test, *args, **more):
    return test(*args, **QUICK.get(test, {}), **SEEDED.get(test, {}), **more)


def test_likelihood_ratios_add_up():
    res = cox(*forecast("sim"))
    assert res.lr_citl.statistic + res.lr_slope.statistic == pytest.approx(res.lr_joint.statistic, rel=1e-12)
    assert giviti(*forecast("sim"), level=None).statistic == pytest.approx(res.statistic, rel=1e-10)  # degree 1


def test_cox_by_hand():
    # rates 1/4 at p = 1/5 and 3/5 at p = 4/5: the saturated line through their logits
    y, p = [1, 0, 0, 0, 1, 1, 1, 0, 0], [0.2] * 4 + [0.8] * 5
    res = cox(y, p)
    slope = (np.log(1.5) - np.log(1 / 3)) / (2 * np.log(4))
    assert res.slope.estimate == pytest.approx(slope, rel=1e-12)
    assert res.intercept.estimate == pytest.approx(np.log(1.5) - slope * np.log(4), rel=1e-12)
    log_odds_errors = 1 / (4 * 0.25 * 0.75), 1 / (5 * 0.6 * 0.4)
    assert res.slope.std_error == pytest.approx(np.sqrt(sum(log_odds_errors)) / (2 * np.log(4)), rel=1e-10)


def test_spiegelhalter_by_hand():
    # (0 - .2)(.6) + (1 - .2)(.6) = .36; variance 2 (.36)(.16)
    assert spiegelhalter([0, 1], [0.2, 0.2]).statistic == pytest.approx(0.36 / np.sqrt(0.1152), rel=1e-14)


def test_hosmer_lemeshow_by_hand():
    # groups: 1 of 4 at 1/4 (no gap); 3 of 4 at 1/2: (3 - 2)^2 / 2 twice
    res = hosmer_lemeshow([1, 0, 0, 0, 1, 1, 1, 0], [0.25] * 4 + [0.5] * 4, groups=2)
    assert (res.statistic, res.df, res.asked, res.formed) == (1.0, 2, 2, 2)
    assert res.p_value == pytest.approx(np.exp(-0.5), rel=1e-14)


def test_tcal_by_hand():
    # [0, .5): .5 - 1; [.5, 1): 2.4 - 1 with squares; p = 1 alone adds nothing
    res = tcal([0, 1, 1, 1, 0, 1], [0.2, 0.3, 0.6, 0.9, 0.9, 1.0], bins=2, n_draws=9, rng=0)
    first, second = (-0.5) ** 2 - (0.2**2 + 0.7**2), 0.4**2 - (0.4**2 + 0.1**2 + 0.9**2)
    assert res.statistic == pytest.approx((first / 2 + second / 3) / 6, rel=1e-13)


def test_ehl_by_hand():
    # half one: 0 at .2, 1 at .8: blocks 0 of 1 and 1 of 1 become 1/4 and 3/4, linear between
    res = ehl([0, 1, 1, 0], [0.2, 0.8, 0.5, 0.1], indices=[[0, 1]])
    assert res.statistic == pytest.approx((0.5 / 0.5) * (0.75 / 0.9), rel=1e-12)
    assert res.p_value == 1.0
    assert not res.rejects(0.05)


def test_belt_is_optimal():
    y, p = calibrated(300, np.random.default_rng(8))
    y = np.where(np.arange(300) % 9 == 0, 0.0, y)
    res = giviti(y, p, kind="internal", level=0.9, grid=[0.06, 0.3, 0.77, 0.94])
    X = np.vander(np.log(p) - np.log1p(-p), res.degree + 1, increasing=True)
    k = quantile(0.9, 1, res.degree - 2, float(chi2.isf(0.05, 1)))

    def excess(b):
        return k - 2 * (
            np.sum(np.logaddexp(0, X @ b) - y * (X @ b)) - np.sum(np.logaddexp(0, X @ res.coef) - y * (X @ res.coef))
        )

    for g, low, high in zip(res.belts[0].p, res.belts[0].lower, res.belts[0].upper, strict=True):
        c = (np.log(g) - np.log1p(-g)) ** np.arange(res.degree + 1)
        for sign, end in ((1, low), (-1, high)):
            best = minimize(
                lambda b, s=sign, c=c: s * c @ b, res.coef, jac=lambda b, s=sign, c=c: s * c, method="SLSQP",
                constraints={"type": "ineq", "fun": excess}, options={"ftol": 1e-13, "maxiter": 500},
            )  # fmt: skip
            assert sign * best.fun == pytest.approx(np.log(end) - np.log1p(-end), abs=1e-6)


@pytest.mark.parametrize("kind", ["external", "internal"])
def test_belt_holds_the_diagonal_unless_the_test_rejects(kind):
    rng = np.random.default_rng(4)
    for _ in range(6):
        y, p = calibrated(150, rng)
        res = giviti(y, p, kind=kind)
        for belt in res.belts:
            assert np.all(belt.lower < belt.upper)
            if res.p_value > 1 - belt.level:
                assert belt.departures() == []
        narrow, wide = res.belts
        assert np.all(wide.lower <= narrow.lower) and np.all(wide.upper >= narrow.upper)


def test_external_giviti_does_not_see_what_internal_sees():
    y, p = forecast("sim")  # cubic miscalibration
    external, internal = (giviti(y, p, kind=kind, level=None) for kind in ("external", "internal"))
    assert external.p_value > 0.05 > 1e-5 > internal.p_value
    assert "Degree 1 sees no curvature" in external.summary().as_text()


@pytest.mark.parametrize("test", ALL)
def test_whole_number_weights_are_repeats(test):
    y, p, w = miscalibrated()
    k = w.astype(int)
    a, b = run(test, y, p, w), run(test, y.repeat(k), p.repeat(k))
    assert a.n == b.n == k.sum()
    assert (a.statistic, a.p_value) == pytest.approx((b.statistic, b.p_value), rel=1e-9)


@pytest.mark.parametrize("test", ALL)
def test_zero_weight_is_no_row_and_order_does_not_matter(test):
    y, p, _ = miscalibrated()
    order = np.random.default_rng(0).permutation(len(y))
    plain = run(test, y, p)
    padded = run(test, np.r_[y[order], 1, 0], np.r_[p[order], 0.0, 1.0], np.r_[np.ones(len(y)), 0, 0])
    assert (padded.statistic, padded.p_value) == pytest.approx((plain.statistic, plain.p_value), rel=1e-9)


@pytest.mark.parametrize("test", [ehl, tcal])
def test_tests_that_draw_take_whole_number_weights_only(test):
    y, p, _ = miscalibrated()
    with pytest.raises(ValueError, match="takes whole-number weights"):
        test(y, p, np.full(len(y), 0.5))


@pytest.mark.parametrize("test", [ehl, tcal])
def test_draws_follow_the_seed(test):
    y, p, _ = miscalibrated()
    fresh = test(y, p)
    again = test(y, p, rng=fresh.seed)
    assert (again.statistic, again.p_value) == (fresh.statistic, fresh.p_value)
    assert str(fresh.seed) in fresh.summary().as_text()
    assert test(y, p, rng=np.random.default_rng(1)).seed is None
    assert test(y, p, rng=1).p_value == test(y, p, rng=np.random.default_rng(1)).p_value


def rejections(runs=300, n=300):
    """How often each test rejects calibrated forecasts at .05."""
    rng = np.random.default_rng(20240215)
    count = dict.fromkeys([*(t.__name__ for t in ALL), "giviti_internal", "cox_citl", "cox_slope"], 0)
    for _ in range(runs):
        y, p = calibrated(n, rng)
        for test in ALL:
            res = test(y, p, **QUICK.get(test, {}), **({"rng": rng} if test in SEEDED else {}))
            count[test.__name__] += res.p_value <= 0.05
            if test is cox:
                count["cox_citl"] += res.lr_citl.p_value <= 0.05
                count["cox_slope"] += res.lr_slope.p_value <= 0.05
                logit = res.intercept.estimate + res.slope.estimate * (np.log(p) - np.log1p(-p))
                fitted = 1 / (1 + np.exp(-logit))  # a logistic fit, judged on its own rows
                count["giviti_internal"] += giviti(y, fitted, kind="internal", level=None).p_value <= 0.05
    return count


def test_size_under_calibration():
    runs = 300
    low, high = binom.ppf([0.0005, 0.9995], runs, 0.05)
    count = rejections(runs)
    assert count.pop("ehl") <= high
    for name, found in count.items():
        assert low <= found <= high, (name, found, low, high)


def test_adaptive_tcal_is_valid_and_sees_rough_miscalibration():
    rng = np.random.default_rng(2)
    wrong = sum(tcal(*calibrated(150, rng), n_draws=199, rng=rng).p_value <= 0.05 for _ in range(100))
    assert wrong <= binom.ppf(0.9995, 100, 0.05)
    p = 0.25 + np.arange(2000) / 4000
    g = p + 0.2 * (-1.0) ** np.floor(32 * p)  # a sawtooth that two bins do not see
    y = (rng.uniform(size=2000) < g).astype(float)
    assert tcal(y, p, rng=0).p_value < 0.02
    assert tcal(y, p, bins=2, rng=0).p_value > 0.05


def test_an_interrupted_tcal_keeps_its_draws(monkeypatch):
    y, p = forecast("sim")
    whole, calls = adaptive._statistics, iter(range(9))

    def four(Y, bins):
        if next(calls) == 4:  # the first call is for the labels
            raise KeyboardInterrupt
        return whole(Y, bins)

    monkeypatch.setattr(adaptive, "_statistics", four)
    assert tcal(y, p, rng=1, progress=False).n_draws == 300
    monkeypatch.undo()
    assert tcal(y, p, n_draws=300, rng=1, progress=False).p_value == tcal(y, p, n_draws=300, rng=1).p_value


def test_all_tests():
    y, p = forecast("sim")
    found = all_tests(y, p, rng=0)
    terms = ["spiegelhalter", "hosmer_lemeshow", "cox", "cox_citl", "cox_slope", "giviti", "ehl", "tcal"]
    assert list(found.table.term) == terms
    assert list(found.table.columns) == ["term", "statistic", "df", "p_value", "tests"]
    assert found.notes == () and found.table.p_value.between(0, 1).all()
    table = found.table.set_index("term")
    assert table.df.dropna().to_dict() == {"hosmer_lemeshow": 10, "cox": 2, "cox_citl": 1, "cox_slope": 1}
    assert table.statistic["cox"] == pytest.approx(table.statistic["cox_citl"] + table.statistic["cox_slope"])
    assert found.summary() == all_tests(y, p, rng=0).summary()
    assert all(str(res) and res.summary().as_html() and res.summary().as_latex() for res in found.results.values())


def test_all_tests_notes_every_refusal():
    y, p = np.tile([0.0, 1, 1, 0, 0], 8), np.tile([0.0, 1, 0.5, 0.5, 0.6], 8)
    found = all_tests(y, p, np.full(40, 1.5), rng=0)
    assert set(found.refused) == {"cox", "giviti", "ehl", "tcal"} and len(found.notes) == 4
    assert found.table.p_value.isna().sum() == 6
    text = found.summary().as_text()
    assert "Refused: cox takes logits, and 16 of 40 p are exactly 0 or 1: set clip=1e-6 to move them inside." in text
    assert not all_tests(y, p, rng=0, clip=1e-6).refused


@pytest.mark.parametrize("test", [*ALL, all_tests])
@pytest.mark.parametrize(
    ("y", "p", "w", "message"),
    [
        ([0, 1], [0.5, 1.5], None, r"p must lie in \[0, 1\]"),
        ([0, 1], [0.5, np.nan], None, "p must lie in"),
        ([0, np.nan], [0.5, 0.5], None, "y must hold 0 and 1 only"),
        ([0, 1, 1], [0.5, 0.5], None, "equally long"),
        ([0.2, 0.7], [0, 1], None, "are y and p swapped"),
        ([], [], None, "no rows"),
        ([0, 1], [0.2, 0.7], [1, -1], "w must|no rows of positive weight"),
        ([0, 1], [0.2, 0.7], [3, -1], "w must|no rows of positive weight"),
        ([0, 1], [0.2, 0.7], [1, np.inf], "w must|no rows of positive weight"),
    ],
)
def test_bad_rows(test, y, p, w, message):
    with pytest.raises(ValueError, match=message):
        test(y, p, w)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spiegelhalter([0, 1], [0.5, 0.5]), "0/0: every p is 0, 1/2 or 1"),
        (lambda: spiegelhalter([0, 1], [0, 1]), "0/0"),
        (lambda: hosmer_lemeshow([0, 1], [0.2, 0.3]), "at least as many rows as groups; groups=10, rows=2"),
        (lambda: hosmer_lemeshow([0, 1] * 10, [0.2, 0.7] * 10, kind="internal"), r"no degree of freedom left: \d"),
        (lambda: hosmer_lemeshow([0, 1], [0, 1], groups=2), "2 of them certain"),
        (lambda: hosmer_lemeshow([0, 1], [0.1, 0.2], groups=0), "groups must be a whole number"),
        (lambda: hosmer_lemeshow([0, 1], [0.1, 0.2], kind="both"), "kind must be 'external' or 'internal'"),
        (lambda: cox([0, 1, 1], [0, 0.5, 0.2]), "cox takes logits, and 1 of 3 p are exactly 0 or 1: set clip=1e-6"),
        (lambda: cox([1, 1], [0.4, 0.5]), "cox needs both classes; every y is 1"),
        (lambda: cox([0, 1], [0.4, 0.4]), "cox needs at least two distinct p; every p is 0.4"),
        (lambda: cox([0, 1], [0.4, 0.5]), "a threshold on p separates the classes"),
        (lambda: cox([0, 1, 0], [0.4, 0.5, 0.6], level=95), "level must lie strictly"),
        (lambda: cox([0, 1, 0], [0.4, 0.5, 0.6], clip=0.5), "clip must lie strictly between 0 and 0.5"),
        (lambda: giviti([0, 1, 1], [1, 1, 0.2]), "giviti takes logits, and 2 of 3"),
        (lambda: giviti([0, 0], [0.4, 0.5]), "giviti needs both classes"),
        (lambda: giviti([0, 1], [0.4, 0.4]), "giviti needs at least two distinct p"),
        (lambda: giviti([0, 1], [0.4, 0.5]), "separates the classes"),
        (lambda: giviti([0, 1, 0, 1], [0.4, 0.4, 0.5, 0.5], kind="internal"), "at least 3 distinct values"),
        (lambda: giviti([0, 1, 0], [0.4, 0.5, 0.6], kind="own"), "kind must be"),
        (lambda: giviti([0, 1, 0], [0.4, 0.5, 0.6], level=(0.8, 95)), "level must lie strictly"),
        (lambda: giviti([0, 1, 0], [0.4, 0.5, 0.6], grid=[0, 1]), "grid must lie strictly"),
        (lambda: ehl([1], [0.5]), "ehl needs at least two rows"),
        (lambda: ehl([1, 0], [0.5, 0.5], splits=0), "splits must be 1 or more"),
        (lambda: ehl([1, 0], [0.5, 0.5], indices=[[0, 1]]), "at least one row on each side"),
        (lambda: ehl([1, 0], [0.5, 0.5], indices=[[2]]), "whole numbers from 0 to 1"),
        (lambda: ehl([1, 0, 1], [0.5, 0.5, 0.1], indices=[[1, 1]]), "must be distinct"),
        (lambda: tcal([1, 0], [0.5, 0.5]), "at least three rows"),
        (lambda: tcal([1, 0], [0.5, 0.5], bins=2.5), "bins must be a whole number"),
        (lambda: tcal([1, 0], [0.5, 0.5], bins=2, n_draws=0), "n_draws must be 1 or more"),
        (lambda: all_tests([1, 0], [0.5, 0.5], kind="x"), "kind must be"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_defined_answers_at_the_edges():
    certain = [0, 1, 0, 1] * 5, [0, 1, 0, 1] * 5
    assert ehl(*certain, rng=0).statistic < 1  # the rival can only lose
    assert tcal(*certain, bins=4, n_draws=9, rng=0).p_value == 1.0
    impossible = [1, 0, 0, 1] * 5, [0.0, 0.3, 0.3, 0.6] * 5
    assert hosmer_lemeshow(*impossible, groups=4).statistic == np.inf  # the first quartile lies between 0 and .3
    assert ehl(*impossible, rng=0).p_value == 0.0
    one = hosmer_lemeshow([0, 1, 1, 1], [0.5] * 4, groups=4)  # constant p: one group, (3 - 2)^2 / 2 twice
    assert (one.statistic, one.df, one.formed) == (1.0, 1, 1)
    two = hosmer_lemeshow([0, 1] * 10, [0.2, 0.7] * 10)  # two distinct p
    assert (two.asked, two.formed, two.df) == (10, 2, 2)
    assert ehl([1] * 8, [0.5] * 8, rng=0).statistic > 1  # one class is no obstacle


def test_clip_moves_certain_forecasts():
    y, p = np.tile([0.0, 1, 1, 0, 0], 10), np.tile([0.0, 1, 0.5, 0.5, 0.6], 10)
    moved = np.clip(p, 1e-6, 1 - 1e-6)
    for test in ALL:
        assert run(test, y, p, clip=1e-6).statistic == run(test, y, moved).statistic

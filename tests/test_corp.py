"""CORP curves and bands against reliabilitydiag and calibrationband, closed forms, weights, coverage."""

import numpy as np
import pytest
from diag_reference import CASES, forecast, table
from scipy.stats import binom

from isocal import corp
from isocal.metrics import brier
from isocal.numerics import honest
from isocal.numerics.chernoff import chernoff_quantile
from isocal.numerics.progress import collected

every_case = pytest.mark.parametrize("case", CASES)
with_bands = pytest.mark.parametrize("case", ["sim", "sim_tied", "icu", "niamey_EMOS", "niamey_ENS", "niamey_EPC"])
with_honest = pytest.mark.parametrize(
    "case", [case for case in CASES if case not in ("niamey_EPC", "niamey_Logistic", "bc_nb")]
)


@every_case
def test_curve_has_the_bins_of_reliabilitydiag(case):
    y, p = forecast(case)
    expected, curve = table("corp_pav_bins", case), corp.reliability_curve(y, p)
    first, last = curve.bins()
    np.testing.assert_allclose(curve.cep[first], expected["CEP_pav"], atol=1e-12)
    np.testing.assert_allclose(curve.x[first], expected["x_min"], atol=1e-12)
    np.testing.assert_allclose(curve.x[last], expected["x_max"], atol=1e-12)
    np.testing.assert_array_equal(np.add.reduceat(curve.weight, first), expected["n"])
    assert np.all(np.diff(curve.cep) >= 0)


@with_bands
@pytest.mark.parametrize("position", ["diagonal", "estimate"])
def test_pointwise_bands(case, position):
    y, p = forecast(case)
    make = corp.consistency_band if position == "diagonal" else corp.confidence_band
    lines = table("corp_bands_reliabilitydiag", case)
    for method, expected in lines[lines["position"] == position].groupby("method"):
        kind, _, draws = method.partition("_")
        options = {"n_boot": int(draws), "rng": 1} if kind == "resampling" else {}
        band = make(y, p, method=kind, progress=False, **options)
        at = np.searchsorted(band.x, expected["x"].to_numpy() - 1e-11)
        np.testing.assert_allclose(band.x[at], expected["x"], atol=1e-12)
        for end in ("lower", "upper"):
            gap = np.abs(getattr(band, end)[at] - expected[end])
            if kind == "resampling":  # Monte Carlo on both sides, jumps where few rows lie
                assert gap.mean() < 0.02 and np.quantile(gap, 0.9) < 0.06
            else:  # reliabilitydiag has Chernoff's quantile to six decimals
                assert gap.max() < (1e-12 if kind == "discrete" else 1e-6)


def test_chernoff_quantiles_are_the_published_ones():
    """Groeneboom & Wellner (2001), table 1."""
    published = {0.9: 0.664235, 0.95: 0.845081, 0.975: 0.998181, 0.99: 1.171530, 0.995: 1.286659, 0.9999: 1.784955}
    for q, value in published.items():
        assert chernoff_quantile(q) == pytest.approx(value, abs=5e-6)
    assert chernoff_quantile(0.5) == 0


@with_honest
@pytest.mark.parametrize("method", ["standard", "round", "YB"])
def test_simultaneous_bands(case, method):
    y, p = forecast(case)
    lines = table("honest_bands_calibrationband", case)
    # R's floor(100 * .29) is 28: probabilities of two decimals, which rounding leaves alone, it does not
    printed = "standard" if (case, method) == ("sim_tied", "round") else method
    expected = lines[(lines["method"] == printed) & (lines["nc"].astype(str).str.upper() == "FALSE")]
    assert len(expected) >= 20
    if method == "YB":
        band = corp.yang_barber_band(y, p)
    else:
        band = corp.honest_band(y, p, method=method, digits=2)
    at = np.searchsorted(band.x, expected["x"].to_numpy() - 1e-11)
    np.testing.assert_allclose(band.x[at], expected["x"], atol=1e-12)
    np.testing.assert_allclose(band.lower[at], expected["lwr"], atol=1e-10)
    np.testing.assert_allclose(band.upper[at], expected["upr"], atol=1e-10)
    segments = table("honest_bands_rejection_segments", case)
    segments = segments[(segments["method"] == printed) & (segments["nc"].astype(str).str.upper() == "FALSE")]
    rejected = segments.loc[segments["out"] == 1, ["min_x", "max_x"]].to_numpy()
    np.testing.assert_allclose(band.off_diagonal().reshape(-1, 2), rejected, atol=1.1e-4)  # printed on a grid


def test_honest_band_of_one_probability_is_clopper_pearson():
    y = np.r_[np.ones(7), np.zeros(13)]
    band = corp.honest_band(y, np.full(20, 0.5), level=0.9)
    lower, upper = band([0.5])
    assert binom.cdf(7, 20, upper[0]) == pytest.approx(0.05, abs=1e-12)
    assert binom.sf(6, 20, lower[0]) == pytest.approx(0.05, abs=1e-12)


def test_runs_left_out_by_the_bound_do_not_matter():
    """Against the limits of all runs, one by one."""
    from scipy.stats import beta

    rng = np.random.default_rng(4)
    rows = rng.integers(1, 6, 40).astype(float)
    events = rng.binomial(rows.astype(int), np.linspace(0, 1, 40)).astype(float)
    tail, found = 1e-4, np.ones(40)
    for i in range(40):
        n, e = np.cumsum(rows[i:]), np.cumsum(events[i:])
        limits = np.where(e < n, beta.ppf(1 - tail, e + 1, np.maximum(n - e, 1e-9)), 1.0)
        found[: i + 1] = np.minimum(found[: i + 1], limits.min())
    np.testing.assert_allclose(honest.upper_limits(events, rows, tail), found, atol=1e-12)


def test_coverage_of_the_honest_band():
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(100):
        p = rng.random(150)
        truth = np.where(p < 0.5, 0.2, 0.9)  # a jump
        band = corp.honest_band((rng.random(150) < truth).astype(float), p, level=0.9)
        lower, upper = band(p)
        covered += np.all((lower <= truth) & (truth <= upper))
    assert covered >= 90


def test_coverage_of_the_consistency_band():
    """Curves of calibrated forecasts lie in the pointwise 90 % band for about 90 % of the places."""
    rng = np.random.default_rng(12)
    p = np.sort(rng.random(300))
    inside = []
    band = corp.consistency_band((rng.random(300) < p).astype(float), p, rng=0, n_boot=400, progress=False)
    for _ in range(100):
        sample = np.sort(rng.choice(p, 300))
        curve = corp.reliability_curve((rng.random(300) < sample).astype(float), sample)
        lower, upper = band(curve.x)
        inside.append(np.mean((lower <= curve.cep + 1e-12) & (curve.cep <= upper + 1e-12)))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)


BANDS = {
    "consistency": lambda y, p, w=None: corp.consistency_band(y, p, w, n_boot=50, rng=3, progress=False),
    "confidence": lambda y, p, w=None: corp.confidence_band(y, p, w, n_boot=50, rng=3, progress=False),
    "discrete": lambda y, p, w=None: corp.consistency_band(y, p, w, method="discrete"),
    "continuous": lambda y, p, w=None: corp.confidence_band(y, p, w, method="continuous", at=[0.3, 0.5]),
    "honest": corp.honest_band,
    "rounded": lambda y, p, w=None: corp.honest_band(y, p, w, method="round", digits=1),
    "Yang-Barber": corp.yang_barber_band,
}  # fmt: skip


@pytest.mark.parametrize("name", BANDS)
def test_whole_weights_are_repeated_rows(name):
    rng = np.random.default_rng(5)
    p = np.round(rng.random(40), 2)
    y, w = (rng.random(40) < p).astype(float), rng.integers(0, 5, 40)
    weighted, order = BANDS[name](y, p, w), rng.permutation(int(w.sum()))
    repeated = BANDS[name](np.repeat(y, w)[order], np.repeat(p, w)[order])
    np.testing.assert_array_equal(weighted.x, repeated.x)
    np.testing.assert_allclose(weighted.lower, repeated.lower, atol=1e-13)
    np.testing.assert_allclose(weighted.upper, repeated.upper, atol=1e-13)
    with pytest.raises(ValueError, match="w must hold whole numbers"):
        BANDS[name](y, p, w + 0.5)


@pytest.mark.parametrize("name", BANDS)
@pytest.mark.parametrize(
    ("y", "p"),
    [([1, 1, 1], [0.2, 0.5, 0.9]), ([0, 0], [0.2, 0.2]), ([0, 1, 0, 1], [0, 1, 1, 0]), ([1], [0.3]), ([0], [1.0])],
)
def test_degenerate_forecasts(name, y, p):
    band = BANDS[name](y, p)
    if name != "continuous":
        assert np.all((band.lower >= 0) & (band.lower <= 1) & (band.upper >= 0) & (band.upper <= 1))
    with pytest.raises(ValueError, match="are y and p swapped"):
        BANDS[name]([0.2, 0.7], [0, 1])


def test_options():
    for call, says in (
        (lambda: corp.consistency_band([0, 1], [0.1, 0.9], level=90), "level is a coverage"),
        (lambda: corp.consistency_band([0, 1], [0.1, 0.9], method="bootstrap"), "method must be"),
        (lambda: corp.consistency_band([0, 1], [0.1, 0.9], n_boot=5), "n_boot must be"),
        (lambda: corp.consistency_band([0, 1], [0.1, 0.9], at=[0.5]), "at= is for method"),
        (lambda: corp.honest_band([0, 1], [0.1, 0.9], method="nc"), "method must be"),
        (lambda: corp.honest_band([0, 1], [0.1, 0.9], digits=0), "digits must be"),
        (lambda: corp.murphy_diagram([0, 1], [0.1, 0.9], thresholds=[2]), "thresholds must be"),
        (lambda: BANDS["discrete"]([0, 1], [0.1, 0.9]).off_diagonal(), "needs a simultaneous band"),
    ):
        with pytest.raises(ValueError, match=says):
            call()


def test_a_fresh_seed_is_kept_and_makes_the_same_band():
    y, p = forecast("sim_tied")
    first = corp.consistency_band(y, p, n_boot=30, progress=False)
    again = corp.consistency_band(y, p, n_boot=30, progress=False, rng=first.rng)
    np.testing.assert_array_equal(first.lower, again.lower)


def test_an_interrupted_loop_keeps_what_is_done():
    def draw(i):
        if i == 30:
            raise KeyboardInterrupt

    assert collected(100, "loop", draw, progress=False) == 30
    with pytest.raises(KeyboardInterrupt):
        collected(100, "loop", draw, least=40, progress=False)


def test_progress_is_shown_and_silenced(capsys):
    import time

    collected(4, "slow loop", lambda i: time.sleep(0.2))
    assert "slow loop" in capsys.readouterr().err
    collected(4, "slow loop", lambda i: time.sleep(0.2), progress=False)
    assert capsys.readouterr().err == ""


def test_murphy_diagram_integrates_to_the_brier_score():
    y, p = forecast("sim_tied")
    middle = (np.arange(10_000) + 0.5) / 10_000
    scores = corp.murphy_diagram(y, p, thresholds=middle)["score"]
    assert 2 * scores.mean() == pytest.approx(brier(y, p), abs=1e-8)

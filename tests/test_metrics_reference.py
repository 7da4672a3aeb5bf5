"""Metrics against what other programs print (tests/reference/README.md), at the tolerances of the project's notes."""

from itertools import pairwise

import numpy as np
import pytest
from diag_reference import CASES, forecast, printed, table

from isocal import metrics
from isocal.numerics.calibration_sums import width_sums

every_case = pytest.mark.parametrize("case", CASES)


def close(value, expected, tolerance):
    return value == expected or abs(value - expected) <= tolerance


@every_case
def test_scores(case):
    y, p = forecast(case)
    r, python = printed("scores_baseR", case), printed("scores_decomposition_python", case)
    assert close(metrics.brier(y, p), r["brier"], 1e-13)
    assert close(metrics.brier(y, p), python["brier"], 1e-13)
    assert close(metrics.rmse(y, p) ** 2, r["brier"], 1e-13)
    assert close(metrics.brier_skill(y, p), r["BSS"], 1e-13)
    assert close(metrics.brier_skill(y, p), python["brier_skill_score(d2_brier)"], 1e-13)
    assert close(metrics.log_loss(y, p), r["logscore"], 1e-13)
    assert close(metrics.auc(y, p), python["auc"], 1e-13)
    if np.isfinite(r["logscore"]):  # scikit-learn clips p at the round-off of its type
        assert close(metrics.log_loss(y, p), python["log_loss"], 1e-13)


@every_case
def test_corp_decomposition(case):
    y, p = forecast(case)
    names = {"score": "mean_score", "mcb": "miscalibration", "dsc": "discrimination", "unc": "uncertainty"}
    for score in ("brier", "log"):
        expected, found = printed("corp_decomposition_reliabilitydiag", case), metrics.corp(y, p, score=score)
        for ours, theirs in names.items():
            assert close(getattr(found, ours), expected[f"{score}.{theirs}"], 1e-12), (score, ours)
        assert found.score == pytest.approx(found.mcb - found.dsc + found.unc, abs=1e-15)
        python = printed("scores_decomposition_python", case)
        if np.isfinite(found.score):
            assert close(found.mcb, python[f"{score}.miscalibration"], 1e-12)


@every_case
def test_ici(case):
    y, p = forecast(case)
    expected, found = printed("ici_e50_e90_emax", case), metrics.ici(y, p)
    for ours, theirs in (("ici", "ICI"), ("e50", "E50"), ("e90", "E90"), ("emax", "Emax")):
        assert close(getattr(found, ours), expected[f"loess_direct.{theirs}"], 1e-12), ours


@every_case
def test_harrells_errors(case):
    y, p = forecast(case)
    lines, found = table("rms_valprob", case).set_index("quantity").value, metrics.ici(y, p, smoother="lowess")
    for ours, theirs in (("ici", "Eavg"), ("e90", "E90"), ("emax", "Emax")):
        assert close(getattr(found, ours), float(lines[theirs]), 1e-8), ours


@every_case
@pytest.mark.parametrize("bins", [10, 15])
def test_errors_of_equal_width(case, bins):
    y, p = forecast(case)
    if case == "sim_tied" and bins == 10:  # netcal's borders are round(.3, 17) + 5e-17 and so on: .3, .6, .7 fall below
        p = np.where(np.isin(p, [0.3, 0.6, 0.7]), p - 1e-10, p)
    expected, tolerance = printed("ece_mce_netcal", case), 1e-9 if case == "sim_tied" else 1e-12
    assert close(metrics.ece(y, p, bins=bins), expected[f"ECE_width_{bins}"], tolerance)
    assert close(metrics.mce(y, p, bins=bins), expected[f"MCE_width_{bins}"], tolerance)
    assert close(metrics.ace(y, p, bins=bins), expected[f"ACE_width_{bins}"], tolerance)
    assert close(metrics.ece(y, p, bins=bins), printed("smece_relplot", case)[f"binnedECE_{bins}"], tolerance)


@every_case
@pytest.mark.parametrize("bins", [10, 15])
def test_right_closed_bins_by_mirroring(case, bins):
    """uncertainty-calibration and SpecsVerification use (a, b]: ours on 1 - y and 1 - p."""
    y, p = forecast(case)
    expected = printed("verified_calibration", case)
    assert close(metrics.ece(1 - y, 1 - p, bins=bins), expected[f"plugin_l1_equal_width_{bins}"], 1e-12)
    square = metrics.debiased_ce(1 - y, 1 - p, bins=bins, squared=True)
    assert close(square, expected[f"unbiased_square_equal_width_{bins}"], 1e-12)
    root = metrics.debiased_ce(1 - y, 1 - p, bins=bins)
    assert close(root, expected[f"debiased_l2_equal_width_{bins}"], 1e-7)  # the root of a rounded square
    parts = printed("murphy_decomposition", case)
    for corrected, name in ((False, f"murphy_b{bins}"), (True, f"murphy_b{bins}_bc")):
        found = metrics.murphy(1 - y, 1 - p, bins=bins, corrected=corrected)
        for part in ("rel", "res", "unc"):
            assert close(getattr(found, part), parts[f"{name}.{part.upper()}"], 1e-12), (corrected, part)
            assert close(getattr(found, f"sd_{part}"), parts[f"{name}.sd_{part.upper()}"], 1e-12), (corrected, part)


def errors_by(y, p, borders, side):
    """(ECE, MCE, ACE, debiased square) of bins with these inner borders; side of searchsorted."""
    _, which = np.unique(np.searchsorted(borders, p, side=side), return_inverse=True)
    n, events, total = (np.bincount(which, v) for v in (np.ones(len(p)), y, p))
    gap, o = np.abs(events - total) / n, events / n
    square = np.where(n > 1, gap**2 - o * (1 - o) / np.maximum(n - 1, 1), 0.0)
    return n @ gap / len(p), gap.max(), gap.mean(), n @ square / len(p)


@every_case
@pytest.mark.parametrize("bins", [10, 15])
def test_what_netcal_does(case, bins):
    """Bins [a, b) between np.linspace borders as they are in floating point (.3 lies below), or type 7 quantiles."""
    y, p = forecast(case)
    expected, shares = printed("ece_mce_netcal", case), np.linspace(0, 1, bins + 1)[1:-1]
    for strategy, borders in (("width", shares), ("mass", np.quantile(p, shares))):
        if f"ECE_{strategy}_{bins}" in expected:  # it raises where two quantiles are equal
            found = errors_by(y, p, borders, "right")
            names = [f"{name}_{strategy}_{bins}" for name in ("ECE", "MCE", "ACE")]
            assert found[:3] == pytest.approx([expected[name] for name in names], abs=1e-12), strategy


@every_case
@pytest.mark.parametrize("bins", [10, 15])
def test_what_uncertainty_calibration_does(case, bins):
    """Bins (a, b] of equal mass: sorted p in np.array_split's parts, borders midway between them, ties or not."""
    y, p = forecast(case)
    parts, expected = np.array_split(np.sort(p), bins), printed("verified_calibration", case)
    borders = np.unique([(a[-1] + b[0]) / 2 for a, b in pairwise(parts)])
    found = errors_by(y, p, borders, "left")
    assert found[0] == pytest.approx(expected[f"plugin_l1_equal_mass_{bins}"], abs=1e-12)
    assert found[3] == pytest.approx(expected[f"unbiased_square_equal_mass_{bins}"], abs=1e-12)


def test_errors_of_equal_mass():
    """Where ties and remainders leave one way to cut, netcal and uncertainty-calibration agree with ours."""
    y, p = forecast("sim")
    netcal, verified = printed("ece_mce_netcal", "sim"), printed("verified_calibration", "sim")
    for name in ("ece", "mce", "ace"):
        found = getattr(metrics, name)(y, p, strategy="mass")
        assert close(found, netcal[f"{name.upper()}_mass_10"], 1e-12)
    assert close(metrics.ece(y, p, strategy="mass"), verified["plugin_l1_equal_mass_10"], 1e-12)
    square = metrics.debiased_ce(y, p, strategy="mass", squared=True)
    assert close(square, verified["unbiased_square_equal_mass_10"], 1e-12)


@every_case
def test_debiased_ce_is_the_corrected_reliability(case):
    y, p = forecast(case)
    square = metrics.debiased_ce(y, p, squared=True)
    corrected = metrics.murphy(y, p, corrected=True).rel
    sums = width_sums(y, p, None, 10).filled()
    n, o, e = sums.weight, sums.events / sums.weight, sums.forecast / sums.weight
    many = n > 1
    by_hand = (n @ (o - e) ** 2 - np.sum((n * o * (1 - o))[many] / (n[many] - 1))) / n.sum()
    lone = np.sum((o - e)[~many] ** 2) / n.sum()  # bins of one row count 0 there, in full here
    assert square == pytest.approx(by_hand - lone, abs=1e-15)
    if corrected > 0 and not lone and metrics.murphy(y, p, corrected=True).res < 1:
        assert corrected == pytest.approx(square, abs=1e-15)


@every_case
def test_ks(case):
    """The program looks inside ties, in the order its sort leaves: between events last and events first."""
    y, p = forecast(case)
    expected = printed("ks_error", case)["KS_error"]
    inside = [np.max(np.abs(np.cumsum((p - y)[np.lexsort((sign * y, p))]))) / len(p) for sign in (1, -1)]
    assert metrics.ks(y, p) <= expected + 1e-12 and expected <= max(inside) + 1e-12
    if case != "sim_tied":
        assert close(expected, inside[0], 1e-12)
    if case not in ("icu", "sim_tied"):
        assert close(metrics.ks(y, p), expected, 1e-12)


@every_case
def test_smooth_ece(case):
    """relplot mirrors its grid at 0 and 1 but not the ends: rows there count half, and up to one cell from it more."""
    y, p = forecast(case)
    expected, w = printed("smece_relplot", case), np.minimum(1.0, 0.5 + 500 * np.minimum(p, 1 - p))
    assert close(metrics.smooth_ece(y, p, w), expected["smECE"], 1e-3)
    assert close(metrics.smooth_ece(y, p, w), expected["smECE_sigma_star"], 2 / 1024)
    rule = 1.1e-3 if case == "bc_nb" else 1e-3  # a sum over 200 places counts both ends in full, where all mass lies
    for sigma in (0.05, 0.1):
        assert close(metrics.smooth_ece(y, p, w, sigma=sigma), expected[f"smECE_sigma={sigma}"], rule)


def relplot(y, p, sigma):
    """What relplot 1.0.3 does: 1,001 nodes or more, the ends not mirrored, the kernel cut at 1/2, ratio of two sums."""
    m = max(2000, round(20 / sigma)) // 2
    nodes = np.arange(m + 1) / m
    kernel = np.exp(-((nodes - 0.5) ** 2) / (2 * sigma**2)) / (np.sqrt(2 * np.pi) * sigma)
    low = np.minimum((p * m).astype(int), m - 1)
    places = np.linspace(0, 1, max(200, round(10 / sigma)))

    def smoothed(v):
        at_node = np.bincount(low, v * (low + 1 - p * m), m + 1) + np.bincount(low + 1, v * (p * m - low), m + 1)
        mirrored = np.concatenate([at_node[:0:-1], at_node, at_node[-2::-1]])
        return np.interp(places, nodes, np.convolve(mirrored, kernel, "same")[m : 2 * m + 1])

    return np.sum(np.abs(smoothed(y - p))) / np.sum(smoothed(np.ones(len(p))) + 1e-4)


@every_case
def test_what_relplot_does(case):
    """On its own grid, with ten bisections, to round-off; so the differences above are its discretisation."""
    y, p = forecast(case)
    expected = printed("smece_relplot", case)
    for sigma in (0.05, 0.1):
        assert relplot(y, p, sigma) == pytest.approx(expected[f"smECE_sigma={sigma}"], abs=1e-12)
    above, below = 1.0, 0.0
    for _ in range(10):
        middle = (above + below) / 2
        if middle < 0.001 or middle < relplot(y, p, middle):
            below = middle
        else:
            above = middle
    assert above == expected["smECE_sigma_star"]
    assert relplot(y, p, above) == pytest.approx(expected["smECE"], abs=1e-12)


@pytest.mark.parametrize("case", ["sim_tied", "niamey_ENS", "niamey_EMOS"])
@pytest.mark.parametrize("sigma", [0.03, 0.1, 0.5])
def test_smooth_ece_is_the_integral_over_images(case, sigma):
    """Direct sums of Gaussians over the images p + 2k and -p + 2k, Gauss-Legendre between 4,000 places."""
    y, p = forecast(case)
    distinct, at = np.unique(p, return_inverse=True)
    mass = np.bincount(at, y - p) / len(y)
    node, weight = np.polynomial.legendre.leggauss(4)
    edges = np.linspace(0, 1, 1001)
    t = (edges[:-1, None] + np.diff(edges)[:, None] * (node + 1) / 2).ravel()
    kernel = sum(
        np.exp(-((t[:, None] - sign * distinct - 2 * k) ** 2) / (2 * sigma**2))
        for k in range(-4, 5)
        for sign in (1, -1)
    ) / (np.sqrt(2 * np.pi) * sigma)
    expected = np.tile(weight / 2, 1000) @ np.abs(kernel @ mass) / 1000
    assert metrics.smooth_ece(y, p, sigma=sigma) == pytest.approx(expected, abs=2e-6)

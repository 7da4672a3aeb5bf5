"""DeLong's test: pROC's numbers, ties, weights, and what happens when nothing differs."""

import numpy as np
import pandas as pd
import pytest
from calibration_cases import forecast, miscalibrated, shared

from isocal.calibration_tests import delong
from isocal.metrics import auc

PAIRS = [("s100b", "ndka"), ("wfns", "s100b"), ("wfns", "ndka")]


def numbers(file, case):
    table = pd.read_csv(shared(f"outputs/{file}.csv"))
    table = table[table.case == case]
    return dict(zip(table.quantity, table.value, strict=True))


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_asah_as_proc_prints_it(a, b):
    data = pd.read_csv(shared("inputs/asah_pROC.csv"))
    res, ref = delong(data.outcome, data[a], data[b]), numbers("delong_pROC", "aSAH")
    pair = f"{a}_vs_{b}"
    found = (res.auc1, res.auc2, res.var1, res.var2, res.cov, res.statistic, res.p_value, res.conf_low, res.conf_high)
    names = [f"auc.{a}", f"auc.{b}", f"delong_var.{a}", f"delong_var.{b}"]
    names += [f"{pair}.{name}" for name in ("cov", "Z", "p", "ci_lo", "ci_hi")]
    assert found == pytest.approx([ref[name] for name in names], rel=1e-10)
    other = numbers("delong_python", "aSAH")
    assert found[:5] == pytest.approx(
        [other[f"{pair}.{k}"] for k in ("auc1", "auc2", "var1", "var2", "cov")], rel=1e-10
    )


def test_the_published_p_value_of_proc():
    data = pd.read_csv(shared("inputs/asah_pROC.csv"))
    assert delong(data.outcome, data.wfns, data.s100b).p_value == pytest.approx(0.02718, abs=5e-6)


def test_breast_cancer_as_proc_prints_it():
    y, nb = forecast("bc_nb")
    _, lr = forecast("bc_lr")
    res, ref = delong(y, nb, lr), numbers("delong_pROC", "breastcancer")
    found = (res.statistic, res.p_value, res.auc1, res.auc2)
    assert found == pytest.approx([ref[k] for k in ("nb_vs_lr.Z", "nb_vs_lr.p", "auc.nb", "auc.lr")], rel=1e-10)


def test_by_hand():
    # first: pairs won 3 of 4, event placements (1/2, 1), others (1, 1/2); second: all won
    res = delong([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0.1, 0.2, 0.3, 0.4])
    assert (res.auc1, res.auc2, res.var1, res.var2, res.cov) == (0.75, 1.0, 0.125, 0.0, 0.0)
    assert res.statistic == pytest.approx(-0.25 / np.sqrt(0.125), rel=1e-15)


@pytest.mark.parametrize(
    "other", [lambda p: p, lambda p: p**2, lambda p: np.log(p) - np.log1p(-p), lambda p: 3 * p + 7]
)
def test_an_increasing_map_changes_nothing(other):
    y, p, w = miscalibrated()
    res = delong(y, p, other(p), w)
    assert (res.auc1, res.var1) == (res.auc2, res.var2)
    assert (res.statistic, res.p_value, res.conf_low, res.conf_high) == (0.0, 1.0, 0.0, 0.0)
    assert "0/0" in res.summary().as_text()


def test_areas_are_those_of_metrics_auc():
    y, p, w = miscalibrated()
    res = delong(y, p, np.round(p, 1), w)
    assert (res.auc1, res.auc2) == pytest.approx((auc(y, p, w), auc(y, np.round(p, 1), w)), rel=1e-14)


def test_whole_number_weights_are_repeats():
    y, p, w = miscalibrated()
    k = w.astype(int)
    a, b = delong(y, p, np.round(p, 1), w), delong(y.repeat(k), p.repeat(k), np.round(p, 1).repeat(k))
    for name in ("statistic", "p_value", "auc1", "auc2", "var1", "var2", "cov", "conf_low", "conf_high", "n"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-11)


@pytest.mark.parametrize(
    ("y", "a", "b", "message"),
    [
        ([0, 0, 0], [0.1, 0.2, 0.3], [0.1, 0.2, 0.3], "delong needs both classes; every y is 0"),
        ([0, 0, 1], [0.1, 0.2, 0.3], [0.3, 0.2, 0.3], "at least two rows of each class"),
        ([0, 1], [0.1, np.nan], [0.1, 0.2], "must be finite"),
        ([0, 1, 1], [0.1, 0.2], [0.1, 0.2], "equally long"),
        ([0.3, 0.7], [0, 1], [0.2, 0.4], "are y and p swapped"),
        ([0, 2], [0.3, 0.4], [0.2, 0.4], "y must hold 0 and 1 only(?!: are)"),
        ([0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], "areas differ by 1 but their variance is zero"),
    ],
)
def test_bad_input(y, a, b, message):
    with pytest.raises(ValueError, match=message):
        delong(y, a, b)


def test_bad_level():
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
        delong([0, 0, 1, 1], [1, 2, 3, 4], [1, 2, 4, 3], level=95)

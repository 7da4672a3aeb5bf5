"""logit_unit(): its definition, its edges, its use in formulas, and where it helps: rare events."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import isocal
from isocal.transforms import LogitUnit, apply_chain, learn_chain


def by_definition(x, low, high):
    return np.clip((logit(x) - (logit(low) - 0.1)) / (logit(high) - logit(low) + 0.2), 0, 1)


def test_by_definition():
    x = np.array([0.02, 0.3, 0.001, 0.7])
    fitted = LogitUnit.learn(x)
    assert fitted(x) == pytest.approx(by_definition(x, 0.001, 0.7), abs=1e-15)
    assert fitted(np.array([0.0, 1e-9, 0.99, 1.0])).tolist() == [0, 0, 1, 1]
    assert np.isnan(fitted(np.array([np.nan, 0.5]))).tolist() == [True, False]


def test_scores_of_exactly_0_and_1_count_as_half_as_far_as_the_nearest():
    x = np.array([0.0, 0.5, 0.02, 0.9, 1.0])
    fitted = LogitUnit.learn(x)
    assert [fitted.low, fitted.high] == pytest.approx([logit(0.01) - 0.1, logit(0.95) + 0.1], abs=1e-13)
    width = logit(0.95) - logit(0.01) + 0.2
    assert fitted(np.array([0.01, 0.02])) == pytest.approx([0.1 / width, (logit(0.02) - logit(0.01) + 0.1) / width])
    assert fitted(x)[[0, -1]].tolist() == [0.0, 1.0]


def test_without_scores_between_0_and_1_they_count_as_1e_12_from_the_edge():
    fitted = LogitUnit.learn(np.array([0.0, 1.0]))
    edge = -np.log(1e-12) + np.log1p(-1e-12)
    assert [fitted.low, fitted.high] == pytest.approx([-edge - 0.1, edge + 0.1], abs=1e-4)  # 1 - 1e-12 rounds


def test_zero_weights_are_absent_and_pieces_merge():
    x, w = np.array([0.001, 0.2, 0.3, 0.9]), np.array([0.0, 1, 2, 0])
    assert LogitUnit.learn(x, w) == LogitUnit.learn(x[1:3])
    assert LogitUnit.learn(x[:2]).merge(LogitUnit.learn(x[2:])) == LogitUnit.learn(x)


def test_one_value_lies_in_the_middle():
    assert LogitUnit.learn(np.full(3, 0.2))(np.array([0.2])) == pytest.approx([0.5])


def test_it_is_monotone_and_may_work_in_place():
    x = np.sort(np.random.default_rng(0).random(1000))
    fitted = LogitUnit.learn(x[100:900])
    wanted = fitted(x)
    assert np.all(np.diff(wanted) >= 0) and fitted(x, out=x) is x and np.array_equal(x, wanted)


def test_round_trips():
    fitted = LogitUnit.learn(np.array([0.01, 0.4]))
    for again in (LogitUnit.from_dict(json.loads(json.dumps(fitted.to_dict()))), pickle.loads(pickle.dumps(fitted))):
        assert again == fitted
    for d in ({"low": 1.0, "high": 1.0}, {"low": 2.0, "high": 1.0}):
        with pytest.raises(ValueError, match="is not below high"):
            LogitUnit.from_dict(d)
    with pytest.raises(ValueError, match="finite numbers"):
        LogitUnit.from_dict({"low": float("nan"), "high": 1.0})


def test_it_follows_another_transform():
    x = np.random.default_rng(1).normal(size=50)
    out = np.empty(50)
    chain = learn_chain(("expit", "logit_unit"), x, out=out)
    p = expit(x)
    assert out == pytest.approx(by_definition(p, p.min(), p.max()), abs=1e-13)
    assert np.array_equal(apply_chain(chain, x), out)


@pytest.mark.parametrize("x", [[-0.1, 0.5], [0.5, 1.5]])
def test_other_scores_are_refused(x):
    with pytest.raises(ValueError, match=r"logit_unit: scores must lie in \[0, 1\], but range from .* try unit"):
        LogitUnit.learn(np.array(x))


def test_in_a_formula_it_is_learned_once_and_saved(tmp_path):
    rng = np.random.default_rng(2)
    p = 0.2 * rng.random(400) ** 4
    data = pd.DataFrame({"s": p, "y": (rng.random(400) < p + 0.01).astype(int)})
    res = isocal.bernstein("y ~ logit_unit(s)", data, K=3, loss="log").fit()
    u = by_definition(p, p.min(), p.max())
    assert res.fittedvalues.to_numpy() == pytest.approx(isocal.methods.Bernstein(K=3, loss="log").fit_arrays(u, data.y)
                                                        (u[:, None]), abs=1e-9)  # fmt: skip
    assert res.predict(data.tail(3)).equals(res.predict(data).tail(3)), "learned anew from the rows to predict"
    assert res.predict(pd.DataFrame({"s": [0.0, 1.0, np.nan]})).isna().tolist() == [False, False, True]
    res.save(tmp_path / "fit.json")
    assert isocal.load(tmp_path / "fit.json").predict(data).equals(res.predict(data))


def test_constant_and_wrong_columns_are_named():
    data = pd.DataFrame({"s": [0.2] * 4, "t": [0.1, 0.2, 0.3, 2.0], "y": [0, 1, 0, 1]})
    with pytest.raises(ValueError, match="score 's' is constant"):
        isocal.bernstein("y ~ logit_unit(s)", data)
    with pytest.raises(ValueError, match=r"but range from 0\.1 to 2"):
        isocal.bernstein("y ~ logit_unit(t)", data)
    with pytest.raises(isocal.formula.FormulaError, match="takes one score and nothing else"):
        isocal.bernstein("y ~ logit_unit(s, 3)", data)

"""MR-MIC: files that hold a fit, and the doors of its results."""

import json

import matplotlib.figure
import numpy as np
import pandas as pd
import pytest

import isocal
from isocal.methods import MRMIC
from isocal.methods.mr_mic import MRMICCurve

matplotlib.use("Agg")


def frame(n, M):
    rng = np.random.default_rng(0)
    s = 1 / (1 + np.exp(-rng.normal(size=(n, 1)) - rng.normal(size=(n, M))))
    return pd.DataFrame(s, columns=[f"s{m + 1}" for m in range(M)]).assign(y=(rng.random(n) < s.mean(axis=1)) * 1)


def test_files_that_break_a_promise():
    data = frame(40, 2)
    good = MRMIC().fit_arrays(data[["s1", "s2"]].to_numpy(), data.y.to_numpy()).to_dict()
    read = MRMICCurve.from_dict
    assert json.loads(json.dumps(read(good).to_dict())) == json.loads(json.dumps(good))
    falls, outside, twice = list(good["values"]), [list(p) for p in good["points"]], [list(p) for p in good["points"]]
    falls[int(np.argmin(np.sum(good["points"], axis=1)))] = 1.0
    outside[3][1], twice[4] = 1.5, twice[3]
    broken = {
        "values fall along": {"values": falls}, r"lie in \[0, 1\]": {"points": outside}, "distinct": {"points": twice},
        "do not fit": {"values": good["values"][1:]}, "points that are not there": {"simplices": [[0, 1, 999]]},
        "several scores": {"simplices": []}, "predict must be": {"predict": "cubic"}, "omega must be": {"omega": 3},
        "lam must be": {"lam": -1.0}, "pairs must be": {"pairs": "7"},
    }  # fmt: skip
    for what, change in broken.items():
        with pytest.raises(ValueError, match=what):
            read({**good, **change})


@pytest.mark.parametrize("M, options", [(1, {}), (2, {}), (2, {"predict": "envelope", "lam": 0}), (3, {"lam": "cv"})])
def test_results_work_with_it(M, options, tmp_path):
    data = frame(60, M)
    terms = " + ".join(f"ecdf(s{m + 1})" for m in range(M))
    res = isocal.mr_mic(f"y ~ {terms}", data, **options).fit()
    text = res.summary().as_text()
    assert "MR-MIC Results" in text and "Cover pairs:" in text and "Active pairs:" in text
    assert ("not monotone off the data" in text) == (M > 1 and res.recipe.predict == "linear")
    assert np.isfinite(res.aic) and 1 <= res.df_model <= 60
    assert res.plot(ax=matplotlib.figure.Figure().add_subplot()).has_data()
    res.save(tmp_path / "fit.json")
    again = isocal.load(tmp_path / "fit.json")
    new = pd.DataFrame(np.random.default_rng(1).random((50, M)), columns=data.columns[:M])
    assert np.array_equal(again.predict(new), res.predict(new)) and again.summary() == res.summary()
    assert np.array_equal(again.predict_frame(new), res.predict_frame(new))
    boot = res.bootstrap(n_boot=20, rng=0, progress=False)
    assert boot.n_boot == 20 and boot.conf_int(of="scores", level=0.8).index.tolist() == ["Brier score", "AUC"]
    assert len(boot.conf_band(new, level=0.8)) == 50 == len(boot.conf_int(of=new, level=0.8))
    assert "held_out" in res.consistency(quick=True, rng=0, progress=False).summary().as_text()

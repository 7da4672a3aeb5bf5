"""res.influence(): leverage by hand, deletion against refitting through the public door, figures, refusals."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import isocal

DATA = isocal.datasets.simulate_scores(150, M=2, rng=2, truth="kink")
DATA.index = [f"row {i}" for i in range(150)]
RES = isocal.bernstein("y ~ s1 + s2", DATA, K=3).fit()
FOUND = RES.influence()


def test_means_at_two_places_by_hand():
    data = pd.DataFrame({"s": np.repeat([0.0, 1.0], [4, 5]), "y": [1, 0, 0, 0, 1, 1, 1, 1, 0]})
    found = isocal.bernstein("y ~ s", data, K=1, tie_break=0).fit().influence()
    mean, rows = np.repeat([0.25, 0.8], [4, 5]), np.repeat([4, 5], [4, 5])
    t, r = found.table, data.y - mean
    assert np.allclose(t.leverage, 1 / rows) and np.allclose(t.change, r / (rows - 1))
    rss = 4 * 0.25 * 0.75 + 5 * 0.8 * 0.2
    assert found.df == 2 and found.sigma2 == pytest.approx(rss / 7)
    h = 1 / rows
    assert np.allclose(t.cook, r**2 * h / (2 * rss / 7 * (1 - h) ** 2))  # Cook (1977)


def test_change_is_that_of_a_fit_without_the_row():
    assert FOUND.table.index.equals(DATA.index)
    for label, row in FOUND.table.iterrows():
        if row.name in FOUND.table.index[::10] or row.name in FOUND.table.index[FOUND.top]:
            without = isocal.bernstein("y ~ s1 + s2", DATA.drop(label), K=3).fit()
            change = row.fitted - without.predict(DATA.loc[[label]]).iloc[0]
            assert row.active_set_changes or row.change == pytest.approx(change, abs=1e-7)
            if not np.isnan(row.exact_change):
                assert row.exact_change == pytest.approx(change, abs=1e-7)
                largest = np.max(np.abs(RES.predict(DATA) - without.predict(DATA)))
                assert row.largest_change == pytest.approx(largest, abs=1e-7)


def test_top_rows_are_refitted_and_ordered():
    t = FOUND.table.iloc[FOUND.top]
    assert len(t) == 10 and t.exact_change.notna().all() and (np.diff(t.exact_change.abs()) <= 1e-12).all()
    assert len(RES.influence(top=3).top) == 3
    assert FOUND.table.leverage.sum() == pytest.approx(RES.df_model, abs=1e-6)


def test_a_weight_is_left_out_whole():
    w = np.random.default_rng(1).integers(1, 4, 150)
    res = isocal.bernstein("y ~ s1 + s2", DATA, K=2, weights=w).fit()
    label = res.influence().table.index[res.influence().top[0]]
    gone = DATA.index != label
    without = isocal.bernstein("y ~ s1 + s2", DATA[gone], K=2, weights=w[gone]).fit()
    change = res.influence().table.fitted[label] - without.predict(DATA.loc[[label]]).iloc[0]
    assert res.influence().table.exact_change[label] == pytest.approx(change, abs=1e-7)


def test_summary_and_figure():
    text = str(FOUND.summary())
    assert (
        "Influence on Isotonic Bernstein polynomial, y ~ s1 + s2" in text and "Cook's distance exceeds 1 for 0" in text
    )
    assert FOUND.table.index[FOUND.top[0]] in text and "changes the active set for" in text
    _, ax = plt.subplots()
    assert FOUND.plot(ax) is ax and ax.get_ylabel() == "Fitted - fitted without the row"
    assert any(FOUND.table.index[FOUND.top[0]] in t.get_text() for t in ax.texts)
    plt.close("all")


def test_other_methods_are_refitted_once_a_row():
    data = DATA.head(60)
    res = isocal.platt("y ~ s1", data).fit()
    found = res.influence(progress=False)
    label = data.index[found.top[0]]
    without = isocal.platt("y ~ s1", data.drop(label)).fit()
    change = found.table.fitted[label] - without.predict(data.loc[[label]]).iloc[0]
    assert found.table.change[label] == pytest.approx(change, abs=1e-9)
    assert found.table.leverage.isna().all() and "the method fitted again" in str(found)
    found.plot()
    plt.close("all")


@pytest.mark.parametrize("top", [0, 2.5, True])
def test_top_must_be_a_count(top):
    with pytest.raises(ValueError, match="top must be a whole number of at least 1"):
        RES.influence(top=top)


def test_too_many_refits_are_refused():
    data = isocal.datasets.simulate_scores(5001, M=1, rng=0)
    with pytest.raises(ValueError, match=r"refits once a row: at most 5,000 rows, got 5,001"):
        isocal.platt("y ~ s1", data).fit().influence()


def test_rows_without_an_index_and_one_class():
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(DATA.reset_index(drop=True))
    found = isocal.bernstein("y ~ s1 + s2", frame, K=3).fit().influence()
    assert np.allclose(found.table.change, FOUND.table.change, equal_nan=True)
    one = isocal.bernstein("y ~ s1", DATA.assign(y=1), event=1, K=3).fit().influence()
    assert (one.table.change == 0).all() and (one.table.cook == 0).all()

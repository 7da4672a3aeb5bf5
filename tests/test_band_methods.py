"""The other bands against loops, other programs and formulas written out; `conf_band` and `plot_band` of results."""

import warnings

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import plain_bands
import polars as pl
import pytest
from diag_reference import forecast, table
from matplotlib.figure import Figure
from scipy.stats import beta as beta_distribution

import isocal
from isocal.bands import KINDS, METHODS, ONLY, conf_band, honest
from isocal.results import Results

NNLS = 2e-3  # refits are interior solutions


def rows(n, M=1, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.random((n, M))
    return s, (rng.random(n) < 0.1 + 0.8 * s.mean(axis=1) ** 2).astype(float)


def boxes(s, y, w, level, places, free=()):
    """The honest band by loops over pairs of distinct rows."""

    def under(a, b):
        return all(a[m] == b[m] if m in free else a[m] <= b[m] for m in range(len(a)))

    distinct = np.unique(s, axis=0)
    pairs = [(a, b) for a in distinct for b in distinct if under(a, b)]
    tail = (1 - level) / (2 * len(pairs))
    low, high = np.zeros(len(places)), np.ones(len(places))
    for a, b in pairs:
        inside = np.array([under(a, r) and under(r, b) for r in s])
        n, k = w[inside].sum(), (w * y)[inside].sum()
        least = beta_distribution.ppf(tail, k, n - k + 1) if k else 0.0
        most = beta_distribution.isf(tail, k + 1, n - k) if k < n else 1.0
        for i, x in enumerate(places):
            low[i] = max(low[i], least) if under(b, x) else low[i]
            high[i] = min(high[i], most) if under(x, a) else high[i]
    return low, high


@pytest.mark.parametrize("case", ["sim", "sim_tied", "icu", "bc_lr"])
def test_honest_band_of_one_score_is_that_of_calibrationband(case):
    y, p = forecast(case)
    lines = table("honest_bands_calibrationband", case)
    lines = lines[(lines["method"] == "standard") & (lines["nc"].astype(str).str.upper() == "FALSE")]
    lines = lines[np.isin(lines["x"].round(10), p.round(10))]
    assert len(lines) >= 20
    band = conf_band(p[:, None], y, None, lines[["x"]].to_numpy() + 0.0, (1,), method="honest")
    at = np.abs(lines["x"].to_numpy()[:, None] - np.unique(p)).argmin(axis=1)
    band = conf_band(p[:, None], y, None, np.unique(p)[at][:, None], (1,), method="honest")
    assert band.low == pytest.approx(lines["lwr"].to_numpy(), abs=1e-10)
    assert band.high == pytest.approx(lines["upr"].to_numpy(), abs=1e-10)


@pytest.mark.parametrize(
    "M, free, digits", [(1, (), 1), (2, (), 1), (2, (), 3), (2, (1,), 1), (3, (), 1), (1, (0,), 1)]
)
def test_honest_band_is_the_best_of_all_boxes(M, free, digits):
    s, y = rows(45, M, seed=1)
    s = np.round(s, digits)
    w = np.random.default_rng(2).integers(1, 4, 45).astype(float)
    places = np.vstack([s[:10], rows(15, M, seed=3)[0], np.zeros((1, M)), np.ones((1, M))])
    band = conf_band(s, y, w, places, [int(m not in free) for m in range(M)], level=0.8, method="honest")
    low, high = boxes(s, y, w, 0.8, places, free)
    assert band.low == pytest.approx(low, abs=1e-12) and band.high == pytest.approx(high, abs=1e-12)
    assert low.max() > 0.05 and high.min() < 0.95


def test_honest_band_of_grouped_scores(monkeypatch):
    """Above the limit each score moves to the end of its group on the side where the bound stays valid."""
    monkeypatch.setattr(honest, "MOST_DISTINCT", 30)
    monkeypatch.setattr(honest, "LEVELS", {2: 5})
    s, y = rows(60, 2, seed=4)
    places = np.vstack([s[:20], [[0, 0], [1, 1]]])
    band = conf_band(s, y, None, places, (1, 1), level=0.8, method="honest")
    ends = []
    for side in ("max", "min"):
        columns = [pd.Series(x).groupby((pd.Series(x).rank() - 1) * 5 // 60).transform(side) for x in s.T]
        ends.append(boxes(np.stack(columns, axis=1), y, np.ones(60), 0.8, places))
    assert band.low == pytest.approx(ends[0][0], abs=1e-12) and band.high == pytest.approx(ends[1][1], abs=1e-12)


def test_honest_band_of_many_distinct_scores_holds_the_truth():
    s, y = rows(4000, seed=5)
    places = np.linspace(0, 1, 201)
    band = conf_band(s, y, None, places[:, None], (1,), method="honest")
    truth = 0.1 + 0.8 * places**2
    assert np.all((band.low <= truth) & (truth <= band.high)) and np.mean(band.high - band.low) < 0.3


@pytest.mark.parametrize("method", ["percentile", "basic", "studentized"])
@pytest.mark.parametrize("kind", KINDS)
def test_resampled_bands_are_their_formulas(method, kind):
    s, y = rows(90, seed=6)
    x, n, n_draws, level = s[:, 0], 90, 39, 0.8
    places = np.array([0.05, 0.4, 0.6, 0.95])
    band = conf_band(s, y, None, places[:, None], (1,), level=level, kind=kind, method=method, rng=2, n_draws=n_draws)
    rng, grid, K = np.random.default_rng(2), np.r_[np.linspace(0, 1, 201), places], plain_bands.degrees(x, y)[1]
    counts = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(n_draws)], axis=1)
    refits = plain_bands.refits(x, y, counts, K, grid)
    f = plain_bands.bernstein(grid, K) @ plain_bands.fit(x, y, K)[0]
    if method == "studentized":
        sd = refits.std(axis=0, ddof=1)
        scale = np.maximum(sd, 0.25 * np.median(sd))
        t, near = np.abs(refits - f) / scale, plain_bands.supported(x, grid)
        c = np.sort(t, axis=0)[31] if kind == "pointwise" else np.sort(t[:, near].max(axis=1))[31]  # ceil(40 * .8) = 32
        low, high = np.where(near, f - c * scale, 0), np.where(near, f + c * scale, 1)
    else:
        ordered = np.sort(refits, axis=0)
        inside = [np.mean(np.all((refits >= ordered[r - 1]) & (refits <= ordered[n_draws - r]), axis=1))
                  for r in range(1, 20)]  # fmt: skip
        r = 4 if kind == "pointwise" else max([1] + [i + 1 for i, share in enumerate(inside) if share >= level])
        low, high = ordered[r - 1], ordered[n_draws - r]
        if method == "basic":
            low, high = 2 * f - high, 2 * f - low
    low, high = plain_bands.hull(grid, np.clip(low, 0, 1), np.clip(high, 0, 1), places)
    near = NNLS if kind == "pointwise" or method == "studentized" else 0.03  # a rank may move where refits tie
    assert band.low == pytest.approx(low, abs=near) and band.high == pytest.approx(high, abs=near)


def test_hulc_is_the_hull_of_six_batches():
    s, y = rows(150, seed=7)
    places = np.array([0.1, 0.5, 0.9])
    band = conf_band(s, y, None, places[:, None], (1,), kind="pointwise", method="hulc", rng=3)
    batch = np.random.default_rng(3).permutation(150) % 6
    grid, K = np.r_[np.linspace(0, 1, 201), places], plain_bands.degrees(s[:, 0], y)[1]
    refits = plain_bands.refits(s[:, 0], y, (batch[:, None] == np.arange(6)).astype(float), K, grid)
    low, high = plain_bands.hull(grid, refits.min(axis=0), refits.max(axis=0), places)
    assert band.low == pytest.approx(low, abs=NNLS) and band.high == pytest.approx(high, abs=NNLS)


def test_unconstrained_band_is_its_formula():
    s, y = rows(400, seed=8)
    places = np.array([0.1, 0.5, 0.9])
    band = conf_band(s, y, None, places[:, None], (1,), method="unconstrained-supt", rng=3, n_draws=4999)
    K, grid = band.degree, np.r_[np.linspace(0, 1, 201), places]
    assert K == max(10, 2 * plain_bands.degrees(s[:, 0], y)[0])
    X, B = plain_bands.bernstein(s[:, 0], K), plain_bands.bernstein(grid, K)
    inverse = np.linalg.inv(X.T @ X)
    n_e = 1 / np.sum((X @ inverse) * X, axis=1)
    p = (n_e * np.clip(X @ inverse @ X.T @ y, 0, 1) + 2) / (n_e + 4)
    S = inverse @ (X.T * (p * (1 - p))) @ X @ inverse
    se = np.sqrt(np.sum((B @ S) * B, axis=1))
    Z = np.random.default_rng(0).multivariate_normal(np.zeros(K + 1), (S + S.T) / 2, 20_000)
    c = np.quantile(np.max(np.abs(B @ Z.T) / se[:, None], axis=0), 0.95)
    f = B @ inverse @ X.T @ y
    low, high = plain_bands.hull(grid, np.clip(f - c * se, 0, 1), np.clip(f + c * se, 0, 1), places)
    assert band.se == pytest.approx(se[-3:], rel=1e-3)
    assert band.low == pytest.approx(low, abs=5e-3) and band.high == pytest.approx(high, abs=5e-3)


DATA = isocal.datasets.simulate_scores(300, M=2, rng=1)
QUICK = {"rng": 1, "n_draws": 39, "progress": False}


@pytest.fixture(scope="module")
def one():
    return isocal.bernstein("y ~ s1", DATA).fit()


@pytest.fixture(scope="module")
def two():
    return isocal.bernstein("y ~ ecdf(s1) + s2", DATA).fit()


COLUMNS = ["predicted", "se", "conf_low", "conf_high", "outside", "extrapolated"]


def test_frame_of_the_default_grids(one, two):
    band = one.conf_band(**QUICK)
    assert band.columns.tolist() == ["s1", *COLUMNS] and len(band) == 101
    assert band.s1.iloc[[0, -1]].tolist() == [DATA.s1.min(), DATA.s1.max()]
    assert np.array_equal(band.predicted, one.predict(band)) and not band.extrapolated.any()
    assert band.conf_low.is_monotonic_increasing and band.conf_high.is_monotonic_increasing
    assert band.attrs["rng"] == 1 and band.attrs["method"] == "model-supt" and band.attrs["degree"] >= 16
    band = two.conf_band(**QUICK)
    assert band.columns.tolist() == ["s1", "s2", *COLUMNS] and len(band) == 625
    assert band.s2.nunique() == 25 and band.s2.iloc[1] > band.s2.iloc[0] and band.s1.iloc[1] == band.s1.iloc[0]


def test_three_scores_give_the_rows():
    data = isocal.datasets.simulate_scores(120, M=3, rng=1).sample(frac=1, random_state=1)
    band = isocal.bernstein("y ~ s1 + s2 + s3", data, K=1).fit().conf_band(method="honest")
    assert band.index.equals(data.index) and np.array_equal(band.s2, data.s2) and band.se.isna().all()


def test_fresh_entropy_is_kept_and_repeats_the_band(one):
    band = one.conf_band(n_draws=39, progress=False)
    assert band.equals(one.conf_band(rng=band.attrs["rng"], n_draws=39, progress=False))
    generator = one.conf_band(rng=np.random.default_rng(1), n_draws=39, progress=False)
    assert generator.equals(one.conf_band(**QUICK)) and generator.attrs["rng"] is None


def test_index_library_missing_scores_and_the_domain(one):
    grid = pd.DataFrame({"other": "x", "s1": [0.5, np.nan, -3.0, 0.0, 2.0, 1.0]}, index=list("fedcba"))
    band = one.conf_band(grid, **QUICK)
    assert band.index.tolist() == list("fedcba") and band.columns.tolist() == ["s1", *COLUMNS]
    assert band.loc["e", ["predicted", "se", "conf_low", "conf_high"]].isna().all() and not band.loc["e", "outside"]
    edges = ["predicted", "conf_low", "conf_high"]
    assert band.loc["d", edges].equals(band.loc["c", edges].rename("d")) and band.loc["d", "extrapolated"]
    assert band.loc["b", edges].equals(band.loc["a", edges].rename("b")) and band.loc["b", "s1"] == 2.0
    polars = one.conf_band(pl.DataFrame({"s1": [0.5, None]}), **QUICK)
    assert isinstance(polars, pl.DataFrame) and polars["conf_low"].null_count() == 1
    assert one.conf_band(grid.iloc[[1]], **QUICK)[edges].isna().all(axis=None)
    assert len(one.conf_band(grid.iloc[:0], **QUICK)) == 0


def test_the_band_does_not_depend_on_the_fit_and_says_where_the_fit_leaves_it():
    rng = np.random.default_rng(0)
    s = rng.random(1500)
    data = pd.DataFrame({"s": s, "y": (rng.random(1500) < 0.05 + 0.9 / (1 + np.exp(-26.7 * (s - 0.5)))).astype(int)})
    with pytest.warns(UserWarning, match=r"leaves the 95 % band at \d+ of 101 places .* with a larger K"):
        stiff = isocal.bernstein("y ~ s", data, K=3).fit().conf_band(**QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = isocal.bernstein("y ~ s", data, K=45).fit().conf_band(**QUICK)
    edges = ["se", "conf_low", "conf_high"]
    assert stiff[edges].equals(free[edges]) and not free.outside.any() and 0.1 < stiff.outside.mean() < 0.9
    expected = (stiff.predicted < stiff.conf_low) | (stiff.predicted > stiff.conf_high)
    assert stiff.outside.equals(expected)


def test_methods_without_directions_and_scores_beyond_the_unit_interval():
    data = DATA.assign(logit=np.log(DATA.s1 / (1 - DATA.s1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = isocal.bbq("y ~ s1", data).fit().conf_band(**QUICK)
        line = isocal.platt("y ~ logit", data).fit().conf_band(data, **QUICK)
        ranks = isocal.bernstein("y ~ ecdf(logit)", data).fit().conf_band(data, **QUICK)
    assert steps.conf_low.is_monotonic_increasing
    assert np.array_equal(line.conf_low, ranks.conf_low) and np.array_equal(line.conf_high, ranks.conf_high)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_orders_its_edges(method, one):
    kind = ONLY.get(method, "simultaneous")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        band = one.conf_band(method=method, kind=kind, **QUICK)
    assert band.conf_low.is_monotonic_increasing and band.conf_high.is_monotonic_increasing
    assert (band.conf_low <= band.conf_high).all() and band.conf_low.min() >= 0 and band.conf_high.max() <= 1
    assert band.se.isna().all() if method == "honest" else (band.se > 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_class_in_every_method(method):
    data = pd.DataFrame({"s": np.linspace(0, 1, 240), "y": 0})
    kind = ONLY.get(method, "simultaneous")
    band = conf_band(data[["s"]].to_numpy(), np.zeros(240), None, np.array([[0.5]]), (1,), rng=1, n_draws=39,
                     method=method, kind=kind)  # fmt: skip
    assert band.low[0] == 0 and 0 <= band.high[0] < 0.15


def test_bad_input(one, two):
    for level in (0, 1, 95, "0.95", True):
        with pytest.raises(ValueError, match="level is a coverage between 0 and 1"):
            one.conf_band(level=level)
    for option, value in (("kind", "both"), ("method", "supt"), ("kind", None), ("method", 3)):
        with pytest.raises(ValueError, match=f"{option} must be one of '(simultaneous|model-supt)', .*; got {value!r}"):
            one.conf_band(**{option: value})
    for n_draws in (0, -5, 2.5, True, "99"):
        with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1; got"):
            one.conf_band(n_draws=n_draws)
    for method in ("model-supt", "unconstrained-supt", "percentile", "studentized"):
        with pytest.raises(ValueError, match=r"n_draws=50 is too few for level=0.99: use at least 99"):
            one.conf_band(level=0.99, n_draws=50, method=method)
    with pytest.raises(ValueError, match="method='honest' is simultaneous only: use kind='simultaneous'"):
        one.conf_band(method="honest", kind="pointwise")
    with pytest.raises(ValueError, match="method='hulc' is pointwise only: use kind='pointwise'"):
        one.conf_band(method="hulc")
    with pytest.raises(isocal.FormulaError, match="s2"):
        two.conf_band(DATA[["s1"]])
    with pytest.raises(TypeError, match="data must be a DataFrame"):
        one.conf_band([0.5])


def test_hulc_needs_rows_and_honest_whole_weights_and_bands_the_rows(one):
    small = isocal.bernstein("y ~ s1", DATA[:100], weights=np.linspace(0.5, 1.5, 100)).fit()
    with pytest.raises(ValueError, match=r"6 batches of at least 20: it needs 120 rows, got 100"):
        small.conf_band(method="hulc", kind="pointwise")
    with pytest.raises(ValueError, match="weights must be whole numbers: use method='model-supt'"):
        small.conf_band(method="honest")
    facts = {"facts": one.facts, "cross_validated": one.cross_validated}
    loaded = Results(one.recipe, one.curve, one.terms, one.response, None, None, facts=facts)
    for door in (loaded.conf_band, loaded.plot_band):
        with pytest.raises(ValueError, match=r"_band\(\) needs the rows of the fit.*refit with data"):
            door()


@pytest.fixture
def ax():
    return Figure(figsize=(5, 4), layout="constrained").add_subplot()


def test_ribbon_is_the_band(one, ax):
    assert one.plot_band(ax, **QUICK) is ax
    ax.figure.canvas.draw()
    shown = ax.collections[0].get_paths()[0].vertices
    x = np.linspace(DATA.s1.min(), DATA.s1.max(), 201)
    band = one.conf_band(pd.DataFrame({"s1": x}), **QUICK)
    for at in (0, 77, 200):
        beside = shown[np.isclose(shown[:, 0], x[at]), 1]
        assert beside.min() == pytest.approx(band.conf_low[at]) and beside.max() == pytest.approx(band.conf_high[at])
    names = [t.get_text() for t in ax.get_legend().get_texts()]
    assert names[:2] == ["95 % band, simultaneous", "fitted"] and names[2].startswith("observed")


def test_pairs_of_contours_and_slices(two, ax):
    assert two.plot_band(ax, contours=(0.3, 0.6), **QUICK) is ax
    names = [t.get_text() for t in ax.get_legend().get_texts()]
    assert names == ["0.3", "0.6", "fit", "upper edge", "lower edge"] and ax.get_ylabel() == "s2"
    slices = Figure(figsize=(5, 4), layout="constrained").add_subplot()
    two.plot_band(slices, score="s2", at=(0.2, 0.8), level=0.9, kind="pointwise", **QUICK)
    assert len(slices.collections) == 2 and slices.get_xlabel() == "s2"
    assert slices.get_legend().get_title().get_text() == "s1 at quantile; 90 % band, pointwise"
    for figure in (ax.figure, slices.figure):
        figure.canvas.draw()


def test_the_fit_outside_its_band_is_set_off(ax):
    s = np.linspace(0, 1, 2000)
    res = isocal.platt("y ~ s", pd.DataFrame({"s": s, "y": (np.sin(200 * s) + s > 0.6).astype(int)})).fit()
    res.plot_band(ax, **QUICK)
    assert "fit outside the band" in [t.get_text() for t in ax.get_legend().get_texts()]


def test_bad_figures(one, two):
    for contours in ((), 0, 1.5, (0.5, np.nan)):
        with pytest.raises(ValueError, match="contours must be probabilities between 0 and 1"):
            two.plot_band(contours=contours)
    with pytest.raises(ValueError, match="'s9' is not a score"):
        two.plot_band(score="s9")
    with pytest.raises(ValueError, match="at names no quantile"):
        two.plot_band(score="s1", at=())
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes"):
        one.plot_band([1])
    with pytest.raises(TypeError, match="draws"):
        one.plot_band(draws=9)

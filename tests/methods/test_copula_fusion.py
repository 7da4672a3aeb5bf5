"""Copula fusion: posteriors of a separate R program and of the formulas written out; what it prints and refuses."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats
from scipy.special import expit

import isocal
from isocal.methods import CopulaFusion
from isocal.methods.copula_fusion import CopulaFusionCurve
from isocal.numerics.copulas import FAMILIES, families_for

HERE = Path(__file__).parents[1] / "reference" / "copula"
RNG = np.random.default_rng(6)
S = expit(RNG.normal(size=(160, 1)) + RNG.normal(size=(160, 3)))
Y = (RNG.random(160) < S.mean(axis=1)).astype(float)
W = RNG.integers(0, 4, 160).astype(float)


def test_posteriors_of_a_separate_R_program():
    """1e-6 is asked; the table of the margins costs about 1e-8."""
    train, wanted = pd.read_csv(HERE / "fusion_train.csv"), pd.read_csv(HERE / "fusion_posterior_R.csv")
    curve = CopulaFusion().fit_arrays(train[["s1", "s2"]].to_numpy(), train.y.to_numpy(float))
    assert np.max(np.abs(curve(wanted[["s1", "s2"]].to_numpy()) - wanted.posterior)) <= 1e-7


def written_out(s, y, w, correlations, places):
    """METHODS section 4 with a gaussian copula of given correlations, from densities of scipy."""
    eta = np.log(w[y == 1].sum()) - np.log(w[y == 0].sum())
    for label, sign in ((1, 1), (0, -1)):
        x, v = s[y == label], w[y == label].astype(int)
        n, z = v.sum(), []
        for m in range(s.shape[1]):
            repeated = np.repeat(x[:, m], v)
            h = 1.059 * min(repeated.std(ddof=1), stats.iqr(repeated) / 1.349) * n**-0.2
            at = places[:, [m]]
            images = [(at - repeated) / h, (at + repeated) / h, (at - 2 + repeated) / h]
            f = sum(map(stats.norm.pdf, images)).mean(axis=1) / h
            F = sum(map(stats.norm.cdf, images)).mean(axis=1) - 1
            part = 1 / (n + 1)
            eta = eta + sign * np.log((1 - part) * f + part)
            u = np.clip((1 - part) * F + part * places[:, m], 0.5 * part, 1 - 0.5 * part)
            z.append(stats.norm.ppf(u))
        z, R = np.array(z).T, np.eye(s.shape[1])
        R[np.triu_indices(len(R), 1)] = correlations[label]
        R = np.triu(R) + np.triu(R, 1).T
        eta = eta + sign * (stats.multivariate_normal(cov=R).logpdf(z) - stats.norm.logpdf(z).sum(axis=1))
    return expit(eta)


@pytest.mark.parametrize("M", [2, 3])
@pytest.mark.parametrize("w", [np.ones(160), W], ids=["plain", "weighted"])
def test_the_formula_written_out(M, w):
    curve = CopulaFusion(families="gaussian").fit_arrays(S[:, :M], Y, w)
    places = np.r_[RNG.random((60, M)), np.zeros((1, M)), np.ones((1, M)), S[:20, :M]]
    r = [[v for k, v in curve.coef().items() if k.startswith(f"gaussian[{label}]")] for label in (0, 1)]
    keep = w > 0
    wanted = written_out(S[keep, :M], Y[keep], w[keep], r, places)
    assert np.max(np.abs(curve(places) - wanted)) <= 1e-7
    for label in (0, 1):  # the correlations have the largest gaussian likelihood at ranks/(n + 1)
        x = np.repeat(S[Y == label, :M], w[Y == label].astype(int), axis=0)
        z = stats.norm.ppf(stats.rankdata(x, axis=0) / (len(x) + 1))

        def value(r, z=z):
            R = np.eye(M)
            R[np.triu_indices(M, 1)] = r
            R = np.triu(R) + np.triu(R, 1).T
            return (stats.multivariate_normal(cov=R).logpdf(z) - stats.norm.logpdf(z).sum(axis=1)).sum()

        best = value(r[label])
        assert best == pytest.approx(curve.fits[label][0].llf, abs=1e-8)
        for k in range(len(r[label])):
            for step in (-1e-3, 1e-3):
                assert value([v + step * (i == k) for i, v in enumerate(r[label])]) < best


@pytest.mark.parametrize("M, family", [*((2, name) for name in FAMILIES), *((3, name) for name in families_for(3))])
def test_each_family_predicts_rows_alone_and_survives_json(M, family):
    curve = CopulaFusion(families=family).fit_arrays(S[:, :M], Y)
    ends = RNG.choice([0.0, 1e-12, 0.3, 1 - 1e-12, 1.0], (60, M))
    places = np.asfortranarray(np.r_[RNG.random((70, M)), ends, np.full((1, M), np.nan)])
    p = curve(places)
    assert np.isfinite(p[:-1]).all() and p[:-1].min() >= 0 and p[:-1].max() <= 1 and np.isnan(p[-1])
    assert np.array_equal([curve(row[None])[0] for row in places[:-1]], p[:-1])
    again = CopulaFusionCurve.from_dict(json.loads(json.dumps(curve.to_dict(), allow_nan=False)))
    assert np.array_equal(again(places), p, equal_nan=True) and again.facts() == curve.facts()
    assert repr(again.tables()) == repr(curve.tables())
    assert len(json.dumps(curve.to_dict())) < 40_000 * M


def test_order_of_rows_and_repeats_change_nothing():
    s = np.round(S, 1)
    first, order = CopulaFusion().fit_arrays(s, Y, W), RNG.permutation(160)
    again = CopulaFusion().fit_arrays(s[order], Y[order], W[order])
    repeated = CopulaFusion().fit_arrays(np.repeat(s, W.astype(int), axis=0), np.repeat(Y, W.astype(int)))
    assert first.to_dict() == again.to_dict() == repeated.to_dict()


def test_scaling_weights_changes_the_fit_as_documented():
    once, twice = (CopulaFusion().fit_arrays(S, Y, c * np.ones(160)) for c in (1.0, 2.0))
    assert twice.margins[0][0].h < once.margins[0][0].h
    doubled = CopulaFusion().fit_arrays(np.r_[S, S], np.r_[Y, Y])
    assert doubled.to_dict() == twice.to_dict()


def test_all_families_and_the_best_of_them():
    curve = CopulaFusion().fit_arrays(S[:, :2], Y)
    table = pd.DataFrame(curve.tables()["families"])
    assert table.family.tolist() == [*FAMILIES, *FAMILIES] and table.chosen.sum() == 2
    for label in (0, 1):
        lines = table[table["class"] == label]
        assert lines.loc[lines.log_likelihood.idxmax(), "chosen"]
    counted = table.log_likelihood - np.where(table.family == "student", 2, 1)
    by_aic = pd.DataFrame(CopulaFusion(criterion="aic").fit_arrays(S[:, :2], Y).tables()["families"])
    for label in (0, 1):
        assert by_aic.loc[counted[table["class"] == label].idxmax(), "chosen"]
    three = CopulaFusion().fit_arrays(S, Y).tables()
    assert "plackett" not in three["families"]["family"]
    correlations = pd.DataFrame(three["correlations"])
    assert correlations.scores.tolist() == ["1,2", "1,3", "2,3"] * 4
    mean = correlations[(correlations["class"] == 0) & (correlations.family == "gaussian")].correlation.mean()
    assert three["families"]["parameter"][0] == pytest.approx(mean, abs=1e-15)


def test_dependence_in_the_table():
    curve = CopulaFusion(families=("clayton", "gumbel", "student")).fit_arrays(S[:, :2], Y)
    for line in pd.DataFrame(curve.tables()["families"]).itertuples():
        t = line.parameter
        by_hand = {"clayton": lambda t: t / (t + 2), "gumbel": lambda t: 1 - 1 / t}
        tau = by_hand.get(line.family, lambda t: 2 / np.pi * np.arcsin(t))(t)
        assert line.tau == pytest.approx(tau, abs=1e-14)
        low = {"clayton": 2 ** (-1 / t), "gumbel": 0.0}.get(line.family, line.upper_tail)
        assert line.lower_tail == pytest.approx(low, abs=1e-14) and np.isnan(line.nu) == (line.family != "student")


@pytest.mark.parametrize("M", [2, 3])
def test_falls_are_counted_on_a_grid(M):
    curve = CopulaFusion().fit_arrays(S[:, :M], Y)
    size, share, drop = curve.falls
    assert size == {2: 64, 3: 16}[M] and 0 < share < 1
    axis = np.arange(size) / (size - 1)
    p = curve(np.stack([a.ravel() for a in np.meshgrid(*[axis] * M)], axis=1)).reshape([size] * M)
    steps = np.concatenate([np.diff(p, axis=m).ravel() for m in range(M)])
    assert share == pytest.approx(np.mean(steps < -5e-13), abs=1e-3) and drop == pytest.approx(-steps.min(), abs=1e-9)
    text = curve.facts()["Monotone"]
    assert text == f"falls on {100 * share:.0f} % of grid steps, largest drop {drop:.2g}"


def test_gradient_is_the_slope_of_the_curve():
    curve = CopulaFusion().fit_arrays(S[:, :2], Y)
    places = 0.1 + 0.8 * RNG.random((30, 2))
    for m in range(2):
        ahead, behind = places.copy(), places.copy()
        ahead[:, m] += 1e-4
        behind[:, m] -= 1e-4
        quotient = (curve(ahead) - curve(behind)) / 2e-4
        assert curve.gradient(places)[:, m] == pytest.approx(quotient, abs=2e-4)
    assert np.isfinite(curve.gradient(np.array([[0.0, 1.0]]))).all()


@pytest.mark.parametrize("M", [2, 3])
def test_results(M, tmp_path):
    """The doors of Results work: summary, table, figure, file, bootstrap, band, consistency."""
    data = isocal.datasets.simulate_scores(120, M=M, rng=2)
    formula = "y ~ " + " + ".join(f"ecdf(s{m + 1})" for m in range(M))
    res = isocal.copula_fusion(formula, data, families=("gaussian", "frank"), criterion="bic").fit()
    text = res.summary().as_text()
    for words in ("Copula, class 0:", "tau ", "Monotone:", "of grid steps", "Chosen by:        BIC", "not defined"):
        assert words in text
    assert np.isnan([res.df_model, res.aic, res.bic]).all()
    assert res.table("families").chosen.sum() == 2 and list(res.params.index)[:2] == ["prior", "bandwidth[0,1]"]
    assert res.params["prior"] == data.y.mean()
    res.save(tmp_path / "fit.json")
    again = isocal.load(tmp_path / "fit.json")
    assert again.predict(data).equals(res.predict(data)) and again.summary() == res.summary()
    assert again.recipe == res.recipe
    boot = res.bootstrap(n_boot=20, rng=0, progress=False)
    assert len(boot.conf_band(data.head(4), level=0.8)) == 4
    assert res.plot(ax=Figure().add_subplot()).get_xlabel()
    assert len(res.consistency(rng=0, progress=False).summary().as_text()) > 100


def test_ties_duplicates_and_order_reversed():
    """Equal scores share a rank; one score twice, and one with its complement, are the ends of the ranges."""
    x = RNG.random(60)
    y = (np.arange(60) % 2).astype(float)
    tied = np.round(RNG.random((60, 2)), 1), np.round(RNG.random((60, 3)))
    for s in (np.c_[x, x], np.c_[x, 1 - x], np.c_[x, x, x], *tied):
        curve = CopulaFusion().fit_arrays(s, y)
        p = curve(np.r_[RNG.random((40, s.shape[1])), s])
        assert np.isfinite(p).all() and p.min() >= 0 and p.max() <= 1
        assert curve.facts() and curve.tables()


def test_log_odds_survive_where_densities_do_not():
    """Far from both classes the ratio of densities is beyond float64, its logarithm is not."""
    x = np.r_[0.2 + 1e-3 * RNG.random(100), 0.8 + 1e-3 * RNG.random(100)]
    s = np.c_[x, x + 1e-4 * RNG.random(200)]
    places = np.array([[0.2005, 0.2005], [0.8005, 0.8005], [0.5, 0.5]])
    p = CopulaFusion().fit_arrays(s, (x > 0.5).astype(float))(places)
    assert p[0] < 1e-3 and p[1] > 1 - 1e-3 and np.isfinite(p).all()


FEW = np.array([0.0, 0, 0, 0, 1, 1, 1, 1])
SPREAD = RNG.random((8, 2))


@pytest.mark.parametrize(
    "s, y, w, message",
    [
        (SPREAD[:, :1], FEW, None, "joins 2 or more scores, got 1"),
        (SPREAD, np.r_[np.zeros(6), 1, 1], None, "needs 3 rows of each class .* class 1 has 2: use more data"),
        (SPREAD, np.zeros(8), None, "class 1 has 0"),
        (SPREAD, FEW, np.r_[0.0, 0.0, np.ones(6)], "class 0 has 2"),
        (SPREAD, FEW, np.r_[np.full(4, 0.1), np.ones(4)], r"weights of class 0 sum to 0\.4.* scale all weights up"),
        (np.where(np.c_[FEW, FEW] == [2, 1], 0.7, SPREAD), FEW, None, "score 2 is 0.7 in all rows of class 1"),
        (SPREAD + [[0.0, 0.5]], FEW, None, r"score 2 must lie in \[0, 1\], but ranges from"),
        (SPREAD - [[0.9, 0.0]], FEW, None, r"score 1 must lie in \[0, 1\]"),
    ],
)
def test_rows_it_cannot_take(s, y, w, message):
    with pytest.raises(ValueError, match=message):
        CopulaFusion().fit_arrays(s, y, w)


def test_scores_beyond_a_kernel_estimate_name_the_remedy():
    s = np.c_[RNG.random(160) ** 200, S[:, 0]]
    data = pd.DataFrame(s, columns=["a", "b"]).assign(y=Y)
    with pytest.raises(ValueError, match=r"score 'a' has bandwidth .* in class 0: spread the score with ecdf\(\)"):
        isocal.copula_fusion("y ~ a + b", data)
    assert isocal.copula_fusion("y ~ ecdf(a) + b", data).fit().nobs == 160


@pytest.mark.parametrize(
    "options, message",
    [
        ({"families": []}, "families is empty"),
        ({"families": ("gaussian", "gumble")}, "'gumble' is no copula family: did you mean 'gumbel'"),
        ({"families": "t"}, "'t' is no copula family: there are gaussian, clayton"),
        ({"criterion": "cv"}, "criterion must be one of 'loglik', 'aic', 'bic'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        CopulaFusion(**options)


def test_families_as_given():
    assert CopulaFusion(families=["frank", "gaussian", "frank"]).families == ("frank", "gaussian")
    assert CopulaFusion(families="frank").families == ("frank",) and CopulaFusion().families == "all"
    with pytest.raises(ValueError, match="plackett joins two scores only, there are 3: leave it out"):
        CopulaFusion(families=("frank", "plackett")).fit_arrays(S, Y)
    with pytest.raises(TypeError, match="no option 'family': did you mean 'families'"):
        isocal.copula_fusion("y ~ s1 + s2", isocal.datasets.simulate_scores(50, M=2, rng=1), family="frank")


def test_from_dict_refuses_nonsense():
    good = CopulaFusion(families=("gaussian", "clayton")).fit_arrays(S[:, :2], Y).to_dict()
    fit, margins = good["fits"][0][0], good["margins"]
    for change, message in (
        ({"criterion": "best"}, "criterion must be one of"), ({"weights": [1.0, -1.0]}, "two positive weights"),
        ({"weights": [1.0]}, "two positive weights"), ({"margins": [margins[0], margins[1][:1]]}, "same scores"),
        ({"margins": [margins[0][:1], margins[1][:1]]}, "two or more"),
        ({"fits": [[], good["fits"][1]]}, "needs a fitted"),
        ({"fits": [[fit | {"name": "joe"}], [fit]]}, "family must be one of"),
        ({"fits": [[fit | {"theta": [1.5]}], [fit]]}, "are no parameters of gaussian"),
        ({"fits": [[fit | {"theta": [0.1, 0.2]}], [fit]]}, "are no parameters of gaussian for 2 scores"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            CopulaFusionCurve.from_dict(good | change)

"""Bernstein(shrink=): pseudo-data by their definition, the anchor against scipy, choice on folds, files, bad input."""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from test_bernstein_likelihood import optimality, rows

import isocal
from isocal.methods import Bernstein, LogisticFusion, Platt
from isocal.methods.base import Rows
from isocal.numerics.folds import fold_weights
from isocal.numerics.selection import SHRINKS

AGREE = 1e-9  # two exact solutions from sums that differ by round-off
SCIPY = 2e-5  # what L-BFGS-B leaves in a logistic fit


def logistic_by_scipy(x, y, w=None, signs=1.0):
    """Logistic regression with slopes of the given signs (0: free) and Platt's targets, by L-BFGS-B."""
    w = np.ones(len(y)) if w is None else w
    events, others = w @ y, w @ (1 - y)
    t = np.where(y == 1, (events + 1) / (events + 2), 1 / (others + 2))
    X = np.c_[np.ones(len(y)), x]

    def loss(b):
        eta = X @ b
        return w @ (np.logaddexp(0, eta) - t * eta) / w.sum(), X.T @ (w * (expit(eta) - t)) / w.sum()

    bounds = [(None, None)] + [(0 if d > 0 else None, 0 if d < 0 else None) for d in np.broadcast_to(signs, x.shape[1])]
    found = minimize(loss, np.zeros(X.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B",
                     options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 1000})  # fmt: skip
    edge = 0.5 / (w.sum() + 1)
    return np.clip(expit(X @ found.x), edge, 1 - edge)


def with_pseudo_data(s, y, p0, weight, w=None):
    """The rows, and for each the same place with label 1, weight lambda p0 and label 0, weight lambda (1 - p0)."""
    w = np.ones(len(y)) if w is None else w
    return (np.r_[s, s, s], np.r_[y, np.ones(len(y)), np.zeros(len(y))],
            np.r_[w, weight * w * p0, weight * w * (1 - p0)])  # fmt: skip


@pytest.mark.parametrize("loss", ["brier", "log"])
@pytest.mark.parametrize("weighted", [False, True])
def test_shrinking_is_fitting_pseudo_data(loss, weighted):
    s, y = rows(1, 150, 2)
    w = np.random.default_rng(3).exponential(size=150) if weighted else None
    p0 = logistic_by_scipy(logit(s), y, w)
    curve = Bernstein(K=4, shrink=0.7, loss=loss).fit_arrays(s, y, w)
    plain = Bernstein(K=4, loss=loss).fit_arrays(*with_pseudo_data(s, y, p0, 0.7, w))
    assert curve(s) == pytest.approx(plain(s), abs=SCIPY)
    assert np.isnan(curve.df) and curve.shrink == 0.7 and curve.kkt < 1e-9


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_the_pool_is_the_logistic_fusion_near_the_mean_logit_weighed_in_rows(loss):
    s, y = rows(3, 150, 2)
    w = np.random.default_rng(4).exponential(size=150)
    p0 = LogisticFusion(prior="pool").fit_arrays(s, y, w)(s)
    edge = 0.5 / (w.sum() + 1)
    curve = Bernstein(K=4, anchor="pool", anchor_rows=60, loss=loss).fit_arrays(s, y, w)
    pseudo = with_pseudo_data(s, y, np.clip(p0, edge, 1 - edge), 60 / w.sum(), w)
    plain = Bernstein(K=4, loss=loss).fit_arrays(*pseudo)
    assert curve(s) == pytest.approx(plain(s), abs=AGREE)
    assert curve.shrink == pytest.approx(60 / w.sum()) and "near the mean logit" in curve.facts()["Shrunk"]
    many = Bernstein(K=4, anchor="pool", anchor_rows=60, loss=loss).fit_many(s, y, np.c_[w, w])
    assert many[1](s) == pytest.approx(curve(s), abs=AGREE)
    recipe = Bernstein(K=4, anchor="pool", anchor_rows=60, loss=loss)
    both = Bernstein.fit_together([recipe], [Rows(s, y, w), Rows(s[:90], y[:90], w[:90])])
    assert both[0][0](s) == pytest.approx(curve(s), abs=AGREE)
    assert both[1][0](s) == pytest.approx(recipe.fit_arrays(s[:90], y[:90], w[:90])(s), abs=AGREE)


def test_the_pool_needs_rising_probabilities():
    s, y = rows(3, 100, 2)
    with pytest.raises(ValueError, match=r'range from .* use anchor="logistic"'):
        Bernstein(anchor="pool", shrink=1.0).fit_arrays(s, y, raw=3 * s)
    with pytest.raises(ValueError, match="every score must rise"):
        Bernstein(anchor="pool", shrink=1.0, monotone=("increasing", "decreasing")).fit_arrays(s, y)


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_other_anchors(loss):
    s, y = rows(2, 120, 2)
    given = Bernstein(K=2).fit_arrays(s, y)
    edge = 0.5 / 121
    for anchor, p0 in (("mean", np.full(120, y.mean())), (given, np.clip(given(s), edge, 1 - edge))):
        curve = Bernstein(K=4, shrink=2, anchor=anchor, loss=loss).fit_arrays(s, y)
        plain = Bernstein(K=4, loss=loss).fit_arrays(*with_pseudo_data(s, y, p0, 2.0))
        assert curve(s) == pytest.approx(plain(s), abs=AGREE)
        if loss == "log":
            assert optimality(curve, s, (y + 2 * p0) / 3) <= 1e-8


def test_slopes_of_the_anchor_follow_the_directions():
    """A score that works the wrong way gets slope 0 where it must not, its own slope where it is free or decreasing."""
    rng = np.random.default_rng(4)
    s = rng.random((200, 2))
    y = (rng.random(200) < expit(4 * (s[:, 0] - s[:, 1]))).astype(float)
    x = logit(s)
    for words, signs in ((("increasing", "increasing"), (1, 1)), (("increasing", "decreasing"), (1, -1)),
                         (("increasing", "none"), (1, 0))):  # fmt: skip
        p0 = logistic_by_scipy(x, y, signs=signs)
        curve = Bernstein(K=3, shrink=1.0, monotone=words).fit_arrays(s, y)
        plain = Bernstein(K=3, monotone=words).fit_arrays(*with_pseudo_data(s, y, p0, 1.0))
        assert curve(s) == pytest.approx(plain(s), abs=SCIPY)
        assert all(step is None or step >= 0 for step in curve.steps())


def test_much_weight_leaves_the_anchor_alone():
    s, y = rows(5, 100, 1)
    assert Bernstein(K=3, shrink=1e7, anchor="mean").fit_arrays(s, y)(s) == pytest.approx([y.mean()] * 100, abs=1e-6)
    line = Bernstein(K=1).fit_arrays(s, y)
    edge = 0.5 / 101
    assert line(s).min() > edge and line(s).max() < 1 - edge
    assert Bernstein(K=3, shrink=1e7, anchor=line).fit_arrays(s, y)(s) == pytest.approx(line(s), abs=1e-6)


def test_no_weight_is_no_shrinkage():
    s, y = rows(6, 100, 2)
    curve, plain = Bernstein(K=3, shrink=0).fit_arrays(s, y), Bernstein(K=3).fit_arrays(s, y)
    assert np.array_equal(curve.beta, plain.beta) and curve.df == plain.df


def test_the_anchor_sees_raw_probabilities_and_else_clipped_transformed_scores():
    data = isocal.datasets.simulate_scores(160, M=2, rng=5)
    y, p = data.y.to_numpy(dtype=float), data[["s1", "s2"]].to_numpy()
    ranks = np.column_stack([isocal.transforms.Ecdf.learn(v)(v) for v in p.T])
    edge = 0.5 / 161
    stretched = data.assign(s1=3 * data.s1, s2=3 * data.s2)
    for frame, x in ((data, logit(p)), (stretched, logit(np.clip(ranks, edge, 1 - edge)))):
        res = isocal.bernstein("y ~ ecdf(s1) + ecdf(s2)", frame, K=3, shrink=1.0).fit()
        plain = Bernstein(K=3).fit_arrays(*with_pseudo_data(ranks, y, logistic_by_scipy(x, y), 1.0))
        assert res.fittedvalues.to_numpy() == pytest.approx(plain(ranks), abs=SCIPY)


def test_weight_is_chosen_on_folds_whose_anchors_see_the_other_folds_alone():
    s, y = rows(7, 150, 1)
    curve = Bernstein(K=3, shrink="cv").fit_arrays(s, y)
    table = curve.tables()["shrink"]
    W, loss = fold_weights(y, s), np.zeros(len(SHRINKS))
    for f in range(5):
        test = W[:, f] > 0
        p0 = logistic_by_scipy(logit(s[~test]), y[~test])
        for i, weight in enumerate(SHRINKS):
            fit = Bernstein(K=3).fit_arrays(*with_pseudo_data(s[~test], y[~test], p0, weight))
            loss[i] += np.sum((y[test] - fit(s[test])) ** 2)
    assert table["cv_brier"] == pytest.approx(loss / 150, abs=SCIPY)
    chosen = table["chosen"].index("*")
    assert curve.shrink == table["shrink"][chosen] and table["cv_brier"][chosen] <= min(table["cv_brier"]) * (1 + 1e-6)
    assert Bernstein(K="cv", shrink="cv").fit_arrays(s, y).tables().keys() == {"path", "shrink"}


@pytest.mark.parametrize("options", [{"shrink": 1.0}, {"shrink": "cv"}, {"shrink": 1.0, "loss": "log"}])
def test_fit_many_is_fit_by_fit(options):
    s, y = rows(8, 90, 2)
    W = np.random.default_rng(1).integers(0, 3, (90, 3)).astype(float)
    recipe, raw = Bernstein(K=3, **options), expit(3 * logit(s))
    for j, curve in enumerate(recipe.fit_many(s, y, W, raw=raw)):
        assert np.allclose(curve(s), recipe.fit_arrays(s, y, W[:, j], raw=raw)(s), rtol=0, atol=1e-8)


@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("loss", ["brier", "log"])
def test_one_class_is_defined(label, loss):
    """Platt's targets 1/(n + 2) and (n + 1)/(n + 2), lambda = 1: f = (label + target)/2."""
    s = np.random.default_rng(0).random((20, 2))
    target = 21 / 22 if label else 1 / 22
    assert Bernstein(shrink=1.0, loss=loss).fit_arrays(s, np.full(20, label))(s) == \
        pytest.approx([(label + target) / 2] * 20, abs=1e-8)  # fmt: skip
    assert set(Bernstein(shrink=1.0, loss=loss, anchor="mean").fit_arrays(s, np.full(20, label))(s)) == {label}


def test_recipe_and_fit_are_saved(tmp_path):
    data = isocal.datasets.simulate_scores(150, M=2, rng=3)
    first = isocal.bernstein("y ~ ecdf(s1) + s2", data, K=2).fit()
    for number, anchor in enumerate(("logistic", "mean", first.curve, first)):
        res = isocal.bernstein("y ~ ecdf(s1) + s2", data, K=3, shrink=0.5, anchor=anchor).fit()
        res.save(tmp_path / f"{number}.json")
        again = isocal.load(tmp_path / f"{number}.json")
        assert again.predict(data).equals(res.predict(data)) and again.recipe == res.recipe
        assert np.isnan(again.df_model) and again.curve.facts() == res.curve.facts()
    assert "toward a given curve, weight 0.5" in res.summary().as_text()
    assert isocal.bernstein("y ~ ecdf(s1) + s2", data, shrink=0.5, anchor=first.curve).fit().recipe != res.recipe


def test_a_bootstrap_holds_the_weight_that_the_fit_chose_and_averages_anew():
    data = isocal.datasets.simulate_scores(120, M=2, rng=9)
    for options in ({"K": 3, "shrink": "cv"}, {"K": "average", "average": "equal", "shrink": 0.5}):
        res = isocal.bernstein("y ~ ecdf(s1) + s2", data, **options).fit()
        boot = res.bootstrap(n_boot=20, rng=1, progress=False)
        assert boot.recipe.shrink == res.curve.shrink and boot.recipe.K == options["K"]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"shrink": -1}, "shrink must be a number >= 0; got -1"),
        ({"shrink": float("nan")}, "shrink must be a number >= 0; got nan"),
        ({"shrink": float("inf")}, "shrink must be a number >= 0; got inf"),
        ({"shrink": True}, "shrink must be a number >= 0; got True"),
        ({"shrink": "auto"}, "shrink must be one of 'cv'; got 'auto'"),
        ({"shrink": 1.0, "anchor": "median"},
         "anchor must be 'logistic', 'pool', 'mean', or a fit or its curve; got 'median'"),
        ({"shrink": 1.0, "anchor": None}, "anchor must be 'logistic', 'pool', 'mean', or a fit or its curve; got None"),
        ({"anchor": "mean"}, "give shrink=1.0 or shrink='cv'"),
        ({"shrink": 1.0, "anchor_rows": 50}, "give one of them"),
        ({"anchor_rows": -50}, "anchor_rows must be a number >= 0; got -50"),
        ({"anchor_rows": 50, "K": "aic"}, "which shrinking leaves undefined"),
        ({"shrink": 1.0, "K": "bic"}, "which shrinking leaves undefined: use K='cv' or K='average'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        Bernstein(**options)


def test_an_anchor_on_other_scores_is_refused():
    data = isocal.datasets.simulate_scores(120, M=3, rng=6)
    s, y = data[["s1", "s2"]].to_numpy(), data.y.to_numpy(dtype=float)
    three = Bernstein(K=1).fit_arrays(data[["s1", "s2", "s3"]].to_numpy(), y)
    with pytest.raises(ValueError, match="a curve of 3 scores cannot be the anchor of a fit of 2"):
        Bernstein(shrink=1.0, anchor=three).fit_arrays(s, y)
    other = isocal.bernstein("y ~ s1 + s3", data, K=1).fit()
    with pytest.raises(ValueError, match="it was fitted to s1, s3, this formula has s1, s2: fit the anchor with"):
        isocal.bernstein("y ~ s1 + s2", data, shrink=1.0, anchor=other)
    ranked = isocal.bernstein("y ~ s1 + ecdf(s2)", data, K=1).fit()
    with pytest.raises(ValueError, match=r"its transforms give other scores, up to 0\.\d+ apart: fit the anchor with"):
        isocal.bernstein("y ~ s1 + s2", data, shrink=1.0, anchor=ranked).fit()
    broken = copy.copy(Platt().fit_arrays(s[:, :1], y))
    object.__setattr__(broken, "slope", float("nan"))
    with pytest.raises(ValueError, match="must give a probability"):
        Bernstein(shrink=1.0, anchor=broken).fit_arrays(s[:, :1], y)


def test_an_anchor_may_learn_the_same_transforms_from_other_rows():
    """As every fold does; it then says what its own fit predicts at the rows."""
    data = isocal.datasets.simulate_scores(160, M=2, rng=6)
    first = isocal.bernstein("y ~ ecdf(s1) + s2", data, K=2).fit()
    res = isocal.bernstein("y ~ ecdf(s1) + s2", data, K=3, shrink=1.0, anchor=first).fit()
    assert res.cross_val_predict().notna().all()
    part = data.head(90)
    y, s = part.y.to_numpy(dtype=float), part[["s1", "s2"]].to_numpy(copy=True)
    s[:, 0] = isocal.transforms.Ecdf.learn(s[:, 0])(s[:, 0])
    p0 = np.clip(first.predict(part).to_numpy(), 0.5 / 91, 1 - 0.5 / 91)
    found = isocal.bernstein("y ~ ecdf(s1) + s2", part, K=3, shrink=1.0, anchor=first).fit()
    plain = Bernstein(K=3).fit_arrays(*with_pseudo_data(s, y, p0, 1.0))
    assert found.fittedvalues.to_numpy() == pytest.approx(plain(s), abs=AGREE)


def test_a_curve_from_outside_cannot_be_saved():
    class Flat(type(Platt().fit_arrays([0.1, 0.9], [0, 1]))):
        pass

    given = Flat(intercept=0.0, slope=1.0, se=(0.1, 0.1), scale="logit", targets="smooth", df=2.0)
    recipe = Bernstein(shrink=1.0, anchor=given)
    recipe.fit_arrays(*rows(1, 50, 1))
    with pytest.raises(ValueError, match="a Flat is not of isocal, so a file cannot hold it"):
        recipe.to_dict()


def test_separable_scores_are_shrunk_to_something_finite():
    data = pd.DataFrame({"s": np.r_[np.linspace(0, 0.4, 20), np.linspace(0.6, 1, 20)], "y": [0] * 20 + [1] * 20})
    for loss in ("brier", "log"):
        res = isocal.bernstein("y ~ s", data, shrink=1.0, loss=loss).fit()
        assert np.isfinite(res.llf) and res.curve.steps()[0] >= 0

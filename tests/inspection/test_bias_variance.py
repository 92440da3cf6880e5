from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import spinney as sp
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from spinney.sampling.bags import bag_counts


class Constant(RegressorMixin, BaseEstimator):
    """Predicts the same number whatever it has seen."""

    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


class Twice(Constant):
    """Predicts two numbers."""

    def predict(self, X):
        return np.zeros((len(X), 2))


class Mean(Constant):
    """Predicts the mean of what it has seen."""

    def fit(self, X, y):
        self.value_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)


class Nearest(ClassifierMixin, BaseEstimator):
    """Predicts the label of the nearest row."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = np.asarray(X), np.asarray(y), np.unique(y)
        return self

    def predict(self, X):
        return self.y_[abs(np.asarray(X)[:, :1] - self.X_[:, 0]).argmin(axis=1)]


class Seeded(Constant):
    """Predicts its seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def predict(self, X):
        return np.full(len(X), self.random_state % 1000.0)


def wave(rows=60, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 2))
    truth = np.sin(6 * X[:, 0])
    return X, truth + noise * rng.normal(size=rows), truth


def whole(found):
    return (found.noise or 0.0) + found.bias2 + found.variance


def test_a_constant_has_no_variance_and_its_bias_is_its_distance():
    X, y, truth = wave()
    found = sp.bias_variance(Constant(2.0), X, y, truth, repeats=30)
    assert found.kind == "squared"
    assert found.variance == 0.0
    assert found.bias2 == pytest.approx(np.mean((truth - 2.0) ** 2), rel=1e-12)
    assert found.noise == pytest.approx(np.mean((y - truth) ** 2), rel=1e-12)
    assert found.loss == pytest.approx(found.noise + found.bias2, rel=1e-12)
    assert found.observed_loss == pytest.approx(np.mean((y - 2.0) ** 2), rel=1e-12)
    assert (found.rows, found.left_out, found.refits) == (60, 0, 30)


def test_bias_and_variance_of_a_mean_are_those_of_theory(monkeypatch):
    draws = np.array(list(product(range(4), repeat=4)))  # every sample there is

    def every_sample(seed, repeat, rows, drawn, replace):
        return np.bincount(draws[repeat], minlength=4).astype(np.int32)

    monkeypatch.setattr("spinney.inspection.bias_variance.bag_counts", every_sample)
    y, truth = np.array([0.5, -1.0, 2.0, 1.5]), np.array([0.0, -1.0, 1.0, 2.0])
    found = sp.bias_variance(Mean(), np.zeros((4, 1)), y, truth, repeats=256)
    # Outside a sample, a row is predicted by the mean of four draws of the three others: their mean, with a quarter of their
    # variance.
    others = np.array([np.delete(y, i) for i in range(4)])
    middle, variance = others.mean(axis=1), others.var(axis=1) / 4
    samples = 3**4
    assert found.variance == pytest.approx(np.mean(variance) * samples / (samples - 1), rel=1e-12)
    assert found.bias2 == pytest.approx(np.mean((truth - middle) ** 2 - variance / (samples - 1)), rel=1e-12)
    assert found.noise == pytest.approx(np.mean((y - truth) ** 2), rel=1e-12)
    assert found.loss == pytest.approx(
        np.mean((y - truth) ** 2 + (truth - middle) ** 2 + variance), rel=1e-12
    )
    assert found.observed_loss == pytest.approx(np.mean((y - middle) ** 2 + variance), rel=1e-12)


def test_few_refits_do_not_make_the_bias_larger():
    y = np.random.default_rng(3).normal(size=30)
    X = np.zeros((30, 1))
    few = [sp.bias_variance(Mean(), X, y, np.zeros(30), repeats=4, seed=s).bias2 for s in range(150)]
    others = np.array([np.delete(y, i).mean() for i in range(30)])
    # Without the correction it would be larger by half the variance, .03 / 2.
    assert np.mean(few) == pytest.approx(np.mean(others**2), abs=4 * np.std(few) / np.sqrt(150))


@pytest.mark.parametrize("given", [True, False])
def test_the_squared_loss_is_the_sum_of_its_parts(given):
    X, y, truth = wave()
    found = sp.bias_variance(LinearRegression(), X, y, truth if given else None, repeats=8)
    assert found.loss == pytest.approx(whole(found), rel=1e-12)
    assert found.noise_included is not given
    assert ("noise included" in repr(found)) is not given
    by_hand = []
    for repeat in range(8):
        counts = bag_counts(0, repeat, 60, 60, replace=True)
        bag, outside = np.repeat(np.arange(60), counts), counts == 0
        line = LinearRegression().fit(X[bag], y[bag])
        by_hand.append(np.where(outside, line.predict(X), np.nan))
    predicted = np.array(by_hand)
    evaluated = (~np.isnan(predicted)).sum(axis=0) > 1
    assert found.left_out == 60 - evaluated.sum()
    assert found.variance == pytest.approx(
        np.nanvar(predicted[:, evaluated], axis=0, ddof=1).mean(), rel=1e-10
    )
    assert found.observed_loss == pytest.approx(
        np.nanmean((predicted - y)[:, evaluated] ** 2, axis=0).mean(), rel=1e-10
    )
    if not given:
        assert found.loss == found.observed_loss


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("labels", [["no", "yes"], ["high", "low", "middle"]])
def test_the_0_1_loss_is_the_sum_of_its_parts(given, labels):
    X, y, truth = wave(80)
    y, truth = (np.array(labels)[np.digitize(v, [-0.4, 0.4][: len(labels) - 1])] for v in (y, truth))
    found = sp.bias_variance(Nearest(), X, y, truth if given else None, repeats=15, seed=3)
    assert found.kind == "zero_one"
    assert found.loss == pytest.approx(whole(found), rel=1e-12)
    assert found.variance == found.variance_unbiased - found.variance_biased
    votes = [[] for _ in y]
    for repeat in range(15):
        counts = bag_counts(3, repeat, 80, 80, replace=True)
        bag = np.repeat(np.arange(80), counts)
        predicted = Nearest().fit(X[bag], y[bag]).predict(X)
        for row in np.flatnonzero(counts == 0):
            votes[row].append(str(predicted[row]))
    best = truth if given else y
    rows = [i for i, cast in enumerate(votes) if cast]
    mains = {
        i: min(labels, key=lambda one, i=i: (-votes[i].count(one), sorted(labels).index(one))) for i in rows
    }
    assert found.bias2 == pytest.approx(np.mean([mains[i] != best[i] for i in rows]))
    assert found.loss == pytest.approx(np.mean([np.mean(np.array(votes[i]) != y[i]) for i in rows]))
    kept = [np.mean(np.array(votes[i]) != mains[i]) if mains[i] == best[i] else 0.0 for i in rows]
    assert found.variance_unbiased == pytest.approx(np.mean(kept))
    assert found.variance_biased > 0
    if given:
        assert found.noise > 0.05


def test_every_refit_has_a_seed_of_its_own():
    X, y, _ = wave(20)
    found = sp.bias_variance(Seeded(random_state=7), X, y, repeats=10)
    assert found.variance > 1000.0
    again = sp.bias_variance(Seeded(random_state=8), X, y, repeats=10)
    assert again.variance == found.variance
    other = sp.bias_variance(make_pipeline(FunctionTransformer(), Seeded()), X, y, repeats=10)
    assert other.variance == found.variance
    assert sp.bias_variance(Seeded(), X, y, repeats=10, seed=1).variance != found.variance


def test_deeper_trees_trade_bias_for_variance_and_forests_take_the_variance_away():
    X, y, truth = wave(200, noise=0.2)
    makers = {
        "stump": sp.DecisionTreeRegressor(max_depth=1),
        "tree": sp.DecisionTreeRegressor(),
        "forest": sp.RandomForestRegressor(n_estimators=20),
    }
    found = {name: sp.bias_variance(maker, X, y, truth) for name, maker in makers.items()}
    assert found["stump"].bias2 > 5 * found["tree"].bias2
    assert found["tree"].variance > 2 * found["stump"].variance
    assert found["forest"].variance < 0.6 * found["tree"].variance


def test_any_table_will_do():
    X, y, truth = wave()
    labels = np.where(y > 0, "up", "down")
    tree = sp.DecisionTreeClassifier(max_depth=3)
    plain = sp.bias_variance(tree, X, labels, repeats=5)
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(60)[::-1])
    for given in (
        X.tolist(),
        frame,
        pl.DataFrame(X, schema=["a", "b"]),
        pa.table({"a": X[:, 0], "b": X[:, 1]}),
        scipy.sparse.coo_array(X),
    ):
        target = pd.Series(labels, index=np.arange(60)[::-1]) if given is frame else labels
        assert sp.bias_variance(tree, given, target, repeats=5).loss == plain.loss
    theirs = sp.bias_variance(DecisionTreeClassifier(max_depth=3), X, y > 0, truth > 0, repeats=5)
    assert theirs.loss == pytest.approx(whole(theirs), abs=1e-12)


def test_the_result_is_shown_with_what_it_is_made_of():
    X, y, truth = wave()
    text = repr(sp.bias_variance(Constant(), X, y, truth, repeats=2))
    assert text.startswith("BiasVariance(squared: loss ")
    assert "= noise " in text
    assert "2 refits, " in text
    assert "left out)" in text


def test_wrong_arguments_are_refused():
    X, y, truth = wave()

    def refused(kind, match, estimator=None, X=X, y=y, truth=None, **given):
        with pytest.raises(kind, match=match):
            sp.bias_variance(estimator or Constant(), X, y, truth, **given)

    refused(ParameterTypeError, "'oak' is no estimator of scikit-learn's kind", "oak")
    refused(ParameterTypeError, "is no estimator", Constant)
    refused(ParameterError, "loss='hinge' is unknown; there are 'auto', 'squared', 'zero_one'", loss="hinge")
    refused(ParameterError, "loss='zero_one' does not fit Constant, which predicts numbers", loss="zero_one")
    refused(
        ParameterError,
        "loss='squared' does not fit Nearest, which predicts labels",
        Nearest(),
        loss="squared",
    )
    refused(ParameterError, "repeats=1 is out of range: it must be 2 or more", repeats=1)
    refused(ParameterError, "seed=-1 is out of range", seed=-1)
    refused(DataError, "X has 60 rows, but y has 59", y=y[:59])
    refused(DataError, "truth has 59 values", truth=truth[:59])
    refused(DataError, "truth has 59 values", Nearest(), y=y > 0, truth=truth[:59] > 0)
    refused(DataError, "Input y contains NaN", y=np.full(60, np.nan))
    refused(DataError, "Unknown label type: continuous", Nearest())
    refused(DataError, "no row is outside of enough samples", X=X[:1], y=y[:1], repeats=3)
    refused(ParameterTypeError, "Twice predicts several outputs; give an estimator of one", Twice())


class Blank(RegressorMixin, BaseEstimator):
    """Predicts nothing."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


class Bare:
    """Has fit and predict alone."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("estimator", "X", "error", "message"),
    [
        (Blank(), np.zeros((30, 1)), DataError, "predicts NaN"),
        (Bare(), np.zeros((30, 1)), ParameterTypeError, "no estimator of scikit-learn's kind"),
        (sp.IsolationForest(5), np.zeros((30, 1)), ParameterTypeError, "predicts no target"),
        (sp.DecisionTreeRegressor(), 3, DataTypeError, "no table"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(estimator, X, error, message):
    with pytest.raises(error, match=message):
        sp.bias_variance(estimator, X, np.arange(30.0), repeats=3)


def test_a_sample_that_the_estimator_refuses_is_named():
    y = np.zeros(40, int)
    y[0] = 1
    with pytest.raises(DataError, match=r"LogisticRegression cannot be fitted to bootstrap sample \d+"):
        sp.bias_variance(LogisticRegression(), np.random.default_rng(0).normal(size=(40, 2)), y, repeats=20)


def test_a_truth_of_labels_that_are_not_in_y_is_refused():
    y = np.array([0, 1] * 20)
    with pytest.raises(DataError, match="truth has the label 7"):
        sp.bias_variance(sp.DecisionTreeClassifier(), np.zeros((40, 1)), y, truth=np.full(40, 7))


def test_copies_of_a_row_are_held_out_together():
    """Else a copy that is trained on gives away the one that is held out, and more rounds always seem to help."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 4))
    truth = X[:, 0]
    y = truth + 3.0 * rng.normal(size=500)
    free, fixed = (
        sp.bias_variance(sp.GBMRegressor(**how, max_leaves=8, n_jobs=1), X, y, truth, repeats=4)
        for how in ({}, {"n_estimators": 300})
    )
    assert free.variance < 0.5 * fixed.variance

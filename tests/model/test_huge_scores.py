"""Scores that no float64 can hold: models of which a sum of trees could be infinite are refused, exponentials are an error."""

from dataclasses import replace

import numpy as np
import pytest

import spinney as sp
from spinney.data import Schema
from spinney.errors import DataError, ModelFormatError
from spinney.model.boosted import Model
from spinney.params import Config
from spinney.tree import concatenate

X = np.arange(40.0).reshape(20, 2)
Y = np.arange(20.0)


def boosted(values, base=(0.0,)):
    """A model of trees of one leaf each."""
    leaf = sp.train({}, sp.Dataset(X, np.ones(20)), 1).forest.tree(0)
    assert len(leaf.value) == 1
    trees = [replace(leaf, value=np.array([value])) for value in values]
    config = Config(num_target=len(base)) if len(base) > 1 else Config()
    return Model(concatenate(trees), np.array(base), "squared_error", config, Schema(None, 2))


@pytest.mark.parametrize("values", [[1e308] * 2, [9e299, -9e299], [-1.7e308], [1e300, 1e299]])
def test_trees_that_could_add_up_beyond_the_largest_score_are_refused(values):
    with pytest.raises(
        ModelFormatError, match=r"trees for output 0 can add up to ±.*must stay within ±1e\+300"
    ):
        boosted(values)


def test_the_base_score_counts_too_and_the_output_is_named():
    with pytest.raises(ModelFormatError, match="trees for output 1 can add up to"):
        boosted([0.0, 6e299], base=(0.0, -6e299))
    assert boosted([6e299, 0.0], base=(0.0, -6e299)).predict(X).max() == 6e299


@pytest.mark.parametrize("value", [1e308, -1e308])
def test_a_file_whose_leaves_add_up_to_infinity_is_refused(open_file, value):
    opened = open_file(sp.train({}, sp.Dataset(X, Y), 3).to_bytes())
    opened.array("value")[:] = value
    with pytest.raises(ModelFormatError, match="can add up to"):
        Model.from_bytes(opened.pack())


def test_classes_of_leaves_that_add_up_to_infinity_are_refused(open_file):
    model = sp.RandomForestClassifier(3, class_weight={0: 0.1, 1: 1.0}, random_state=0).fit(X, Y % 2).model_
    opened = open_file(model.to_bytes())
    opened.array("value")[:] = 1e308
    with pytest.raises(ModelFormatError, match="but its classes of output 0 inf; both must be the same"):
        type(model).from_bytes(opened.pack())


@pytest.mark.parametrize("size", [1e308, -1e308])
def test_thresholds_of_an_isolation_forest_reach_no_score(open_file, size):
    model = sp.IsolationForest(3, random_state=0).fit(X).model_
    opened = open_file(model.to_bytes())
    opened.array("threshold")[opened.array("feature") >= 0] = size
    changed = type(model).from_bytes(opened.pack())
    assert np.isfinite(changed.score_samples(X)).all()


@pytest.mark.parametrize(
    "estimator", [sp.RandomForestRegressor, sp.ExtraTreesRegressor, sp.AdaBoostRegressor]
)
def test_files_of_forests_and_of_adaboost_are_refused_likewise(open_file, estimator):
    model = estimator(n_estimators=3, random_state=0).fit(X, Y + 0.5).model_
    opened = open_file(model.to_bytes())
    opened.array("value")[:] = -1e308
    with pytest.raises(ModelFormatError, match="can add up to"):
        type(model).from_bytes(opened.pack())


def test_weights_of_trees_that_add_up_to_infinity_are_refused(open_file):
    model = sp.AdaBoostRegressor(n_estimators=5, random_state=0).fit(X, Y).model_
    opened = open_file(model.to_bytes())
    opened.array("tree_weight")[:] = 1e308
    with pytest.raises(ModelFormatError, match="the weights of trees sum up to inf"):
        sp.AdaBoostModel.from_bytes(opened.pack())


@pytest.mark.parametrize("size", [1e29, 1e-29])
def test_what_training_gives_for_the_largest_targets_can_be_saved(size):
    model = sp.train({"learning_rate": 1.0}, sp.Dataset(X, Y * size / 20), 5)
    assert Model.from_bytes(model.to_bytes()) == model
    forest = sp.RandomForestRegressor(n_estimators=5, random_state=0).fit(X, Y * 1e140).model_
    assert type(forest).from_bytes(forest.to_bytes()) == forest
    assert np.isfinite(forest.predict(X)).all()


@pytest.mark.parametrize("objective", ["poisson", "gamma", "tweedie"])
def test_an_exponential_that_no_float64_holds_is_an_error_that_names_the_row(objective):
    model = sp.train({"objective": objective}, sp.Dataset(X, Y + 1), 2)
    margin = np.zeros(20)
    margin[7] = 800.0
    with pytest.raises(DataError, match=r"row 7 has the score (799|800).*no float64 can hold; `predict_raw`"):
        model.predict(X, base_margin=margin)
    assert np.isfinite(model.predict_raw(X, base_margin=margin)).all()
    margin[7] = 700.0
    assert np.isfinite(model.predict(X, base_margin=margin)).all()


def test_an_exponential_of_a_very_low_score_is_zero():
    model = sp.train({"objective": "poisson"}, sp.Dataset(X, Y + 1), 2)
    assert model.predict(X, base_margin=np.full(20, -800.0)).max() == 0.0

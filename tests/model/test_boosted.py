import copy
import json
import pickle

import numpy as np
import pytest

from spinney.data import Schema
from spinney.errors import DataError, ModelFormatError, ParameterError, ParameterTypeError
from spinney.model.boosted import Model
from spinney.params import Config
from spinney.tree import Tree, concatenate, dump

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, np.nan]])


def stump(feature, gain, cover):
    return Tree(
        feature=np.array([feature, -1, -1], np.int32),
        threshold=np.zeros(3),
        left=np.array([1, 0, 0], np.int32),
        default_left=np.zeros(3, np.uint8),
        value=np.array([0.0, -1.0, 1.0]),
        gain=np.array([gain, 0.0, 0.0]),
        cover=np.array([cover, cover / 2, cover / 2]),
        count=np.array([2, 1, 1]),
    )


@pytest.fixture
def regression():
    forest = concatenate([stump(0, 4.0, 10.0), stump(0, 2.0, 20.0), stump(2, 1.0, 7.0)])
    return Model(forest, np.array([0.5]), "squared_error", Config(), Schema(None, 3))


def with_best(model, best_round):
    schema = Schema(model.feature_names, model.n_features)
    return Model(model.forest, model.base_score, model.objective, model.params, schema, best_round)


def test_a_model_tells_what_it_is(model):
    assert (model.n_features, model.feature_names) == (3, ("age", "größe", "木"))
    assert (model.rounds, model.outputs, model.best_round) == (2, 3, 1)
    assert model.objective == model.params.objective == "softmax"


def test_a_model_shows_itself_in_one_line(model, regression):
    assert repr(model) == "Model(objective='softmax', rounds=2, best_round=1, outputs=3, n_features=3)"
    assert repr(regression) == "Model(objective='squared_error', rounds=3, outputs=1, n_features=3)"


def test_models_are_equal_when_their_files_are(model, regression):
    assert model == Model.from_bytes(model.to_bytes())
    assert model != regression
    assert with_best(regression, 1) != regression
    assert regression != "a model"


def test_the_number_of_threads_is_no_part_of_a_model(regression):
    schema = Schema(None, 3)
    threads = Config(n_jobs=2)
    assert Model(regression.forest, regression.base_score, "squared_error", threads, schema) == regression


def test_a_model_cannot_be_a_key(model):
    with pytest.raises(TypeError, match="unhashable"):
        hash(model)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_model_comes_back_equal(model, protocol):
    assert pickle.loads(pickle.dumps(model, protocol)) == model


def test_a_copied_model_is_equal(model):
    assert copy.copy(model) == model
    assert copy.deepcopy(model) == model


def test_a_model_keeps_its_own_base_score(regression):
    base_score = np.array([0.5])
    model = Model(regression.forest, base_score, "squared_error", Config(), Schema(None, 3))
    base_score[0] = np.nan
    assert model.base_score.tolist() == [0.5]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base_score": np.array([np.nan])}, "base_score holds nan"),
        ({"base_score": np.array([0.5], np.float32)}, "base_score must be one row of float64"),
        ({"base_score": np.zeros(0)}, "base_score must be one row of float64"),
        ({"base_score": np.zeros(3)}, "must have 1 outputs here, not 3"),
        ({"objective": "log_loss"}, "that of the parameters is 'squared_error'"),
        ({"schema": Schema(None, 2)}, "tree 2, node 0 has feature 2"),
        ({"schema": Schema(("a", "b"), 3)}, "names must hold"),
        ({"schema": Schema(("a", "b", "\ud800"), 3)}, "no text that UTF-8 can hold"),
        ({"best_round": 4}, "best_round must be a whole number from 0 to 3, not 4"),
        ({"best_round": 1.0}, "best_round must be a whole number"),
        ({"best_round": True}, "best_round must be a whole number"),
    ],
)
def test_parts_that_do_not_fit_are_refused(regression, change, message):
    parts = {
        "forest": regression.forest,
        "base_score": regression.base_score,
        "objective": "squared_error",
        "params": Config(),
        "schema": Schema(None, 3),
    }
    with pytest.raises(ModelFormatError, match=message):
        Model(**(parts | change))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("split", [2.0, 0.0, 1.0]),
        ("gain", [3.0, 0.0, 1.0]),
        ("total_gain", [6.0, 0.0, 1.0]),
        ("cover", [15.0, 0.0, 7.0]),
        ("total_cover", [30.0, 0.0, 7.0]),
    ],
)
def test_importance_adds_up_the_splits_of_each_column(regression, kind, expected):
    found = regression.importance(kind)
    assert found.dtype == np.float64
    assert found.tolist() == expected


def test_importance_is_the_mean_gain_unless_asked_otherwise(regression):
    assert regression.importance().tolist() == regression.importance("gain").tolist()


def test_importance_looks_at_the_rounds_that_prediction_uses(regression):
    assert regression.importance("split", rounds=1).tolist() == [1.0, 0.0, 0.0]
    assert with_best(regression, 2).importance("split").tolist() == [2.0, 0.0, 0.0]
    assert regression.importance("split", rounds=0).tolist() == [0.0, 0.0, 0.0]


def test_an_unknown_kind_of_importance_is_refused(regression):
    with pytest.raises(ParameterError, match=r"kind must be one of gain, total_gain, .* not 'weight'"):
        regression.importance("weight")


def test_json_holds_the_header_and_the_trees(model):
    shown = json.loads(model.to_json())
    trees = shown.pop("trees")
    assert trees == [dump.nested(model.forest.tree(t), model.feature_names) for t in range(6)]
    assert shown.pop("base_score") == model.base_score.tolist()
    assert shown["names"] == ["age", "größe", "木"]
    assert shown["params"]["objective"] == "softmax"
    assert "größe" in model.to_json()


def test_json_of_a_model_without_trees_is_json(regression):
    empty = Model(concatenate([]), regression.base_score, "squared_error", Config(), Schema(None, 3))
    assert json.loads(empty.to_json())["trees"] == []


def test_raw_scores_have_one_dimension_for_one_output_and_two_for_more(regression, model):
    assert regression.predict_raw(X).tolist() == [3.5, 3.5]
    assert model.predict_raw(X).shape == (2, 3)


def test_prediction_uses_the_best_round_else_all(regression, model):
    assert regression.predict_raw(X).tolist() == [3.5, 3.5]
    assert with_best(regression, 2).predict_raw(X, n_jobs=4).tolist() == [2.5, 2.5]
    assert with_best(regression, 2).predict_raw(X, rounds=3).tolist() == [3.5, 3.5]
    assert regression.predict_raw(X, rounds=np.int64(0)).tolist() == [0.5, 0.5]
    assert regression.predict_raw(X, rounds=1.0).tolist() == regression.predict_raw(X, rounds=1).tolist()
    assert model.predict_leaf(X).shape == (2, 3)
    assert model.predict_leaf(X, rounds=2, n_jobs=1).shape == (2, 6)


@pytest.mark.parametrize("method", ["predict", "predict_raw", "predict_leaf"])
@pytest.mark.parametrize(
    ("rounds", "error"),
    [
        (-1, ParameterError),
        (4, ParameterError),
        (-1.0, ParameterError),
        (1.5, ParameterTypeError),
        (np.nan, ParameterError),
        (np.inf, ParameterError),
        ("1", ParameterTypeError),
        (True, ParameterTypeError),
        (np.True_, ParameterTypeError),
    ],
)
def test_rounds_that_the_model_lacks_are_refused(regression, method, rounds, error):
    with pytest.raises(error, match=r"^rounds=.* must be"):
        getattr(regression, method)(X, rounds=rounds)


def test_a_base_margin_takes_the_place_of_the_base_score(regression, model):
    assert regression.predict_raw(X, rounds=0, base_margin=[1.0, 2.0]).tolist() == [1.0, 2.0]
    assert regression.predict_raw(X, base_margin=[1.0, 2.0]).tolist() == [4.0, 5.0]
    margin = np.arange(6.0).reshape(2, 3)
    assert model.predict_raw(X, rounds=0, base_margin=margin).tolist() == margin.tolist()


@pytest.mark.parametrize("margin", [[1.0], [1.0, np.nan], [[1.0, 2.0], [3.0, 4.0]]])
def test_a_base_margin_that_does_not_fit_is_refused(regression, margin):
    with pytest.raises(DataError, match="base_margin"):
        regression.predict_raw(X, base_margin=margin)


def test_prediction_is_the_objectives_link_of_the_raw_scores(regression):
    assert regression.predict(X, rounds=1).tolist() == regression.predict_raw(X, rounds=1).tolist()
    config = Config(objective="log_loss")
    logistic = Model(regression.forest, regression.base_score, "log_loss", config, Schema(None, 3))
    np.testing.assert_allclose(logistic.predict(X), 1 / (1 + np.exp(-logistic.predict_raw(X))), rtol=1e-14)
    config = Config(objective="softmax", num_class=3)
    many = Model(regression.forest, np.array([0.5, 0.0, 1.0]), "softmax", config, Schema(None, 3))
    raw = np.exp(many.predict_raw(X))
    np.testing.assert_allclose(many.predict(X), raw / raw.sum(axis=1, keepdims=True), rtol=1e-14)


def test_a_table_of_other_columns_is_refused(regression):
    with pytest.raises(DataError, match="expecting 3 features"):
        regression.predict_raw(X[:, :2])

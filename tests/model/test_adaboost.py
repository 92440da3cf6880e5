"""AdaBoost models: votes and medians against plain sums, files, and what they tell of themselves."""

import json
import pickle

import numpy as np
import pytest

import compact_forests
import spinney as sp
from spinney.data import Schema
from spinney.errors import ModelFormatError
from spinney.model import header
from spinney.model.adaboost import AdaBoostModel
from spinney.model.forest import ForestModel
from spinney.params import AdaBoostConfig

SPLITS = [1, 4, 0, 7, 2]


def model_of(classes=(2,), splits=SPLITS, weights=None, categories=(), **given):
    """A model of random trees."""
    forest = compact_forests.random_forest(5, splits, classes=classes)
    rng = np.random.default_rng(6)
    weight = rng.random(len(splits)) * 2 if weights is None else np.array(weights, float)
    config = AdaBoostConfig(loss="samme" if classes else "linear", **given)
    return AdaBoostModel(forest, config, Schema(None, 4), classes, 50, weight, rng.random(len(splits)) / 2)


def rows(count=40):
    rng = np.random.default_rng(7)
    return np.where(rng.random((count, 4)) < 0.1, np.nan, rng.normal(size=(count, 4)) * 6)


def said_by_trees(model, X):
    """What each tree says of each row, (rows, trees): a class, or a number."""
    values = model.tree_values(model.read(X))
    return values.argmax(axis=2) if model.classes else values[:, :, 0]


def naive_votes(said, weights, classes):
    """scikit-learn's votes, for every class."""
    votes = np.zeros((len(said), classes))
    for row, spoken in enumerate(said):
        for t, chosen in enumerate(spoken):
            for k in range(classes):
                votes[row, k] += weights[t] if k == chosen else -weights[t] / (classes - 1)
    return votes / sum(weights)


def naive_medians(said, weights):
    found = []
    for spoken in said:
        half, up_to = sum(weights) / 2, 0.0
        for value, weight in sorted(zip(spoken, weights, strict=True)):
            up_to += weight
            if up_to >= half:
                found.append(value)
                break
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_trees_vote_with_their_weights(classes):
    model, X = model_of((classes,)), rows()
    votes = naive_votes(said_by_trees(model, X), model.tree_weights, classes)
    wanted = votes[:, 1] - votes[:, 0] if classes == 2 else votes
    np.testing.assert_allclose(model.decision(X), wanted, rtol=1e-12, atol=1e-12)
    scores = votes / (classes - 1) if classes > 2 else votes
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict(X), shares, rtol=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("weights", [None, [1, 1, 1, 1, 1], [0.1, 9, 0.1, 0.1, 0.1], [1, 0, 2, 0, 1]])
def test_the_median_by_weight_is_predicted(weights):
    model, X = model_of((), weights=weights), rows()
    wanted = naive_medians(said_by_trees(model, X), model.tree_weights)
    np.testing.assert_array_equal(model.predict(X), wanted)


@pytest.mark.kernels
def test_the_lower_of_two_numbers_of_the_same_weight_is_the_median():
    model, X = model_of((), splits=[0, 0], weights=[1, 1]), rows(1)
    said = said_by_trees(model, X)[0]
    assert model.predict(X).tolist() == [min(said)]


@pytest.mark.kernels
@pytest.mark.parametrize("classes", [(2,), (3,), ()])
def test_stages_are_the_predictions_of_the_first_trees(classes):
    model, X = model_of(classes), rows(12)
    stages = list(model.staged(X))
    assert len(stages) == len(SPLITS)
    for t, found in enumerate(stages, 1):
        first = AdaBoostModel(
            model.forest.first(t), model.config, model.schema, classes, 50, model.tree_weights[:t], model.tree_errors[:t]
        )  # fmt: skip
        wanted = first.decision(X) if classes else first.predict(X)
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)
    last = model.decision(X) if classes else model.predict(X)
    np.testing.assert_array_equal(stages[-1], last)


@pytest.mark.kernels
def test_trees_without_a_say_leave_it_open():
    model, X = model_of((2,), weights=[0, 0, 1, 1, 1]), rows(5)
    stages = list(model.staged(X))
    assert stages[0].tolist() == stages[1].tolist() == [0.0] * 5
    assert np.abs(stages[2]).min() > 0


@pytest.mark.kernels
@pytest.mark.parametrize("classes", [(1,), (2,), (3,), ()])
def test_no_rows_give_no_predictions(classes):
    model = model_of(classes)
    shape = (0, *classes) if classes else (0,)
    assert model.predict(np.empty((0, 4))).shape == shape
    assert len(list(model.staged(np.empty((0, 4))))) == len(SPLITS)


@pytest.mark.kernels
def test_one_class_is_certain():
    model, X = model_of((1,)), rows(3)
    assert model.decision(X).tolist() == [[0.0]] * 3
    assert model.predict(X).tolist() == [[1.0]] * 3


@pytest.mark.parametrize("classes", [(4,), ()])
def test_many_rows_and_threads_predict_the_same(classes):
    model, X = model_of(classes, splits=[7, 3] * 20), rows(3000)
    alone = model.predict(X, n_jobs=1)
    for threads in (2, 3):
        assert model.predict(X, n_jobs=threads).tobytes() == alone.tobytes()
    few = np.concatenate([model.predict(X[i : i + 100], n_jobs=2) for i in range(0, 3000, 100)])
    assert few.tobytes() == alone.tobytes()


@pytest.mark.parametrize("classes", [(2,), (3,), ()])
def test_a_model_comes_back_from_its_file(classes, tmp_path):
    model = model_of(classes, learning_rate=0.5, max_depth=None)
    model.save(tmp_path / "file")
    loaded = sp.load(tmp_path / "file")
    assert type(loaded) is AdaBoostModel
    assert loaded == model == pickle.loads(pickle.dumps(model))
    assert loaded.to_bytes() == model.to_bytes()
    assert loaded.tree_weights.tolist() == model.tree_weights.tolist()
    assert loaded.tree_errors.tolist() == model.tree_errors.tolist()
    assert loaded.config == model.config
    assert loaded.predict(rows()).tobytes() == model.predict(rows()).tobytes()
    assert loaded != model_of(classes, learning_rate=0.5, max_depth=None, weights=[1, 1, 1, 1, 1])


def test_its_file_has_a_format_that_older_versions_refuse():
    assert header.FORMAT >= header.WITH_KIND == 6
    with pytest.raises(ModelFormatError, match="another model than a ForestModel"):
        ForestModel.from_bytes(model_of().to_bytes())


def test_what_is_written_for_people_has_weights_errors_and_trees():
    model = model_of((3,))
    told = json.loads(model.to_json())
    assert told["kind"] == "adaboost"
    assert told["tree_weights"] == model.tree_weights.tolist()
    assert told["tree_errors"] == model.tree_errors.tolist()
    assert len(told["trees"]) == len(SPLITS)
    assert repr(model) == "AdaBoostModel(trees=5, classes=3, n_features=4)"
    assert repr(model_of(())) == "AdaBoostModel(trees=5, n_features=4)"


def test_importance_is_the_mean_over_trees_by_weight():
    model = model_of()
    wanted = np.average(model.tree_importances(), axis=0, weights=model.tree_weights)
    np.testing.assert_allclose(model.importance(), wanted)


def test_what_was_checked_cannot_be_written_to():
    model = model_of()
    for array in (model.tree_weights, model.tree_errors, model.forest.value):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1

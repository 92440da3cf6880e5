"""A forest model is a finished thing: saved and loaded, shown, equal to itself, with the shapes of scikit-learn's forests."""

import json
import pickle

import numpy as np
import pytest

import spinney as sp
from compact_forests import random_forest, random_model, random_table
from spinney.data import Schema
from spinney.errors import ModelFormatError, ParameterError
from spinney.model import header
from spinney.model.boosted import Model
from spinney.model.forest import ForestModel
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.model.loading import load_with_part, save_with_part
from spinney.params import Config, ForestConfig
from spinney.tree import concatenate

CATEGORIES = (0, 5, 0, 3)


def leaf_rows(forest, rows=100, outputs=1):
    """One or two training rows a leaf."""
    rng = np.random.default_rng(0)
    start = np.concatenate([[0], np.cumsum(rng.integers(1, 3, forest.leaves))])
    many = int(start[-1])
    return TrainingRowsByLeaf(
        start, rng.integers(rows, size=many).astype(np.int32), np.ones(many, np.uint8), rng.normal(size=(rows, outputs)),
        np.zeros(0),
    )  # fmt: skip


def kept_model():
    """A forest that keeps the rows of its leaves."""
    forest = random_forest(5, [3, 0, 8], classes=(), outputs=2)
    config = ForestConfig(keep_leaf_rows=True)
    return ForestModel(forest, config, Schema(None, 4), (), 2, 100, leaf_rows(forest, outputs=2))


def models():
    return {
        "two classes": random_model(1, [4, 0, 30]),
        "numbers": random_model(2, [4, 9], classes=(), names=("a", "b", "c", "größe")),
        "several outputs": random_model(3, [4, 9], classes=(2, 4), outputs=2, weights="float"),
        "categories": random_model(4, [9, 9], categories=CATEGORIES),
        "lone leaves": random_model(4, [0, 0]),
        "leaf rows": kept_model(),
    }


@pytest.mark.parametrize("name", models())
def test_a_model_comes_back_from_its_file_its_bytes_and_its_pickle(name, tmp_path):
    model = models()[name]
    path = tmp_path / "forest.safetensors"
    model.save(path)
    for back in (sp.load(path), ForestModel.from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model))):
        assert type(back) is ForestModel
        assert back == model
        assert back.forest.equal(model.forest)
        assert (back.config, back.schema, back.rows) == (model.config, model.schema, model.rows)
        assert (back.classes, back.outputs) == (model.classes, model.outputs)
    assert path.read_bytes() == model.to_bytes()


def test_rows_of_leaves_come_back():
    model = kept_model()
    back = ForestModel.from_bytes(model.to_bytes())
    for name in ("start", "rows", "counts", "targets", "weight"):
        assert getattr(back.leaf_rows, name).tolist() == getattr(model.leaf_rows, name).tolist()
    assert random_model(1, [2]).leaf_rows is None


def test_models_that_differ_are_not_equal():
    model = random_model(1, [4, 9])
    assert model != random_model(2, [4, 9])
    assert model != "a forest"
    boosted = Model(concatenate([]), np.array([0.5]), "squared_error", Config(), Schema(None, 4))
    assert model != boosted
    assert boosted != model


def test_the_header_says_that_it_is_a_forest(open_file):
    told = open_file(random_model(1, [4, 9], classes=(3,)).to_bytes()).header
    assert (told["format"], told["kind"], told["trees"], told["classes"]) == (5, "forest", 2, [3])
    assert told["params"]["criterion"] == "gini"
    assert "n_jobs" not in told["params"]


def test_what_an_estimator_knows_is_kept_beside_the_model(tmp_path):
    model, path = random_model(1, [4, 9], categories=CATEGORIES), tmp_path / "forest"
    save_with_part(model, path, {"class": "x", "evals": {"b": 1, "a": 2}})
    back, part = load_with_part(path)
    assert back == model
    assert list(part["evals"]) == ["b", "a"]
    assert sp.load(path) == model
    model.save(path)
    assert load_with_part(path)[1] is None


def test_bytes_of_one_kind_of_model_are_not_those_of_another():
    boosted = Model(concatenate([]), np.array([0.5]), "squared_error", Config(), Schema(None, 4))
    with pytest.raises(ModelFormatError, match="bytes of another model than a ForestModel"):
        ForestModel.from_bytes(boosted.to_bytes())
    with pytest.raises(ModelFormatError, match="bytes of another model than a Model"):
        Model.from_bytes(random_model(1, [4]).to_bytes())


def test_boosting_cannot_go_on_from_a_forest(tmp_path):
    model, path = random_model(1, [4]), tmp_path / "forest"
    model.save(path)
    X = random_table(1, 50)
    for given in (model, path):
        with pytest.raises(ParameterError, match="init_model is a forest"):
            sp.train({}, sp.Dataset(X, np.arange(50.0)), 1, init_model=given)


def test_predictions_have_the_shapes_of_scikit_learn():
    X = random_table(1, 6)
    shape = {name: model.predict(X) for name, model in models().items() if name != "categories"}
    assert shape["two classes"].shape == (6, 2)
    assert shape["numbers"].shape == (6,)
    assert [one.shape for one in shape["several outputs"]] == [(6, 2), (6, 4)]
    assert shape["leaf rows"].shape == (6, 2)
    assert np.allclose(shape["several outputs"][1].sum(axis=1), 1)


def test_the_mean_of_what_the_trees_say_is_the_prediction():
    for model in (models()["several outputs"], models()["numbers"]):
        table = model.read(random_table(1, 9))
        by_tree = model.tree_values(table)
        assert by_tree.shape == (9, 2, model.forest.values)
        assert np.allclose(by_tree.mean(axis=1), model.values(table), rtol=1e-14)
        assert model.tree_values(table, 1, 2).tolist() == by_tree[:, 1:].tolist()


@pytest.mark.parametrize(("first", "last"), [(-1, 1), (0, 3), (2, 1)])
def test_trees_that_are_not_there_are_refused(first, last):
    model = random_model(1, [4, 9])
    with pytest.raises(IndexError, match="are not all in a forest of 2"):
        model.leaf_numbers(model.read(random_table(1, 3)), first, last)


def test_leaves_and_paths_are_those_of_the_trees_of_nodes():
    model = random_model(3, [7, 0, 40])
    X = random_table(5, 20)
    leaves = model.predict_leaf(X)
    indicator, starts = model.decision_path(X)
    assert starts.tolist() == [0, 15, 16, 97]
    assert indicator.shape == (20, 97)
    for row, values in enumerate(X):
        passed = []
        for t in range(3):
            tree, node = model.tree(t), 0
            passed.append(int(starts[t]))
            while tree.feature[node] >= 0:
                x = values[tree.feature[node]]
                left = bool(tree.default_left[node]) if np.isnan(x) else x <= tree.threshold[node]
                node = int(tree.left[node]) + (0 if left else 1)
                passed.append(int(starts[t]) + node)
            assert leaves[row, t] == node
        assert indicator[[row]].indices.tolist() == passed
        assert set(indicator[[row]].data.tolist()) == {1}


def test_importance_is_the_mean_of_shares_of_gain():
    model = random_model(3, [7, 0, 40])
    forest, expected = model.forest, np.zeros((3, 4))
    for t in (0, 2):
        for i in range(*forest.split_start[t : t + 2].tolist()):
            expected[t, forest.column[i]] += float(forest.gain[i])
        expected[t] /= expected[t].sum()
    assert np.allclose(model.tree_importances(), expected, rtol=1e-12)
    total = expected.sum(axis=0)
    assert np.allclose(model.importance(), total / total.sum(), rtol=1e-12)


def test_trees_without_splits_have_no_importance():
    model = random_model(1, [0, 0])
    assert model.importance().tolist() == [0.0] * 4
    assert model.tree_importances().tolist() == [[0.0] * 4] * 2


def test_a_forest_is_shown_as_json_and_in_a_line():
    model = random_model(4, [3, 0], classes=(2,), names=("a", "b", "c", "d"))
    told = json.loads(model.to_json())
    assert told["kind"] == "forest"
    assert told["trees"][0]["feature"] in "abcd"
    assert sum(told["trees"][1]["leaf"]) == pytest.approx(1)
    assert repr(model) == "ForestModel(trees=2, classes=(2,), outputs=1, n_features=4)"
    assert repr(models()["leaf rows"]) == "ForestModel(trees=3, outputs=2, n_features=4)"


@pytest.mark.parametrize(
    ("classes", "outputs", "rows", "message"),
    [
        ((), 1, 9, "cannot have the criterion 'gini'"),
        ((2, 2), 1, 9, "classes are those of 2 outputs, but there are 1"),
        ((2,), 0, 9, "outputs must be a whole number from 1, not 0"),
        ((2,), 1, 0, "rows must be a whole number from 1, not 0"),
        ((0,), 1, 9, "an output must have a class or more, not 0"),
        ((3,), 1, 9, "'value' has 8 entries"),
    ],
)
def test_parts_that_do_not_fit_are_refused(classes, outputs, rows, message):
    forest = random_forest(1, [3])
    with pytest.raises(ModelFormatError, match=message):
        ForestModel(forest, ForestConfig(criterion="gini"), Schema(None, 4), classes, outputs, rows)


def test_a_forest_needs_a_tree():
    with pytest.raises(ModelFormatError, match="must have a tree"):
        ForestModel(random_forest(1, [3]).first(0), ForestConfig(), Schema(None, 4), (), 1, 9)


def test_a_parameter_about_a_column_that_is_not_there_is_refused():
    config = ForestConfig(monotonic_cst=(1, 0))
    with pytest.raises(ModelFormatError, match="wrong parameter: monotonic_cst"):
        ForestModel(random_forest(1, [3], classes=()), config, Schema(None, 4), (), 1, 9)


def test_forests_have_a_format_of_their_own_and_later_kinds_share_the_next():
    assert header.WITH_KIND == header.WITH_FOREST + 1 == 6
    assert ForestModel.FILE.kind == "forest"


def test_no_name_stands_twice_in_the_json_of_a_forest():
    model = random_model(2, [3, 4])
    found = []
    json.loads(model.to_json(), object_pairs_hook=lambda pairs: found.append([name for name, _ in pairs]))
    assert all(len(set(names)) == len(names) for names in found)

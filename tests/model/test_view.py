"""`EnsembleView`: a plain walk down the trees that it gives comes to the prediction of the model, to the last bit."""

import numpy as np
import pytest

import compact_forests
import forests
import spinney as sp
from spinney.data import Schema
from spinney.data.table import as_matrix
from spinney.errors import ParameterTypeError
from spinney.model.adaboost import AdaBoostModel
from spinney.model.base import view_of
from spinney.model.boosted import Model
from spinney.params import AdaBoostConfig

CATEGORIES = (0, 5, 0, 70)


def leaf_of(tree, row):
    """The node that a row ends in."""
    node = 0
    while tree.feature[node] >= 0:
        x = row[tree.feature[node]]
        members = tree.sets.members(node)
        if np.isnan(x):
            left = tree.default_left[node] == 1
        else:
            left = x <= tree.threshold[node] if members is None else int(x) in members
        node = tree.left[node] + (0 if left else 1)
    return node


def predicted_by_view(model, X, together=2):
    """Predictions by hand, (rows, outputs): trees are taken a few at a time, and their values added in order."""
    view, rows = view_of(model), as_matrix(model.read(X))
    sums = np.tile(view.start, (len(rows), 1))
    for first in range(0, len(view.nodes), together):
        last = min(first + together, len(view.nodes))
        forest = view.trees(first, last)
        values = forest.value.reshape(forest.nodes, view.width)
        for t in range(first, last):
            tree, output = forest.tree(t - first), t * view.width % view.outputs
            for i, row in enumerate(rows):
                sums[i, output : output + view.width] += values[forest.start[t - first] + leaf_of(tree, row)]
    view.finish(sums)
    return sums


def adaboost_of(classes):
    forest = compact_forests.random_forest(5, [1, 4, 0, 7, 2], classes=classes)
    config = AdaBoostConfig(loss="samme" if classes else "linear")
    weight = np.random.default_rng(6).random(forest.trees)
    return AdaBoostModel(forest, config, Schema(None, 4), classes, 50, weight, weight / 2)


def table_of(rows=30, columns=4):
    X = np.random.default_rng(1).normal(size=(rows, columns)).round(1)
    X[::7, 1] = np.nan
    return X


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("best_round", [None, 0, 2])
def test_boosted_trees_add_up_to_the_raw_scores_that_predict_uses(outputs, best_round):
    X = table_of()
    made = forests.random_model(5, X, outputs, trees=4, splits=8)
    model = Model(made.forest, made.base_score, made.objective, made.params, made.schema, best_round)
    np.testing.assert_array_equal(predicted_by_view(model, X), model.predict_raw(X).reshape(len(X), -1))


@pytest.mark.parametrize(
    "shape",
    [
        {"classes": (3,)},
        {"classes": (2, 3), "outputs": 2},
        {"classes": (), "outputs": 2},
        {"classes": (2,), "categories": CATEGORIES},
    ],
)
def test_trees_of_a_forest_come_to_its_mean(shape):
    model = compact_forests.random_model(1, [9, 0, 12], **shape)
    X = compact_forests.random_table(2, 30, categories=shape.get("categories", ()))
    np.testing.assert_array_equal(predicted_by_view(model, X), model.values(model.read(X)))


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_trees_of_adaboost_come_to_its_votes(classes):
    model, X = adaboost_of((classes,)), table_of()
    np.testing.assert_array_equal(predicted_by_view(model, X), model.decision(X).reshape(len(X), -1))


def test_a_median_is_no_sum():
    with pytest.raises(ParameterTypeError, match="predicts medians over its trees, which are no sums"):
        view_of(adaboost_of(()))


@pytest.mark.parametrize("categorical", ["auto", [3]])
def test_isolation_trees_come_to_the_mean_length_of_paths(categorical):
    X = table_of(100)
    X[:, 3] = np.arange(100) % 9
    model = sp.IsolationForest(7, max_samples=64, random_state=3, categorical=categorical).fit(X).model_
    np.testing.assert_array_equal(predicted_by_view(model, X)[:, 0], model.path_lengths(X))


@pytest.mark.parametrize(
    "model",
    [
        forests.random_model(5, table_of(), 3, trees=4, splits=8),
        compact_forests.random_model(1, [9, 0, 12], classes=(2,), categories=CATEGORIES),
        adaboost_of((3,)),
        sp.IsolationForest(7, max_samples=64, random_state=3).fit(table_of(100)).model_,
    ],
    ids=["boosted", "forest", "adaboost", "isolation"],
)
def test_splits_and_numbers_of_nodes_are_those_of_the_trees(model):
    view = view_of(model)
    forest = view.trees(0, len(view.nodes))
    assert view.nodes.tolist() == np.diff(forest.start).tolist()
    tree, column = view.split_columns()
    wanted = [forest.tree(t).feature[forest.tree(t).feature >= 0] for t in range(forest.trees)]
    # Nodes of a tree may stand in another order than its splits.
    for t, columns in enumerate(wanted):
        assert sorted(column[tree == t].tolist()) == sorted(columns.tolist())
    assert len(column) == sum(len(columns) for columns in wanted)

"""Single trees: views of a forest's, their nodes, and pruning."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier as Twin
from sklearn.tree import DecisionTreeRegressor as NumberTwin

import spinney as sp


@pytest.fixture(scope="module")
def forest(table, three):
    return sp.RandomForestClassifier(4, max_depth=4).fit(table, np.array(list("abc"))[three])


def test_a_view_predicts_in_the_labels_of_its_forest(forest, table):
    tree = forest.estimators_[1]
    shares = tree.predict_proba(table)
    assert shares.shape == (200, 3)
    assert tree.predict(table).tolist() == forest.classes_[shares.argmax(axis=1)].tolist()
    assert tree.classes_ is forest.classes_
    assert repr(tree) == "ClassTreeView(1 of 4)"


def test_a_view_of_numbers_predicts_numbers(table, numbers):
    forest = sp.ExtraTreesRegressor(2).fit(table, np.column_stack([numbers, numbers]))
    said = np.mean([tree.predict(table) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(said, forest.predict(table))
    assert said.shape == (200, 2)


def test_the_leaves_of_a_view_are_those_of_the_forest(forest, table):
    for number, tree in enumerate(forest.estimators_):
        leaves = tree.apply(table)
        np.testing.assert_array_equal(leaves, forest.apply(table)[:, number])
        assert len(set(leaves)) <= tree.get_n_leaves()
        assert set(leaves) <= set(np.flatnonzero(tree.tree_.feature < 0))


def test_the_way_to_a_leaf_is_in_the_decision_path(forest, table):
    indicator, start = forest.decision_path(table)
    assert indicator.shape == (200, start[-1])
    for number, tree in enumerate(forest.estimators_):
        path = indicator[:, start[number] : start[number + 1]].toarray()
        assert path.sum(axis=1).max() == tree.get_depth() + 1
        assert path[:, 0].all()
        assert path[np.arange(200), tree.apply(table)].all()


def test_importances_of_trees_add_up_to_the_forests(forest):
    trees = np.array([tree.feature_importances_ for tree in forest.estimators_])
    np.testing.assert_allclose(trees.sum(axis=1), 1)
    np.testing.assert_allclose(trees.mean(axis=0), forest.feature_importances_)


def test_a_tree_of_one_leaf(table):
    tree = sp.DecisionTreeRegressor().fit(table, np.ones(200))
    assert (tree.get_depth(), tree.get_n_leaves()) == (0, 1)
    assert not tree.apply(table).any()
    assert tree.decision_path(table).shape == (200, 1)
    assert tree.cost_complexity_pruning_path(table, np.ones(200)).ccp_alphas.tolist() == [0.0]


def test_a_single_tree_gives_one_leaf_a_row(table, three):
    tree = sp.DecisionTreeClassifier(max_leaf_nodes=5).fit(table, three)
    assert tree.get_n_leaves() == 5
    assert tree.apply(table).shape == (200,)
    path = tree.decision_path(table)
    assert path.shape == (200, 9)
    assert path.sum(axis=1).max() == tree.get_depth() + 1
    assert len(tree.tree_.feature) == 9


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("weighted", [False, True])
def test_prices_of_leaves_are_scikit_learns(criterion, weighted, table, two):
    X, weight = np.nan_to_num(table), np.linspace(0, 2, 200) if weighted else None
    settings = {"criterion": criterion, "max_depth": 4}
    mine = sp.DecisionTreeClassifier(tree_method="exact", **settings)
    found = mine.cost_complexity_pruning_path(X, two, weight)
    known = Twin(random_state=0, **settings).cost_complexity_pruning_path(X, two, weight)
    np.testing.assert_allclose(found.ccp_alphas, np.unique(known.ccp_alphas.round(9)), atol=1e-6)
    np.testing.assert_allclose(found.impurities[[0, -1]], known.impurities[[0, -1]], atol=1e-6)
    assert not hasattr(mine, "model_")


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_prices_of_leaves_of_numbers_are_scikit_learns(criterion, table, numbers):
    X, y = np.nan_to_num(table), np.abs(numbers)
    found = sp.DecisionTreeRegressor(
        criterion=criterion, tree_method="exact", max_depth=3
    ).cost_complexity_pruning_path(X, y)
    known = NumberTwin(criterion=criterion, max_depth=3, random_state=0).cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(found.ccp_alphas, known.ccp_alphas, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.impurities, known.impurities, rtol=1e-4, atol=1e-6)


def test_a_price_prunes_what_the_path_says(table, three):
    tree = sp.DecisionTreeClassifier(max_depth=5)
    path = tree.cost_complexity_pruning_path(table, three)
    leaves = [
        sp.DecisionTreeClassifier(max_depth=5, ccp_alpha=alpha).fit(table, three).get_n_leaves()
        for alpha in (path.ccp_alphas[:-1] + path.ccp_alphas[1:]) / 2
    ]
    assert leaves == sorted(leaves, reverse=True)
    assert len(set(leaves)) == len(leaves)
    last = sp.DecisionTreeClassifier(max_depth=5, ccp_alpha=path.ccp_alphas[-1] * 1.01).fit(table, three)
    assert last.get_n_leaves() == 1

"""One tree of a forest has the cuts of scikit-learn's, at every setting that chooses splits without chance.

Columns have at most two hundred values, so that bins miss no cut, and leaves keep so many rows that no two splits are as good.
Where a node has no rows in some bins, a cut lies between two of these, so trees of bins are compared on training rows.
"""

import numpy as np
import pytest
import sklearn.tree

import spinney as sp

RNG = np.random.default_rng(5)
ROWS = 1500
X = RNG.integers(0, 200, size=(ROWS, 5)).astype(np.float32) / 8
HEIGHT = 2.0 * np.sin(X[:, 0] / 4) + (X[:, 1] > 12) * X[:, 2] / 10 + 0.05 * X[:, 3]
NUMBERS = HEIGHT + 0.5 * RNG.normal(size=ROWS)
LABELS = np.digitize(HEIGHT + 0.8 * RNG.normal(size=ROWS), [0.0, 1.5])
COUNTS = RNG.poisson(np.exp(0.5 * HEIGHT)).astype(float)
WEIGHT = RNG.integers(1, 6, ROWS) / 4
OTHERS = RNG.uniform(0, 25, size=(4000, 5)).astype(np.float32)

REGRESSION = {
    "squared error": {},
    "absolute error": {"criterion": "absolute_error", "max_depth": 4},
    "depth": {"max_depth": 3},
    "best leaf first": {"max_leaf_nodes": 9},
    "impurity": {"min_impurity_decrease": 0.02},
    "weight in a leaf": {"min_weight_fraction_leaf": 0.05},
    "rows to split": {"min_samples_split": 200},
    "pruned": {"ccp_alpha": 0.01},
    "directions": {"monotonic_cst": [0, 1, 0, 1, 0], "max_depth": 5},
}
CLASSIFICATION = {
    "gini": {},
    "entropy": {"criterion": "entropy", "max_depth": 4},
    "balanced": {"class_weight": "balanced"},
    "best leaf first": {"max_leaf_nodes": 9},
    "pruned": {"ccp_alpha": 0.003},
}
METHODS = ("hist", "exact")
JUDGES = {"hist": X, "exact": OTHERS}


def pair(kind, settings, y, method, weight=None):
    """Our tree and scikit-learn's, of the same rows."""
    given = {"min_samples_leaf": 40, "random_state": 0} | settings
    ours = getattr(sp, kind)(tree_method=method, **given).fit(X, y, sample_weight=weight)
    return ours, getattr(sklearn.tree, kind)(**given).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", REGRESSION)
def test_a_tree_of_numbers_is_scikit_learns(name, method):
    ours, theirs = pair("DecisionTreeRegressor", REGRESSION[name], NUMBERS, method)
    assert (ours.get_n_leaves(), ours.get_depth()) == (theirs.get_n_leaves(), theirs.get_depth())
    np.testing.assert_allclose(ours.predict(JUDGES[method]), theirs.predict(JUDGES[method]), rtol=1e-6)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CLASSIFICATION)
def test_a_tree_of_classes_is_scikit_learns(name, method):
    ours, theirs = pair("DecisionTreeClassifier", CLASSIFICATION[name], LABELS, method)
    assert (ours.get_n_leaves(), ours.get_depth()) == (theirs.get_n_leaves(), theirs.get_depth())
    np.testing.assert_allclose(
        ours.predict_proba(JUDGES[method]), theirs.predict_proba(JUDGES[method]), atol=1e-9
    )
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_tree_of_counts_is_scikit_learns(method):
    ours, theirs = pair("DecisionTreeRegressor", {"criterion": "poisson", "max_depth": 4}, COUNTS, method)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(JUDGES[method]), theirs.predict(JUDGES[method]), rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("kind", "y"), [("DecisionTreeRegressor", NUMBERS), ("DecisionTreeClassifier", LABELS)]
)
def test_weights_count_as_in_scikit_learn(kind, y, method):
    ours, theirs = pair(kind, {}, y, method, WEIGHT)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(JUDGES[method]), theirs.predict(JUDGES[method]), rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_several_outputs_share_the_cuts_that_scikit_learn_chooses(method):
    ours, theirs = pair("DecisionTreeRegressor", {}, np.stack([NUMBERS, COUNTS], axis=1), method)
    np.testing.assert_allclose(ours.predict(JUDGES[method]), theirs.predict(JUDGES[method]), rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_rows_fall_into_the_same_leaves(method):
    ours, theirs = pair("DecisionTreeRegressor", {}, NUMBERS, method)
    pairs = set(zip(ours.apply(JUDGES[method]).tolist(), theirs.apply(JUDGES[method]).tolist(), strict=True))
    assert len(pairs) == ours.get_n_leaves()


# Twelve points, two steps: the mean is 2.3667, and three leaves part them at (.9, 3) and (3.5, 5.2).
STEPS_X = np.array([[0, 0.5, 0.7, 0.9, 3, 3.2, 3.5, 5.2, 5.5, 5.6, 6, 6.2]]).T
STEPS_Y = np.array([0.5, 0.2, 0.3, 0.6, 5, 5.2, 5.1, 3.3, 2.1, 2.2, 2, 1.9])


@pytest.mark.parametrize("method", METHODS)
def test_three_leaves_find_the_two_steps(method):
    residuals = STEPS_Y - STEPS_Y.mean()
    tree = sp.DecisionTreeRegressor(max_leaf_nodes=3, tree_method=method).fit(STEPS_X, residuals)
    assert tree.get_n_leaves() == 3
    around = np.array([[1.9499], [1.9501], [4.3499], [4.3501]])
    np.testing.assert_allclose(tree.predict(around), [-1.967, 2.733, 2.733, -0.067], atol=5e-4)
    left = residuals - 0.5 * tree.predict(STEPS_X)
    expected = [-0.883, -1.183, -1.083, -0.783, 1.267, 1.467, 1.367, 0.967, -0.233, -0.133, -0.333, -0.433]
    np.testing.assert_allclose(left, expected, atol=6e-4)


@pytest.mark.parametrize("method", METHODS)
def test_four_distinct_values_have_three_cuts_halfway_between_them(method):
    x = np.array([[1.2], [3.5], [3.5], [4.1], [7.8]])
    tree = sp.DecisionTreeRegressor(tree_method=method).fit(x, [1.0, 2.0, 2.0, 3.0, 4.0])
    assert tree.get_n_leaves() == 4
    around = np.array([[2.3499], [2.3501], [3.7999], [3.8001], [5.9499], [5.9501]])
    np.testing.assert_array_equal(tree.predict(around), [1, 2, 2, 3, 3, 4])


@pytest.mark.parametrize("method", METHODS)
def test_a_leaf_predicts_the_mean_of_its_rows(method):
    tree = sp.DecisionTreeRegressor(max_depth=1, tree_method=method).fit(
        [[0], [0], [1], [1], [1]], [1, 2, 6, 7, 9]
    )
    np.testing.assert_allclose(tree.predict([[0], [1]]), [1.5, 22 / 3])


def test_about_a_third_of_the_rows_stay_out_of_a_bag():
    forest = sp.RandomForestRegressor(n_estimators=1, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        forest.fit(X, NUMBERS)
    assert np.isfinite(forest.oob_prediction_).mean() == pytest.approx(np.exp(-1), abs=0.03)

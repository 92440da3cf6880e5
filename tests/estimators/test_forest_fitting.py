"""Targets of every shape, several outputs, and what a fitted forest says."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier as Twin
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TreeTwin
from sklearn.tree import DecisionTreeRegressor as NumberTreeTwin

import spinney as sp

CLASSIFIERS = [sp.RandomForestClassifier, sp.ExtraTreesClassifier, sp.DecisionTreeClassifier]
REGRESSORS = [sp.RandomForestRegressor, sp.ExtraTreesRegressor, sp.DecisionTreeRegressor]


@pytest.fixture(scope="module")
def whole(table):
    """The table without holes."""
    return np.nan_to_num(table)


@pytest.fixture(scope="module")
def forest(table, three):
    return sp.RandomForestClassifier(8, random_state=1).fit(table, three)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_several_outputs_of_classes_have_scikit_learns_shapes(kind, whole, two, three):
    y = np.column_stack([two, three])
    mine, other = kind().fit(whole, y), Twin(3).fit(whole, y)
    assert [one.tolist() for one in mine.classes_] == [one.tolist() for one in other.classes_]
    assert list(mine.n_classes_) == list(other.n_classes_)
    assert mine.n_outputs_ == 2
    assert [one.shape for one in mine.predict_proba(whole)] == [(200, 2), (200, 3)]
    assert [one.shape for one in mine.predict_log_proba(whole)] == [(200, 2), (200, 3)]
    assert mine.predict(whole).shape == (200, 2)
    assert mine.predict(whole).dtype == other.predict(whole).dtype
    assert (mine.predict(whole) == y).mean() > 0.9


@pytest.mark.parametrize("kind", REGRESSORS)
def test_several_outputs_of_numbers_are_predicted_side_by_side(kind, table, numbers):
    mine = kind().fit(table, np.column_stack([numbers, -2 * numbers]))
    predicted = mine.predict(table)
    assert predicted.shape == (200, 2)
    np.testing.assert_allclose(predicted[:, 1], -2 * predicted[:, 0])
    assert mine.score(table, np.column_stack([numbers, -2 * numbers])) > 0.9


def test_outputs_of_different_kinds_are_predicted_in_their_own_labels(table, two, three):
    y = pd.DataFrame({"word": np.array(["ash", "oak"])[two], "number": three})
    predicted = sp.DecisionTreeClassifier().fit(table, y).predict(table)
    assert predicted.dtype == object
    assert set(predicted[:, 0]) == {"ash", "oak"}
    assert set(predicted[:, 1]) == {0, 1, 2}


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_class_is_predicted_with_certainty(kind, table):
    fitted = kind().fit(table, ["oak"] * 200)
    assert fitted.classes_.tolist() == ["oak"]
    assert fitted.n_classes_ == 1
    assert set(fitted.predict(table)) == {"oak"}
    np.testing.assert_array_equal(fitted.predict_proba(table), np.ones((200, 1)))
    assert not fitted.feature_importances_.any()


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_a_fit_is_repeated_by_its_seed_and_none_is_zero(kind, table, two):
    same = kind(random_state=0, max_features=2).fit(table, two)
    assert kind(max_features=2).fit(table, two).model_ == same.model_
    assert kind(max_features=2, random_state=5).fit(table, two).model_ != same.model_


def test_a_random_state_gives_each_fit_a_seed_of_its_own(table, two):
    state = np.random.RandomState(3)
    first, second = (sp.RandomForestClassifier(2, random_state=state).fit(table, two).model_ for _ in "ab")
    again = sp.RandomForestClassifier(2, random_state=np.random.RandomState(3)).fit(table, two).model_
    assert first == again
    assert first != second


@pytest.mark.parametrize(
    "kind", [sp.RandomForestClassifier, sp.ExtraTreesRegressor, sp.DecisionTreeClassifier]
)
def test_threads_do_not_change_a_byte(kind, table, three):
    one, many = (kind(n_jobs=n).fit(table, three).model_.to_bytes() for n in (1, 3))
    assert one == many


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
def test_an_exact_tree_is_scikit_learns(criterion, whole, two):
    # With all columns at every split, nothing is drawn but the order of equally good ones.
    mine = sp.DecisionTreeClassifier(criterion=criterion, tree_method="exact", max_depth=3).fit(whole, two)
    other = TreeTwin(criterion=criterion, max_depth=3, random_state=0).fit(whole, two)
    np.testing.assert_allclose(mine.predict_proba(whole), other.predict_proba(whole))
    np.testing.assert_allclose(mine.feature_importances_, other.feature_importances_, rtol=1e-5)
    assert mine.get_depth() == other.get_depth()
    assert mine.get_n_leaves() == other.get_n_leaves()


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "friedman_mse"])
def test_an_exact_tree_of_numbers_is_scikit_learns(criterion, whole, numbers):
    y = np.abs(numbers)
    mine = sp.DecisionTreeRegressor(criterion=criterion, tree_method="exact", max_depth=3).fit(whole, y)
    known = "squared_error" if criterion == "friedman_mse" else criterion
    other = NumberTreeTwin(criterion=known, max_depth=3, random_state=0).fit(whole, y)
    np.testing.assert_allclose(mine.predict(whole), other.predict(whole), rtol=1e-6)


def test_probabilities_are_the_mean_of_the_trees(forest, table):
    trees = np.mean([tree.predict_proba(table) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(table), trees)
    np.testing.assert_allclose(np.exp(forest.predict_log_proba(table)), trees)


def test_what_a_forest_knows_of_its_columns(table, three):
    frame = pd.DataFrame(table, columns=list("abcd"))
    forest = sp.RandomForestClassifier(3, max_features="log2").fit(frame, three)
    assert forest.n_features_in_ == 4
    assert forest.feature_names_in_.tolist() == list("abcd")
    assert forest.max_features_ == 2
    np.testing.assert_allclose(forest.feature_importances_.sum(), 1)
    assert len(forest) == len(list(forest)) == 3
    assert repr(forest[1]) == repr(forest.estimators_[1])


def test_copies_predict_the_same(forest, table):
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(forest)).predict(table), forest.predict(table))
    assert clone(forest).get_params() == forest.get_params()


def test_a_forest_works_in_pipelines_and_searches(table, two):
    search = GridSearchCV(sp.RandomForestClassifier(5), {"max_depth": [1, None]}, cv=3).fit(table, two)
    assert search.best_params_ == {"max_depth": None}
    scores = cross_val_score(make_pipeline(StandardScaler(), sp.ExtraTreesClassifier(5)), table, two, cv=3)
    assert scores.mean() > 0.7


def test_a_matrix_of_one_column_is_a_vector_with_a_warning(table, two):
    with pytest.warns(match="A column-vector y was passed") as caught:
        forest = sp.RandomForestClassifier(2).fit(table, two.reshape(-1, 1))
    assert caught[0].filename == __file__
    assert forest.predict(table).shape == (200,)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("size", [2.0**-900, 2.0**-560, 2.0**-400, 2.0**-100, 2.0**100, 2.0**400])
def test_importances_do_not_depend_on_the_size_of_the_target(criterion, size, whole):
    y = np.abs(whole[:, 0]) + 0.1 * np.abs(whole[:, 1])
    plain, scaled = (
        sp.ExtraTreesRegressor(3, criterion=criterion, random_state=0).fit(whole, y * s) for s in (1, size)
    )
    np.testing.assert_allclose(scaled.feature_importances_, plain.feature_importances_, rtol=1e-5)
    np.testing.assert_allclose(scaled.predict(whole), plain.predict(whole) * size)


def test_numbers_of_the_smallest_sizes_are_fitted_without_a_warning(whole):
    y = (whole[:, 0] > 0) * 2.0**-1010
    assert sp.DecisionTreeRegressor().fit(whole, y).predict(whole).tolist() == y.tolist()
    assert sp.DecisionTreeRegressor().fit(whole, y * 2.0**-60).predict(whole).max() <= 2.0**-1070

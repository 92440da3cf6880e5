import numpy as np
import pytest

import spinney as sp
from spinney.errors import DataError, ParameterError


def grown_in_two(kind, X, y, **given):
    forest = kind(3, warm_start=True, **given).fit(X, y)
    return forest.set_params(n_estimators=7).fit(X, y)


@pytest.mark.parametrize(
    "kind", [sp.RandomForestClassifier, sp.ExtraTreesClassifier, sp.RandomForestRegressor]
)
@pytest.mark.parametrize("given", [{}, {"tree_method": "exact"}, {"keep_leaf_rows": True}], ids=str)
def test_more_trees_are_those_of_a_single_fit(kind, given, table, three):
    assert grown_in_two(kind, table, three, **given).model_ == kind(7, **given).fit(table, three).model_


def test_a_forest_that_was_loaded_goes_on(table, three, tmp_path):
    forest = sp.RandomForestClassifier(3, warm_start=True).fit(table, three)
    forest.save(tmp_path / "forest")
    loaded = sp.load_estimator(tmp_path / "forest").set_params(n_estimators=7).fit(table, three)
    assert loaded.model_ == sp.RandomForestClassifier(7).fit(table, three).model_


def test_a_random_state_is_asked_once(table, two):
    forest = grown_in_two(sp.RandomForestClassifier, table, two, random_state=np.random.RandomState(4))
    seed = forest.model_.config.random_state
    assert forest.model_ == sp.RandomForestClassifier(7, random_state=seed).fit(table, two).model_


def test_out_of_bag_scores_are_those_of_all_trees(table, two):
    forest = grown_in_two(sp.RandomForestClassifier, table, two, oob_score=True, max_samples=0.01)
    whole = sp.RandomForestClassifier(7, oob_score=True, max_samples=0.01).fit(table, two)
    assert forest.oob_score_ == whole.oob_score_
    assert len(forest.tree_oob_scores_) == 7


@pytest.mark.parametrize(
    "kind",
    [sp.RandomForestClassifier, sp.RandomForestRegressor, sp.ExtraTreesClassifier, sp.ExtraTreesRegressor],
)
def test_as_many_trees_as_there_are_change_nothing_but_warn(kind, table, two):
    forest = kind(3, warm_start=True).fit(table, two)
    before = forest.model_
    with pytest.warns(UserWarning, match="without increasing n_estimators does not fit new trees") as caught:
        forest.fit(table, two)
    assert caught[0].filename == __file__
    assert forest.model_ == before


def test_balanced_classes_are_warned_of(table, two):
    with pytest.warns(UserWarning, match="not recommended for warm_start") as caught:
        sp.RandomForestClassifier(2, warm_start=True, class_weight="balanced").fit(table, two)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_estimators": 2}, "n_estimators=2 is less than the 3 trees"),
        ({"n_estimators": 5, "max_depth": 3}, "max_depth=3 differs from 0"),
        ({"n_estimators": 5, "random_state": 3}, "random_state=3 differs from 0"),
    ],
)
def test_parameters_with_which_one_fit_would_differ_are_refused_and_leave_the_forest(
    changed, message, table, two
):
    forest = sp.RandomForestClassifier(3, warm_start=True).fit(table, two)
    before = forest.model_
    with pytest.raises(ParameterError, match=message):
        forest.set_params(**changed).fit(table, two)
    assert forest.model_ is before


def test_other_rows_columns_and_labels_are_refused(table, two):
    forest = sp.RandomForestClassifier(3, warm_start=True).fit(table, two).set_params(n_estimators=5)
    with pytest.raises(DataError, match="grew on 200 rows"):
        forest.fit(table[:100], two[:100])
    with pytest.raises(DataError, match="X has 3 features, but RandomForestClassifier is expecting 4"):
        forest.fit(table[:, :3], two)
    with pytest.raises(DataError, match="y holds the label 7"):
        forest.fit(table, np.where(two == 1, 7, 0))


def test_without_warm_start_everything_starts_anew(table, two, three):
    forest = sp.RandomForestClassifier(3).fit(table, two)
    assert forest.fit(table[:100, :2], three[:100]).classes_.tolist() == [0, 1, 2]

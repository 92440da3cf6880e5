"""AdaBoost for classes: scikit-learn's votes, stages, and when boosting ends."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import ensemble
from sklearn.tree import DecisionTreeClassifier

import spinney as sp
from spinney.errors import DataError


def full(table):
    """A table without holes, each column of few values, so that bins and values are the same."""
    return np.nan_to_num(table).round(1)


@pytest.fixture(scope="module")
def twins(table, two, three):
    """Ours and scikit-learn's of the same trees, for two and for three classes."""
    X = full(table)
    found = []
    for y in (two, three):
        ours = sp.AdaBoostClassifier(n_estimators=8, max_depth=2).fit(X, y)
        tree = DecisionTreeClassifier(max_depth=2, random_state=0)
        theirs = ensemble.AdaBoostClassifier(tree, n_estimators=8, random_state=0).fit(X, y)
        found.append((X, y, ours, theirs))
    return found


def test_weights_errors_and_votes_are_scikit_learns(twins):
    for X, _, ours, theirs in twins:
        np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
        np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
        np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-7)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-6)


def test_stages_are_scikit_learns(twins):
    for X, y, ours, theirs in twins:
        for name in ("staged_decision_function", "staged_predict_proba", "staged_predict"):
            mine, other = list(getattr(ours, name)(X)), list(getattr(theirs, name)(X))
            assert len(mine) == len(other) == 8
            for one, two in zip(mine, other, strict=True):
                np.testing.assert_allclose(one, two, atol=1e-9)
        weight = np.arange(len(y)) % 3
        for given in (None, weight):
            scores = list(ours.staged_score(X, y, given))
            np.testing.assert_allclose(scores, list(theirs.staged_score(X, y, given)))
            assert scores[-1] == ours.score(X, y, given)


def test_the_trees_can_be_looked_at_one_by_one(twins):
    X, _, ours, theirs = twins[1]
    assert len(ours) == len(ours.estimators_) == 8
    for mine, other in zip(ours, theirs.estimators_, strict=True):
        np.testing.assert_array_equal(mine.predict(X), other.predict(X))
        np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), atol=1e-9)
        assert mine.get_depth() == other.get_depth()
    assert ours[3].get_n_leaves() == theirs.estimators_[3].get_n_leaves()


def test_a_trees_weight_is_twice_the_alpha_of_its_error(twins):
    for _, y, ours, _ in twins:
        for error, weight in zip(ours.estimator_errors_, ours.estimator_weights_, strict=True):
            assert weight == 2 * sp.adaboost_step(error, len(set(y))).alpha


def test_the_learning_rate_makes_steps_smaller(table, two):
    quick = sp.AdaBoostClassifier(n_estimators=5).fit(table, two)
    slow = sp.AdaBoostClassifier(n_estimators=5, learning_rate=0.5).fit(table, two)
    assert slow.estimator_errors_[0] == quick.estimator_errors_[0]
    assert slow.estimator_weights_[0] == pytest.approx(quick.estimator_weights_[0] / 2)
    theirs = ensemble.AdaBoostClassifier(n_estimators=5, learning_rate=0.5, random_state=0).fit(
        full(table), two
    )
    ours = sp.AdaBoostClassifier(n_estimators=5, learning_rate=0.5).fit(full(table), two)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)


def test_boosting_ends_with_a_tree_that_makes_no_mistake():
    X = np.arange(6.0).reshape(-1, 1)
    boosted = sp.AdaBoostClassifier().fit(X, X[:, 0] > 2)
    assert len(boosted) == 1
    assert boosted.estimator_weights_.tolist() == [1.0]
    assert boosted.estimator_errors_.tolist() == [0.0]
    assert boosted.predict(X).tolist() == [False, False, False, True, True, True]
    assert np.abs(boosted.decision_function(X)).tolist() == [2.0] * 6


def test_a_first_tree_that_is_no_better_than_guessing_is_an_error():
    X, y = np.zeros((6, 2)), [0, 1] * 3
    with pytest.raises(
        DataError, match=r"wrong on 0\.5 of the weight, and guessing among 2 classes is wrong on 0\.5"
    ):
        sp.AdaBoostClassifier().fit(X, y)
    with pytest.raises(DataError, match=r"guessing among 3 classes is wrong on 0\.6667"):
        sp.AdaBoostClassifier().fit(X, [0, 1, 2] * 2)
    # XOR: no stump tells anything.
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    with pytest.raises(DataError, match="trees of max_depth=1 cannot learn it"):
        sp.AdaBoostClassifier().fit(X, X[:, 0] ^ X[:, 1])
    assert sp.AdaBoostClassifier(max_depth=2).fit(X, X[:, 0] ^ X[:, 1]).score(X, X[:, 0] ^ X[:, 1]) == 1


def test_a_later_tree_that_is_no_better_than_guessing_is_dropped_and_boosting_ends():
    # Constant columns: the first tree says the larger class, then both classes weigh the same.
    X, y = np.zeros((9, 1)), [0, 1, 1] * 3
    boosted = sp.AdaBoostClassifier().fit(X, y)
    assert len(boosted) == 1
    assert boosted.estimator_errors_.tolist() == pytest.approx([1 / 3])
    assert boosted.predict(X).tolist() == [1] * 9


def test_with_resampling_boosting_goes_on_after_a_tree_that_guesses():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    boosted = sp.AdaBoostClassifier(n_estimators=60, resample=True).fit(X, y)
    useless = boosted.estimator_weights_ == 0
    assert len(boosted) == 60
    assert useless.any()
    assert not useless[-1] or not useless.all()
    assert (boosted.estimator_errors_[useless] >= 0.5 - 1e-9).all()
    assert (boosted.estimator_errors_[~useless] < 0.5).all()


def test_where_no_drawn_tree_is_better_than_guessing_there_is_an_error():
    with pytest.raises(DataError, match="none of 5 trees on drawn rows is better than guessing"):
        sp.AdaBoostClassifier(n_estimators=5, resample=True).fit(np.zeros((6, 2)), [0, 1] * 3)


def test_drawn_rows_and_weighted_rows_learn_about_the_same(table, three):
    drawn = sp.AdaBoostClassifier(n_estimators=40, max_depth=2, resample=True, random_state=1).fit(
        table, three
    )
    weighted = sp.AdaBoostClassifier(n_estimators=40, max_depth=2).fit(table, three)
    assert abs(drawn.score(table, three) - weighted.score(table, three)) < 0.1
    other = sp.AdaBoostClassifier(n_estimators=40, max_depth=2, resample=True, random_state=2).fit(
        table, three
    )
    assert other.model_ != drawn.model_


def test_labels_are_the_users(table, three):
    names = np.array(["ash", "elm", "oak"])[three]
    boosted = sp.AdaBoostClassifier(n_estimators=5).fit(table, names)
    assert boosted.classes_.tolist() == ["ash", "elm", "oak"]
    assert boosted.n_classes_ == 3
    places = sp.AdaBoostClassifier(n_estimators=5).fit(table, three)
    assert boosted.predict(table).tolist() == np.array(["ash", "elm", "oak"])[places.predict(table)].tolist()


def test_one_class_is_predicted_always():
    boosted = sp.AdaBoostClassifier().fit([[0.0], [1.0]], ["oak", "oak"])
    assert boosted.predict([[3.0]]).tolist() == ["oak"]
    assert boosted.predict_proba([[3.0]]).tolist() == [[1.0]]
    assert boosted.decision_function([[3.0]]).tolist() == [[0.0]]


def test_rows_of_weight_zero_take_no_part(table, two):
    weight = np.where(np.arange(200) % 4 == 0, 0.0, 1.5)
    kept = weight > 0
    whole = sp.AdaBoostClassifier(n_estimators=6).fit(table, two, weight)
    part = sp.AdaBoostClassifier(n_estimators=6).fit(table[kept], two[kept])
    np.testing.assert_allclose(whole.estimator_errors_, part.estimator_errors_)
    np.testing.assert_allclose(whole.decision_function(table), part.decision_function(table), atol=1e-9)


def test_weights_act_as_repeated_rows(table, two):
    weight = 1 + np.arange(200) % 3
    repeated = np.repeat(np.arange(200), weight)
    ours = sp.AdaBoostClassifier(n_estimators=6).fit(full(table), two, weight)
    other = sp.AdaBoostClassifier(n_estimators=6).fit(full(table)[repeated], two[repeated])
    np.testing.assert_allclose(ours.estimator_errors_, other.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.decision_function(table), other.decision_function(table), rtol=1e-7)


@pytest.mark.parametrize("resample", [False, True])
def test_sparse_tables_categories_and_missing_values_are_boosted(resample):
    rng = np.random.default_rng(3)
    wood = rng.choice(["ash", "elm", "oak", "yew"], 300)
    age = np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300))
    y = np.isin(wood, ["elm", "yew"]) ^ np.isnan(age)
    settings = {"n_estimators": 15, "max_depth": 2, "resample": resample}
    frame = pd.DataFrame({"wood": wood, "age": age})
    assert sp.AdaBoostClassifier(**settings).fit(frame, y).score(frame, y) > 0.97
    X = np.where(rng.random((300, 30)) < 0.1, 1.0, 0.0)
    y = X[:, 3] + X[:, 7] + X[:, 11] > 0
    sparse = sp.AdaBoostClassifier(**settings).fit(csr_array(X), y)
    dense = sp.AdaBoostClassifier(**settings).fit(X, y)
    assert sparse.model_ == dense.model_
    np.testing.assert_array_equal(sparse.decision_function(csr_array(X)), dense.decision_function(X))
    assert sparse.score(X, y) > 0.95


@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("depth", [1, 4])
def test_any_number_of_threads_writes_the_same_bytes(depth, resample):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(9000, 25))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=9000), [0.0, 1.5])
    made = [
        sp.AdaBoostClassifier(n_estimators=4, max_depth=depth, resample=resample, n_jobs=n_jobs)
        .fit(X, y)
        .model_
        for n_jobs in (1, 2, 3, 8)
    ]
    assert len({model.to_bytes() for model in made}) == 1


def test_a_progress_bar_is_shown_where_it_is_asked_for(table, two, capsys):
    sp.AdaBoostClassifier(n_estimators=3).fit(table, two)
    assert capsys.readouterr().out == ""
    sp.AdaBoostClassifier(n_estimators=3, verbose=1).fit(table, two)
    assert "boosting" in capsys.readouterr().out

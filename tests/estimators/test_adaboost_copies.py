"""Boosting estimators that are not our trees: scikit-learn's, ours, pipelines."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn import ensemble
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import spinney as sp
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "base", [DecisionTreeClassifier(max_features=2, max_depth=2), LogisticRegression()], ids=str
)
def test_the_same_seed_boosts_the_classifiers_that_scikit_learn_does(base, classes, table, two, three):
    X, y = np.nan_to_num(table), two if classes == 2 else three
    ours = sp.AdaBoostClassifier(base, n_estimators=7, learning_rate=0.8, random_state=3).fit(X, y)
    theirs = ensemble.AdaBoostClassifier(base, n_estimators=7, learning_rate=0.8, random_state=3).fit(X, y)
    count = len(theirs.estimators_)
    assert len(ours) == count
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:count], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:count], rtol=1e-9)
    for name in ("decision_function", "predict_proba", "predict"):
        np.testing.assert_allclose(getattr(ours, name)(X), getattr(theirs, name)(X), atol=1e-9)
    for mine, other in zip(ours.staged_predict_proba(X), theirs.staged_predict_proba(X), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-9)
    assert list(ours.staged_score(X, y)) == list(theirs.staged_score(X, y))


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_the_same_seed_boosts_the_regressors_that_scikit_learn_does(loss, table, numbers):
    X, base = np.nan_to_num(table), DecisionTreeRegressor(max_depth=3)
    ours = sp.AdaBoostRegressor(base, n_estimators=9, loss=loss, random_state=4).fit(X, numbers)
    theirs = ensemble.AdaBoostRegressor(base, n_estimators=9, loss=loss, random_state=4).fit(X, numbers)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


def test_our_own_estimators_and_pipelines_can_be_boosted(table, two):
    ours = sp.AdaBoostClassifier(sp.DecisionTreeClassifier(max_depth=2), n_estimators=5).fit(table, two)
    trees = sp.AdaBoostClassifier(max_depth=2, n_estimators=5).fit(table, two)
    np.testing.assert_allclose(ours.estimator_errors_, trees.estimator_errors_, rtol=1e-6)
    piped = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=1))
    drawn = sp.AdaBoostClassifier(piped, n_estimators=5, resample=True).fit(np.nan_to_num(table), two)
    assert drawn.score(np.nan_to_num(table), two) > 0.7


def test_an_estimator_without_weights_is_refused_unless_rows_are_drawn(table, two):
    X = np.nan_to_num(table)
    with pytest.raises(
        ParameterError, match=r"KNeighborsClassifier doesn't support sample_weight.*give resample=True"
    ):
        sp.AdaBoostClassifier(KNeighborsClassifier()).fit(X, two)
    assert (
        sp.AdaBoostClassifier(KNeighborsClassifier(), n_estimators=3, resample=True).fit(X, two).score(X, two)
        > 0.8
    )


class Duck:
    """It walks like an estimator but cannot be cloned."""

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize("given", [DecisionTreeClassifier, "tree", 3, Duck()])
def test_what_is_no_estimator_is_refused(given, table, two):
    with pytest.raises(ParameterTypeError, match="must be an estimator of scikit-learn's kind"):
        sp.AdaBoostClassifier(given).fit(table, two)


def test_a_first_copy_that_guesses_is_an_error(table, two):
    balanced = np.arange(200) % 2
    with pytest.raises(DataError, match=r"first copy of DummyClassifier is wrong on 0\.5 of the weight"):
        sp.AdaBoostClassifier(DummyClassifier()).fit(table, balanced)
    with pytest.raises(DataError, match="none of 4 copies of DummyClassifier on drawn rows"):
        sp.AdaBoostClassifier(
            DummyClassifier(strategy="constant", constant=0), n_estimators=4, resample=True
        ).fit(table, balanced)


def test_copies_without_importances_have_none(table, numbers):
    boosted = sp.AdaBoostRegressor(LinearRegression(), n_estimators=3).fit(np.nan_to_num(table), numbers)
    assert not hasattr(boosted, "feature_importances_")


def test_a_model_of_copies_cannot_be_saved(table, numbers, tmp_path):
    boosted = sp.AdaBoostRegressor(LinearRegression(), n_estimators=3).fit(np.nan_to_num(table), numbers)
    with pytest.raises(DataTypeError, match="has boosted LinearRegression, which no model file can hold"):
        boosted.save(tmp_path / "file")
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("form", [csr_array, coo_array])
def test_sparse_tables_reach_the_copies(form, table, two):
    X = np.nan_to_num(table)
    sparse = sp.AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=3).fit(form(X), two)
    dense = sp.AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=3).fit(X, two)
    np.testing.assert_array_equal(sparse.predict(X), dense.predict(X))


def test_another_fit_forgets_the_kind_of_the_one_before(table, two):
    X = np.nan_to_num(table)
    boosted = sp.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3).fit(X, two)
    assert not hasattr(boosted, "model_")
    boosted.set_params(estimator=None).fit(X, two)
    assert not hasattr(boosted, "committee_")
    assert boosted.model_.trees == 3


@pytest.mark.parametrize("base", [None, DecisionTreeClassifier(max_depth=1)], ids=str)
def test_boosting_ends_with_a_warning_where_weights_would_be_infinite(base, table, three):
    X = np.column_stack([three, np.nan_to_num(table)])
    given = {"n_estimators": 30, "learning_rate": 23.0, "random_state": 0}
    with pytest.warns(UserWarning, match=r"^Sample weights have reached infinite values: tree 2 ") as caught:
        found = sp.AdaBoostClassifier(base, **given).fit(X, three)
    assert [str(one.filename) for one in caught] == [__file__]
    assert len(found) == 2
    assert np.isfinite(found.predict_proba(X)).all()
    # Nothing comes after the last one that was asked for, so nothing can overflow.
    assert len(sp.AdaBoostClassifier(base, **given | {"n_estimators": 2}).fit(X, three)) == 2


class GivesNothing(DecisionTreeRegressor):
    """An estimator whose fit does not return it."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


@pytest.mark.parametrize("resample", [True, False])
def test_a_fit_may_return_nothing(resample, table, numbers):
    X, given = np.nan_to_num(table), {"n_estimators": 3, "resample": resample, "random_state": 1}
    found = sp.AdaBoostRegressor(GivesNothing(max_depth=2), **given).fit(X, numbers)
    other = sp.AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), **given).fit(X, numbers)
    np.testing.assert_array_equal(found.predict(X), other.predict(X))

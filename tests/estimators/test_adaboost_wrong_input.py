"""Bad parameters, tables and targets: an error that says what is right, before any work."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError

CLASSES = {"kind": sp.AdaBoostClassifier}
NUMBERS = {"kind": sp.AdaBoostRegressor}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (CLASSES | {"n_estimators": 0}, ParameterError, "n_estimators=0 is out of range"),
        (CLASSES | {"n_estimators": 2.5}, ParameterTypeError, "n_estimators=2.5 must be a whole number"),
        (CLASSES | {"learning_rate": 0}, ParameterError, "learning_rate=0 is out of range"),
        (CLASSES | {"learning_rate": np.inf}, ParameterError, "learning_rate=inf"),
        (CLASSES | {"max_depth": -2}, ParameterError, "max_depth=-2 is out of range"),
        (CLASSES | {"resample": "no"}, ParameterTypeError, "resample='no' must be"),
        (CLASSES | {"max_bin": 1}, ParameterError, "max_bin=1 is out of range"),
        (CLASSES | {"random_state": -1}, ParameterError, "random_state=-1 is out of range"),
        (CLASSES | {"verbose": "no"}, ParameterTypeError, "verbose='no'"),
        (CLASSES | {"categorical": "all"}, ParameterTypeError, "categorical='all' must be"),
        (CLASSES | {"absent": "none"}, ParameterError, "must be one of zero, missing"),
        (CLASSES | {"n_jobs": 0}, ParameterError, "n_jobs=0"),
        (NUMBERS | {"loss": "samme"}, ParameterError, "must be one of linear, square, exponential"),
        (NUMBERS | {"loss": "huber"}, ParameterError, "must be one of linear, square, exponential"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named_with_what_is_right(given, error, message, table, two):
    settings = dict(given)
    estimator = settings.pop("kind")(**settings)
    with pytest.raises(error, match=message):
        estimator.fit(table, two)
    assert not hasattr(estimator, "model_")
    assert not hasattr(estimator, "n_features_in_")


@pytest.mark.parametrize("kind", [sp.AdaBoostClassifier, sp.AdaBoostRegressor])
def test_one_output_is_boosted(kind, table, two):
    with pytest.raises(DataError, match=r"y has 2 outputs; AdaBoost.* boosts one"):
        kind().fit(table, np.column_stack([two, two]))


@pytest.mark.parametrize("kind", [sp.AdaBoostClassifier, sp.AdaBoostRegressor])
def test_weights_that_are_all_zero_or_negative_are_refused(kind, table, two):
    with pytest.raises(DataError, match="sample_weight"):
        kind().fit(table, two, np.zeros(200))
    with pytest.raises(DataError, match="sample_weight is negative in row 0"):
        kind().fit(table, two, np.full(200, -1.0))
    with pytest.raises(DataError, match="sample_weight adds up to 2e-298; multiply all weights"):
        kind().fit(table, two, np.full(200, 1e-300))


def test_a_fit_that_fails_leaves_nothing_fitted(table, two):
    boosted = sp.AdaBoostClassifier(n_estimators=2).fit(table, two)
    with pytest.raises(DataError):
        boosted.fit(table, two[:10])
    assert not hasattr(boosted, "model_")
    assert not hasattr(boosted, "estimators_")


def test_other_columns_than_those_of_the_fit_are_refused(table, two):
    boosted = sp.AdaBoostClassifier(n_estimators=2).fit(table, two)
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(DataError, match="expecting 4 features"):
            getattr(boosted, method)(table[:, :3])
    with pytest.raises(DataError, match="expecting 4 features"):
        list(boosted.staged_predict(table[:, :3]))


@pytest.mark.parametrize(
    ("boosted", "estimator", "wanted"),
    [
        (sp.AdaBoostClassifier, LinearRegression(), "classifier"),
        (sp.AdaBoostRegressor, LogisticRegression(), "regressor"),
    ],
)
def test_estimators_that_predict_something_else_are_refused(boosted, estimator, wanted):
    with pytest.raises(ParameterTypeError, match=f"is no {wanted}"):
        boosted(estimator).fit(np.zeros((6, 1)), [0, 1] * 3)


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        (sp.AdaBoostClassifier, "staged_predict"),
        (sp.AdaBoostClassifier, "staged_predict_proba"),
        (sp.AdaBoostClassifier, "staged_decision_function"),
        (sp.AdaBoostRegressor, "staged_predict"),
    ],
)
def test_staged_predictions_are_checked_when_they_are_called(kind, method):
    X = np.random.default_rng(0).normal(size=(40, 3))
    fitted = kind(n_estimators=2).fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(ValueError, match="2 features"):
        getattr(fitted, method)(X[:, :2])
    with pytest.raises(NotFittedError):
        getattr(kind(), method)(X)

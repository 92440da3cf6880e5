"""Bad parameters, tables and targets: an error that says what is right, before any work."""

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError

FOREST = {"kind": sp.RandomForestClassifier}
NUMBERS = {"kind": sp.RandomForestRegressor}
TREE = {"kind": sp.DecisionTreeClassifier}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (FOREST | {"max_features": 0}, ParameterError, "max_features=0 is out of range"),
        (FOREST | {"max_features": 5}, ParameterError, "max_features=5 is more than the 4 columns"),
        (FOREST | {"max_features": "auto"}, ParameterError, "max_features='auto' is unknown"),
        (
            FOREST | {"max_samples": 201, "bootstrap": False},
            ParameterError,
            "max_samples=201 is more than the 200",
        ),
        (FOREST | {"max_samples": 0}, ParameterError, "max_samples=0 is out of range"),
        (FOREST | {"n_estimators": 0}, ParameterError, "n_estimators=0 is out of range"),
        (FOREST | {"n_estimators": 2.5}, ParameterTypeError, "n_estimators=2.5 must be a whole number"),
        (FOREST | {"criterion": "squared_error"}, ParameterError, "must be one of gini, entropy"),
        (NUMBERS | {"criterion": "gini"}, ParameterError, "one of squared_error, absolute_error, poisson"),
        (FOREST | {"min_samples_leaf": 1.0}, ParameterError, "min_samples_leaf=1.0 is out of range"),
        (FOREST | {"min_weight_fraction_leaf": 0.6}, ParameterError, "min_weight_fraction_leaf=0.6"),
        (FOREST | {"warm_start": "no"}, ParameterTypeError, "warm_start='no' must be True or False"),
        (FOREST | {"verbose": "no"}, ParameterTypeError, "verbose='no'"),
        (FOREST | {"random_state": -1}, ParameterError, "random_state=-1 is out of range"),
        (FOREST | {"tree_method": "approx"}, ParameterError, "must be one of hist, exact"),
        (FOREST | {"monotonic_cst": [1, 0]}, ParameterError, "monotonic_cst has 2 values, but there are 4"),
        (FOREST | {"monotonic_cst": {"age": 1}}, ParameterError, "unknown column 'age'"),
        (FOREST | {"monotonic_cst": [1, 0, 0, 2]}, ParameterError, "must be -1, 0 or 1"),
        (FOREST | {"categorical": "all"}, ParameterTypeError, "categorical='all' must be"),
        (TREE | {"splitter": "worst"}, ParameterError, "must be one of best, random"),
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


def test_directions_are_for_one_output_of_two_classes_at_most(table, two, three):
    directions = {"monotonic_cst": [1, 0, 0, 0]}
    with pytest.raises(DataError, match="not supported with multiclass classification"):
        sp.RandomForestClassifier(**directions).fit(table, three)
    with pytest.raises(DataError, match="not supported with multiple outputs"):
        sp.RandomForestRegressor(**directions).fit(table, np.column_stack([two, two]))


def test_a_categorical_column_has_no_direction():
    X = pd.DataFrame({"wood": ["ash", "oak"] * 5, "age": range(10)})
    with pytest.raises(ParameterError, match="direction 1 to column 'wood', which is categorical"):
        sp.RandomForestRegressor(monotonic_cst={"wood": 1}).fit(X, range(10))


@pytest.mark.parametrize("kind", [sp.RandomForestClassifier, sp.RandomForestRegressor])
def test_predictions_follow_their_direction(kind, table, two):
    forest = kind(20, monotonic_cst=[-1, 0, 0, 0]).fit(table, two)
    grid = np.zeros((50, 4))
    grid[:, 0] = np.linspace(-3, 3, 50)
    said = forest.predict_proba(grid)[:, 1] if hasattr(forest, "classes_") else forest.predict(grid)
    assert (np.diff(said) <= 1e-12).all()


@pytest.mark.parametrize("kind", [sp.RandomForestRegressor, sp.DecisionTreeRegressor])
def test_poisson_wants_numbers_of_zero_and_more(kind, table, numbers):
    with pytest.raises(DataError, match="negative which is not allowed for Poisson"):
        kind(criterion="poisson").fit(table, numbers)
    with pytest.raises(DataError, match="Sum of y is not positive"):
        kind(criterion="poisson").fit(table, np.zeros(200))
    assert kind(criterion="poisson").fit(table, np.abs(numbers)).predict(table).min() >= 0


def test_other_columns_than_those_of_the_fit_are_refused(table, two):
    forest = sp.RandomForestClassifier(2).fit(table, two)
    for method in ("predict", "predict_proba", "apply", "decision_path", "predict_uncertainty", "proximity"):
        with pytest.raises(DataError, match="expecting 4 features"):
            getattr(forest, method)(table[:, :3])


def test_another_number_of_outputs_is_refused(table, two, numbers):
    with pytest.raises(DataError, match=r"y has 2 output\(s\); the fitted forest has 1"):
        sp.RandomForestClassifier(2).fit(table, two).diagnose(table, np.column_stack([two, two]))
    with pytest.raises(DataError, match=r"y has 2 output\(s\); the fitted forest has 1"):
        sp.RandomForestRegressor(2).fit(table, numbers).diagnose(table, np.column_stack([two, two]))


def test_a_fit_that_fails_leaves_nothing_fitted(table, two):
    forest = sp.RandomForestClassifier(2).fit(table, two)
    with pytest.raises(DataError):
        forest.fit(table, two[:10])
    assert not hasattr(forest, "model_")
    assert not hasattr(forest, "estimators_")


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (1e200, 1.0, "y holds a number of the size 1e.200, too large for sums of squares.*; divide y"),
        (1e120, 1e80, "with weights that add up to 2e.82; divide y"),
        (1e200, 1e-250, "too large for sums of squares with weights that add up to 2e-248; divide y"),
        (1.0, 1e-300, "sample_weight adds up to 2e-298; multiply all weights"),
    ],
)
def test_sizes_that_leave_no_room_for_sums_are_refused(y, weight, message, table):
    target, weights = np.full(200, y), np.full(200, weight)
    with pytest.raises(DataError, match=message):
        sp.DecisionTreeRegressor().fit(table, target, weights)
    with pytest.raises(DataError, match=message):
        sp.AdaBoostRegressor(n_estimators=2).fit(table, target, weights)

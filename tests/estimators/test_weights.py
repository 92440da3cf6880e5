"""Weights of rows and of classes."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError


def fitted(X, y, weight=None, **params):
    return sp.GBMClassifier(n_estimators=5, **params).fit(X, y, sample_weight=weight).model_


def test_class_weights_are_weights_of_rows(table, three):
    factors = np.array([1.0, 2.5, 0.5])
    model = fitted(table, three, class_weight={0: 1.0, 1: 2.5, 2: 0.5})
    assert model == fitted(table, three, factors[three])


def test_a_label_that_is_not_named_has_factor_one(table, three):
    assert fitted(table, three, class_weight={1: 3}) == fitted(table, three, np.where(three == 1, 3.0, 1.0))


def test_class_weights_are_given_by_label(table, two):
    y = np.where(two == 1, "oak", "ash")
    assert fitted(table, y, class_weight={"oak": 4.0}) == fitted(table, two, class_weight={1: 4.0})


def test_balanced_classes_weigh_the_same(table, three):
    assert fitted(table, three, class_weight="balanced") == fitted(
        table, three, compute_sample_weight("balanced", three)
    )


@pytest.mark.parametrize("target", ["two", "three"])
def test_balanced_counts_the_weights_of_rows_as_scikit_learn_does(target, table, request):
    y = request.getfixturevalue(target)
    weight = np.random.default_rng(1).integers(0, 4, 200).astype(float) / 2
    factors = compute_class_weight("balanced", classes=np.unique(y), y=y, sample_weight=weight)
    assert np.all(factors != compute_class_weight("balanced", classes=np.unique(y), y=y))
    assert fitted(table, y, weight, class_weight="balanced") == fitted(table, y, weight * factors[y])


def test_balanced_of_scikit_learns_histogram_boosting_counts_rows_as_the_docstring_says(table, two):
    weight = np.where(two == 1, 3.0, 1.0)
    theirs = HistGradientBoostingClassifier(max_iter=2, class_weight="balanced").fit(table, two, weight)
    by_rows = HistGradientBoostingClassifier(max_iter=2).fit(
        table, two, weight * compute_sample_weight("balanced", two)
    )
    np.testing.assert_array_equal(theirs.predict_proba(table), by_rows.predict_proba(table))
    said = " ".join(sp.GBMClassifier.__doc__.split())
    assert "scikit-learn's compute_class_weight with its sample_weight" in said
    assert "HistGradientBoostingClassifier counts rows there, not their weights" in said


def test_class_and_row_weights_multiply(table, two):
    weight = np.linspace(0.5, 2, len(two))
    both = fitted(table, two, weight, class_weight={1: 2.0})
    assert both == fitted(table, two, weight * np.where(two == 1, 2.0, 1.0))


def test_balanced_counts_a_weight_of_two_as_two_rows(table, two):
    options = {"class_weight": "balanced", "min_child_samples": 1}
    weight = np.where(np.arange(len(two)) % 3 == 0, 2, 1)
    again = np.repeat(np.arange(len(two)), weight)
    once = sp.GBMClassifier(n_estimators=5, **options).fit(table, two, sample_weight=weight)
    twice = sp.GBMClassifier(n_estimators=5, **options).fit(table[again], two[again])
    np.testing.assert_allclose(once.predict_proba(table), twice.predict_proba(table), rtol=1e-6)


def test_scale_pos_weight_is_the_weight_of_the_second_class(table, two):
    scaled = sp.GBMClassifier(n_estimators=5, scale_pos_weight=3.0).fit(table, two)
    weighed = sp.GBMClassifier(n_estimators=5, class_weight={1: 3.0}).fit(table, two)
    np.testing.assert_array_equal(scaled.predict_proba(table), weighed.predict_proba(table))


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_a_leaf_counts_rows_and_not_their_weights(kind, table, two):
    estimator = kind(n_estimators=1, min_child_samples=101)
    estimator.fit(table, two, sample_weight=np.full(200, 2.0))
    assert estimator.model_.importance("split").sum() == 0
    estimator.fit(np.repeat(table, 2, axis=0), np.repeat(two, 2))
    assert estimator.model_.importance("split").sum() > 0


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_rows_of_weight_zero_are_as_good_as_absent(kind, table, two):
    weight = np.where(np.arange(len(two)) % 4 == 0, 0.0, 1.0)
    kept = weight > 0
    some = kind(n_estimators=5).fit(table[kept], two[kept])
    weighed = kind(n_estimators=5).fit(table, two, sample_weight=weight)
    np.testing.assert_array_equal(weighed.predict(table), some.predict(table))


def test_an_absent_class_may_be_named(table, two):
    assert fitted(table, two, class_weight={0: 1, 1: 2, 2: 3}) == fitted(table, two, class_weight={1: 2})


def test_a_name_without_a_class_beside_a_class_without_a_name_is_a_slip(table, two):
    with pytest.raises(ParameterError, match=r"class_weight names 'oak'.* and not 0; the classes are 0, 1"):
        fitted(table, two, class_weight={"oak": 1, 1: 2})


@pytest.mark.parametrize("value", ["balance", 3, [1, 2]])
def test_another_kind_of_class_weight_is_an_error(value, table, two):
    with pytest.raises(ParameterTypeError, match=r"class_weight=.* must be 'balanced', None, or a dict"):
        fitted(table, two, class_weight=value)


@pytest.mark.parametrize("value", [-1, np.inf, np.nan])
def test_a_class_weight_must_be_finite_and_not_negative(value, table, two):
    with pytest.raises(ParameterError, match=r"class_weight\[1\]=.* must be finite and 0 or more"):
        fitted(table, two, class_weight={1: value})


@pytest.mark.parametrize("value", ["2", None, True])
def test_a_class_weight_must_be_a_number(value, table, two):
    with pytest.raises(ParameterTypeError, match=r"class_weight\[1\]=.* must be a number"):
        fitted(table, two, class_weight={1: value})


def test_a_class_weight_of_zero_leaves_a_class_empty(table, two):
    with pytest.raises(DataError, match="class_weight leaves the class 1 without a row of weight above 0"):
        fitted(table, two, class_weight={1: 0})


def test_row_weights_that_leave_a_class_empty_beside_others_are_an_error_that_names_it(table, three):
    y = np.array(["ash", "elm", "oak"])[three]
    with pytest.raises(
        DataError, match="sample_weight leaves the class 'oak' without a row of weight above 0"
    ):
        fitted(table, y, (three < 2).astype(float))


def test_a_wrong_weight_is_called_by_its_name(table, two):
    with pytest.raises(DataError, match="sample_weight is negative in row 3"):
        fitted(table, two, np.where(np.arange(200) == 3, -1.0, 1.0))

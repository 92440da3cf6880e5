"""Labels of any kind go in and come out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spinney as sp
from spinney.errors import DataError, DataTypeError

LABELS = {
    "strings": np.array(["ash", "oak", "yew"]),
    "objects": np.array(["ash", "oak", "yew"], dtype=object),
    "gaps": np.array([-5, 3, 1000]),
    "small integers": np.array([1, 2, 3], dtype=np.int8),
    "large integers": np.array([0, 2**62, 2**63 + 5], dtype=np.uint64),
    "whole floats": np.array([0.0, 2.0, 9.0]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_three_labels_come_back_with_their_type(kind, table, three):
    labels = LABELS[kind]
    y = labels[three]
    model = sp.GBMClassifier(n_estimators=20, max_leaves=8).fit(table, y)
    predicted = model.predict(table)
    assert predicted.dtype == y.dtype
    assert model.classes_.tolist() == labels.tolist()
    assert model.n_classes_ == 3
    assert np.mean(predicted == y) > 0.9
    assert model.model_.objective == "softmax"


@pytest.mark.parametrize("kind", LABELS)
def test_the_model_does_not_depend_on_what_the_classes_are_called(kind, table, three):
    fit = sp.GBMClassifier(n_estimators=5).fit
    plain = fit(table, three).model_
    assert fit(table, LABELS[kind][three]).model_ == plain


def test_booleans_come_back_as_booleans(table, two):
    model = sp.GBMClassifier(n_estimators=20).fit(table, two.astype(bool))
    assert model.predict(table).dtype == np.bool_
    assert model.classes_.tolist() == [False, True]
    assert model.model_.objective == "log_loss"


def test_lists_of_strings_are_labels(table, two):
    y = ["no" if code == 0 else "yes" for code in two]
    assert set(sp.GBMClassifier(n_estimators=5).fit(table, y).predict(table)) == {"no", "yes"}


@pytest.mark.parametrize(
    "column",
    [
        lambda names: pd.Series(names),
        lambda names: pd.Series(names, dtype="category"),
        lambda names: pd.Series(names, dtype="string"),
        lambda names: pl.Series(names),
        lambda names: pl.Series(names, dtype=pl.Categorical),
    ],
    ids=["pandas", "pandas categories", "pandas strings", "polars", "polars categories"],
)
def test_columns_of_frames_are_labels(column, table, three):
    names = LABELS["strings"][three].tolist()
    model = sp.GBMClassifier(n_estimators=2).fit(table, column(names))
    assert model.classes_.tolist() == ["ash", "oak", "yew"]


def test_probabilities_stand_in_the_order_of_the_classes(table, two):
    model = sp.GBMClassifier(n_estimators=30).fit(table, np.where(two == 1, "ash", "yew"))
    shares = model.predict_proba(table)
    assert shares.shape == (200, 2)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(table))
    np.testing.assert_array_equal(model.decision_function(table) > 0, shares[:, 1] > 0.5)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-15)


def test_probabilities_of_many_classes_are_the_softmax_of_the_scores(table, three):
    model = sp.GBMClassifier(n_estimators=10).fit(table, three)
    scores = model.decision_function(table)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(table), shares, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(table), scores.argmax(axis=1))


def test_numbers_with_a_fraction_are_no_labels(table, numbers):
    with pytest.raises(DataError, match=r"continuous.*use a regressor"):
        sp.GBMClassifier().fit(table, numbers)


def test_labels_of_two_kinds_are_an_error(table):
    with pytest.raises(DataTypeError, match="int, str"):
        sp.GBMClassifier().fit(table, [1, "a"] * 100)

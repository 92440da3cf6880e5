"""Wrong parameters and wrong tables are told apart, and say what is right."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import spinney as sp
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError

X = np.arange(40.0).reshape(20, 2)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"contamination": 0}, ParameterError, "contamination=0 is out of range: it must be > 0 and <= 0.5, auto"),
        ({"contamination": 0.51}, ParameterError, "contamination=0.51 is out of range"),
        ({"contamination": -0.1}, ParameterError, "contamination=-0.1 is out of range"),
        ({"contamination": np.nan}, ParameterError, "contamination=nan must be a finite number"),
        ({"contamination": "some"}, ParameterError, "contamination='some' is unknown"),
        ({"contamination": None}, ParameterTypeError, "contamination=None must be a float"),
        ({"max_samples": 0}, ParameterError, "max_samples=0 is out of range"),
        ({"max_samples": 1.5}, ParameterError, "max_samples=1.5 is out of range"),
        ({"max_samples": "all"}, ParameterError, "max_samples='all' is unknown"),
        ({"max_features": 3}, ParameterError, "max_features=3 is more than the 2 columns of X"),
        ({"max_features": 0.0}, ParameterError, "max_features=0.0 is out of range"),
        ({"n_estimators": 0}, ParameterError, "n_estimators=0 is out of range"),
        ({"bootstrap": "yes"}, ParameterTypeError, "bootstrap='yes' must be True or False"),
        ({"warm_start": 2}, ParameterTypeError, "warm_start=2 must be True or False"),
        ({"verbose": -1}, ParameterError, "verbose=-1 is out of range"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0 is not allowed"),
        ({"random_state": -1}, ParameterError, "random_state=-1 is out of range"),
        ({"categorical": 7}, ParameterTypeError, "categorical=7 must be"),
        ({"categorical": [5]}, ParameterError, "categorical names column 5, but X has columns 0 to 1"),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_named_with_what_is_right(given, kind, message):
    with pytest.raises(kind, match=message):
        sp.IsolationForest(**{"n_estimators": 2} | given).fit(X)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, scipy.sparse.csr_array])
def test_infinite_values_are_refused_with_their_column(make, value):
    bad = X.copy()
    bad[13, 1] = value
    with pytest.raises(DataError, match=r"column .*1.* holds an infinite value"):
        sp.IsolationForest(2, max_samples=2).fit(make(bad))
    forest = sp.IsolationForest(2).fit(make(X))
    with pytest.raises(DataError, match=r"column .*1.* holds an infinite value"):
        forest.score_samples(make(bad))
    with pytest.raises(DataError, match=r"column .*1.* holds an infinite value"):
        forest.explain_path(make(bad))


def test_weights_must_fit_and_some_must_be_above_0():
    with pytest.raises(DataError, match="sample_weight holds only zeros"):
        sp.IsolationForest(2).fit(X, sample_weight=np.zeros(20))
    with pytest.raises(DataError, match="sample_weight"):
        sp.IsolationForest(2).fit(X, sample_weight=np.ones(19))
    with pytest.raises(DataError, match="sample_weight"):
        sp.IsolationForest(2).fit(X, sample_weight=np.full(20, -1.0))


def test_other_columns_than_those_of_the_fit_are_refused():
    forest = sp.IsolationForest(2).fit(X)
    with pytest.raises(DataError, match="X has 1 features, but IsolationForest is expecting 2"):
        forest.predict(X[:, :1])
    with pytest.raises(DataTypeError, match="sparse table cannot have categorical columns"):
        sp.IsolationForest(2, categorical=[0]).fit(scipy.sparse.csr_array(X))


def test_one_row_equal_rows_and_missing_ones_have_defined_scores():
    for table in (X[:1], np.ones((30, 2)), np.full((30, 2), np.nan)):
        forest = sp.IsolationForest(3).fit(table)
        scores = forest.score_samples(np.r_[table, [[1e9, -1e9]]])
        np.testing.assert_allclose(scores, scores[0])
        assert -1 <= scores[0] <= 0
    one = sp.IsolationForest(3, contamination=0.5).fit(X[:1])
    assert (one.offset_, one.max_samples_, one.predict(X[:1]).tolist()) == (-0.5, 1, [1])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"max_samples": 9}, "max_samples=9 differs from 'auto'"),
        ({"random_state": 3}, "random_state=3 differs from 0"),
        ({"n_estimators": 1}, "n_estimators=1 must be larger or equal"),
    ],
)
def test_a_warm_start_refuses_what_a_single_fit_would_not_have_grown(changed, message):
    forest = sp.IsolationForest(2, warm_start=True).fit(X)
    before = forest.model_
    with pytest.raises(ParameterError, match=message):
        forest.set_params(**changed).fit(X)
    assert forest.model_ is before
    with pytest.raises(DataError, match="adds trees on the same rows"):
        sp.IsolationForest(2, warm_start=True).fit(X).fit(X[:10])


def test_a_failed_fit_leaves_nothing_fitted():
    forest = sp.IsolationForest(2).fit(X)
    with pytest.raises(DataError, match="infinite"):
        forest.fit(np.full((3, 2), np.inf))
    assert not hasattr(forest, "model_")
    assert not hasattr(forest, "offset_")


@pytest.mark.parametrize(("heavy", "light"), [(1e307, 1e-308), (1e10, 1e-320)])
def test_rows_that_weigh_next_to_nothing_are_not_drawn(heavy, light):
    X = np.random.default_rng(0).normal(size=(300, 2))
    forest = sp.IsolationForest(5, random_state=0).fit(
        X, sample_weight=np.r_[heavy, heavy, np.full(298, light)]
    )
    assert forest.max_samples_ == 2

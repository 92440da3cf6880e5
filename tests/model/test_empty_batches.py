"""Tables without rows: nothing to predict is no error."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError

FRAME = pd.DataFrame({"a": np.arange(60.0), "b": np.arange(60) % 7})
MIXED = FRAME.assign(c=["x", "y", "z"] * 20)
EMPTY = {
    "array": np.empty((0, 2)),
    "float32": np.empty((0, 2), np.float32, order="F"),
    "whole": np.empty((0, 2), np.int64),
    "object": np.empty((0, 2), object),
    "pandas": FRAME.iloc[:0],
    "other order": FRAME[["b", "a"]].iloc[:0],
    "polars": pl.from_pandas(FRAME)[:0],
    "pyarrow": pa.Table.from_pandas(FRAME)[:0],
    "csr": sparse.csr_array((0, 2)),
    "csc": sparse.csc_array((0, 2)),
    "coo": sparse.coo_array((0, 2)),
}


@pytest.fixture(scope="module")
def regression():
    return sp.train({}, sp.Dataset(FRAME, np.arange(60.0)), 3)


@pytest.fixture(scope="module")
def classes():
    return sp.train({"objective": "softmax", "num_class": 3}, sp.Dataset(FRAME, np.arange(60.0) % 3), 3)


@pytest.mark.parametrize("kind", EMPTY)
def test_a_table_without_rows_gives_an_empty_result(kind, regression, classes):
    X = EMPTY[kind]
    for given, shape in ((regression, (0,)), (classes, (0, 3))):
        for predict in (given.predict, given.predict_raw):
            for more in ({}, {"rounds": 0}, {"n_jobs": 2}, {"base_margin": np.empty(shape)}):
                found = predict(X, **more)
                assert (found.shape, found.dtype) == (shape, np.float64)
        leaves = given.predict_leaf(X, rounds=2)
        assert (leaves.shape, leaves.dtype) == ((0, 2 * given.outputs), np.int32)


@pytest.mark.parametrize(
    "X",
    [
        MIXED.iloc[:0],
        MIXED.astype({"c": "category"}).iloc[:0],
        MIXED.iloc[:0].astype({"c": object}),
        pl.from_pandas(MIXED)[:0],
        pd.DataFrame({"a": [], "b": [], "c": []}),
    ],
)
def test_a_model_with_categories_takes_a_table_without_rows(X):
    model = sp.train({}, sp.Dataset(MIXED, np.arange(60.0)), 2)
    assert model.predict(X).shape == (0,)


def test_the_columns_of_a_table_without_rows_must_fit(regression):
    with pytest.raises(DataError, match="X has 3 features"):
        regression.predict(np.empty((0, 3)))
    with pytest.raises(DataError, match="unseen at fit time"):
        regression.predict(FRAME.iloc[:0].rename(columns={"a": "z"}))
    with pytest.raises(DataError, match="base_margin has 2 values, but X has 0 rows"):
        regression.predict(FRAME.iloc[:0], base_margin=[1.0, 2.0])


@pytest.mark.parametrize(("n_jobs", "error"), [(0, ParameterError), ("two", ParameterTypeError)])
def test_threads_without_meaning_are_refused_without_rows_too(n_jobs, error, regression):
    regressor = sp.GBMRegressor(n_estimators=2).fit(FRAME, np.arange(60.0)).set_params(n_jobs=n_jobs)
    for rows in (FRAME[:0], FRAME[:1], FRAME):
        for predict in (regression.predict, regression.predict_raw, regression.predict_leaf):
            with pytest.raises(error, match="n_jobs"):
                predict(rows, n_jobs=n_jobs)
        for use in (regressor.predict, lambda X: next(regressor.staged_predict(X))):
            with pytest.raises(error, match="n_jobs"):
                use(rows)


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "csr"])
def test_estimators_predict_nothing_for_a_table_without_rows(kind):
    named = kind in ("pandas", "polars")
    X, Z = (FRAME if named else FRAME.to_numpy()), EMPTY[kind]
    regressor = sp.GBMRegressor(n_estimators=2).fit(X, np.arange(60.0))
    assert (regressor.predict(Z).shape, regressor.predict(Z).dtype) == ((0,), np.float64)
    assert [stage.shape for stage in regressor.staged_predict(Z)] == [(0,), (0,)]
    for labels in (np.array(["no", "yes"])[np.arange(60) % 2], np.arange(60) % 3):
        classifier = sp.GBMClassifier(n_estimators=2).fit(X, labels)
        assert classifier.predict(Z).shape == (0,)
        assert classifier.predict(Z).dtype == classifier.classes_.dtype
        assert classifier.predict_proba(Z).shape == (0, len(set(labels)))
        assert [stage.shape for stage in classifier.staged_predict_proba(Z)] == [(0, len(set(labels)))] * 2


def test_training_tables_must_have_rows():
    for X in EMPTY.values():
        with pytest.raises(DataError, match=r"0 sample\(s\)"):
            sp.Dataset(X, [])
    with pytest.raises(DataError, match=r"0 sample\(s\)"):
        sp.GBMRegressor().fit(EMPTY["array"], [])

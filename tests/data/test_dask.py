"""Dask collections are read by `spinney.dask` alone: others name it instead of computing them into memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.data.arrays import ESTIMATORS, is_dask
from spinney.errors import DataTypeError

X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


@dask.delayed
def never(values):
    raise AssertionError("it was computed")


def lazy_array(values):
    return da.from_delayed(never(values), values.shape, values.dtype)


LAZY = lazy_array(X)
LAZY_Y = {
    "array": lazy_array(Y),
    "array of unknown length": da.from_delayed(never(Y), (np.nan,), Y.dtype),
    "series": dd.from_delayed([never(pd.Series(Y))], meta=pd.Series(Y)),
    "delayed": never(Y),
}
TABLES = {
    "array": LAZY,
    "frame": dd.from_delayed([never(FRAME)], meta=FRAME),
    "array of unknown length": da.from_delayed(never(X), (np.nan, 3), X.dtype),
    "delayed": never(X),
    "list": [LAZY, LAZY],
}
KINDS = [
    sp.GBMClassifier, sp.GBMRegressor, sp.GBMRanker, sp.RandomForestClassifier, sp.RandomForestRegressor,
    sp.ExtraTreesClassifier, sp.DecisionTreeRegressor, sp.AdaBoostClassifier, sp.AdaBoostRegressor, sp.IsolationForest,
]  # fmt: skip


def small(kind):
    return kind() if "Tree" in kind.__name__ and "Extra" not in kind.__name__ else kind(n_estimators=2)


def advice(kind):
    name = kind.__name__
    return f"use spinney.dask.{name}, or call" if name in ESTIMATORS else f"spinney.dask has no {name}, so"


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_estimator_names_the_class_to_use(kind, table):
    with pytest.raises(DataTypeError, match=rf"X is a Dask collection \(\w+\): {advice(kind)}"):
        small(kind).fit(table, Y)


@pytest.mark.parametrize("kind", KINDS)
def test_so_does_a_fitted_one(kind):
    fitted = small(kind).fit(X, Y)
    for name in ("predict", "predict_proba", "apply", "score_samples"):
        if hasattr(fitted, name):
            with pytest.raises(DataTypeError, match=rf"X is a Dask collection .*{advice(kind)}"):
                getattr(fitted, name)(LAZY)


@pytest.mark.parametrize("y", LAZY_Y.values(), ids=LAZY_Y)
@pytest.mark.parametrize("kind", KINDS[:-1])
def test_a_target_or_weight_is_refused_too(kind, y):
    with pytest.raises(DataTypeError, match=r"y is a Dask collection .*spinney\.dask has Dataset, train"):
        small(kind).fit(X, y)
    with pytest.raises(DataTypeError, match="sample_weight is a Dask collection"):
        small(kind).fit(X, Y, sample_weight=y)
    with pytest.raises(DataTypeError, match=r"y is a Dask collection .*spinney\.dask"):
        small(kind).fit(X, Y).score(X, y)


@pytest.mark.parametrize("kind", [sp.RandomForestClassifier, sp.AdaBoostRegressor, sp.GBMClassifier])
def test_scores_are_what_scikit_learn_has_for_what_is_in_memory(kind):
    fitted, weight = small(kind).fit(X, Y), np.linspace(0.5, 1, 40)
    predicted = fitted.predict(X)
    error = np.average((predicted - Y) ** 2, weights=weight)
    spread = np.average((Y - np.average(Y, weights=weight)) ** 2, weights=weight)
    expected = 1 - error / (spread if "Regressor" in kind.__name__ else 1)
    assert fitted.score(X, Y, weight) == pytest.approx(expected)
    with pytest.raises(DataTypeError, match="sample_weight is a Dask collection"):
        fitted.score(X, Y, LAZY_Y["array"])


@pytest.mark.parametrize("argument", ["y", "weight", "qid", "base_margin"])
@pytest.mark.parametrize("given", LAZY_Y.values(), ids=LAZY_Y)
def test_a_data_set_names_what_is_for_dask(argument, given):
    with pytest.raises(
        DataTypeError, match=rf"{argument} is a Dask collection .*: spinney\.dask has Dataset"
    ):
        sp.Dataset(X, **{"y": Y, argument: given})


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_functions_and_models_name_it_too(table):
    data = sp.Dataset(X, Y)
    model = sp.train({}, data, 1)
    for call in (
        lambda: sp.Dataset(table),
        lambda: model.predict(table),
        lambda: sp.permutation_importance(model, table, Y, metric="mae"),
        lambda: sp.bias_variance(sp.GBMRegressor(n_estimators=1), table, Y),
    ):
        with pytest.raises(
            DataTypeError, match=r"X is a Dask collection .*: spinney\.dask has Dataset, train"
        ):
            call()
    for call in (
        lambda: sp.train({}, table, 1),
        lambda: sp.cv({}, table, 2),
        lambda: sp.split(table, test=0.5),
    ):
        with pytest.raises(
            DataTypeError, match=r"dataset is a Dask collection .*: spinney\.dask has Dataset"
        ):
            call()
    with pytest.raises(DataTypeError, match="groups is a Dask collection"):
        sp.cv({}, data, 2, groups=LAZY_Y["series"])


def test_validation_rows_of_a_fit_are_named():
    for pair, title in (((LAZY, Y), "X"), ((X, LAZY_Y["series"]), "y")):
        with pytest.raises(DataTypeError, match=rf"eval_set\[0\]: {title} is a Dask collection"):
            small(sp.GBMClassifier).fit(X, Y, eval_set=[pair])


def test_other_tables_are_no_dask_collections():
    assert not any(map(is_dask, (X, X.tolist(), FRAME, FRAME["a"], None, 3, sp.Dataset(X))))

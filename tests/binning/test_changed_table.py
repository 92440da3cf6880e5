"""A table that was changed after its data set was made is noticed before it is read again."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import spinney as sp
from spinney.data.target import ForestTarget
from spinney.errors import DataError
from spinney.params import ForestConfig
from spinney.training.forest import train_forest

ROWS = 60
SAYS = "X of {} has changed its values since the Dataset was made; make the Dataset again, or give it a copy"


def numbers(seed=0):
    return np.random.default_rng(seed).normal(size=(ROWS, 3))


Y = numbers(1)[:, 0]


def frame():
    table = pd.DataFrame(numbers(), columns=["a", "b", "c"])
    table["colour"] = pd.Series(np.arange(ROWS) % 4).map({0: "red", 1: "blue", 2: "green", 3: None})
    return table


def edit_array(X):
    X[17, 1] += 1e-9  # most likely within the same bin


def edit_stored(X):
    X.data[-1] *= 2


def edit_column(X):
    X["a"] = 0.0


def edit_value(X):
    X.iloc[17, 1] += 1e-9


def edit_category(X):
    X.loc[5, "colour"] = "red"


TABLES = {
    "C order": (numbers, edit_array),
    "Fortran order": (lambda: np.asfortranarray(numbers()), edit_array),
    "every second row": (lambda: np.repeat(numbers(), 2, axis=0)[::2], edit_array),
    "float16": (lambda: numbers().astype(np.float16), lambda X: X.__setitem__((3, 2), 1)),
    "int8": (lambda: (numbers() * 9).astype(np.int8), lambda X: X.__setitem__((3, 2), 99)),
    "booleans": (lambda: numbers() > 0, lambda X: np.logical_not(X, out=X)),
    "other bytes": (lambda: numbers().astype(">f8"), edit_array),
    "missing": (numbers, lambda X: X.__setitem__((0, 0), np.nan)),
    "rows in another order": (numbers, lambda X: X.__setitem__(slice(None), X[::-1].copy())),
    "list of lists": (lambda: numbers().tolist(), lambda X: X[0].__setitem__(1, 5.0)),
    "csr": (lambda: sparse.csr_array(np.maximum(numbers(), 0)), edit_stored),
    "csc": (lambda: sparse.csc_matrix(np.maximum(numbers(), 0)), edit_stored),
    "coo": (lambda: sparse.coo_array(np.maximum(numbers(), 0)), edit_stored),
    "pandas, one value": (lambda: frame()[["a", "b", "c"]].copy(), edit_value),
    "pandas": (lambda: frame()[["a", "b", "c"]].copy(), edit_column),
    "polars": (
        lambda: pl.DataFrame(numbers(), schema=["a", "b", "c"]),
        lambda X: X.replace_column(0, pl.Series("a", np.zeros(ROWS))),
    ),
}


@pytest.mark.parametrize("method", ["exact", "approx"])
@pytest.mark.parametrize(("make", "edit"), TABLES.values(), ids=TABLES)
def test_a_training_that_reads_a_changed_table_is_refused(make, edit, method):
    X = make()
    data = sp.Dataset(X, Y)
    params = {"tree_method": method}
    before = sp.train(params, data, 1).to_bytes()
    assert before == sp.train(params, sp.Dataset(make(), Y), 1).to_bytes()
    data = sp.Dataset(X, Y)
    edit(X)
    with pytest.raises(DataError, match=SAYS.format("dataset")):
        sp.train(params, data, 1)
    sp.train({}, data, 1)  # bins are those of the table as it was


def test_a_changed_category_is_noticed():
    X = frame()
    data = sp.Dataset(X, Y)
    edit_category(X)
    with pytest.raises(DataError, match=SAYS.format("dataset")):
        sp.train({"tree_method": "approx"}, data, 1)


def test_a_table_that_changes_between_two_trainings_is_noticed_though_it_was_read_before():
    X = numbers()
    data, params = sp.Dataset(X, Y), {"tree_method": "exact", "subsample": 0.5}
    sp.train(params, data, 2)
    edit_array(X)
    with pytest.raises(DataError, match=SAYS.format("dataset")):
        sp.train(params, data, 2)


@pytest.mark.parametrize("method", ["exact", "approx"])
def test_a_changed_validation_table_is_named(method):
    X = numbers(2)
    data = sp.Dataset(numbers(), Y)
    valid = sp.Dataset(X, Y, reference=data)
    edit_array(X)
    with pytest.raises(DataError, match=SAYS.format(r"valid\['late'\]")):
        sp.train({"tree_method": method}, data, 1, valid={"late": valid})


def test_going_on_from_a_model_notices_a_changed_table():
    X = numbers()
    first, data = sp.train({}, sp.Dataset(numbers(), Y), 2), sp.Dataset(X, Y)
    edit_array(X)
    with pytest.raises(DataError, match=SAYS.format("dataset")):
        sp.train({}, data, 1, init_model=first)


def test_parts_and_folds_notice_a_changed_table():
    X = numbers()
    data = sp.Dataset(X, Y)
    early, late = sp.split(data, test=0.5)
    edit_array(X)
    for method in ("exact", "approx"):
        params = {"tree_method": method}
        with pytest.raises(DataError, match="has changed its values"):
            sp.train(params, early, 1, valid={"late": late})
        with pytest.raises(DataError, match="has changed its values"):
            sp.cv(params, data, 2)


@pytest.mark.parametrize("params", [{"splitter": "random"}, {"tree_method": "exact"}])
def test_a_forest_that_needs_the_table_notices_that_it_changed(params):
    X = numbers()
    data = sp.Dataset(X, Y)
    edit_array(X)
    with pytest.raises(DataError, match=SAYS.format("dataset")):
        train_forest(ForestConfig.parse(params), data.binned, ForestTarget(Y[:, None].copy()), 2)


def test_what_cannot_be_told_apart_is_no_change():
    X = np.zeros((ROWS, 2))
    X[:, 1] = Y
    data = sp.Dataset(X, Y)
    X[:, 0] = -0.0
    sp.train({"tree_method": "exact"}, data, 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_checksum_of_a_large_table_does_not_depend_on_threads(threads):
    X = np.random.default_rng(3).normal(size=(70_000, 2))
    data = sp.Dataset(X, X[:, 0], n_jobs=threads)
    assert data.binned.raw.table().rows == 70_000

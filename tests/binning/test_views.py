"""What exact and approx make of a table is kept with the data set, and let go of with the table."""

import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.binning import ingest, raw_table, views

EXACT = {"tree_method": "exact", "max_leaves": 4, "subsample": 0.5, "n_jobs": 1}
APPROX = {"tree_method": "approx", "max_leaves": 4, "n_jobs": 1}
LOCAL = APPROX | {"proposal": "local"}


def problem(rows=80):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(rows, 3)), 1)
    return X, X[:, 0] + rng.normal(size=rows) * 0.1


def counted(function, calls):
    def called(*given, **named):
        calls.append(function.__name__)
        return function(*given, **named)

    return called


@pytest.fixture
def calls(monkeypatch):
    """How often tables are read, cut, encoded and sorted."""
    found = []
    for module, name in (
        (raw_table, "read_table"),
        (views, "find_cuts"),
        (views, "plan_and_encode"),
        (raw_table, "plan_and_encode"),
        (raw_table, "sort_columns"),
        (ingest, "plan_and_encode"),
    ):
        monkeypatch.setattr(module, name, counted(getattr(module, name), found))
    return found


@pytest.mark.parametrize(
    ("params", "once"),
    [
        (EXACT, ["read_table", "read_table", "sort_columns"]),
        (LOCAL, ["read_table", "read_table", "sort_columns"]),
        (APPROX, ["find_cuts", "plan_and_encode", "plan_and_encode", "read_table", "read_table"]),
    ],
    ids=["exact", "local", "approx"],
)
def test_a_table_is_read_and_cut_or_sorted_once_for_all_trainings(params, once, calls):
    X, y = problem()
    data = sp.Dataset(pd.DataFrame(X), y)
    valid = sp.Dataset(pd.DataFrame(X[:30]), y[:30], reference=data)
    calls.clear()
    first = sp.train(params, data, 2, valid={"valid": valid})
    assert sorted(calls) == once
    assert sp.train(params, data, 2, valid={"valid": valid}) == first
    assert sp.train(params | {"max_leaves": 3}, data, 2).rounds == 2
    assert sorted(calls) == once


def test_validation_rows_are_binned_again_for_another_training_set(calls):
    X, y = problem()
    data = sp.Dataset(X, y)
    heavy = sp.Dataset(X, y, reference=data, weight=np.arange(80.0))
    valid = sp.Dataset(X[:30], y[:30], reference=data)
    found = []
    for one in (data, heavy, data):
        history = sp.History()
        sp.train(APPROX, one, 2, valid={"valid": valid}, callbacks=[history])
        found.append(history.evals)
    assert found[0] == found[2] != found[1]
    alone = sp.History()
    other = sp.Dataset(X[:30], y[:30], reference=data)
    sp.train(APPROX, heavy, 2, valid={"valid": other}, callbacks=[alone])
    assert found[1] == alone.evals


@pytest.mark.parametrize("params", [EXACT, APPROX], ids=["exact", "approx"])
@pytest.mark.parametrize("keep", [False, True])
def test_a_training_on_bins_lets_go_of_the_views_unless_the_table_is_kept(params, keep, calls):
    X, y = problem()
    data = sp.Dataset(X, y, keep_table=keep)
    model = sp.train(params, data, 1)
    made = len(calls)
    sp.train({"max_leaves": 2}, data, 1)
    assert sp.train(params, data, 1) == model
    assert len(calls) == (made if keep else 2 * made - 1)  # the first counts the making of the data set


def test_a_released_data_set_keeps_neither_the_table_nor_what_was_made_of_it():
    X, y = problem()
    data = sp.Dataset(X, y)
    sp.train(EXACT, data, 1)
    seen = weakref.ref(X), weakref.ref(data.binned.raw.sorted_columns(1))
    del X
    sp.train({"max_leaves": 2}, data, 1)
    gc.collect()
    assert [one() for one in seen] == [None, None]


def test_pickles_go_without_what_was_made_of_the_table():
    X, y = problem(5_000)
    data = sp.Dataset(X, y)
    before = len(pickle.dumps(data))
    sp.train(EXACT, data, 1)
    sp.train(APPROX, data, 1)
    assert len(pickle.dumps(data)) == before
    assert data.binned.raw.sorted_columns(1) is data.binned.raw.sorted_columns(2)

"""Columns of few entries get fewer bins where a table has very many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import spinney as sp
from spinney.binning import cuts as cuts_module
from spinney.data import read_table


def entries_one_by_one(X):
    return [sum(1 for value in column if value != 0 and not np.isnan(value)) for column in X.T]


@pytest.fixture
def many(monkeypatch):
    """Tables of a few bins count as tables of very many."""
    monkeypatch.setattr(cuts_module, "MANY_CUTS", 30)


def problem(rows=600, columns=12, density=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((rows, columns)) < density, rng.normal(size=(rows, columns)), 0.0)
    X[:, 0] = rng.normal(size=rows)
    X[:, 1] = 0.0
    X[:, 2] = np.abs(X[:, 2])
    return X, X[:, 0] + 3 * X[:, 2] - X[:, 3]


@given(
    st.lists(st.floats(-100, 100), unique=True, max_size=60).map(sorted),
    st.integers(1, 70),
)
@settings(deadline=None)
def test_some_cuts_are_kept_and_always_those_next_to_zero(cuts, most):
    found = cuts_module.thinned(np.array(cuts), most).tolist()
    assert set(found) <= set(cuts)
    assert found == sorted(found)
    assert len(found) <= most + 1
    if len(cuts) <= most:
        assert found == cuts
    assert [cut for cut in cuts if cut < 0][-1:] == [cut for cut in found if cut < 0][-1:]
    assert [cut for cut in cuts if cut >= 0][:1] == [cut for cut in found if cut >= 0][:1]


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, np.asarray])
def test_entries_are_counted_as_they_are_one_by_one(form):
    X, _ = problem(50)
    X[3, 4], X[:, -1] = np.nan, 0.0
    table = form(X)
    if form is sparse.csr_array:
        table.data[::7] = 0.0
        X = table.toarray()
    assert cuts_module.count_entries(read_table(table)).tolist() == entries_one_by_one(X)


def test_only_columns_of_few_entries_have_fewer_bins(many):
    X, y = problem()
    bins = sp.Dataset(X, y).cuts.bins
    entries = np.array(entries_one_by_one(X))
    assert bins[0] == 255
    assert bins[1] == 1
    assert (bins[2:] <= entries[2:] // cuts_module.ENTRIES_OF_BIN + 2).all()
    assert (bins[2:] >= 4).all()


def test_few_bins_in_all_are_left_alone():
    X, y = problem()
    distinct = [len(np.unique(column)) for column in X.T]
    assert sp.Dataset(X, y).cuts.bins.tolist() == [255, *distinct[1:]]


@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_dense_and_sparse_tables_give_the_same_bytes_on_any_number_of_threads(many, absent):
    X, y = problem(3_000)
    entries = sparse.csr_array(X)
    dense = X if absent == "zero" else np.where(X == 0.0, np.nan, X)
    models = [
        sp.train({"n_jobs": threads}, sp.Dataset(table, y, absent=absent, n_jobs=threads), 5).to_bytes()
        for table in (entries, entries.tocsc().astype(np.float64), dense)
        for threads in (1, 2, 3)
    ]
    assert len(set(models)) == 1


def test_a_column_still_tells_zero_from_the_rest(many):
    X, _ = problem()
    y = (X[:, 5] != 0) * 1.0
    model = sp.train({"learning_rate": 1.0, "reg_lambda": 0.0, "min_child_samples": 1}, sp.Dataset(X, y), 2)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)

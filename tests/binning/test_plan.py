"""A plan is made once; any block of the rows it was made from can be encoded by it."""

import numpy as np
import pytest
from scipy import sparse

import spinney as sp
from spinney.binning.encode import encode
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.data import read_table
from spinney.errors import DataError
from spinney.jit.team import Team

ROWS = 600


def table(seed=0):
    """Numbers with gaps, a column mostly missing, columns mostly zero, and one-hot blocks."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(ROWS, 5))
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    numbers[rng.random(ROWS) < 0.8, 1] = np.nan
    rare = np.where(rng.random((ROWS, 8)) < 0.04, rng.normal(size=(ROWS, 8)), 0.0)
    blocks = [np.eye(levels)[rng.integers(0, levels, ROWS)] for levels in (4, 30)]
    return np.hstack([numbers, rare, *blocks])


def stored(X):
    """The values of a table that are neither 0 nor missing, in a sparse matrix."""
    return sparse.csr_array(np.nan_to_num(X))


def pieces(X, plan, make, threads=1):
    with Team(threads) as team:
        for first, last in ((0, 1), (1, 200), (200, 201), (201, ROWS)):
            yield encode(read_table(make(X[first:last])), plan, team)


def check_pieces(parts, whole):
    parts = list(parts)
    assert np.array_equal(np.vstack([part.by_row for part in parts]), whole.by_row)
    assert np.array_equal(np.hstack([part.by_column for part in parts]), whole.by_column)
    row_codes = np.concatenate([part.sparse.row_codes for part in parts])
    assert np.array_equal(row_codes, whole.sparse.row_codes)
    assert sum(len(part.sparse.column_codes) for part in parts) == len(whole.sparse.column_codes)
    assert {part.by_row.dtype for part in parts} == {whole.by_row.dtype}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, stored])
@pytest.mark.parametrize(
    "given",
    [{}, {"bundle": False}, {"max_bin": 300}, {"max_conflict_rate": 0.05}, {"absent": "missing"}],
    ids=str,
)
def test_blocks_of_rows_have_the_codes_of_the_whole_table(given, make, threads):
    X = table()
    data = sp.Dataset(make(X), **given)
    check_pieces(pieces(X, data.binned.plan, make, threads), data.binned.matrix())


def test_a_plan_of_a_dense_table_encodes_sparse_rows_too():
    X = table()
    data = sp.Dataset(X)
    assert data.describe()["bundles"] > 0
    assert data.describe()["sparse_columns"] > 0
    check_pieces(pieces(X, data.binned.plan, sparse.csr_array), data.binned.matrix())


def test_validation_rows_have_a_plan_of_their_own_without_bundles():
    X = table()
    data = sp.Dataset(sparse.csr_array(X))
    other = sp.Dataset(sparse.csr_array(X[:50]), reference=data)
    assert other.binned.plan.cuts is data.binned.plan.cuts
    groups = other.binned.plan.features.group
    assert len(np.unique(groups[groups >= 0])) == (groups >= 0).sum()
    assert (sp.Dataset(X[:50], reference=data).binned.plan.features.default == NO_DEFAULT).all()


def test_a_missing_value_that_the_plan_has_no_code_for_is_refused_by_name():
    X = table()
    data = sp.Dataset(X, names=[f"c{j}" for j in range(X.shape[1])])
    X[3, 7] = np.nan
    with Team(1) as team, pytest.raises(DataError, match='column "c7" holds a missing value, but the plan'):
        encode(read_table(X[:9], names=list(data.schema.names)), data.binned.plan, team)

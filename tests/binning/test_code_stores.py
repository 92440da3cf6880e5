"""Codes that come block by block."""

import numpy as np
import pytest
import scipy.sparse

import spinney as sp
from spinney.binning.binned import MemoryBlocks
from spinney.binning.encode import encode
from spinney.data import read_table
from spinney.errors import DataError
from spinney.jit.team import Team


def one_hot_and_numbers(rng, rows):
    """A table with lone columns, bundles and sparse columns, with entries in the first rows alone in one."""
    one_hot = scipy.sparse.csr_array(
        (np.ones(rows), (np.arange(rows), rng.integers(0, 20, rows))), shape=(rows, 20)
    )
    loose = scipy.sparse.random_array((rows, 30), density=0.05, rng=rng, format="lil")
    loose[3:, 0] = 0.0
    loose[:3, 0] = 1.5
    dense = scipy.sparse.csr_array(rng.normal(size=(rows, 2)))
    return scipy.sparse.hstack([dense, one_hot, loose.tocsr()], format="csr")


def test_a_block_has_the_codes_that_encoding_its_rows_gives():
    rng = np.random.default_rng(0)
    table = one_hot_and_numbers(rng, 120)
    dataset = sp.Dataset(table, np.zeros(120))
    begins = [0, 1, 50, 120]
    with Team(1) as team:
        for block, matrix in MemoryBlocks.cut(dataset.binned.matrix(), begins).scan():
            own = encode(read_table(table[begins[block] : begins[block + 1]]), dataset.binned.plan, team)
            assert matrix.by_row.tobytes() == own.by_row.tobytes()
            assert matrix.by_column.tobytes() == own.by_column.tobytes()
            for name in ("present", "entries", "axis"):
                assert getattr(matrix.sparse, name) == getattr(own.sparse, name)
            for name in ("row_starts", "row_codes", "starts", "column_rows", "column_codes"):
                assert getattr(matrix.sparse, name).tolist() == getattr(own.sparse, name).tolist()


def test_they_tell_what_the_whole_table_would():
    dataset = sp.Dataset(np.random.default_rng(1).normal(size=(30, 3)))
    blocks, matrix = MemoryBlocks.cut(dataset.binned.matrix(), [0, 9, 30]), dataset.binned.matrix()
    for name in ("rows", "columns", "wide", "from_sparse", "values", "features"):
        assert getattr(blocks, name) == getattr(matrix, name)
    assert blocks.bins.tolist() == matrix.bins.tolist()
    assert matrix.nbytes <= blocks.nbytes <= matrix.nbytes + 100  # row starts of the second block


def test_scans_go_forward_and_backward_in_turn():
    blocks = MemoryBlocks.cut(sp.Dataset(np.arange(5.0)[:, None]).binned.matrix(), [0, 1, 3, 5])
    assert [[block for block, _ in blocks.scan()] for _ in range(3)] == [[0, 1, 2], [2, 1, 0], [0, 1, 2]]


@pytest.mark.parametrize("begins", [[], [0], [1, 5], [0, 4], [0, 3, 3, 5], [0, 4, 2, 5], [[0, 5]]], ids=str)
def test_blocks_that_do_not_make_up_the_table_are_refused(begins):
    matrix = sp.Dataset(np.arange(5.0)[:, None]).binned.matrix()
    with pytest.raises(DataError, match="begins must ascend from 0 to the number of rows, 5, got"):
        MemoryBlocks.cut(matrix, begins)

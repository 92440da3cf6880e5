import numpy as np
import pytest
from scipy import sparse

import oracles
import problems
from spinney.binning.cuts import Cuts, find_cuts
from spinney.binning.encode import plan_and_encode
from spinney.data import read_table
from spinney.errors import DataError
from spinney.jit.team import Team


def binned(X, max_bin=255, threads=1, names=None):
    with Team(threads) as team:
        table = read_table(X, names=names)
        cuts = find_cuts(table, None, max_bin, team)
        return plan_and_encode(table, cuts, team)[1], cuts


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(8))
def test_bins_are_those_of_the_oracle(seed):
    rng = np.random.default_rng(seed)
    X = problems.table(rng, int(rng.integers(1, 60)), int(rng.integers(1, 6)))
    matrix, cuts = binned(X, int(rng.choice([2, 5, 255])))
    for column, its_cuts in enumerate(problems.cuts_by_column(cuts)):
        assert matrix.by_column[column].tolist() == oracles.bins_of(X[:, column], its_cuts).tolist()


@pytest.mark.parametrize("max_bin", [255, 256, 257, 1000])
@pytest.mark.parametrize("distinct", [254, 255, 256, 257, 600])
def test_bins_are_right_where_numbers_outgrow_a_byte(max_bin, distinct):
    rng = np.random.default_rng(distinct)
    X = rng.permutation(np.append(np.arange(float(distinct)), [np.nan] * 3)).reshape(-1, 1)
    matrix, cuts = binned(X, max_bin)
    assert matrix.by_column[0].tolist() == oracles.bins_of(X[:, 0], cuts.values).tolist()
    assert matrix.wide == (min(max_bin, distinct) > 255)


def test_missing_values_still_have_a_number_beside_65_535_bins():
    X = np.append(np.arange(65_600.0), np.nan).reshape(-1, 1)
    matrix, cuts = binned(X, 65_536)
    assert matrix.bins.tolist() == [65_535]
    assert matrix.by_column[0].tolist() == oracles.bins_of(X[:, 0], cuts.values).tolist()
    assert matrix.by_column[0, -1] == 65_535


def test_a_value_equal_to_a_cut_is_below_it_and_its_neighbour_above():
    cuts = Cuts(np.array([-1.0, 0.0, 2.5]), np.array([0, 3]), 255, np.zeros(1, np.uint8))
    values = [-1.0, np.nextafter(-1.0, 0), -0.0, 0.0, 5e-324, 2.5, np.nextafter(2.5, 3), 1e308, -1e308]
    with Team(1) as team:
        _, matrix = plan_and_encode(read_table(np.array(values).reshape(-1, 1)), cuts, team)
    assert matrix.by_column[0].tolist() == [0, 1, 1, 1, 2, 2, 3, 3, 0]


@pytest.mark.kernels
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_values_as_far_apart_or_as_close_as_can_be_are_told_apart(form):
    largest, tiny = np.finfo(np.float64).max, 5e-324
    values = np.array(
        [-largest, -1.0, -2 * tiny, -tiny, 0.0, tiny, 2 * tiny, 1.0, np.nextafter(1.0, 2), largest]
    )
    X = np.concatenate([values, [np.nan, -0.0]]).reshape(-1, 1)
    matrix, _ = binned(form(X))
    assert oracles.bins_of_matrix(matrix)[:, 0].tolist() == [*range(10), 10, 4]
    cuts = Cuts(values, np.array([0, len(values)]), 255, np.zeros(1, np.uint8))
    with Team(1) as team:
        _, matrix = plan_and_encode(read_table(form(X)), cuts, team)
    assert oracles.bins_of_matrix(matrix)[:, 0].tolist() == [*range(10), 11, 4]


@pytest.mark.kernels
@pytest.mark.parametrize("columns", [1, 15, 16, 17, 32, 33, 65])
def test_rows_hold_the_same_bins_as_columns_padded_with_zeros(columns):
    X = np.random.default_rng(0).normal(size=(9, columns))
    matrix, _ = binned(X)
    assert np.array_equal(matrix.by_row[:, :columns], matrix.by_column.T)
    assert not matrix.by_row[:, columns:].any()


@pytest.mark.parametrize(
    ("columns", "max_bin", "stride"),
    [(1, 255, 16), (16, 255, 16), (17, 255, 32), (33, 255, 64), (65, 255, 128), (8, 300, 16), (17, 300, 64)],
)
def test_a_row_of_bins_fills_a_quarter_or_half_of_a_cache_line_or_whole_ones(columns, max_bin, stride):
    X = np.random.default_rng(0).normal(size=(400, columns))
    matrix, _ = binned(X, max_bin)
    assert matrix.stride * matrix.by_row.itemsize == stride
    assert matrix.by_row.ctypes.data % 64 == 0


def test_any_number_of_threads_gives_the_same_bins():
    rng = np.random.default_rng(4)
    X = np.where(rng.random((5000, 7)) < 0.1, np.nan, rng.normal(size=(5000, 7)))
    for max_bin in (255, 300):
        found = {binned(X, max_bin, threads)[0].by_row.tobytes() for threads in (1, 2, 3, 8)}
        assert len(found) == 1


@pytest.mark.kernels
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_infinite_value_is_an_error_that_names_its_column(value, dtype):
    X = np.zeros((5, 3), dtype)
    X[4, 1] = value
    with pytest.raises(DataError, match=r"^column 1 holds an infinite value.*Input X contains infinity"):
        binned(X)
    with pytest.raises(DataError, match=r'^column "height" holds an infinite value'):
        binned(X, names=["age", "height", "weight"])


def test_an_infinite_value_is_found_behind_the_first_chunk_and_by_any_thread():
    X = np.zeros((9000, 3))
    X[8999, 2] = np.inf
    for threads in (1, 3):
        with pytest.raises(DataError, match="column 2 holds an infinite value"):
            binned(X, threads=threads)

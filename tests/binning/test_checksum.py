"""The checksum that tables are compared by, against a naive twin."""

import struct

import numpy as np
import pytest
from scipy import sparse

from spinney.binning.raw_table import Checksum
from spinney.data import read_table

pytestmark = pytest.mark.kernels

ROW, COLUMN = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03
STEPS = ((32, 0x9E3779B8), (29, 0xBF58476C), (32, 0))


def mixed_naively(value, row, column):
    """The 64 bits of a value, mixed with its place."""
    bits = struct.unpack("<Q", struct.pack("<d", 0.0 if value == 0 else value))[0]
    found = (0x7FF8 << 48 if value != value else bits) ^ ((row + 1) * ROW + column * COLUMN) % 2**64
    for shift, factor in STEPS:
        found ^= found >> shift
        found = (found + found % 2**32 * factor) % 2**64
    return found


def summed_naively(table):
    total = sum(
        mixed_naively(float(value), row, column)
        for row, line in enumerate(table)
        for column, value in enumerate(line)
    )
    return (total + 2**63) % 2**64 - 2**63


def value_of(*tables, absent=0.0):
    found = Checksum(absent)
    for table in tables:
        found.add(read_table(table, allow_empty=True))
    return found.value


def table_of(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(rows, columns))
    table[rng.random(table.shape) < 0.2] = np.nan
    table[rng.random(table.shape) < 0.1] = 0.0
    return table


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (7, 3), (40, 5)])
def test_a_checksum_is_the_sum_of_all_values_mixed_with_their_places(rows, columns):
    table = table_of(rows, columns)
    whole = summed_naively(table)
    for form in (table, np.asfortranarray(table), np.repeat(table, 2, axis=0)[::2], table[::-1].copy()[::-1]):
        assert value_of(form) == whole
    assert value_of(table[:3], table[3:]) == whole
    small = table.astype(np.float32)
    assert value_of(small) == value_of(small.astype(np.float64)) == summed_naively(small)
    counts = np.arange(rows * columns).reshape(rows, columns)
    for kind in (np.uint8, np.int64, np.float16, np.longdouble, ">f8"):
        assert value_of(counts.astype(kind)) == summed_naively(counts)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
@pytest.mark.parametrize("absent", [0.0, np.nan])
def test_stored_values_count_unless_they_are_what_an_absent_one_means(dtype, absent):
    table = np.nan_to_num(table_of(9, 4) * 50, nan=0.0).astype(dtype)
    stored = sparse.csr_array(table)
    row, column = (places.tolist() for places in stored.nonzero())
    whole = sum(mixed_naively(float(table[i, j]), i, j) for i, j in zip(row, column, strict=True))
    whole = (whole + 2**63) % 2**64 - 2**63
    assert value_of(stored, absent=absent) == value_of(stored.tocsc(), absent=absent) == whole
    assert value_of(stored[:4], stored[4:], absent=absent) == whole
    zeros = stored.copy()
    zeros.data[2] = 0
    left = stored.copy()
    left[row[2], column[2]] = 0
    left.eliminate_zeros()
    assert (value_of(zeros, absent=absent) == value_of(left, absent=absent)) == (absent == 0)
    if dtype != np.int8:
        gaps = stored.copy()
        gaps.data[2] = np.nan
        assert (value_of(gaps, absent=absent) == value_of(left, absent=absent)) == (absent != 0)


def test_zeros_of_either_sign_and_every_kind_of_nan_are_the_same():
    table = np.array([[0.0, np.nan], [1.0, np.nan]])
    other = np.array([[-0.0, -np.nan], [1.0, np.nan]])
    other.view(np.uint64)[1, 1] |= 77
    assert value_of(table) == value_of(other)
    assert value_of(table) != value_of(np.array([[0.0, np.nan], [-1.0, np.nan]]))


@pytest.mark.parametrize(
    "values", [(-1, 1), (-2, 2), (0, 2), (0, 1), (0, 1, 2, 4), (-1, 0, 1), (0, 255), (-0.5, 2.0**100)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_that_change_sign_or_places_are_noticed(values, dtype):
    rng = np.random.default_rng(len(values))
    for _ in range(20):
        table = rng.choice(np.array(values, dtype), (20, 2))
        other = table.copy()
        one, two = rng.choice(20, 2, replace=False)
        other[[one, two]] = table[[two, one]]
        for changed in (other, -table, table[::-1], table[:, ::-1], rng.permutation(table)):
            same = np.array_equal(changed, table)
            assert (value_of(changed) == value_of(table)) == same

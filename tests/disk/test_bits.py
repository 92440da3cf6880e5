"""Codes packed into as few bits as they need, against a naive twin."""

import numpy as np
import pytest

from spinney.binning.encode import ColumnCodes
from spinney.binning.matrix import ColumnLayout, lines_record
from spinney.disk.kernels.bits import LargestCodes, PackedLines, pack_lines, unpack_lines
from spinney.disk.page import PageLayout
from spinney.errors import DatasetFormatError
from spinney.jit import allocate
from spinney.jit.records import of_thread
from spinney.jit.team import Team

pytestmark = pytest.mark.kernels


def packed_naively(codes, width):
    """All bits of all codes, lowest first, eight to a byte."""
    bits = [code >> bit & 1 for code in codes.tolist() for bit in range(width)]
    bits += [0] * (-len(bits) % 8)
    return [sum(bit << k for k, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8)]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("dtype", "widths"),
    [(np.uint8, [1, 3, 8, 7, 5, 2, 4, 6]), (np.uint16, [16, 9, 8, 1, 12])],
    ids=["bytes", "words"],
)
@pytest.mark.parametrize("rows", [1, 7, 8, 50])
def test_lines_are_packed_bit_by_bit_and_come_back(dtype, widths, rows, threads):
    rng = np.random.default_rng(rows)
    lines = np.stack([rng.integers(0, 1 << width, rows) for width in widths]).astype(dtype)
    naive = [packed_naively(line, width) for line, width in zip(lines, widths, strict=True)]
    starts = np.cumsum([0, *map(len, naive)])
    record = PackedLines(
        len(widths), int(starts[-1]), np.array(widths), starts, np.zeros(int(starts[-1]), np.uint8)
    )
    unseen = np.full(len(widths), -1)
    back, largest = np.zeros_like(lines), allocate(LargestCodes, threads=threads, packed=record, codes=unseen)
    with Team(threads) as team:
        team.run(pack_lines.bind(lines_record(lines), record))
        team.run(unpack_lines.bind(record, lines_record(back), largest))
    assert record.packed.tolist() == [byte for line in naive for byte in line]
    assert np.array_equal(back, lines)
    by_thread = [of_thread(largest, rank).codes for rank in range(threads)]
    assert np.max(by_thread, axis=0).tolist() == lines.max(axis=1).tolist()


def page(codes_of_groups):
    form = PageLayout(ColumnLayout.single_column(np.array(codes_of_groups) - 1), from_sparse=False)
    rng = np.random.default_rng(1)
    groups = np.stack([rng.integers(0, codes, 40) for codes in codes_of_groups]).astype(form.dtype)
    none = np.zeros(0, np.int32)
    codes = ColumnCodes(groups, np.zeros(len(groups) + 1, np.int64), none, none.astype(np.uint16), False)
    return form, codes


def test_a_page_takes_the_bits_that_its_codes_need():
    form, codes = page([2, 5, 256])
    data = form.pack(codes, Team(1))
    assert len(data) == form.size(40, 0) == (40 * 1 + 7) // 8 + (40 * 3 + 7) // 8 + 40
    found = form.unpack(data, 40, 0, np.empty(200, codes.groups.dtype), Team(1))
    assert np.array_equal(found.groups, codes.groups)
    assert not form.in_bytes


@pytest.mark.parametrize("threads", [1, 3])
def test_codes_that_are_written_as_bytes_can_stay_where_they_are(threads):
    form, codes = page([256, 130, 255])
    assert form.in_bytes
    data = form.pack(codes, Team(1))
    with Team(threads) as team:
        found = form.unpack(data, 40, 0, None, team)
        assert np.array_equal(found.groups, codes.groups)
        assert np.shares_memory(found.groups, data)
        data[40 + 17] = 130
        with pytest.raises(DatasetFormatError, match="a code that no bin has"):
            form.unpack(data, 40, 0, None, team)


def test_a_code_that_no_bin_has_is_refused():
    form, codes = page([5, 3])
    data = form.pack(codes, Team(1))
    data[0] |= 0b111
    with pytest.raises(DatasetFormatError, match="a code that no bin has"):
        form.unpack(data, 40, 0, np.empty_like(codes.groups).ravel(), Team(1))

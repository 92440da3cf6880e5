"""Histograms that ranks exchange come back as their sums."""

import numpy as np
import pytest

from spinney.growth.kernels.blockwise import pack_histograms, unpack_histograms
from spinney.growth.kernels.packing import LARGEST, SMALL_BAG, SUM_BLOCK
from spinney.growth.kernels.quantize import set_packing
from spinney.growth.kernels.records import SPARE_SLOTS, Axis, PackedSums, Sums
from spinney.growth.leaf_values import allocate_exchange
from spinney.growth.workspace import allocate_table
from spinney.jit import allocate
from spinney.jit.team import Team

USED, TOTAL = 7, 9


def planes_of(sums):
    """The histograms, without what stands behind the last one."""
    return sums.histograms[: (sums.slots + SPARE_SLOTS) * 3 * TOTAL].reshape(-1, 3, TOTAL)


def sums_of(histograms):
    axis = allocate(Axis, groups=1, columns=1, member_count=1, unit_count=1, total=TOTAL)
    by_thread = allocate(PackedSums, threads=2, size=TOTAL, axis=axis)
    sums = allocate(Sums, threads=1, slots=len(histograms), by_thread=by_thread, axis=axis)
    planes_of(sums)[: len(histograms)] = histograms
    return axis, sums


def exchanged(ranks, counts, threads):
    """The histograms of a rank after all have added the integers of theirs; `counts` are the rows of each over all ranks."""
    nodes = np.arange(len(counts))
    table = allocate_table(len(counts), len(counts))
    table.nodes["count"][:], table.nodes["slot"][:] = counts, nodes[::-1]
    set_packing(max(counts), table.packing.view(np.recarray)[0])
    exchanges = []
    with Team(threads) as team:
        for histograms in ranks:
            axis, sums = sums_of(histograms[::-1])
            exchanges.append(allocate_exchange(nodes, USED, table))
            team.run(pack_histograms.bind(exchanges[-1], axis, sums))
        exchanges[0].cells[:] = np.sum([one.cells for one in exchanges], axis=0)
        team.run(unpack_histograms.bind(exchanges[0], axis, sums))
    return planes_of(sums)[: len(counts)][::-1, :, :USED], exchanges[0]


@pytest.mark.kernels
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_of_the_integers_are_those_of_the_histograms(threads):
    rng = np.random.default_rng(0)
    ranks = np.empty((3, 5, 3, TOTAL), np.int32)
    ranks[:, :, 0] = rng.integers(-300, 300, (3, 5, TOTAL))
    ranks[:, :, 1:] = rng.integers(0, 300, (3, 5, 2, TOTAL))
    found, exchange = exchanged(ranks, [10, SUM_BLOCK + 1, SUM_BLOCK, 50_000, 2], threads)
    np.testing.assert_array_equal(found, ranks.sum(axis=0)[:, :, :USED])
    assert exchange.length == 3 * USED + 2 * (USED + (USED + 1) // 2)


@pytest.mark.kernels
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    ("g", "h", "count"),
    [
        (2**26 - 1, 2**27 - 1, SMALL_BAG),
        (SUM_BLOCK * LARGEST, SUM_BLOCK * LARGEST, SUM_BLOCK),
        (2**31 - 1, 2**31 - 1, 2**31 - 1),
    ],
    ids=["few", "small", "large"],
)
def test_no_field_runs_into_the_next(sign, g, h, count):
    half = np.array([sign * (g // 2), h // 2, count // 2], np.int32)
    ranks = np.broadcast_to(half[None, None, :, None], (2, 1, 3, TOTAL))
    found, _ = exchanged(ranks, [count], 1)
    np.testing.assert_array_equal(found, 2 * ranks[0][:, :, :USED].astype(np.int64))

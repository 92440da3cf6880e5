"""Data sets whose codes come block by block, and the trees that are grown on them."""

from dataclasses import replace

import numpy as np

import problems
from spinney.binning.binned import MemoryBlocks
from spinney.binning.raw_table import NoTable
from spinney.dataset import as_dataset
from spinney.growth.blockwise import BlockGrower
from spinney.jit import barrier
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag


def cuts_into_blocks(rng, rows, most=6):
    """Where some blocks begin, drawn at random, and the number of rows."""
    places = rng.choice(rows - 1, min(int(rng.integers(0, most)), rows - 1), replace=False) + 1
    return [0, *np.sort(places).tolist(), rows]


class FleetingBlocks(MemoryBlocks):
    """Blocks whose memory is overwritten when the scan goes on."""

    def scan(self, team=None, but=()):
        for block, kept in super().scan(team, but):
            arrays = {name: value.copy() for name, value in vars(kept.sparse).items() if np.ndim(value)}
            matrix = replace(
                kept, by_row=kept.by_row.copy(), by_column=kept.by_column.copy(), sparse=replace(kept.sparse, **arrays)
            )  # fmt: skip
            yield block, matrix
            for array in (matrix.by_row, matrix.by_column, *arrays.values()):
                array[...] = 0

    def release(self, block):
        """There is memory for every other block."""
        return block % 2 == 0


def cut_dataset(dataset, begins):
    """A data set cut into blocks, of which nothing but the codes is left."""
    codes = FleetingBlocks.cut(dataset.binned.matrix(), begins)
    return as_dataset(replace(dataset.binned, codes=codes, raw=NoTable("kept block by block")))


def in_blocks(dataset, seed=0, most=6):
    """A data set cut into blocks at random."""
    return cut_dataset(dataset, cuts_into_blocks(np.random.default_rng(seed), dataset.rows, most))


def block_grower(dataset, blocks, pairs, params, team, *, unit=1.0, bag=None, rows=None):
    """A grower of the data set's rows, or of some of them, and the scores that it moves from 0."""
    scores, seen = np.zeros((1, len(pairs))), Bag.of_all(len(pairs))
    if bag is not None:
        seen.rows[: len(bag)], seen.count = bag, len(bag)
    gradients = problems.gradients_record(scores, pairs, unit)
    grower = BlockGrower(blocks, dataset.cuts, Config.parse(params), gradients, seen, team, rows=rows)
    return grower, scores[0]


def block_tree(dataset, begins, pairs, params, *, seed=0, threads=1, delay=0, trees=1, **given):
    """The last of some trees by the kernels that read block by block, the scores that they moved from 0, and the grower."""
    with Team(threads) as team:
        team.sync[barrier.DELAY] = delay
        blocks = FleetingBlocks.cut(dataset.binned.matrix(), begins)
        grower, scores = block_grower(dataset, blocks, pairs, params, team, **given)
        rate = Config.parse(params).learning_rate
        for _ in range(trees):
            tree = problems.grown(grower, seed, rate)
        return tree, scores, grower

"""The grower of each `tree_method`, and how many threads a training is worth.

A grower of `growth/` becomes a `TreeGrower` of a `BinnedData` here: `grow` a tree, `add` it to the scores, `follow` it with the
rows of another data set. `get` chooses by `tree_method`, which is declared in `params/tree_parameters.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.views import FINE_BINS
from spinney.data import Labels, Table
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.errors import DataError, ParameterError
from spinney.growth.grower import AddTree, GrowerInputs, TreeGrower
from spinney.growth.hist import HistGrower, most_threads
from spinney.growth.leaf_values import AllRows
from spinney.jit.team import most_for, threads_for
from spinney.model.predict import Predictor
from spinney.params import Config
from spinney.tree import Tree, concatenate

# Values (rows × columns) from which a training is shared among threads. The fewer the columns, the more rows there are to
# partition for the same number of values, so below SHARE_COLUMNS more values are needed, in proportion; trees of SHARE_LEAVES
# need a third. Time of 20 rounds of 31 and of 255 leaves on one thread / on two: 500 × 50 .86, 1.01; 1 000 × 50 1.21, 1.38;
# 2 000 × 50 1.17, 1.54; 1 000 × 28 .84, .86; 2 000 × 28 .98, 1.51; 5 000 × 28 1.19, 1.73; 5 000 × 10 .85, 1.20; 10 000 × 10 .93,
# 1.40; 20 000 × 10 1.14, 1.26; 20 000 × 4 .90, 1.26; 50 000 × 4 .87, 1.39; 100 000 × 4 1.17, 1.30.
SHARE_VALUES = 50_000
SHARE_COLUMNS = 50
SHARE_LEAVES = 128
# Where columns are sparse, rows decide: however few entries they have, each is partitioned and moved. 200 columns, of which
# 5 %, 2 %, .5 % and .1 % is stored: 5 000 rows 1.04, 1.15, 1.06, .66; 10 000 1.07, 1.36, 1.25, .85; 20 000 1.23, 1.03, 1.09,
# 1.17; 50 000 1.15, 1.49, 1.36, 1.46; 100 000 about 1.55 each.
SHARE_SPARSE_ROWS = 20_000


def check_in_memory(data: BinnedData, what: str) -> None:
    """Refuse a data set whose codes come block by block, for something that needs all of them at once."""
    if data.codes.matrix is None:
        raise DataError(
            f"{what} needs all codes at once, and those of the data set come block by block; make a Dataset of the table in "
            "memory, or boost with tree_method='hist'"
        )


def threads_of(config: Config, data: BinnedData) -> int:
    """Threads that this training is worth."""
    codes = data.codes
    values, sparse = codes.values * data.rows // codes.rows, codes.features.sparse_codes > 0
    work = values * min(max(values // data.rows, 1), SHARE_COLUMNS)
    if config.max_leaves >= SHARE_LEAVES and config.tree_method != "exact":
        work *= 3
    most = most_for(work, SHARE_VALUES * SHARE_COLUMNS)
    if sparse:
        most = max(most, most_for(data.rows, SHARE_SPARSE_ROWS))
    if config.tree_method == "hist":
        most = min(most, most_threads(codes))
    return threads_for(config.n_jobs, most)


# Growers of other kinds than most trainings need are imported where they are made.
if TYPE_CHECKING:
    from spinney.growth.blockwise import BlockGrower


def get(inputs: GrowerInputs) -> TreeGrower:
    """The grower of the configuration's `tree_method`."""
    if inputs.config.tree_method == "hist":
        inputs.data.raw.release()
        return _Hist(inputs)
    if inputs.config.tree_method == "approx" and inputs.config.proposal == "global":
        return _Approx(inputs)
    return _Sorted(inputs)


def check_grower(config: Config, data: BinnedData, valid: Mapping[str, BinnedData]) -> None:
    """Refuse parameters and data sets that the grower of the `tree_method` cannot grow trees with."""
    method = config.tree_method
    if method == "hist":
        return
    if method == "approx":
        candidates_of(config)
    if data.schema.categorical and (method == "exact" or config.proposal == "local"):
        local = "" if method == "exact" else " with proposal='local'"
        other = "'hist'" if method == "exact" else "'hist', or proposal='global'"
        raise ParameterError(
            f"tree_method={method!r}{local} cannot split categorical columns; use tree_method={other}, or give numbers"
        )
    for what, one in {
        "dataset": data,
        **{f"valid[{name!r}]": one for name, one in valid.items()},
    }.items():
        if one.codes.matrix is None:
            raise ParameterError(
                f"tree_method={method!r} needs the table of {what}, of which only codes are kept, block by block; "
                "use tree_method='hist'"
            )


class _Hist:
    """Trees from bins that were chosen once."""

    def __init__(self, inputs: GrowerInputs) -> None:
        self._team, data = inputs.team, inputs.data
        parts = data.cuts, inputs.config, inputs.gradients, inputs.bag, inputs.team, inputs.values
        codes = data.codes
        self._grower: HistGrower | BlockGrower
        if codes.matrix is not None:
            self._grower = HistGrower(codes.matrix, *parts, rows=data.selected)
        else:
            from spinney.growth.blockwise import BlockGrower

            self._grower = BlockGrower(
                codes, *parts, rows=data.selected, communicator=inputs.communicator, first=data.first
            )
        self.grow = self._grower.grow

    def add(self, tree: Tree, by_leaf: LeafRows | None, output: int) -> None:
        self._grower.add(by_leaf)

    def follow(self, data: BinnedData, scores: NDArray[np.float64], name: str) -> AddTree:
        data.raw.release()
        codes = data.codes
        if codes.matrix is None:
            add = self._grower.walk_blocks(codes, scores, data.selected)
            return lambda tree, output: add()
        walk = self._grower.walk(codes.matrix, scores, data.selected)
        return lambda tree, output: self._team.run(walk)


class _Approx:
    """Trees from bins that are chosen for each of them among very many fine ones."""

    def __init__(self, inputs: GrowerInputs) -> None:
        from spinney.growth.approx import ApproxGrower

        self._team, self._fine = inputs.team, inputs.data.raw.fine_bins(inputs.team)
        self._grower = ApproxGrower(
            self._fine.matrix, self._fine.cuts, self._fine.zero, candidates_of(inputs.config), inputs.config,
            inputs.gradients, inputs.bag, inputs.team, inputs.values, inputs.data.selected,
        )  # fmt: skip
        self.grow = self._grower.grow

    def add(self, tree: Tree, by_leaf: LeafRows | None, output: int) -> None:
        self._grower.add(by_leaf)

    def follow(self, data: BinnedData, scores: NDArray[np.float64], name: str) -> AddTree:
        fine = data.raw.fine_bins_like(self._fine, self._team, name)
        walk = self._grower.walk(fine.matrix, scores, data.selected)
        return lambda tree, output: self._team.run(walk)


class _Sorted:
    """Trees from sorted columns. Rows that did not grow a tree walk it by their values, as in a prediction."""

    def __init__(self, inputs: GrowerInputs) -> None:
        from spinney.growth.exact import ExactGrower

        data, config, team = inputs.data, inputs.config, inputs.team
        self._absent = config.absent_value
        table = data.raw.table()
        candidates = 0 if config.tree_method == "exact" else candidates_of(config)
        self._grower = ExactGrower(
            data.raw.sorted_columns(team.size),
            config,
            candidates,
            inputs.gradients,
            inputs.bag,
            team,
            inputs.values,
        )
        self._finisher, self._bag = self._grower.finisher, inputs.bag
        self._walk = self._adder(table, inputs.gradients.scores, team.size)
        self._table, self._threads = table, team.size

    def grow(self, output: int, seed: int, rate: float) -> tuple[Tree, LeafRows | None]:
        by_leaf, all_rows = self._grower.grow(output, seed, rate), self._bag.count is None
        if self._finisher.refits and not all_rows:
            walker = Predictor(concatenate([self._grower.tree()]), self._absent)
            self._finisher.leaf_of_row[:] = walker.leaf_indices(self._table, 1, self._threads)[:, 0]
            self._finisher.refit()
        self._finisher.refit_by_loss()
        return self._grower.tree(), by_leaf if all_rows else None

    def add(self, tree: Tree, by_leaf: LeafRows | None, output: int) -> None:
        if by_leaf is None and not self._finisher.refits:
            self._walk(tree, output)
        else:
            self._finisher.add(by_leaf)

    def follow(self, data: BinnedData, scores: NDArray[np.float64], name: str) -> AddTree:
        return self._adder(data.raw.table(name), scores, self._threads)

    def _adder(self, table: Table, scores: NDArray[np.float64], threads: int) -> AddTree:
        def add(tree: Tree, output: int) -> None:
            walker = Predictor(concatenate([tree]), self._absent)
            scores[output] = walker.raw_scores(scores[output, :, None], table, 1, threads)[:, 0]

        return add


def all_rows(config: Config, labels: Labels, gradients: Gradients) -> AllRows | None:
    """What leaf values are computed from, if not from the rows that a tree sees; gradients as before rows were drawn."""
    if config.leaf_values == "sample" or (config.sampling_method == "uniform" and config.subsample == 1):
        return None
    return AllRows(labels.weighted_rows(), gradients)


def candidates_of(config: Config) -> int:
    """How many cuts of a column tree_method approx tries."""
    found = (
        config.max_bin if config.sketch_eps is None else math.ceil(min(1.0 / config.sketch_eps, FINE_BINS))
    )
    if found < 3:
        raise ParameterError(f"tree_method='approx' needs max_bin of 3 or more, got {found}")
    return min(found, FINE_BINS)

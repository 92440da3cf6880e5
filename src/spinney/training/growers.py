"""The grower of each `tree_method`, which grows trees and adds them to the scores of rows that did not grow them."""

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
from spinney.errors import ParameterError
from spinney.growth.grower import AddTree, GrowerInputs, TreeGrower
from spinney.growth.hist import HistGrower
from spinney.growth.leaf_values import AllRows
from spinney.model.predict import Predictor
from spinney.params import Config
from spinney.tree import Tree, concatenate

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


def check_has_table(config: Config, data: BinnedData, valid: Mapping[str, BinnedData]) -> None:
    """Refuse data sets whose codes come block by block, where the grower needs more than codes."""
    if config.tree_method == "hist":
        return
    for what, one in {
        "dataset": data,
        **{f"valid[{name!r}]": one for name, one in valid.items()},
    }.items():
        if one.codes.matrix is None:
            raise ParameterError(
                f"tree_method={config.tree_method!r} needs the table of {what}, of which only codes are kept, block by block; "
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
        method = config.tree_method
        if data.schema.categorical:
            local = "" if method == "exact" else " with proposal='local'"
            other = "'hist'" if method == "exact" else "'hist', or proposal='global'"
            raise ParameterError(
                f"tree_method={method!r}{local} cannot split categorical columns; use tree_method={other}, or give numbers"
            )
        self._absent = config.absent_value
        table = data.raw.table()
        candidates = 0 if method == "exact" else candidates_of(config)
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

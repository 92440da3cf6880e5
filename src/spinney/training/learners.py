"""The learner behind each `tree_method`: what grows trees, and what moves the scores of rows that did not grow them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.blocks import sort_columns
from spinney.binning.cuts import find_cuts
from spinney.binning.dataset import Dataset
from spinney.binning.matrix import bin_table
from spinney.data import Labels, Table
from spinney.errors import ParameterError
from spinney.growth.approx import ApproxGrower
from spinney.growth.exact import ExactGrower
from spinney.growth.grower import HistGrower
from spinney.growth.refit import AllRows
from spinney.jit.team import Team
from spinney.model.predict import Predictor
from spinney.objectives.kernels.records import Gradients
from spinney.params import Config
from spinney.tree import Tree, concatenate

FINE_BINS = 65_536  # from which tree_method approx chooses

AddTree = Callable[[Tree, int], None]


class Learner(Protocol):
    """Grows trees on one data set."""

    bag: NDArray[np.int32]

    def grow(self, output: int, seed: int, in_bag: int | None) -> Tree:
        """Grow a tree for an output on the first `in_bag` rows of `bag`, None for all rows, and move the scores of all rows."""

    def follow(self, data: Dataset, scores: NDArray[np.float64], what: str) -> AddTree:
        """What adds the latest tree to the scores of other rows, whose data set is called `what` in messages."""


@dataclass(frozen=True, eq=False)
class Setup:
    """What a learner works with."""

    dataset: Dataset
    config: Config  # with columns by position
    weight_unit: float  # the power of two by which weights were divided
    gradients: Gradients
    all_rows: AllRows | None  # what leaf values are computed from, if not from the rows that a tree sees
    team: Team


def get(given: Setup) -> Learner:
    """The learner that the configuration asks for."""
    if given.config.tree_method == "hist":
        given.dataset.release()
        return _Hist(given)
    if given.config.tree_method == "approx" and given.config.proposal == "global":
        return _Approx(given)
    return _Sorted(given)


class _Hist:
    """Trees from bins that were chosen once."""

    def __init__(self, given: Setup) -> None:
        self._team, data = given.team, given.dataset
        self._grower = HistGrower(
            data.matrix, data.cuts, given.config, given.weight_unit, given.gradients, given.team,
            all_rows=given.all_rows,
        )  # fmt: skip
        self.bag = self._grower.bag
        self.grow = self._grower.grow

    def follow(self, data: Dataset, scores: NDArray[np.float64], what: str) -> AddTree:
        data.release()
        walk = self._grower.walk(data.matrix, scores)
        return lambda tree, output: self._team.run(walk)


class _Approx:
    """Trees from bins that are chosen for each of them among very many fine ones."""

    def __init__(self, given: Setup) -> None:
        dataset, config, team = given.dataset, given.config, given.team
        self._team, self._missing = team, config.absent == "missing"
        table = dataset.table()
        self._cuts = find_cuts(
            table,
            dataset.weight,
            FINE_BINS,
            team,
            self._missing,
            dataset.schema.category_counts,
            always_all=True,
        )
        zero = np.where(columns_with_zero(table, self._missing), self._cuts.bins_of_zero(), -1)
        self._grower = ApproxGrower(
            bin_table(table, self._cuts, team, None, self._missing), self._cuts, zero, candidates_of(config), config,
            given.weight_unit, given.gradients, team, given.all_rows,
        )  # fmt: skip
        self.bag = self._grower.bag
        self.grow = self._grower.grow

    def follow(self, data: Dataset, scores: NDArray[np.float64], what: str) -> AddTree:
        walk = self._grower.walk(
            bin_table(data.table(what), self._cuts, self._team, None, self._missing), scores
        )
        return lambda tree, output: self._team.run(walk)


class _Sorted:
    """Trees from sorted columns. Rows that did not grow a tree walk it by their values, as in a prediction."""

    def __init__(self, given: Setup) -> None:
        dataset, config, team = given.dataset, given.config, given.team
        method = config.tree_method
        if dataset.schema.categories is not None:
            local = "" if method == "exact" else " with proposal='local'"
            other = "'hist'" if method == "exact" else "'hist', or proposal='global'"
            raise ParameterError(
                f"tree_method={method!r}{local} cannot split categorical columns; use tree_method={other}, or give numbers"
            )
        self._absent = math.nan if config.absent == "missing" else 0.0
        table = dataset.table()
        blocks = sort_columns(table, team.size, config.absent == "missing")
        candidates = 0 if method == "exact" else candidates_of(config)
        self._grower = ExactGrower(
            blocks, config, candidates, given.weight_unit, given.gradients, team, given.all_rows
        )
        self.bag = self._grower.bag
        self._add = self._adder(table, given.gradients.scores, team.size)
        self._table, self._threads, self._refit = table, team.size, given.all_rows is not None

    def grow(self, output: int, seed: int, in_bag: int | None) -> Tree:
        tree = self._grower.grow(output, seed, in_bag)
        if in_bag is None:
            return tree
        if self._refit:
            walker = Predictor(concatenate([tree]), self._absent)
            self._grower.leaves[:] = walker.leaf_indices(self._table, 1, self._threads)[:, 0]
            return self._grower.refit()
        self._add(tree, output)
        return tree

    def follow(self, data: Dataset, scores: NDArray[np.float64], what: str) -> AddTree:
        return self._adder(data.table(what), scores, self._threads)

    def _adder(self, table: Table, scores: NDArray[np.float64], threads: int) -> AddTree:
        def add(tree: Tree, output: int) -> None:
            walker = Predictor(concatenate([tree]), self._absent)
            scores[output] = walker.raw_scores(scores[output, :, None], table, 1, threads)[:, 0]

        return add


def all_rows(config: Config, labels: Labels, gradients: Gradients) -> AllRows | None:
    """What leaf values are computed from, if not from the rows that a tree sees; gradients as before rows were drawn."""
    if config.leaf_values == "sample" or (config.sampling_method == "uniform" and config.subsample == 1):
        return None
    counted = np.arange(labels.rows) if labels.weight is None else np.flatnonzero(labels.weight)
    return AllRows(counted.astype(np.int32), gradients)


def columns_with_zero(table: Table, absent_missing: bool) -> NDArray[np.bool_]:
    """Which columns of a table have the value 0, stored or not.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> columns_with_zero(read_table(np.array([[0.0, 1.0], [2.0, 3.0]])), False).tolist()
    [True, False]
    """
    if table.sparse is None:
        found = [(panel.values[:, j] == 0).any() for panel in table.panels for j in range(panel.columns)]
        return np.array(found, bool)
    starts, _, values = table.sparse.by_column
    table.sparse.forget()
    zeros = np.concatenate([np.zeros(1, np.int64), np.cumsum(values == 0)])
    has: NDArray[np.bool_] = zeros[starts[1:]] > zeros[starts[:-1]]
    return has if absent_missing else has | (np.diff(starts) < table.rows)


def candidates_of(config: Config) -> int:
    """How many cuts of a column tree_method approx tries."""
    found = (
        config.max_bin if config.sketch_eps is None else math.ceil(min(1.0 / config.sketch_eps, FINE_BINS))
    )
    if found < 3:
        raise ParameterError(f"tree_method='approx' needs max_bin of 3 or more, got {found}")
    return min(found, FINE_BINS)

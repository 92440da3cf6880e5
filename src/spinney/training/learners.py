"""The learner behind each `tree_method`: what grows trees, and what moves the scores of rows that did not grow them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.views import FINE_BINS
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
        self._team, self._fine = given.team, given.dataset.fine(given.team)
        self._grower = ApproxGrower(
            self._fine.matrix, self._fine.cuts, self._fine.zero, candidates_of(given.config), given.config,
            given.weight_unit, given.gradients, given.team, given.all_rows,
        )  # fmt: skip
        self.bag = self._grower.bag
        self.grow = self._grower.grow

    def follow(self, data: Dataset, scores: NDArray[np.float64], what: str) -> AddTree:
        walk = self._grower.walk(data.fine_like(self._fine, self._team, what).matrix, scores)
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
        self._absent = config.absent_value
        table = dataset.table()
        candidates = 0 if method == "exact" else candidates_of(config)
        self._grower = ExactGrower(
            dataset.sorted_columns(team.size), config, candidates, given.weight_unit, given.gradients, team, given.all_rows
        )  # fmt: skip
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


def candidates_of(config: Config) -> int:
    """How many cuts of a column tree_method approx tries."""
    found = (
        config.max_bin if config.sketch_eps is None else math.ceil(min(1.0 / config.sketch_eps, FINE_BINS))
    )
    if found < 3:
        raise ParameterError(f"tree_method='approx' needs max_bin of 3 or more, got {found}")
    return min(found, FINE_BINS)

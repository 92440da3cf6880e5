"""The learner behind each `tree_method`: what grows trees, and what moves the scores of rows that did not grow them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.views import FINE_BINS
from spinney.data import Labels, Table
from spinney.errors import ParameterError
from spinney.growth.grower import HistGrower
from spinney.growth.leaf_values import AllRows, LeafValues
from spinney.jit.team import Team
from spinney.joining import ALONE, Joining
from spinney.model.predict import Predictor
from spinney.objectives.kernels.records import Gradients, LeafRows
from spinney.params import Config
from spinney.sampling import Bag
from spinney.tree import Tree, concatenate

# Growers of other kinds than most trainings need are imported where they are made.
if TYPE_CHECKING:
    from spinney.growth.blockwise import BlockGrower

AddTree = Callable[[Tree, int], None]


class Learner(Protocol):
    """Grows trees on one data set."""

    def grow(self, output: int, seed: int, rate: float) -> tuple[Tree, LeafRows | None]:
        """Grow a tree for an output on the bag's rows, with `rate` as factor on its leaf values.

        Gives the tree, and all rows by leaf, None where the bag is not all of them.
        """

    def add(self, tree: Tree, by_leaf: LeafRows | None, output: int) -> None:
        """Move the scores of all rows by the latest tree. Where their leaves are not known, they walk it."""

    def follow(self, data: Dataset, scores: NDArray[np.float64], what: str) -> AddTree:
        """What adds the latest tree to the scores of other rows, whose data set is called `what` in messages."""


@dataclass(frozen=True, eq=False)
class Setup:
    """What a learner works with."""

    dataset: Dataset
    config: Config  # with columns by position
    gradients: Gradients
    bag: Bag  # the rows that the next tree sees
    values: LeafValues
    team: Team
    joining: Joining = ALONE  # ranks that hold other rows of the table
    first: int = 0  # number of the data set's first row in it


def get(given: Setup) -> Learner:
    """The learner that the configuration asks for."""
    if given.config.tree_method == "hist":
        given.dataset.release()
        return _Hist(given)
    if given.config.tree_method == "approx" and given.config.proposal == "global":
        return _Approx(given)
    return _Sorted(given)


def check_blocks(config: Config, dataset: Dataset, valid: Mapping[str, Dataset]) -> None:
    """Refuse data sets whose codes come block by block, where the learner needs more than codes."""
    if config.tree_method == "hist":
        return
    for what, data in {
        "dataset": dataset,
        **{f"valid[{name!r}]": data for name, data in valid.items()},
    }.items():
        if data.whole.blocks is not None:
            raise ParameterError(
                f"tree_method={config.tree_method!r} needs the table of {what}, of which only codes are kept, block by block; "
                "use tree_method='hist'"
            )


class _Hist:
    """Trees from bins that were chosen once."""

    def __init__(self, given: Setup) -> None:
        self._team, data = given.team, given.dataset
        parts = data.cuts, given.config, given.gradients, given.bag, given.team, given.values
        blocks = data.whole.blocks
        self._grower: HistGrower | BlockGrower
        if blocks is None:
            self._grower = HistGrower(data.whole.matrix, *parts, rows=data.index)
        else:
            from spinney.growth.blockwise import BlockGrower

            self._grower = BlockGrower(
                blocks, *parts, rows=data.index, joining=given.joining, first=given.first
            )
        self.grow = self._grower.grow

    def add(self, tree: Tree, by_leaf: LeafRows | None, output: int) -> None:
        self._grower.add(by_leaf)

    def follow(self, data: Dataset, scores: NDArray[np.float64], what: str) -> AddTree:
        data.release()
        blocks = data.whole.blocks
        if blocks is not None:
            add = self._grower.walk_blocks(blocks, scores, data.index)
            return lambda tree, output: add()
        walk = self._grower.walk(data.whole.matrix, scores, data.index)
        return lambda tree, output: self._team.run(walk)


class _Approx:
    """Trees from bins that are chosen for each of them among very many fine ones."""

    def __init__(self, given: Setup) -> None:
        from spinney.growth.approx import ApproxGrower

        self._team, self._fine = given.team, given.dataset.whole.fine(given.team)
        self._grower = ApproxGrower(
            self._fine.matrix, self._fine.cuts, self._fine.zero, candidates_of(given.config), given.config,
            given.gradients, given.bag, given.team, given.values, given.dataset.index,
        )  # fmt: skip
        self.grow = self._grower.grow

    def add(self, tree: Tree, by_leaf: LeafRows | None, output: int) -> None:
        self._grower.add(by_leaf)

    def follow(self, data: Dataset, scores: NDArray[np.float64], what: str) -> AddTree:
        fine = data.whole.fine_like(self._fine, self._team, what)
        walk = self._grower.walk(fine.matrix, scores, data.index)
        return lambda tree, output: self._team.run(walk)


class _Sorted:
    """Trees from sorted columns. Rows that did not grow a tree walk it by their values, as in a prediction."""

    def __init__(self, given: Setup) -> None:
        from spinney.growth.exact import ExactGrower

        dataset, config, team = given.dataset, given.config, given.team
        method = config.tree_method
        if dataset.schema.categorical:
            local = "" if method == "exact" else " with proposal='local'"
            other = "'hist'" if method == "exact" else "'hist', or proposal='global'"
            raise ParameterError(
                f"tree_method={method!r}{local} cannot split categorical columns; use tree_method={other}, or give numbers"
            )
        self._absent = config.absent_value
        table = dataset.table()
        candidates = 0 if method == "exact" else candidates_of(config)
        self._grower = ExactGrower(
            dataset.sorted_columns(team.size),
            config,
            candidates,
            given.gradients,
            given.bag,
            team,
            given.values,
        )
        self._finish, self._bag = self._grower.finish, given.bag
        self._walk = self._adder(table, given.gradients.scores, team.size)
        self._table, self._threads = table, team.size

    def grow(self, output: int, seed: int, rate: float) -> tuple[Tree, LeafRows | None]:
        by_leaf, all_rows = self._grower.grow(output, seed, rate), self._bag.count is None
        if self._finish.refits and not all_rows:
            walker = Predictor(concatenate([self._grower.tree()]), self._absent)
            self._finish.leaves[:] = walker.leaf_indices(self._table, 1, self._threads)[:, 0]
            self._finish.refit()
        self._finish.renew()
        return self._grower.tree(), by_leaf if all_rows else None

    def add(self, tree: Tree, by_leaf: LeafRows | None, output: int) -> None:
        if by_leaf is None and not self._finish.refits:
            self._walk(tree, output)
        else:
            self._finish.add(by_leaf)

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
    return AllRows(labels.weighing(), gradients)


def candidates_of(config: Config) -> int:
    """How many cuts of a column tree_method approx tries."""
    found = (
        config.max_bin if config.sketch_eps is None else math.ceil(min(1.0 / config.sketch_eps, FINE_BINS))
    )
    if found < 3:
        raise ParameterError(f"tree_method='approx' needs max_bin of 3 or more, got {found}")
    return min(found, FINE_BINS)

"""The histogram learner: memory for growing trees on one data set, and one call per tree."""

from __future__ import annotations

import math
import sys
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.matrix import BinnedMatrix
from spinney.growth import layout
from spinney.growth.axis import Axis
from spinney.growth.column_rules import ColumnRules
from spinney.growth.gather import Gathered
from spinney.growth.packing import PLANES
from spinney.growth.refit import AllRows, Grown, refit
from spinney.growth.tree_kernels import grow_tree
from spinney.growth.turn_kernels import AHEAD
from spinney.growth.walk_kernels import BATCH, ROOM, add_tree
from spinney.jit import Bound
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling.columns import draw_columns
from spinney.tree import Sets, Tree

# Bytes of histograms kept so that a sibling can be found by subtraction. Beyond it both children are summed from their
# rows: the same tree, more slowly.
KEPT_HISTOGRAMS = 512 * 2**20
# Of a sparse table no more than its codes take, less what its cuts take, or this: training should not take much more memory than
# the table.
KEPT_FOR_SPARSE = 8 * 2**20
CUT = 8  # bytes
OF_THREAD = 20  # bytes that a thread has for each code: a cell and three sums


class Thresholds(Protocol):
    """What the bins of a matrix stand for."""

    @property
    def categorical(self) -> NDArray[np.uint8]:
        """1 for columns of categories."""

    def threshold(self, columns: NDArray[Any], bins: NDArray[Any]) -> NDArray[np.float64]:
        """Real values behind splits "bin <= b" of some columns."""


class HistGrower:
    """Grows trees on binned rows.

    Parameters
    ----------
    matrix, cuts
        The training rows.
    config : Config
        Parameters of a tree.
    weight_unit : float
        Power of two by which the weights were divided; penalties are divided by it too, gains multiplied.
    scores : float64[outputs, rows]
        Moved by each tree's leaf values.
    pairs, stats
        Gradients and their statistics, rewritten by the objective before each tree.
    team : Team
        The threads to grow with.
    prune : bool
        Whether gamma prunes the finished tree from below, instead of holding back its growth.
    everyone : AllRows, optional
        What leaf values are computed from. Without it, from the rows that a tree sees.
    """

    def __init__(
        self,
        matrix: BinnedMatrix,
        cuts: Thresholds,
        config: Config,
        weight_unit: float,
        scores: NDArray[np.float64],
        pairs: NDArray[np.float32],
        stats: NDArray[np.float64],
        team: Team,
        prune: bool = False,
        everyone: AllRows | None = None,
    ) -> None:
        self._matrix, self._cuts, self._team, self._unit = matrix, cuts, team, weight_unit
        self._columns = ColumnRules(config, matrix.columns)
        self._column_count = self._columns.drawn(config.colsample_bytree, matrix.columns)
        self._axis = Axis(matrix.features, matrix.wide)
        self.bag = np.empty(matrix.rows, np.int32)
        self.control = np.zeros(layout.CONTROLS, np.int64)
        self._limits = limits_of(config, matrix.rows, self._columns, self._column_count)
        kept = KEPT_HISTOGRAMS
        if matrix.from_sparse:
            kept = min(kept, max(matrix.nbytes - CUT * self._axis.total, KEPT_FOR_SPARSE))
        # Beside the slots there are two histograms, and for each thread cells and a share, which take about as much as two more.
        slots = kept // (PLANES * 4 * max(self._axis.total, 1)) - 2 - 2 * team.size
        most = int(self._limits[layout.MAX_LEAVES])
        ahead = self._most_ahead(most)
        self._limits[layout.MOST_AHEAD] = ahead
        self._limits[layout.SLOTS] = max(1, min(most + ahead, slots))
        self._gathered = Gathered(matrix, config)
        self._rules, self._least = rules_of(config, weight_unit), np.zeros(1)
        if prune:
            self._least[0], self._rules[layout.GAMMA] = self._rules[layout.GAMMA], 0.0
        max_nodes = 2 * (most + ahead)
        self.tree = tree_arrays(max_nodes)
        # Bits for every category of the column that has most of them.
        self._words = -(-int((matrix.bins * cuts.categorical).max()) // 64)
        self._sets = np.zeros(max_nodes * self._words, np.int64)
        grown = Grown.room(self.control, self._limits, self._rules, self.tree)
        self._job = self._bind(scores, pairs, stats, max_nodes, grown)
        threads = team.size
        self._walk_room = (
            np.empty(2 * threads * max_nodes, np.int64), np.empty(2 * threads * max_nodes, np.int64),
            np.empty(threads * 2 * BATCH, np.uint16), np.empty(threads * ROOM, np.int64), np.empty(threads * ROOM, np.int64),
        )  # fmt: skip
        leaves = np.empty(0 if everyone is None else matrix.rows, np.int32)
        self._after = [self.walk(matrix, scores, leaves=leaves)]
        if everyone is not None:
            self._after.append(refit(everyone, grown, leaves, scores, team))

    def _most_ahead(self, leaves: int) -> int:
        """How many leaves may be split before their turn.

        None where the number of a node, or its path, says which columns are searched.
        """
        size = self._team.size
        free = self._limits[layout.NODE_COLUMNS] == 0 and self._columns.groups == 0
        return min(AHEAD * size, leaves) if size > 1 and free else 0

    def grow(self, output: int, seed: int, in_bag: int | None) -> Tree:
        """Grow one tree for an output and add it to the scores.

        `in_bag` is the number of rows at the front of `bag` that the tree may see, None for all rows.
        """
        control, matrix = self.control, self._matrix
        control[layout.CLASS], control[layout.SEED] = output, seed
        control[layout.IN_BAG] = matrix.rows if in_bag is None else in_bag
        control[layout.ALL_ROWS] = in_bag is None
        if self._column_count < matrix.columns:
            self._axis.use(draw_columns(matrix.columns, self._column_count, seed, self._columns.weights))
        self._team.run(self._job)
        if in_bag is not None:
            for job in self._after:
                self._team.run(job)
        return self._copy_tree(int(control[layout.NODES]))

    def walk(
        self,
        matrix: BinnedMatrix,
        scores: NDArray[np.float64],
        cut_bin: NDArray[np.int32] | None = None,
        leaves: NDArray[np.int32] | None = None,
    ) -> Bound:
        """A job that adds the latest tree to the scores of binned rows; `cut_bin` is for rows with bins of their own.

        With room in `leaves` their leaves are noted instead.
        """
        _, _, by_column8, by_column16 = matrix.split8()
        tree, features, stored, threads = self.tree, matrix.features, matrix.stored, self._team.size
        max_nodes = len(tree["value"])
        if leaves is None:
            leaves = np.empty(0, np.int32)
        return add_tree.bind(
            matrix.rows, matrix.columns, matrix.groups, len(scores), int(matrix.wide), int(len(stored.row_starts) > 0),
            len(stored.row_codes), self._words, max_nodes, threads, int(len(leaves) > 0), by_column8, by_column16,
            stored.row_starts, stored.row_codes, features.group, features.low, features.codes, features.bins, features.default,
            self._cuts.categorical, self._sets, self.control,
            tree["feature"], tree["cut_bin"] if cut_bin is None else cut_bin, tree["left"], tree["default_left"], tree["value"],
            tree["count"], *self._walk_room, leaves, scores,
        )  # fmt: skip

    def _copy_tree(self, nodes: int) -> Tree:
        parts = {name: array[:nodes].copy() for name, array in self.tree.items()}
        cut_bin = parts.pop("cut_bin")
        inner = parts["feature"] >= 0
        threshold = np.zeros(nodes)
        threshold[inner] = self._cuts.threshold(parts["feature"][inner], cut_bin[inner])
        sets = self._copy_sets(parts["feature"], threshold)
        with np.errstate(over="ignore"):
            parts["gain"] *= self._unit
            parts["cover"] *= self._unit
        return Tree(threshold=threshold, **parts, sets=sets)

    def _copy_sets(self, feature: NDArray[np.int32], threshold: NDArray[np.float64]) -> Sets:
        """The sets of the latest tree, each with as many words as its column needs; their thresholds become 0."""
        if not self._words:
            return Sets.none()
        node = np.flatnonzero((feature >= 0) & (self._cuts.categorical[feature] != 0))
        threshold[node] = 0.0
        lengths = -(-self._matrix.bins[feature[node]] // 64)
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        words = self._sets.reshape(-1, self._words)
        bits = [words[n, :length] for n, length in zip(node, lengths, strict=True)]
        return Sets(node, start, np.concatenate([np.zeros(0, np.int64), *bits]))

    def _bind(
        self,
        scores: NDArray[np.float64],
        pairs: NDArray[np.float32],
        stats: NDArray[np.float64],
        max_nodes: int,
        grown: Grown,
    ) -> Bound:
        matrix, axis, threads = self._matrix, self._axis, self._team.size
        features, stored, total = matrix.features, matrix.stored, axis.total
        width, slots = axis.width, int(self._limits[layout.SLOTS])
        sparse = int(len(stored.row_starts) > 0)
        sides = 1 + max(int(features.group_codes.max(initial=0)), int(features.codes.max()))

        def whole(size: int) -> NDArray[np.int64]:
            return np.zeros(size, np.int64)

        return grow_tree.bind(
            matrix.rows, matrix.columns, matrix.groups, len(scores), threads, matrix.stride, total, axis.cells, width,
            int(matrix.wide), sparse, len(stored.rows), features.sparse_codes, sides, len(features.members),
            len(features.units), self._words, max_nodes, slots, self._gathered.room, stats.shape[1], *self._columns.sizes,
            *matrix.split8(), matrix.by_row.view(np.int64),
            stored.row_starts, stored.row_codes, stored.starts, stored.rows, stored.codes,
            features.group, features.low, features.codes, features.bins, features.default, features.group_codes,
            self._cuts.categorical, features.members, axis.groups, axis.starts, axis.group_units, axis.unit_costs, axis.columns,
            axis.allowed, axis.low, axis.units, axis.extent, *self._columns.arrays,
            self.bag, pairs, stats, self.control, self._limits, self._rules, self._least, scores,
            *self._gathered.arrays,
            np.empty(matrix.rows, np.int64), np.empty(matrix.rows, np.int64), whole(2 * threads * max_nodes),
            np.zeros(threads * sides, np.uint8), np.empty(matrix.rows * sparse, np.uint16),
            whole(len(features.units) + 1), whole(threads + 1),
            whole(threads * axis.cells), np.zeros(threads * PLANES * total, np.int32),
            np.empty((slots + 2) * PLANES * total, np.int32), np.zeros((slots + 2) * len(features.units), np.uint8),
            np.empty(threads * (PLANES + 1) * width, np.int32), np.empty(threads * width, np.float64),
            grown.nodes, grown.gains, whole(max_nodes), whole(slots), grown.shared, whole(layout.TASK_WIDTH * threads),
            np.zeros(layout.SCALES), whole(8 * threads),
            whole(2 * threads * layout.FOUND_WIDTH), np.zeros(2 * threads),
            whole(threads * matrix.columns), np.zeros(2 * threads * matrix.columns, np.uint8),
            np.zeros(matrix.columns, np.uint8), self._columns.keys(threads),
            whole(2 * threads * self._words), self._sets,
            *self.tree.values(),
        )  # fmt: skip


def most_threads(matrix: BinnedMatrix) -> int:
    """How many threads may grow trees on a sparse table, so that what each of them sums takes no more memory than its codes.

    Any number may on a dense one.
    """
    if not matrix.from_sparse:
        return sys.maxsize
    codes = int(matrix.features.group_codes.sum()) + matrix.features.sparse_codes
    return max(1, max(matrix.nbytes, 2 * KEPT_FOR_SPARSE) // (OF_THREAD * max(codes, 1)))


def tree_arrays(max_nodes: int) -> dict[str, NDArray[Any]]:
    """Memory for one tree, as kernels write it."""
    return {
        "feature": np.empty(max_nodes, np.int32),
        "cut_bin": np.empty(max_nodes, np.int32),
        "left": np.empty(max_nodes, np.int32),
        "default_left": np.empty(max_nodes, np.uint8),
        "value": np.empty(max_nodes, np.float64),
        "gain": np.empty(max_nodes, np.float64),
        "cover": np.empty(max_nodes, np.float64),
        "count": np.empty(max_nodes, np.int64),
    }


def limits_of(config: Config, rows: int, rules: ColumnRules, column_count: int) -> NDArray[np.int64]:
    """The whole numbers that kernels go by."""
    limits = np.zeros(layout.LIMITS, np.int64)
    min_count = max(1, min(config.min_child_samples, rows + 1))
    most = max(2, rows // min_count)
    leaves = min(config.max_leaves or most, most)
    if 0 < config.max_depth < 31:
        leaves = min(leaves, 2**config.max_depth)
    limits[layout.MAX_LEAVES] = leaves
    limits[layout.MAX_DEPTH] = config.max_depth
    limits[layout.MIN_COUNT] = min_count
    limits[layout.DEPTHWISE] = config.grow_policy == "depthwise"
    limits[layout.SLOTS] = 1
    by_level = rules.drawn(config.colsample_bylevel, column_count)
    by_node = rules.drawn(config.colsample_bynode, by_level)
    limits[layout.BOUNDED] = rules.bounded
    limits[layout.ONE_HOT] = config.max_cat_to_onehot
    limits[layout.MOST_TAKEN] = config.max_cat_threshold
    limits[layout.MIN_GROUP] = config.min_data_per_group
    limits[layout.MIN_CATEGORY] = max(1, math.ceil(min(config.cat_smooth, 2.0**62)))
    limits[layout.LEVEL_COLUMNS] = by_level if by_level < column_count else 0
    limits[layout.NODE_COLUMNS] = by_node if by_node < by_level else 0
    return limits


def rules_of(config: Config, weight_unit: float) -> NDArray[np.float64]:
    """The real numbers that kernels go by."""
    rules = np.zeros(layout.RULES)
    rules[layout.REG_LAMBDA] = config.reg_lambda / weight_unit
    rules[layout.REG_ALPHA] = config.reg_alpha / weight_unit
    rules[layout.GAMMA] = config.gamma / weight_unit
    rules[layout.MIN_HESSIAN] = config.min_child_weight / weight_unit
    rules[layout.MAX_STEP] = config.max_delta_step
    rules[layout.CAT_SMOOTH] = config.cat_smooth / weight_unit
    rules[layout.CAT_L2] = config.cat_l2 / weight_unit
    rules[layout.LEARNING_RATE] = config.learning_rate
    return rules

"""`IsolationModel`, the model that training an isolation forest gives; shallow trees are walked as heaps (`HeapWalker`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from reprlib import repr as short_repr
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.data.schema import check_schema
from spinney.data.table import whole_rows
from spinney.errors import ModelFormatError, ParameterError
from spinney.jit import allocate
from spinney.jit.team import Team, most_for, threads_for
from spinney.model import header
from spinney.model.base import EnsembleView, SavedModel
from spinney.model.file import ArrayGroup, Arrays, FileFormat, attributes, one_dtype, set_arrays, take_sets
from spinney.model.header import COLUMNS, Count, Real
from spinney.model.kernels.heaps import (
    LARGEST,
    HeapBatch,
    Heaps,
    Parents,
    explain_leaves,
    score_paths,
    sum_heaps,
)
from spinney.model.kernels.records import LANES
from spinney.model.predict import (
    SHARE_WALKS,
    Predictor,
    dense_values,
    flags_of,
    no_flags,
    refuse_infinite,
    rows_per_call,
)
from spinney.params import IsolationConfig
from spinney.tree import Forest, Tree
from spinney.tree.forest import FOREST_DTYPES
from spinney.tree.isolation import (
    ISOLATION_ARRAYS,
    average_path_length,
    check_isolation,
    depth_limit,
    isolation_forest,
    saved_depths,
    with_path_lengths,
)

MOST_LEVELS = 10
MOST_USED = 256
# Numbers in the lines of a batch, which with a tree then stay in the nearest cache.
LINE_NUMBERS = 3072


class HeapWalker:
    """A forest as heaps.

    Parameters
    ----------
    forest : Forest
        Trees without categorical splits, of at most `MOST_LEVELS` levels; see `fits`.
    """

    def __init__(self, forest: Forest, levels: int) -> None:
        used = _used(forest)
        size = 2**levels
        shape = forest.trees, size
        key = np.full(shape, LARGEST, np.int64)
        place, twin = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        value = np.zeros(shape)
        tree, node = np.arange(forest.trees), forest.start[:-1]
        heap = np.ones(forest.trees, np.int64)
        for level in range(levels + 1):
            inner = forest.feature[node] >= 0
            leaf = ~inner
            value[tree[leaf], (heap[leaf] << (levels - level)) - size] = forest.value[node[leaf]]
            tree, node, heap = tree[inner], node[inner], heap[inner]
            column = np.searchsorted(used, forest.feature[node]).astype(np.int32)
            key[tree, heap] = _order_keys(forest.threshold[node])
            place[tree, heap] = LANES * column
            twin[tree, heap] = LANES * (2 * column + 1 - forest.default_left[node])
            below = forest.start[tree] + forest.left[node]
            tree, node = np.concatenate([tree, tree]), np.concatenate([below, below + 1])
            heap = np.concatenate([2 * heap, 2 * heap + 1])
        self._heaps = Heaps(
            forest.trees, levels, size, len(used), used, key.ravel(), place.ravel(), twin.ravel(), value.ravel()
        )  # fmt: skip

    @staticmethod
    def fits(forest: Forest, levels: int) -> bool:
        """Whether a forest of so many levels can be laid out."""
        return levels <= MOST_LEVELS and not len(forest.sets.node) and 0 < len(_used(forest)) <= MOST_USED

    def sums(self, table: Table, team: Team) -> NDArray[np.float64]:
        """The sum of the trees' values for every row of a dense table; one that holds an infinite value is refused."""
        heaps = self._heaps
        sums = np.empty(table.rows)
        batch = max(LINE_NUMBERS // heaps.used // LANES, 1) * LANES
        lines = allocate(HeapBatch, threads=team.size, rows=batch, heaps=heaps)
        seen = no_flags(team.size)
        most = rows_per_call(heaps.trees * heaps.levels + table.columns, team.size)
        for first, block in whole_rows(table):
            for begin in range(0, len(block), most):
                part = block[begin : begin + most]
                out = sums[first + begin : first + begin + len(part)]
                team.run(sum_heaps.bind(dense_values(part), heaps, lines, out, seen))
                refuse_infinite(table, flags_of(team, seen) != 0)
        return sums


def _used(forest: Forest) -> NDArray[np.int32]:
    """Columns that some split uses."""
    return np.unique(forest.feature[forest.feature >= 0])


def _order_keys(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers in the order of the values; -0 has that of 0."""
    bits = (values + 0.0).view(np.int64)
    keys: NDArray[np.int64] = bits ^ ((bits >> 63) & LARGEST)
    return keys


LN_2 = 0.6931471805599453
FEW_ROWS = 8  # below which heaps are not laid out
SHARE_HEAP_WALKS = 200_000  # walks (rows × trees) from which heaps are shared among threads
EXPLAINED = 2**22  # walks (rows × trees) whose leaves are kept at a time


@dataclass(frozen=True, eq=False, repr=False)
class IsolationModel(SavedModel):
    """A trained isolation forest; it never changes, and one that exists is sound.

    Two models are equal (`==`) when their files would hold the same bytes. A model is pickled as those bytes.

    Parameters
    ----------
    forest : Forest
        Its trees; their values follow from the numbers of rows.
    config : IsolationConfig
        The parameters it was trained with.
    schema : Schema
        The columns of the training table.
    rows, rows_per_tree : int
        Rows of the training table, and how many of them each tree saw.
    offset : float, default=-0.5
        A row whose score is below it is called abnormal.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.append(np.linspace(0, 1, 100), 9.0).reshape(-1, 1)
    >>> model = sp.IsolationForest(50).fit(X).model_
    >>> model
    IsolationModel(trees=50, rows_per_tree=101, n_features=1)
    >>> model.predict([[0.5], [9.0]]).tolist()
    [1, -1]
    """

    forest: Forest
    config: IsolationConfig
    schema: Schema
    rows: int
    rows_per_tree: int
    offset: float = -0.5

    FILE: ClassVar[FileFormat]

    def __post_init__(self) -> None:
        for name, found in (("rows", self.rows), ("rows_per_tree", self.rows_per_tree)):
            if type(found) is not int or not 1 <= found < 2**53:
                raise ModelFormatError(f"{name} must be a whole number from 1, not {short_repr(found)}")
        if self.rows_per_tree > self.rows:
            raise ModelFormatError(
                f"a tree cannot have seen {self.rows_per_tree} rows of a table of {self.rows}"
            )
        if type(self.offset) is not float or not (math.isfinite(self.offset) and -1.0 <= self.offset <= 0.0):
            raise ModelFormatError(f"offset must be a number from -1 to 0, not {short_repr(self.offset)}")
        check_schema(self.schema)
        check_isolation(self.forest, self.schema.columns, self.rows_per_tree, self.schema.category_counts)
        try:
            self.config.columns_per_tree(self.schema.columns)
        except ParameterError as error:
            raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
        # What was checked must stay as it was: kernels walk these arrays without looking.
        sound = with_path_lengths(self.forest, self.rows_per_tree).read_only()
        object.__setattr__(self, "forest", sound)

    @property
    def trees(self) -> int:
        """Number of trees."""
        return self.forest.trees

    def tree(self, t: int) -> Tree:
        """Tree t, from 0. A node's value is its depth and the average path length of its rows."""
        return self.forest.tree(t)

    def _view(self) -> EnsembleView:
        """The trees with the lengths of paths in their leaves; the mean is that of `path_lengths`."""
        return EnsembleView(self.forest, self.tree, np.zeros(1), total=self.trees)

    def path_lengths(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Mean length of the paths that isolate each row.

        A path down one tree is as long as its leaf is deep; where several rows of the tree share the leaf, as many steps are
        added as would isolate one of them on average (`average_path_length`).

        Parameters
        ----------
        X : table
            NumPy array, pandas, Polars or Arrow table, or SciPy sparse matrix, with the columns of the training table. It
            may have no rows.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.

        Returns
        -------
        float64 array of shape (rows,)
        """
        return self.lengths_of(self.read(X), n_jobs)

    def lengths_of(self, table: Table, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Mean lengths of paths for a table that `read` gave."""
        heaps = self._heaps if table.sparse is None and table.rows >= FEW_ROWS else None
        if heaps is None:
            sums = self._predictor.raw_scores(np.zeros(1), table, self.trees, n_jobs).reshape(-1)
        else:
            with Team(threads_for(n_jobs, most_for(table.rows * self.trees, SHARE_HEAP_WALKS))) as team:
                sums = heaps.sums(table, team)
        sums /= self.trees
        return sums

    def score_samples(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Score each row: -2**(-mean path length / c(rows of a tree)), between -1 and 0; the lower, the more abnormal.

        The parameters are those of `path_lengths`. A forest whose trees saw one row gives -0.5 to every row.
        """
        return self.scores_of(self.read(X), n_jobs)

    def scores_of(self, table: Table, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Scores for a table that `read` gave."""
        expected = float(average_path_length(self.rows_per_tree))
        lengths = self.lengths_of(table, n_jobs)
        if expected == 0.0:
            return np.full(len(lengths), -0.5)
        score_paths(len(lengths), LN_2 / expected, lengths)
        return lengths

    def decision_function(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Score each row, less the offset: below 0 it is called abnormal. The parameters are those of `path_lengths`."""
        return self.score_samples(X, n_jobs) - self.offset

    def predict(self, X: object, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Call each row normal (1) or abnormal (-1). The parameters are those of `path_lengths`."""
        return np.where(self.decision_function(X, n_jobs) < 0.0, -1, 1)

    def explain_path(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """How many steps each column saved on a row's paths; the parameters are those of `path_lengths`.

        A split of a node of n rows that leaves m of them beside the row saves c(n) - 1 - c(m): the steps that were to go, on
        average, less the one taken and those that are still to go. The column of the split gets it; what the columns got is
        averaged over the trees. A column that makes a row stand out saves many steps, one that does not may
        cost some.

        Returns
        -------
        float64 array of shape (rows, n_features)
            A row's numbers sum up to c(rows of a tree) less its mean path length, so its score is
            -2**(sum / c(rows of a tree) - 1).
        """
        return self.shares_of(self.read(X), n_jobs)

    def shares_of(self, table: Table, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Steps saved by column for a table that `read` gave."""
        if table.sparse is not None:
            table = replace(table, sparse=table.sparse.csr)
        shares = np.zeros((table.rows, self.n_features))
        step = max(1, EXPLAINED // self.trees)
        with Team(threads_for(n_jobs, most_for(table.rows * self.trees, SHARE_WALKS))) as team:
            for first in range(0, table.rows, step):
                last = min(first + step, table.rows)
                part = table.between(first, last)
                leaves = self._predictor.leaf_indices(part, self.trees, n_jobs)
                team.run(
                    explain_leaves.bind(
                        last - first, self._parents, leaves.ravel(), shares[first:last].ravel()
                    )
                )
        return shares

    def to_json(self) -> str:
        """Write the model for people: JSON with its header and its trees as nested nodes, one line a node.

        A leaf has the length of its path. A split of categories lists those that go left.
        """
        return self._json(self.FILE.describe(self), (self.tree(t) for t in range(self.trees)))

    def __repr__(self) -> str:
        return (
            f"IsolationModel(trees={self.trees}, rows_per_tree={self.rows_per_tree}, "
            f"n_features={self.n_features})"
        )

    @cached_property
    def _heaps(self) -> HeapWalker | None:
        """The trees as heaps, which are walked fastest; None where they cannot be laid out so."""
        levels = depth_limit(self.rows_per_tree)
        return HeapWalker(self.forest, levels) if HeapWalker.fits(self.forest, levels) else None

    @cached_property
    def _predictor(self) -> Predictor:
        return Predictor(self.forest, self.absent)

    @cached_property
    def _parents(self) -> Parents:
        forest = self.forest
        parent, saved = saved_depths(forest)
        return Parents(
            forest.trees, forest.nodes, self.n_features, forest.start, parent, forest.feature, saved
        )


def _build(fields: dict[str, Any], arrays: dict[str, Arrays]) -> IsolationModel:
    forest = isolation_forest(**arrays["trees"], sets=take_sets(arrays))
    return IsolationModel(
        forest, fields["params"], fields["schema"], fields["rows"], fields["rows_per_tree"], fields["offset"]
    )


IsolationModel.FILE = FileFormat(
    number=header.WITH_KIND,
    kind="isolation",
    config=IsolationConfig,
    parameters_of=attrgetter("config"),
    fields=(Count("rows"), Count("rows_per_tree"), Real("offset"), COLUMNS),
    arrays=(
        ArrayGroup(
            "trees",
            one_dtype({name: FOREST_DTYPES[name] for name in ISOLATION_ARRAYS}),
            lambda model: attributes(model.forest, dict.fromkeys(ISOLATION_ARRAYS)),
        ),
        set_arrays(),
    ),
    build=_build,
)

"""The model that training an isolation forest gives."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.jit.team import Team, most_for, threads_for
from spinney.model import isolation_header
from spinney.model.base import SavedModel
from spinney.model.heaps import HeapWalker
from spinney.model.isolation_parts import IsolationParts
from spinney.model.kernels.heaps import Parents, explain_leaves, score_paths
from spinney.model.predict import SHARE_WALKS, Predictor
from spinney.params import IsolationConfig
from spinney.tree import Forest, Tree
from spinney.tree.isolation import average_path_length, depth_limit, saved_depths

LN_2 = 0.6931471805599453
FEW_ROWS = 8  # below which heaps are not laid out
SHARE_HEAP_WALKS = 200_000  # walks (rows × trees) from which heaps are shared among threads
EXPLAINED = 2**22  # walks (rows × trees) whose leaves are kept at a time


class IsolationModel(SavedModel):
    """A trained isolation forest; it never changes.

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

    _parts: IsolationParts

    def __init__(
        self,
        forest: Forest,
        config: IsolationConfig,
        schema: Schema,
        rows: int,
        rows_per_tree: int,
        offset: float = -0.5,
    ) -> None:
        self._parts = IsolationParts(forest, config, schema, rows, rows_per_tree, offset)

    @classmethod
    def _kind(cls) -> type[IsolationParts]:
        return IsolationParts

    @property
    def forest(self) -> Forest:
        """Its trees; their arrays cannot be written to."""
        return self._parts.forest

    @property
    def config(self) -> IsolationConfig:
        """The parameters it was trained with."""
        return self._parts.params

    @property
    def rows(self) -> int:
        """Number of rows of the training table."""
        return self._parts.rows

    @property
    def rows_per_tree(self) -> int:
        """Number of rows that each tree saw."""
        return self._parts.rows_per_tree

    @property
    def offset(self) -> float:
        """A row whose score is below it is called abnormal."""
        return self._parts.offset

    @property
    def trees(self) -> int:
        """Number of trees."""
        return self.forest.trees

    def tree(self, t: int) -> Tree:
        """Tree t, from 0. A node's value is its depth and the average path length of its rows."""
        return self.forest.tree(t)

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
        """Tell how many steps each column saved on a row's paths; the parameters are those of `path_lengths`.

        A split of a node of n rows that leaves m of them beside the row saves c(n) - 1 - c(m): the steps that were to go, on
        average, less the one taken and those that are still to go. The column of the split gets it; what the columns got is
        averaged over the trees. A column that makes a row stand out saves many steps, one that says nothing about it may
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
        return self._json(isolation_header.describe(self._parts), (self.tree(t) for t in range(self.trees)))

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

"""The model that AdaBoost gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.jit import allocate
from spinney.jit.team import Team, most_for, threads_for
from spinney.model import adaboost_header
from spinney.model.adaboost_parts import AdaBoostParts
from spinney.model.compact_model import CompactModel
from spinney.model.forest_predict import ForestPredictor
from spinney.model.kernels.medians import MedianScratch, VotingTrees, find_medians
from spinney.objectives.base import logistic, softmax
from spinney.params import AdaBoostConfig
from spinney.tree import CompactForest

# Leaves to look up (rows × trees) from which medians are shared among threads.
SHARE_LEAVES = 50_000
CELLS = 2**22  # leaf numbers that are held at a time


class AdaBoostModel(CompactModel):
    """Trees that were boosted by weights; it never changes.

    Trees of classes vote with their weights; of the numbers that trees of numbers say, the median by these weights is taken.
    Two models are equal (`==`) when their files would hold the same bytes. A model is pickled as those bytes.

    Parameters
    ----------
    forest : CompactForest
        Its trees.
    config : AdaBoostConfig
        The parameters it was trained with.
    schema : Schema
        The columns of the training table.
    classes : tuple of int
        Number of classes, as a tuple of one number; empty where numbers are predicted.
    rows : int
        Number of rows of the training table.
    tree_weights, tree_errors : float64[trees]
        Weight of each tree, and its weighted error, or mean loss, on the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> model = sp.AdaBoostClassifier(n_estimators=3).fit(X, (X[:, 0] > 0.3) & (X[:, 0] < 0.7)).model_
    >>> model
    AdaBoostModel(trees=3, classes=2, n_features=1)
    >>> model.predict([[0.5], [0.9]]).argmax(axis=1).tolist()
    [1, 0]
    """

    _parts: AdaBoostParts

    def __init__(
        self,
        forest: CompactForest,
        config: AdaBoostConfig,
        schema: Schema,
        classes: tuple[int, ...],
        rows: int,
        tree_weights: NDArray[np.float64],
        tree_errors: NDArray[np.float64],
    ) -> None:
        self._parts = AdaBoostParts(forest, config, schema, classes, rows, tree_weights, tree_errors)

    @classmethod
    def _kind(cls) -> type[AdaBoostParts]:
        return AdaBoostParts

    @property
    def forest(self) -> CompactForest:
        """Its trees; their arrays cannot be written to."""
        return self._parts.forest

    @property
    def config(self) -> AdaBoostConfig:
        """The parameters it was trained with."""
        return self._parts.params

    @property
    def classes(self) -> tuple[int, ...]:
        """Number of classes, as a tuple of one number; empty where numbers are predicted."""
        return self._parts.classes

    @property
    def outputs(self) -> int:
        """Number of outputs, which is 1."""
        return 1

    @property
    def rows(self) -> int:
        """Number of rows of the training table."""
        return self._parts.rows

    @property
    def tree_weights(self) -> NDArray[np.float64]:
        """Weight of each tree."""
        return self._parts.tree_weight

    @property
    def tree_errors(self) -> NDArray[np.float64]:
        """Weighted error of each tree on the training rows; of numbers, the mean loss."""
        return self._parts.tree_error

    def predict(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Predict numbers, (rows,), or probabilities of classes, (rows, classes).

        Parameters
        ----------
        X : table
            NumPy array, pandas, Polars or Arrow table, or SciPy sparse matrix, with the columns of the training table. It
            may have no rows.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.

        Returns
        -------
        float64 array
        """
        if self.classes:
            return self.probabilities(self.decision(X, n_jobs))
        table = self.read(X)
        found = np.empty(table.rows)
        step = max(1, CELLS // self.trees)
        numbers = np.arange(table.rows)
        for first in range(0, table.rows, step):
            part = table
            if step < table.rows:
                part = table.take((numbers >= first) & (numbers < first + step))
            leaf = self.leaf_numbers(part, n_jobs=n_jobs)
            found[first : first + step] = self._medians(leaf, self.trees, n_jobs)
        return found

    def decision(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Votes for classes over the weight of all trees. The parameters are those of `predict`.

        Returns
        -------
        float64 array
            Of two classes (rows,), from -2, the first one, to 2, the second. Of more (rows, classes): a tree's vote for a class
            counts 1, one for another class -1 / (classes - 1). Of one class zeros, (rows, 1).
        """
        table = self.read(X)
        return self._shared(self._votes.sums(table, n_jobs), float(self.tree_weights.sum()))

    def probabilities(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """What votes for classes come to as probabilities, (rows, classes): the softmax of votes over classes - 1."""
        (many,) = self.classes
        if many == 1:
            return np.ones((len(decision), 1))
        if many == 2:
            second = logistic(decision)
            return np.column_stack([1.0 - second, second])
        return softmax(decision / (many - 1))

    def staged(self, X: object, n_jobs: int | None = None) -> Iterator[NDArray[np.float64]]:
        """What `decision` or, for numbers, `predict` gives after one tree, two trees, and so on, in turn."""
        table = self.read(X)
        return self._staged_votes(table, n_jobs) if self.classes else self._staged_numbers(table, n_jobs)

    def _staged_votes(self, table: Table, n_jobs: int | None) -> Iterator[NDArray[np.float64]]:
        votes = self._leaf_votes
        sums, weight = np.zeros((table.rows, votes.shape[1])), 0.0
        step = max(1, CELLS // max(table.rows, 1))
        for first in range(0, self.trees, step):
            last = min(first + step, self.trees)
            leaf = self.leaf_numbers(table, first, last, n_jobs) + self.forest.leaf_start[first:last]
            for t in range(first, last):
                sums += votes[leaf[:, t - first]]
                weight += float(self.tree_weights[t])
                yield self._shared(sums, weight)

    def _staged_numbers(self, table: Table, n_jobs: int | None) -> Iterator[NDArray[np.float64]]:
        leaf = self.leaf_numbers(table, n_jobs=n_jobs)
        for t in range(self.trees):
            yield self._medians(leaf, t + 1, n_jobs)

    def importance(self) -> NDArray[np.float64]:
        """Tell how much each column lowers impurity: the mean over trees, by their weights, of its share in each tree.

        Returns
        -------
        float64 array of shape (n_features,)
        """
        found: NDArray[np.float64] = self.tree_weights @ self.tree_importances() / self.tree_weights.sum()
        return found

    def to_json(self) -> str:
        """Write the model for people: JSON with its header, weights and errors, and its trees as nested nodes.

        A leaf of a tree that tells classes apart lists the share of each. A split of categories lists those that go left.
        """
        facts = adaboost_header.describe(self._parts) | {
            "tree_weights": self.tree_weights.tolist(),
            "tree_errors": self.tree_errors.tolist(),
        }
        return self._json(facts, (self.tree(t) for t in range(self.trees)))

    def __repr__(self) -> str:
        classes = f"classes={self.classes[0]}, " if self.classes else ""
        return f"AdaBoostModel(trees={self.trees}, {classes}n_features={self.n_features})"

    def _shared(self, sums: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
        """Votes over the weight of all who voted, in the shape of `decision`; zeros where nobody has a say."""
        (many,) = self.classes
        shares: NDArray[np.float64] = sums / weight if weight > 0 else np.zeros_like(sums)
        return 2.0 * shares[:, 0] if many == 2 else shares

    @cached_property
    def _leaf_votes(self) -> NDArray[np.float64]:
        """Vote of each leaf, times the weight of its tree, for each class; of two classes, for the second one."""
        (many,) = self.classes
        forest = self.forest
        chosen = forest.value.reshape(forest.leaves, many).argmax(axis=1)
        weight = np.repeat(self.tree_weights, np.diff(forest.leaf_start))
        if many <= 2:
            return (np.where(chosen == 1, weight, -weight) if many == 2 else np.zeros(len(weight)))[:, None]
        votes = np.repeat(-weight[:, None] / (many - 1), many, axis=1)
        votes[np.arange(len(chosen)), chosen] = weight
        return votes

    @cached_property
    def _votes(self) -> ForestPredictor:
        """The trees with votes in their leaves."""
        voting = replace(self.forest, value=self._leaf_votes.reshape(-1))
        return ForestPredictor(voting, False, self.schema.category_counts, self.absent)

    def _medians(self, leaf: NDArray[np.int32], trees: int, n_jobs: int | None) -> NDArray[np.float64]:
        """Medians by weight of what the first so many trees say of rows with these leaves."""
        found = np.empty(len(leaf))
        with Team(threads_for(n_jobs, most_for(len(leaf) * trees, SHARE_LEAVES))) as team:
            scratch = allocate(MedianScratch, threads=team.size, trees=self.forest.trees)
            team.run(
                find_medians.bind(len(leaf), leaf.shape[1], trees, leaf, self._voting_trees, scratch, found)
            )
        return found

    @cached_property
    def _voting_trees(self) -> VotingTrees:
        forest = self.forest
        value = forest.value.astype(np.float64)
        rank = np.unique(value, return_inverse=True)[1].astype(np.int32)
        weight = np.asarray(self.tree_weights)
        return VotingTrees(forest.trees, forest.leaves, forest.leaf_start, value, rank, weight)

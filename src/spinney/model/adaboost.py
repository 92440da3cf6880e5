"""`AdaBoostModel`, the model that AdaBoost gives: the compact forest of its trees, with a weight each.

Votes are the sums of a forest whose leaves hold votes times the weight of their tree; medians have a kernel of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from reprlib import repr as short_repr
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.data.schema import check_schema
from spinney.errors import ModelFormatError, ParameterTypeError
from spinney.jit import allocate
from spinney.jit.team import Team, most_for, threads_for
from spinney.model import header
from spinney.model.base import EnsembleView
from spinney.model.compact import COMPACT_ARRAYS, CompactModel, check_counts, read_forest
from spinney.model.file import ArrayGroup, Arrays, FileFormat, one_dtype
from spinney.model.header import COLUMNS, Count, CountList
from spinney.model.kernels.medians import MedianScratch, VotingTrees, find_medians
from spinney.model.predict_compact import ForestPredictor
from spinney.objectives.base import logistic, softmax
from spinney.params import AdaBoostConfig
from spinney.tree import CompactForest, check_compact
from spinney.tree.check import check_array
from spinney.tree.forest import locked

# Arrays of a file, and the attributes of a model, that have a number of each tree.
BY_TREE = {"tree_weight": "tree_weights", "tree_error": "tree_errors"}
# Leaves to look up (rows × trees) from which medians are shared among threads.
SHARE_LEAVES = 50_000
CELLS = 2**22  # leaf numbers that are held at a time


@dataclass(frozen=True, eq=False, repr=False)
class AdaBoostModel(CompactModel):
    """Trees that were boosted by weights; it never changes, and one that exists is sound.

    Trees of classes vote with their weights; of the numbers that trees of numbers predict, the median by these weights is taken.
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

    forest: CompactForest
    config: AdaBoostConfig
    schema: Schema
    classes: tuple[int, ...]
    rows: int
    tree_weights: NDArray[np.float64]
    tree_errors: NDArray[np.float64]

    outputs: int = field(default=1, init=False)

    FILE: ClassVar[FileFormat]

    def __post_init__(self) -> None:
        check_counts(self.classes, 1, self.rows)
        if self.config.of_classes != bool(self.classes):
            raise ModelFormatError(
                f"a model of {len(self.classes)} outputs with classes cannot have the loss {self.config.loss!r}"
            )
        check_schema(self.schema)
        check_compact(self.forest, self.schema.columns, self.classes, 1, self.schema.category_counts)
        if not self.forest.trees:
            raise ModelFormatError("an AdaBoost model must have a tree")
        for name, attribute in BY_TREE.items():
            _check_by_tree(getattr(self, attribute), name, self.forest.trees)
        with np.errstate(over="ignore"):
            total = float(self.tree_weights.sum())
        if not 0 < total < np.inf:
            raise ModelFormatError(f"the weights of trees sum up to {total}; that must be above 0 and finite")
        # What was checked must stay as it was: kernels walk these arrays without looking.
        object.__setattr__(self, "forest", self.forest.read_only())
        for attribute in BY_TREE.values():
            object.__setattr__(self, attribute, locked(getattr(self, attribute)))

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
        """How much each column lowers impurity: the mean over trees, by their weights, of its share in each tree.

        Returns
        -------
        float64 array of shape (n_features,)
        """
        found: NDArray[np.float64] = self.tree_weights @ self.tree_importances() / self.tree_weights.sum()
        return found

    def to_json(self) -> str:
        """Write the model for people: JSON with its header, weights and errors, and its trees as nested nodes.

        A leaf of a tree that separates classes lists the share of each. A split of categories lists those that go left.
        """
        facts = self.FILE.describe(self) | {
            "tree_weights": self.tree_weights.tolist(),
            "tree_errors": self.tree_errors.tolist(),
        }
        return self._json(facts, (self.tree(t) for t in range(self.trees)))

    def __repr__(self) -> str:
        classes = f"classes={self.classes[0]}, " if self.classes else ""
        return f"AdaBoostModel(trees={self.trees}, {classes}n_features={self.n_features})"

    def _shared(self, sums: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
        """Votes over the weight of all trees that voted, in the shape of `decision`; zeros where these have no weight."""
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
    def _voting_forest(self) -> CompactForest:
        """The trees with votes in their leaves."""
        return replace(self.forest, value=self._leaf_votes.reshape(-1))

    @cached_property
    def _votes(self) -> ForestPredictor:
        return ForestPredictor(self._voting_forest, False, self.schema.category_counts, self.absent)

    def _view(self) -> EnsembleView:
        """The trees with votes in their leaves; sums are those of `decision`."""
        if not self.classes:
            raise ParameterTypeError(
                "an AdaBoost model of numbers predicts medians over its trees, which are no sums; give a model of classes"
            )
        forest, weight = self._voting_forest, float(self.tree_weights.sum())
        # As in `decision`, votes for the second of two classes are from -2 to 2.
        total = weight / 2.0 if self.classes == (2,) else weight
        return EnsembleView(forest, forest.tree, np.zeros(forest.values), forest.values, total)

    def _medians(self, leaf: NDArray[np.int32], trees: int, n_jobs: int | None) -> NDArray[np.float64]:
        """Medians by weight of what the first so many trees predict for rows with these leaves."""
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


def _check_by_tree(found: NDArray[np.float64], name: str, trees: int) -> None:
    check_array(found, name, np.dtype(np.float64))
    if len(found) != trees:
        raise ModelFormatError(f"the array {name!r} has {len(found)} entries for {trees} trees")
    wrong = ~(np.isfinite(found) & (found >= 0))
    if wrong.any():
        t = int(np.argmax(wrong))
        raise ModelFormatError(
            f"the array {name!r} holds {short_repr(float(found[t]))} for tree {t}; it must be finite and 0 or more"
        )


def _build(fields: dict[str, Any], arrays: dict[str, Arrays]) -> AdaBoostModel:
    given = fields["params"], fields["schema"], fields["classes"], fields["rows"]
    by_tree = (arrays["by tree"][name] for name in BY_TREE)
    return AdaBoostModel(read_forest(fields, arrays), *given, *by_tree)


AdaBoostModel.FILE = FileFormat(
    number=header.WITH_KIND,
    kind="adaboost",
    config=AdaBoostConfig,
    parameters_of=attrgetter("config"),
    fields=(CountList("classes"), Count("rows"), COLUMNS, Count("trees")),
    arrays=(
        COMPACT_ARRAYS,
        ArrayGroup(
            "by tree",
            one_dtype(dict.fromkeys(BY_TREE, np.dtype(np.float64))),
            lambda model: {name: getattr(model, attribute) for name, attribute in BY_TREE.items()},
        ),
    ),
    build=_build,
)

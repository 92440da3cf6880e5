"""Out-of-bag predictions: every training row as the trees see it that did not grow on it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.errors import DataError, OwnFunctionError, ParameterTypeError
from spinney.messages import shown
from spinney.model.forest import ForestModel
from spinney.training.forests.bags import bags_of
from spinney.training.forests.scores import accuracy, r2
from spinney.training.forests.trees import by_output, decided, each_tree, leaf_predictions
from spinney.user_functions import call_user_function, checked_number, name_of

ROLE = "the oob_score function"  # in messages
Scorer = Callable[[NDArray[Any], NDArray[Any]], float]


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """What the trees of a forest say about the rows that they did not see.

    Attributes
    ----------
    values : tuple of float64 arrays
        One for each output: (rows, classes) mean shares of the classes, or (rows, 1) mean predictions. NaN for a row that was in
        the bag of every tree.
    predicted : int64[rows, outputs] or float64[rows, outputs]
        The most likely class, -1 for a row that was in every bag; or the mean prediction, NaN for such a row.
    target : int64[rows, outputs] or float64[rows, outputs]
        Class numbers, or numbers.
    trees : int32[rows]
        How many trees did not see each row.
    tree_scores : float64[trees]
        Each tree's accuracy, or R2, on the rows that it did not see; NaN of a tree that has none (R2: fewer than two).
    """

    values: tuple[NDArray[np.float64], ...]
    predicted: NDArray[Any]
    target: NDArray[Any]
    trees: NDArray[np.int32]
    tree_scores: NDArray[np.float64]

    @property
    def never(self) -> NDArray[np.bool_]:
        """Rows that were in the bag of every tree: nothing can be said about them."""
        never: NDArray[np.bool_] = self.trees == 0
        return never

    @property
    def decision_function(self) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Shares of the classes, (rows, classes); a list of such arrays for several outputs."""
        return self.values[0] if len(self.values) == 1 else list(self.values)

    @property
    def prediction(self) -> NDArray[Any]:
        """Predicted numbers or class numbers: (rows,), or (rows, outputs) for several outputs."""
        return _plain(self.predicted)

    def score(self, scorer: Scorer | None = None) -> float:
        """Score of the out-of-bag predictions, over the rows that have one.

        Parameters
        ----------
        scorer : callable, optional
            Takes targets and predictions, (rows,) or (rows, outputs); classes are numbers. Without it the accuracy, the share of
            rows of which all outputs are right; or R2, the mean over outputs.

        Returns
        -------
        float
        """
        known = ~self.never
        target, predicted = self.target[known], self.predicted[known]
        if scorer is None:
            return (accuracy if target.dtype.kind == "i" else r2)(target, predicted)
        return _scored(scorer, target, predicted)


def check_scorer(scorer: Scorer) -> None:
    """Refuse a function that cannot be called with a target and predictions.

    Examples
    --------
    >>> check_scorer(lambda y_true, y_pred: 0.5)
    """
    try:
        signature = inspect.signature(scorer)
    except (TypeError, ValueError):
        return  # nobody knows, as of some functions that are written in C
    try:
        signature.bind(None, None)
    except TypeError as error:
        raise ParameterTypeError(
            f"oob_score={shown(scorer)} must be a function of two arguments, targets and predictions: {error}"
        ) from error


def try_scorer(scorer: Scorer, target: NDArray[Any]) -> None:
    """Call a function for predictions that trees might give, so that one that always fails does so before they are grown.

    The first predictions are targets of other rows, numbers half way to their mean. A function may fail for these and be
    right for others, so the target itself is tried next, and only a function that fails for both is refused.

    Raises
    ------
    OwnFunctionError
        From what the function raised, or saying what it returned.
    """
    others = np.roll(target, 1, axis=0)
    if target.dtype.kind == "f":
        others = others / 2 + target.mean(axis=0) / 2
    try:
        _scored(scorer, target, others)
    except OwnFunctionError:
        _scored(scorer, target, target)


def _scored(scorer: Scorer, target: NDArray[Any], predicted: NDArray[Any]) -> float:
    """What a user's function says of copies of target and predictions."""
    found = call_user_function(ROLE, scorer, _plain(target).copy(), _plain(predicted).copy())
    return checked_number(name_of(scorer), found, ROLE)


def out_of_bag(model: ForestModel, table: Table, target: NDArray[Any], n_jobs: int | None = None) -> OutOfBag:
    """Predict each training row by the trees that did not see it.

    Parameters
    ----------
    model : ForestModel
        The forest.
    table : Table
        Its training table.
    target : int64[rows, outputs] or float64[rows, outputs]
        Class numbers, or numbers.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Returns
    -------
    OutOfBag

    Raises
    ------
    DataError
        If every row was in the bag of every tree.
    """
    bags = bags_of(model, table.rows, "the out-of-bag score")
    score = accuracy if model.classes else r2
    sums = np.zeros((table.rows, model.forest.values))
    trees, tree_scores = np.zeros(table.rows, np.int32), []
    for tree, leaf in each_tree(model, table, n_jobs):
        out = np.flatnonzero(bags.out(tree))
        place = leaf[out]
        said = leaf_predictions(model, tree)
        sums[out] += said[place]
        trees[out] += 1
        tree_scores.append(score(target[out], decided(model, said)[place]))
    never = trees == 0
    if never.all():
        raise DataError(
            "every row is in the bag of every tree, so nothing is out of bag: train more trees, or draw fewer rows by max_samples"
        )
    sums[~never] /= trees[~never, None]
    sums[never] = np.nan
    predicted = decided(model, sums)
    if model.classes:
        predicted[never] = -1
    values = tuple(np.ascontiguousarray(sums[:, part]) for part in by_output(model))
    return OutOfBag(values, predicted, target, trees, np.array(tree_scores))


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    return values[:, 0] if values.shape[1] == 1 else values

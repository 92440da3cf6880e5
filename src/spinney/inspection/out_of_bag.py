"""Out-of-bag predictions: every training row is predicted by the trees that did not grow on it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.errors import DataError, OwnFunctionError, ParameterError, ParameterTypeError
from spinney.inspection.forest_leaves import (
    by_output,
    each_tree,
    leaf_predictions,
    predicted_outputs,
    without_single_output,
)
from spinney.messages import shown
from spinney.model.forest import ForestModel
from spinney.sampling.bags import bag_counts
from spinney.user_functions import call_user_function, checked_number, name_of

ROLE = "the oob_score function"  # in messages
Scorer = Callable[[NDArray[Any], NDArray[Any]], float]


@dataclass(frozen=True)
class Bags:
    """Which training rows each tree of a forest was grown on; drawn anew from its seed.

    Attributes
    ----------
    seed : int
        That of the forest.
    rows, drawn : int
        Training rows, and how many a tree draws of them.
    replace : bool
        Whether it draws with replacement.
    """

    seed: int
    rows: int
    drawn: int
    replace: bool

    def counts(self, tree: int) -> NDArray[np.int32]:
        """How often a tree has each training row."""
        return bag_counts(self.seed, tree, self.rows, self.drawn, self.replace)

    def out(self, tree: int) -> NDArray[np.bool_]:
        """Which training rows a tree has not seen."""
        out: NDArray[np.bool_] = self.counts(tree) == 0
        return out

    @property
    def chance_out(self) -> float:
        """Chance of a row to be out of a tree's bag."""
        if not self.replace:
            return 1.0 - self.drawn / self.rows
        return float((1.0 - 1.0 / self.rows) ** self.drawn)


def bags_of(model: ForestModel, rows: int, what: str) -> Bags:
    """The bags of a forest, for a table that must be its training table.

    Parameters
    ----------
    model : ForestModel
        The forest.
    rows : int
        Rows of the table.
    what : str
        What needs the bags, for messages.

    Raises
    ------
    ParameterError
        If every tree has seen all rows.
    DataError
        If the table has another number of rows than the training table.
    """
    config = model.config
    if not config.draws_rows:
        raise ParameterError(
            f"{what} needs rows that a tree has not seen, but with bootstrap={config.bootstrap} every tree sees all rows: train "
            "with bootstrap=True"
        )
    if rows != model.rows:
        raise DataError(
            f"{what} is about the training table, which had {model.rows} rows, but X has {rows}: give the table that the forest "
            "was trained on"
        )
    return Bags(config.random_state, model.rows, config.rows_per_tree(model.rows), config.bootstrap)


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """What the trees of a forest predict for the rows that they did not see.

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
        """Rows that were in the bag of every tree, so that no tree predicts them."""
        never: NDArray[np.bool_] = self.trees == 0
        return never

    @property
    def decision_function(self) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Shares of the classes, (rows, classes); a list of such arrays for several outputs."""
        return self.values[0] if len(self.values) == 1 else list(self.values)

    @property
    def prediction(self) -> NDArray[Any]:
        """Predicted numbers or class numbers: (rows,), or (rows, outputs) for several outputs."""
        return without_single_output(self.predicted)

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
        return _score_by(scorer, target, predicted)


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
    score = score_of(model)
    sums = np.zeros((table.rows, model.forest.values))
    trees, tree_scores = np.zeros(table.rows, np.int32), []
    for tree, leaf in each_tree(model, table, n_jobs):
        out = np.flatnonzero(bags.out(tree))
        leaves = leaf[out]
        predicted = leaf_predictions(model, tree)
        sums[out] += predicted[leaves]
        trees[out] += 1
        tree_scores.append(score(target[out], predicted_outputs(model, predicted)[leaves]))
    known = rows_out_of_bag(trees)
    sums[known] /= trees[known, None]
    sums[~known] = np.nan
    predicted = predicted_outputs(model, sums)
    if model.classes:
        predicted[~known] = -1
    values = tuple(np.ascontiguousarray(sums[:, part]) for part in by_output(model))
    return OutOfBag(values, predicted, target, trees, np.array(tree_scores))


def rows_out_of_bag(trees: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Rows that a tree or more have not seen, by the number of these trees; there must be one."""
    known: NDArray[np.bool_] = trees > 0
    if not known.any():
        raise DataError(
            "every row is in the bag of every tree, so nothing is out of bag: train more trees, or draw fewer rows by max_samples"
        )
    return known


def score_of(model: ForestModel) -> Scorer:
    """The score of a forest: accuracy of classes, R2 of numbers."""
    return accuracy if model.classes else r2


def accuracy(target: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Share of the rows, (rows, outputs), of which all outputs are right; NaN of no rows. Rows have no weights.

    Examples
    --------
    >>> accuracy(np.array([[1], [0]]), np.array([[1], [1]]))
    0.5
    """
    return float((target == predicted).all(axis=1).mean()) if len(target) else float("nan")


def r2(target: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Share of the variance that is explained, the mean over outputs; NaN of fewer than two rows. Rows have no weights.

    An output that does not vary counts 1 where it is predicted exactly, else 0, as in scikit-learn.

    Examples
    --------
    >>> r2(np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [2.0]]))
    0.5
    """
    if len(target) < 2:
        return float("nan")
    left = np.square(target - predicted).sum(axis=0)
    whole = np.square(target - target.mean(axis=0)).sum(axis=0)
    varies = whole > 0
    shares = np.where(left == 0, 1.0, 0.0)
    shares[varies] = 1.0 - left[varies] / whole[varies]
    return float(shares.mean())


def check_scorer(scorer: Scorer) -> None:
    """Refuse a function that cannot be called with a target and predictions.

    Examples
    --------
    >>> check_scorer(lambda y_true, y_pred: 0.5)
    """
    try:
        signature = inspect.signature(scorer)
    except (TypeError, ValueError):
        return  # there is no signature, as of some functions that are written in C
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
        From what the function raised, or about what it returned.
    """
    others = np.roll(target, 1, axis=0)
    if target.dtype.kind == "f":
        others = others / 2 + target.mean(axis=0) / 2
    try:
        _score_by(scorer, target, others)
    except OwnFunctionError:
        _score_by(scorer, target, target)


def _score_by(scorer: Scorer, target: NDArray[Any], predicted: NDArray[Any]) -> float:
    """What a user's function returns for copies of target and predictions."""
    copies = [without_single_output(values).copy() for values in (target, predicted)]
    return checked_number(name_of(scorer), call_user_function(ROLE, scorer, *copies), ROLE)

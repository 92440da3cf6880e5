"""AdaBoost: trees that are grown one after another, each on weights that the ones before it have changed.

The grower of forests grows them, on all rows and all columns; its memory stays for the next round. Rows find their leaves by
their codes, also those that did not grow the tree. With `resample` a tree sees how often each row was drawn
(`sampling/bags.py`).

Weights of rows are whole numbers that sum up to 2**51 to 2**52, none below 1. So float64 holds every sum exactly, no sum depends
on threads, and no row is lost. The least weight is about 2**-52 of all, which is where scikit-learn clips.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.data.target import ForestTarget
from spinney.errors import DataError, ParameterError
from spinney.growth.forest.grower import ForestGrower, leaf_of_rows
from spinney.growth.forest.table import ForestTable, binned_table
from spinney.jit import Bound, allocate
from spinney.jit.math import exp, log
from spinney.jit.team import Team, most_for, threads_for
from spinney.model.adaboost import AdaBoostModel
from spinney.params import AdaBoostConfig
from spinney.sampling.bags import counts_by_weight
from spinney.training.growers import check_in_memory
from spinney.training.kernels.adaboost import (
    EXPONENTIAL,
    LINEAR,
    SQUARE,
    RowWeights,
    lower_weights,
    mark_wrong,
    measure_errors,
    scale_errors,
    scale_weights,
)
from spinney.tree.compact import CompactForest, GrownTree

BITS = 52  # of the sum of all weights; sums of whole numbers up to 2**53 are exact in float64
FORMS = {"linear": LINEAR, "square": SQUARE, "exponential": EXPONENTIAL}


class Weights:
    """Weights of rows as whole numbers that sum up to 2**51 to 2**52; none is below 1.

    Parameters
    ----------
    given : float64[rows], optional
        Weights to start from, above 0; without them all rows weigh the same.
    rows : int
        Number of rows.
    team : Team
        Threads; nothing depends on them.
    """

    def __init__(self, given: NDArray[np.float64] | None, rows: int, team: Team) -> None:
        self._team = team
        weight = np.ones(rows) if given is None else given.astype(np.float64)
        self._state = allocate(RowWeights, rows=rows, threads=team.size, weight=weight)
        self._wrong = np.zeros(rows, np.uint8)
        self.total = 0
        self._scale(power_of_two_to(float(weight.sum()), BITS))

    @property
    def values(self) -> NDArray[np.float64]:
        """The weight of every row, a whole number; changed by the next round."""
        weight: NDArray[np.float64] = self._state.weight
        return weight

    def mark(self, leaf: NDArray[np.int32], predicted: NDArray[np.int32], target: NDArray[np.int32]) -> int:
        """Mark the rows whose class their leaf does not predict; returns the sum of their weights."""
        return self._run(mark_wrong.bind(len(predicted), leaf, predicted, target, self._state, self._wrong))

    def raise_marked(self, mistaken: int, power: float) -> None:
        """Multiply the weights of marked rows, which sum up to `mistaken`, by e to a power, beside those of all others."""
        # Others become lighter in place of marked ones heavier, so that nothing overflows.
        right = float(exp(-power))
        factor = power_of_two_to(mistaken + (self.total - mistaken) * right, BITS)
        self._scale(right * factor, factor)

    def measure(
        self, leaf: NDArray[np.int32], predicted: NDArray[np.float64], target: NDArray[np.float64], loss: str
    ) -> tuple[NDArray[np.float64], int]:
        """Losses of all rows, from 0 to 1, where their leaves predict these numbers; and their sum by weight.

        All losses are 0 where there is no error.
        """
        losses = np.empty(len(target))
        self._run(measure_errors.bind(len(predicted), leaf, predicted, target, self._state, losses))
        largest = float(self._state.sums["largest"][: self._team.size].max())
        if largest == 0.0:
            return losses, 0
        return losses, self._run(scale_errors.bind(FORMS[loss], largest, self._state, losses))

    def lower(self, losses: NDArray[np.float64], log_beta: float) -> None:
        """Multiply every weight by e to the power of (1 - loss) times `log_beta`, which is below 0, beside the others."""
        # By how much losses are below the largest one, so that this row keeps its weight and not all become 0.
        total = self._run(lower_weights.bind(log_beta, float(losses.max()), losses, self._state))
        # Every row may have been rounded down by half a step.
        self._scale(power_of_two_to(float(total + len(losses)), BITS))

    def _scale(self, right: float, mistaken: float = 0.0) -> None:
        self.total = self._run(scale_weights.bind(right, mistaken, self._wrong, self._state))

    def _run(self, job: Bound) -> int:
        """Run a kernel on all threads; returns what they have summed up together."""
        self._team.run(job)
        return int(self._state.sums["sum"][: self._team.size].sum())


LARGEST_POWER = math.log(
    sys.float_info.max
)  # beyond it, weights of wrong rows times e to a power are infinite


@dataclass(frozen=True)
class ClassStep:
    """What one round does where classes are predicted.

    Attributes
    ----------
    alpha : float
        ½ (ln((1 - error) / error) + ln(classes - 1)). A tree's vote, `estimator_weights_`, is twice this number times the
        learning rate, as in scikit-learn.
    right, wrong : float
        Factors on the weights of rows that the tree gets right and wrong, before weights are made to sum up to 1: e to the power
        of -alpha and of alpha.
    """

    alpha: float
    right: float
    wrong: float


@dataclass(frozen=True)
class NumberStep:
    """What one round does where numbers are predicted.

    Attributes
    ----------
    beta : float
        loss / (1 - loss), for the mean loss of the rows by weight. A row's weight is multiplied by beta to the power of 1 less
        its own loss.
    weight : float
        ln(1 / beta): the tree's weight in the median, `estimator_weights_` at a learning rate of 1.
    """

    beta: float
    weight: float


def adaboost_step(error: float, n_classes: int = 2) -> ClassStep:
    """One round of AdaBoost for classes (SAMME), by the weighted error of its tree.

    Parameters
    ----------
    error : float
        Share of the weights that belongs to rows of which the tree gets the class wrong; above 0 and below 1. At 1 - 1 /
        n_classes, the error of guessing, alpha is 0.
    n_classes : int, default=2
        Number of classes.

    Returns
    -------
    ClassStep

    Examples
    --------
    >>> step = adaboost_step(0.3)
    >>> round(step.alpha, 4), round(step.right, 4), round(step.wrong, 4)
    (0.4236, 0.6547, 1.5275)
    """
    if not 0 < error < 1:
        raise ParameterError(f"error={error!r} must be above 0 and below 1")
    if not n_classes >= 2:
        raise ParameterError(f"n_classes={n_classes!r} must be 2 or more")
    alpha = 0.5 * (float(log((1.0 - error) / error)) + float(log(n_classes - 1.0)))
    return ClassStep(alpha, float(exp(-alpha)), float(exp(alpha)))


def adaboost_r2_step(loss: float) -> NumberStep:
    """One round of AdaBoost for numbers (AdaBoost.R2), by the mean loss of the rows under its tree.

    Parameters
    ----------
    loss : float
        Sum of weight times loss over the rows, where weights sum up to 1 and losses are from 0 to 1; above 0 and below 1. From
        ½ on boosting ends.

    Returns
    -------
    NumberStep

    Examples
    --------
    >>> step = adaboost_r2_step(0.2)
    >>> step.beta, round(step.weight, 4)
    (0.25, 1.3863)
    """
    if not 0 < loss < 1:
        raise ParameterError(f"loss={loss!r} must be above 0 and below 1")
    beta = loss / (1.0 - loss)
    return NumberStep(beta, -float(log(beta)))


def guessing_error(n_classes: int) -> float:
    """The error of a classifier that guesses: boosting can use trees that are better.

    Examples
    --------
    >>> guessing_error(4)
    0.75
    """
    return 1.0 - 1.0 / n_classes


def power_of_two_to(total: float, bits: int) -> float:
    """The power of two that brings a sum above 0 between 2**(bits - 1) and 2**bits.

    Examples
    --------
    >>> power_of_two_to(3.0, 4)
    4.0
    """
    return math.ldexp(1.0, bits - math.frexp(total)[1])


NO_BETTER = (
    "the first tree is wrong on {error:.4g} of the weight, and guessing among {classes} classes is wrong on {guessing:.4g}: the "
    "columns of X have no relation to y, or trees of max_depth={depth} cannot learn it. Give other columns, or deeper trees"
)


@dataclass(frozen=True)
class EvaluatedTree:
    """What is known of a tree that stays.

    Attributes
    ----------
    error : float
        Its weighted error, or the mean loss of the rows by weight.
    weight : float
        Its weight in the sum.
    last : bool
        Whether boosting ends with it.
    """

    error: float
    weight: float
    last: bool


class AdaBoostRounds(ABC):
    """Evaluates the trees of a training one after another, and changes the weights of the rows.

    Parameters
    ----------
    config : AdaBoostConfig
        Parameters.
    target : ForestTarget
        Classes or numbers of one output.
    weights : Weights
        Weights of the rows.
    """

    def __init__(self, config: AdaBoostConfig, target: ForestTarget, weights: Weights) -> None:
        self._config, self._target, self._weights = config, target, weights

    @abstractmethod
    def evaluate(self, number: int, tree: GrownTree, leaf: NDArray[np.int32]) -> EvaluatedTree | None:
        """Evaluate tree `number`, from 0, in which each row has this leaf, and change the weights.

        None ends boosting without the tree.
        """


class ClassRounds(AdaBoostRounds):
    """SAMME: rows of which a tree gets the class wrong become heavier."""

    def __init__(self, config: AdaBoostConfig, target: ForestTarget, weights: Weights) -> None:
        super().__init__(config, target, weights)
        self._classes = np.ascontiguousarray(target.values[:, 0], np.int32)

    def evaluate(self, number: int, tree: GrownTree, leaf: NDArray[np.int32]) -> EvaluatedTree | None:
        """Evaluate a tree of classes."""
        many, total = self._target.classes[0], self._weights.total
        predicted = leaf_classes(tree.value, many)
        mistaken = self._weights.mark(leaf, predicted, self._classes)
        error = mistaken / total
        if mistaken == 0:
            return EvaluatedTree(0.0, 1.0, last=True)
        # Weights are rounded to whole numbers, so that an error of guessing may come out a little lower.
        if many * mistaken >= (many - 1) * total - many * len(leaf):
            return self._no_better(number, error)
        power = self._config.learning_rate * 2.0 * adaboost_step(error, many).alpha
        if power > LARGEST_POWER:
            return EvaluatedTree(error, power, last=True)
        self._weights.raise_marked(mistaken, power)
        return EvaluatedTree(error, power, last=False)

    def _no_better(self, number: int, error: float) -> EvaluatedTree | None:
        """A tree that is no better than guessing: the next bag may give a better one, but the same weights cannot."""
        if self._config.resample:
            return EvaluatedTree(error, 0.0, last=False)
        if number == 0:
            many = self._target.classes[0]
            raise DataError(
                NO_BETTER.format(
                    error=error, classes=many, guessing=guessing_error(many), depth=self._config.max_depth
                )
            )
        return None


class NumberRounds(AdaBoostRounds):
    """AdaBoost.R2: rows become lighter, the more so the better their number is met."""

    def __init__(self, config: AdaBoostConfig, target: ForestTarget, weights: Weights) -> None:
        super().__init__(config, target, weights)
        self._numbers = np.ascontiguousarray(target.values[:, 0], np.float64)

    def evaluate(self, number: int, tree: GrownTree, leaf: NDArray[np.int32]) -> EvaluatedTree | None:
        """Evaluate a tree of numbers."""
        predicted = tree.value.astype(np.float64)
        losses, lost = self._weights.measure(leaf, predicted, self._numbers, self._config.loss)
        mean = lost / self._weights.total
        if lost <= 0:
            return EvaluatedTree(0.0, 1.0, last=True)
        if mean >= 0.5:
            return EvaluatedTree(mean, 1.0, last=True) if number == 0 else None
        weight = self._config.learning_rate * adaboost_r2_step(mean).weight
        self._weights.lower(losses, -weight)
        return EvaluatedTree(mean, weight, last=False)


def leaf_classes(value: NDArray[np.float64], classes: int) -> NDArray[np.int32]:
    """The class that each leaf predicts: the heaviest, of equal ones the first.

    Examples
    --------
    >>> leaf_classes(np.array([0.5, 0.5, 0.1, 0.9]), 2).tolist()
    [0, 1]
    """
    found: NDArray[np.int32] = value.reshape(-1, classes).argmax(axis=1).astype(np.int32)
    return found


# Values (rows × columns) of a tree from which growing is shared among threads.
SHARE_VALUES = 200_000


def train_adaboost(
    config: AdaBoostConfig,
    data: BinnedData,
    target: ForestTarget,
    rounds: int,
    *,
    weight: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
    on_tree: Callable[[int], None] = lambda done: None,
) -> AdaBoostModel:
    """Boost trees by weights.

    Parameters
    ----------
    config : AdaBoostConfig
        Parameters.
    data : BinnedData
        The table, made with `bundle=False`; its bins are all that is read of it.
    target : ForestTarget
        Classes or numbers of one output, one for each of the table's rows.
    rounds : int
        Most trees.
    weight : float64[rows], optional
        Weights of the rows to start from, above 0.
    n_jobs : int, optional
        Number of threads; the model does not depend on it.
    on_tree : callable, optional
        Called with the number of trees so far after each round.

    Returns
    -------
    AdaBoostModel

    Raises
    ------
    DataError
        If the first tree is no better than guessing, or, where rows are drawn, no tree is.
    """
    check_in_memory(data, "AdaBoost")
    with Team(threads_for(n_jobs, most_for(data.rows * data.columns, SHARE_VALUES))) as team:
        table = binned_table(data.matrix(), data.cuts)
        weights = Weights(weight, data.rows, team)
        grown, kept = [], []
        for tree, found in _boosted(config, table, target, weights, rounds, team):
            if found is not None:
                grown.append(tree)
                kept.append(found)
            on_tree(len(grown))
    if not any(found.weight > 0 for found in kept):
        raise DataError(
            f"none of {rounds} trees on drawn rows is better than guessing: the columns of X have no relation to y, or trees of "
            f"max_depth={config.max_depth} cannot learn it. Give other columns, or deeper trees"
        )
    forest = CompactForest.of(grown, table.cut_start, table.cuts, values=target.leaf_values)
    tree_weights, errors = (
        np.array([found.weight for found in kept]),
        np.array([found.error for found in kept]),
    )
    return AdaBoostModel(forest, config, data.schema, target.classes, data.rows, tree_weights, errors)


def _boosted(
    config: AdaBoostConfig,
    table: ForestTable,
    target: ForestTarget,
    weights: Weights,
    rounds: int,
    team: Team,
) -> Iterator[tuple[GrownTree, EvaluatedTree | None]]:
    """Trees one after another, with what is made of each; None for one that is dropped."""
    grower = ForestGrower(config.of_trees(), table, target, weights.values, team, keep_memory=True)
    evaluate = (ClassRounds if config.of_classes else NumberRounds)(config, target, weights)
    for number in range(rounds):
        shown = weights.values
        if config.resample:
            shown = counts_by_weight(config.random_state, number, weights.values, weights.total)
        grower.set_weights(shown)
        tree = next(iter(grower.grow(number, 1)))
        if not config.resample:
            tree = _shared_out(tree, weights.total, config.of_classes)
        found = evaluate.evaluate(number, tree, leaf_of_rows(table, tree, team))
        yield tree, found
        if found is None or found.last:
            return


def _shared_out(tree: GrownTree, total: int, of_classes: bool) -> GrownTree:
    """The same tree with weights that sum up to 1."""
    value = tree.value / total if of_classes else tree.value
    return replace(tree, value=value, weight=tree.weight / total)

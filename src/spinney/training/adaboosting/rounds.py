"""What a round of AdaBoost makes of its tree: the tree's error and weight, and the next weights of the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.data.target import ForestTarget
from spinney.errors import DataError
from spinney.params import AdaBoostConfig
from spinney.training.adaboosting.steps import (
    LARGEST_POWER,
    adaboost_r2_step,
    adaboost_step,
    guessing_error,
)
from spinney.training.adaboosting.weights import Weights
from spinney.tree.compact import GrownTree

NO_BETTER = (
    "the first tree is wrong on {error:.4g} of the weight, and guessing among {classes} classes is wrong on {guessing:.4g}: the "
    "columns of X tell nothing about y, or trees of max_depth={depth} cannot tell it. Give other columns, or deeper trees"
)


@dataclass(frozen=True)
class Round:
    """What is known of a tree that stays.

    Attributes
    ----------
    error : float
        Its weighted error, or the mean loss of the rows by weight.
    weight : float
        Its say.
    last : bool
        Whether boosting ends with it.
    """

    error: float
    weight: float
    last: bool


class AdaBoostRounds(ABC):
    """Judges the trees of a training one after another, and moves the weights of the rows.

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
    def judge(self, number: int, tree: GrownTree, leaf: NDArray[np.int32]) -> Round | None:
        """Judge tree `number`, from 0, in which each row has this leaf, and move the weights; None ends boosting without it."""


class ClassRounds(AdaBoostRounds):
    """SAMME: rows of which a tree gets the class wrong become heavier."""

    def __init__(self, config: AdaBoostConfig, target: ForestTarget, weights: Weights) -> None:
        super().__init__(config, target, weights)
        self._classes = np.ascontiguousarray(target.values[:, 0], np.int32)

    def judge(self, number: int, tree: GrownTree, leaf: NDArray[np.int32]) -> Round | None:
        """Judge a tree of classes."""
        many, total = self._target.classes[0], self._weights.total
        said = leaf_classes(tree.value, many)
        mistaken = self._weights.mark(leaf, said, self._classes)
        error = mistaken / total
        if mistaken == 0:
            return Round(0.0, 1.0, last=True)
        # Weights are rounded to whole numbers, so that an error of guessing may come out a little lower.
        if many * mistaken >= (many - 1) * total - many * len(leaf):
            return self._no_better(number, error)
        power = self._config.learning_rate * 2.0 * adaboost_step(error, many).alpha
        if power > LARGEST_POWER:
            return Round(error, power, last=True)
        self._weights.raise_marked(mistaken, power)
        return Round(error, power, last=False)

    def _no_better(self, number: int, error: float) -> Round | None:
        """A tree that is no better than guessing: the next bag may give a better one, but the same weights cannot."""
        if self._config.resample:
            return Round(error, 0.0, last=False)
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

    def judge(self, number: int, tree: GrownTree, leaf: NDArray[np.int32]) -> Round | None:
        """Judge a tree of numbers."""
        said = tree.value.astype(np.float64)
        losses, lost = self._weights.measure(leaf, said, self._numbers, self._config.loss)
        mean = lost / self._weights.total
        if lost <= 0:
            return Round(0.0, 1.0, last=True)
        if mean >= 0.5:
            return Round(mean, 1.0, last=True) if number == 0 else None
        weight = self._config.learning_rate * adaboost_r2_step(mean).weight
        self._weights.lower(losses, -weight)
        return Round(mean, weight, last=False)


def leaf_classes(value: NDArray[np.float64], classes: int) -> NDArray[np.int32]:
    """The class that each leaf speaks for: the heaviest, of equal ones the first.

    Examples
    --------
    >>> leaf_classes(np.array([0.5, 0.5, 0.1, 0.9]), 2).tolist()
    [0, 1]
    """
    found: NDArray[np.int32] = value.reshape(-1, classes).argmax(axis=1).astype(np.int32)
    return found

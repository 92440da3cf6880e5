"""AdaBoost on copies of any estimator of scikit-learn's kind, with its draws: the same seed gives the same copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.objectives.base import logistic, softmax
from spinney.params import AdaBoostConfig
from spinney.training.adaboost import LARGEST_POWER, adaboost_r2_step, adaboost_step, guessing_error

LEAST = float(np.finfo(np.float64).eps)  # share of a row in all weights, as in scikit-learn
NEEDED = ("fit", "predict", "get_params")
LARGEST_SEED = int(np.iinfo(np.int32).max)


@dataclass(frozen=True)
class Task:
    """What is boosted.

    Attributes
    ----------
    estimator : estimator
        What is cloned.
    config : AdaBoostConfig
        Loss, learning rate, whether rows are drawn, and the seed.
    X : table
        As the user gave it.
    y : ndarray
        Labels or numbers.
    weight : float64[rows], optional
        Weights of the rows, 0 or more.
    labels : ndarray or None
        Labels of the classes; None where numbers are predicted.
    """

    estimator: Any
    config: AdaBoostConfig
    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    labels: NDArray[Any] | None


def check_estimator(estimator: Any, resample: bool, of_classes: bool) -> None:
    """Refuse what cannot be boosted, or predicts something else."""
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in NEEDED):
        raise ParameterTypeError(
            f"estimator={shown(estimator)} must be an estimator of scikit-learn's kind, with {', '.join(NEEDED)}, or None for "
            "our own trees"
        )
    if hasattr(estimator, "__sklearn_tags__") and (is_regressor if of_classes else is_classifier)(estimator):
        wanted = "classifier" if of_classes else "regressor"
        raise ParameterTypeError(
            f"estimator={shown(estimator)}: {type(estimator).__name__} is no {wanted}; give one that is"
        )
    if not resample and not has_fit_parameter(estimator, "sample_weight"):
        raise ParameterError(
            f"estimator={shown(estimator)}: {type(estimator).__name__} doesn't support sample_weight, so that rows cannot be "
            "weighed; give resample=True to draw them by weight, or another estimator"
        )


def boost_copies(task: Task, rounds: int, on_round: Callable[[int], None]) -> ClonedEnsemble:
    """Boost copies of an estimator, so many at most; `on_round` is called after each round."""
    rng = np.random.RandomState(task.config.random_state % 2**32)
    rows = len(task.y)
    weight = np.ones(rows) if task.weight is None else task.weight.copy()
    weight /= weight.sum()
    step = _class_step if task.labels is not None else _number_step
    members: list[Any] = []
    kept: list[tuple[float, float]] = []
    for number in range(rounds):
        weight[weight > 0] = np.maximum(weight[weight > 0], LEAST)
        member = _fitted(task, weight, rng)
        found = step(task, member.predict(task.X), weight, number)
        if found is not None:
            members.append(member)
            kept.append(found[:2])
        on_round(number + 1)
        if found is None or found[2] is None:
            break
        weight = found[2] / found[2].sum()
    if not any(tree_weight > 0 for tree_weight, _ in kept):
        raise DataError(
            f"none of {rounds} copies of {type(task.estimator).__name__} on drawn rows is better than guessing: give another "
            "estimator or other columns"
        )
    weights, errors = np.array(kept).T
    return ClonedEnsemble(members, np.ascontiguousarray(weights), np.ascontiguousarray(errors), task.labels)


def _fitted(task: Task, weight: NDArray[np.float64], rng: np.random.RandomState) -> Any:
    member = clone(task.estimator)
    seeds = [name for name in sorted(member.get_params()) if f"__{name}".endswith("__random_state")]
    if seeds:
        member.set_params(**{name: rng.randint(LARGEST_SEED) for name in seeds})
    if not task.config.resample:
        member.fit(task.X, task.y, sample_weight=weight)
        return member
    drawn = rng.choice(np.arange(len(weight)), size=len(weight), replace=True, p=weight / weight.sum())
    member.fit(_safe_indexing(task.X, drawn), task.y[drawn])
    return member


# Weight and error of a member, and the next weights of the rows, None where boosting ends; None for one that is not kept.
Step = tuple[float, float, NDArray[np.float64] | None] | None


def _class_step(task: Task, predicted: Any, weight: NDArray[np.float64], number: int) -> Step:
    assert task.labels is not None
    many = len(task.labels)
    wrong = np.asarray(predicted) != task.y
    error = float(np.average(wrong, weights=weight))
    if error <= 0:
        return 1.0, 0.0, None
    if error >= guessing_error(many):
        if task.config.resample:
            return 0.0, error, weight
        if number == 0:
            raise DataError(
                f"the first copy of {type(task.estimator).__name__} is wrong on {error:.4g} of the weight, which is no better "
                f"than guessing among {many} classes: give another estimator or other columns"
            )
        return None
    power = task.config.learning_rate * 2.0 * adaboost_step(error, many).alpha
    if power > LARGEST_POWER:
        return power, error, None
    # Right rows become lighter in place of wrong ones heavier, so that nothing overflows.
    return power, error, np.where(wrong, weight, weight * np.exp(-power))


def _number_step(task: Task, predicted: Any, weight: NDArray[np.float64], number: int) -> Step:
    losses = np.abs(np.asarray(predicted, np.float64) - task.y)
    largest = float(losses[weight > 0].max())
    if largest > 0:
        losses = np.minimum(losses / largest, 1.0)
    if task.config.loss == "square":
        losses = losses**2
    elif task.config.loss == "exponential":
        losses = 1.0 - np.exp(-losses)
    mean = float((weight * losses).sum() / weight.sum())
    if mean <= 0:
        return 1.0, 0.0, None
    if mean >= 0.5:
        return (1.0, mean, None) if number == 0 else None
    power = task.config.learning_rate * adaboost_r2_step(mean).weight
    return power, mean, weight * np.exp(-power * (float(losses.max()) - losses))


@dataclass(frozen=True, eq=False)
class ClonedEnsemble:
    """What `AdaBoostModel` is for our trees: members that vote, or whose numbers the median is taken of.

    Attributes
    ----------
    members : list of estimators
        The fitted copies.
    tree_weights, tree_errors : float64[members]
        Weight and error of each.
    labels : ndarray or None
        Labels of the classes; None where numbers are predicted.
    """

    members: list[Any]
    tree_weights: NDArray[np.float64]
    tree_errors: NDArray[np.float64]
    labels: NDArray[Any] | None

    def decision(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Votes for classes over the weight of all members; see `AdaBoostModel.decision`."""
        *_, last = self.staged(X)
        return last

    def probabilities(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """What votes for classes come to as probabilities."""
        assert self.labels is not None
        many = len(self.labels)
        if many == 1:
            return np.ones((len(decision), 1))
        if many == 2:
            second = logistic(decision)
            return np.column_stack([1.0 - second, second])
        return softmax(decision / (many - 1))

    def predict(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """The median of the members' numbers, by weight."""
        return weighted_medians(self._numbers(X), self.tree_weights)

    def staged(self, X: object, n_jobs: int | None = None) -> Iterator[NDArray[np.float64]]:
        """What `decision` or, for numbers, `predict` gives after one member, two members, and so on, in turn."""
        return self._staged_numbers(X) if self.labels is None else self._staged_votes(X, self.labels)

    def _staged_votes(self, X: object, labels: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
        many, total = len(labels), 0.0
        sums: Any = 0.0
        for member, weight in zip(self.members, self.tree_weights.tolist(), strict=True):
            votes = np.asarray(member.predict(X))[:, None] == labels
            sums = sums + np.where(votes, weight, -weight / max(many - 1, 1))
            total += weight
            shares = sums / total if total > 0 else np.zeros_like(sums)
            if many == 1:
                shares = np.zeros_like(sums)
            yield 2.0 * shares[:, 1] if many == 2 else shares

    def _staged_numbers(self, X: object) -> Iterator[NDArray[np.float64]]:
        numbers = self._numbers(X)
        for count in range(1, len(self.members) + 1):
            yield weighted_medians(numbers[:, :count], self.tree_weights[:count])

    def _numbers(self, X: object) -> NDArray[np.float64]:
        """The number that each member predicts for each row, (rows, members)."""
        return np.column_stack([np.asarray(member.predict(X), np.float64) for member in self.members])

    def importance(self) -> NDArray[np.float64]:
        """Mean of the members' importances, by weight.

        Raises
        ------
        AttributeError
            If the members have none.
        """
        found = np.array([member.feature_importances_ for member in self.members])
        mean: NDArray[np.float64] = self.tree_weights @ found / self.tree_weights.sum()
        return mean


def weighted_medians(numbers: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of every row, the least number up to which there is half of the weight or more.

    Examples
    --------
    >>> weighted_medians(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 4.0])).tolist()
    [2.0]
    """
    order = np.argsort(numbers, axis=1, kind="stable")
    up_to = np.cumsum(weight[order], axis=1)
    place = (up_to >= 0.5 * up_to[:, -1:]).argmax(axis=1)
    rows = np.arange(len(numbers))
    found: NDArray[np.float64] = numbers[rows, order[rows, place]]
    return found

"""Boosting copies of any estimator of scikit-learn's kind, with its draws: the same seed gives the same copies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.estimators.adaboost.committee import Committee
from spinney.messages import shown
from spinney.params import AdaBoostConfig
from spinney.training.adaboost import (
    LARGEST_POWER,
    adaboost_r2_step,
    adaboost_step,
    guessing_error,
)

LEAST = float(np.finfo(np.float64).eps)  # weight of a row beside the sum of all, as in scikit-learn
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


def boosted(task: Task, rounds: int, told: Callable[[int], None]) -> Committee:
    """Boost copies of an estimator, so many at most; `told` is called after each round."""
    rng = np.random.RandomState(task.config.random_state % 2**32)
    rows = len(task.y)
    weight = np.ones(rows) if task.weight is None else task.weight.copy()
    weight /= weight.sum()
    judged = _judge_classes if task.labels is not None else _judge_numbers
    members: list[Any] = []
    kept: list[tuple[float, float]] = []
    for number in range(rounds):
        weight[weight > 0] = np.maximum(weight[weight > 0], LEAST)
        member = _fitted(task, weight, rng)
        found = judged(task, member.predict(task.X), weight, number)
        if found is not None:
            members.append(member)
            kept.append(found[:2])
        told(number + 1)
        if found is None or found[2] is None:
            break
        weight = found[2] / found[2].sum()
    if not any(say > 0 for say, _ in kept):
        raise DataError(
            f"none of {rounds} copies of {type(task.estimator).__name__} on drawn rows is better than guessing: give another "
            "estimator or other columns"
        )
    weights, errors = np.array(kept).T
    return Committee(members, np.ascontiguousarray(weights), np.ascontiguousarray(errors), task.labels)


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
Judged = tuple[float, float, NDArray[np.float64] | None] | None


def _judge_classes(task: Task, said: Any, weight: NDArray[np.float64], number: int) -> Judged:
    assert task.labels is not None
    many = len(task.labels)
    wrong = np.asarray(said) != task.y
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


def _judge_numbers(task: Task, said: Any, weight: NDArray[np.float64], number: int) -> Judged:
    losses = np.abs(np.asarray(said, np.float64) - task.y)
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

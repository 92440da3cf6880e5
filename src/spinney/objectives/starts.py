"""Scores to start from: the constant with the least loss, of losses of one score; and the exact sums that it is computed with.

Results do not depend on the order of the rows, nor on how they are cut into blocks. Values are summed as integers of two layers:
multiples of a power of two, chosen by the largest value, and of a smaller one for what the first layer rounds off. 2**31 values
of 31 bits fit an int64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.classes import CERTAIN
from spinney.errors import DataError
from spinney.jit.team import run_alone
from spinney.objectives.kernels.links import exp_all, log_all

# The sum of the gradients of all rows as a function of their common score.
Slope = Callable[[float], float]

# The search for a root ends when its interval is this narrow, as a share of the larger end, or after this many steps.
_NARROW = 1e-12
_STEPS = 200
# Sums are noise below this share of the sum of |g|: float32 has 24 bits, and errors of many rows cancel.
_NOISE = 1e-9
# Largest log-odds of a search.
_LARGEST_ODDS = 50.0


def mean(labels: Labels, objective: str) -> float:
    """The mean itself."""
    return weighted_mean(labels)


def log_mean(labels: Labels, objective: str) -> float:
    """Logarithm of the mean."""
    found = weighted_mean(labels)
    if not found > 0:
        raise DataError(
            f"objective {objective} needs a row with y above 0 and a weight above 0: the mean of y is {found:g}"
        )
    return _log(found)


def mean_log(labels: Labels, objective: str) -> float:
    """The mean on the scale of log(1 + y)."""
    logs = np.empty(labels.rows)
    log_all(labels.rows, 1.0 + labels.target, logs)
    found = np.empty(1)
    run_alone(exp_all.bind(1, np.array([weighted_mean(replace(labels, target=logs))]), found))
    return float(found[0]) - 1.0


def log_odds(labels: Labels, objective: str) -> float:
    """Log-odds of the mean."""
    p = _share(labels, objective)
    return _log(p) - _log(1 - p)


def certain(labels: Labels) -> float | None:
    """Log-odds of a label that all rows of weight above 0 have, or none; None where they differ.

    Examples
    --------
    >>> certain(Labels(np.array([0.0, 0.0]))), certain(Labels(np.array([0.0, 1.0])))
    (-40.0, None)
    """
    p = weighted_mean(labels)
    return None if 0.0 < p < 1.0 else CERTAIN if p > 0.0 else -CERTAIN


def quantile(labels: Labels, level: float) -> float:
    """The value below which a share `level` of the weight lies; halfway between two values where both would do.

    Examples
    --------
    >>> quantile(Labels(np.array([3.0, 1.0, 2.0, 10.0])), 0.5)
    2.5
    >>> quantile(Labels(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, 1.0])), 0.5)
    3.0
    """
    return quantiles(labels, [level])[0]


def quantiles(labels: Labels, levels: Sequence[float]) -> list[float]:
    """Quantiles of several levels."""
    order = np.argsort(labels.target, kind="stable")
    values, below = labels.target[order], np.cumsum(integer_weights(labels)[order])
    return [_value_at(values, below, level) for level in levels]


def _value_at(values: NDArray[np.float64], below: NDArray[np.int64], level: float) -> float:
    """The first value at which the sum of weights up to it reaches a share of them all."""
    wanted = level * float(below[-1])  # as in leaf values
    at = int(np.searchsorted(below.astype(np.float64), wanted))
    if float(below[at]) != wanted:
        return float(values[at])
    after = int(np.searchsorted(below, below[at], side="right"))  # the next row with a weight above 0
    return float(values[at] * 0.5 + values[after] * 0.5)


def by_size(labels: Labels) -> Labels:
    """Labels with weights divided by max(1, |y|), as in absolute percentage errors."""
    sizes = np.maximum(1.0, np.abs(labels.target))
    return replace(labels, weight=(1.0 if labels.weight is None else labels.weight) / sizes)


def root(labels: Labels, slope: Slope, objective: str, logistic: bool) -> float:
    """The score at which the sum of gradients is 0, between the smallest and the largest target, or between the largest log-odds.

    By false position; an end that stays twice has its slope halved (the Illinois algorithm).
    """
    if logistic:
        _share(labels, objective)
        low, high = -_LARGEST_ODDS, _LARGEST_ODDS
    else:
        counted = labels.target if labels.weight is None else labels.target[labels.weight > 0]
        low, high = float(counted.min()), float(counted.max())
    at_low, at_high = slope(low), slope(high)
    if at_low >= 0.0 or at_high <= 0.0:
        return low if at_low >= 0.0 else high
    stayed = 0
    for _ in range(_STEPS):
        if high - low <= _NARROW * max(abs(low), abs(high)):
            break
        middle = low + (high - low) * (at_low / (at_low - at_high))
        if not low < middle < high:
            middle = low * 0.5 + high * 0.5
        found = slope(middle)
        if found == 0.0:
            return middle
        if found < 0.0:
            low, at_low = middle, found
            at_high, stayed = (at_high * 0.5 if stayed > 0 else at_high), 1
        else:
            high, at_high = middle, found
            at_low, stayed = (at_low * 0.5 if stayed < 0 else at_low), -1
    return low * 0.5 + high * 0.5


def summed(pairs: NDArray[np.float32]) -> float:
    """Sum of the gradients of all rows; 0 where it is within their rounding errors."""
    gradients = pairs[..., 0].ravel().astype(np.float64)
    if not gradients.any():
        return 0.0
    total = exact_sum(gradients)
    return total if abs(total) > _NOISE * exact_sum(np.abs(gradients)) else 0.0


def _share(labels: Labels, objective: str) -> float:
    """Mean of a target of probabilities; an error where it is 0 or 1."""
    p = weighted_mean(labels)
    if not 0 < p < 1:
        raise DataError(
            f"objective {objective} needs rows of both classes with a weight above 0, {labels.one_class_message}"
        )
    return p


def _log(value: float) -> float:
    result = np.empty(1)
    log_all(1, np.array([value]), result)
    return float(result[0])


# By name: those that are computed from labels alone.
STARTS: Mapping[str, Callable[[Labels, str], float]] = {
    "mean": mean,
    "log_mean": log_mean,
    "mean_log": mean_log,
    "log_odds": log_odds,
}


# --- Exact sums


def weighted_mean(labels: Labels) -> float:
    """Mean of the target; rows of weight 0 do not count, not even in the last bit."""
    if labels.weight is None:
        return exact_sum(labels.target) / labels.rows
    return exact_sum(labels.target * labels.weight) / exact_sum(labels.weight)


def exact_sum(values: NDArray[np.float64]) -> float:
    """Sum of values.

    Examples
    --------
    >>> exact_sum(np.array([1e16, 1.0, -1e16]))
    1.0
    """
    power, high, low = _layers(values)
    return float(_sum_of_layers(power, high.sum(), low.sum()))


def exact_sums(
    groups: NDArray[np.int64], values: NDArray[np.float64] | None, count: int
) -> NDArray[np.float64]:
    """Sum of the values of each group, or its rows where there are no values.

    Examples
    --------
    >>> exact_sums(np.array([0, 2, 0]), np.array([0.5, 1.0, 0.25]), 3).tolist()
    [0.75, 0.0, 1.0]
    """
    if values is None:
        return np.bincount(groups, minlength=count).astype(np.float64)
    power, *layers = _layers(values)
    sums = np.zeros((2, count), np.int64)
    for layer, total in zip(layers, sums, strict=True):
        np.add.at(total, groups, layer)
    return _sum_of_layers(power, *sums)


def integer_weights(labels: Labels) -> NDArray[np.int64]:
    """Weights as integers of which 2**31 fit an int64; a weight above 0 is 1 at least.

    Examples
    --------
    >>> integer_weights(Labels(np.zeros(3), np.array([1.0, 0.5, 0.0]))).tolist()
    [1073741824, 536870912, 0]
    """
    if labels.weight is None:
        return np.ones(labels.rows, np.int64)
    power = int(np.frexp(labels.weight.max())[1]) - 31
    steps = np.rint(np.ldexp(labels.weight, -power)).astype(np.int64)
    return np.where(labels.weight > 0, np.maximum(steps, 1), 0)


def _layers(values: NDArray[np.float64]) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """The power of two, and the integers of both layers."""
    power = int(np.frexp(np.abs(values).max())[1]) - 31
    steps = np.ldexp(values, -power)
    high = np.rint(steps)
    low = np.rint((steps - high) * 2.0**31)
    return power, high.astype(np.int64), low.astype(np.int64)


def _sum_of_layers(power: int, high: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.ldexp(high + low * 2.0**-31, power)
    return total

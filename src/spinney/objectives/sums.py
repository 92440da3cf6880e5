"""Sums that depend neither on the order of the rows nor on how they are cut into blocks.

Values become whole numbers of two layers, by a power of two that follows from the largest of them. 2**31 values of 31 bits fit
an int64. What the first layer rounds away goes to the second.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels


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
    return float(_joined(power, high.sum(), low.sum()))


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
    return _joined(power, *sums)


def whole_weights(labels: Labels) -> NDArray[np.int64]:
    """Weights as whole numbers of which 2**31 fit an int64; what weighs anything weighs 1 at least.

    Examples
    --------
    >>> whole_weights(Labels(np.zeros(3), np.array([1.0, 0.5, 0.0]))).tolist()
    [1073741824, 536870912, 0]
    """
    if labels.weight is None:
        return np.ones(labels.rows, np.int64)
    power = int(np.frexp(labels.weight.max())[1]) - 31
    steps = np.rint(np.ldexp(labels.weight, -power)).astype(np.int64)
    return np.where(labels.weight > 0, np.maximum(steps, 1), 0)


def _layers(values: NDArray[np.float64]) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """The power of two, and the whole numbers of both layers."""
    power = int(np.frexp(np.abs(values).max())[1]) - 31
    steps = np.ldexp(values, -power)
    high = np.rint(steps)
    low = np.rint((steps - high) * 2.0**31)
    return power, high.astype(np.int64), low.astype(np.int64)


def _joined(power: int, high: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[np.float64]:
    joined: NDArray[np.float64] = np.ldexp(high + low * 2.0**-31, power)
    return joined

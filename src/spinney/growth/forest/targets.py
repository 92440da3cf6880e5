"""What kernels know of a forest's target."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from spinney.data.forest_target import ForestTarget
from spinney.growth.forest.kernels.records import Target

STEP_BITS = 30  # of a number in steps, besides its sign
LEAST_UNIT = -1022  # power of two of the smallest step: float64 has few digits below it


def target_record(
    target: ForestTarget, weight: NDArray[np.float64] | None, channels: int, centered: bool
) -> Target:
    """Turn a target into steps: whole numbers that classes are already.

    Parameters
    ----------
    target : ForestTarget
        Classes or numbers.
    weight : float64[rows], optional
        Weights of the rows.
    channels : int
        Sums that a node has beside its weight.
    centered : bool
        Whether 0 steps stand for the middle of the numbers, else for 0.
    """
    rows, outputs = target.values.shape
    weights = np.zeros(0) if weight is None else np.ascontiguousarray(weight, np.float64)
    centers, units = np.zeros(outputs), np.ones(outputs)
    if target.classes:
        steps, numbers = target.values.astype(np.int32), np.zeros(0)
        first = np.concatenate([[0], np.cumsum(target.classes)[:-1]]).astype(np.int64)
    else:
        numbers = np.ascontiguousarray(target.values, np.float64)
        first = np.arange(outputs, dtype=np.int64)
        if centered:
            centers = numbers.min(axis=0) * 0.5 + numbers.max(axis=0) * 0.5
        largest = float(np.abs(numbers - centers).max())
        # The smallest power of two with which every number has STEP_BITS bits or fewer. All outputs have the same, because
        # their squares are added.
        if largest > 0:
            units[:] = 2.0 ** max(math.ceil(math.log2(largest)) - STEP_BITS, LEAST_UNIT)
        steps = np.rint((numbers - centers) / units).astype(np.int32)
    return Target(
        rows=rows,
        outputs=outputs,
        channels=channels,
        classes=int(bool(target.classes)),
        weighted=int(weight is not None),
        values=target.leaf_values,
        steps=np.ascontiguousarray(steps).ravel(),
        first=first,
        numbers=numbers.ravel(),
        centers=centers,
        units=units,
        weights=weights,
    )

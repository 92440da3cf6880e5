"""Where scores of losses of one score start: the constant with the least loss.

Nothing here depends on the order of the rows, nor on how they are cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.errors import DataError
from spinney.jit.team import run_alone
from spinney.objectives.kernels.links import exp_all, log_all
from spinney.objectives.sums import exact_sum, weighted_mean, whole_weights

# Gives the sum of all rows' gradients where every row has this score.
Slope = Callable[[float], float]

# The search for a root ends when what brackets it is so narrow, as a share of its larger end, or after so many steps.
_NARROW = 1e-12
_STEPS = 200
# Share of the sizes of gradients: float32 has 24 bits, and errors of many rows cancel.
_NOISE = 1e-9
# Log-odds of a class that is certain, in place of infinity: the probability is 1 to the last bit.
CERTAIN = 40.0
# Log-odds beyond which no search goes.
_FARTHEST = 50.0


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
    """Log-odds of a label that all rows of weight above 0 have, or none of them has; None where they differ.

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
    """The same for several levels."""
    order = np.argsort(labels.target, kind="stable")
    values, below = labels.target[order], np.cumsum(whole_weights(labels)[order])
    return [_reached(values, below, level) for level in levels]


def _reached(values: NDArray[np.float64], below: NDArray[np.int64], level: float) -> float:
    """The value at which the weights up to it reach a share of all of them."""
    wanted = level * float(below[-1])  # as where leaves are renewed
    at = int(np.searchsorted(below.astype(np.float64), wanted))
    if float(below[at]) != wanted:
        return float(values[at])
    after = int(np.searchsorted(below, below[at], side="right"))  # the next row that weighs anything
    return float(values[at] * 0.5 + values[after] * 0.5)


def by_size(labels: Labels) -> Labels:
    """Labels with weights divided by max(1, |y|), as absolute percentage errors weigh rows."""
    sizes = np.maximum(1.0, np.abs(labels.target))
    return replace(labels, weight=(1.0 if labels.weight is None else labels.weight) / sizes)


def root(labels: Labels, slope: Slope, objective: str, logistic: bool) -> float:
    """Where the sum of gradients is 0, between the least and the largest target or, for log-odds, far out.

    It is false position; an end that stays twice has its slope halved (Illinois).
    """
    if logistic:
        _share(labels, objective)
        low, high = -_FARTHEST, _FARTHEST
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
    """Sum of the gradients of all rows; 0 where it is no more than their rounding."""
    gradients = pairs[..., 0].ravel().astype(np.float64)
    if not gradients.any():
        return 0.0
    total = exact_sum(gradients)
    return total if abs(total) > _NOISE * exact_sum(np.abs(gradients)) else 0.0


def _share(labels: Labels, objective: str) -> float:
    """Mean of a target between 0 and 1, neither of them."""
    p = weighted_mean(labels)
    if not 0 < p < 1:
        raise DataError(
            f"objective {objective} needs rows of both classes with a weight above 0, {labels.said_of_one_class}"
        )
    return p


def _log(value: float) -> float:
    result = np.empty(1)
    log_all(1, np.array([value]), result)
    return float(result[0])


# Those that need the labels alone.
STARTS: Mapping[str, Callable[[Labels, str], float]] = {
    "mean": mean,
    "log_mean": log_mean,
    "mean_log": mean_log,
    "log_odds": log_odds,
}

"""What a loss must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError
from spinney.jit import Bound
from spinney.objectives.kernels import STAT_BLOCK, restate

# Gradients are float32; a target beyond this could make one infinite.
LARGEST_TARGET = 1e30


@dataclass(frozen=True, eq=False)
class Round:
    """The arrays of a training: scores by output and row, what the target is, and where gradients go."""

    scores: NDArray[np.float64]  # outputs × rows
    target: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    pairs: NDArray[np.float32]  # outputs × rows × (g, h)
    stats: NDArray[np.float64]  # outputs × blocks × (largest |g|, largest h, sum |g|, sum h)
    # pairs and stats as they were before a sample was drawn
    kept: tuple[NDArray[np.float32], NDArray[np.float64]] | None

    @classmethod
    def over(
        cls,
        scores: NDArray[np.float64],
        target: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        keep: bool = False,
    ) -> Round:
        """Make room for the gradients of these scores, twice to keep a copy."""
        outputs, rows = scores.shape
        blocks = -(-rows // STAT_BLOCK)
        pairs = np.empty((outputs, rows, 2), np.float32)
        stats = np.empty((outputs, blocks, 4), np.float64)
        kept = (np.empty_like(pairs), np.empty_like(stats)) if keep else None
        return cls(scores, target, weight, pairs, stats, kept)

    def keep(self) -> None:
        """Keep gradients and statistics as they are, if there is room for a copy."""
        if self.kept is not None:
            self.kept[0][:] = self.pairs
            self.kept[1][:] = self.stats

    def restate(self) -> Bound:
        """A job for a team that computes `stats` again, for gradients that have been changed."""
        outputs, blocks = self.stats.shape[:2]
        return restate.bind(self.pairs.shape[1], outputs, blocks, self.pairs, self.stats)

    @property
    def weights(self) -> tuple[int, NDArray[np.float64]]:
        """Whether there are weights, and the array to give to a kernel."""
        return (0, np.empty(0)) if self.weight is None else (1, self.weight)


class Objective(ABC):
    """A loss as training and prediction see it."""

    name: str

    def outputs(self, num_class: int) -> int:
        """Scores per row."""
        return 1

    @abstractmethod
    def check_target(self, target: NDArray[np.float64], num_class: int) -> None:
        """Raise `DataError` where the target does not fit the loss."""

    @abstractmethod
    def base_score(
        self, target: NDArray[np.float64], weight: NDArray[np.float64] | None, num_class: int
    ) -> NDArray[np.float64]:
        """The constant score, one for each output, with the least loss."""

    @abstractmethod
    def gradients(self, data: Round, threads: int) -> Bound:
        """A job for a team that fills `data.pairs` and `data.stats` from `data.scores`."""

    @abstractmethod
    def link(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predictions from raw scores: (rows,) or (rows, outputs)."""


def weighted_mean(values: NDArray[np.float64], weight: NDArray[np.float64] | None) -> float:
    """Mean of values; rows of weight 0 do not count, not even in the last bit."""
    if weight is None:
        return exact_sum(values) / len(values)
    return exact_sum(values * weight) / exact_sum(weight)


def exact_sum(values: NDArray[np.float64]) -> float:
    """Sum in two layers of whole numbers, so that neither the order nor added zeros change a bit."""
    largest = float(np.abs(values).max())
    if largest == 0.0:
        return 0.0
    # 2**31 values of 31 bits fit an int64. What the first layer rounds away goes to the second.
    power = int(np.frexp(largest)[1]) - 31
    steps = np.ldexp(values, -power)
    high = np.rint(steps)
    low = np.rint((steps - high) * 2.0**31)
    return float(np.ldexp(high.astype(np.int64).sum() + low.astype(np.int64).sum() * 2.0**-31, power))


def check_size(target: NDArray[np.float64]) -> None:
    """Refuse a target whose gradients would not be finite."""
    worst = int(np.argmax(np.abs(target)))
    if abs(target[worst]) > LARGEST_TARGET:
        raise DataError(
            f"y[{worst}] = {target[worst]:g} is too large to train on; bring the target within ±{LARGEST_TARGET:g}, "
            "for example by dividing it"
        )
    if 0 < abs(target[worst]) < 1 / LARGEST_TARGET:
        raise DataError(
            f"the largest value of y is {target[worst]:g}, too small to train on; bring the target to a size of about 1, "
            "for example by multiplying it"
        )

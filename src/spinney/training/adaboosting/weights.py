"""`Weights`: the weights of the training rows, and what a round makes of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.jit import Bound, allocate
from spinney.jit.math import exp
from spinney.jit.team import Team
from spinney.training.adaboosting.kernels.weights import (
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
from spinney.training.adaboosting.steps import power_of_two_to

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

    def mark(self, leaf: NDArray[np.int32], said: NDArray[np.int32], target: NDArray[np.int32]) -> int:
        """Mark the rows whose class is not what their leaf says; returns the sum of their weights."""
        return self._run(mark_wrong.bind(len(said), leaf, said, target, self._state, self._wrong))

    def raise_marked(self, mistaken: int, power: float) -> None:
        """Multiply the weights of marked rows, which sum up to `mistaken`, by e to a power, beside those of all others."""
        # Others become lighter in place of marked ones heavier, so that nothing overflows.
        right = float(exp(-power))
        factor = power_of_two_to(mistaken + (self.total - mistaken) * right, BITS)
        self._scale(right * factor, factor)

    def measure(
        self, leaf: NDArray[np.int32], said: NDArray[np.float64], target: NDArray[np.float64], loss: str
    ) -> tuple[NDArray[np.float64], int]:
        """Losses of all rows, from 0 to 1, where their leaves say these numbers; and their sum by weight.

        All losses are 0 where there is no error.
        """
        losses = np.empty(len(target))
        self._run(measure_errors.bind(len(said), leaf, said, target, self._state, losses))
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

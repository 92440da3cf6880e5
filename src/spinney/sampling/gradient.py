"""Drawing rows by their gradients: GOSS, chances in proportion to the gradient, and plain weighted draws."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.jit.team import Team
from spinney.sampling.gradient_kernels import draw_by_chance, draw_goss, draw_weighted
from spinney.sampling.largest_kernels import PLACES

# Without a penalty, a row whose gradient is 0 would never be drawn, and its hessian be missing from the sums.
LEAST_PENALTY = 1e-3


class GradientSampler:
    """Draws the rows of one round after another. The gradients are changed so that the drawn rows stand for all.

    Parameters
    ----------
    eligible : int32
        Rows that may be drawn, ascending.
    pairs : float32[outputs, rows, 2]
        Gradients and hessians; rows that are not drawn become 0.
    bag : int32[rows]
        Where the drawn rows are written, ascending.
    team : Team
        Threads to work with; the draw does not depend on them.
    """

    def __init__(
        self, eligible: NDArray[np.int32], pairs: NDArray[np.float32], bag: NDArray[np.int32], team: Team
    ) -> None:
        count, self._team = len(eligible), team
        self._eligible, self._pairs, self._bag = eligible, pairs, bag
        self._sizes = (count, pairs.shape[1], pairs.shape[0], team.size)
        self._keys = np.zeros(count, np.int32)
        self._chosen = np.zeros(count, np.uint8)
        self._counts = np.zeros(team.size * PLACES, np.int32)
        self._shared = np.zeros(8, np.int64)

    @cached_property
    def _chances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Room for the rows' chances and for their sums."""
        return np.empty(len(self._eligible)), np.empty(2 * len(self._eligible))

    def goss(self, top_rate: float, other_rate: float, seed: int) -> int:
        """Keep the rows of largest gradients and draw some of the others; returns how many there are."""
        count = len(self._eligible)
        top = min(round(top_rate * count), count)
        other = min(max(round(other_rate * count), 1), count - top)
        # By mark: rows left out, kept and drawn.
        factors = np.array([0.0, 1.0, (count - top) / max(other, 1)])
        self._team.run(
            draw_goss.bind(
                *self._sizes, top, other, seed, factors, self._eligible, self._pairs, self._keys, self._chosen, self._counts,
                self._bag,
            )
        )  # fmt: skip
        return top + other

    def weighted(self, share: float, seed: int) -> int:
        """Draw a share of the rows, each with a chance in proportion to its gradient; returns how many."""
        wanted = max(1, round(share * len(self._eligible)))
        self._team.run(
            draw_weighted.bind(
                *self._sizes, wanted, seed, np.array([0.0, 1.0, 1.0]), self._eligible, self._pairs, self._keys, self._chosen,
                self._counts, self._bag,
            )
        )  # fmt: skip
        return wanted

    def gradient_based(self, share: float, reg_lambda: float, seed: int) -> int:
        """Draw a share of the rows on average and divide by the chances; returns how many, at least one."""
        count = len(self._eligible)
        wanted = max(1, round(share * count))
        self._team.run(
            draw_by_chance.bind(
                *self._sizes, wanted, seed, max(float(reg_lambda), LEAST_PENALTY), self._eligible, self._pairs, *self._chances,
                np.zeros(1), self._chosen, self._counts, self._shared, self._bag,
            )
        )  # fmt: skip
        drawn = int(self._counts[0])
        if drawn == 0:
            # No row was lucky: one that weighs nothing makes a tree of a single leaf.
            self._bag[0] = self._eligible[0]
            return 1
        return drawn

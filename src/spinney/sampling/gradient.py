"""Drawing rows by their gradients: GOSS, chances in proportion to the gradient, and plain weighted draws."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.jit.team import Team
from spinney.sampling.kernels.gradient import draw_by_chance, draw_goss, draw_weighted
from spinney.sampling.kernels.records import Chances, Pairs
from spinney.sampling.uniform import chances_of, drawing_of

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
        self._team = team
        self._drawing = drawing_of(eligible, bag, team)
        outputs, rows, _ = pairs.shape
        self._pairs = Pairs(rows=rows, outputs=outputs, values=pairs)

    @cached_property
    def _chances(self) -> Chances:
        return chances_of(self._drawing, self._team)

    def goss(self, top_rate: float, other_rate: float, seed: int) -> int:
        """Keep the rows of largest gradients and draw some of the others; returns how many there are."""
        top, other, factors = goss_counts(self._drawing.count, top_rate, other_rate)
        self._team.run(draw_goss.bind(self._drawing, self._pairs, top, other, seed, factors))
        return top + other

    def weighted(self, share: float, seed: int) -> int:
        """Draw a share of the rows, each with a chance in proportion to its gradient; returns how many."""
        wanted: int = max(1, round(share * self._drawing.count))
        factors = np.array([0.0, 1.0, 1.0])
        self._team.run(draw_weighted.bind(self._drawing, self._pairs, wanted, seed, factors))
        return wanted

    def gradient_based(self, share: float, reg_lambda: float, seed: int) -> int:
        """Draw a share of the rows on average and divide by the chances; returns how many, at least one."""
        drawing = self._drawing
        wanted = max(1, round(share * drawing.count))
        penalty = max(float(reg_lambda), LEAST_PENALTY)
        self._team.run(draw_by_chance.bind(drawing, self._pairs, self._chances, wanted, seed, penalty))
        drawn = int(drawing.drawn[0])
        if drawn == 0:
            # No row was lucky: one that weighs nothing makes a tree of a single leaf.
            drawing.bag[0] = drawing.eligible[0]
            return 1
        return drawn


def goss_counts(count: int, top_rate: float, other_rate: float) -> tuple[int, int, NDArray[np.float64]]:
    """How many of so many rows GOSS keeps and draws, and factors on gradients by mark: of rows left out, kept and drawn."""
    top = min(round(top_rate * count), count)
    other = min(max(round(other_rate * count), 1), count - top)
    return top, other, np.array([0.0, 1.0, (count - top) / max(other, 1)])

"""`RankSampler`: the draws of `spinney.sampling.rows` where every rank holds some of the rows, by sums of counts over ranks.

Of equal keys the first rows of the table win, so a rank needs the number of equal ones that the ranks before it hold.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.collective import Communicator
from spinney.jit.records import of_thread
from spinney.jit.team import Team
from spinney.sampling.kernels.gradient import KEY_SHIFT, MOST_TURNS
from spinney.sampling.kernels.random import PURPOSE_OTHERS, PURPOSE_ROWS
from spinney.sampling.kernels.ranks import (
    draw_with_factor,
    find_gradient_keys,
    find_random_keys,
    find_waiting_keys,
    measure_rows,
    scale_marked,
    sum_rest,
    take_marked,
)
from spinney.sampling.kernels.records import Chances, Pairs
from spinney.sampling.kernels.rows import DRAWN, KEPT, RANDOM_SHIFT
from spinney.sampling.rows import LEAST_PENALTY, allocate_chances, allocate_drawing, goss_counts

LEADING_BITS = 12
DIGIT_BITS = 10


class RankSampler:
    """Draws this rank's rows of the samples that `UniformSampler` and `GradientSampler` draw of all rows.

    A draw takes four collective calls; GOSS eight, `gradient_based` one for each turn of its search and two more.

    Parameters
    ----------
    eligible : int32
        Rows of this rank that may be drawn, ascending.
    pairs : float32[outputs, rows, 2]
        Gradients and hessians; rows that are not drawn become 0.
    bag : int32[rows]
        Where the drawn rows are written, ascending.
    team : Team
        Threads to work with; the draw does not depend on them.
    communicator : Communicator
        The other ranks.
    first : int
        Number of this rank's first row in the whole table.
    """

    def __init__(
        self,
        eligible: NDArray[np.int32],
        pairs: NDArray[np.float32],
        bag: NDArray[np.int32],
        team: Team,
        communicator: Communicator,
        first: int,
    ) -> None:
        self._team, self._communicator = team, communicator
        self._drawing = allocate_drawing(eligible, bag, team, first)
        outputs, rows, _ = pairs.shape
        self._pairs = Pairs(rows=rows, outputs=outputs, values=pairs)
        self._counts: NDArray[np.int64] | None = None

    def _by_ranks(self) -> NDArray[np.int64]:
        """Number of rows of each rank that may be drawn; found at the first draw."""
        # Not a cached property: Python 3.11 locks it for all instances, and ranks may be threads that wait for each other.
        if self._counts is None:
            self._counts = self._by_rank(self._drawing.count)
        return self._counts

    @property
    def _count(self) -> int:
        return int(self._by_ranks().sum())

    @cached_property
    def _chances(self) -> Chances:
        return allocate_chances(self._drawing, self._team)

    def draw(self, share: float, seed: int) -> int:
        """Draw a share of all rows; returns how many of this rank are drawn; see `UniformSampler.draw`."""
        drawing = self._drawing
        wanted = max(1, round(share * self._count))
        if wanted == self._count:
            drawing.bag[: drawing.count] = drawing.eligible
            return int(drawing.count)
        drawing.chosen[:] = 0
        self._team.run(find_random_keys.bind(drawing, seed, PURPOSE_ROWS))
        self._mark(RANDOM_SHIFT, wanted, DRAWN)
        return self._taken()

    def goss(self, top_rate: float, other_rate: float, seed: int) -> int:
        """Keep the rows of largest gradients and draw some of the others; see `GradientSampler.goss`."""
        drawing, pairs = self._drawing, self._pairs
        top, other, factors = goss_counts(self._count, top_rate, other_rate)
        drawing.chosen[:] = 0
        if top > 0:
            self._team.run(find_gradient_keys.bind(drawing, pairs))
            self._mark(KEY_SHIFT, top, KEPT)
        if other > 0:
            self._team.run(find_random_keys.bind(drawing, seed, PURPOSE_OTHERS))
            self._mark(RANDOM_SHIFT, other, DRAWN)
        self._team.run(scale_marked.bind(drawing, pairs, factors))
        return self._taken()

    def weighted(self, share: float, seed: int) -> int:
        """Draw rows with chances in proportion to their gradients; see `GradientSampler.weighted`."""
        drawing, pairs = self._drawing, self._pairs
        self._team.run(find_waiting_keys.bind(drawing, pairs, seed))
        self._mark(KEY_SHIFT, max(1, round(share * self._count)), KEPT)
        self._team.run(scale_marked.bind(drawing, pairs, np.array([0.0, 1.0, 1.0])))
        return self._taken()

    def gradient_based(self, share: float, reg_lambda: float, seed: int) -> int:
        """Draw a share of the rows on average and divide by the chances; see `GradientSampler.gradient_based`."""
        drawing, chances = self._drawing, self._chances
        wanted = max(1, round(share * self._count))
        penalty = max(float(reg_lambda), LEAST_PENALTY)
        self._team.run(measure_rows.bind(drawing, self._pairs, chances, penalty))
        factor = self._factor(wanted)
        self._team.run(draw_with_factor.bind(drawing, self._pairs, chances, factor, seed))
        drawn = int(drawing.drawn[0])
        if self._by_rank(drawn).any():
            return drawn
        if self._communicator.rank != int(np.flatnonzero(self._by_ranks())[0]):
            return 0
        drawing.bag[0] = drawing.eligible[0]
        return 1

    def _factor(self, wanted: int) -> float:
        """The factor of `find_factor` of the kernels, with sums over all ranks."""
        chances, communicator = self._chances, self._communicator
        by_thread = [of_thread(chances.found, rank) for rank in range(self._team.size)]
        found = np.array([max(mine.largest[0] for mine in by_thread)])
        communicator.allreduce_max(found)
        largest, factor = float(found[0]), 0.0
        scale = _fine_scale(largest)
        for _ in range(MOST_TURNS):
            self._team.run(sum_rest.bind(self._drawing, chances, factor, scale))
            sums = np.sum([mine.sums[:2] for mine in by_thread], axis=0)
            communicator.allreduce_sum(sums)
            left, rest, last = wanted - int(sums[0]), int(sums[1]), factor
            if left > 0 and rest > 0:
                factor = max(factor, float(left) / float(rest) * scale)
            if factor == last:
                break
            scale = _fine_scale(min(largest, 1.0 / factor))
        return factor

    def _mark(self, shift: int, wanted: int, mark: int) -> None:
        """Mark this rank's rows among those of the `wanted` largest keys of all; of equal keys the first rows count.

        Digit by digit: counts over all ranks show the digit of the last row wanted.
        """
        keys, chosen = self._drawing.keys, self._drawing.chosen
        near, left = np.flatnonzero(keys >= 0), wanted
        for low, bits in _digits(shift):
            own = (keys[near] >> low) & ((1 << bits) - 1)
            counts = np.bincount(own, minlength=1 << bits).astype(np.int64)
            self._communicator.allreduce_sum(counts)
            from_top = np.cumsum(counts[::-1])
            place = int(np.searchsorted(from_top, left))
            digit = len(counts) - 1 - place
            left -= int(from_top[place] - counts[digit])
            chosen[near[own > digit]] = mark
            near = near[own == digit]
        before = int(self._by_rank(len(near))[: self._communicator.rank].sum())
        chosen[near[: max(left - before, 0)]] = mark

    def _taken(self) -> int:
        self._team.run(take_marked.bind(self._drawing))
        return int(self._drawing.drawn[0])

    def _by_rank(self, count: int) -> NDArray[np.int64]:
        """The counts of all ranks."""
        counts = np.zeros(self._communicator.size, np.int64)
        counts[self._communicator.rank] = count
        self._communicator.allreduce_sum(counts)
        return counts


def _digits(shift: int) -> list[tuple[int, int]]:
    """The digits of keys below 2**(12 + shift), the leading one first: where each begins, and its bits.

    Examples
    --------
    >>> _digits(19)
    [(19, 12), (9, 10), (0, 9)]
    """
    second = max(shift - DIGIT_BITS, 0)
    return [(shift, LEADING_BITS), (second, shift - second), (0, second)]


def _fine_scale(value: float) -> float:
    """`fine_scale` of the kernels.

    Examples
    --------
    >>> _fine_scale(1.0) == 2.0**29 and _fine_scale(3.0) == 2.0**28
    True
    """
    return math.ldexp(1.0, 30 - math.frexp(value)[1]) if value > 0.0 else 1.0

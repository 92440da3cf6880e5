"""The rows that a tree of boosting sees: the `Bag`, and the samplers that fill it round by round.

`UniformSampler` draws without replacement, every row with the same chance; `GradientSampler` draws by the rows' gradients: GOSS,
weighted draws, and chances in proportion to the gradient. `spinney.sampling.ranks` draws the same rows where ranks hold them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.sampling.kernels.gradient import draw_by_chance, draw_goss, draw_weighted
from spinney.sampling.kernels.records import Chances, Drawing, DrawScratch, Pairs, SizeSums
from spinney.sampling.kernels.rows import draw_uniform

# Without a penalty, a row whose gradient is 0 would never be drawn, and its hessian be missing from the sums.
LEAST_PENALTY = 1e-3


@dataclass(eq=False)
class Bag:
    """The rows that a tree sees.

    Attributes
    ----------
    rows : int32
        Memory for every row of the data set; the rows of the bag come first, ascending.
    count : int or None
        Number of rows in the bag. None: the bag is every row, and `rows` is not read.

    Examples
    --------
    >>> Bag.of_all(1000).count is None
    True
    """

    rows: NDArray[np.int32]
    count: int | None = None

    @classmethod
    def of_all(cls, rows: int) -> Bag:
        """A bag of all rows, until some are drawn."""
        return cls(np.empty(rows, np.int32))


class UniformSampler:
    """Draws rows that all have the same chance.

    Parameters
    ----------
    eligible : int32
        Rows that may be drawn, ascending.
    bag : int32, as many as `eligible` or more
        Where the drawn rows are written, ascending.
    team : Team
        Threads to work with; the draw does not depend on them.

    Examples
    --------
    >>> bag = np.zeros(10, np.int32)
    >>> count = UniformSampler(np.arange(10, dtype=np.int32), bag, Team(1)).draw(0.3, seed=7)
    >>> count, bool(np.all(np.diff(bag[:count]) > 0))
    (3, True)
    """

    def __init__(self, eligible: NDArray[np.int32], bag: NDArray[np.int32], team: Team) -> None:
        self._team = team
        self._drawing = allocate_drawing(eligible, bag, team)

    def draw(self, share: float, seed: int) -> int:
        """Draw a share of the rows into the front of the bag; returns how many (at least one)."""
        drawing = self._drawing
        wanted: int = max(1, round(share * drawing.count))
        if wanted == drawing.count:
            drawing.bag[:wanted] = drawing.eligible
        else:
            self._team.run(draw_uniform.bind(drawing, wanted, seed))
        return wanted


class GradientSampler:
    """Draws rows by their gradients, which are scaled so that the drawn rows stand for all.

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
        self._drawing = allocate_drawing(eligible, bag, team)
        outputs, rows, _ = pairs.shape
        self._pairs = Pairs(rows=rows, outputs=outputs, values=pairs)

    @cached_property
    def _chances(self) -> Chances:
        return allocate_chances(self._drawing, self._team)

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
            # No row was drawn: one of weight 0 makes a tree of a single leaf.
            drawing.bag[0] = drawing.eligible[0]
            return 1
        return drawn


def goss_counts(count: int, top_rate: float, other_rate: float) -> tuple[int, int, NDArray[np.float64]]:
    """Number of rows that GOSS keeps and draws, and factors on gradients by mark: of rows left out, kept and drawn."""
    top = min(round(top_rate * count), count)
    other = min(max(round(other_rate * count), 1), count - top)
    return top, other, np.array([0.0, 1.0, (count - top) / max(other, 1)])


def allocate_drawing(
    eligible: NDArray[np.int32], bag: NDArray[np.int32], team: Team, first: int = 0
) -> Drawing:
    """Memory for draws; `first` is the number of row 0 in the whole table."""
    return allocate(
        Drawing,
        count=len(eligible),
        rows=len(bag),
        first=first,
        eligible=eligible,
        scratch=allocate(DrawScratch, threads=team.size),
        bag=bag,
    )


def allocate_chances(drawing: Drawing, team: Team) -> Chances:
    """Memory for the sizes of the rows' gradients."""
    return allocate(Chances, count=drawing.count, found=allocate(SizeSums, threads=team.size))

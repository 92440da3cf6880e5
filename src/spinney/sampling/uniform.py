"""Uniform subsampling without replacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.sampling.kernels.records import Chances, Drawing, DrawScratch, SizeSums
from spinney.sampling.kernels.uniform import draw_uniform


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
        self._drawing = drawing_of(eligible, bag, team)

    def draw(self, share: float, seed: int) -> int:
        """Draw a share of the rows into the front of the bag; returns how many (at least one)."""
        drawing = self._drawing
        wanted: int = max(1, round(share * drawing.count))
        if wanted == drawing.count:
            drawing.bag[:wanted] = drawing.eligible
        else:
            self._team.run(draw_uniform.bind(drawing, wanted, seed))
        return wanted


def drawing_of(eligible: NDArray[np.int32], bag: NDArray[np.int32], team: Team, first: int = 0) -> Drawing:
    """Memory for drawing some of the rows; `first` is the number of row 0 in the whole table."""
    return allocate(
        Drawing,
        count=len(eligible),
        rows=len(bag),
        first=first,
        eligible=eligible,
        scratch=allocate(DrawScratch, threads=team.size),
        bag=bag,
    )


def chances_of(drawing: Drawing, team: Team) -> Chances:
    """Memory for the sizes of the rows' gradients."""
    return allocate(Chances, count=drawing.count, found=allocate(SizeSums, threads=team.size))

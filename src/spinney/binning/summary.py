"""Summaries of weighted values, and how much error each may hold."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spinney.binning.kernels.cut import Keys, SortBuffers
from spinney.binning.kernels.sketch import Folded, Points, Summaries, condense_blocks, fold_summaries
from spinney.jit import allocate
from spinney.jit.team import Team

# Values that are sorted in one go. Ten million float64 on one thread, in millions a second: blocks of 16 384 values 30,
# 32 768 36, 65 536 45, 131 072 46. Larger ones keep more values in memory that are not summed up yet.
BLOCK = 65_536
MOST_LEVEL = (
    47  # a level's summary is of 2**(level - 1) blocks at least, and a sketch holds fewer than 2**62 values
)
MOST_COUNT = 2**62
SMALLEST_EPS = 1e-7
MOST_TOTAL = 2.0**1022  # sums of weights stay finite in whatever order they are taken

# What a summary of each level may be wrong by, as a share of eps times its mass: level l adds 1 / (3 (l + 2)). That the
# shares fall makes low levels small, of which all sketches have some; that they fall no faster keeps high levels small.
# The sum over all levels is .993.
BUDGET = np.concatenate([[0.0], np.cumsum([1.0 / (3 * (level + 2)) for level in range(1, MOST_LEVEL + 1)])])


@dataclass(frozen=True, eq=False)
class Summary:
    """Points that stand for values.

    The mass of the points below z differs from that of the values below z by at most `error`, for any z, and so does the
    mass at or below z. `error` is at most eps * BUDGET[level] * total.
    """

    points: NDArray[np.float64]  # strictly ascending
    masses: NDArray[np.float64]
    level: int
    error: float
    total: float = field(init=False)

    def __post_init__(self) -> None:
        # A running sum has one order of additions, on any machine.
        object.__setattr__(self, "total", float(np.cumsum(self.masses)[-1]))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.points.nbytes + self.masses.nbytes


def most_points(level: int, eps: float) -> int:
    """Points that a summary of a level may have."""
    return int(3 * (max(level, 1) + 2) / eps) + 2


def most_bytes(eps: float, count: int, block: int = BLOCK) -> int:
    """Bytes that the sketch of `count` values takes at most.

    Examples
    --------
    >>> most_bytes(0.001, 10**6), most_bytes(0.001, 10**9)
    (2056736, 7577056)
    """
    top = (count // block).bit_length()
    points = sum(most_points(level, eps) for level in range(top + 1)) if top else 0
    return 16 * (points + min(block, 2 * count + 64))


def fold(a: Summary, b: Summary, eps: float) -> Summary:
    """One summary of two of the same level; one level higher where it had to be made smaller."""
    level, known = a.level, a.error + b.error
    size = len(a.points) + len(b.points)
    points, masses, folded = np.empty(size), np.empty(size), Folded.zeros(1)
    fold_summaries(
        most_points(level, eps), eps * float(BUDGET[level + 1]), known,
        *(Points(len(one.points), one.points, one.masses) for one in (a, b)),
        np.empty(size, np.int64), np.empty(size), points, masses, folded,
    )  # fmt: skip
    made = int(folded[0].points)
    return Summary(
        points[:made].copy(),
        masses[:made].copy(),
        level + int(folded[0].raised),
        known + float(folded[0].error),
    )


def condense(
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    block: int,
    eps: float,
    team: Team,
) -> list[Summary]:
    """Summaries of whole blocks of values, in order; each is made by one thread. What is left over is not looked at."""
    blocks = len(values) // block
    sorting = allocate(SortBuffers, threads=team.size, longest=block, weighted=int(weights is not None))
    keys = allocate(Keys, threads=team.size, buffers=sorting)
    made = allocate(Summaries, blocks=blocks, block=block)
    team.run(
        condense_blocks.bind(
            len(values), most_points(0, eps), eps * float(BUDGET[1]), values,
            np.empty(0) if weights is None else weights, sorting, keys, made,
        )
    )  # fmt: skip
    found = []
    for b in range(blocks):
        part = slice(b * block, b * block + int(made.made[b]))
        points, masses = made.points[part].copy(), made.masses[part].copy()
        found.append(Summary(points, masses, int(made.raised[b]), float(made.errors[b])))
    return found


def insert(levels: dict[int, Summary], new: Summary, eps: float) -> None:
    """Put a summary among those of a sketch, at most one of each level, as a carry goes through a binary number."""
    while new.level in levels:
        old = levels.pop(new.level)
        folded = fold(old, new, eps)
        if folded.level == old.level:
            levels[folded.level] = folded
            return
        new = folded
    levels[new.level] = new

"""What a sketch holds: the summaries of full blocks, and the block that is being filled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.sketch_input import SketchBatch
from spinney.binning.summary import MOST_COUNT, MOST_TOTAL, Summary, condense, insert
from spinney.errors import DataError
from spinney.jit.team import Team

PARTS_AT_ONCE = 256  # bounds the scratch memory of an update: 2 million values, 48 to 64 MB


class Store:
    """The values of a sketch, most of them summed up.

    Attributes
    ----------
    eps : float
        What ranks may be wrong by.
    block : int
        Values of a block.
    count, missing : int
        Values that weigh something, and NaN.
    low, high : float
        The smallest and the largest value.
    levels : dict of int to Summary
        At most one of each level.
    """

    def __init__(self, eps: float, block: int) -> None:
        self.eps = eps
        self.block = block
        self.count = 0
        self.missing = 0
        self.low, self.high = float("inf"), float("-inf")
        self.levels: dict[int, Summary] = {}
        # The block that is being filled: room for some values, of which `_held` are there. No weights: all weigh 1.
        self._held = 0
        self._values = np.empty(0)
        self._weights: NDArray[np.float64] | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the block that is being filled, in the order they came."""
        return self._values[: self._held]

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Their weights; None where all are 1."""
        return None if self._weights is None else self._weights[: self._held]

    @property
    def summaries(self) -> list[Summary]:
        """The summaries, lowest level first."""
        return [self.levels[level] for level in sorted(self.levels)]

    @property
    def total(self) -> float:
        """Weight of all values."""
        weights = self.weights
        held = float(self._held) if weights is None or not self._held else float(np.cumsum(weights)[-1])
        return sum((summary.total for summary in self.summaries), held)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        held = self._values.nbytes + (0 if self._weights is None else self._weights.nbytes)
        return held + sum(summary.nbytes for summary in self.summaries)

    def points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """All points, ascending and distinct, and their masses."""
        summaries, weights = self.summaries, self.weights
        held = np.ones(self._held) if weights is None else weights
        points = np.concatenate([*(summary.points for summary in summaries), self.values])
        masses = np.concatenate([*(summary.masses for summary in summaries), held])
        order = np.argsort(points, kind="stable")
        points = points[order]
        new = np.concatenate([np.ones(min(len(points), 1), np.bool_), points[1:] != points[:-1]])
        # Added one after another, on any machine.
        return points[new], np.bincount(np.cumsum(new) - 1, masses[order]).astype(np.float64, copy=False)

    def fill(self, values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> None:
        """Set the block that is being filled."""
        self._values, self._weights, self._held = values, weights, len(values)

    def check_room(self, count: int, missing: int, total: float) -> None:
        """Refuse more values or weight than a sketch can hold."""
        for old, new in ((self.count, count), (self.missing, missing)):
            if old + new >= MOST_COUNT:
                raise DataError(f"{old} values and {new} more are too many: a sketch holds fewer than 2**62")
        if not self.total + total <= MOST_TOTAL:
            raise DataError("the weights add up to more than 2**1022; divide all weights by a large number")

    def take(self, batch: SketchBatch, team: Team) -> None:
        """Add what counts of a batch, block by block."""
        for first in range(0, len(batch.kept), PARTS_AT_ONCE):
            parts = min(PARTS_AT_ONCE, len(batch.kept) - first)
            end = self._held + int(batch.kept[first : first + parts].sum())
            self._make_room(end, batch.weighted)
            values, weights = self._values[:end], None if self._weights is None else self._weights[:end]
            batch.copy(first, parts, self._held, values, weights, team)
            self._held = end
            if end >= self.block:
                for summary in condense(values, weights, self.block, self.eps, team):
                    insert(self.levels, summary, self.eps)
                rest = end - end % self.block
                self.fill(values[rest:].copy(), None if weights is None else weights[rest:].copy())
        self._count(batch.count, batch.missing, batch.low, batch.high)

    def merge(self, other: Store) -> None:
        """Add what another store holds; it may be this one."""
        summaries, count, missing, low, high = (
            other.summaries,
            other.count,
            other.missing,
            other.low,
            other.high,
        )
        values, weights = other.values.copy(), None if other.weights is None else other.weights.copy()
        if len(values):
            with Team(1) as team:
                self.take(SketchBatch(values, weights, team), team)
        for summary in summaries:
            insert(self.levels, summary, self.eps)
        self._count(count - len(values), missing, low, high)

    def _count(self, count: int, missing: int, low: float, high: float) -> None:
        self.count += count
        self.missing += missing
        # Adding 0 makes -0.0 to 0.0.
        if count:
            self.low, self.high = min(self.low, low + 0.0), max(self.high, high + 0.0)

    def _make_room(self, needed: int, weighted: bool) -> None:
        """Have room for so many values, and for weights if they come now or came before."""
        held, old = self._held, self._weights
        if len(self._values) < needed:
            # Twice as much as needed, so that values that come one by one are not copied each time.
            values = np.empty(needed if needed >= self.block else min(2 * needed + 64, self.block))
            values[:held] = self._values[:held]
            self._values = values
        if not weighted and (old is None or not held):
            self._weights = None
        elif old is None or len(old) < len(self._values):
            self._weights = np.empty(len(self._values))
            self._weights[:held] = 1.0 if old is None else old[:held]

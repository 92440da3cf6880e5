"""What is given to a sketch: read, checked, and copied into blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.binning.kernels.sketch import PartFacts, Stream, survey_values, take_values
from spinney.data.arrays import not_a_vector, numeric, plain_array
from spinney.data.frame import frame_vector, is_frame
from spinney.data.table import EMPTY32, EMPTY64
from spinney.errors import DataError
from spinney.jit import allocate
from spinney.jit.team import Team

PART = 8192  # values that are looked at, and copied, in one go by one thread


def read_numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """Read one dimension of numbers as float32 or float64 that kernels can walk over, NaN for missing ones."""
    array = frame_vector(values, what) if is_frame(values) else plain_array(values, what)
    if array.ndim != 1:
        raise not_a_vector(array.shape, what)
    array = numeric(array, lambda _: what)
    single = array.dtype == np.float32
    with np.errstate(over="ignore", under="ignore"):
        return np.require(array, np.float32 if single else np.float64, ["C_CONTIGUOUS", "ALIGNED"])


class SketchBatch:
    """Values and weights that were looked through: what is wrong with them has been raised.

    Attributes
    ----------
    kept : int64[parts]
        Values of each part that count: not NaN, and of a weight above 0.
    count, missing : int
        Values that count, and NaN.
    total : float
        Weight of the values that count.
    low, high : float
        The smallest and the largest of them.
    """

    def __init__(self, values: NDArray[Any], weights: NDArray[np.float64] | None, team: Team) -> None:
        self.weighted = weights is not None
        single = values.dtype == np.float32
        self._given = Stream(
            total=len(values),
            single=int(single),
            weighted=int(self.weighted),
            part=PART,
            values32=values if single else EMPTY32,
            values64=EMPTY64 if single else values,
            weights=EMPTY64 if weights is None else weights,
        )
        facts = allocate(PartFacts, parts=-(-len(values) // PART))
        team.run(survey_values.bind(self._given, facts))
        if facts.wrong.any():
            raise _refusal(values, weights)
        self.kept = facts.kept
        self.count, self.missing = int(facts.kept.sum()), int(facts.missing.sum())
        with np.errstate(over="ignore"):
            self.total = float(np.cumsum(facts.sums)[-1])
        self.low, self.high = float(facts.lows.min()), float(facts.highs.max())

    def copy(
        self,
        first: int,
        parts: int,
        at: int,
        values: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        team: Team,
    ) -> None:
        """Copy the values that count, of some parts, to place `at` and on of `values`, and so their weights."""
        kept = self.kept[first : first + parts]
        starts = at + np.cumsum(kept) - kept
        team.run(
            take_values.bind(
                self._given, first, parts, len(values), int(weights is not None), starts, values,
                EMPTY64 if weights is None else weights,
            )
        )  # fmt: skip


def _refusal(values: NDArray[Any], weights: NDArray[np.float64] | None) -> DataError:
    """Make the error for the first value, or else weight, that cannot be used."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        return DataError(f"values holds {values[row]} in row {row}; a sketch takes finite numbers and NaN")
    assert weights is not None
    row = int(np.argmin((weights >= 0.0) & (weights < np.inf)))
    return DataError(f"weights holds {weights[row]} in row {row}; weights must be finite and zero or more")

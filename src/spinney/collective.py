"""Collective calls of the ranks of one training, with the names that XGBoost and MPI have for them.

A training may run on several ranks at once, threads or machines, each with consecutive rows of the table (its *shard*). Every
rank does the same steps on its own rows. Where a step needs all rows, every rank makes the same collective call: integers are
summed, floats are compared for the largest, and what is neither is gathered at rank 0, which broadcasts what follows from it.
Afterwards all hold the same numbers, so all go on in the same way: the same tree grows at each, and each has the whole model.

What is exchanged: of a tree sizes of gradients, sums of the root, one array of histograms a pass, sums of leaves
(`growth/blockwise.py`, `growth/leaf_values.py`). Of a round the largest gradients, a draw's counts by digit of the key
(`sampling/ranks.py`) and, at rank 0, the scores of validation rows (`training/global_steps.py`). Once, all labels at rank 0, and
sums of the target by fold and category (`target_encoding/sums.py`).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import SpinneyError


class RankLostError(SpinneyError, RuntimeError):
    """Another rank is lost, or the run was ended: this rank cannot go on."""


class Communicator(ABC):
    """The collective calls of one rank.

    Every rank makes the same calls in the same order, with arrays of the same dtypes and shapes, but for the first axis of what
    is gathered. A call that cannot be done raises `RankLostError`.

    Attributes
    ----------
    rank : int
        The number of this rank. Ranks hold consecutive rows, in their order.
    size : int
        How many ranks there are.
    """

    rank: int
    size: int

    @abstractmethod
    def allreduce_sum(self, values: NDArray[Any]) -> None:
        """Replace integers by their sums over all ranks."""

    @abstractmethod
    def allreduce_max(self, values: NDArray[Any]) -> None:
        """Replace numbers by the largest of all ranks, element by element."""

    @abstractmethod
    def gather(self, values: NDArray[Any]) -> list[NDArray[Any]] | None:
        """The arrays of all ranks in their order, at rank 0; None elsewhere. First axes may differ, and may be empty."""

    @abstractmethod
    def broadcast(self, values: NDArray[Any] | None) -> NDArray[Any]:
        """The array of rank 0, at every rank; those of the others are not used."""

    def gather_rows(self, values: NDArray[Any]) -> NDArray[Any] | None:
        """The rows of all ranks in one array, at rank 0; None elsewhere."""
        found = self.gather(values)
        return None if found is None else np.concatenate(found)

    def broadcast_object(self, value: Any) -> Any:
        """The value of rank 0, of JSON types, at every rank; those of the others are not used."""
        text = None if self.rank else np.frombuffer(json.dumps(value).encode(), np.uint8)
        return json.loads(self.broadcast(text).tobytes())


class _Alone(Communicator):
    """The only rank: nothing is sent, copied or converted."""

    rank = 0
    size = 1

    def allreduce_sum(self, values: NDArray[Any]) -> None:
        pass

    def allreduce_max(self, values: NDArray[Any]) -> None:
        pass

    def gather(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        return [values]

    def broadcast(self, values: NDArray[Any] | None) -> NDArray[Any]:
        assert values is not None
        return values

    def gather_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        return values

    def broadcast_object(self, value: Any) -> Any:
        return value


ALONE = _Alone()

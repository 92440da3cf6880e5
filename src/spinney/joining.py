"""How the ranks of one training speak: sums, maxima, a gathering at rank 0 and what it spreads.

A training may run on several ranks at once, each with consecutive rows of the table. Every rank does the same steps on its own
rows; where a step needs all rows, the ranks *join*. Afterwards all hold the same numbers, so all go on in the same way.
"""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from spinney.errors import SpinneyError


class JoiningLostError(SpinneyError, RuntimeError):
    """Another rank has gone, or the run was ended: this rank cannot go on."""


class Joining(Protocol):
    """What one rank joins the others by.

    Every rank calls the same verbs in the same order, with arrays of the same dtypes and shapes, but for the first axis of
    what is gathered. A verb that cannot be done raises `JoiningLostError`.
    """

    @property
    def rank(self) -> int:
        """The number of this rank. Ranks hold consecutive rows, in their order."""

    @property
    def size(self) -> int:
        """How many ranks there are."""

    def sum(self, values: NDArray[Any]) -> None:
        """Replace integers by their sums over all ranks."""

    def largest(self, values: NDArray[Any]) -> None:
        """Replace numbers by the largest of all ranks, element by element."""

    def gather(self, values: NDArray[Any]) -> list[NDArray[Any]] | None:
        """The arrays of all ranks in their order, at rank 0; None elsewhere. First axes may differ, and may be empty."""

    def spread(self, values: NDArray[Any] | None) -> NDArray[Any]:
        """The array of rank 0, at every rank; what the others give is not looked at."""


class _Alone:
    """One rank: nobody to join."""

    rank = 0
    size = 1

    def sum(self, values: NDArray[Any]) -> None:
        pass

    def largest(self, values: NDArray[Any]) -> None:
        pass

    def gather(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        return [values]

    def spread(self, values: NDArray[Any] | None) -> NDArray[Any]:
        assert values is not None
        return values


ALONE = _Alone()

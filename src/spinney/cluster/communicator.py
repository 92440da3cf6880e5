"""`DaskCommunicator`: the collective calls of the ranks of a run on a cluster.

Ranks send their arrays to rank 0, whose thread works on them as they arrive and answers all. The event loops of the workers only
carry messages. Every message has the number of its step, so a rank that is ahead (it need not wait when it gives something to be
gathered) is not mistaken for one that is in time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from distributed.protocol.serialize import to_serialize
from numpy.typing import NDArray

from spinney.cluster.seat import Seat
from spinney.collective import Communicator

# Bytes of an array that travel as one message.
_PIECE = 1 << 21


class DaskCommunicator(Communicator):
    """The collective calls of a rank, through its seat."""

    def __init__(self, seat: Seat) -> None:
        self._seat, self.rank, self.size = seat, seat.rank, seat.size
        self._step = 0
        self._early: list[tuple[int, dict[str, Any]]] = []

    def allreduce_sum(self, values: NDArray[Any]) -> None:
        """Replace integers by their sums over all ranks."""
        self._reduce("sum", np.add, values)

    def allreduce_max(self, values: NDArray[Any]) -> None:
        """Replace numbers by the largest of all ranks, element by element."""
        self._reduce("largest", np.maximum, values)

    def gather(self, values: NDArray[Any]) -> list[NDArray[Any]] | None:
        """The arrays of all ranks in their order, at rank 0; None elsewhere."""
        self._begin()
        if self.rank > 0:
            self._send(0, "gather", values.copy())
            return None
        arrays = [values] * self.size
        for _ in range(self.size - 1):
            other, _, array = self._receive("gather")
            arrays[other] = _own(array)
        return arrays

    def broadcast(self, values: NDArray[Any] | None) -> NDArray[Any]:
        """The array of rank 0, at every rank."""
        self._begin()
        if self.rank > 0:
            return _own(self._receive("spread")[2])
        assert values is not None
        self._answer("spread", values)
        return values

    def _reduce(self, verb: str, step: np.ufunc, values: NDArray[Any]) -> None:
        """Reduce piece by piece: while one is on its way up, another is added, and a third is on its way down."""
        if not values.flags.c_contiguous:
            copy = np.ascontiguousarray(values)
            self._reduce(verb, step, copy)
            values[...] = copy
            return
        self._begin()
        pieces = _pieces(values)
        if self.rank > 0:
            for place, piece in enumerate(pieces):
                self._send(0, verb, piece, place)
            # What was sent may be written: it is answered only when it has arrived.
            for _ in pieces:
                _, place, answer = self._receive(verb)
                pieces[place][...] = answer
            return
        missing = [self.size - 1] * len(pieces)
        while any(missing):
            _, place, array = self._receive(verb)
            step(pieces[place], array, out=pieces[place])
            missing[place] -= 1
            if missing[place] == 0:
                self._answer(verb, pieces[place], place)

    def _begin(self) -> None:
        self._seat.check()
        self._seat.traffic.joins += 1
        self._step += 1

    def _answer(self, verb: str, values: NDArray[Any], place: int = 0) -> None:
        """Send an array to all other ranks: a copy, for the caller may change its own while it is being sent."""
        if self.size > 1:
            answer = values.copy()
            for other in range(1, self.size):
                self._send(other, verb, answer, place)

    def _send(self, other: int, verb: str, values: NDArray[Any], place: int = 0) -> None:
        message = {"step": self._step, "verb": verb, "place": place, "values": to_serialize(values)}
        self._seat.send(other, message)

    def _receive(self, verb: str) -> tuple[int, int, NDArray[Any]]:
        """An array of this step: whose it is, and which piece."""
        due = [at for at, (_, message) in enumerate(self._early) if message["step"] == self._step]
        other, message = self._early.pop(due[0]) if due else self._seat.take()
        while message["step"] > self._step:
            self._early.append((other, message))
            other, message = self._seat.take()
        if (message["step"], message["verb"]) != (self._step, verb):
            found = f"{message['verb']!r} at step {message['step']}"
            raise RuntimeError(
                f"rank {other} is out of step: it sent {found}, expected {verb!r} at step {self._step}"
            )
        return other, message["place"], message["values"]


def _pieces(values: NDArray[Any]) -> list[NDArray[Any]]:
    """Views of an array's values, one after the other."""
    flat = values.reshape(-1)
    step = max(1, _PIECE // values.itemsize)
    return [flat[at : at + step] for at in range(0, max(1, flat.size), step)]


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """An array that nobody else writes, and that may be written."""
    return np.array(array)

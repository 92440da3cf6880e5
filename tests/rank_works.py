"""Quick work for ranks with known results: sums, step by step, with faults where a test needs them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Event

from spinney.collective import ALONE, Communicator, RankLostError
from spinney.dask.ranks import RankInput, Work
from spinney.errors import DataError


@dataclass(frozen=True)
class Fault:
    """What goes wrong: at which rank, in which round. With a mark, a file that is not there yet, it goes wrong once."""

    rank: int
    round: int
    act: Callable[[], Any]
    mark: Path | None = None

    def strike(self, rank: int, number: int) -> None:
        if (self.rank, self.round) == (rank, number) and (self.mark is None or not self.mark.exists()):
            if self.mark is not None:
                self.mark.touch()
            self.act()


@dataclass(frozen=True)
class Endless:
    """Collective calls without end. Each rank sets an event when it has begun, and another when its run is over."""

    name: str

    def __call__(
        self,
        inputs: list[RankInput],
        communicator: Communicator,
        records: list[bytes],
        on_record: Callable[[bytes], None],
    ) -> None:
        counts = np.ones(1, dtype=np.int64)
        communicator.allreduce_sum(counts)
        Event(f"{self.name}-began-{communicator.rank}").set()
        try:
            while True:
                communicator.allreduce_sum(counts)
        except RankLostError:
            Event(f"{self.name}-over-{communicator.rank}").set()
            raise


def large_sum(
    inputs: list[RankInput],
    communicator: Communicator,
    records: list[bytes],
    on_record: Callable[[bytes], None],
) -> bool:
    """Whether an array of several messages is summed right, with small ones before and after it."""
    right = True
    for shape in [(3,), (0, 4), (7, 100_003), (1,), (2, 2)]:
        counted = np.arange(int(np.prod(shape))).reshape(shape)
        values = (counted * (communicator.rank + 1)).T  # Its rows are not one after the other in memory.
        communicator.allreduce_sum(values)
        right &= bool((counted * (communicator.size * (communicator.size + 1) // 2) == values.T).all())
    return right


@dataclass(frozen=True)
class Rounds:
    """Each round makes every collective call, and adds a checkpoint record; the value is the list of all records."""

    rounds: int
    faults: list[Fault] = field(default_factory=list)

    def __call__(
        self,
        inputs: list[RankInput],
        communicator: Communicator,
        records: list[bytes],
        on_record: Callable[[bytes], None],
    ) -> list[bytes]:
        done = list(records)
        for number in range(len(records), self.rounds):
            for fault in self.faults:
                fault.strike(communicator.rank, number)
            done.append(one_round(inputs, communicator, number))
            on_record(done[-1])
        return done


@dataclass(frozen=True)
class WithFaults:
    """Work that goes wrong at collective calls: a fault's round is the number of a call."""

    work: Work
    faults: list[Fault]

    def __call__(
        self,
        inputs: list[RankInput],
        communicator: Communicator,
        records: list[bytes],
        on_record: Callable[[bytes], None],
    ) -> Any:
        return self.work(inputs, FaultyCommunicator(communicator, self.faults), records, on_record)


class FaultyCommunicator:
    """A communicator that works until a fault strikes."""

    def __init__(self, communicator: Communicator, faults: list[Fault]) -> None:
        self._communicator, self._faults, self._calls = communicator, faults, 0
        self.rank, self.size = communicator.rank, communicator.size

    def __getattr__(self, verb: str) -> Any:
        for fault in self._faults:
            fault.strike(self.rank, self._calls)
        self._calls += 1
        return getattr(self._communicator, verb)


def one_round(inputs: list[RankInput], communicator: Communicator, number: int) -> bytes:
    """A digest of all rows, by whichever ranks hold them."""
    rows = np.concatenate([*inputs[0].parts, np.empty(0, dtype=np.int64)]).astype(np.int64)
    places = inputs[0].first + np.arange(len(rows))
    sums = np.array([rows.sum() * (number + 1), (rows * places).sum(), len(rows)])
    communicator.allreduce_sum(sums)
    tops = np.array([rows.max(initial=0) / 3.0, -float(inputs[0].first)])
    communicator.allreduce_max(tops)
    arrays = communicator.gather(rows[:, None] + number)
    whole = None if arrays is None else np.concatenate(arrays)[:, 0] * np.arange(1, inputs[0].total + 1)
    ordered = communicator.broadcast(whole)
    return b"".join([sums.tobytes(), tops.tobytes(), ordered.tobytes()])


def expected(values: np.ndarray, rounds: int) -> list[bytes]:
    """The checkpoint records of one rank alone."""
    inputs = [RankInput([values], 0, len(values))]
    return [one_round(inputs, ALONE, number) for number in range(rounds)]


def kill() -> None:
    """As the kernel's out-of-memory killer would."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise DataError("y holds nothing")


def run_out() -> None:
    raise MemoryError("no memory left")


def lose() -> None:
    raise RankLostError("nobody is there")

"""What runs on a worker: one rank of a run, in a thread that leaves the worker's own slots free."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distributed import get_worker, secede
from distributed.protocol import pickle

from spinney import __version__
from spinney.cluster.communicator import DaskCommunicator
from spinney.cluster.handing import OwnError
from spinney.cluster.plugin import NAME, RankPlugin
from spinney.cluster.seat import Order, Traffic
from spinney.collective import Communicator, RankLostError
from spinney.errors import SpinneyError


@dataclass(frozen=True)
class Held:
    """What a rank holds of a table: consecutive partitions, the number of their first row, and the rows of the whole table."""

    parts: list[Any]
    first: int
    total: int


# work(held, communicator, start, say): `held` has an entry for each table. `start` has the pieces that an interrupted run kept,
# at the first run none; `say` keeps another piece. All ranks keep the same pieces. What counts is the value of rank 0.
Work = Callable[[list[Held], Communicator, list[bytes], Callable[[bytes], None]], Any]


@dataclass(frozen=True)
class Finished:
    """Rank 0 came to its end."""

    value: Any
    traffic: Traffic


@dataclass(frozen=True)
class Ended:
    """A rank was broken off, or one that is not rank 0 finished: what it said in this run, and why it ended."""

    pieces: list[bytes]
    why: str


@dataclass(frozen=True)
class Failed:
    """A rank failed by an error that the user is to see. Dask would log one that is raised."""

    error: SpinneyError | OwnError


class UnfitError(RuntimeError):
    """A worker cannot take part: it has another version of spinney, or its plugin did not start."""


def run_rank(
    order: Order,
    recipe: Sequence[bytes],
    start: Sequence[Sequence[bytes]],
    parts: Sequence[list[Any]],
    places: Sequence[tuple[int, int]],
) -> Finished | Ended | Failed:
    """The task of a rank: the partitions that it holds of each table, and the first row and all rows of each.

    It is one long task of Dask's that secedes at once: the worker goes on computing other tasks, such as partitions that were
    lost elsewhere.
    """
    secede()
    plugin: RankPlugin | None = get_worker().extensions.get(NAME)
    if plugin is None or order.version != __version__:
        raise UnfitError(
            f"the worker {get_worker().address} has spinney {__version__}, expected {order.version} and its plugin"
        )
    seat = plugin.sit(order)
    try:
        work: Work = pickle.loads(b"".join(recipe))
        held = [Held(own, first, total) for own, (first, total) in zip(parts, places, strict=True)]
        pieces = [piece for chunk in start for piece in chunk]
        value = work(held, DaskCommunicator(seat), pieces, seat.said.append)
    except RankLostError as error:
        seat.leave(str(error))
        return Ended(seat.said, str(error))
    except BaseException as error:
        seat.leave(f"rank {order.rank} at {get_worker().address} failed: {type(error).__name__}: {error}")
        if isinstance(error, SpinneyError | OwnError):
            return Failed(error)
        raise
    seat.leave()
    return (
        Finished(value, seat.traffic)
        if order.rank == 0
        else Ended(seat.said, "rank 0 was lost after the last join")
    )


def said_since(run: str, count: int) -> list[bytes]:
    """Task: what this worker's rank of a run has said, but for the first pieces."""
    plugin: RankPlugin = get_worker().extensions[NAME]
    seat = plugin.seats.get(run)
    return seat.said[count:] if seat is not None else []


def state_of(keys: Mapping[str, str], dask_worker: Any) -> str | None:
    """The state of the task that a worker was given, by the worker's address. Run on the event loop of each."""
    task = dask_worker.state.tasks.get(keys[dask_worker.address])
    return None if task is None else task.state


def end_run(run: str, why: str) -> None:
    """Task: end a run at this worker."""
    plugin: RankPlugin = get_worker().extensions[NAME]
    plugin.end(run, why)

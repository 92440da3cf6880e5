"""The collective calls of the ranks of a run on a cluster.

`RankPlugin` adds to a Dask worker a handler that takes the calls of other ranks. The other ranks of a run call the worker of
rank 0 over a connection of Dask's (`worker.rpc`), with the security that the cluster has. No port is opened. A connection stays
for the run, so the death of either process is seen at once by the other.

`DaskCommunicator` makes collective calls of these messages. Ranks send their arrays to rank 0, whose thread works on them as they
arrive and answers all. The event loops of the workers only carry messages. Every message has the number of its step, so a rank
that is ahead (it need not wait when it gives something to be gathered) is not mistaken for one that is in time.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np
from distributed import Status, WorkerPlugin
from distributed.protocol.serialize import to_serialize
from numpy.typing import NDArray

from spinney import __version__
from spinney.collective import Communicator, RankLostError

# The last message on a line, one way: the rank has finished, or the run is over and this is why.
_BYE = "bye"
_LOST = "lost"


@dataclass(frozen=True)
class RankAssignment:
    """What a rank is told when it starts: which run, which rank of it, and where rank 0 is."""

    run: str
    rank: int
    size: int
    hub: str
    key: str
    version: str


@dataclass
class TransferStats:
    """How often a rank has joined, the bytes that it put on the wire, and those of the arrays that it received."""

    joins: int = 0
    sent: int = 0
    received: int = 0


class Channel:
    """Messages to and from one other rank over one connection. All of it runs on the worker's event loop."""

    def __init__(self) -> None:
        self.outgoing: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.taken = False

    async def serve(self, comm: Any, seat: RankEndpoint, other: int) -> bool:
        """Carry messages until both ends have said goodbye. True if the connection is as good as new afterwards."""
        self.taken = True
        ways = [
            asyncio.ensure_future(self._read(comm, seat, other)),
            asyncio.ensure_future(self._write(comm, seat)),
        ]
        try:
            await asyncio.gather(*ways)
        except RankLostError as error:
            seat.lose(str(error))
            return False
        except Exception as error:  # the connection broke, or a message cannot be read
            seat.lose(f"the connection to rank {other} at {comm.peer_address} is lost: {error}")
            return False
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        return True

    async def _read(self, comm: Any, seat: RankEndpoint, other: int) -> None:
        while _BYE not in (message := await comm.read()):
            if _LOST in message:
                raise RankLostError(message[_LOST])
            seat.inbox.put((other, message))

    async def _write(self, comm: Any, seat: RankEndpoint) -> None:
        message: dict[str, Any] = {}
        while _BYE not in message:
            message = await self.outgoing.get()
            seat.traffic.sent += await comm.write(message)
            if _LOST in message:
                raise RankLostError(message[_LOST])


class RankEndpoint:
    """What a worker knows of one run that it takes part in.

    Lines put what they read into the inbox; the rank's thread takes it out. A seat that is lost wakes the thread and tells
    every line; the first reason stays.
    """

    def __init__(self, loop: Any, run: str, rank: int, size: int) -> None:
        self.run, self.rank, self.size = run, rank, size
        self.inbox: SimpleQueue[tuple[int, dict[str, Any]] | None] = SimpleQueue()
        self.lines = {other: Channel() for other in (range(1, size) if rank == 0 else [0])}
        self.said: list[bytes] = []
        self.traffic = TransferStats()
        self.why: str | None = None
        self.sat = False
        self.left = False
        self._loop = loop

    def send(self, other: int, message: dict[str, Any]) -> None:
        """Put a message on the line to another rank. From any thread; messages of one thread keep their order."""
        self._loop.add_callback(self.lines[other].outgoing.put_nowait, message)

    def take(self) -> tuple[int, dict[str, Any]]:
        """The next message and the rank that sent it. For the rank's thread, which waits here."""
        self.check()
        letter = self.inbox.get()
        if letter is None:
            self.check()
        assert letter is not None
        self.traffic.received += letter[1]["values"].nbytes
        return letter

    def check(self) -> None:
        """Raise if the run is over for this rank."""
        if self.why is not None:
            raise RankLostError(self.why)

    def lose(self, why: str) -> None:
        """The run is over for this rank, and so for all: tell its thread and the others."""
        if self.why is not None or self.left:
            return
        self.why = why
        self.inbox.put(None)
        self._close({_LOST: why})

    def leave(self, why: str | None = None) -> None:
        """The rank's thread has ended, finished or for a reason."""
        if why is not None:
            self.lose(why)
        self.left = True
        if self.why is None:
            self._close({_BYE: True})

    @property
    def complete(self) -> bool:
        """Whether every line has been taken up."""
        return all(line.taken for line in self.lines.values())

    def _close(self, message: dict[str, Any]) -> None:
        for other in self.lines:
            self.send(other, message)


async def refuse(comm: Any, why: str) -> None:
    """Tell a rank that calls that its run is over here."""
    await comm.write({_LOST: why})


NAME = f"spinney-{__version__}"
_OPERATION = "spinney_line"

# States of a task whose thread has started and whose result is wanted or there.
STARTED = ("executing", "long-running", "memory")

# How often a rank looks whether its task is still wanted: seconds.
_LOOK = 0.2

# Runs that a worker remembers to be over, so that a rank which comes late is refused.
_REMEMBERED = 512


class RankPlugin(WorkerPlugin):
    """The seats of a worker's ranks, and the way to them. Registering it twice changes nothing."""

    name = NAME
    idempotent = True

    def setup(self, worker: Any) -> None:
        """Answer calls."""
        self.worker = worker
        self.seats: dict[str, RankEndpoint] = {}
        self._over: dict[str, str] = {}
        self._lock = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        worker.handlers[_OPERATION] = self.call
        worker.extensions[NAME] = self

    async def teardown(self, worker: Any) -> None:
        """The worker closes: end every run here."""
        worker.handlers.pop(_OPERATION, None)
        worker.extensions.pop(NAME, None)
        for seat in list(self.seats.values()):
            seat.lose(f"the worker {worker.address} closes")

    def sit(self, order: RankAssignment) -> RankEndpoint:
        """The seat of a rank whose thread starts. From that thread."""
        seat = self._seat(order.run, order.rank, order.size)
        if seat.sat:
            seat = self._lost(order.run, order.rank, order.size, "this rank was started twice")
        seat.sat = True
        self.worker.loop.add_callback(self._begin, seat, order)
        return seat

    async def call(self, comm: Any, run: str, rank: int, size: int) -> Status:
        """Handler: another rank calls rank 0, and stays on the line for the run."""
        seat = self._seat(run, 0, size)
        if seat.why is not None or rank not in seat.lines or seat.lines[rank].taken:
            await refuse(comm, seat.why or f"rank {rank} has called before")
            await comm.close()
        else:
            if not await seat.lines[rank].serve(comm, seat, rank):
                await comm.close()  # Dask would read on, though a read was broken off
            self._clear(seat)
        return Status.dont_reply

    def end(self, run: str, why: str) -> None:
        """End a run here, as the client asks."""
        if run in self.seats:
            self.seats[run].lose(why)

    def _seat(self, run: str, rank: int, size: int) -> RankEndpoint:
        with self._lock:
            if run in self._over:
                return self._lost(run, rank, size, self._over[run])
            return self.seats.setdefault(run, RankEndpoint(self.worker.loop, run, rank, size))

    def _lost(self, run: str, rank: int, size: int, why: str) -> RankEndpoint:
        seat = RankEndpoint(self.worker.loop, run, rank, size)
        seat.lose(why)
        return seat

    def _begin(self, seat: RankEndpoint, order: RankAssignment) -> None:
        ways = [self._guard(seat, order.key)]
        if order.rank > 0:
            ways.append(self._dial(seat, order.hub))
        for way in ways:
            task = asyncio.ensure_future(way)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _dial(self, seat: RankEndpoint, hub: str) -> None:
        """Call the hub and stay on the line."""
        try:
            comm = await self.worker.rpc.connect(hub)
        except OSError as error:
            seat.lose(f"rank 0 at {hub} cannot be reached: {error}")
            return
        try:
            call = {"op": _OPERATION, "run": seat.run, "rank": seat.rank, "size": seat.size, "reply": False}
            await comm.write(call)
            if not await seat.lines[0].serve(comm, seat, 0):
                comm.abort()
        except OSError as error:
            seat.lose(f"the connection to rank 0 at {hub} is lost: {error}")
        finally:
            self.worker.rpc.reuse(hub, comm)

    async def _guard(self, seat: RankEndpoint, key: str) -> None:
        """End the run when nobody wants the rank's task any more: the client cancelled it, or is gone."""
        while not seat.left:
            task = self.worker.state.tasks.get(key)
            if task is None or task.state not in STARTED:
                seat.lose("the run was cancelled")
            await asyncio.sleep(_LOOK)
        self._clear(seat)

    def _clear(self, seat: RankEndpoint) -> None:
        """Forget a run whose thread has ended, or never came, and whose lines are done with."""
        over = seat.why is not None and (seat.left or not seat.sat)
        finished = seat.left and seat.complete
        if (over or finished) and self.seats.get(seat.run) is seat:
            with self._lock:
                del self.seats[seat.run]
                self._over[seat.run] = seat.why or "the run has finished"
                while len(self._over) > _REMEMBERED:
                    del self._over[next(iter(self._over))]


# Bytes of an array that travel as one message.
_PIECE = 1 << 21


class DaskCommunicator(Communicator):
    """The collective calls of a rank, through its seat."""

    def __init__(self, seat: RankEndpoint) -> None:
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

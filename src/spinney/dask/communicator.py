"""The collective calls of the ranks of a run on a cluster.

`RankPlugin` adds a handler to a Dask worker, to which other ranks connect. The other ranks of a run connect to the worker of
rank 0 over a connection of Dask's (`worker.rpc`), with the security that the cluster has. No port is opened. A connection stays
open for the run, so each process sees the death of the other at once.

`DaskCommunicator` makes collective calls of these messages. Ranks send their arrays to rank 0, whose thread reduces them as they
arrive and sends the result to all. The event loops of the workers only transfer messages. Every message has the number of its
step: a rank may be ahead, since it does not wait after a gather, and its messages are kept until their step.
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

# Keys of the last message that a rank sends over a connection: it has finished, or the run is over, with the reason as value.
_BYE = "bye"
_LOST = "lost"


@dataclass(frozen=True)
class RankAssignment:
    """A rank of a run, for the worker that is to execute it.

    Attributes
    ----------
    run : str
        Identifier of the run, which is in all its messages.
    rank : int
        The rank's number.
    size : int
        How many ranks the run has.
    rank_0 : str
        Address of rank 0's worker.
    key : str
        Key of the rank's task.
    version : str
        The version of spinney that the worker must have.
    """

    run: str
    rank: int
    size: int
    rank_0: str
    key: str
    version: str


@dataclass
class TransferStats:
    """How many collective calls a rank has made, the bytes that it sent, and the bytes of the arrays that it received."""

    calls: int = 0
    sent: int = 0
    received: int = 0


class Channel:
    """Messages to and from one other rank over one connection. All methods run on the worker's event loop.

    Attributes
    ----------
    outgoing : Queue
        Messages that are to be sent.
    connected : bool
        Whether it has had its connection; there is only one.
    """

    def __init__(self) -> None:
        self.outgoing: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.connected = False

    async def serve(self, comm: Any, endpoint: RankEndpoint, other: int) -> bool:
        """Transfer messages until both ranks have finished. Returns True if the connection can be used again."""
        self.connected = True
        directions = [
            asyncio.ensure_future(self._read(comm, endpoint, other)),
            asyncio.ensure_future(self._write(comm, endpoint)),
        ]
        try:
            await asyncio.gather(*directions)
        except RankLostError as error:
            endpoint.abort(str(error))
            return False
        except Exception as error:  # the connection broke, or a message cannot be read
            endpoint.abort(f"the connection to rank {other} at {comm.peer_address} is lost: {error}")
            return False
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
        return True

    async def _read(self, comm: Any, endpoint: RankEndpoint, other: int) -> None:
        while _BYE not in (message := await comm.read()):
            if _LOST in message:
                raise RankLostError(message[_LOST])
            endpoint.inbox.put((other, message))

    async def _write(self, comm: Any, endpoint: RankEndpoint) -> None:
        message: dict[str, Any] = {}
        while _BYE not in message:
            message = await self.outgoing.get()
            endpoint.traffic.sent += await comm.write(message)
            if _LOST in message:
                raise RankLostError(message[_LOST])


class RankEndpoint:
    """The state of one run at a worker that takes part in it.

    Channels put messages into the inbox, and the rank's thread takes them out. When the run is aborted, the thread wakes up, and
    the reason is sent over every channel. The first reason stays.

    Attributes
    ----------
    run, rank, size
        See `RankAssignment`.
    inbox : SimpleQueue
        Messages with the ranks that sent them; None wakes the thread.
    channels : dict of int to Channel
        Rank 0 has one for each other rank, the others have one for rank 0.
    records : list of bytes
        Checkpoint records of this run.
    traffic : TransferStats
        What was sent and received.
    reason : str, optional
        Why the run is over for this rank.
    registered, finished : bool
        Whether the rank's thread has started, and whether it has ended.
    """

    def __init__(self, loop: Any, run: str, rank: int, size: int) -> None:
        self.run, self.rank, self.size = run, rank, size
        self.inbox: SimpleQueue[tuple[int, dict[str, Any]] | None] = SimpleQueue()
        self.channels = {other: Channel() for other in (range(1, size) if rank == 0 else [0])}
        self.records: list[bytes] = []
        self.traffic = TransferStats()
        self.reason: str | None = None
        self.registered = False
        self.finished = False
        self._loop = loop

    def send(self, other: int, message: dict[str, Any]) -> None:
        """Send a message to another rank. Any thread may call it; messages of one thread keep their order."""
        self._loop.add_callback(self.channels[other].outgoing.put_nowait, message)

    def receive(self) -> tuple[int, dict[str, Any]]:
        """Wait for the next message; returns the rank that sent it, and the message. The rank's thread calls it."""
        self.check()
        found = self.inbox.get()
        if found is None:
            self.check()
        assert found is not None
        self.traffic.received += found[1]["values"].nbytes
        return found

    def check(self) -> None:
        """Raise if the run is over for this rank."""
        if self.reason is not None:
            raise RankLostError(self.reason)

    def abort(self, reason: str) -> None:
        """End the run for this rank, and so for all: wake its thread, and send the reason to the others."""
        if self.reason is not None or self.finished:
            return
        self.reason = reason
        self.inbox.put(None)
        self._send_all({_LOST: reason})

    def finish(self, reason: str | None = None) -> None:
        """Mark the rank's thread as ended: it is done, or it failed for a reason, which aborts the run."""
        if reason is not None:
            self.abort(reason)
        self.finished = True
        if self.reason is None:
            self._send_all({_BYE: True})

    @property
    def all_connected(self) -> bool:
        """Whether every channel has got its connection."""
        return all(channel.connected for channel in self.channels.values())

    def _send_all(self, message: dict[str, Any]) -> None:
        for other in self.channels:
            self.send(other, message)


async def reject(comm: Any, reason: str) -> None:
    """Send a rank that connects the reason why its run is over here."""
    await comm.write({_LOST: reason})


NAME = f"spinney-{__version__}"
_HANDLER = "spinney_line"

# States of a task whose thread has started and whose result is wanted or there.
STARTED = ("executing", "long-running", "memory")

# Seconds between two checks whether a rank's task is still wanted.
_CHECK_INTERVAL = 0.2

# So many ended runs are remembered by a worker, so that a rank which connects late is rejected.
_MOST_ENDED = 512


class RankPlugin(WorkerPlugin):
    """Endpoints of a worker's ranks, and the handler that other ranks connect to. Registering it twice changes nothing."""

    name = NAME
    idempotent = True

    def setup(self, worker: Any) -> None:
        """Add the handler to the worker."""
        self.worker = worker
        self.endpoints: dict[str, RankEndpoint] = {}
        self._ended: dict[str, str] = {}
        self._lock = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        worker.handlers[_HANDLER] = self.accept
        worker.extensions[NAME] = self

    async def teardown(self, worker: Any) -> None:
        """Abort every run at a worker that closes."""
        worker.handlers.pop(_HANDLER, None)
        worker.extensions.pop(NAME, None)
        for endpoint in list(self.endpoints.values()):
            endpoint.abort(f"the worker {worker.address} closes")

    def register(self, assignment: RankAssignment) -> RankEndpoint:
        """The endpoint of a rank whose thread has started. That thread calls it."""
        endpoint = self._endpoint(assignment.run, assignment.rank, assignment.size)
        if endpoint.registered:
            endpoint = self._aborted(
                assignment.run, assignment.rank, assignment.size, "this rank was started twice"
            )
        endpoint.registered = True
        self.worker.loop.add_callback(self._start, endpoint, assignment)
        return endpoint

    async def accept(self, comm: Any, run: str, rank: int, size: int) -> Status:
        """Handler: another rank connects to rank 0, and stays connected for the run."""
        endpoint = self._endpoint(run, 0, size)
        if endpoint.reason is not None or rank not in endpoint.channels or endpoint.channels[rank].connected:
            await reject(comm, endpoint.reason or f"rank {rank} has called before")
            await comm.close()
        else:
            if not await endpoint.channels[rank].serve(comm, endpoint, rank):
                await comm.close()  # Dask would go on reading, though a read was interrupted
            self._remove(endpoint)
        return Status.dont_reply

    def abort_run(self, run: str, reason: str) -> None:
        """Abort a run here; the client requests it."""
        if run in self.endpoints:
            self.endpoints[run].abort(reason)

    def _endpoint(self, run: str, rank: int, size: int) -> RankEndpoint:
        with self._lock:
            if run in self._ended:
                return self._aborted(run, rank, size, self._ended[run])
            return self.endpoints.setdefault(run, RankEndpoint(self.worker.loop, run, rank, size))

    def _aborted(self, run: str, rank: int, size: int, reason: str) -> RankEndpoint:
        endpoint = RankEndpoint(self.worker.loop, run, rank, size)
        endpoint.abort(reason)
        return endpoint

    def _start(self, endpoint: RankEndpoint, assignment: RankAssignment) -> None:
        coroutines = [self._monitor(endpoint, assignment.key)]
        if assignment.rank > 0:
            coroutines.append(self._connect(endpoint, assignment.rank_0))
        for coroutine in coroutines:
            task = asyncio.ensure_future(coroutine)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connect(self, endpoint: RankEndpoint, address: str) -> None:
        """Connect to rank 0's worker, and transfer messages for the run."""
        try:
            comm = await self.worker.rpc.connect(address)
        except OSError as error:
            endpoint.abort(f"rank 0 at {address} cannot be reached: {error}")
            return
        try:
            request = {
                "op": _HANDLER,
                "run": endpoint.run,
                "rank": endpoint.rank,
                "size": endpoint.size,
                "reply": False,
            }
            await comm.write(request)
            if not await endpoint.channels[0].serve(comm, endpoint, 0):
                comm.abort()
        except OSError as error:
            endpoint.abort(f"the connection to rank 0 at {address} is lost: {error}")
        finally:
            self.worker.rpc.reuse(address, comm)

    async def _monitor(self, endpoint: RankEndpoint, key: str) -> None:
        """Abort the run when the rank's task is no longer wanted: the client cancelled it, or is gone."""
        while not endpoint.finished:
            task = self.worker.state.tasks.get(key)
            if task is None or task.state not in STARTED:
                endpoint.abort("the run was cancelled")
            await asyncio.sleep(_CHECK_INTERVAL)
        self._remove(endpoint)

    def _remove(self, endpoint: RankEndpoint) -> None:
        """Remove the endpoint of a run whose thread has ended, or never started, and whose channels are no longer needed.

        The run is remembered as ended.
        """
        aborted = endpoint.reason is not None and (endpoint.finished or not endpoint.registered)
        completed = endpoint.finished and endpoint.all_connected
        if (aborted or completed) and self.endpoints.get(endpoint.run) is endpoint:
            with self._lock:
                del self.endpoints[endpoint.run]
                self._ended[endpoint.run] = endpoint.reason or "the run has finished"
                while len(self._ended) > _MOST_ENDED:
                    del self._ended[next(iter(self._ended))]


# Arrays are sent in chunks of so many bytes, one message each.
_CHUNK_BYTES = 1 << 21


class DaskCommunicator(Communicator):
    """The collective calls of a rank, made of messages of its endpoint."""

    def __init__(self, endpoint: RankEndpoint) -> None:
        self._endpoint, self.rank, self.size = endpoint, endpoint.rank, endpoint.size
        self._step = 0
        self._later: list[tuple[int, dict[str, Any]]] = []

    def allreduce_sum(self, values: NDArray[Any]) -> None:
        """Replace integers by their sums over all ranks."""
        self._reduce("sum", np.add, values)

    def allreduce_max(self, values: NDArray[Any]) -> None:
        """Replace numbers by the largest of all ranks, element by element."""
        self._reduce("largest", np.maximum, values)

    def gather(self, values: NDArray[Any]) -> list[NDArray[Any]] | None:
        """The arrays of all ranks in their order, at rank 0; None elsewhere."""
        self._begin_call()
        if self.rank > 0:
            self._send(0, "gather", values.copy())
            return None
        arrays = [values] * self.size
        for _ in range(self.size - 1):
            other, _, array = self._receive("gather")
            arrays[other] = _writable_copy(array)
        return arrays

    def broadcast(self, values: NDArray[Any] | None) -> NDArray[Any]:
        """The array of rank 0, at every rank."""
        self._begin_call()
        if self.rank > 0:
            return _writable_copy(self._receive("spread")[2])
        assert values is not None
        self._reply("spread", values)
        return values

    def _reduce(self, operation: str, ufunc: np.ufunc, values: NDArray[Any]) -> None:
        """Reduce chunk by chunk: while one is sent to rank 0, another is reduced there, and a third is sent back."""
        if not values.flags.c_contiguous:
            copy = np.ascontiguousarray(values)
            self._reduce(operation, ufunc, copy)
            values[...] = copy
            return
        self._begin_call()
        chunks = _chunks(values)
        if self.rank > 0:
            for index, chunk in enumerate(chunks):
                self._send(0, operation, chunk, index)
            # What was sent may be overwritten: its result comes only after it has arrived.
            for _ in chunks:
                _, index, result = self._receive(operation)
                chunks[index][...] = result
            return
        missing = [self.size - 1] * len(chunks)
        while any(missing):
            _, index, array = self._receive(operation)
            ufunc(chunks[index], array, out=chunks[index])
            missing[index] -= 1
            if missing[index] == 0:
                self._reply(operation, chunks[index], index)

    def _begin_call(self) -> None:
        self._endpoint.check()
        self._endpoint.traffic.calls += 1
        self._step += 1

    def _reply(self, operation: str, values: NDArray[Any], index: int = 0) -> None:
        """Send an array to all other ranks: a copy, for the caller may change its own while it is being sent."""
        if self.size > 1:
            result = values.copy()
            for other in range(1, self.size):
                self._send(other, operation, result, index)

    def _send(self, other: int, operation: str, values: NDArray[Any], index: int = 0) -> None:
        message = {"step": self._step, "verb": operation, "place": index, "values": to_serialize(values)}
        self._endpoint.send(other, message)

    def _receive(self, operation: str) -> tuple[int, int, NDArray[Any]]:
        """An array of this step, behind the rank that sent it and the number of its chunk."""
        due = [at for at, (_, message) in enumerate(self._later) if message["step"] == self._step]
        other, message = self._later.pop(due[0]) if due else self._endpoint.receive()
        while message["step"] > self._step:
            self._later.append((other, message))
            other, message = self._endpoint.receive()
        if (message["step"], message["verb"]) != (self._step, operation):
            found = f"{message['verb']!r} at step {message['step']}"
            raise RuntimeError(
                f"rank {other} is out of step: it sent {found}, expected {operation!r} at step {self._step}"
            )
        return other, message["place"], message["values"]


def _chunks(values: NDArray[Any]) -> list[NDArray[Any]]:
    """Views of consecutive values of an array."""
    flat = values.reshape(-1)
    step = max(1, _CHUNK_BYTES // values.itemsize)
    return [flat[at : at + step] for at in range(0, max(1, flat.size), step)]


def _writable_copy(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that only the caller has, and that may be written."""
    return np.array(array)

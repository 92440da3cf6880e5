"""What spinney adds to a Dask worker: a handler that takes the calls of other ranks, and the seats of the runs going on.

The other ranks of a run call the worker of rank 0, its *hub*, over a connection of Dask's (`worker.rpc`), with the security that
the cluster has. No port is opened. A connection stays for the run, so the death of either process is seen at once by the other.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from distributed import Status, WorkerPlugin

from spinney import __version__
from spinney.cluster.seat import Order, Seat, refuse

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
        self.seats: dict[str, Seat] = {}
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

    def sit(self, order: Order) -> Seat:
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

    def _seat(self, run: str, rank: int, size: int) -> Seat:
        with self._lock:
            if run in self._over:
                return self._lost(run, rank, size, self._over[run])
            return self.seats.setdefault(run, Seat(self.worker.loop, run, rank, size))

    def _lost(self, run: str, rank: int, size: int, why: str) -> Seat:
        seat = Seat(self.worker.loop, run, rank, size)
        seat.lose(why)
        return seat

    def _begin(self, seat: Seat, order: Order) -> None:
        ways = [self._guard(seat, order.key)]
        if order.rank > 0:
            ways.append(self._dial(seat, order.hub))
        for way in ways:
            task = asyncio.ensure_future(way)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _dial(self, seat: Seat, hub: str) -> None:
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

    async def _guard(self, seat: Seat, key: str) -> None:
        """End the run when nobody wants the rank's task any more: the client cancelled it, or is gone."""
        while not seat.left:
            task = self.worker.state.tasks.get(key)
            if task is None or task.state not in STARTED:
                seat.lose("the run was cancelled")
            await asyncio.sleep(_LOOK)
        self._clear(seat)

    def _clear(self, seat: Seat) -> None:
        """Forget a run whose thread has ended, or never came, and whose lines are done with."""
        over = seat.why is not None and (seat.left or not seat.sat)
        finished = seat.left and seat.complete
        if (over or finished) and self.seats.get(seat.run) is seat:
            with self._lock:
                del self.seats[seat.run]
                self._over[seat.run] = seat.why or "the run has finished"
                while len(self._over) > _REMEMBERED:
                    del self._over[next(iter(self._over))]

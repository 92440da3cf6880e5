"""A rank's place in a run: the inbox of its thread, and the lines to the ranks that it speaks with."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from spinney.collective import RankLostError

# The last message on a line, one way: the rank has finished, or the run is over and this is why.
_BYE = "bye"
_LOST = "lost"


@dataclass(frozen=True)
class Order:
    """What a rank is told when it starts: which run, which rank of it, and where rank 0 is."""

    run: str
    rank: int
    size: int
    hub: str
    key: str
    version: str


@dataclass
class Traffic:
    """How often a rank has joined, the bytes that it put on the wire, and those of the arrays that it received."""

    joins: int = 0
    sent: int = 0
    received: int = 0


class Line:
    """Messages to and from one other rank over one connection. All of it runs on the worker's event loop."""

    def __init__(self) -> None:
        self.outgoing: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.taken = False

    async def serve(self, comm: Any, seat: Seat, other: int) -> bool:
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

    async def _read(self, comm: Any, seat: Seat, other: int) -> None:
        while _BYE not in (message := await comm.read()):
            if _LOST in message:
                raise RankLostError(message[_LOST])
            seat.inbox.put((other, message))

    async def _write(self, comm: Any, seat: Seat) -> None:
        message: dict[str, Any] = {}
        while _BYE not in message:
            message = await self.outgoing.get()
            seat.traffic.sent += await comm.write(message)
            if _LOST in message:
                raise RankLostError(message[_LOST])


class Seat:
    """What a worker knows of one run that it takes part in.

    Lines put what they read into the inbox; the rank's thread takes it out. A seat that is lost wakes the thread and tells
    every line; the first reason stays.
    """

    def __init__(self, loop: Any, run: str, rank: int, size: int) -> None:
        self.run, self.rank, self.size = run, rank, size
        self.inbox: SimpleQueue[tuple[int, dict[str, Any]] | None] = SimpleQueue()
        self.lines = {other: Line() for other in (range(1, size) if rank == 0 else [0])}
        self.said: list[bytes] = []
        self.traffic = Traffic()
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

"""Time spent in each of our kernels."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def kernel_times() -> Iterator[dict[str, float]]:
    """Fill a dictionary with the seconds that teams spend in each kernel while the context lasts."""
    from spinney.jit.team import Team

    times: dict[str, float] = {}
    run = Team.run

    def timed(team: Team, job: Any) -> None:
        begin = time.perf_counter()
        run(team, job)
        name = job.kernel.name
        times[name] = times.get(name, 0.0) + time.perf_counter() - begin

    Team.run = timed  # type: ignore[method-assign, assignment]
    try:
        yield times
    finally:
        Team.run = run  # type: ignore[method-assign]

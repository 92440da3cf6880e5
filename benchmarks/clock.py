"""Time spent in each of our kernels."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def kernel_times() -> Iterator[dict[str, list[float]]]:
    """Fill a dictionary with the seconds of each call of each kernel while the context lasts."""
    from spinney.jit.team import Team

    times: dict[str, list[float]] = {}
    run = Team.run

    def timed(team: Team, job: Any) -> None:
        begin = time.perf_counter()
        run(team, job)
        times.setdefault(job.kernel.name, []).append(time.perf_counter() - begin)

    Team.run = timed  # type: ignore[method-assign, assignment]
    try:
        yield times
    finally:
        Team.run = run  # type: ignore[method-assign]

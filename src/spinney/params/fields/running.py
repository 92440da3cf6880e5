"""The seed, and the threads."""

from dataclasses import dataclass
from typing import Annotated

from spinney.params.rows import INT64, param


@dataclass(frozen=True, kw_only=True)
class RunningFields:
    """The seed, and the threads."""

    random_state: Annotated[int, "drawn"] = param(
        0,
        group="running",
        low=0,
        high=INT64,
        also={None: 0},
        aliases=("seed", "random_seed"),
        doc="Seed of everything drawn at random. From a RandomState or a Generator one seed is drawn, by randint(2**31 - 1) "
        "or integers(2**31 - 1), so that the next training has another.",
    )
    n_jobs: int | None = param(
        None,
        group="running",
        low=-65536,
        high=65536,
        also={-1: None},
        excluded={0: "give 1 or more threads, or None for all cores"},
        aliases=("nthread", "nthreads", "num_thread", "num_threads", "n_threads", "thread_count"),
        in_model=False,
        doc="Number of threads. None takes all cores the process may use, -2 all but one, and so on, "
        "but at least one. Where there is less to do, fewer are started. The model does not depend on it.",
    )

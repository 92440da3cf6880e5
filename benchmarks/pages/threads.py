"""docs/threads.md, from the case threads: how learners scale, and a model of more threads than were measured."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.pages.methods import table
from benchmarks.pages.results import Found, Results

TEXT = """# Threads, measured and modelled

Written by `python -m benchmarks.page` from a run of `python -m benchmarks threads` with spinney {version} on
{cpu}, {cores} cores, Python {python}.

Every training and prediction shares its work among threads. `n_jobs` sets their number. It changes the time, but not
the model: the file of a model has the same bytes for any number of threads.

```python
import numpy as np
import spinney as sp

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 10))
y = X[:, 0] * X[:, 1] + X[:, 2] > 0
one = sp.GBMClassifier(n_estimators=20, n_jobs=1).fit(X, y)
two = sp.GBMClassifier(n_estimators=20, n_jobs=2).fit(X, y)
assert one.model_.to_bytes() == two.model_.to_bytes()
```

## Options

| setting | meaning |
|---|---|
| `n_jobs=None` or -1 | all cores that the process may use; this is the default |
| `n_jobs=-2` | all of these but one, and so on, at least one |
| `n_jobs=4` | four threads |
| `OMP_NUM_THREADS=4` | environment variable: the number of cores that None, -1 and -2 refer to is at most 4 |

The cores that a process may use follow from its CPU affinity and from the quota of its control group (a container's
limit). spinney never starts more threads than these cores, and fewer where there is less work.

## Speed-up on two threads

Each learner was run on one thread and on two; each of the other libraries is compared with itself on one thread. The
rows "predict" (boosted trees) and "isolation forest" are predictions, the others trainings. The numbers are the best of
a few runs; on this machine runs differ by a tenth and more.

- *Speed-up* is the time on one thread divided by the time on two.
- *Processor time* is that of two threads divided by that of one. The part above 1 is lost to waiting, to speculative
  work that is not used, or to resources that cores share.
- *Work of four threads per core* is the processor time of {crowd} threads divided by that of one. Only this measurement
  uses so many threads.

{scaling}

## More threads: a model

Nothing below was measured on more than {cores} cores. It is a model of the time of one tree of 255 leaves on 500 000
rows of 28 columns. Its parts were measured on one and on two threads, except for two estimates:

{parts}

Threads meet at barriers in groups of {group}, so that the moves of a cache line do not grow with every thread. The times
that follow from these parts:

{model}

The last line is the speed-up that XGBoost's authors have published for their library. With 64 threads, the speed-up is
limited by merging and by the work that one thread does alone. Searching one of the {units} columns of a node takes
about as long as a barrier, so dividing the search by nodes as well would gain nothing here.
"""
PUBLISHED = {8: 6.3, 16: 9.8, 32: 14.9}
THREADS = (1, 2, 8, 16, 32, 64)


@dataclass(frozen=True)
class Costs:
    """What the parts of a round take, in milliseconds unless named otherwise (AMD EPYC, Zen 5)."""

    work: float = 32.0  # of the three kernels
    extra: float = (
        1.09  # processor time of two threads over that of one: splits in vain, and rows from the other core
    )
    serial: float = 0.25
    jobs: int = 3
    job: float = 0.004  # on two threads, beyond what it takes on one
    meetings: int = 90
    meeting: float = 0.00033  # on two threads
    merged: int = 27  # splits that all threads make together: those of 32 768 rows or more
    kilobytes: float = 57.0  # packed sums of a thread: 28 columns of 256 cells
    speed: float = 10.0  # GB/s that a thread reads from other cores' caches
    units: int = 28  # columns, which are merged by one thread each
    group: int = 8  # threads that count themselves in at one place

    def hand_overs(self, threads: int) -> int:
        """How often a cache line goes from core to core in a meeting, one after another.

        Examples
        --------
        >>> [Costs().hand_overs(threads) for threads in (1, 2, 8, 64)]
        [0, 3, 9, 17]
        """
        if threads == 1:
            return 0
        groups = -(-threads // self.group)
        return min(threads, self.group) + (groups if groups > 1 else 0) + 1

    def parts(self, threads: int) -> dict[str, float]:
        """Milliseconds of a round by part."""
        longest = self.hand_overs(threads) / self.hand_overs(2)
        alone = threads == 1
        read = 0.0 if alone else threads * self.kilobytes / min(threads, self.units) / (self.speed * 1000.0)
        return {
            "work": self.work if alone else self.extra * self.work / threads,
            "alone": self.serial,
            "jobs": 0.0 if alone else self.jobs * self.job * longest,
            "barriers": self.meetings * self.meeting * longest,
            "merging": self.merged * read,
        }

    def speed_up(self, threads: int) -> float:
        """One thread's time over that of several.

        Examples
        --------
        >>> Costs().speed_up(1)
        1.0
        """
        return sum(self.parts(1).values()) / sum(self.parts(threads).values())


def write(results: Results) -> dict[str, str]:
    """Return the page."""
    results.need("threads")
    costs, environment = Costs(), results.environment("threads")
    rows = results.rows("threads")
    page = TEXT.format(
        version=environment["versions"]["spinney"],
        python=environment["python"],
        cpu=environment["cpu"],
        cores=environment["cores"],
        crowd=4 * int(environment["cores"]),
        scaling=_scaling(rows),
        model=_model(costs),
        parts=_parts(costs),
        units=costs.units,
        group=costs.group,
    )
    return {"threads.md": page}


def _scaling(rows: Sequence[Found]) -> str:
    """A line for each learner: our speed-up, those of the others, processor time, work of many threads."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        name, _, what = row["measure"].partition(": ")
        line = lines.setdefault(name, ["", "", "", ""])
        if what == "2 threads":
            line[0], line[2] = f"{row['facts']['speed-up']:.2f}x", f"{row['facts']['processor time']:.2f}"
            theirs = f"{row['peer']} {1 / row['theirs']:.2f}x"
            line[1] = f"{line[1]}, {theirs}" if line[1] else theirs
        elif what.startswith("work of"):
            line[3] = f"{row['ours']:.2f}"
    heads = ["", "speed-up", "speed-up of others", "processor time", "work of four threads per core"]
    return table(heads, [[name, *line] for name, line in lines.items()])


def _parts(costs: Costs) -> str:
    """What the model is made of."""
    lines = [
        [
            "work that threads share",
            f"{costs.work:.1f} ms on one thread",
            f"{costs.extra:.2f} times as much on several, as was measured on two",
        ],
        ["Python between kernels, and what thread 0 does alone", f"{costs.serial:.2f} ms", "an estimate"],
        [
            f"starting {costs.jobs} kernels per round",
            f"{1000 * costs.job:.1f} µs each on two threads",
            "the other threads wait without Python",
        ],
        [
            f"{costs.meetings} barriers",
            f"{1000 * costs.meeting:.2f} µs each on two threads",
            f"{costs.hand_overs(2)} moves of a cache line between cores; on 64 threads {costs.hand_overs(64)}",
        ],
        [
            f"merging sums, {costs.merged} times",
            f"{costs.kilobytes:.0f} KB of each thread",
            f"at {costs.speed:.0f} GB/s, an estimate; divided over at most {costs.units} threads",
        ],
    ]
    return table(["part", "cost", "remarks"], lines)


def _model(costs: Costs) -> str:
    lines = [
        ["ms: " + part, *(f"{costs.parts(threads)[part]:.2f}" for threads in THREADS)]
        for part in costs.parts(1)
    ]
    lines.append(["**speed-up**", *(f"{costs.speed_up(threads):.1f}x" for threads in THREADS)])
    lines.append(["XGBoost, published", *(f"{PUBLISHED[n]}x" if n in PUBLISHED else "" for n in THREADS)])
    return table(["threads", *map(str, THREADS)], lines)

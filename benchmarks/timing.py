"""Measuring several contenders side by side."""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

Result = TypeVar("Result")
Item = TypeVar("Item")
Sample = Mapping[str, float]
Samples = dict[str, list[Sample]]


def timed(
    action: Callable[[], Result], clock: Callable[[], float] = time.perf_counter
) -> tuple[Result, float]:
    """Return what the action returned and the seconds it took."""
    begin = clock()
    result = action()
    return result, clock() - begin


def rotated(items: Sequence[Item], turn: int) -> list[Item]:
    """Return the items in the same circle, starting `turn` places later."""
    if not items:
        return []
    start = turn % len(items)
    return [*items[start:], *items[:start]]


def interleave(
    actions: Mapping[str, Callable[[], Sample]],
    repeats: int,
    say: Callable[[str], None] = lambda text: None,
) -> Samples:
    """Run every action once per repeat, each repeat starting with the next one, and collect the samples.

    A slow minute of the machine then falls on all contenders, and none is always first.
    """
    samples: Samples = {name: [] for name in actions}
    for turn in range(repeats):
        for name in rotated(list(actions), turn):
            say(f"repeat {turn + 1} of {repeats}: {name}")
            gc.collect()
            samples[name].append(actions[name]())
    return samples


def best(samples: Sequence[Sample], measure: str) -> float | None:
    """Return the smallest value of a measure, or None where it was never taken."""
    values = [sample[measure] for sample in samples if measure in sample]
    return min(values) if values else None

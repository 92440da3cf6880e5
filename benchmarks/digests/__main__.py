"""`python -m benchmarks.digests FILE`, or with `--compare`."""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

from benchmarks.digests import losses, other_trees, places, training
from benchmarks.digests.plan import Plan, digest
from spinney.jit import cores

# Two threads on a machine of one core, too.
cores.THREADS_PER_CORE = 64


def every_plan() -> Iterator[Plan]:
    """Return all of them."""
    for module in (training, losses, other_trees, places):
        yield from module.plans()


def differing(before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    """Say which digests differ, and which are missing.

    Examples
    --------
    >>> list(differing({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}))
    ['differs: b', 'new: c']
    """
    for name, found in after.items():
        if name not in before:
            yield f"new: {name}"
        elif before[name] != found:
            yield f"differs: {name}"
    yield from (f"gone: {name}" for name in before if name not in after)


def main() -> int:
    """Write the digests to a file, or compare them with those of a file; 1 where some differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.digests", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--compare", action="store_true", help="name those that are not as the file has them")
    parser.add_argument("--only", default="", help="those whose name holds this text")
    asked = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few trees and few rounds are what makes this quick
        found = {name: digest(act()) for name, act in every_plan() if asked.only in name}
    if not asked.compare:
        asked.file.write_text("".join(f"{one}  {name}\n" for name, one in found.items()))
        return 0
    lines = [line.split("  ", 1) for line in asked.file.read_text().splitlines()]
    before = {name: one for one, name in lines if asked.only in name}
    told = list(differing(before, found))
    print(*told, f"{len(found)} digests, {len(told)} not the same", sep="\n")
    return 1 if told else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""A forest's file: `forest_file write LIBRARY FOLDER ROWS TREES THREADS`; its memory: `forest_file read LIBRARY FOLDER`."""

import gc
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.cases.forests import COLUMNS, GROWN, WARM_ROWS
from benchmarks.generate import make_continuous
from benchmarks.peers import OUR_FOREST, PEERS
from benchmarks.peers.base import library

OURS = "spinney"
PAGE = 4096 / 2**20  # MB: what is told of a forest that fits into memory given back by others


def main(verb: str, name: str, folder: str, *sizes: str) -> None:
    """Write a small forest and the one that is measured, or read them."""
    if verb == "write":
        write(name, Path(folder), *(int(size) for size in sizes))
        print(json.dumps({"file": (Path(folder) / "forest").stat().st_size / 2**20}))
    else:
        print(json.dumps({"memory": measure(name, Path(folder))}))


def write(name: str, folder: Path, rows: int, trees: int, threads: int) -> None:
    """Grow both forests and write their files."""
    peer = OUR_FOREST() if name == OURS else PEERS[name]()
    X, y = make_continuous(rows, COLUMNS)
    settings = replace(GROWN, rounds=trees, threads=threads)
    for file, count in (("small", WARM_ROWS), ("forest", rows)):
        model = peer.fit(X[:count], y[:count], settings, "")
        if name == OURS:
            model.save(folder / file)
        else:
            library("joblib").dump(model, folder / file)


def measure(name: str, folder: Path) -> float:
    """Return by how many MB the process grows from the small forest to both; each has predicted, which may need more."""
    X, _ = make_continuous(WARM_ROWS, COLUMNS)
    kept = [_read(name, folder / "small")]
    kept[0].predict(X)
    before = resident()
    kept.append(_read(name, folder / "forest"))
    kept[1].predict(X)
    return max(resident() - before, PAGE)


def _read(name: str, path: Path) -> Any:
    return library("spinney").load(path) if name == OURS else library("joblib").load(path)


def resident() -> float:
    """Return the resident memory of this process in MB."""
    gc.collect()
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return int(kilobytes) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])

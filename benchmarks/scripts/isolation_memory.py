"""Memory of an isolation forest beyond its table: `isolation_memory LIBRARY ROWS TREES THREADS`."""

import json
import sys
from pathlib import Path

from benchmarks.cases.isolation import COLUMNS, WARM_ROWS
from benchmarks.generate import make_odd
from benchmarks.peers import OUR_ISOLATION, PEERS
from benchmarks.scripts.forest_file import PAGE, resident
from benchmarks.scripts.memory import peak
from benchmarks.settings import Settings


def main(name: str, rows: str, trees: str, threads: str) -> None:
    """Fit and score a few rows, then all, and say how many MB more the process held at most."""
    X, y = make_odd(int(rows), COLUMNS)
    settings = Settings(rounds=int(trees), threads=int(threads))
    peer = OUR_ISOLATION() if name == "spinney" else PEERS[name]()
    peer.predict(peer.fit(X[:WARM_ROWS], y[:WARM_ROWS], settings, ""), X[:WARM_ROWS], settings)
    # What making the table took does not count.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = resident()
    peer.predict(peer.fit(X, y, settings, ""), X, settings)
    print(json.dumps({"memory": max(peak() - before, PAGE)}))


if __name__ == "__main__":
    main(*sys.argv[1:])

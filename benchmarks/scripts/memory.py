"""Peak memory of one training: `memory LIBRARY MODE ROWS COLUMNS ROUNDS THREADS`."""

import json
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.cases.training import BIG
from benchmarks.generate import make_binary
from benchmarks.peers import OURS, PEERS


def main(name: str, mode: str, rows: str, columns: str, rounds: str, threads: str) -> None:
    """Make the table, train, and say the most memory the process ever held, in MB."""
    X, y = make_binary(int(rows), int(columns))
    before = peak()
    settings = replace(BIG, rounds=int(rounds), threads=int(threads))
    peer = OURS() if name == "spinney" else PEERS[name]()
    peer.train(peer.dataset(X, y, settings, mode), settings, mode)
    print(json.dumps({"peak": peak(), "before": before, "raw": X.nbytes / 2**20}))


def peak() -> float:
    """Return the high-water mark of resident memory; getrusage would count the parent's too."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(kilobytes) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])

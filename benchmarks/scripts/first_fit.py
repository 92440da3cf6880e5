"""One small fit in a fresh interpreter: `first_fit (fit|train) LIBRARY MODE THREADS`."""

import json
import sys

from benchmarks.generate import make_binary
from benchmarks.peers import OURS, PEERS
from benchmarks.settings import Settings

ROWS, COLUMNS, ROUNDS = 1_000, 10, 20


def main(verb: str, name: str, mode: str, threads: str) -> None:
    """Fit, then say which heavy modules that imported."""
    X, y = make_binary(ROWS, COLUMNS)
    settings = Settings(rounds=ROUNDS, threads=int(threads))
    peer = OURS() if name == "spinney" else PEERS[name]()
    if verb == "train":
        peer.train(peer.dataset(X, y, settings, mode), settings, mode)
    else:
        peer.fit(X, y.astype("int64"), settings, mode)
    print(json.dumps({module: module in sys.modules for module in ("numba", "sklearn")}))


if __name__ == "__main__":
    main(*sys.argv[1:])

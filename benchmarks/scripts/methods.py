"""Time, memory and AUC of one method: `methods METHOD PROPOSAL ROWS COLUMNS HELD_OUT ROUNDS THREADS`."""

import json
import sys
from dataclasses import replace

from benchmarks.cases.methods import LEVELS, WARM_ROWS
from benchmarks.generate import TEST, make_binary
from benchmarks.peers import OURS
from benchmarks.quality import auc
from benchmarks.scripts.memory import peak
from benchmarks.timing import timed


def main(
    method: str, proposal: str, rows: str, columns: str, held_out: str, rounds: str, threads: str
) -> None:
    """Train once, and say the seconds, the most memory the process ever held in MB, and the held-out AUC."""
    peer = OURS()
    settings = replace(LEVELS, method=method, proposal=proposal, rounds=int(rounds), threads=int(threads))
    X, y = make_binary(int(rows), int(columns))
    warm = X[:WARM_ROWS], y[:WARM_ROWS]
    peer.train(peer.dataset(*warm, settings, ""), settings, "")
    before = peak()
    dataset, building = timed(lambda: peer.dataset(X, y, settings, ""))
    model, training = timed(lambda: peer.train(dataset, settings, ""))
    found = {
        "peak": peak(),
        "before": before,
        "raw": X.nbytes / 2**20,
        "dataset": building,
        "train": training,
    }
    other, target = make_binary(int(held_out), int(columns), part=TEST)
    print(json.dumps({**found, "auc": auc(target, peer.predict(model, other, settings))}))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The promise of one model for any number of threads: the files are compared byte by byte."""

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.cases.training import PLANS, Plan
from benchmarks.generate import TRAIN, Floats
from benchmarks.peers import Peer
from benchmarks.rows import Row
from benchmarks.verdict import Claim

THREADS = (1, 2, 3, 8)


def run(bench: Bench, case: str) -> list[Row]:
    """Train every training plan once for each number of threads."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    return [_row(bench, bench.ours, case, name, plan.sized(bench.options)) for name, plan in PLANS.items()]


def _row(bench: Bench, ours: Peer, case: str, name: str, plan: Plan) -> Row:
    table = plan.table(TRAIN)
    digests = {}
    for threads in THREADS:
        bench.say(f"{name} with {threads} threads")
        digests[f"n_jobs={threads}"] = _digest(ours, plan, table, threads)
    return Row(
        case=case,
        measure=name,
        peer="",
        target=Claim("same bytes"),
        holds=len(set(digests.values())) == 1,
        facts={key: digest[:8] for key, digest in digests.items()},
    )


def _digest(ours: Peer, plan: Plan, table: tuple[Floats, Floats], threads: int) -> str:
    """Return the digest of the model file, the Dataset built with as many threads."""
    settings = replace(plan.settings, threads=threads)
    model = ours.train(ours.dataset(*table, settings, ""), settings, "")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.spinney"
        model.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

"""The promise of one model for any number of threads, loss by loss."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.cases.identical import THREADS
from benchmarks.generate import Floats, make_binary, make_classes, make_counts, make_numbers
from benchmarks.rows import Row
from benchmarks.verdict import Claim

COLUMNS, CLASSES = 50, 4
# Tables that are worth eight threads.
ROWS, FEWEST_ROWS = 20_000, 3_000


def run(bench: Bench, case: str) -> list[Row]:
    """Compare the model files of every loss byte by byte."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    rows = []
    for name, params, domain in ways():
        bench.say(name)
        table = made(domain, bench.options.size(ROWS, FEWEST_ROWS))
        rounds = bench.options.size(20, 3)
        digests = {f"n_jobs={threads}": _digest(params, table, rounds, threads) for threads in THREADS}
        rows.append(
            Row(
                case=case, measure=name, peer="", target=Claim("same bytes"), holds=len(set(digests.values())) == 1,
                facts={key: digest[:8] for key, digest in digests.items()},
            )
        )  # fmt: skip
    return rows


def ways() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Return every loss, with both ways to find leaf values, and what its target must be."""
    from spinney.params import Config
    from spinney.params.objectives import OBJECTIVES, OWN

    for loss in OBJECTIVES.values():
        if loss.name == OWN:
            continue
        params: dict[str, Any] = {"objective": loss.name, "subsample": 0.7}
        if loss.domain == "classes":
            params["num_class"] = CLASSES
        for estimation in (
            ("newton",) if loss.kind == "ranks" else Config.parameter("leaf_estimation").choices
        ):
            name = loss.name if estimation == "newton" else f"{loss.name}, {estimation}"
            yield name, params | {"leaf_estimation": estimation}, loss.domain


def made(domain: str, rows: int) -> tuple[Floats, Floats]:
    """Return a table whose target is of a domain."""
    if domain == "classes":
        return make_classes(rows, COLUMNS, CLASSES)
    if domain == "shares":
        return make_binary(rows, COLUMNS)
    if domain == "numbers":
        return make_numbers(rows, COLUMNS)
    X, counts = make_counts(rows, COLUMNS)
    if domain in ("relevance", "relevant"):
        return X, np.minimum(counts, 1.0 if domain == "relevant" else 4.0)
    return X, counts + np.float32(0.5) if domain == "above 0" else counts


def _digest(params: dict[str, Any], table: tuple[Floats, Floats], rounds: int, threads: int) -> str:
    """Return the digest of the model, the Dataset built with as many threads."""
    import spinney as sp

    X, y = table
    weight = np.random.default_rng(3).random(len(y)) + 0.5
    queries = np.arange(len(y)) % (len(y) // 40) if params["objective"].startswith("rank_") else None
    dataset = sp.Dataset(X, y, weight=weight, qid=queries, n_jobs=threads)
    model = sp.train({**params, "n_jobs": threads}, dataset, rounds)
    return hashlib.sha256(model.to_bytes()).hexdigest()

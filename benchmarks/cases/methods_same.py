"""What must be the same whatever the method: a model by threads, and a forest from a sparse or a dense table."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bench import Action, Bench
from benchmarks.cases.identical import THREADS
from benchmarks.cases.methods import APPROX, COLUMNS, EXACT, LEVELS, sized
from benchmarks.generate import make_binary
from benchmarks.rows import Row
from benchmarks.timing import Sample, best, interleave, timed
from benchmarks.verdict import AtLeast, Claim

WAYS = {
    "exact": EXACT,
    "approx global": APPROX,
    "approx local": replace(APPROX, proposal="local"),
    "hist depthwise": LEVELS,
}
SPARSE_COLUMNS, DENSITY = 200, 0.01
TELLING = 60  # columns that the target depends on


def run_identical(bench: Bench, case: str) -> list[Row]:
    """Compare the model files of every method byte by byte."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    table = make_binary(bench.options.size(100_000, 4_000), COLUMNS)
    rows = []
    for name, way in WAYS.items():
        digests = {}
        for threads in THREADS:
            bench.say(f"{name} with {threads} threads")
            settings = replace(sized(bench, way, 10), threads=threads)
            model = bench.ours.train(bench.ours.dataset(*table, settings, ""), settings, "")
            digests[f"n_jobs={threads}"] = hashlib.sha256(model.to_bytes()).hexdigest()
        rows.append(
            Row(
                case=case, measure=name, peer="", target=Claim("same bytes"), holds=len(set(digests.values())) == 1,
                facts={key: digest[:8] for key, digest in digests.items()},
            )
        )  # fmt: skip
    return rows


def make_sparse(rows: int) -> tuple[Any, Any]:
    """Return a CSR matrix of which one value in a hundred is stored, and a target that some columns tell about."""
    from scipy import sparse

    rng = np.random.default_rng(11)
    X = sparse.random(
        rows, SPARSE_COLUMNS, DENSITY, format="csr", dtype=np.float32, random_state=rng, data_rvs=rng.standard_normal
    )  # fmt: skip
    weights = np.zeros(SPARSE_COLUMNS)
    weights[:TELLING] = rng.choice([-2.0, 2.0], TELLING)
    score = X @ weights + 0.5 * rng.normal(size=rows)
    return X, (score > 0.0).astype(np.float32)


def run_sparse(bench: Bench, case: str) -> list[Row]:
    """Train exact trees on stored values only, and on the same table with its zeros."""
    if bench.ours is None:
        bench.say(f"{case} is skipped: it needs spinney")
        return []
    ours, settings = bench.ours, sized(bench, EXACT, 5)
    X, y = make_sparse(bench.options.size(100_000, 4_000))
    forests: dict[str, Any] = {}

    def action(name: str, table: Any) -> Action:
        def act() -> Sample:
            dataset, building = timed(lambda: ours.dataset(table, y, settings, ""))
            model, training = timed(lambda: ours.train(dataset, settings, ""))
            forests[name] = model.forest
            return {"dataset": building, "train": training}

        return act

    actions = {"sparse": action("sparse", X), "dense": action("dense", X.toarray())}
    warm = make_sparse(1_000)
    for table in (warm[0], warm[0].toarray()):
        ours.train(ours.dataset(table, warm[1], settings, ""), settings, "")
    samples = interleave(actions, bench.options.times(3), bench.say)
    return [
        Row(
            case=case, measure="train: sparse", peer="spinney dense", ours=best(samples["sparse"], "train"),
            theirs=best(samples["dense"], "train"), target=AtLeast(10.0), holds=forests["sparse"].equal(forests["dense"]),
            facts={
                "dataset ours, s": best(samples["sparse"], "dataset") or 0.0,
                "dataset theirs, s": best(samples["dense"], "dataset") or 0.0,
                "stored values": int(X.nnz),
                "nodes": int(forests["sparse"].nodes),
            },
        )
    ]  # fmt: skip

"""GOSS against uniform sampling of as many rows, on held-out rows."""

import numpy as np

from benchmarks.bench import Bench
from benchmarks.data import DataMissingError, real
from benchmarks.frames import halves
from benchmarks.quality import auc
from benchmarks.rows import Row
from benchmarks.verdict import Claim

SEEDS = 5
TOP, OTHER = 0.1, 0.1


def run(bench: Bench, case: str) -> list[Row]:
    """Compare the mean AUC over some seeds on two tables."""
    rows = []
    for name in ("covtype", "bio_kdd04"):
        bench.say(f"reading {name}")
        try:
            rows.append(_row(bench, case, name))
        except DataMissingError as missing:
            bench.say(str(missing))
    return rows


def _row(bench: Bench, case: str, name: str) -> Row:
    import spinney as sp

    table = real(name)
    # Covertype has seven classes; the second is half of the rows.
    target = (table.y == 1).astype(np.float32) if table.classes > 2 else table.y
    size = bench.options.size(len(target), 4_000)
    rounds = bench.options.size(100, 3)
    ways: dict[str, dict[str, object]] = {
        "goss": {"sampling_method": "goss", "top_rate": TOP, "other_rate": OTHER, "goss_warm_up": False},
        "uniform": {"subsample": TOP + OTHER},
    }
    found: dict[str, list[float]] = {way: [] for way in ways}
    for seed in range(SEEDS):
        train, test = halves(size, seed)
        dataset = sp.Dataset(table.X[train], target[train], n_jobs=bench.options.threads)
        for way, params in ways.items():
            bench.say(f"{name}, seed {seed + 1}: {way}")
            given = {"objective": "log_loss", "random_state": seed, "n_jobs": bench.options.threads, **params}
            model = sp.train(given, dataset, rounds)
            found[way].append(auc(target[test], model.predict(table.X[test])))
    goss, uniform = (float(np.mean(found[way])) for way in ("goss", "uniform"))
    return Row(
        case=case, measure=name, peer="spinney uniform", ours=goss, theirs=uniform, unit="auc",
        target=Claim("better or equal"), holds=goss >= uniform, samples={"ours": found["goss"], "theirs": found["uniform"]},
    )  # fmt: skip

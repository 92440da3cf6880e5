"""Sparse matrices: time by density, bundles of one-hot blocks, and the same model however a table is kept."""

from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.cases.flights import params_of, settings_of, split
from benchmarks.data import DataMissingError
from benchmarks.frames import secstr
from benchmarks.rows import Row
from benchmarks.timing import best, interleave, timed
from benchmarks.verdict import AtLeast, AtMost, Claim

ROWS, COLUMNS = 100_000, 200
DENSITIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
THREADS = (1, 2, 3, 8)


def run_density(bench: Bench, case: str) -> list[Row]:
    """Train on matrices of one shape whose entries become fewer; the time of each as a share of the first."""
    from scipy import sparse

    import spinney as sp

    rng = np.random.default_rng(0)
    rows = bench.options.size(ROWS, 2_000)
    order = rng.random((rows, COLUMNS), dtype=np.float32)
    values = rng.integers(1, 50, (rows, COLUMNS)).astype(np.float32)
    y = (values[:, 0] * (order[:, 0] < 0.5) + 20 * rng.normal(size=rows) > 12).astype(np.float32)
    params = {"objective": "log_loss", "max_leaves": 31, "n_jobs": bench.options.threads}
    datasets = {}
    for density in DENSITIES:
        X = sparse.csr_array(np.where(order < density, values, np.float32(0)))
        datasets[f"{density:g}"] = sp.Dataset(X, y, n_jobs=bench.options.threads)

    def action(dataset: Any) -> Any:
        return lambda: {"round": timed(lambda: sp.train(params, dataset, 10))[1] / 10}

    samples = interleave({k: action(d) for k, d in datasets.items()}, bench.options.times(5), bench.say)
    first = best(samples["0.5"], "round")
    return [
        Row(
            case=case, measure=f"round at density {density:g}", peer="spinney density 0.5",
            ours=best(samples[f"{density:g}"], "round"), theirs=first,
            target=AtLeast(4.0) if density == DENSITIES[-1] else None,
            facts={k: v for k, v in datasets[f"{density:g}"].describe().items() if k in ("groups", "stored_entries")},
        )
        for density in DENSITIES
    ]  # fmt: skip


def run_bundles(bench: Bench, case: str) -> list[Row]:
    """Bundle 15 one-hot blocks of 21 columns, and compare the model with that of the columns alone."""
    import spinney as sp

    try:
        X, y = secstr()
    except DataMissingError as missing:
        bench.say(str(missing))
        return []
    rows = bench.options.size(len(y), 4_000)
    params = {"objective": "log_loss", "n_jobs": bench.options.threads}
    bundled, alone = (sp.Dataset(X[:rows], y[:rows], bundle=bundle) for bundle in (True, False))
    same = sp.train(params, bundled, 20) == sp.train(params, alone, 20)
    groups = bundled.describe()["groups"] + bundled.describe()["sparse_columns"]
    return [
        Row(case=case, measure="groups of secstr", peer="-", ours=float(groups), unit="", target=AtMost(16)),
        Row(
            case=case,
            measure="model of secstr",
            peer="bundle=False",
            unit="",
            target=Claim("identical"),
            holds=same,
        ),
    ]


def run_identical(bench: Bench, case: str) -> list[Row]:
    """Compare the model files of one-hot flights, dense and sparse, bundled or not, with and without GOSS."""
    import spinney as sp

    try:
        data = split(bench)
    except DataMissingError as missing:
        bench.say(str(missing))
        return []
    part = data.X[:40_000]
    ways = {"sparse": (part, True), "sparse alone": (part, False), "dense": (part.toarray(), True)}
    rows = []
    for name, more in {"plain": {}, "goss": {"sampling_method": "goss", "goss_warm_up": False}}.items():
        files = set()
        for way, (X, bundle) in ways.items():
            dataset = sp.Dataset(X, data.y[: part.shape[0]], bundle=bundle)
            for threads in THREADS:
                bench.say(f"{name}, {way}, {threads} threads")
                given = params_of(settings_of(bench)) | {"n_jobs": threads} | more
                files.add(sp.train(given, dataset, 5).to_bytes())
        rows.append(
            Row(case=case, measure=name, peer="-", unit="", target=Claim("identical"), holds=len(files) == 1)
        )
    return rows

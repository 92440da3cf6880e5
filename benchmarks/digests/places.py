"""Estimators of boosting with their files, data sets on disk, ranks of a cluster, permutation importance."""

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import spinney as sp
from benchmarks.digests.other_trees import fitted
from benchmarks.digests.plan import Action, Params, Plan, model_parts
from benchmarks.digests.tables import mixed, numbers, one_hot, queries, towns


def plans() -> Iterator[Plan]:
    """Return the name of everything that is done, and what does it."""
    X, y = numbers()
    labels, classes = (y > 0).astype(float), np.digitize(y, [-0.7, 0.1, 0.9])
    frame, kinds = towns()
    ranked, grades, sizes = queries()
    few: Params = {"n_estimators": 5}
    for name, given in {
        "": few,
        ", auto": {"learning_rate": 0.3},
        ", best": {"preset": "best", "max_rounds": 20},
    }.items():
        yield f"classifier{name}", fitted("GBMClassifier", given, X, labels)
        yield f"regressor{name}", fitted("GBMRegressor", given, X, y)
        yield f"classifier of text{name}", fitted("GBMClassifier", given, frame, kinds)
    yield "classifier of classes", fitted("GBMClassifier", few, X, classes)
    yield "ranker", fitted("GBMRanker", few, ranked, grades, group=sizes)
    tables: dict[str, tuple[Any, Any, Params]] = {
        "numbers": (X, y, {}), "categories": (*mixed(), {"categorical": [0, 5]}), "sparse": (*one_hot(), {}),
    }  # fmt: skip
    for name, (table, target, given) in tables.items():
        yield f"disk, {name}", on_disk({}, table, target, given)
        yield (
            f"disk, {name}, goss",
            on_disk({"sampling_method": "goss", "goss_warm_up": False}, table, target, given),
        )
    yield "ranks, numbers", on_ranks({}, X, y)
    yield "ranks, rows drawn", on_ranks({"subsample": 0.5, "objective": "log_loss"}, X, labels)
    yield "ranks, goss", on_ranks({"sampling_method": "goss", "goss_warm_up": False}, X, y)
    yield "permutation", lambda: permuted(X, y)


def on_disk(params: Params, X: Any, y: Any, given: Params) -> Action:
    """Return what makes a data set on disk of four batches, and trains on it."""

    def act() -> Iterator[object]:
        with tempfile.TemporaryDirectory() as folder:
            cuts = [0, 700, 701, 1_900, len(y)]
            batches = [(X[begin:end], y[begin:end]) for begin, end in itertools.pairwise(cuts)]
            data = sp.Dataset.from_batches(batches, folder=Path(folder) / "data", page_rows=500, **given)
            history = sp.History()
            model = sp.train({"n_jobs": 2} | params, data, 5, valid={"train": data}, callbacks=[history])
            yield from model_parts(model, X, history.evals)
            for path in sorted((Path(folder) / "data").iterdir()):
                if path.suffix == ".json":
                    about = json.loads(path.read_text())
                    yield {name: value for name, value in about.items() if name != "key"}
                else:
                    yield np.frombuffer(path.read_bytes(), np.uint8)

    return act


def on_ranks(params: Params, X: Any, y: Any) -> Action:
    """Return what trains on two workers of a cluster in this process."""

    def act() -> Iterator[object]:
        import dask
        import dask.array as da
        from distributed import Client

        import spinney.dask as sd

        with (
            dask.config.set({"distributed.worker.daemon": False}),
            Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client,
        ):
            data = sd.Dataset(client, da.from_array(X, (800, -1)), da.from_array(y, 800))
            yield from model_parts(sd.train(client, {"n_jobs": 1} | params, data, 4), X)

    return act


def permuted(X: Any, y: Any) -> Iterator[object]:
    """Importances of shuffled columns."""
    for model in (sp.GBMRegressor(n_estimators=5), sp.RandomForestRegressor(5)):
        found = sp.permutation_importance(
            model.set_params(random_state=0, n_jobs=2).fit(X, y), X, y, repeats=2
        )
        yield np.asarray(found.importances)

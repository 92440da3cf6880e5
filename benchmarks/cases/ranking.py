"""Ranking: LambdaMART of every library, its time on a generated table, and NDCG of held-out queries."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from benchmarks.bench import Action, Bench, Comparison, Contender
from benchmarks.cases.accuracy import Scores, compared
from benchmarks.data import Archive, DataMissingError, read_members
from benchmarks.generate import TEST, TRAIN, Floats, make_relevance
from benchmarks.peers import OUR_RANKER
from benchmarks.peers.rankers import Ranker
from benchmarks.quality import Judge, ndcg
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import Sample, interleave, timed
from benchmarks.verdict import AtLeast

Queries = npt.NDArray[np.int64]
ROWS, COLUMNS, SIZE = 400_000, 136, 100
SMALL_ROWS = 40_000
SEEDS = 5
DEPTH = 10
JUDGE = Judge("ndcg@10", 0.002, bigger_is_better=True)
TARGETS = {"lightgbm-ranker": AtLeast(1.5), "xgboost-ranker": AtLeast(1.5)}
SETTINGS = Settings(leaves=31, rounds=100, learning_rate=0.1)
RANKEVAL = Archive(
    "rankeval==0.7.3",
    "rankeval-0.7.3.tar.gz",
    "9aef1dce3733bf57d4e02e843384c9746a79e25128791af17ac027bedd797099",
)


@dataclass(frozen=True)
class Lists:
    """A table of queries whose rows follow each other."""

    X: Floats
    y: Floats
    query: Queries

    def take(self, queries: Queries) -> "Lists":
        """Return the rows of some queries."""
        chosen = np.isin(self.query, queries)
        return Lists(self.X[chosen], self.y[chosen], self.query[chosen])


def mslr() -> Lists:
    """Return 10 000 rows of Microsoft's web search data, relevances from 0 to 4."""
    from sklearn.datasets import load_svmlight_file

    folder = "rankeval-0.7.3/rankeval/test/data"
    contents = read_members(
        RANKEVAL, tuple(f"{folder}/msn1.fold1.{part}.5k.txt" for part in ("train", "test"))
    )
    parts = [load_svmlight_file(io.BytesIO(content), query_id=True, dtype=np.float32) for content in contents]
    X = np.concatenate([part[0].toarray() for part in parts])
    y = np.concatenate([part[1] for part in parts]).astype(np.float32)
    query = np.concatenate([part[2] for part in parts])
    order = np.argsort(query, kind="stable")
    return Lists(X[order], y[order], query[order])


def generated(rows: int, part: int = TRAIN) -> Lists:
    """Return queries of 100 rows, relevances from 0 to 4."""
    X, y = make_relevance(rows, COLUMNS, part=part)
    return Lists(X, y, np.arange(rows) // SIZE)


TABLES: dict[str, Callable[[], Lists]] = {"mslr_sample": mslr, "generated": lambda: generated(SMALL_ROWS)}


def of_rankers(bench: Bench) -> Bench:
    """Return the bench with our ranker in the place of our boosting."""
    return replace(bench, ours=None if bench.ours is None else OUR_RANKER())


def run(bench: Bench, case: str) -> list[Row]:
    """Train 100 rounds on 400 000 × 136, 4 000 queries, and on half of mslr_sample."""
    bench = of_rankers(bench)
    bench.say("making the table")
    train = generated(bench.options.size(ROWS, 2_000))
    held_out = generated(bench.options.size(100_000, 2_000), TEST)
    rows = _timed(bench, case, "", train, held_out)
    try:
        bench.say("reading mslr_sample")
        table = mslr()
    except DataMissingError as missing:
        bench.say(str(missing))
        return rows
    first, last = np.array_split(np.unique(table.query), 2)
    return [*rows, *_timed(bench, case, "mslr_sample: ", table.take(first), table.take(last))]


def _timed(bench: Bench, case: str, name: str, train: Lists, held_out: Lists) -> list[Row]:
    settings = replace(SETTINGS, rounds=bench.options.size(100, 3), threads=bench.options.threads)
    qualities: dict[str, dict[str, float]] = {}
    for contender in bench.contenders():
        bench.say(f"warming up {contender.label}")
        few = train.take(np.arange(20))
        _action(contender, few, few, replace(settings, rounds=2), {})()
    actions = {
        contender.label: _action(contender, train, held_out, settings, qualities)
        for contender in bench.contenders()
    }
    samples = interleave(actions, bench.options.times(3), bench.say)
    # NDCG of one split of a small table is noise: `ranking-accuracy` judges it.
    comparison = Comparison(bench, case, samples, qualities, None if name else JUDGE)
    return [
        *comparison.rows("train", TARGETS, name=f"{name}train"),
        *comparison.rows("dataset + train", {}, name=f"{name}dataset + train"),
    ]


def _action(
    contender: Contender,
    train: Lists,
    held_out: Lists,
    settings: Settings,
    qualities: dict[str, dict[str, float]],
) -> Action:
    """Return what builds, trains, and the first time also judges the model."""
    peer, mode = contender.peer, contender.mode
    assert isinstance(peer, Ranker)

    def action() -> Sample:
        dataset, building = timed(lambda: peer.queries(train.X, train.y, train.query, settings, mode))
        model, training = timed(lambda: peer.train(dataset, settings, mode))
        if contender.label not in qualities:
            qualities[contender.label] = _quality(held_out, peer, model, settings)
        return {"train": training, "dataset + train": building + training}

    return action


def run_accuracy(bench: Bench, case: str) -> list[Row]:
    """Compare NDCG of held-out queries, split by split."""
    bench = of_rankers(bench)
    rows: list[Row] = []
    for name, read in TABLES.items():
        bench.say(f"reading {name}")
        try:
            table = read()
        except DataMissingError as missing:
            bench.say(str(missing))
            continue
        found = {
            peer.name: _losses(bench, peer, table) for peer in bench.libraries() if isinstance(peer, Ranker)
        }
        ours = found.get("spinney", [])
        rows.extend(
            compared(case, name, (peer.name, peer.note), ours, found[peer.name]) for peer in bench.peers
        )
    return rows


def _losses(bench: Bench, peer: Ranker, table: Lists) -> Scores:
    """Return 1 - NDCG of each split of the queries: three quarters train, the rest is held out."""
    settings = replace(SETTINGS, rounds=bench.options.size(100, 3), threads=bench.options.threads)
    found = []
    for seed in range(bench.options.size(SEEDS, 2)):
        bench.say(f"split {seed + 1}: {peer.name}")
        queries = np.random.default_rng(seed).permutation(np.unique(table.query))
        queries = queries[: bench.options.size(len(queries), 20)]
        train, test = (table.take(part) for part in np.split(queries, [len(queries) * 3 // 4]))
        dataset = peer.queries(train.X, train.y, train.query, settings, peer.modes[0])
        model = peer.train(dataset, settings, peer.modes[0])
        found.append({"1 - ndcg@10": 1.0 - _quality(test, peer, model, settings)["ndcg@10"]})
    return found


def _quality(table: Lists, peer: Ranker, model: object, settings: Settings) -> dict[str, float]:
    found = peer.predict(model, table.X, settings)
    return {"ndcg@10": ndcg(table.y, found, table.query, DEPTH)}

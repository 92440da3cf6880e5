"""A data set on a cluster has the cuts, groups and codes of the same rows on one machine."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from distributed import Client
from scipy import sparse

import spinney as sp
import spinney.dask as sd
from clusters import cluster_of
from dask_data import array, check_alike, delayed, frame, gathered, pieces
from spinney.binning import cuts
from spinney.dask import partitions, rank_data

ROWS = 300
CHUNKS = (100, 1, 0, 150, 49)
RNG = np.random.default_rng(0)
TARGET, WEIGHT = RNG.normal(size=ROWS), RNG.integers(0, 3, ROWS) / 2
MARGIN = RNG.normal(size=(ROWS, 2))
QUERIES = np.sort(RNG.integers(0, 40, ROWS))


def numbers() -> np.ndarray:
    """Numbers with gaps, columns mostly zero or missing, and a one-hot block."""
    rng = np.random.default_rng(1)
    found = rng.normal(size=(ROWS, 4))
    found[rng.random(found.shape) < 0.1] = np.nan
    found[rng.random(ROWS) < 0.8, 1] = np.nan
    rare = np.where(rng.random((ROWS, 4)) < 0.05, rng.normal(size=(ROWS, 4)), 0.0)
    return np.hstack([found, rare, np.eye(8)[rng.integers(0, 8, ROWS)]])


def mixed() -> pd.DataFrame:
    """Every kind of column that pandas has for numbers, text and categories, with gaps."""
    rng = np.random.default_rng(2)
    some = pd.DataFrame(
        {
            "number": np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(size=ROWS)),
            "single": rng.normal(size=ROWS).astype(np.float32),
            "whole": rng.integers(0, 9, ROWS),
            "truth": rng.random(ROWS) < 0.5,
            "text": rng.choice(["oak", "ash", "elm"], ROWS),
            "nullable": pd.array(rng.choice([1, 2, None], ROWS), dtype="Int64"),
            "arrow": pd.Series(rng.choice([1.5, 2.5, None], ROWS)).astype("double[pyarrow]"),
            "arrow_text": pd.array(rng.choice(["p", "q", None], ROWS), dtype="string[pyarrow]"),
            "category": pd.Categorical(rng.choice(list("abc"), ROWS)),
        }
    )
    some.loc[rng.random(ROWS) < 0.1, "text"] = None
    return some


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster_of(2, processes=False) as client:
        yield client


@pytest.mark.parametrize(
    "make", [np.asarray, sparse.csr_array, sparse.csc_array], ids=["dense", "csr", "csc"]
)
@pytest.mark.parametrize(
    "given",
    [{}, {"bundle": False}, {"max_bin": 270}, {"max_conflict_rate": 0.05}, {"absent": "missing"}],
    ids=str,
)
def test_bundles_sparse_columns_and_wide_codes_are_those_of_one_machine(
    client: Client, make: Any, given: Any
) -> None:
    X = numbers() if make is np.asarray else make(np.nan_to_num(numbers()))
    found = sd.Dataset(client, delayed(X.tocsr() if sparse.issparse(X) else X, CHUNKS), **given)
    check_alike(found, sp.Dataset(X, **given))


def test_targets_weights_margins_and_queries_stay_with_their_rows(client: Client) -> None:
    X = numbers()
    beside = {"weight": WEIGHT, "base_margin": MARGIN, "qid": QUERIES}
    chunked = {name: array(values, CHUNKS) for name, values in beside.items()}
    found = sd.Dataset(client, array(X, CHUNKS), array(TARGET, CHUNKS), **chunked)
    check_alike(found, sp.Dataset(X, TARGET, **beside))


def test_a_query_that_goes_over_partitions_is_brought_together(client: Client) -> None:
    found = sd.Dataset(client, array(numbers(), CHUNKS), qid=array(QUERIES, CHUNKS))
    queries = gathered(found).queries
    assert queries is not None
    assert len(found.parts) == 3  # the partition of one row has gone to the one before it
    for begin in np.cumsum(found.lengths)[:-1]:
        assert queries[begin] != queries[begin - 1]


def test_queries_whose_rows_stand_apart_are_brought_together(client: Client) -> None:
    qid = np.arange(ROWS) % 7
    found = sd.Dataset(client, array(numbers(), CHUNKS), qid=array(qid, CHUNKS))
    assert found.lengths.tolist() == [ROWS]
    check_alike(found, sp.Dataset(numbers(), qid=qid))


def test_sizes_and_weights_of_queries_are_those_of_each_partition(client: Client) -> None:
    sizes = np.full(30, 10)
    weight = np.arange(1.0, 31.0)
    found = sd.Dataset(
        client, delayed(numbers(), (100, 200)), delayed(TARGET, (100, 200)),
        group=delayed(sizes, (10, 20)), weight=delayed(weight, (10, 20)),
    )  # fmt: skip
    check_alike(found, sp.Dataset(numbers(), TARGET, group=sizes, weight=weight))


def test_columns_of_every_kind_are_read_as_in_one_frame(client: Client) -> None:
    X = mixed()
    found = sd.Dataset(client, frame(X, CHUNKS), frame(pd.Series(TARGET), CHUNKS), categorical=["whole"])
    check_alike(found, sp.Dataset(X, TARGET, categorical=["whole"]))


def test_categories_may_differ_from_partition_to_partition(client: Client) -> None:
    X = mixed()[["category", "number"]].sort_values("category", ignore_index=True)
    own = [
        one.assign(category=one.category.cat.remove_unused_categories()) for one in pieces(X, (90, 110, 100))
    ]
    found = sd.Dataset(client, [dask.delayed(one) for one in own])
    check_alike(found, sp.Dataset(X))
    unknown = frame(X, CHUNKS)
    unknown["category"] = unknown["category"].cat.as_unknown()
    check_alike(sd.Dataset(client, unknown), sp.Dataset(X))


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_partitions_of_a_list_may_be_any_table(client: Client, make: Any) -> None:
    X = mixed()[["number", "whole", "text"]]
    parts = [dask.delayed(make(one)) for one in pieces(X, (120, 180))]
    check_alike(sd.Dataset(client, parts), sp.Dataset(X))


def test_rows_of_weight_0_do_not_affect_categories_and_cuts(client: Client) -> None:
    X = mixed()
    X.loc[WEIGHT == 0, "text"] = "yew"
    found = sd.Dataset(client, frame(X, CHUNKS), weight=array(WEIGHT, CHUNKS))
    check_alike(found, sp.Dataset(X, weight=WEIGHT))


def test_cuts_come_from_the_rows_that_one_machine_samples(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuts, "SAMPLE", 60)
    X = numbers()
    found = sd.Dataset(client, array(X, CHUNKS), weight=array(WEIGHT, CHUNKS))
    check_alike(found, sp.Dataset(X, weight=WEIGHT))


def test_very_many_cuts_are_thinned_as_on_one_machine(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sp.Dataset(numbers())
    monkeypatch.setattr(cuts, "MANY_CUTS", 400)
    thinned = sp.Dataset(numbers())
    assert thinned.cuts.bins.sum() < whole.cuts.bins.sum()
    check_alike(sd.Dataset(client, array(numbers(), CHUNKS)), thinned)
    check_alike(sd.Dataset(client, array(numbers(), CHUNKS), schema=whole.schema), thinned)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
def test_sketches_give_the_cuts_of_all_rows(
    client: Client, weight: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = mixed()
    given = {"weight": None if weight is None else array(weight, CHUNKS), "max_bin": 16}
    whole = sp.Dataset(X, weight=weight, max_bin=16)
    monkeypatch.setattr(cuts, "SAMPLE", 20)
    check_alike(sd.Dataset(client, frame(X, CHUNKS), cuts="sketch", **given), whole)
    other = sd.Dataset(client, frame(X, CHUNKS), **given)
    assert not other.cuts.same(whole.cuts)


def test_sketches_of_sparse_tables_count_what_is_absent(client: Client) -> None:
    X = sparse.csr_array(np.nan_to_num(numbers()))
    check_alike(sd.Dataset(client, delayed(X, CHUNKS), cuts="sketch"), sp.Dataset(X))
    given = {"absent": "missing"}
    check_alike(sd.Dataset(client, delayed(X, CHUNKS), cuts="sketch", **given), sp.Dataset(X, **given))


def test_blocks_of_an_array_may_be_sparse(client: Client) -> None:
    X = sparse.csr_matrix(np.nan_to_num(numbers()))
    check_alike(sd.Dataset(client, array(X, (200, 100))), sp.Dataset(X))


def test_validation_rows_take_cuts_and_categories_of_their_reference(client: Client) -> None:
    X, other = mixed()[:200], mixed()[200:]
    other = other.assign(text="unseen")[X.columns[::-1]]
    data, whole = sd.Dataset(client, frame(X, (150, 50))), sp.Dataset(X)
    check_alike(
        sd.Dataset(client, frame(other, (30, 70)), reference=data), sp.Dataset(other, reference=whole)
    )
    check_alike(
        sd.Dataset(client, frame(other, (30, 70)), reference=whole), sp.Dataset(other, reference=whole)
    )


def test_an_array_of_several_blocks_of_columns_is_one_table(client: Client) -> None:
    X = numbers()
    found = sd.Dataset(client, array(X, CHUNKS).rechunk({1: 5}), names=[f"x{k}" for k in range(X.shape[1])])
    check_alike(found, sp.Dataset(X, names=[f"x{k}" for k in range(X.shape[1])]))


def test_only_codes_stay_on_the_workers(client: Client) -> None:
    before = set(client.futures)
    data = sd.Dataset(client, array(numbers(), CHUNKS), array(TARGET, CHUNKS))
    gc.collect()
    assert set(client.futures) - before == {part.key for part in data.parts}


def test_small_parts_of_a_rank_are_joined_into_blocks(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = sparse.csr_array(np.nan_to_num(numbers()))
    data = sd.Dataset(client, delayed(X, CHUNKS))
    assert gathered(data).binned.codes.begins.tolist() == [0, ROWS]
    monkeypatch.setattr(rank_data, "BLOCK_ROWS", 100)
    assert gathered(data).binned.codes.begins.tolist() == [0, 100, 251, ROWS]
    check_alike(data, sp.Dataset(X))


def test_what_is_kept_is_never_confused_with_other_work_on_the_same_collection(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    X = da.random.default_rng(0).random((ROWS, 3), chunks=(100, 3))
    y = X[:, 0] + X[:, 1] > 1.0
    with caplog.at_level("WARNING", "distributed.scheduler"):
        data = sd.Dataset(client, X, y)
        valid = sd.Dataset(client, X[:150], y[:150], reference=data)
        held = client.persist([X, y])
        again = sd.Dataset(client, held[0], held[0][:, 0])
        rows, labels = client.gather(client.compute([X, y]))
    assert "run_spec" not in caplog.text
    whole = sp.Dataset(rows, labels)
    check_alike(data, whole)
    check_alike(valid, sp.Dataset(rows[:150], labels[:150], reference=whole))
    check_alike(again, sp.Dataset(rows, rows[:, 0]))


def test_very_many_partitions_are_worked_on_together(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "FEW_PARTITIONS", 4)
    X, chunks = mixed(), (7, 3, 0, 50, 40, 1, 99, 100)
    given = {"weight": array(WEIGHT, chunks), "categorical": ["whole"]}
    found = sd.Dataset(client, frame(X, chunks), array(TARGET, chunks), **given)
    assert found.lengths.tolist() == [100, 100, 100]
    whole = sp.Dataset(X, TARGET, weight=WEIGHT, categorical=["whole"])
    check_alike(found, whole)
    check_alike(sd.Dataset(client, frame(X, chunks), array(TARGET, chunks), cuts="sketch", **given), whole)
    monkeypatch.setattr(cuts, "SAMPLE", 60)
    stored = sparse.csr_array(np.nan_to_num(numbers()))
    check_alike(sd.Dataset(client, delayed(stored, chunks)), sp.Dataset(stored))


def test_the_repr_of_a_data_set_has_its_size(client: Client) -> None:
    data = sd.Dataset(client, array(numbers(), CHUNKS), array(TARGET, CHUNKS))
    assert repr(data).startswith(f"Dataset(rows={ROWS}, columns=16, bins=")
    assert repr(data).endswith("parts=4)")


def tasks_of(client: Client, monkeypatch: pytest.MonkeyPatch, make: Any) -> int:
    """How many tasks are submitted while a data set is made."""
    submitted, submit = [], client.submit

    def counted(task: Any, *args: Any, **given: Any) -> Any:
        submitted.append(task.__name__)
        return submit(task, *args, **given)

    with monkeypatch.context() as patch:
        patch.setattr(client, "submit", counted)
        make()
    return len(submitted)


@pytest.mark.parametrize(
    ("X", "given", "each"),
    [
        (np.arange(800.0).reshape(400, 2), {}, 8),
        (np.arange(800.0).reshape(400, 2), {"schema": sp.Dataset(np.ones((1, 2))).schema}, 7),
        (np.arange(800.0).reshape(400, 2), {"reference": sp.Dataset(np.ones((1, 2)))}, 6),
        (np.eye(8)[np.arange(400) % 8], {}, 9),
    ],
    ids=["numbers", "schema", "reference", "bundles"],
)
def test_a_partition_takes_a_fixed_number_of_tasks(
    client: Client, monkeypatch: pytest.MonkeyPatch, X: Any, given: Any, each: int
) -> None:
    # Read it, look at it, its labels, count, sample, draft, count the draft, encode; with bundles list its entries.
    few, many = (
        tasks_of(
            client,
            monkeypatch,
            lambda chunks=chunks: sd.Dataset(client, array(X, chunks), array(X[:, 0], chunks), **given),
        )
        for chunks in ((200, 200), (50,) * 8)
    )
    assert many - few == 6 * each

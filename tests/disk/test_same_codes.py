"""A data set on disk has the cuts, groups and codes of the same rows in memory."""

import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import problems
import spinney as sp
from paged import batches_of, check_same, paged
from spinney.binning import cuts

ROWS = 300


def table(seed=0):
    """Numbers with gaps, a column mostly missing, columns mostly zero, and one-hot blocks."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(ROWS, 4))
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    numbers[rng.random(ROWS) < 0.8, 1] = np.nan
    rare = np.where(rng.random((ROWS, 4)) < 0.04, rng.normal(size=(ROWS, 4)), 0.0)
    blocks = [np.eye(levels)[rng.integers(0, levels, ROWS)] for levels in (3, 8)]
    return np.hstack([numbers, rare, *blocks])


def stored(X):
    """The values of a table that are neither 0 nor missing, by column."""
    return sparse.csc_array(np.nan_to_num(X))


@pytest.mark.kernels
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, stored], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize(
    "given",
    [{}, {"bundle": False}, {"max_bin": 270}, {"max_conflict_rate": 0.05}, {"absent": "missing"}],
    ids=str,
)
def test_bundles_sparse_columns_and_wide_codes_are_those_of_memory(make, given):
    X = table()
    whole = sp.Dataset(make(X), **given)
    check_same(paged(make(X), page_rows=70, memory=0, **given), whole)


@pytest.mark.parametrize("memory", [0, 9_000, "1GB"])
@pytest.mark.parametrize("page_rows", [1, 64, None])
def test_pages_of_any_size_in_any_memory_give_the_same_codes_again_and_again(page_rows, memory):
    X = table()[:130]
    dataset, whole = paged(X, size=33, page_rows=page_rows, memory=memory), sp.Dataset(X)
    for _ in range(3):
        check_same(dataset, whole)


def test_some_pages_stay_in_memory_and_the_others_are_read_anew():
    X = np.random.default_rng(0).random((400, 3))
    dataset = paged(X, page_rows=40, memory=6_000)
    assert 0 < dataset.binned.codes.resident < 10
    first, second = (dict(dataset.binned.codes.scan()) for _ in range(2))
    assert sum(first[block] is second[block] for block in first) >= dataset.binned.codes.resident


def test_scans_go_forward_and_backward_in_turn_and_may_be_given_up():
    dataset = paged(np.arange(100.0).reshape(50, 2), page_rows=9, memory=0)
    forward = [block for block, _ in dataset.binned.codes.scan()]
    backward = [block for block, _ in dataset.binned.codes.scan()]
    assert forward == [0, 1, 2, 3, 4, 5] == backward[::-1]
    given_up = dataset.binned.codes.scan()
    next(given_up)
    given_up.close()
    assert [block for block, _ in dataset.binned.codes.scan()] == backward


def test_where_no_thread_is_to_be_had_pages_are_read_when_they_are_asked_for(monkeypatch):
    X = table()[:130]
    dataset, whole = paged(X, page_rows=20, memory=6_000), sp.Dataset(X)

    def refused(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    for _ in range(2):
        check_same(dataset, whole)


def test_categories_are_counted_over_all_batches_and_rows_of_weight_0_do_not_count():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "tree": rng.choice(["oak", "ash", "elm", None], ROWS, p=[0.2, 0.5, 0.2, 0.1]),
            "late": [None] * 150 + rng.choice(["a", "b"], 150).tolist(),
            "day": pd.to_datetime(rng.integers(0, 9, ROWS), unit="D"),
            "many": rng.choice([f"v{k}" for k in range(60)], ROWS),
            "level": pd.Categorical(rng.choice(["1", "2"], ROWS)),
            "number": rng.normal(size=ROWS),
        }
    )
    weight = rng.integers(0, 2, ROWS).astype(float)
    frame.loc[weight == 0, "tree"] = "yew"
    given = {"categorical": ["day"], "max_bin": 20}
    whole = sp.Dataset(frame, frame["number"], weight=weight, **given)
    assert whole.describe()["rare_categories"] > 0
    check_same(paged(frame, frame["number"], 41, {"weight": weight}, page_rows=50, **given), whole)


def test_queries_margins_and_several_targets_are_those_of_memory():
    rng = np.random.default_rng(4)
    X, y, margin = rng.random((90, 3)), rng.random((90, 2)), rng.random((90, 2))
    weight, qid = rng.random(90), rng.integers(5, 12, 90)
    more = {"weight": weight, "base_margin": margin}
    whole = sp.Dataset(X, y, weight=weight, base_margin=margin, qid=qid)
    check_same(paged(X, y, 7, {**more, "qid": qid}), whole)
    check_same(
        paged(X, y, 7, {**more, "qid": qid.astype(str)}),
        sp.Dataset(X, y, weight=weight, base_margin=margin, qid=qid.astype(str)),
    )


def test_sizes_of_queries_and_their_weights_are_those_of_batches():
    X = np.random.default_rng(4).random((90, 3))
    batches = [
        {"X": X[:50], "group": [20, 30], "weight": [1.0, 2.0]},
        {"X": X[50:], "group": [40], "weight": [0.5]},
    ]
    check_same(sp.Dataset.from_batches(batches), sp.Dataset(X, group=[20, 30, 40], weight=[1.0, 2.0, 0.5]))


def test_cuts_of_many_rows_are_found_from_the_same_sample(monkeypatch):
    monkeypatch.setattr(cuts, "SAMPLE", 50)
    X = table()
    weight = np.random.default_rng(5).random(ROWS)
    for make in (np.asarray, sparse.csr_array):
        whole = sp.Dataset(make(X), weight=weight)
        assert not whole.cuts.same(sp.Dataset(make(X[:50])).cuts)
        check_same(paged(make(X), size=31, more={"weight": weight}), whole)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_bins_of_columns_of_few_entries_are_thinned_by_the_entries_of_all_rows(monkeypatch, make):
    monkeypatch.setattr(cuts, "MANY_CUTS", 30)
    whole = sp.Dataset(make(table()))
    monkeypatch.setattr(cuts, "MANY_CUTS", 10**9)
    assert not sp.Dataset(make(table())).cuts.same(whole.cuts)
    monkeypatch.setattr(cuts, "MANY_CUTS", 30)
    check_same(paged(make(table())), whole)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_validation_rows_have_the_cuts_of_their_reference(make):
    X = table()
    whole = sp.Dataset(make(X))
    for reference in (whole, paged(make(X))):
        check_same(paged(make(X[:80]), reference=reference), sp.Dataset(make(X[:80]), reference=whole))


def test_the_schema_of_a_model_tells_the_order_of_columns():
    frame = pd.DataFrame(table()[:, :3], columns=["a", "b", "c"])
    schema = sp.Dataset(frame).schema
    check_same(
        paged(frame[["c", "a", "b"]], schema=schema), sp.Dataset(frame[["c", "a", "b"]], schema=schema)
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_random_tables_in_random_batches_and_pages_are_those_of_memory(seed):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 90)), int(rng.integers(1, 7))
    X = problems.table(rng, rows, columns)
    if rng.random() < 0.4:
        X = sparse.csr_array(np.nan_to_num(X)) if rng.random() < 0.5 else sparse.csc_array(X)
    given = {
        "max_bin": int(rng.choice([2, 5, 255, 400])),
        "bundle": bool(rng.random() < 0.8),
        "absent": str(rng.choice(["zero", "missing"])),
        "max_conflict_rate": float(rng.choice([0.0, 0.2])),
    }
    weight = rng.integers(0, 3, rows).astype(float)
    weight[int(rng.integers(rows))] = 1.0
    more = {"weight": weight} if rng.random() < 0.5 else {}
    dataset = sp.Dataset.from_batches(
        batches_of(X, None, int(rng.integers(1, rows + 1)), **more),
        page_rows=int(rng.integers(1, rows + 2)), memory=int(rng.choice([0, 10**9])), **given,
    )  # fmt: skip
    check_same(dataset, sp.Dataset(X, **more, **given))

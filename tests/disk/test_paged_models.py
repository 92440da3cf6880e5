"""Training from disk gives the bytes of training in memory."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import problems
import spinney as sp
from paged import batches_of, paged
from spinney.disk.blocks import PagedBlocks
from spinney.errors import DataError, DatasetFormatError, ParameterError

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")


def problem(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 3))
    numbers[rng.random(rows) < 0.1, 1] = np.nan
    one_hot = np.eye(5)[rng.integers(0, 5, rows)]
    X = np.hstack([numbers, one_hot])
    return X, numbers[:, 0] + one_hot[:, 2] + np.nan_to_num(numbers[:, 1]) ** 2


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "params",
    [
        {"max_leaves": 20, "colsample_bynode": 0.5},
        {"max_depth": 4, "grow_policy": "depthwise", "subsample": 0.5, "objective": "absolute_error"},
        {"sampling_method": "goss", "learning_rate": 0.9, "max_leaves": 8},
    ],
    ids=["lossguide", "depthwise", "goss"],
)
def test_a_model_from_disk_has_the_bytes_of_one_from_memory(make, params):
    X, y = problem()
    whole = sp.Dataset(make(X), y)
    valid = sp.Dataset(make(X[:90]), y[:90], reference=whole)
    history = sp.History()
    model = sp.train(params, whole, 6, valid={"v": valid}, callbacks=[history])
    for page_rows, memory, threads in ((None, None, 1), (37, 0, 2), (150, 12_000, 3)):
        dataset = paged(make(X), y, page_rows=page_rows, memory=memory)
        other = paged(make(X[:90]), y[:90], 31, reference=dataset, page_rows=page_rows, memory=0)
        seen = sp.History()
        found = sp.train({**params, "n_jobs": threads}, dataset, 6, valid={"v": other}, callbacks=[seen])
        assert found == sp.Model.from_bytes(model.to_bytes())
        assert seen.evals == history.evals


def test_a_data_set_that_was_opened_again_trains_as_before(tmp_path):
    X, y = problem()
    made = paged(X, y, folder=tmp_path / "data", page_rows=99)
    model = sp.train({"max_leaves": 9}, made, 5)
    opened = sp.open_dataset(tmp_path / "data", memory="1MB")
    assert sp.train({"max_leaves": 9}, opened, 5) == model
    more = sp.train({"max_leaves": 9}, opened, 5, init_model=model)
    assert more == sp.train({"max_leaves": 9}, sp.Dataset(X, y), 10)


def test_parts_of_a_data_set_on_disk_are_those_of_memory():
    X, y = problem(200)
    whole, dataset = sp.Dataset(X, y), paged(X, y, page_rows=33, memory=0)
    params = {"max_leaves": 6}
    mine, other = (sp.cv(params, one, rounds=4, folds=3) for one in (dataset, whole))
    assert repr(mine) == repr(other)


def test_categories_train_alike():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"tree": rng.choice(list("abcdefgh"), 300), "x": rng.random(300)})
    y = frame["x"] + (frame["tree"] > "d")
    params = {"max_leaves": 8}
    assert sp.train(params, paged(frame, y, page_rows=50), 5) == sp.train(params, sp.Dataset(frame, y), 5)


@pytest.mark.parametrize("memory", [None, 6_000, 0], ids=["all pages", "some", "none"])
def test_rounds_are_found_and_statistics_made_as_in_memory(memory):
    rng = np.random.default_rng(2)
    town = rng.integers(0, 30, 400)
    y = rng.normal(size=30)[town] + rng.normal(size=400)
    frame = pd.DataFrame({"x": rng.random(400), "town": pd.Categorical(town), "z": rng.random(400)})
    whole, dataset = sp.Dataset(frame, y), paged(frame, y, page_rows=70, memory=memory)
    for params in ({}, {"target_stats": 9}, {"target_stats": 9, "subsample": 0.6, "models": 2}):
        params = {"max_leaves": 6, "learning_rate": 0.3} | params
        for rows in (None, "last", np.arange(3, 400, 9)):
            found, expected = (
                sp.train(params, one, "auto", max_rounds=5, validation=rows) for one in (dataset, whole)
            )
            assert found.to_bytes() == expected.to_bytes()
        assert (found.statistics is None) == ("target_stats" not in params)


@pytest.mark.parametrize("page_rows", [200, 150])
@pytest.mark.parametrize("memory", [0, 30_000])
@pytest.mark.parametrize("threads", [1, 2])
def test_pages_of_bytes_that_are_used_as_they_are_read_give_the_bytes_of_memory(page_rows, memory, threads):
    rng = np.random.default_rng(5)
    X = rng.random((1_000, 3))
    y = X[:, 0] + X[:, 1] * X[:, 2]
    dataset = paged(X, y, page_rows=page_rows, memory=memory)
    assert dataset.describe()["bins"] == 3 * 255
    found, expected = (
        sp.train({"max_leaves": 20, "n_jobs": threads}, one, 4) for one in (dataset, sp.Dataset(X, y))
    )
    assert found.to_bytes() == expected.to_bytes()


def test_a_page_that_is_gone_while_training_ends_it_with_its_name(tmp_path):
    X, y = problem()
    dataset = paged(X, y, folder=tmp_path / "data", page_rows=90, memory=0)

    def remove(info):
        (tmp_path / "data" / "page-000003.bin").unlink(missing_ok=True)

    with pytest.raises(
        DatasetFormatError, match=r"page-000003\.bin', a part of the data set, cannot be read"
    ):
        sp.train({}, dataset, 3, callbacks=[remove])


@pytest.mark.parametrize("method", ["exact", "approx"])
def test_other_learners_are_refused_before_any_work(method):
    with pytest.raises(ParameterError, match=f"tree_method='{method}' needs the table of dataset"):
        sp.train({"tree_method": method}, paged(*problem(50)), 1)


def test_a_data_set_without_a_target_can_only_be_a_reference():
    X, _ = problem(50)
    with pytest.raises(DataError, match="dataset has no target"):
        sp.train({}, paged(X), 1)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_random_tables_train_to_the_bytes_of_memory(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 120))
    X = problems.table(rng, rows, int(rng.integers(1, 6)))
    y = rng.integers(0, 3, rows).astype(float)
    if rng.random() < 0.3:
        X = sparse.csr_array(np.nan_to_num(X))
    weight = rng.integers(0, 3, rows) + (rng.random(rows) < 0.9)
    more = {"weight": weight} if rng.random() < 0.4 and weight.any() else {}
    params = {
        "max_leaves": int(rng.integers(2, 20)),
        "subsample": float(rng.choice([1.0, 0.6])),
        "min_child_weight": 0.0,
        "n_jobs": int(rng.integers(1, 4)),
        "objective": str(rng.choice(["squared_error", "absolute_error"])),
    }
    dataset = sp.Dataset.from_batches(
        batches_of(X, y, int(rng.integers(1, rows + 1)), **more),
        page_rows=int(rng.integers(1, rows + 1)), memory=int(rng.choice([0, 10**8])),
    )  # fmt: skip
    assert sp.train(params, dataset, 3) == sp.train(params, sp.Dataset(X, y, **more), 3)


@pytest.mark.parametrize(("params", "passes"), [({}, 4), ({"subsample": 0.5}, 5)])
def test_a_tree_takes_a_pass_more_than_it_is_deep_and_one_for_rows_that_did_not_grow_it(
    monkeypatch, params, passes
):
    X = np.random.default_rng(0).random((300, 3))
    dataset = paged(X, X[:, 0] + X[:, 1] * X[:, 2], page_rows=100)
    scan, scans = PagedBlocks.scan, []

    def counted(blocks, team=None):
        scans.append(1)
        return scan(blocks, team)

    monkeypatch.setattr(PagedBlocks, "scan", counted)
    sp.train({"max_depth": 3, "max_leaves": 8, "min_child_samples": 1, **params}, dataset, 2)
    assert len(scans) == 2 * passes

"""A model trained on codes that come block by block has the bytes of the model trained in memory."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import spinney as sp
from block_data import cut_dataset, cuts_into_blocks, in_blocks
from problems import KINDS, column, column_parameters, parameters
from spinney.data.target import ForestTarget
from spinney.errors import DataError, ParameterError
from spinney.params import AdaBoostConfig, Config, ForestConfig
from spinney.training.adaboost import train_adaboost
from spinney.training.forest import train_forest
from spinney.training.growers import threads_of

ROWS = 300
BASE = {"max_leaves": 8, "min_child_samples": 3}


def numbers(rng):
    return np.where(rng.random((ROWS, 5)) < 0.1, np.nan, rng.normal(size=(ROWS, 5)))


def one_hot(rng):
    """Bundled and sparse columns."""
    owner = rng.integers(0, 30, ROWS)
    other = np.where(rng.random(ROWS) < 0.1, 30, 31)
    stored = np.concatenate([rng.integers(1, 4, ROWS), np.ones(ROWS)]).astype(float)
    places = np.tile(np.arange(ROWS), 2), np.concatenate([owner, other])
    return scipy.sparse.csr_array((stored, places), shape=(ROWS, 32))


def categories(rng):
    kinds = rng.choice([f"kind {k}" for k in range(12)], ROWS)
    return pd.DataFrame({"tree": pd.Categorical(kinds), "x": rng.normal(size=ROWS)})


CASES = {
    "numbers": {},
    "level by level": {"grow_policy": "depthwise", "max_depth": 4, "max_leaves": 0, "gamma": 0.1},
    "three classes": {"objective": "softmax", "num_class": 3},
    "one against the rest": {"objective": "one_vs_rest", "num_class": 3},
    "two classes": {"objective": "log_loss"},
    "medians": {"objective": "absolute_error"},
    "quantiles of a sample": {"objective": "quantile", "subsample": 0.6},
    "huber": {"objective": "huber"},
    "poisson": {"objective": "poisson"},
    "searched values": {"objective": "log_loss", "leaf_estimation": "line_search"},
    "some rows of each tree": {"subsample": 0.5},
    "few rows of each tree": {"subsample": 0.1},
    "rows by gradient": {"sampling_method": "goss", "goss_warm_up": False},
    "rows by their gain": {"sampling_method": "gradient_based", "subsample": 0.4},
    "drawn by weight": {"sampling_method": "weighted", "subsample": 0.4},
    "values of all rows": {"subsample": 0.5, "leaf_values": "all"},
    "goss and values of all rows": {
        "sampling_method": "goss",
        "goss_warm_up": False,
        "leaf_values": "all",
    },
    "drawn columns": {"colsample_bytree": 0.7, "colsample_bylevel": 0.8, "colsample_bynode": 0.6},
    "directions": {"monotone_constraints": [1, 0, -1, 0, 0], "max_delta_step": 0.5},
    "columns that may meet": {"interaction_constraints": [[0, 1], [1, 2, 3, 4]]},
}


def target_of(params, rng, first):
    value = np.nan_to_num(first) + rng.normal(size=len(first))
    if "num_class" in params:
        return np.digitize(value, [-0.5, 0.5]).astype(float)
    if params.get("objective") in ("log_loss", "poisson"):
        return (value > 0).astype(float)
    return value


def assert_same_model(params, dataset, seed=0, rounds=3):
    expected = sp.train(params, dataset, rounds=rounds)
    assert sp.train(params, in_blocks(dataset, seed), rounds=rounds) == expected
    return expected


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_every_way_to_train_gives_the_same_bytes(case, weighted):
    rng = np.random.default_rng(5)
    table = numbers(rng)
    target = target_of(CASES[case], rng, table[:, 0])
    weight = np.where(rng.random(ROWS) < 0.1, 0.0, rng.integers(1, 5, ROWS) * 0.7) if weighted else None
    model = assert_same_model(BASE | CASES[case], sp.Dataset(table, target, weight=weight))
    assert model.forest.nodes > 3 * model.outputs


@pytest.mark.parametrize("objective", ["rank_ndcg", "cox"])
def test_losses_that_look_at_several_rows_give_the_same_bytes(objective):
    rng = np.random.default_rng(14)
    table = numbers(rng)
    queries = rng.integers(0, 20, ROWS) if objective == "rank_ndcg" else None
    target = rng.integers(0, 4, ROWS) if objective == "rank_ndcg" else rng.uniform(0.5, 9.0, ROWS)
    assert_same_model(BASE | {"objective": objective}, sp.Dataset(table, target, qid=queries))


@pytest.mark.parametrize("make", [one_hot, categories])
@pytest.mark.parametrize("more", [{}, {"subsample": 0.5}], ids=["all rows", "a sample"])
def test_bundles_sparse_columns_and_categories_give_the_same_bytes(make, more):
    rng = np.random.default_rng(6)
    table = make(rng)
    first = table["x"].to_numpy() if isinstance(table, pd.DataFrame) else table[:, [0]].toarray()[:, 0]
    params = BASE | {"min_data_per_group": 2, "cat_smooth": 1.0, "min_child_weight": 0.0} | more
    assert_same_model(params, sp.Dataset(table, target_of({}, rng, first)))


@pytest.mark.parametrize("seed", range(25))
def test_random_tables_cuts_and_parameters_give_the_same_bytes(seed):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(2, 80)), int(rng.integers(3, 7))
    table = np.stack([column(rng, rows, rng.choice(KINDS)) for _ in range(columns)], axis=1)
    dataset = sp.Dataset(table, rng.normal(size=rows), max_bin=int(rng.choice([4, 255, 300])))
    params = parameters(rng, columns) | (column_parameters(rng, columns) if rng.random() < 0.4 else {})
    params["subsample"] = float(rng.choice([1.0, 0.6]))
    assert_same_model(params, dataset, seed, rounds=2)


@pytest.mark.parametrize("train_blocks", [False, True], ids=["memory", "blocks"])
@pytest.mark.parametrize("valid_blocks", [False, True], ids=["memory", "blocks"])
def test_metrics_and_the_round_that_training_stops_at_are_the_same(train_blocks, valid_blocks):
    rng = np.random.default_rng(7)
    table, other = numbers(rng), numbers(rng)
    train = sp.Dataset(table, (np.nan_to_num(table[:, 0]) > 0).astype(float))
    valid = sp.Dataset(other, (rng.random(ROWS) < 0.5).astype(float), reference=train)
    params = BASE | {"objective": "log_loss", "eval_metric": ["auc", "log_loss"], "early_stopping_rounds": 2}
    told = []

    def run(one, two):
        seen = []
        watched = {"train": one, "valid": two}
        model = sp.train(params, one, 15, valid=watched, callbacks=[lambda info: seen.append(info.evals)])
        told.append(seen)
        return model

    expected = run(train, valid)
    found = run(in_blocks(train) if train_blocks else train, in_blocks(valid, 1) if valid_blocks else valid)
    assert found == expected
    assert found.best_round is not None
    assert told[0] == told[1]


@pytest.mark.parametrize("classes", [1, 3])
def test_going_on_from_a_model_gives_the_bytes_of_one_training(classes):
    rng = np.random.default_rng(8)
    table = numbers(rng)
    params = BASE | ({"objective": "softmax", "num_class": 3} if classes == 3 else {})
    dataset = sp.Dataset(table, target_of(params, rng, table[:, 0]))
    whole = sp.train(params, dataset, rounds=4)
    first = sp.train(params, in_blocks(dataset), rounds=2)
    assert sp.train(params, in_blocks(dataset, 2), rounds=2, init_model=first) == whole


@pytest.mark.parametrize(
    "more", [{}, {"sampling_method": "goss", "goss_warm_up": False}], ids=["all", "goss"]
)
def test_two_threads_give_the_same_bytes(more):
    rng = np.random.default_rng(15)
    table = rng.normal(size=(10_000, 30))
    dataset = sp.Dataset(table, target_of({}, rng, table[:, 0]))
    params = {"max_leaves": 20, "n_jobs": 2} | more
    assert (
        threads_of(Config.parse(params), in_blocks(dataset).binned)
        == threads_of(Config.parse(params), dataset.binned)
        == 2
    )
    assert_same_model(params, dataset, rounds=2)


def test_margins_and_weights_of_the_rows_are_kept():
    rng = np.random.default_rng(9)
    table, margin = numbers(rng), rng.normal(size=ROWS)
    weight = rng.random(ROWS)
    dataset = sp.Dataset(table, target_of({}, rng, table[:, 1]), weight=weight, base_margin=margin)
    assert_same_model(BASE, dataset)


def test_folds_of_blocks_give_the_models_of_folds_in_memory():
    rng = np.random.default_rng(10)
    table = numbers(rng)
    dataset = sp.Dataset(table, target_of({}, rng, table[:, 0]))
    for more in ({}, {"subsample": 0.5}):
        expected = sp.cv(BASE | more, dataset, folds=3, rounds=3)
        found = sp.cv(BASE | more, in_blocks(dataset), folds=3, rounds=3)
        assert found.models == expected.models
        assert found.oof.tobytes() == expected.oof.tobytes()


def test_going_on_in_a_part_of_blocks_gives_the_bytes_of_one_training():
    rng = np.random.default_rng(11)
    table = numbers(rng)
    dataset = sp.Dataset(table, target_of({}, rng, table[:, 0]))
    part, _ = sp.split(dataset, test=0.3)
    blocks, _ = sp.split(in_blocks(dataset), test=0.3)
    expected = sp.train(BASE, part, rounds=4)
    first = sp.train(BASE, blocks, rounds=2)
    assert sp.train(BASE, blocks, rounds=2, init_model=first) == expected


@pytest.mark.parametrize("more", [{"tree_method": "exact"}, {"tree_method": "approx"}], ids=str)
def test_growers_that_need_the_table_refuse_blocks(more):
    rng = np.random.default_rng(12)
    dataset = sp.Dataset(numbers(rng), rng.normal(size=ROWS), keep_table=True)
    method = more["tree_method"]
    with pytest.raises(
        ParameterError, match=f"tree_method='{method}' needs the table of dataset.*use tree_method='hist'"
    ):
        sp.train(BASE | more, in_blocks(dataset), rounds=1)
    with pytest.raises(ParameterError, match=f"tree_method='{method}' needs the table of dataset"):
        sp.cv(BASE | more, in_blocks(dataset), rounds=1)
    with pytest.raises(ParameterError, match=rf"tree_method='{method}' needs the table of valid\['it'\]"):
        sp.train(BASE | more, dataset, rounds=1, valid={"it": in_blocks(dataset)})


@pytest.mark.parametrize(
    ("grow", "what"),
    [
        (lambda data, target: train_forest(ForestConfig(), data.binned, target, 1), "a forest"),
        (lambda data, target: train_adaboost(AdaBoostConfig(), data.binned, target, 1), "AdaBoost"),
    ],
    ids=["forest", "adaboost"],
)
def test_forests_and_adaboost_refuse_blocks(grow, what):
    rng = np.random.default_rng(13)
    dataset = sp.Dataset(rng.normal(size=(20, 2)), bundle=False)
    target = ForestTarget(rng.normal(size=(20, 1)))
    with pytest.raises(DataError, match=f"{what} needs all codes at once.*block by block"):
        grow(cut_dataset(dataset, [0, 5, 20]), target)


def test_cuts_are_drawn_within_the_rows():
    begins = cuts_into_blocks(np.random.default_rng(0), 10)
    assert begins[0] == 0
    assert begins[-1] == 10
    assert (np.diff(begins) > 0).all()

"""A model trained on shards, by ranks that join, has the bytes of the model trained in one place, whatever was broken off."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import spinney as sp
from problems import KINDS, column, column_parameters, parameters
from rank_data import Meeting, cut_rows, raised, shards_of, train_on_ranks
from spinney.collective import ALONE, RankLostError
from spinney.errors import ParameterError
from spinney.growth import blockwise
from spinney.training import growers
from spinney.training.checkpoint import Checkpoint
from spinney.training.driver import train_rank

ROWS = 240
BASE = {"max_leaves": 7, "min_child_samples": 3, "n_jobs": 1}


def numbers(rng, rows=ROWS):
    return np.where(rng.random((rows, 4)) < 0.1, np.nan, rng.normal(size=(rows, 4)))


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


def target_of(params, rng, first):
    value = np.nan_to_num(first) + rng.normal(size=len(first))
    objective = params.get("objective")
    if "num_class" in params:
        return np.digitize(value, [-0.5, 0.5]).astype(float)
    if objective == "aft":
        return np.column_stack([np.exp(value), np.exp(value) + rng.integers(0, 2, len(first))])
    if objective == "cox":
        return np.where(rng.random(len(first)) < 0.3, -1.0, 1.0) * np.exp(value)
    if objective == "poisson":
        return np.floor(np.exp(value))
    if objective == "log_loss":
        return (value > 0).astype(float)
    if objective == "gamma":
        return np.exp(value)
    return value


def assert_same_model(params, dataset, rounds=3, *, size=3, seed=0, cuts=None, **given):
    """The model of `train`, and that of every rank."""
    cuts = cuts or cut_rows(np.random.default_rng(seed), dataset, size)
    expected = sp.train(params, dataset, rounds, **given)
    found = raised(train_on_ranks(params, dataset, rounds, cuts=cuts, **given))
    assert found == [expected] * (len(cuts) - 1)
    return expected


CASES = {
    "level by level": {"grow_policy": "depthwise", "max_depth": 4, "max_leaves": 0, "gamma": 0.1},
    "three classes": {"objective": "softmax", "num_class": 3},
    "one against the rest": {"objective": "one_vs_rest", "num_class": 3},
    "two classes": {"objective": "log_loss", "scale_pos_weight": 3.0},
    "medians": {"objective": "absolute_error"},
    "levels of a sample": {"objective": "quantile", "quantile_alpha": [0.2, 0.7], "subsample": 0.6},
    "poisson": {"objective": "poisson", "max_delta_step": 0.5},
    "gamma": {"objective": "gamma"},
    "intervals of times": {"objective": "aft"},
    "order of events": {"objective": "cox"},
    "searched values": {"objective": "log_loss", "leaf_estimation": "line_search"},
    "searched values of classes": {"objective": "softmax", "num_class": 3, "leaf_estimation": "line_search"},
    "some rows of each tree": {"subsample": 0.5},
    "one row of each tree": {"subsample": 0.001},
    "rows by gradient": {"sampling_method": "goss", "goss_warm_up": False},
    "rows by gradients that are alike": {"objective": "log_loss", "sampling_method": "goss", "goss_warm_up": False},
    "rows by gradient after some rounds": {"sampling_method": "goss", "learning_rate": 0.5, "top_rate": 0.0},
    "rows by their gain": {"sampling_method": "gradient_based", "subsample": 0.4},
    "drawn by weight": {"sampling_method": "weighted", "subsample": 0.4},
    "values of all rows": {"subsample": 0.5, "leaf_values": "all"},
    "medians of all rows": {"objective": "absolute_error", "subsample": 0.5, "leaf_values": "all"},
    "goss and values of all rows": {"sampling_method": "goss", "goss_warm_up": False, "leaf_values": "all"},
    "drawn columns": {"colsample_bytree": 0.7, "colsample_bylevel": 0.8, "colsample_bynode": 0.6},
    "directions": {"monotone_constraints": [1, 0, -1, 0], "max_delta_step": 0.5},
    "columns that may meet": {"interaction_constraints": [[0, 1], [1, 2, 3]]},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_every_way_to_train_gives_the_bytes_of_one_place(case, weighted):
    rng = np.random.default_rng(5)
    table = numbers(rng)
    target = target_of(CASES[case], rng, table[:, 0])
    weight = np.where(rng.random(ROWS) < 0.1, 0.0, rng.integers(1, 5, ROWS) * 0.7) if weighted else None
    model = assert_same_model(BASE | CASES[case], sp.Dataset(table, target, weight=weight), seed=len(case))
    assert model.forest.nodes > 3 * model.outputs or "one row" in case


@pytest.mark.parametrize("objective", ["rank_ndcg", "rank_pairwise", "rank_map", "rank_xendcg"])
@pytest.mark.parametrize("queries", [40, 1], ids=["queries", "one query"])
def test_rankings_give_the_bytes_of_one_place(objective, queries):
    rng = np.random.default_rng(14)
    target = rng.integers(0, 2 if objective == "rank_map" else 4, ROWS)
    group = None if queries == 1 else np.bincount(np.sort(rng.integers(0, queries, ROWS)))
    group = None if group is None else group[group > 0]
    params = BASE | {"objective": objective, "eval_metric": "ndcg@3"}
    dataset = sp.Dataset(numbers(rng), target, group=group)
    cuts = cut_rows(rng, dataset, 3) if group is not None else [0, 100, 100, ROWS]
    told = []
    expected = sp.train(
        params, dataset, 3, valid={"all": dataset}, callbacks=[lambda info: told.append(info.evals)]
    )
    heard = []
    found = train_on_ranks(
        params,
        dataset,
        3,
        cuts=cuts,
        valid={"all": (dataset, cuts)},
        callbacks=[lambda info: heard.append(info.evals)],
    )
    assert found == [expected] * 3
    assert heard == told


@pytest.mark.parametrize("make", [one_hot, categories])
@pytest.mark.parametrize("more", [{}, {"subsample": 0.5, "colsample_bytree": 0.6}], ids=["all", "a sample"])
def test_bundles_sparse_columns_and_categories_give_the_bytes_of_one_place(make, more):
    rng = np.random.default_rng(6)
    table = make(rng)
    first = table["x"].to_numpy() if isinstance(table, pd.DataFrame) else table[:, [0]].toarray()[:, 0]
    params = BASE | {"min_data_per_group": 2, "cat_smooth": 1.0, "min_child_weight": 0.0} | more
    assert_same_model(params, sp.Dataset(table, target_of({}, rng, first)), size=4)


@pytest.mark.parametrize("seed", range(20))
def test_random_tables_shards_and_parameters_give_the_bytes_of_one_place(seed):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(2, 80)), int(rng.integers(3, 7))
    table = np.stack([column(rng, rows, rng.choice(KINDS)) for _ in range(columns)], axis=1)
    dataset = sp.Dataset(table, rng.normal(size=rows), max_bin=int(rng.choice([4, 255, 300])))
    params = parameters(rng, columns) | (column_parameters(rng, columns) if rng.random() < 0.4 else {})
    params["subsample"] = float(rng.choice([1.0, 0.6]))
    assert_same_model(params, dataset, 2, size=1 + seed % 5, seed=seed)


@pytest.mark.slow
def test_several_targets_margins_and_threads_give_the_bytes_of_one_place(monkeypatch):
    monkeypatch.setattr(growers, "threads_of", lambda config, data: 1 + data.rows % 3)
    rng = np.random.default_rng(3)
    table = numbers(rng, 1200)
    target = np.nan_to_num(table[:, :2]) + rng.normal(size=(1200, 2))
    dataset = sp.Dataset(table, target, base_margin=rng.normal(size=(1200, 2)))
    params = BASE | {"max_leaves": 40, "subsample": 0.8, "leaf_values": "all"}
    assert_same_model(params, dataset, size=4, seed=1)


def test_rows_that_are_rounded_at_random_go_by_their_numbers_in_the_table():
    """Beyond 8 128 rows rounding is stochastic."""
    rng = np.random.default_rng(9)
    dataset = sp.Dataset(rng.normal(size=(9000, 2)), rng.normal(size=9000))
    assert_same_model(BASE, dataset, 2, size=2, seed=2)


def test_little_room_for_histograms_at_one_rank_holds_for_all(monkeypatch):
    rng = np.random.default_rng(8)
    table = numbers(rng)
    dataset = sp.Dataset(table, target_of({}, rng, table[:, 0]))
    expected = sp.train(BASE, dataset, 2)
    slots = iter([40, 3, 5])
    monkeypatch.setattr(blockwise, "kept_slots", lambda *given: next(slots))
    assert train_on_ranks(BASE, dataset, 2, cuts=[0, 50, 120, ROWS]) == [expected] * 3


def test_a_rank_without_rows_takes_no_room_for_histograms_from_the_others(monkeypatch):
    rng = np.random.default_rng(6)
    real, seen = blockwise.kept_slots, []

    def spy(nbytes, *given):
        seen.append(nbytes)
        return real(nbytes, *given)

    monkeypatch.setattr(blockwise, "kept_slots", spy)
    assert_same_model(BASE, sp.Dataset(one_hot(rng), rng.normal(size=ROWS)), 1, cuts=[0, 0, ROWS])
    assert len(seen) == 2
    assert seen[0] == seen[1] > 0


def test_a_function_of_the_users_is_called_at_the_first_rank_alone():
    rng = np.random.default_rng(4)
    table = numbers(rng)
    dataset = sp.Dataset(table, target_of({}, rng, table[:, 0]), weight=rng.uniform(0.5, 2, ROWS))
    calls = []

    def squares(scores, labels):
        calls.append(len(scores))
        return (scores - labels) * labels.weight, labels.weight

    def bias(scores, labels):
        return "bias", float(np.mean(scores - labels)), False

    params = BASE | {"early_stopping_rounds": 5, "eval_metric": "none"}
    expected = sp.train(params, dataset, 4, objective=squares, metrics=[bias], valid={"train": dataset})
    calls.clear()
    cuts = [0, 0, 100, ROWS]
    found = train_on_ranks(
        params, dataset, 4, cuts=cuts, objective=squares, metrics=[bias], valid={"train": (dataset, cuts)}
    )
    assert found == [expected] * 3
    assert calls == [ROWS] * 4


def watched_problem(seed=7):
    rng = np.random.default_rng(seed)
    table, other = numbers(rng), numbers(rng, 90)
    train = sp.Dataset(table, (np.nan_to_num(table[:, 0]) > 0).astype(float))
    valid = sp.Dataset(other, (rng.random(90) < 0.5).astype(float), reference=train)
    params = BASE | {
        "objective": "log_loss", "eval_metric": ["auc", "log_loss"], "early_stopping_rounds": 4, "subsample": 0.7,
    }  # fmt: skip
    return params, train, valid


@pytest.mark.parametrize("seed", range(8))
def test_a_run_that_was_broken_off_anywhere_goes_on_to_the_same_bytes(seed):
    """At a random join a random rank goes; the others lose it. Other shards go on from what any rank had said."""
    rng = np.random.default_rng(seed)
    params, train, valid = watched_problem()
    history, rates = sp.History(), sp.LearningRateSchedule(lambda done: 0.9**done)
    expected = sp.train(params, train, 20, valid={"train": train, "valid": valid}, callbacks=[history, rates])
    assert 1 <= expected.best_round < expected.rounds < 20
    past, broken, model = [], 0, None
    while model is None:
        size = int(rng.integers(1, 5))
        cuts, other = cut_rows(rng, train, size), cut_rows(rng, valid, size)
        lost = int(rng.integers(0, size)) if broken < 3 else None
        said, kept = [[] for _ in range(size)], sp.History()
        found = train_on_ranks(
            params, train, 20, cuts=cuts, valid={"train": (train, cuts), "valid": (valid, other)},
            callbacks=[kept, rates], meeting=Meeting(size, lost, int(rng.integers(0, 60))), checkpoint=Checkpoint(tuple(past)),
            on_round=lambda rank, said=said: said[rank].append,
        )  # fmt: skip
        if any(isinstance(one, Exception) for one in found):
            assert all(isinstance(one, RankLostError) for one in found)
            past += said[int(rng.integers(0, size))]
            broken += 1
        else:
            model = found
    assert broken > 0
    assert model == [expected] * len(model)
    assert kept.evals == history.evals


def test_a_run_that_was_broken_off_after_its_last_round_ends_at_once():
    params, train, valid = watched_problem()
    cuts, other = [0, 100, ROWS], [0, 90, 90]
    given = {"cuts": cuts, "valid": {"valid": (valid, other)}}
    said = []
    first, _ = train_on_ranks(
        params, train, 20, **given, on_round=lambda rank: said.append if rank == 0 else lambda one: None
    )
    again = []
    found = train_on_ranks(
        params, train, 20, **given, checkpoint=Checkpoint(tuple(said)), on_round=lambda rank: again.append
    )
    assert found == [first, first]
    assert again == []
    assert [one.number for one in said] == list(range(1, first.rounds + 1))


def test_a_model_that_was_given_is_gone_on_from_also_after_a_break():
    rng = np.random.default_rng(2)
    table = numbers(rng)
    dataset = sp.Dataset(table, target_of({}, rng, table[:, 0]), keep_table=True)
    old = sp.train(BASE, dataset, 2)
    expected = sp.train(BASE, dataset, 3, init_model=old)
    said = []
    train_on_ranks(BASE, dataset, 1, cuts=[0, ROWS], init_model=old, on_round=lambda rank: said.append)
    assert [one.number for one in said] == [3]
    found = train_on_ranks(
        BASE, dataset, 3, cuts=[0, 90, ROWS], init_model=old, checkpoint=Checkpoint(tuple(said))
    )
    assert found == [expected] * 2
    with pytest.raises(ParameterError, match=r"the checkpoint has rounds \[3\] of a training of 2"):
        raised(train_on_ranks(BASE, dataset, 2, cuts=[0, 100, ROWS], checkpoint=Checkpoint(tuple(said))))


def test_the_score_to_beat_is_that_of_the_model_gone_on_from_also_after_a_break():
    params, train, valid = watched_problem()
    train, valid = (
        sp.Dataset(one.binned.raw.table(), one.labels().target, reference=two, keep_table=True)
        for one, two in ((train, None), (valid, train))
    )
    old = sp.train(params, train, 20, valid={"valid": valid})
    history = sp.History()
    expected = sp.train(params, train, 20, valid={"valid": valid}, init_model=old, callbacks=[history])
    assert (expected.best_round, expected.rounds) == (old.best_round, old.best_round + 4)
    said, given = [], {"cuts": [0, 100, ROWS], "valid": {"valid": (valid, [0, 40, 90])}, "init_model": old}
    found = train_on_ranks(
        params, train, 20, **given, on_round=lambda rank: said.append if rank == 1 else lambda one: None
    )
    assert found == [expected] * 2
    kept = sp.History()
    again = train_on_ranks(
        params, train, 20, **given, checkpoint=Checkpoint(tuple(said[:2])), callbacks=[kept]
    )
    assert again == [expected] * 2
    assert kept.evals == history.evals


def test_a_tree_takes_three_joins_more_than_it_is_deep_and_a_round_one():
    rng = np.random.default_rng(1)
    dataset = sp.Dataset(rng.normal(size=(400, 3)), rng.normal(size=400))
    params = {
        "max_leaves": 0,
        "max_depth": 3,
        "min_child_samples": 1,
        "grow_policy": "depthwise",
        "n_jobs": 1,
    }
    joins = []
    for rounds in (1, 2):
        meeting = Meeting(2)
        model, _ = train_on_ranks(params, dataset, rounds, cuts=[0, 150, 400], meeting=meeting)
        joins.append(meeting.joins)
    assert [model.forest.depth(t) for t in range(2)] == [3, 3]
    assert joins[1] - joins[0] == 3 + 3 + 1


def test_what_travels_of_a_leaf_are_its_histogram_of_whole_numbers_alone():
    rng = np.random.default_rng(1)
    dataset = sp.Dataset(rng.normal(size=(400, 3)), rng.normal(size=400), max_bin=16)
    meeting = Meeting(2)
    train_on_ranks({"max_leaves": 2, "n_jobs": 1}, dataset, 1, cuts=[0, 150, 400], meeting=meeting)
    of_histogram = 3 * (16 + 1) * 8  # columns, bins and that of missing values, bytes
    rows = 150
    before, after = meeting.sent.index(of_histogram), meeting.sent[meeting.sent.index(of_histogram) + 1 :]
    assert max(meeting.sent[:before]) == rows * 8  # labels, once
    assert max(after) == 48  # sums of three leaves


def test_one_rank_alone_needs_nobody():
    rng = np.random.default_rng(0)
    dataset = sp.Dataset(numbers(rng), rng.normal(size=ROWS))
    (shard,) = shards_of(dataset, [0, ROWS])
    assert train_rank(BASE, shard, 3, communicator=ALONE) == [sp.train(BASE, dataset, 3)]

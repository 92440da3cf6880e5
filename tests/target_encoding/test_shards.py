"""Target encodings that are fitted on shards, or from codes that come block by block, give the bytes of one rank."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from block_data import cut_dataset, in_blocks
from problems import part_of
from rank_data import Meeting, cut_rows, on_ranks, raised, shards_of, train_on_ranks
from spinney.binning.cuts import cuts_from_masses, find_cuts
from spinney.data import Panel, Table
from spinney.jit.team import Team
from spinney.target_encoding.columns import add_encoded, encoded_cuts
from spinney.target_encoding.fit import fit_target_encoding
from spinney.training import round_plan
from spinney.training.checkpoint import Checkpoint
from spinney.training.round_plan import Auto

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS = 400
PARAMS = {"target_stats": 5, "max_leaves": 6, "n_jobs": 1, "random_state": 3}
RNG = np.random.default_rng(1)
CITY = RNG.integers(0, 40, ROWS)
Y = RNG.normal(size=40)[CITY] + RNG.normal(size=ROWS)
X = pd.DataFrame(
    {
        "city": pd.Categorical(np.where(RNG.random(ROWS) < 0.05, None, [f"c{k}" for k in CITY])),
        "x": RNG.normal(size=ROWS),
        "road": pd.Categorical(RNG.integers(0, 25, ROWS)),
        "colour": pd.Categorical(RNG.choice(["red", "green"], ROWS)),
    }
)
CLASSES = np.digitize(Y, [-0.7, 0.7]).astype(float)
WEIGHT = np.where(RNG.random(ROWS) < 0.2, 0.0, RNG.uniform(0.2, 3.0, ROWS))
PROBLEMS = {
    "numbers": ({}, Y, {}),
    "classes": ({"objective": "softmax", "num_class": 3}, CLASSES, {}),
    "weights": ({"subsample": 0.7}, Y, {"weight": WEIGHT}),
    "queries": ({"objective": "rank_ndcg"}, CLASSES, {"group": [10] * 40}),
    "rare": ({}, Y, {}),
    "targets": ({}, np.column_stack([Y, np.exp(Y)]), {}),
    "rules": (
        {"monotone_constraints": {"x": 1}, "interaction_constraints": [["x", "city"]], "colsample_bytree": 0.8}, Y, {},
    ),
}  # fmt: skip


COPIED = RNG.integers(0, ROWS, ROWS)  # rows drawn with replacement
PROBLEMS["copies"] = ({}, Y[COPIED], {})

FEW = X.assign(city=pd.Categorical(CITY % 8), road=pd.Categorical(X["road"].cat.codes % 7))
PAIRED = RNG.normal(size=(8, 7))[CITY % 8, X["road"].cat.codes % 7]
PROBLEMS["pairs"] = ({}, PAIRED, {})
PROBLEMS["pairs of classes"] = (
    {"objective": "softmax", "num_class": 3}, np.digitize(PAIRED, [-0.5, 0.5]) * 1.0, {"weight": WEIGHT},
)  # fmt: skip


RARE = pd.DataFrame({f"r{k}": np.where(RNG.random(ROWS) < 0.2, RNG.normal(size=ROWS), 0.0) for k in range(6)})


@cache
def dataset_of(problem):
    _, target, given = PROBLEMS[problem]
    tables = {"rare": X.join(RARE), "pairs": FEW, "pairs of classes": FEW, "copies": X.iloc[COPIED]}
    found = sp.Dataset(tables.get(problem, X), target, max_bin=20, **given)
    assert (found.describe()["sparse_columns"] > 0) == (problem == "rare")
    return found


def params_of(problem):
    return PARAMS | PROBLEMS[problem][0]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("size", [1, 3])
def test_shards_give_the_bytes_of_one_rank(problem, size):
    data, params = dataset_of(problem), params_of(problem)
    expected = sp.train(params, data, 3)
    cuts = cut_rows(np.random.default_rng(size), data, size)
    assert raised(train_on_ranks(params, data, 3, cuts=cuts)) == [expected] * size
    assert expected.statistics is not None
    assert (expected.forest.feature >= data.columns).any()
    assert ((0, 2) in [source.columns for source in expected.statistics.features]) == ("pairs" in problem)


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("again", [True, False])
def test_rounds_are_found_on_shards_with_the_encoding_of_one_rank(monkeypatch, problem, again):
    monkeypatch.setattr(round_plan, "SMALL", 10**9 if again else 0)
    data, params = dataset_of(problem), params_of(problem)
    expected = sp.train(params, data, "auto", max_rounds=3)
    found = train_on_ranks(params, data, Auto(3), cuts=cut_rows(np.random.default_rng(5), data, 3))
    assert raised(found) == [expected] * 3


@pytest.mark.parametrize("again", [True, False])
def test_groups_are_not_encoded_with_their_own_targets_on_shards_either(monkeypatch, again):
    monkeypatch.setattr(round_plan, "SMALL", 10**9 if again else 0)
    data, groups = dataset_of("numbers"), np.arange(ROWS) % 37
    expected = sp.train(PARAMS, data, "auto", max_rounds=3, groups=groups)
    cuts = cut_rows(np.random.default_rng(5), data, 3)
    assert raised(train_on_ranks(PARAMS, data, Auto(3, groups=groups), cuts=cuts)) == [expected] * 3


@pytest.mark.parametrize("small", [0, 10**9])
def test_the_mean_of_two_models_of_shards_is_that_of_one_rank(monkeypatch, small):
    """Encodings must be those of all rows, or one model could not hold them."""
    monkeypatch.setattr(round_plan, "SMALL", small)
    data, params = dataset_of("numbers"), PARAMS | {"models": 2}
    expected = sp.train(params, data, "auto", max_rounds=3)
    assert raised(train_on_ranks(params, data, Auto(3), cuts=[0, 150, ROWS])) == [expected] * 2


def test_validation_rows_of_shards_are_encoded_like_others():
    data = dataset_of("numbers")
    other = sp.Dataset(X[:90], Y[:90][::-1].copy(), reference=data)
    here, there = sp.History(), sp.History()
    valid = {"train": data, "other": other}
    expected = sp.train(PARAMS, data, 3, valid=valid, callbacks=[here])
    cuts = [0, 150, ROWS]
    shards = {"train": (data, cuts), "other": (other, [0, 0, 90])}
    found = train_on_ranks(PARAMS, data, 3, cuts=cuts, valid=shards, callbacks=[there])
    assert raised(found) == [expected] * 2
    assert there.evals == here.evals


@pytest.mark.parametrize("rounds", [6, Auto(4)], ids=["number", "auto"])
def test_a_run_that_was_interrupted_continues_to_the_same_bytes(rounds):
    rng, data = np.random.default_rng(0), dataset_of("weights")
    how = {"rounds": rounds} if isinstance(rounds, int) else {"rounds": "auto", "max_rounds": 4}
    expected = sp.train(params_of("weights"), data, **how)
    meeting = Meeting(2)
    raised(train_on_ranks(params_of("weights"), data, rounds, cuts=[0, 50, ROWS], meeting=meeting))
    past = []
    for after in [meeting.joins // 2, meeting.joins - 4, None]:
        said = [[], []]
        found = train_on_ranks(
            params_of("weights"), data, rounds, cuts=cut_rows(rng, data, 2), meeting=Meeting(2, 0, after),
            checkpoint=Checkpoint(tuple(past)), on_round=lambda rank, said=said: said[rank].append,
        )  # fmt: skip
        past += said[1]
    assert raised(found) == [expected] * 2


def test_a_model_with_an_encoding_is_continued_on_shards():
    data = dataset_of("numbers")
    half, whole = sp.train(PARAMS, data, 2), sp.train(PARAMS, data, 4)
    found = train_on_ranks(PARAMS, data, 2, cuts=[0, 150, ROWS], init_model=half)
    assert raised(found) == [whole] * 2


@pytest.mark.parametrize("given", [{}, {"target_stats": None}], ids=["others", "none"])
def test_a_model_whose_encoding_is_of_another_target_is_continued_by_codes(given):
    """On shards, from blocks, and in memory where the table is gone: rows walk the old trees as by their values."""
    old = sp.train(PARAMS, sp.Dataset(X, np.exp(Y), max_bin=20), 3)
    expected = sp.train(PARAMS | given, sp.Dataset(X, Y, max_bin=20, keep_table=True), 2, init_model=old)
    gone = dataset_of("numbers")
    gone.release()
    assert sp.train(PARAMS | given, gone, 2, init_model=old) == expected
    assert sp.train(PARAMS | given, in_blocks(gone), 2, init_model=old) == expected
    found = train_on_ranks(PARAMS | given, gone, 2, cuts=[0, 150, ROWS], init_model=old)
    assert raised(found) == [expected] * 2


@pytest.mark.parametrize("problem", PROBLEMS)
def test_codes_that_come_block_by_block_give_the_bytes_of_memory(problem):
    data, params = dataset_of(problem), params_of(problem)
    blocks = in_blocks(data, seed=2)
    assert sp.train(params, blocks, 3).to_bytes() == sp.train(params, data, 3).to_bytes()
    found = sp.train(params, blocks, "auto", max_rounds=3)
    assert found.to_bytes() == sp.train(params, data, "auto", max_rounds=3).to_bytes()


def test_folds_and_validation_rows_in_blocks_are_encoded_like_those_in_memory():
    data, blocks = dataset_of("weights"), in_blocks(dataset_of("weights"), seed=4)
    here, there = (sp.cv(PARAMS, one, 3, rounds=3) for one in (data, blocks))
    assert there.models == here.models
    kept, held = np.arange(300), np.arange(300, ROWS)
    evals = []
    for one, two in ((data, data), (blocks, data), (data, blocks)):
        history = sp.History()
        sp.train(PARAMS, part_of(one, kept), 3, valid={"held": part_of(two, held)}, callbacks=[history])
        evals.append(history.evals)
    assert evals[0] == evals[1] == evals[2]


def test_every_rank_fits_the_encoding_of_all_rows():
    data = dataset_of("queries")
    labels = data.labels()
    expected = fit_target_encoding(data.binned, labels, labels.target[None], [0, 2], 4.0, 7)
    cuts = [0, 0, 130, ROWS]
    shards = shards_of(data, cuts)

    def fit(communicator):
        shard = shards[communicator.rank]
        labels = shard.checked_labels()
        return fit_target_encoding(
            shard,
            labels,
            labels.target[None],
            [0, 2],
            4.0,
            7,
            communicator=communicator,
        )

    found = raised(on_ranks(Meeting(3), fit))
    assert all(one.encoding.same(expected.encoding) for one in found)
    assert np.array_equal(np.concatenate([one.fold for one in found]), expected.fold)
    for one in found:
        assert all(np.array_equal(*pair) for pair in zip(one.by_fold, expected.by_fold, strict=True))


@pytest.mark.parametrize("problem", ["numbers", "weights"])
def test_encoded_columns_are_cut_as_columns_of_the_rows_values(problem):
    data = dataset_of(problem)
    labels = data.labels()
    fitted = fit_target_encoding(data.binned, labels, labels.target[None], [0, 2], 4.0, 7)
    codes = data.binned.matrix().by_column[data.binned.matrix().features.group[[0, 2]]]
    values = np.column_stack([fitted.by_fold[k][fitted.fold, codes[k // 2]] for k in range(4)])
    with Team(1) as team:
        encoded = add_encoded(data.binned, fitted, team, encoded_cuts(fitted, 20))
        table = Table(ROWS, 4, None, (Panel(0, values),))
        cuts = find_cuts(table, labels.weight, 20, team, thin=False)
    assert np.array_equal(encoded.cuts.values[len(data.cuts.values) :], cuts.values)
    naive = [
        np.searchsorted(cuts.values[cuts.starts[k] : cuts.starts[k + 1]], values[:, k]) for k in range(4)
    ]
    assert np.array_equal(encoded.matrix().by_column[-4:], naive)


def test_columns_of_many_values_are_cut_by_what_these_weigh():
    rng = np.random.default_rng(0)
    values = rng.normal(size=60).round(1)
    masses = rng.integers(0, 5, 60).astype(float)
    rows = np.repeat(values, masses.astype(int))
    with Team(1) as team:
        expected = find_cuts(Table(len(rows), 1, None, (Panel(0, rows[:, None]),)), None, 8, team)
    assert cuts_from_masses([(values, masses)], 8).same(expected)


def test_blocks_without_rows_of_a_part_are_passed_over():
    data = dataset_of("numbers")
    blocks = cut_dataset(data, [0, 100, 200, 300, ROWS])
    rows = np.r_[20:90, 210:260]
    expected = sp.train(PARAMS, part_of(data, rows), 3)
    assert sp.train(PARAMS, part_of(blocks, rows), 3) == expected

"""The number of rounds that is found on shards, and the model, are those of one place."""

from functools import cache

import numpy as np
import pytest

import spinney as sp
from rank_data import Meeting, cut_rows, raised, train_on_ranks
from spinney.errors import DataError, ParameterError
from spinney.training import round_plan
from spinney.training.checkpoint import Checkpoint
from spinney.training.round_plan import Auto

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS = 420
FAST = {"learning_rate": 0.4, "max_leaves": 5, "n_jobs": 1, "subsample": 0.7, "random_state": 2}
RNG = np.random.default_rng(8)
X = np.where(RNG.random((ROWS, 3)) < 0.1, np.nan, RNG.normal(size=(ROWS, 3)))
Y = np.nan_to_num(X[:, 0]) + RNG.normal(size=ROWS)
WEIGHT = np.where(RNG.random(ROWS) < 0.3, 0.0, RNG.uniform(0.5, 2.0, ROWS))
GROUPS = RNG.permutation(ROWS) // 12
SIZES = [14] * 30
CLASSES = np.digitize(Y, [-1.0, 1.2]).astype(float)

COPIED = RNG.integers(0, ROWS, ROWS)  # rows drawn with replacement

PROBLEMS = {
    "numbers": ({}, Y, {}),
    "copies": ({}, Y[COPIED], {}),
    "copies of classes": ({"objective": "log_loss"}, (Y > 1).astype(float)[COPIED], {"weight": WEIGHT}),
    "two classes": ({"objective": "log_loss"}, (Y > 1).astype(float), {}),
    "three classes": ({"objective": "softmax", "num_class": 3}, CLASSES, {}),
    "weights": ({}, Y, {"weight": WEIGHT}),
    "weights of classes": ({"objective": "log_loss"}, (Y > 1).astype(float), {"weight": WEIGHT}),
    "queries": ({"objective": "rank_ndcg"}, CLASSES, {"group": SIZES}),
    "medians": ({"objective": "absolute_error"}, Y, {}),
    "two targets": ({}, np.column_stack([Y, -Y]), {}),
    "margins": ({}, Y, {"base_margin": 0.5 * Y}),
}


@cache
def dataset_of(problem):
    _, target, given = PROBLEMS[problem]
    return sp.Dataset(X[COPIED] if "copies" in problem else X, target, **given)


def on_ranks(params, dataset, cuts, given=None, **how):
    return raised(train_on_ranks(params, dataset, Auto(**(given or {})), cuts=cuts, **how))


def assert_same(params, dataset, size=3, given=None, seed=0, **how):
    """The model of `train`, and that of every rank; where rows are held out."""
    cuts = cut_rows(np.random.default_rng(seed), dataset, size)
    expected = sp.train(params, dataset, "auto", **(given or {}), **how)
    assert on_ranks(params, dataset, cuts, given, **how) == [expected] * size
    return expected


@pytest.fixture
def large(monkeypatch):
    """No table is so small that all rows are fitted again: the model tells which rows were held out."""
    monkeypatch.setattr(round_plan, "SMALL", 0)


@pytest.mark.parametrize("problem", ["copies", "weights", "queries"])
@pytest.mark.parametrize("size", [1, 3])
def test_the_last_rows_and_named_rows_are_held_out_as_in_one_place(large, problem, size):
    params, dataset = FAST | PROBLEMS[problem][0], dataset_of(problem)
    queries = dataset.labels().queries
    rows = np.arange(dataset.rows) % 9 == 2 if queries is None else queries % 5 == 1
    found = {
        assert_same(params, dataset, size, {"max_rounds": 4, "validation": held}, seed=size).to_bytes()
        for held in ("last", rows, np.flatnonzero(rows))
    }
    assert len(found) == 2


def squared(scores, labels):
    return scores - labels, np.ones(len(scores))


def mean_loss(scores, labels):
    return float(np.mean((scores - labels) ** 2))


@pytest.mark.parametrize("size", [1, 3])
def test_the_loss_of_an_own_objective_finds_the_rounds_of_one_place(large, size, monkeypatch):
    with pytest.raises(
        ParameterError, match="needs a metric to stop by, but an objective of your own has none"
    ):
        on_ranks(FAST, dataset_of("numbers"), [0, 200, ROWS], objective=squared)
    monkeypatch.setattr(squared, "loss", mean_loss, raising=False)
    found = assert_same(FAST, dataset_of("numbers"), size, {"max_rounds": 60}, objective=squared)
    assert found.best_round < found.rounds < 60


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_rows_held_out_and_the_bytes_are_those_of_one_place(large, problem, size):
    params = FAST | PROBLEMS[problem][0]
    expected = assert_same(params, dataset_of(problem), size, {"max_rounds": 4}, seed=size)
    assert expected.best_round is not None


@pytest.mark.parametrize("problem", PROBLEMS)
def test_all_rows_are_fitted_again_as_in_one_place(problem):
    expected = assert_same(FAST | PROBLEMS[problem][0], dataset_of(problem), 3, {"max_rounds": 6})
    assert expected.best_round == expected.rounds


def test_groups_are_held_out_whole_on_shards(large):
    given = {"groups": GROUPS, "validation_fraction": 0.2, "max_rounds": 4}
    expected = assert_same(FAST, dataset_of("numbers"), given=given)
    other = sp.train(FAST, dataset_of("numbers"), "auto", validation_fraction=0.2, max_rounds=4)
    assert expected != other


def test_a_share_a_patience_and_a_seed_hold_on_shards(large):
    for more, share in (({"early_stopping_rounds": 2}, None), ({"random_state": 5}, 0.3)):
        assert_same(FAST | more, dataset_of("numbers"), given={"validation_fraction": share, "max_rounds": 8})


def test_given_validation_data_decide_on_shards():
    data = dataset_of("numbers")
    other = sp.Dataset(X[:100], RNG.normal(size=100), reference=data)
    expected = sp.train(FAST, data, "auto", valid={"other": other})
    found = on_ranks(FAST, data, [0, 150, ROWS], valid={"other": (other, [0, 60, 100])})
    assert found == [expected] * 2
    assert expected.best_round < expected.rounds


@pytest.mark.parametrize("rows", [round_plan.FEW_ROWS - 1, round_plan.FEW_ROWS])
def test_the_rows_of_all_shards_say_whether_they_are_few(rows):
    data = sp.Dataset(X[:rows], Y[:rows])
    expected = assert_same(FAST, data, given={"max_rounds": 5})
    assert (expected.best_round is None) == (rows < round_plan.FEW_ROWS)


def test_a_model_is_gone_on_from_without_rows_held_out():
    data = sp.Dataset(X, Y, keep_table=True)
    old = sp.train(FAST, data, 2)
    assert assert_same(FAST, data, given={"max_rounds": 4}, init_model=old).rounds == 6


def test_callbacks_hear_of_the_search_alone_and_rates_hold_for_both_trainings():
    data, rates = dataset_of("numbers"), sp.LearningRateSchedule([0.8, 0.4, 0.2, 0.1])
    here, there = sp.History(), sp.History()
    expected = sp.train(FAST, data, "auto", callbacks=[here, rates])
    assert on_ranks(FAST, data, [0, 5, ROWS], callbacks=[there, rates]) == [expected] * 2
    assert there.evals == here.evals


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_was_interrupted_anywhere_goes_on_to_the_same_bytes(seed, models):
    """In the search, between both trainings, in the second, or in the next member; always on other shards."""
    rng, data, given = np.random.default_rng(seed), dataset_of("weights"), {"max_rounds": 5}
    params, here = FAST | {"models": models}, sp.History()
    expected = sp.train(params, data, "auto", callbacks=[here], **given)
    meeting = Meeting(2)
    on_ranks(params, data, [0, 200, ROWS], given, meeting=meeting)
    past = []
    for after in [*np.sort(rng.integers(0, meeting.joins, 3)).tolist(), None]:
        cuts, records, there = cut_rows(rng, data, 2), [[], []], sp.History()
        found = train_on_ranks(
            params, data, Auto(**given), cuts=cuts, meeting=Meeting(2, 1, after), checkpoint=Checkpoint(tuple(past)),
            on_round=lambda rank, records=records: records[rank].append, callbacks=[there],
        )  # fmt: skip
        past += records[int(rng.integers(0, 2))]
    assert raised(found) == [expected] * 2
    assert {(one.member, one.refit) for one in past} == {
        (member, refit) for member in range(models) for refit in (False, True)
    }
    assert there.evals == here.evals


def test_what_a_later_training_could_not_hold_out_is_refused_with_the_first():
    """The seeds hold out other groups, of which some have rows of one class alone."""
    data = sp.Dataset(X, (GROUPS % 7 == 0).astype(float))
    params = FAST | {"objective": "log_loss", "eval_metric": "auc"}
    given = {"groups": GROUPS, "max_rounds": 1}

    def refusal(work, seed, models):
        try:
            work(params | {"random_state": seed, "models": models})
        except DataError as error:
            return str(error)
        return None

    def alone(params):
        return sp.train(params, data, "auto", **given)

    seed = next(k for k in range(40) if not refusal(alone, k, 1) and refusal(alone, k, 2))
    on_ranks(params | {"random_state": seed}, data, [0, 100, ROWS], given)
    found = refusal(lambda two: on_ranks(two, data, [0, 100, ROWS], given), seed, 2)
    assert found == refusal(alone, seed, 2)


@pytest.mark.parametrize("given", [{}, {"groups": GROUPS}])
def test_the_members_of_a_mean_are_trained_in_one_run(given):
    data = dataset_of("numbers")
    assert_same(FAST | {"models": 3}, data, given=given | {"max_rounds": 3})


@pytest.mark.parametrize(
    ("params", "given", "kind", "message"),
    [
        ({}, {"groups": np.zeros(ROWS, np.int64)}, DataError, "holds out 1 of 1 group, but a group must be left"),
        ({"eval_metric": "none"}, {"validation_fraction": 0.2}, ParameterError, "needs a metric to stop by"),
        ({}, {"validation_fraction": 1.0}, DataError, "holds out 420 of 420 rows"),
        ({"objective": "log_loss"}, {}, DataError, r"y\[\d+\] = "),
    ],
)  # fmt: skip
def test_what_one_place_refuses_is_refused_on_shards(params, given, kind, message):
    data = dataset_of("numbers")
    with pytest.raises(kind, match=message):
        sp.train(FAST | params, data, "auto", **given)
    with pytest.raises(kind, match=message):
        on_ranks(FAST | params, data, [0, 100, ROWS], given)

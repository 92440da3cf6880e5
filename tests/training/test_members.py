"""`models`: several trainings whose mean is one model."""

import json

import numpy as np
import pytest
import scipy.sparse

import spinney as sp
from spinney.errors import ParameterError
from spinney.params import Config
from spinney.training import round_plan
from spinney.training.booster import members_of
from spinney.training.holdout import held_out

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS = 600
FAST = {"learning_rate": 0.3, "max_leaves": 4, "subsample": 0.7, "n_jobs": 1}
RNG = np.random.default_rng(5)
X = RNG.uniform(-1, 1, (ROWS, 3)) * (RNG.uniform(size=(ROWS, 3)) < 0.8)
Y = X[:, 0] + 0.5 * RNG.normal(size=ROWS)
WEIGHT = RNG.integers(0, 3, ROWS).astype(float)
KIND = np.digitize(Y, [-0.3, 0.3]).astype(float)
CLASSES = {"objective": "softmax", "num_class": 3}


def seeds(models, seed=0):
    return [member.random_state for member in members_of(Config(random_state=seed, models=models))]


def one_by_one(params, dataset, rounds, models=3, **how):
    """The trainings by hand, one for each seed."""
    return [sp.train({**params, "models": 1, "seed": seed}, dataset, rounds, **how) for seed in seeds(models)]


class Heard:
    """A callback that keeps what it hears, by training, and may end one of them."""

    def __init__(self, end=None):
        self.end, self.trainings = end, []

    def begin(self, rounds):
        self.trainings.append([])

    def __call__(self, info):
        self.trainings[-1].append(info)
        return len(self.trainings) - 1 == self.end and info.round == 2


def test_raw_scores_are_the_means_of_those_of_the_trainings():
    data = sp.Dataset(X, Y, weight=WEIGHT)
    model, alone = sp.train({**FAST, "models": 3}, data, 5), one_by_one(FAST, data, 5)
    assert len({one.to_bytes() for one in alone}) == 3
    np.testing.assert_allclose(model.predict_raw(X), np.mean([one.predict_raw(X) for one in alone], axis=0))
    np.testing.assert_array_equal(model.base_score, np.mean([one.base_score for one in alone], axis=0))
    assert (model.rounds, model.best_round, model.params.random_state) == (15, None, 0)


def test_each_training_of_auto_holds_out_other_rows_and_stops_by_itself():
    data = sp.Dataset(X, KIND)
    heard = Heard()
    model = sp.train({**FAST, **CLASSES, "models": 3}, data, "auto", callbacks=[heard])
    alone = one_by_one({**FAST, **CLASSES}, data, "auto")
    rounds = [one.rounds_to_use() for one in alone]
    assert len(set(rounds)) > 1
    assert model.rounds == sum(rounds)
    assert [len(infos) - round_plan.PATIENCE for infos in heard.trainings] == rounds
    np.testing.assert_allclose(model.predict_raw(X), np.mean([one.predict_raw(X) for one in alone], axis=0))
    held = [held_out(data.labels(), KIND.astype(np.int64), 0.1, seed) for seed in seeds(3)]
    assert (np.sum(held, axis=0) == 1).sum() > 100


def test_trees_stand_round_by_round_so_that_first_rounds_are_a_mean_of_first_rounds():
    data = sp.Dataset(X, KIND)
    model, alone = (
        sp.train({**FAST, **CLASSES, "models": 3}, data, 4),
        one_by_one({**FAST, **CLASSES}, data, 4),
    )
    first = np.mean([one.predict_raw(X, rounds=2) for one in alone], axis=0)
    np.testing.assert_allclose(model.predict_raw(X, rounds=6), first)


def test_a_mean_of_models_of_unlike_lengths_keeps_the_rounds_of_the_longest():
    data, held = sp.Dataset(X[:500], Y[:500]), (X[500:], Y[500:])
    valid = {"held": sp.Dataset(*held, reference=data)}
    params = {**FAST, "early_stopping_rounds": 3}
    model = sp.train({**params, "models": 3}, data, 60, valid=valid)
    alone = one_by_one(params, data, 60, valid=valid)
    assert len({one.best_round for one in alone}) > 1
    assert model.rounds == sum(one.best_round for one in alone)
    np.testing.assert_allclose(model.predict(X), np.mean([one.predict(X) for one in alone], axis=0))


@pytest.fixture(scope="module")
def mean():
    return sp.train({**FAST, "models": 3, "preset": "best"}, sp.Dataset(X, Y))


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_bytes_are_the_same_for_any_number_of_threads(mean, threads):
    found = sp.train({**FAST, "models": 3, "preset": "best", "n_jobs": threads}, sp.Dataset(X, Y))
    assert found.to_bytes() == mean.to_bytes()


def test_bytes_are_the_same_for_a_sparse_table(mean):
    found = sp.train({**FAST, "models": 3, "preset": "best"}, sp.Dataset(scipy.sparse.csr_array(X), Y))
    assert found.to_bytes() == mean.to_bytes()


def test_a_mean_is_a_model_as_any_other(mean, tmp_path):
    mean.save(tmp_path / "model")
    back = sp.load(tmp_path / "model")
    assert back == mean
    np.testing.assert_array_equal(back.predict(X), mean.predict(X))
    written = json.loads(mean.to_json())
    assert len(written["trees"]) == mean.rounds == mean.predict_leaf(X[:2]).shape[1]
    assert not {"preset", "models"} & written["params"].keys()
    assert mean.importance("split").sum() > 0


def test_trainings_go_on_from_a_mean(mean):
    data = sp.Dataset(X, Y)
    more = sp.train(FAST, data, 2, init_model=mean)
    assert more.rounds == mean.rounds + 2
    assert more.forest.first(mean.rounds).equal(mean.forest)


def test_seeds_of_near_random_states_are_all_unlike():
    found = [seed for state in (0, 1, 2**63 - 1) for seed in seeds(50, state)]
    assert len(set(found)) == len(found)
    assert all(0 <= seed < 2**63 for seed in found)


def test_callbacks_hear_of_each_training_and_end_the_one_that_they_are_in():
    heard, history = Heard(end=1), sp.History()
    model = sp.train({**FAST, "models": 3}, sp.Dataset(X, Y), 4, callbacks=[heard, history])
    assert [len(infos) for infos in heard.trainings] == [4, 2, 4]
    assert model.rounds == 10
    assert heard.trainings[1][-1].model.rounds == 2


def test_learning_rates_of_a_schedule_are_those_of_each_training():
    rates = [0.5, 0.25]
    data = sp.Dataset(X, Y)
    model = sp.train({**FAST, "models": 2}, data, 2, callbacks=[sp.LearningRateSchedule(rates)])
    alone = one_by_one(FAST, data, 2, 2, callbacks=[sp.LearningRateSchedule(rates)])
    np.testing.assert_allclose(model.predict(X), np.mean([one.predict(X) for one in alone], axis=0))


class Queries:
    """A metric that keeps the sizes of the queries that it is shown."""

    def __init__(self):
        self.found = []

    def __call__(self, scores, labels):
        self.found.append(np.bincount(labels.queries).tolist())
        return "seen", float(-len(self.found)), False


def test_queries_are_held_out_whole_by_each_training():
    sizes = np.arange(60) % 7 + 5
    queries = np.repeat(np.arange(60), sizes)
    rows = len(queries)
    table = RNG.uniform(size=(rows, 2))
    data = sp.Dataset(table, np.floor(3 * table[:, 0]), qid=queries)
    seen = Queries()
    params = {**FAST, "objective": "rank_ndcg", "models": 3}
    sp.train(params, data, "auto", metrics=[seen], max_rounds=1)
    of_training = [found for found in seen.found if len(found) == 6]
    assert len({tuple(found) for found in of_training}) == 3
    labels = data.labels()
    wanted = [
        sizes[np.unique(queries[held_out(labels, np.zeros(rows, np.int64), 0.1, seed)])].tolist()
        for seed in seeds(3)
    ]
    assert [found for found in of_training if found in wanted] == of_training


def test_groups_are_held_out_whole_by_each_training():
    groups = np.repeat(np.arange(60), 10)
    level = RNG.normal(size=60)[groups]  # the same for all rows of a group
    shown = []

    def metric(scores, labels):
        shown.append(np.asarray(labels).tolist())
        return "seen", float(-len(shown)), False

    sp.train(
        {**FAST, "models": 3}, sp.Dataset(X, level), "auto", metrics=[metric], max_rounds=1, groups=groups
    )
    held = [targets for targets in shown if len(targets) == 60]
    assert len({tuple(targets) for targets in held}) == 3
    assert all(set(np.unique(targets, return_counts=True)[1]) == {10} for targets in held)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"models": 2}, "models=2 contradicts init_model"),
        ({"preset": "best"}, "of preset='best' contradicts init_model"),
    ],
)
def test_a_mean_does_not_go_on_from_a_model(mean, params, said):
    with pytest.raises(ParameterError, match=said):
        sp.train(params, sp.Dataset(X, Y), 2, init_model=mean)


def test_cross_validation_trains_one_model_for_each_fold():
    with pytest.raises(ParameterError, match=r"models=3 of preset='best' contradicts cv.*set models=1"):
        sp.cv({"preset": "best"}, sp.Dataset(X, Y))
    found = sp.cv({"preset": "best", "models": 1}, sp.Dataset(X, Y), folds=2, rounds=2)
    assert found.models[0].params.learning_rate == Config.parse({"preset": "best"}).learning_rate


def test_statistics_of_the_target_are_those_of_all_rows_in_every_model():
    kinds = RNG.integers(0, 40, ROWS).astype(float)
    table = np.column_stack([kinds, X[:, 0]])
    data = sp.Dataset(table, np.sin(kinds) + Y, categorical=[0])
    params = {**FAST, "target_stats": 8}
    model, alone = sp.train({**params, "models": 3}, data, "auto"), one_by_one(params, data, "auto")
    assert model.statistics.same(alone[1].statistics)
    np.testing.assert_allclose(model.predict(table), np.mean([one.predict(table) for one in alone], axis=0))
    assert sp.Model.from_bytes(model.to_bytes()) == model


def test_large_tables_with_statistics_are_fitted_again_where_models_are_averaged(monkeypatch):
    monkeypatch.setattr(round_plan, "SMALL", 0)
    kinds = RNG.integers(0, 40, ROWS).astype(float)[:, None]
    data = sp.Dataset(kinds, np.sin(kinds[:, 0]) + Y, categorical=[0])
    params = {**FAST, "target_stats": 8}
    model = sp.train({**params, "models": 2}, data, "auto")
    assert model.statistics.same(sp.train(params, data, 1).statistics)
    assert not model.statistics.same(sp.train(params, data, "auto").statistics)

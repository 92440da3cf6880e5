"""Whole trainings: the model equals the oracle's, its predictions the scores it was trained with."""

import math

import numpy as np
import pytest
from scipy import sparse

import oracles
import problems
import spinney as sp
import tree_oracle
from spinney import metrics, objectives
from spinney.data import Labels
from spinney.jit.team import Team
from spinney.params import Config
from spinney.training import driver, growers
from spinney.tree import Tree


def boosted(X, y, weight, params, rounds, base):
    """Squared error, round by round; returns the trees of the oracle and the final scores."""
    cuts = problems.cuts_by_column(sp.Dataset(X, y, weight=weight).cuts)
    bins = np.stack([oracles.bins_of(X[:, j], cuts[j]) for j in range(X.shape[1])], axis=1)
    unit = problems.unit_of(weight)
    scaled = np.ones(len(y)) if weight is None else weight / unit
    bag = None if weight is None or weight.all() else np.flatnonzero(weight)
    scores, trees = np.full(len(y), base), []
    for _ in range(rounds):
        pairs = oracles.squared_error(scores, y, scaled).astype(np.float32)
        trees.append(tree_oracle.Grower(bins, cuts, pairs, Config.parse(params), unit, bag=bag).grow())
        grown = Tree(**{name: np.array(values) for name, values in trees[-1].items()})
        scores += [grown.value[oracles.leaf_of(grown, x)] for x in X]
    return trees, scores


@pytest.mark.kernels
@pytest.mark.parametrize("weights", problems.WEIGHTS)
def test_a_small_training_is_that_of_the_oracle(weights):
    rng = np.random.default_rng(3)
    X, y = problems.table(rng, 40, 3), rng.normal(size=40)
    weight = problems.weights(rng, 40, weights)
    params = {"min_child_samples": 3, "max_leaves": 5, "base_score": 0.25}
    model = sp.train(params, sp.Dataset(X, y, weight=weight), rounds=3)
    trees, scores = boosted(X, y, weight, params, 3, 0.25)
    for t, slow in enumerate(trees):
        problems.assert_same_tree(model.forest.tree(t), slow)
    np.testing.assert_allclose(model.predict(X), scores, rtol=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_trainings_with_any_parameters_are_those_of_the_oracle(seed):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(2, 80)), int(rng.integers(1, 4))
    X, y = problems.table(rng, rows, columns), rng.normal(size=rows)
    weight = problems.weights(rng, rows, rng.choice(problems.WEIGHTS))
    params = problems.parameters(rng) | {"base_score": -1.5}
    model = sp.train(params, sp.Dataset(X, y, weight=weight), rounds=4)
    trees, _ = boosted(X, y, weight, params, 4, -1.5)
    for t, slow in enumerate(trees):
        problems.assert_same_tree(model.forest.tree(t), slow)


OBJECTIVES = {
    "squared_error": {"objective": "squared_error"},
    "log_loss": {"objective": "log_loss"},
    "softmax": {"objective": "softmax", "num_class": 3},
}


def data_for(objective, rows=400, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((rows, 4)) < 0.1, np.nan, rng.normal(size=(rows, 4)))
    signal = np.nan_to_num(X[:, 0]) + np.sin(3 * np.nan_to_num(X[:, 1]))
    if objective == "squared_error":
        return X, signal
    return X, np.digitize(signal, [0.0] if objective == "log_loss" else [-0.5, 0.5]).astype(float)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("extra", [{}, {"subsample": 0.6}, {"colsample_bytree": 0.5}], ids=str)
@pytest.mark.parametrize("margin", [False, True], ids=["base score", "base margin"])
def test_raw_predictions_are_the_scores_of_training_bit_for_bit(objective, extra, margin):
    X, y = data_for(objective)
    outputs = OBJECTIVES[objective].get("num_class", 1)
    given = np.random.default_rng(1).normal(size=(400, outputs)) if margin else None
    data = sp.Dataset(X, y, base_margin=given)
    other = sp.Dataset(X, y, base_margin=given, reference=data)
    history = sp.History()
    model = sp.train(
        OBJECTIVES[objective] | extra,
        data,
        rounds=6,
        valid={"own": data, "other": other},
        callbacks=[history],
    )
    (name,) = history.evals["own"]
    assert history.evals["own"] == history.evals["other"]
    with Team(1) as team:
        for rounds, value in enumerate(history.evals["own"][name], start=1):
            raw = np.atleast_2d(model.predict_raw(X, rounds=rounds, base_margin=given).T).copy()
            predictions = metrics.Predictions(raw, objectives.get(model.params).info.link, team)
            assert metrics.get(name, model.params).compute(predictions, Labels(y)).value == value


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_training_lowers_the_loss_round_after_round(objective):
    X, y = data_for(objective)
    data, history = sp.Dataset(X, y), sp.History()
    sp.train(OBJECTIVES[objective], data, rounds=30, valid={"own": data}, callbacks=[history])
    losses = next(iter(history.evals["own"].values()))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_rounds_predict_the_base_score(objective):
    X, y = data_for(objective)
    model = sp.train(OBJECTIVES[objective], sp.Dataset(X, y), rounds=0)
    assert (model.rounds, model.forest.trees, model.best_round) == (0, 0, None)
    loss = objectives.get(Config.parse(OBJECTIVES[objective]))
    base = loss.base_score(Labels(y))
    raw = model.predict_raw(X)
    assert raw.tolist() == np.tile(base if len(base) > 1 else base[0], (400, 1)).squeeze().tolist()
    assert model.predict(X).tolist() == loss.link(raw).tolist()
    assert model.predict_leaf(X).shape == (400, 0)


def test_a_given_base_score_is_where_every_row_starts():
    X, y = data_for("log_loss")
    model = sp.train({"objective": "log_loss", "base_score": 0.75}, sp.Dataset(X, y), rounds=0)
    assert model.base_score.tolist() == [0.75]
    many = sp.train({"objective": "softmax", "num_class": 3, "base_score": 2.0}, sp.Dataset(X, y), rounds=0)
    assert many.base_score.tolist() == [2.0, 2.0, 2.0]


def test_a_base_margin_equal_to_the_base_score_gives_the_same_trees():
    X, y = data_for("squared_error")
    base = math.fsum(y) / len(y)
    plain = sp.train({"base_score": base}, sp.Dataset(X, y), rounds=5)
    margin = sp.train({}, sp.Dataset(X, y, base_margin=np.full(400, base)), rounds=5)
    assert margin.base_score.tolist() == [0.0]
    assert margin.forest.equal(plain.forest)


def test_training_goes_on_from_another_models_scores():
    X, y = data_for("log_loss")
    whole = sp.train({"objective": "log_loss"}, sp.Dataset(X, y), rounds=7)
    first = sp.train({"objective": "log_loss"}, sp.Dataset(X, y), rounds=4)
    margin = first.predict_raw(X)
    rest = sp.train({"objective": "log_loss"}, sp.Dataset(X, y, base_margin=margin), rounds=3)
    assert whole.forest.first(4).equal(first.forest)
    np.testing.assert_allclose(
        rest.predict_raw(X, base_margin=margin), whole.predict_raw(X), rtol=1e-12, atol=1e-12
    )


def test_a_data_set_serves_many_trainings():
    X, y = data_for("log_loss")
    data = sp.Dataset(X, y)
    grid = [
        {"objective": objective, "max_leaves": leaves, "subsample": share}
        for objective in ("log_loss", "squared_error")
        for leaves in (4, 9)
        for share in (1.0, 0.5)
    ]
    first = [sp.train(params, data, rounds=3) for params in grid]
    again = [sp.train(params, data, rounds=3) for params in reversed(grid)][::-1]
    fresh = [sp.train(params, sp.Dataset(X, y), rounds=3) for params in grid]
    assert first == again == fresh


def test_parameters_may_come_under_other_libraries_names_or_as_a_config():
    X, y = data_for("log_loss")
    data = sp.Dataset(X, y)
    own = sp.train(
        {"objective": "log_loss", "learning_rate": 0.2, "max_leaves": 6, "reg_lambda": 2}, data, rounds=3
    )
    xgb = sp.train({"objective": "binary:logistic", "eta": 0.2, "max_leaves": 6, "lambda": 2}, data, rounds=3)
    lgb = sp.train(
        {"objective": "binary", "shrinkage_rate": 0.2, "num_leaves": 6, "lambda_l2": 2}, data, rounds=3
    )
    assert own == xgb == lgb == sp.train(own.params, data, rounds=3)


@pytest.mark.parametrize("power", [-60, -1, 20, 60])
def test_a_target_times_a_power_of_two_gives_predictions_times_that(power):
    X, y = data_for("squared_error")
    plain, scaled = (sp.train({}, sp.Dataset(X, y * scale), rounds=5) for scale in (1.0, 2.0**power))
    assert plain.forest.nodes > 5
    assert (plain.predict(X) * 2.0**power).tolist() == scaled.predict(X).tolist()


@pytest.mark.parametrize("rounds", [np.int32(3), np.int64(3)])
def test_rounds_may_be_any_whole_number(rounds):
    X, y = data_for("squared_error")
    assert sp.train({}, sp.Dataset(X, y), rounds).rounds == 3


def test_more_rounds_begin_with_the_same_trees():
    X, y = data_for("softmax")
    params = OBJECTIVES["softmax"] | {"subsample": 0.5, "colsample_bynode": 0.5}
    few, many = (sp.train(params, sp.Dataset(X, y), rounds=rounds) for rounds in (2, 5))
    assert many.forest.first(6).equal(few.forest)


@pytest.mark.parametrize(("rows", "threads"), [(growers.SHARE_SPARSE_ROWS, 2), (2_000, 1)])
def test_many_rows_are_worth_threads_however_few_entries_they_have(monkeypatch, rows, threads):
    sizes = []

    class Noted(driver.Team):
        def __init__(self, size):
            sizes.append(size)
            super().__init__(size)

    monkeypatch.setattr(driver, "Team", Noted)
    owner = np.random.default_rng(0).integers(0, rows, (2, 100))
    X = sparse.csr_array((np.ones(200), (owner.ravel(), np.repeat([0, 1], 100))), shape=(rows, 3))
    data = sp.Dataset(X, np.arange(rows, dtype=float), bundle=False)
    sp.train({"n_jobs": 2}, data, 1)
    assert sizes == [threads]

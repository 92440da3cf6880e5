"""Tiny trainings that touch every kernel. They also run with kernels as plain Python, and compiled with bounds checked."""

from itertools import pairwise

import numpy as np
import pytest

import spinney as sp

pytestmark = pytest.mark.kernels

ROWS, ROUNDS = 60, 3
OBJECTIVES = {
    "squared_error": {},
    "log_loss": {},
    "softmax": {"num_class": 3},
}
WAYS = {
    "plain": {},
    "rows drawn": {"subsample": 0.5},
    "columns drawn": {"colsample_bytree": 0.7, "colsample_bylevel": 0.7, "colsample_bynode": 0.6},
    "depthwise": {"grow_policy": "depthwise", "max_depth": 2},
    "penalties": {"reg_alpha": 0.1, "max_delta_step": 0.5, "gamma": 0.01, "reg_lambda": 0.0},
    "no limits": {"max_leaves": 0, "min_child_samples": 1, "min_child_weight": 0.0},
}


def table(dtype=np.float64):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, 3)).astype(dtype)
    X[:, 1] = np.round(X[:, 1])
    y = np.sin(2 * X[:, 0]) + X[:, 1] * 0.5
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y.astype(np.float64)


def target(objective, y):
    return {"squared_error": y, "log_loss": y > 0, "softmax": np.digitize(y, [-0.4, 0.4])}[objective]


def losses(objective, params, weight=None, dtype=np.float64, max_bin=None):
    """Train, check what always holds, and return the training losses."""
    X, y = table(dtype)
    dataset = sp.Dataset(X, target(objective, y), weight=weight, max_bin=max_bin)
    held_out = sp.Dataset(X, target(objective, y), weight=weight, reference=dataset)
    history = sp.History()
    given = {"objective": objective, "min_child_samples": 3, "max_leaves": 6, "learning_rate": 0.5}
    params = given | OBJECTIVES[objective] | params
    model = sp.train(
        params, dataset, ROUNDS, valid={"again": held_out, "train": dataset}, callbacks=[history]
    )
    check_model(model, X, params, weight)
    # Rows that grow a tree and rows that walk it afterwards arrive at the same scores, to the last bit.
    assert history.evals["again"] == history.evals["train"]
    (found,) = history.evals["train"].values()
    return found


def check_model(model, X, params, weight):
    leaves = model.predict_leaf(X)
    counted = ROWS if weight is None else int((weight > 0).sum())
    drawn = round(params.get("subsample", 1.0) * counted)
    outputs = model.outputs
    raw = np.repeat(model.base_score[None], ROWS, axis=0)
    for t in range(ROUNDS * outputs):
        tree = model.forest.tree(t)
        is_leaf = tree.feature < 0
        assert tree.count[0] == drawn
        assert tree.count[is_leaf].sum() == drawn
        assert tree.count[is_leaf].min() >= params["min_child_samples"]
        assert 2 <= is_leaf.sum() <= (params["max_leaves"] or ROWS)
        assert is_leaf[leaves[:, t]].all()
        if drawn == ROWS:
            assert (
                np.bincount(leaves[:, t], minlength=len(is_leaf))[is_leaf].tolist()
                == tree.count[is_leaf].tolist()
            )
        raw[:, t % outputs] += tree.value[leaves[:, t]]
    assert model.predict_raw(X).tobytes() == (raw[:, 0] if outputs == 1 else raw).tobytes()
    chances = model.predict(X)
    if outputs > 1:
        np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-14)
    assert sp.Model.from_bytes(model.to_bytes()) == model


def assert_falling(values):
    assert len(values) == ROUNDS
    assert all(later < earlier for earlier, later in pairwise(values))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_training_lowers_the_loss_and_predictions_are_the_training_s_scores(objective, way):
    assert_falling(losses(objective, WAYS[way]))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_and_rows_that_weigh_nothing(objective):
    weight = np.arange(ROWS) % 4 * 0.5
    assert_falling(losses(objective, {"subsample": 0.9}, weight=weight))


@pytest.mark.parametrize("max_bin", [2, 5, 300])
def test_few_and_many_bins(max_bin):
    assert_falling(losses("squared_error", {}, max_bin=max_bin))


def test_float32_and_every_layout_of_the_table():
    assert_falling(losses("log_loss", {}, dtype=np.float32))
    X, y = table()
    expected = sp.train({}, sp.Dataset(X, y), 1)
    wide = np.zeros((ROWS, 6))
    wide[:, ::2] = X
    for other in (np.asfortranarray(X), wide[:, ::2], X[::-1][::-1]):
        model = sp.train({}, sp.Dataset(other, y), 1)
        assert model == expected
        assert model.predict(other).tobytes() == expected.predict(X).tobytes()


def test_a_table_without_a_split_gives_single_leaves():
    X = np.full((ROWS, 2), np.nan)
    X[:, 1] = 4.0
    model = sp.train({"objective": "log_loss"}, sp.Dataset(X, np.arange(ROWS) % 2), 2)
    assert model.forest.nodes == 2
    assert set(model.predict(X)) == {0.5}


def test_every_metric():
    X, y = table()
    for objective, metrics in (
        ("squared_error", ["rmse", "mae"]),
        ("log_loss", ["logloss", "auc", "error"]),
        ("softmax", ["mlogloss", "merror"]),
    ):
        dataset = sp.Dataset(X, target(objective, y))
        history = sp.History()
        params = {"objective": objective, "eval_metric": metrics} | OBJECTIVES[objective]
        sp.train(params, dataset, 1, valid={"train": dataset}, callbacks=[history])
        assert set(history.evals["train"]) == set(metrics)
        assert all(np.isfinite(values).all() for values in history.evals["train"].values())


def test_an_infinite_value_is_found():
    X, y = table()
    model = sp.train({}, sp.Dataset(X, y), 1)
    X[-1, -1] = np.inf
    with pytest.raises(ValueError, match="infinite"):
        sp.Dataset(X, y)
    with pytest.raises(ValueError, match="infinite"):
        model.predict(X.astype(np.float32))

"""Directions of columns are never violated, not by the last bit."""

import numpy as np
import pandas as pd
import pytest

import problems
import spinney as sp

OBJECTIVES = (
    {"objective": "squared_error"},
    {"objective": "log_loss"},
    {"objective": "softmax", "num_class": 3},
)


def target_of(rng, X, objective):
    """A target that has to do with the columns, against whose directions it often is."""
    signal = np.nan_to_num(np.clip(X, -3, 3)).sum(axis=1) + rng.normal(size=len(X))
    if objective["objective"] == "squared_error":
        return signal * 10.0 ** rng.integers(-3, 4)
    classes = objective.get("num_class", 2)
    found = np.clip(np.round(signal), 0, classes - 1)
    found[:classes] = np.arange(classes)
    return found


METHODS = {
    "hist": {},
    "exact": {"tree_method": "exact"},
    "approx": {"tree_method": "approx"},
    "local": {"tree_method": "approx", "proposal": "local"},
}


def random_training(seed, method=None):
    """A model with directions on some columns, its table and the directions."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(20, 300)), int(rng.integers(1, 6))
    X = problems.table(rng, rows, columns)
    objective = OBJECTIVES[seed % 3]
    signs = rng.integers(-1, 2, columns)
    signs[rng.integers(columns)] = rng.choice([-1, 1])
    params = problems.parameters(rng, columns) | objective | {"monotone_constraints": signs.tolist()}
    params["subsample"] = float(rng.choice([1.0, 0.7]))
    params |= METHODS[method or "hist"]
    if rng.random() < 0.3:
        params["interaction_constraints"] = [rng.choice(columns, 1 + columns // 2, replace=False).tolist()]
    weight = problems.weights(rng, rows, rng.choice(["none", "plain", "zeros"]))
    y = target_of(rng, X, objective)
    if weight is not None:
        weight[:3] = 1.0
    return sp.train(params, sp.Dataset(X, y, weight=weight), rounds=8), X, signs, rng


def assert_monotone(model, X, column, sign, values):
    """Raw scores of every row, as one column takes ascending values."""
    swept = np.repeat(X, len(values), axis=0)
    swept[:, column] = np.tile(values, len(X))
    scores = model.predict_raw(swept).reshape(len(X), len(values), -1)
    steps = np.diff(scores, axis=1) * sign
    assert (steps >= 0).all()


def sweep(X, column):
    """All values of a column, and some between and beyond them."""
    seen = np.unique(X[~np.isnan(X[:, column]), column])
    with np.errstate(over="ignore"):
        between = seen[:-1] + (seen[1:] / 2 - seen[:-1] / 2)
    return np.unique(np.concatenate([seen, between, [-1e307, -1.0, 0.0, 1.0, 1e307]]))


@pytest.mark.parametrize("fifty", range(6))
def test_raw_scores_never_move_against_the_direction_of_a_column(fifty):
    for seed in range(50 * fifty, 50 * fifty + 50):
        model, X, signs, rng = random_training(seed)
        some = X[rng.choice(len(X), min(len(X), 12), replace=False)]
        for column in np.flatnonzero(signs):
            assert_monotone(model, some, column, signs[column], sweep(X, column))


@pytest.mark.parametrize("method", ["exact", "approx", "local"])
def test_no_way_to_search_splits_moves_against_a_direction(method):
    splits = 0
    for seed in range(60):
        model, X, signs, rng = random_training(seed, method)
        some = X[rng.choice(len(X), min(len(X), 12), replace=False)]
        for column in np.flatnonzero(signs):
            assert_monotone(model, some, column, signs[column], sweep(X, column))
        splits += int((model.forest.feature >= 0).sum())
    assert splits > 300


def test_a_column_whose_data_speak_against_its_direction_is_of_no_use():
    X = np.linspace(-1, 1, 300).reshape(-1, 1)
    model = sp.train({"monotone_constraints": [-1]}, sp.Dataset(X, X[:, 0] * 5.0), rounds=5)
    assert model.forest.feature.max() == -1


def test_splits_of_categories_keep_to_the_bounds_of_the_splits_above():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows, kinds = 600, int(rng.choice([3, 12]))
        kind = rng.integers(0, kinds, rows)
        X = np.column_stack([rng.normal(size=rows), kind.astype(float), rng.normal(size=rows)])
        X[rng.random(rows) < 0.1, 1] = np.nan
        y = X[:, 0] * rng.normal(size=kinds)[kind] + X[:, 2] + rng.normal(size=kinds)[kind]
        params = {
            "monotone_constraints": {0: 1, 2: -1},
            "min_data_per_group": 5,
            "cat_smooth": 1.0,
            "min_child_samples": 3,
            "reg_alpha": float(seed % 2),
        }
        model = sp.train(params, sp.Dataset(X, y, categorical=[1]), rounds=6)
        assert (model.importance("split") > 0)[1]
        for column, sign in ((0, 1), (2, -1)):
            assert_monotone(model, X[:20], column, sign, sweep(X, column))


def test_two_categories_are_split_under_bounds_as_two_numbers_are():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.column_stack(
            [rng.normal(size=500), rng.integers(0, 2, 500), rng.normal(size=500), rng.integers(0, 2, 500)]
        )
        X[rng.random(500) < 0.2, 1] = np.nan
        y = (
            X[:, 0] * np.where(X[:, 3] == 0, 2.0, -1.0)
            + np.nan_to_num(X[:, 1]) * X[:, 2]
            + rng.normal(size=500)
        )
        params = {
            "monotone_constraints": {0: 1, 2: -1},
            "reg_alpha": 0.1 * (seed % 3),
            "max_delta_step": 0.5 * (seed % 2),
        }
        numbers = sp.train(params, sp.Dataset(X, y), rounds=8)
        categories = sp.train(params, sp.Dataset(X, y, categorical=[1, 3]), rounds=8)
        assert numbers.importance("split")[3] > 0
        np.testing.assert_array_equal(numbers.predict_raw(X), categories.predict_raw(X))
        # Sides may be exchanged: categories are numbered by how often they are found.
        np.testing.assert_array_equal(np.sort(numbers.forest.gain), np.sort(categories.forest.gain))


def test_leaf_values_keep_within_their_bounds_where_steps_are_coarse():
    """One row towers over the others, so that the search sees little of them, but leaves are exact."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 30, (400, 2)).astype(float)
        y = X[:, 0] + rng.normal(size=400)
        y[0] = 1e7
        params = {
            "monotone_constraints": [1, -1],
            "min_child_samples": 1,
            "reg_lambda": 0.0,
            "learning_rate": 1.0,
        }
        model = sp.train(params, sp.Dataset(X, y), rounds=4)
        for column, sign in ((0, 1), (1, -1)):
            assert_monotone(model, X[:20], column, sign, sweep(X, column))


@pytest.mark.parametrize(
    "rules",
    [
        {"reg_alpha": 2.0},
        {"max_delta_step": 0.05},
        {"gamma": 0.5},
        {"min_split_gain": 0.5, "reg_alpha": 0.5, "max_delta_step": 0.2},
        {"colsample_bytree": 0.7, "colsample_bylevel": 0.7, "colsample_bynode": 0.5},
        {"grow_policy": "depthwise", "max_depth": 4},
    ],
    ids=str,
)
def test_directions_go_together_with_other_rules(rules):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((500, 4)) < 0.1, np.nan, rng.normal(size=(500, 4)))
    y = np.nan_to_num(X) @ [2.0, -1.0, 1.0, 0.0] + rng.normal(size=500)
    model = sp.train(rules | {"monotone_constraints": [1, 1, 0, -1]}, sp.Dataset(X, y), rounds=20)
    for column, sign in ((0, 1), (1, 1), (3, -1)):
        assert_monotone(model, X[:30], column, sign, sweep(X, column))
    assert model.forest.feature.max() >= 0
    if "max_delta_step" in rules:
        assert np.abs(model.forest.value).max() <= rules["max_delta_step"] * 0.1
    if "gamma" in rules:
        assert model.forest.gain[model.forest.feature >= 0].min() > 0


def test_every_spelling_of_directions_gives_the_same_trees():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    data = sp.Dataset(X, X["a"] - X["b"] + rng.normal(size=200))
    spellings = [
        [1, 0, -1],
        (1, 0, -1),
        np.array([1.0, 0.0, -1.0]),
        "(1,0,-1)",
        "1, 0, -1",
        {"a": 1, "c": -1},
        {0: 1, "c": -1},
    ]
    names = ["monotone_constraints", "mc", "monotonic_cst", "monotone_constraint"]
    models = [
        sp.train({names[k % 4]: spelling}, data, rounds=5).forest for k, spelling in enumerate(spellings)
    ]
    assert all(forest.equal(models[0]) for forest in models)
    assert not models[0].equal(sp.train({}, data, rounds=5).forest)

"""No path from the root to a leaf combines columns that no group holds together."""

import json

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import problems
import spinney as sp


def paths(tree):
    """The columns of the splits on the way to every leaf."""
    waiting = [(0, frozenset())]
    while waiting:
        node, above = waiting.pop()
        column = int(tree.feature[node])
        if column < 0:
            yield above
        else:
            waiting += [(int(tree.left[node]) + side, above | {column}) for side in (0, 1)]


def paths_of(model):
    return {path for t in range(model.forest.trees) for path in paths(model.forest.tree(t))}


def may_meet(path, groups):
    return len(path) <= 1 or any(path <= set(group) for group in groups)


@pytest.mark.parametrize("policy", ["lossguide", "depthwise"])
@pytest.mark.parametrize(
    "objective", [{}, {"objective": "softmax", "num_class": 3}], ids=["numbers", "classes"]
)
def test_every_path_keeps_within_one_group(policy, objective):
    met = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        columns = int(rng.integers(2, 9))
        X = problems.table(rng, 200, columns)
        y = np.append([0.0, 1.0, 2.0], rng.integers(0, 3, 197))
        rules = problems.column_parameters(rng, columns)
        groups = [rng.choice(columns, rng.integers(1, columns + 1), replace=False).tolist() for _ in range(3)]
        params = (
            rules
            | objective
            | {"interaction_constraints": groups, "min_child_samples": 1, "grow_policy": policy}
        )
        found = paths_of(sp.train(params, sp.Dataset(X, y), rounds=3))
        assert all(may_meet(path, groups) for path in found)
        met |= {len(path) for path in found}
    assert max(met) >= 4


@pytest.mark.parametrize(
    "method",
    [{"tree_method": "exact"}, {"tree_method": "approx"}, {"tree_method": "approx", "proposal": "local"}],
    ids=["exact", "approx", "local"],
)
def test_every_path_keeps_within_one_group_however_splits_are_searched(method):
    met = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        columns = int(rng.integers(2, 9))
        X = problems.table(rng, 200, columns)
        groups = [rng.choice(columns, rng.integers(1, columns + 1), replace=False).tolist() for _ in range(3)]
        params = method | {"interaction_constraints": groups, "min_child_samples": 1}
        found = paths_of(sp.train(params, sp.Dataset(X, rng.normal(size=200)), rounds=3))
        assert all(may_meet(path, groups) for path in found)
        met |= {len(path) for path in found}
    assert max(met) >= 4


def product_table(rows=2000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 4))
    return X, X[:, 0] * X[:, 1] + X[:, 1] * X[:, 2] + X[:, 3] + 0.1 * rng.normal(size=rows)


def test_columns_of_overlapping_groups_meet_in_each_of_them_but_not_across():
    X, y = product_table()
    params = {"interaction_constraints": [[0, 1], [1, 2]], "reg_lambda": 1.0, "min_child_samples": 20}
    found = paths_of(sp.train(params, sp.Dataset(X, y), rounds=40))
    longest = {path for path in found if not any(path < other for other in found)}
    assert longest == {frozenset({0, 1}), frozenset({1, 2}), frozenset({3})}


def test_one_group_of_all_columns_is_no_constraint():
    X, y = product_table()
    data = sp.Dataset(X, y)
    free = sp.train({}, data, rounds=5)
    assert sp.train({"interaction_constraints": [[0, 1, 2, 3]]}, data, rounds=5).forest.equal(free.forest)


def test_groups_by_name_and_position_are_the_same():
    X, y = product_table()
    data = sp.Dataset(pd.DataFrame(X, columns=list("abcd")), y)
    spellings = [
        [["a", "b"], ["c", "d"]],
        [[1, "a"], {3, 2}],
        "[[0, 1], [2, 3]]",
        "[0,1],[2,3]",
        [np.array([0, 1]), (2, 3, 3)],
    ]
    forests = [sp.train({"interaction_constraints": groups}, data, rounds=4).forest for groups in spellings]
    assert all(forest.equal(forests[0]) for forest in forests)


def xgboost_paths(X, y, groups, rounds):
    params = {
        "interaction_constraints": json.dumps(groups),
        "tree_method": "hist",
        "max_depth": 5,
        "min_child_weight": 0.0,
        "nthread": 1,
        "verbosity": 0,
    }
    booster = xgb.train(params, xgb.DMatrix(X, y), rounds)
    found, waiting = set(), [(json.loads(dump), frozenset()) for dump in booster.get_dump(dump_format="json")]
    while waiting:
        node, above = waiting.pop()
        if "leaf" in node:
            found.add(above)
        else:
            waiting += [(child, above | {int(node["split"][1:])}) for child in node["children"]]
    return found


@pytest.mark.parametrize(
    "groups",
    [[[0, 1]], [[0, 1], [1, 2]], [[0, 1, 2], [2, 3]], [[0], [1, 2, 3]], [[0, 1], [0, 2], [0, 3]]],
    ids=str,
)
def test_the_same_columns_meet_as_in_xgboost(groups):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 5))
    y = rng.normal(size=600) + np.sin(X * 3).prod(axis=1)
    params = {"max_depth": 5, "grow_policy": "depthwise", "max_leaves": 0, "min_child_samples": 1}
    ours = paths_of(sp.train(params | {"interaction_constraints": groups}, sp.Dataset(X, y), rounds=30))
    theirs = xgboost_paths(X, y, groups, 30)

    def longest(found):
        return {path for path in found if not any(path < other for other in found)}

    assert longest(ours) == longest(theirs)
    assert all(may_meet(path, groups) for path in ours | theirs)

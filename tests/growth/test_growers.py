"""Growing gives a tree and the rows by leaf; adding it to the scores is another step."""

import numpy as np
import pytest

import problems
import spinney as sp
from spinney.growth.exact import ExactGrower
from spinney.growth.hist import HistGrower
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag

ROWS = 3_000
RNG = np.random.default_rng(0)
X = np.where(RNG.random((ROWS, 4)) < 0.1, np.nan, RNG.normal(size=(ROWS, 4)))
PAIRS = np.stack([RNG.normal(size=ROWS) - np.nan_to_num(X[:, 0]), np.ones(ROWS)], axis=1).astype(np.float32)
SOME = np.sort(RNG.choice(ROWS, 400, replace=False)).astype(np.int32)


def grower_of(method, scores, bag, team, params):
    data, gradients = sp.Dataset(X), problems.gradients_record(scores, PAIRS)
    config = Config.parse({"max_leaves": 20, **params})
    if method == "hist":
        return HistGrower(data.binned.matrix(), data.cuts, config, gradients, bag, team)
    return ExactGrower(data.binned.raw.sorted_columns(team.size), config, 0, gradients, bag, team)


def leaves_by_value(tree, rows):
    """The leaf of each row, by real thresholds."""
    node = np.zeros(len(rows), int)
    while (tree.feature[node] >= 0).any():
        inner = np.flatnonzero(tree.feature[node] >= 0)
        at = node[inner]
        value = rows[inner, tree.feature[at]]
        left = np.where(np.isnan(value), tree.default_left[at] != 0, value <= tree.threshold[at])
        node[inner] = tree.left[at] + ~left
    return node


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    ("method", "chosen", "params"),
    [
        ("hist", None, {}),
        ("hist", SOME, {}),
        ("hist", SOME, {"subsample": 0.15}),
        ("hist", None, {"max_leaves": 0, "min_child_samples": 2}),
        ("hist", None, {"min_child_samples": 2_000}),
        ("exact", None, {}),
        ("exact", SOME, {}),
        ("exact", None, {"gamma": 2.0}),
    ],
    ids=["hist", "bag", "gathered bag", "deep", "one leaf", "exact", "exact bag", "pruned"],
)
def test_each_row_of_the_bag_stands_once_in_the_leaf_that_its_values_lead_to(method, chosen, params, threads):
    bag = Bag.of_all(ROWS)
    if chosen is not None:
        bag.rows[: len(chosen)], bag.count = chosen, len(chosen)
    scores = np.zeros((1, ROWS))
    with Team(threads) as team:
        grower = grower_of(method, scores, bag, team, params)
        grown = grower.grow(0, 5, 0.1)
        tree = grown[0] if method == "hist" else grower.tree()
        by_leaf = grower._by_leaf
        if method == "hist":
            assert (grown[1] is None) == (chosen is not None)
    assert not scores.any()
    expected = leaves_by_value(tree, X)
    seen = []
    for leaf in range(tree.nodes):
        members = by_leaf.members[by_leaf.begin[leaf] : by_leaf.end[leaf]]
        seen += members.tolist()
        assert (expected[members] == leaf).all()
        assert len(members) == (tree.count[leaf] if tree.feature[leaf] < 0 else 0)
    assert sorted(seen) == (list(range(ROWS)) if chosen is None else chosen.tolist())


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("chosen", [None, SOME], ids=["all", "bag"])
def test_adding_a_tree_moves_every_row_by_the_value_of_its_leaf(chosen, threads):
    bag, scores = Bag.of_all(ROWS), np.zeros((1, ROWS))
    if chosen is not None:
        bag.rows[: len(chosen)], bag.count = chosen, len(chosen)
    with Team(threads) as team:
        grower = grower_of("hist", scores, bag, team, {})
        tree, by_leaf = grower.grow(0, 5, 0.1)
        grower.add(by_leaf)
    assert scores[0].tobytes() == tree.value[leaves_by_value(tree, X)].tobytes()


def test_the_rate_of_a_tree_is_a_factor_on_its_values():
    trees = []
    with Team(1) as team:
        grower = grower_of("hist", np.zeros((1, ROWS)), Bag.of_all(ROWS), team, {})
        for rate in (1.0, 0.25):
            trees.append(grower.grow(0, 5, rate)[0])
    np.testing.assert_array_equal(trees[1].value, 0.25 * trees[0].value)
    assert trees[0].gain.tobytes() == trees[1].gain.tobytes()

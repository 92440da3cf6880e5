import numpy as np
import pytest

import spinney as sp

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 8))
Y = X @ np.arange(1.0, 9.0)


def forest(rounds=6, weight=None, **params):
    params = {"max_leaves": 16, "min_child_samples": 5} | params
    return sp.train(params, sp.Dataset(X, Y, weight=weight), rounds=rounds).forest


def columns_of(tree):
    return set(tree.feature[tree.feature >= 0].tolist())


@pytest.mark.parametrize(("share", "count"), [(0.5, 200), (0.01, 4), (0.001, 1), (0.999, 400), (1.0, 400)])
def test_a_tree_sees_exactly_the_share_of_rows_asked_for(share, count):
    grown = forest(subsample=share, min_child_samples=1)
    assert {int(grown.tree(t).count[0]) for t in range(6)} == {count}


def test_a_share_of_weighted_rows_is_a_share_of_those_above_zero():
    weight = np.where(np.arange(400) < 100, 0.0, 1.0)
    grown = forest(subsample=0.5, weight=weight)
    assert {int(grown.tree(t).count[0]) for t in range(6)} == {150}


def test_a_tree_uses_no_more_columns_than_it_drew():
    grown = forest(rounds=20, colsample_bytree=0.25)
    used = [columns_of(grown.tree(t)) for t in range(20)]
    assert max(map(len, used)) == 2
    assert set().union(*used) == set(range(8))


def test_a_level_uses_no_more_columns_than_it_drew():
    grown = forest(rounds=10, colsample_bylevel=0.25)
    mixed = False
    for t in range(10):
        tree = grown.tree(t)
        levels = {}
        for node, depth in tree.walk():
            if tree.feature[node] >= 0:
                levels.setdefault(depth, set()).add(int(tree.feature[node]))
        assert max(map(len, levels.values())) <= 2
        mixed |= len(columns_of(tree)) > 2
    assert mixed


def test_shares_of_columns_multiply():
    grown = forest(rounds=40, colsample_bytree=0.5, colsample_bylevel=0.5, colsample_bynode=0.5)
    assert max(len(columns_of(grown.tree(t))) for t in range(40)) <= 4
    roots = {int(grown.tree(t).feature[0]) for t in range(40)}
    assert len(roots) >= 6


def test_at_least_one_column_is_drawn():
    assert columns_of(forest(colsample_bytree=0.01, colsample_bylevel=0.01, colsample_bynode=0.01).tree(0))


def test_shares_of_one_draw_nothing():
    assert forest(random_state=1).equal(forest(random_state=2))


def test_rows_are_drawn_anew_for_every_round_and_seed():
    grown = [forest(subsample=0.5, random_state=seed) for seed in (1, 1, 2)]
    assert grown[0].equal(grown[1])
    assert not grown[0].equal(grown[2])
    covers = {grown[0].tree(t).threshold.tobytes() for t in range(6)}
    assert len(covers) == 6


def test_all_outputs_of_a_round_share_its_rows():
    y = np.digitize(Y, [-5.0, 5.0]).astype(float)
    model = sp.train({"objective": "softmax", "num_class": 3, "subsample": 0.3}, sp.Dataset(X, y), rounds=2)
    assert model.forest.count[model.forest.start[:-1]].tolist() == [120] * 6

"""A finished tree can be walked over bins again, and moves scores as it did when it was grown."""

import numpy as np
import pytest
from scipy import sparse

import spinney as sp
from spinney.errors import DataError
from spinney.growth.replay import replay
from spinney.jit.team import Team


def holes(rng, rows):
    X = rng.normal(size=(rows, 5))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 4] = np.nan
    return X, np.nan_to_num(X[:, 0]) * 2 + np.isnan(X[:, 1]), {}


def categories(rng, rows):
    X = np.stack([rng.integers(0, 150, rows), rng.integers(0, 3, rows), rng.normal(size=rows)], axis=1)
    return X, np.sin(X[:, 0]) + (X[:, 1] == 1), {"categorical": [0, 1]}


def one_hot(rng, rows):
    level = rng.integers(0, 30, rows)
    block = sparse.csr_array((np.ones(rows), (np.arange(rows), level)), shape=(rows, 30))
    loose = sparse.random_array((rows, 20), density=0.05, rng=rng)
    return sparse.hstack([block, loose], format="csr"), np.sin(level) + loose.sum(axis=1), {}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("table", [holes, categories, one_hot])
@pytest.mark.parametrize("classes", [0, 3])
def test_replayed_trees_give_the_raw_scores_bit_for_bit(table, classes, threads):
    X, y, given = table(np.random.default_rng(3), 900)
    params = {"max_leaves": 20, "min_child_samples": 3}
    if classes:
        y = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float)
        params |= {"objective": "softmax", "num_class": classes}
    data = sp.Dataset(X, y, **given)
    model = sp.train(params, data, rounds=5)
    other = sp.Dataset(X[:400], reference=data)
    for rows in (data, other):
        scores = np.repeat(model.base_score[:, None], rows.rows, axis=1)
        with Team(threads) as team:
            for t in range(model.forest.trees):
                replay(model.forest.tree(t), t % model.outputs, rows.matrix, rows.cuts, scores, team)
        expected = model.predict_raw(X[: rows.rows]).reshape(rows.rows, -1)
        assert scores.T.tobytes() == expected.tobytes()


def test_a_tree_of_other_cuts_is_refused():
    X, y, _ = holes(np.random.default_rng(4), 300)
    model = sp.train({}, sp.Dataset(X, y), rounds=1)
    other = sp.Dataset(X + 0.25, y)
    with Team(1) as team, pytest.raises(DataError, match="not grown on these cuts"):
        replay(model.forest.tree(0), 0, other.matrix, other.cuts, np.zeros((1, 300)), team)


def test_a_tree_of_one_leaf_is_replayed():
    X, y, _ = holes(np.random.default_rng(5), 50)
    data = sp.Dataset(X, y)
    model = sp.train({"min_child_samples": 50}, data, rounds=1)
    scores = np.zeros((1, 50))
    with Team(1) as team:
        replay(model.forest.tree(0), 0, data.matrix, data.cuts, scores, team)
    assert np.unique(scores).tolist() == model.forest.value.tolist()

"""Rows that walk a tree by their bins reach the leaves of the rows that grew it; trees of a model can be walked again."""

import numpy as np
import pytest
import scipy.sparse

import spinney as sp
from problems import gradients_record, grown
from spinney.errors import DataError
from spinney.growth.grown_tree import replay
from spinney.growth.hist import HistGrower
from spinney.growth.kernels.walk import BATCH, SPINE, WINDOW, batch_from
from spinney.growth.workspace import subset_of
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag


def grow_and_walk(table, params, threads, gradients=None, **given):
    """Scores of the rows that grew a tree, and of the same rows after walking it."""
    data = sp.Dataset(table, **given)
    if gradients is None:
        gradients = np.random.default_rng(3).normal(size=data.rows)
    pairs = np.stack([gradients, np.ones(data.rows)], axis=1).astype(np.float32)
    with Team(threads) as team:
        moved, walked = np.zeros((2, 1, data.rows))
        config = Config.parse(params | {"max_bin": data.max_bin})
        grower = HistGrower(
            data.binned.matrix(),
            data.cuts,
            config,
            gradients_record(moved, pairs),
            Bag.of_all(data.rows),
            team,
        )
        walk = grower.walk(data.binned.matrix(), walked)
        tree = grown(grower, seed=1)
        team.run(walk)
    return tree, moved[0], walked[0]


def exclusive_columns(rows, rng, missing):
    """Exclusive columns of few and of many values; some stored values may be missing."""
    owner = rng.integers(0, 40, rows)
    values = np.where(owner < 8, rng.integers(-3, 4, rows), 1).astype(float)
    if missing:
        values[rng.random(rows) < 0.2] = np.nan
    return scipy.sparse.csr_array((values, (np.arange(rows), owner)), shape=(rows, 40))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH + 5])
def test_any_number_of_rows(rows, threads):
    rng = np.random.default_rng(rows)
    table = np.where(rng.random((rows, 4)) < 0.1, np.nan, rng.normal(size=(rows, 4)))
    tree, grown, walked = grow_and_walk(table, {"max_leaves": 60, "min_child_samples": 1}, threads)
    assert grown.tobytes() == walked.tobytes()
    assert len(tree.value) > 60 or rows < 60


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("missing", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("bundle", [True, False], ids=["bundled", "plain"])
def test_bundled_and_sparse_columns(bundle, missing, absent):
    table = exclusive_columns(2 * BATCH + 3, np.random.default_rng(5), missing)
    params = {"max_leaves": 80, "min_child_samples": 1, "min_child_weight": 0.0, "reg_lambda": 0.1}
    tree, grown, walked = grow_and_walk(table, params, 2, bundle=bundle, absent=absent)
    assert grown.tobytes() == walked.tobytes()
    assert len(tree.value) > 40


def test_the_last_of_65_535_bins_and_missing_values():
    rows = 70_000
    table = np.arange(rows, dtype=float).reshape(-1, 1)
    table[::7] = np.nan
    tree, grown, walked = grow_and_walk(table, {"max_leaves": 500, "min_child_samples": 1}, 2, max_bin=65_536)
    assert grown.tobytes() == walked.tobytes()
    assert len(tree.value) > 500


def mean_depth(tree):
    """Splits that an average row of the training passes."""
    inner = tree.feature >= 0
    return tree.count[inner].sum() / tree.count[0]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("levels", [60, 600], ids=["bytes", "words"])
@pytest.mark.parametrize("kind", ["zero", "missing", "gaps", "dense"])
def test_trees_like_chains(kind, levels, threads):
    rows = BATCH + 4_000
    rng = np.random.default_rng(levels)
    owner = rng.integers(0, levels, rows)
    # Some values below 0, so that the few rows of a split are now on the left, now on the right.
    values = np.where(owner % 3 == 0, -1.0, 1.0)
    if kind == "gaps":
        values[rng.random(rows) < 0.1] = np.nan
    table = scipy.sparse.csr_array((values, (np.arange(rows), owner)), shape=(rows, levels))
    absent = "missing" if kind == "missing" else "zero"
    given = {} if kind == "dense" else {"absent": absent}
    gradients = np.sin(owner) * 3.0 ** (owner % 7)
    params = {"max_leaves": 50, "min_child_samples": 1, "min_child_weight": 0.0, "reg_lambda": 0.0}
    tree, grown, walked = grow_and_walk(
        table.toarray() if kind == "dense" else table, params, threads, gradients, **given
    )
    assert mean_depth(tree) > 15
    assert len(np.unique(walked)) > 20
    assert grown.tobytes() == walked.tobytes()


def test_the_longest_spine_there_can_be():
    levels = SPINE + 60
    owner = np.repeat(np.arange(levels), 3)
    table = scipy.sparse.csr_array((np.ones(len(owner)), (np.arange(len(owner)), owner)))
    gradients = 2.0 ** -(owner / 40) * 1000
    params = {"max_leaves": levels, "min_child_samples": 1, "min_child_weight": 0.0, "reg_lambda": 0.0}
    tree, grown, walked = grow_and_walk(table, params, 2, gradients)
    assert grown.tobytes() == walked.tobytes()
    assert tree.depth > SPINE


@pytest.mark.kernels
def test_a_small_chain():
    owner = np.repeat(np.arange(20), 6)
    table = scipy.sparse.csr_array((np.ones(120), (np.arange(120), owner)))
    params = {"max_leaves": 20, "min_child_samples": 1, "min_child_weight": 0.0, "reg_lambda": 0.0}
    tree, grown, walked = grow_and_walk(table, params, 1, 2.0 ** -(owner / 4) * 100)
    assert mean_depth(tree) > 8
    assert grown.tobytes() == walked.tobytes()


@pytest.mark.kernels
@pytest.mark.parametrize("gap", [1, 3, 9, 40_000, WINDOW, WINDOW + 1])
def test_batches_have_every_row_once_and_lie_within_a_window(gap):
    rows = np.cumsum(np.full(2 * BATCH + 7 if gap < 10 else 9, gap)).astype(np.int32)
    subset = subset_of(rows, int(rows[-1]) + 1)
    at, seen = 2, []
    while at < len(rows):
        first, count = batch_from(at, len(rows), subset)
        assert first == rows[at]
        assert 1 <= count <= BATCH
        assert rows[at + count - 1] - first < WINDOW
        seen.extend(rows[at : at + count])
        at += count
    assert seen == rows[2:].tolist()
    assert batch_from(5, 5 + BATCH + 1, subset_of(None, 10**6)) == (5, BATCH)


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
    block = scipy.sparse.csr_array((np.ones(rows), (np.arange(rows), level)), shape=(rows, 30))
    loose = scipy.sparse.random_array((rows, 20), density=0.05, rng=rng)
    return scipy.sparse.hstack([block, loose], format="csr"), np.sin(level) + loose.sum(axis=1), {}


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
                replay(model.forest.tree(t), t % model.outputs, rows.binned.matrix(), rows.cuts, scores, team)
        expected = model.predict_raw(X[: rows.rows]).reshape(rows.rows, -1)
        assert scores.T.tobytes() == expected.tobytes()


def test_a_tree_of_other_cuts_is_refused():
    X, y, _ = holes(np.random.default_rng(4), 300)
    model = sp.train({}, sp.Dataset(X, y), rounds=1)
    other = sp.Dataset(X + 0.25, y)
    with Team(1) as team, pytest.raises(DataError, match="not grown on these cuts"):
        replay(model.forest.tree(0), 0, other.binned.matrix(), other.cuts, np.zeros((1, 300)), team)


def test_a_tree_of_one_leaf_is_replayed():
    X, y, _ = holes(np.random.default_rng(5), 50)
    data = sp.Dataset(X, y)
    model = sp.train({"min_child_samples": 50}, data, rounds=1)
    scores = np.zeros((1, 50))
    with Team(1) as team:
        replay(model.forest.tree(0), 0, data.binned.matrix(), data.cuts, scores, team)
    assert np.unique(scores).tolist() == model.forest.value.tolist()

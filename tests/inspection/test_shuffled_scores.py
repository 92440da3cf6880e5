"""Only rows that meet a shuffled column walk again: what comes out is the prediction of the whole shuffled table."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse

import compact_forests
import forests
from oracles import random_bits
from spinney.inspection import shuffled_scores
from spinney.inspection.shuffled_scores import ColumnReader, ShuffledScores
from spinney.jit.team import Team
from spinney.model.base import view_of
from spinney.model.boosted import Model
from spinney.sampling.kernels.random import PURPOSE_SHUFFLE as SHUFFLE

GROUPS = [(0,), (2, 1), (3,), (1,), (0, 1, 2, 3)]


def naive_order(seed, repeat, column, count):
    """The order of a column by whole numbers of Python: from the last row on, each changes places with one not after it."""
    seed = random_bits(random_bits(seed, SHUFFLE, repeat), SHUFFLE, column)
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = (random_bits(seed, SHUFFLE, i) >> 32) * (i + 1) >> 32
        order[i], order[j] = order[j], order[i]
    return order


def naive_scores(predict, X, group, repeats, seed):
    """Scores of the whole table, shuffled by hand; (repeats, outputs, rows)."""
    found = []
    for repeat in range(repeats):
        shuffled = X.copy()
        order = naive_order(seed, repeat, min(group), len(X))
        shuffled[:, group] = X[order][:, group]
        found.append(predict(shuffled).reshape(len(X), -1).T)
    return np.array(found)


def found_scores(trees, table, absent=0.0, groups=GROUPS, repeats=2, seed=3, threads=1):
    with Team(threads) as team:
        found = {}
        for number, repeat, scores in ShuffledScores(
            trees, ColumnReader(table, absent), range(repeats), seed, team
        ).scores(groups):
            found.setdefault(number, {})[repeat] = scores
        return {
            number: np.array([by_repeat[r] for r in range(repeats)]) for number, by_repeat in found.items()
        }


def boosted_case(outputs=1, missing=0.1, dtype=np.float64, rows=60, splits=8, absent="zero"):
    rng = np.random.default_rng(outputs)
    X = rng.normal(size=(rows, 4)).round(1)
    X[rng.random(X.shape) < missing] = np.nan
    X = X.astype(dtype)
    return forests.random_model(5, X, outputs, trees=4, splits=splits, absent=absent), X


@pytest.mark.kernels
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_a_boosted_model_are_those_of_the_whole_shuffled_table(outputs, missing, dtype):
    model, X = boosted_case(outputs, missing, dtype)
    found = found_scores(view_of(model), model.read(X))
    assert sorted(found) == list(range(len(GROUPS)))
    for number, group in enumerate(GROUPS):
        np.testing.assert_array_equal(found[number], naive_scores(model.predict_raw, X, group, 2, 3))


@pytest.mark.kernels
@pytest.mark.parametrize(
    "shape",
    [
        {"classes": (3,)},
        {"classes": (2, 3), "outputs": 2},
        {"classes": (), "outputs": 2},
        {"classes": (), "weights": "any"},
        {"classes": (2,), "categories": (0, 5, 0, 70)},
    ],
)
def test_values_of_a_forest_are_those_of_the_whole_shuffled_table(shape):
    model = compact_forests.random_model(1, [9, 0, 12], **shape)
    table = compact_forests.random_table(2, 50, categories=shape.get("categories", ()))
    found = found_scores(view_of(model), model.read(table))

    def predict(X):
        return model.values(model.read(X))

    for number, group in enumerate(GROUPS):
        np.testing.assert_array_equal(found[number], naive_scores(predict, table, group, 2, 3))


@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csc_array])
@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_a_sparse_table_has_the_scores_of_the_same_dense_one(form, absent):
    model, X = boosted_case(missing=0.0, absent=absent)
    X[X < 0.5] = 0.0
    dense = np.where(X == 0.0, np.nan, X) if absent == "missing" else X
    found = found_scores(view_of(model), model.read(form(X)), model.absent)
    expected = found_scores(view_of(model), model.read(dense))
    for number in expected:
        np.testing.assert_array_equal(found[number], expected[number])


@pytest.mark.parametrize("form", [np.asfortranarray, lambda X: X[::-1], lambda X: (X * 10).astype(np.int16)])
def test_any_layout_of_the_table_will_do(form):
    model, X = boosted_case(missing=0.0)
    X = form(X)
    found = found_scores(view_of(model), model.read(X), groups=[(1,)])
    np.testing.assert_array_equal(found[0], naive_scores(model.predict_raw, np.array(X), (1,), 2, 3))


def test_only_the_rounds_that_predict_uses_are_walked():
    model, X = boosted_case()
    best = Model(model.forest, model.base_score, model.objective, model.params, model.schema, best_round=2)
    found = found_scores(view_of(best), best.read(X), groups=[(0,)])
    np.testing.assert_array_equal(found[0], naive_scores(best.predict_raw, X, (0,), 2, 3))
    assert not np.array_equal(best.predict_raw(X), model.predict_raw(X))


def test_a_group_that_no_tree_asks_for_is_left_out():
    X = boosted_case()[1]
    bare = forests.random_model(5, X, splits=1)
    assert found_scores(view_of(bare), bare.read(X)) == {}
    X[:, 3] = 0.0
    some = forests.random_model(5, X[:, :3], splits=3)
    asked = np.unique(some.forest.feature[some.forest.feature >= 0]).tolist()
    found = found_scores(view_of(some), some.read(X[:, :3]), groups=[(0,), (1,), (2,)])
    assert sorted(found) == asked


@pytest.mark.parametrize("cells", [1, 20_000])
def test_scores_do_not_depend_on_threads_nor_on_how_much_is_done_in_one_go(monkeypatch, cells):
    model, X = boosted_case(rows=1500, outputs=3, splits=20)
    expected = found_scores(view_of(model), model.read(X))
    many = found_scores(view_of(model), model.read(X), threads=3)
    monkeypatch.setattr(shuffled_scores, "CELLS", cells)
    monkeypatch.setattr(shuffled_scores, "LISTS", 5)
    monkeypatch.setattr(shuffled_scores, "rows_per_call", lambda work, threads: 300)
    parts = found_scores(view_of(model), model.read(X), threads=2)
    for number in expected:
        np.testing.assert_array_equal(many[number], expected[number])
        np.testing.assert_array_equal(parts[number], expected[number])


def test_few_trees_are_walked_in_one_go(monkeypatch):
    model, X = boosted_case(outputs=3)
    trees = view_of(model)
    monkeypatch.setattr(shuffled_scores, "NODES", 30)
    cuts = ShuffledScores(trees, ColumnReader(model.read(X), 0.0), range(1), 0, Team(1))._cuts(
        np.ones((12, 4), np.bool_)
    )
    assert cuts[0] == 0
    assert cuts[-1] == 12
    assert len(cuts) > 3
    assert all(last - first == 1 or trees.nodes[first:last].sum() <= 30 for first, last in pairwise(cuts))

"""Predictions of forests are those of the plainest walk, whatever threads, chunks and types."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import compact_forests as naive
from compact_forests import random_forest, random_model, random_table
from spinney.data import read_table
from spinney.errors import DataError, ParameterError
from spinney.model import predict_compact
from spinney.model.predict_compact import ForestPredictor

SIZES = [0, 1, 5, 40, 3]


def assert_as_naive(model, X, given=None, categories=(), n_jobs=1):
    given = X if given is None else given
    table, expected = model.read(given), naive.means(model.forest, X, bool(model.classes), categories)
    assert model.values(table, n_jobs).tobytes() == expected.tobytes()
    wanted = naive.leaves(model.forest, X, categories)
    assert model.leaf_numbers(table, n_jobs=n_jobs).tolist() == wanted.tolist()
    assert model.leaf_numbers(table, 1, model.trees, n_jobs).tolist() == wanted[:, 1:].tolist()


@pytest.mark.kernels
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("rows", [1, 7, 19])
@pytest.mark.parametrize("classes", [(2,), (), (3, 2)])
def test_values_and_leaves_are_those_of_the_naive_walk(classes, rows, missing):
    outputs = max(len(classes), 1)
    model = random_model(rows, SIZES, classes=classes, outputs=outputs)
    assert_as_naive(model, random_table(rows, rows, missing=missing))


@pytest.mark.kernels
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("many", [5, 200, 300])
def test_categories_go_where_their_sets_say(many, missing):
    categories = (0, many, 0, 3)
    model = random_model(many, SIZES, categories=categories)
    X = random_table(1, 25, missing=missing, categories=categories)
    given = np.where(np.isnan(X), None, X)
    assert_as_naive(model, X, [[*row] for row in given], categories)


@pytest.mark.kernels
@pytest.mark.parametrize("most", [255, 256, 65_535, 65_536])
def test_as_many_cuts_as_a_code_holds_and_one_more(most):
    rng = np.random.default_rng(1)
    forest = with_all_cuts(random_forest(2, [20, 300], columns=1, cuts=most, classes=()), most)
    X = np.concatenate([forest.cuts[-3:], forest.cuts[:3], rng.choice(forest.cuts, 20), [np.nan, -1e9, 1e9]])
    X = X[:, None]
    found = ForestPredictor(forest, False).leaf_numbers(read_table(X), 0, 2, 1)
    assert found.tolist() == naive.leaves(forest, X).tolist()


def with_all_cuts(forest, most):
    """The same trees over more cuts than they make, of which the last ones are split at too."""
    cut = forest.cut.astype(np.uint32)
    cut[-3:] = most - 1
    kept = {"cut": cut, "cuts": np.arange(most) / 2, "cut_start": np.array([0, most])}
    return replace(forest, **kept)


@pytest.mark.parametrize("weights", ["whole", "float"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
def test_bytes_do_not_depend_on_threads_or_chunks(n_jobs, dtype, weights, monkeypatch):
    model = random_model(3, [0, 1, 50, 700, 20], classes=(3,), weights=weights)
    X = random_table(2, 333, dtype=dtype)
    assert_as_naive(model, X.astype(float), X)
    monkeypatch.setattr(predict_compact, "SHARE_WALKS", 1)
    monkeypatch.setattr(predict_compact, "CODE_BYTES", 2 * 4 * 40)
    monkeypatch.setattr(predict_compact, "WORK", 1)
    assert_as_naive(model, X.astype(float), X, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 3, 64])
def test_few_rows_share_the_trees_out(rows, n_jobs, monkeypatch):
    monkeypatch.setattr(predict_compact, "SHARE_WALKS", 1)
    model = random_model(5, [300, 1, 200, 0, 7], classes=(2, 3), outputs=2)
    assert_as_naive(model, random_table(4, rows), n_jobs=n_jobs)


@pytest.mark.parametrize("view", ["transposed", "backwards", "every second", "whole numbers"])
def test_tables_of_any_layout_are_read_alike(view):
    model = random_model(6, [30, 12])
    X = random_table(7, 40, missing=0.1 if view != "whole numbers" else 0.0)
    given = {
        "transposed": np.asfortranarray(X),
        "backwards": np.ascontiguousarray(X[::-1])[::-1],
        "every second": np.repeat(X, 2, axis=1)[:, ::2],
        "whole numbers": np.rint(X).astype(np.int64) if view == "whole numbers" else None,
    }[view]
    assert_as_naive(model, given.astype(float), given)


@pytest.mark.kernels
@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sparse_table_has_the_predictions_of_the_same_table_dense(absent, form, dtype):
    model = random_model(8, SIZES, absent=absent)
    X = random_table(9, 30, dtype=dtype)
    stored = np.random.default_rng(1).random(X.shape) < 0.3
    row, column = np.nonzero(stored)
    given = sparse.csr_array((X[stored], (row, column)), shape=X.shape).asformat(form)
    dense = np.where(stored, X, 0.0 if absent == "zero" else np.nan).astype(float)
    assert_as_naive(model, dense, given)


def test_chunks_of_a_sparse_table_do_not_matter(monkeypatch):
    model = random_model(8, SIZES, columns=50)
    X = random_table(9, 60, 50, missing=0.01) * (np.random.default_rng(2).random((60, 50)) < 0.1)
    expected = model.values(model.read(X))
    monkeypatch.setattr(predict_compact, "CODE_BYTES", 1)
    monkeypatch.setattr(predict_compact, "SHARE_WALKS", 1)
    assert model.values(model.read(sparse.csr_array(X)), 2).tobytes() == expected.tobytes()


def test_trees_of_lone_leaves_need_no_column():
    model = random_model(1, [0, 0, 0], classes=(3,))
    X = random_table(1, 20)
    assert_as_naive(model, X)
    assert_as_naive(model, np.where(np.isnan(X), 0, X), sparse.csr_array(np.where(np.isnan(X), 0, X)))


@pytest.mark.parametrize("limit", [("MOST_SPLITS", 20), ("MOST_PLACES", 3), ("CUT", 0), ("WORTH", 0)])
def test_a_tree_that_fits_no_packed_node_is_walked_as_it_is(limit, monkeypatch):
    monkeypatch.setattr(predict_compact, *limit)
    assert_as_naive(random_model(2, [5, 100, 30, 11]), random_table(3, 50))


@pytest.mark.parametrize("given", ["dense", "sparse"])
def test_an_infinite_value_is_refused_with_its_column(given):
    model = random_model(2, [5], names=("a", "b", "c", "d"))
    X = np.zeros((10, 4))
    X[3, 2] = -np.inf
    with pytest.raises(DataError, match="column 2 holds an infinite value"):
        model.predict(X if given == "dense" else sparse.csr_array(X))


def test_a_table_without_rows_has_predictions_without_rows():
    model = random_model(2, [5, 3], classes=(2, 3), outputs=2)
    assert [one.shape for one in model.predict(np.empty((0, 4)))] == [(0, 2), (0, 3)]
    assert model.predict_leaf(np.empty((0, 4))).shape == (0, 2)
    assert model.decision_path(np.empty((0, 4)))[0].shape == (0, 11 + 7)


def test_threads_must_be_a_sensible_number():
    with pytest.raises(ParameterError, match="n_jobs"):
        random_model(2, [5]).predict(np.zeros((1, 4)), n_jobs=0)

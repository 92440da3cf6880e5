"""Models of isolation forests: paths, scores, explanations, files."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import spinney as sp
from isolation_oracle import average, length, path
from spinney.data import Schema
from spinney.errors import DataError, ModelFormatError
from spinney.model import header
from spinney.model.forest import ForestModel
from spinney.model.isolation import HeapWalker, IsolationModel
from spinney.params import IsolationConfig
from spinney.tree import Sets
from spinney.tree.isolation import isolation_forest


def table_of(rows=200, missing=0.1, seed=0):
    """Numbers, one column of categories, missing values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    X[:, 3] = rng.integers(0, 80, rows)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def fitted(X, trees=7, **given):
    return sp.IsolationForest(trees, random_state=3, **given).fit(X).model_


@pytest.fixture(scope="module")
def numbers():
    return fitted(table_of()[:, :3], max_samples=64)


@pytest.fixture(scope="module")
def categories():
    return fitted(table_of(), max_samples=64, categorical=[3])


@pytest.mark.kernels
def test_the_average_path_length_is_that_of_the_paper_with_eulers_constant():
    assert round(sp.average_path_length(256), 4) == 10.2448
    assert sp.average_path_length(np.array([[0, 1], [2, 3]])).tolist() == [[0.0, 0.0], [1.0, average(3)]]
    many = np.arange(3, 3000)
    np.testing.assert_allclose(sp.average_path_length(many), [average(int(n)) for n in many], rtol=1e-15)


@pytest.mark.parametrize("rows", [-1, [3, -2], 2.5, "many", 2**60])
def test_numbers_of_rows_are_whole_and_not_negative(rows):
    with pytest.raises(DataError, match="rows must be whole numbers"):
        sp.average_path_length(rows)


@pytest.mark.kernels
def test_paths_are_as_long_as_a_walk_down_each_tree_says(numbers):
    X = table_of(30, seed=1)[:, :3]
    expected = [np.mean([length(numbers.tree(t), row) for t in range(7)]) for row in X]
    np.testing.assert_allclose(numbers.path_lengths(X), expected, rtol=1e-14)


@pytest.mark.kernels
def test_paths_by_categories_too(categories):
    X = table_of(30, seed=1)
    expected = [
        np.mean([length(categories.tree(t), row) for t in range(7)]) for row in as_numbers(categories, X)
    ]
    np.testing.assert_allclose(categories.path_lengths(X), expected, rtol=1e-14)


def as_numbers(model, X):
    """Rows with the numbers of their categories, as trees know them."""
    known = model.schema.categories[3].numbers
    found = X.copy()
    rarest = max(known.values())
    found[:, 3] = [np.nan if np.isnan(one) else known.get(int(one), rarest) for one in X[:, 3]]
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("form", ["C", "F", "float32", "frame", "integers"])
def test_heaps_give_the_bits_of_the_general_walk(form):
    X = table_of(100, missing=0.02 if form != "integers" else 0)[:, :3]
    X[:40] = np.nan_to_num(X[:40])
    made = {
        "C": np.ascontiguousarray, "F": np.asfortranarray, "float32": np.float32, "frame": pd.DataFrame,
        "integers": lambda X: np.round(X * 10).astype(np.int16),
    }[form](X)  # fmt: skip
    model = fitted(made, max_samples=20)
    table = model.read(made)
    assert HeapWalker.fits(model.forest, 5)
    sums = model._predictor.raw_scores(np.zeros(1), table, model.trees, 1)[:, 0]
    np.testing.assert_array_equal(model.path_lengths(made), sums / model.trees)


@pytest.mark.parametrize("jobs", [1, 2, 3, 8])
def test_scores_do_not_depend_on_threads(jobs):
    X = table_of(3000)[:, :3]
    model = fitted(X, 100)
    np.testing.assert_array_equal(model.score_samples(X, jobs), model.score_samples(X, 1))
    np.testing.assert_array_equal(model.explain_path(X, jobs), model.explain_path(X, 1))


@pytest.mark.kernels
def test_a_row_scores_alone_as_among_others_and_none_give_none(numbers):
    X = table_of(20)[:, :3]
    scores = numbers.score_samples(X)
    assert [numbers.score_samples(row[None])[0] for row in X] == scores.tolist()
    assert numbers.score_samples(X[:0]).shape == (0,)
    assert numbers.explain_path(X[:0]).shape == (0, 3)


@pytest.mark.kernels
@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_sparse_rows_score_as_dense_ones(absent):
    X = scipy.sparse.random_array((80, 6), density=0.3, rng=np.random.default_rng(5)).toarray()
    dense = np.where(X == 0, np.nan, X) if absent == "missing" else X
    model = fitted(scipy.sparse.csr_array(X), max_samples=40, absent=absent)
    for form in (scipy.sparse.csr_array, scipy.sparse.csc_array):
        np.testing.assert_array_equal(model.score_samples(form(X)), model.score_samples(dense))
        np.testing.assert_array_equal(model.explain_path(form(X)), model.explain_path(dense))


@pytest.mark.kernels
def test_scores_follow_from_paths(numbers):
    X = table_of(50)[:, :3]
    expected = -(2.0 ** (-numbers.path_lengths(X) / average(64)))
    np.testing.assert_allclose(numbers.score_samples(X), expected, rtol=1e-14)
    np.testing.assert_array_equal(numbers.decision_function(X), numbers.score_samples(X) + 0.5)
    np.testing.assert_array_equal(numbers.predict(X), np.where(expected < -0.5, -1, 1))


@pytest.mark.kernels
def test_an_explanation_adds_up_what_each_split_saved(categories):
    X = table_of(15, seed=2)
    expected = np.zeros((15, 4))
    for i, row in enumerate(as_numbers(categories, X)):
        for t in range(7):
            tree = categories.tree(t)
            passed = path(tree, row)
            for (node, column), (below, _) in pairwise(passed):
                left = average(int(tree.count[node])) - 1 - average(int(tree.count[below]))
                expected[i, column] += left / 7
    found = categories.explain_path(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    total = average(64) - categories.path_lengths(X)
    np.testing.assert_allclose(found.sum(axis=1), total, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(categories.score_samples(X), -(2 ** (found.sum(axis=1) / average(64) - 1)))


@pytest.mark.kernels
def test_a_forest_of_one_row_scores_every_row_the_same():
    model = fitted([[1.0, 2.0]])
    assert model.rows_per_tree == 1
    assert model.score_samples([[1.0, 2.0], [9.0, 9.0]]).tolist() == [-0.5, -0.5]
    assert model.predict([[9.0, 9.0]]).tolist() == [1]
    assert model.explain_path([[9.0, 9.0]]).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_a_file_gives_the_model_back(kind, request, tmp_path):
    model = request.getfixturevalue(kind)
    model.save(tmp_path / "file")
    loaded = sp.load(tmp_path / "file")
    assert type(loaded) is IsolationModel
    assert loaded == model
    assert pickle.loads(pickle.dumps(model)) == model
    X = table_of(40)[:, : model.n_features]
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    assert repr(loaded) == f"IsolationModel(trees=7, rows_per_tree=64, n_features={model.n_features})"


def test_a_dump_tells_of_every_node(categories):
    told = json.loads(categories.to_json())
    assert (told["kind"], told["format"], len(told["trees"])) == ("isolation", 6, 7)
    root = told["trees"][0]
    assert root["count"] == 64
    assert {"left", "right", "missing"} <= root.keys()


def test_bytes_of_another_kind_are_told_apart(numbers):
    with pytest.raises(ModelFormatError, match="another model than a ForestModel"):
        ForestModel.from_bytes(numbers.to_bytes())


def test_arrays_of_a_model_cannot_be_written_to(numbers):
    with pytest.raises(ValueError, match="read-only"):
        numbers.forest.threshold[0] = 1.0


def stump(count=(5, 2, 3), left=1):
    return isolation_forest(
        start=np.array([0, 3]), feature=np.array([1, -1, -1], np.int32), threshold=np.array([0.5, 0.0, 0.0]),
        left=np.array([left, 0, 0], np.int32), default_left=np.array([1, 0, 0], np.uint8), count=np.array(count),
        sets=Sets.none(),
    )  # fmt: skip


def made(forest, rows=9, per_tree=5, offset=-0.5):
    return IsolationModel(forest, IsolationConfig(), Schema(None, 2), rows, per_tree, offset)


def test_a_model_can_be_made_by_hand():
    model = made(stump())
    assert model.path_lengths([[0.0, 0.5], [0.0, 0.6], [0.0, np.nan]]).tolist() == [2.0, 1 + average(3), 2.0]


WRITE = {
    "rows of a tree that do not add up": (("count", 1, 3), "its children must have 1 or more each"),
    "a negative count": (("count", 2, -1), "count -1; it must be 0 or more"),
    "counts that overflow": (("count", 1, 2**63 - 1), "its children must have 1 or more"),
    "another number of rows": (("count", 0, 65), "must be 64, the rows of each tree"),
    "a child before its parent": (("left", 0, 0), "left 0; it must be greater"),
    "a child outside": (("left", 0, 2**31 - 1), "so small that both children are in the tree"),
    "a column outside": (("feature", 0, 3), "feature 3; it must be -1 or a column"),
    "a threshold that is no number": (("threshold", 0, np.nan), "threshold nan; it must be finite"),
    "a side that is none": (("default_left", 0, 2), "default_left 2; it must be 0 or 1"),
    "trees that begin far away": (("start", 1, 2**63 - 1), "begins at node"),
}
HEADER = {
    "another kind": ("kind", "wood", "kind must be 'adaboost' or 'isolation', not 'wood'"),
    "format of a forest": ("format", 5, "kind must be 'forest', not 'isolation'"),
    "format of a boosted model": ("format", 1, "too much or too little"),
    "a newer format": ("format", header.FORMAT + 1, "written by a newer version"),
    "a field of forests": ("trees", 7, "too much or too little: 'trees'"),
    "rows below those of a tree": ("rows", 63, "cannot have seen 64 rows of a table of 63"),
    "rows that are text": ("rows", "9", "rows must be a whole number"),
    "huge rows": ("rows", 2**63, "rows must be a whole number from 1"),
    "no rows of a tree": ("rows_per_tree", 0, "rows_per_tree must be a whole number from 1"),
    "other rows of a tree": ("rows_per_tree", 65, "must be 65, the rows of each tree"),
    "few rows of a tree": ("rows_per_tree", 2, "no path of more than 1 splits"),
    "an offset above 0": ("offset", 0.5, "offset must be a number from -1 to 0"),
    "an offset that is whole": ("offset", 0, "offset must be a number with a point"),
    "an offset that is true": ("offset", True, "offset must be a number with a point"),
    "too few columns": ("columns", 1, "feature"),
    "wrong parameters": ("params", {"contamination": 0.9}, "wrong parameter: contamination=0.9"),
    "parameters of boosting": ("params", {"learning_rate": 0.5}, "parameter that this spinney lacks"),
    "more columns than there are": ("params", {"max_features": 4}, "wrong parameter: max_features=4"),
    "an estimator that is a list": ("estimator", [], "estimator must be a JSON object"),
    "a version that is a number": ("version", 1, "version must be a short text"),
}


@pytest.mark.parametrize("name", WRITE)
def test_a_file_with_hostile_arrays_is_refused(name, numbers, open_file):
    (array, place, value), message = WRITE[name]
    opened = open_file(numbers.to_bytes())
    opened.array(array)[place] = value
    with pytest.raises(ModelFormatError, match=message):
        IsolationModel.from_bytes(opened.pack())


@pytest.mark.parametrize("name", HEADER)
def test_a_file_with_a_hostile_header_is_refused(name, numbers, open_file):
    field, value, message = HEADER[name]
    opened = open_file(numbers.to_bytes())
    opened.header[field] = value
    with pytest.raises(ModelFormatError, match=message) as caught:
        IsolationModel.from_bytes(opened.pack())
    assert len(str(caught.value)) < 1_000


def test_a_file_with_hostile_sets_is_refused(categories, open_file):
    for array, place, value in (("set_node", 0, -1), ("set_start", 1, 2**62), ("set_start", 0, 1)):
        opened = open_file(categories.to_bytes())
        opened.array(array)[place] = value
        with pytest.raises(ModelFormatError, match=array):
            IsolationModel.from_bytes(opened.pack())


@pytest.mark.parametrize("array", ["count", "threshold", "start"])
def test_a_file_without_an_array_or_with_one_of_another_type_is_refused(array, numbers, open_file):
    opened = open_file(numbers.to_bytes())
    opened.entries.pop(array)
    with pytest.raises(ModelFormatError, match=f"lacks the array '{array}'"):
        IsolationModel.from_bytes(opened.pack())
    opened = open_file(numbers.to_bytes())
    opened.entries[array]["dtype"] = "U64"
    with pytest.raises(ModelFormatError, match=f"'{array}' has dtype 'U64'"):
        IsolationModel.from_bytes(opened.pack())


def test_a_model_without_a_tree_or_with_too_long_paths_is_refused():
    empty = isolation_forest(
        start=np.zeros(1, np.int64), feature=np.zeros(0, np.int32), threshold=np.zeros(0),
        left=np.zeros(0, np.int32), default_left=np.zeros(0, np.uint8), count=np.zeros(0, np.int64),
        sets=Sets.none(),
    )  # fmt: skip
    with pytest.raises(ModelFormatError, match="must have a tree"):
        made(empty)
    chain = isolation_forest(
        start=np.array([0, 5]), feature=np.array([0, -1, 0, -1, -1], np.int32), threshold=np.zeros(5),
        left=np.array([1, 0, 3, 0, 0], np.int32), default_left=np.zeros(5, np.uint8),
        count=np.array([2, 1, 1, 1, 1]), sets=Sets.none(),
    )  # fmt: skip
    with pytest.raises(ModelFormatError, match="no path of more than 1 splits"):
        made(chain, per_tree=2)

"""A sparse table has the predictions of the same table dense, bit for bit."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse

import oracles
import spinney as sp
from forests import random_model
from spinney.errors import DataError
from spinney.model import predict
from spinney.model.kernels.sparse import find_paths
from spinney.model.predict import pack

NAMES = {"zero": 0.0, "missing": np.nan}


def stored_table(seed, rows, columns, density, absent="zero", dtype=np.float64):
    """Stored entries, some of them 0 or missing, and the dense table that they mean."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, (rows, columns)) / 2
    values[rng.random(values.shape) < 0.05] = np.nan
    row, column = np.nonzero(rng.random(values.shape) < density)
    X = sparse.csr_array((values[row, column].astype(dtype), (row, column)), shape=values.shape)
    dense = np.full(values.shape, NAMES[absent])
    dense[row, column] = values[row, column]
    return X, dense


def assert_same(model, X, dense):
    expected = oracles.raw_scores(model, dense)
    assert model.predict_raw(X).reshape(expected.shape).tolist() == expected.tolist()
    assert model.predict_leaf(X).tolist() == oracles.leaves(model, dense).tolist()


@pytest.mark.kernels
@pytest.mark.parametrize("absent", NAMES)
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("density", [0.0, 0.05, 0.3, 1.0])
def test_scores_and_leaves_are_those_of_the_oracle(absent, outputs, density):
    X, dense = stored_table(1, 19, 12, density, absent)
    assert_same(random_model(outputs, dense, outputs, absent=absent), X, dense)


@pytest.mark.kernels
@pytest.mark.parametrize("absent", NAMES)
def test_paths_are_those_of_a_row_of_absent_values(absent):
    _, dense = stored_table(0, 30, 5, 0.3, absent)
    model = random_model(3, dense, trees=9, absent=absent)
    forest, packed = model.forest, pack(model.forest)
    rest, ends = np.empty(forest.trees, np.int32), np.empty(forest.trees + 1, np.int64)
    parts = [np.empty(forest.nodes, np.int32) for _ in range(4)]
    value = NAMES[absent]
    find_paths(packed, value, rest, ends, *parts, np.empty(1))
    assert (rest // 2).tolist() == oracles.leaves(model, np.full((1, 5), value))[0].tolist()
    for t in range(forest.trees):
        tree, node, expected = forest.tree(t), 0, []
        while tree.feature[node] >= 0:
            left = tree.default_left[node] if np.isnan(value) else value <= tree.threshold[node]
            onward = int(tree.left[node]) + (not left)
            expected.append([int(tree.feature[node]), t, 2 * node, 2 * onward])
            node = onward
        found = np.stack([part[ends[t] : ends[t + 1]] for part in parts], axis=1)
        assert found.reshape(-1, 4).tolist() == expected


@hypothesis.given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.1, 0.4, 0.9]), st.integers(1, 40), st.sampled_from(list(NAMES))
)  # fmt: skip
@hypothesis.settings(max_examples=60, deadline=None)
def test_any_forest_on_any_table_has_the_predictions_of_the_dense_table(seed, density, columns, absent):
    X, dense = stored_table(seed, 37, columns, density, absent)
    model = random_model(seed, dense, trees=10, absent=absent)
    assert model.predict(X).tolist() == model.predict(dense).tolist()
    assert model.predict_leaf(X).tolist() == model.predict_leaf(dense).tolist()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, bool])
def test_every_format_and_kind_of_number_has_the_same_predictions(form, dtype):
    whole = np.nan_to_num(stored_table(2, 50, 20, 0.2)[1]).astype(dtype)
    model = random_model(0, whole.astype(float))
    given = getattr(sparse, f"{form}_array")(whole)
    assert model.predict(given).tolist() == model.predict(whole.astype(float)).tolist()
    assert model.predict_leaf(given).tolist() == model.predict_leaf(whole.astype(float)).tolist()
    assert model.predict(given.tocsr()[[7]]).tolist() == model.predict(whole[7:8].astype(float)).tolist()


def test_long_and_unsorted_indices_and_twice_stored_entries_are_added_up():
    X, dense = stored_table(3, 40, 15, 0.3)
    model = random_model(5, dense)
    twice = sparse.csr_array(
        (np.repeat(X.data / 2, 2)[::-1], np.repeat(X.indices, 2)[::-1].astype(np.int64), 2 * X.indptr.astype(np.int64)),
        shape=X.shape,
    )  # fmt: skip
    turned = sparse.csr_array(twice.toarray())
    assert model.predict(twice).tolist() == model.predict(turned.toarray()).tolist()
    assert (
        model.predict(twice[:1]).tolist()
        == model.predict(turned.toarray()[:1]).tolist()
        == model.predict(twice)[:1].tolist()
    )


def test_rows_alone_in_any_order_have_their_predictions():
    for absent in NAMES:
        X, dense = stored_table(4, 60, 30, 0.1, absent)
        model = random_model(6, dense, outputs=3, absent=absent)
        expected = model.predict(dense).tolist()
        # Rows of many entries after those of few, and of few after many.
        order = [*range(60), *range(59, -1, -1)]
        assert [model.predict(X[[i]])[0].tolist() for i in order] == [expected[i] for i in order]
        assert (
            model.predict(sparse.csr_array((1, 30))).tolist()
            == model.predict(np.full((1, 30), NAMES[absent])).tolist()
        )


def test_the_first_rounds_walk_their_own_trees_only():
    X, dense = stored_table(5, 30, 12, 0.2)
    model = random_model(7, dense, outputs=3)
    for rounds in range(model.rounds + 1):
        assert model.predict(X, rounds=rounds).tolist() == model.predict(dense, rounds=rounds).tolist()
        assert (
            model.predict(X[[3]], rounds=rounds).tolist() == model.predict(dense[3:4], rounds=rounds).tolist()
        )
        leaves = model.predict_leaf(X, rounds=rounds)
        assert leaves.tolist() == model.predict_leaf(dense, rounds=rounds).tolist()


def test_a_margin_of_each_row_is_where_its_scores_start():
    X, dense = stored_table(6, 30, 12, 0.2)
    model = random_model(8, dense)
    margin = np.linspace(-1, 1, 30)
    assert model.predict(X, base_margin=margin).tolist() == model.predict(dense, base_margin=margin).tolist()


@pytest.mark.parametrize("density", [0.02, 0.5])
def test_any_number_of_threads_gives_the_same_predictions(monkeypatch, density):
    monkeypatch.setattr(predict, "SHARE_WALKS", 0)
    X, dense = stored_table(7, 3_000, 25, density)
    model = random_model(9, dense, trees=40)
    for method in (model.predict, model.predict_leaf):
        expected = method(dense, n_jobs=1).tobytes()
        assert {method(X, n_jobs=n_jobs).tobytes() for n_jobs in (1, 2, 3, 8)} == {expected}


@pytest.mark.kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_infinite_entry_is_an_error_that_names_the_first_such_column(dtype):
    X, dense = stored_table(9, 20, 6, 0.3, dtype=dtype)
    model = random_model(11, dense)
    for columns in ([2, 4], [4, 2]):
        bad = X.tolil()
        bad[3, columns[0]], bad[15, columns[1]] = np.inf, -np.inf
        for method in (model.predict, model.predict_raw, model.predict_leaf):
            with pytest.raises(DataError, match=r"^column 2 holds an infinite value; only finite numbers"):
                method(bad.tocsr())
        with pytest.raises(DataError, match=rf"^column {columns[0]} holds an infinite value"):
            model.predict(bad.tocsr()[[3]])
    assert_same(model, X, dense)


def test_an_infinite_entry_of_a_column_that_no_tree_asks_for_is_an_error_too():
    table = np.zeros((8, 3))
    table[:, 0] = np.arange(8)
    model = sp.train({"min_child_samples": 1}, sp.Dataset(table, np.arange(8.0)), 1)
    table[5, 2] = np.inf
    for given in (sparse.csr_array(table), sparse.csr_array(table[5:6])):
        with pytest.raises(DataError, match=r"^column 2 holds an infinite value"):
            model.predict(given)

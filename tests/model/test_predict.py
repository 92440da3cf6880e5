import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import oracles
import spinney as sp
from forests import random_model
from spinney.data import Schema
from spinney.errors import DataError
from spinney.model.boosted import Model
from spinney.params import Config
from spinney.tree import Tree, concatenate

RNG = np.random.default_rng(0)
NAMES = ["a", "b", "c", "d"]
X32 = np.where(RNG.random((530, 4)) < 0.1, np.nan, RNG.normal(size=(530, 4))).astype(np.float32)
X = X32.astype(np.float64)
SIGNAL = np.nan_to_num(X[:, 0]) + np.sin(3 * np.nan_to_num(X[:, 1]))
DATA = sp.Dataset(X, SIGNAL, names=NAMES)


@pytest.fixture(scope="module")
def regression():
    return sp.train({"min_child_samples": 3}, DATA, rounds=7)


@pytest.fixture(scope="module")
def classes():
    y = np.digitize(SIGNAL, [-0.5, 0.5])
    return sp.train({"objective": "softmax", "num_class": 3, "max_leaves": 9}, sp.Dataset(X, y), rounds=5)


@pytest.mark.kernels
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, 20])
def test_scores_and_leaves_are_those_of_the_oracle(outputs, rows):
    model = random_model(rows, X, outputs)
    raw = model.predict_raw(X[:rows])
    assert raw.reshape(rows, outputs).tolist() == oracles.raw_scores(model, X[:rows]).tolist()
    leaves = model.predict_leaf(X[:rows])
    assert leaves.dtype == np.int32
    assert leaves.tolist() == oracles.leaves(model, X[:rows]).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_many_rows_have_the_scores_of_the_oracle(seed):
    model = random_model(seed, X)
    assert model.predict(X).tolist() == oracles.raw_scores(model, X)[:, 0].tolist()


def test_predictions_of_a_trained_model_are_those_of_the_oracle(regression, classes):
    assert regression.predict(X).tolist() == oracles.raw_scores(regression, X)[:, 0].tolist()
    assert classes.predict_raw(X).tolist() == oracles.raw_scores(classes, X).tolist()
    assert classes.predict_leaf(X).tolist() == oracles.leaves(classes, X).tolist()


def test_a_row_has_the_same_prediction_alone_and_in_any_batch(regression, classes):
    for model in (regression, classes):
        whole = model.predict(X)
        assert (
            np.concatenate([model.predict(X[i : i + 1]) for i in range(60)]).tolist() == whole[:60].tolist()
        )
        for size in (3, 8, 100, 256, 257):
            parts = [model.predict(X[i : i + size]) for i in range(0, len(X), size)]
            assert np.concatenate(parts).tolist() == whole.tolist()
        assert model.predict(X[::-1]).tolist() == whole[::-1].tolist()


def test_any_number_of_threads_gives_the_same_predictions(regression, classes):
    many = np.tile(X, (20, 1))
    for model in (regression, classes):
        for method in (model.predict, model.predict_leaf):
            assert len({method(many, n_jobs=n_jobs).tobytes() for n_jobs in (1, 2, 3, 8)}) == 1


def test_the_first_rounds_are_a_model_of_their_own(regression, classes):
    for model in (regression, classes):
        for rounds in range(model.rounds + 1):
            forest = model.forest.first(rounds * model.outputs)
            schema = Schema(model.feature_names, model.n_features)
            short = Model(forest, model.base_score, model.objective, model.params, schema)
            assert model.predict(X, rounds=rounds).tolist() == short.predict(X).tolist()
            assert model.predict_leaf(X, rounds=rounds).tolist() == short.predict_leaf(X).tolist()


def test_missing_values_go_the_default_way():
    def stump(default_left):
        return Tree(
            feature=np.array([0, -1, -1], np.int32), threshold=np.zeros(3), left=np.array([1, 0, 0], np.int32),
            default_left=np.array([default_left, 0, 0], np.uint8), value=np.array([0.0, -1.0, 1.0]),
            gain=np.zeros(3), cover=np.zeros(3), count=np.zeros(3, np.int64),
        )  # fmt: skip

    for default_left in (0, 1):
        schema = Schema(None, 1)
        model = Model(concatenate([stump(default_left)]), np.zeros(1), "squared_error", Config(), schema)
        expected = [-1.0, -1.0, 1.0, -1.0 if default_left else 1.0]
        assert model.predict([[-5.0], [-0.0], [5e-324], [np.nan]]).tolist() == expected
        assert model.predict(np.full((20, 1), np.nan)).tolist() == [expected[-1]] * 20


def test_float32_values_are_compared_as_the_numbers_they_are(regression):
    assert regression.predict(X32).tolist() == regression.predict(X).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_layout_of_a_table_does_not_matter(regression, tmp_path, dtype):
    table = X.astype(dtype)
    expected = regression.predict(X).tolist()
    np.save(tmp_path / "x.npy", table)
    wide = np.zeros((1060, 12), dtype)
    wide[::2, 1::3] = table
    locked = table.copy()
    locked.flags.writeable = False
    for given in (
        np.asfortranarray(table), wide[::2, 1::3], table[::-1].copy()[::-1], table[:, ::-1].copy()[:, ::-1], locked,
        np.load(tmp_path / "x.npy", mmap_mode="r"), table.tolist(), table.astype(object),
        table.astype(table.dtype.newbyteorder()),
    ):  # fmt: skip
        assert regression.predict(given).tolist() == expected


def test_frames_give_the_same_predictions_in_any_order_of_columns(regression):
    expected = regression.predict(X).tolist()
    columns = {name: X[:, j] for j, name in enumerate(NAMES)}
    shuffled = {name: columns[name] for name in ("c", "a", "d", "b")}
    for given in (columns, shuffled):
        for make in (pd.DataFrame, pl.DataFrame, pa.table):
            assert regression.predict(make(given)).tolist() == expected
    assert regression.predict(pl.DataFrame(shuffled, nan_to_null=True)).tolist() == expected


def test_integers_are_compared_as_the_numbers_they_are(regression):
    whole = RNG.integers(-3, 4, (50, 4))
    assert regression.predict(whole).tolist() == regression.predict(whole.astype(float)).tolist()
    mixed = pd.DataFrame({"a": whole[:, 0], "b": whole[:, 1] > 0, "c": X32[:50, 2], "d": X[:50, 3]})
    floats = np.column_stack([whole[:, 0], whole[:, 1] > 0, X[:50, 2], X[:50, 3]]).astype(float)
    assert regression.predict(mixed).tolist() == regression.predict(floats).tolist()


def test_columns_missing_or_unknown_are_refused_by_name(regression):
    frame = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(DataError, match=r"(?s)yet now missing:\n- b\n"):
        regression.predict(frame.drop(columns="b"))
    with pytest.raises(DataError, match=r"(?s)unseen at fit time:\n- e\n"):
        regression.predict(frame.assign(e=1.0))
    with pytest.raises(DataError, match=r"(?s)unseen at fit time:\n- B\n.*yet now missing:\n- b\n"):
        regression.predict(frame.rename(columns={"b": "B"}))
    with pytest.raises(DataError, match="X has 3 features, but this model is expecting 4 features"):
        regression.predict(X[:, :3])


@pytest.mark.kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_infinite_value_is_an_error_that_names_its_column(dtype, value):
    model = random_model(1, X)
    table = X[:12].astype(dtype)
    table[9, 2] = value
    for method in (model.predict, model.predict_raw, model.predict_leaf):
        with pytest.raises(
            DataError, match=r"^column 2 holds an infinite value; only finite numbers and NaN"
        ):
            method(table)
        with pytest.raises(DataError, match=r'^column "c" holds an infinite value'):
            method(pd.DataFrame(table, columns=NAMES))


@pytest.mark.parametrize("columns", [[1, 3], [3, 1]])
def test_of_several_infinite_columns_the_first_is_named(columns):
    model = random_model(1, X)
    table = np.zeros((10, 4))
    table[2, columns[0]] = table[7, columns[1]] = np.inf
    with pytest.raises(DataError, match=r"^column 1 holds an infinite value"):
        model.predict(table)


def test_a_table_of_one_dimension_is_refused(regression):
    with pytest.raises(DataError, match="Expected 2D array, got 1D array"):
        regression.predict(X[0])


def test_predictions_belong_to_the_caller(regression):
    first = regression.predict(X)
    first[:] = 0.0
    assert regression.predict(X).any()


def test_a_model_read_from_a_file_predicts_the_same_bits(regression, classes, tmp_path):
    for model in (regression, classes):
        model.save(tmp_path / "model.safetensors")
        again = sp.load(tmp_path / "model.safetensors")
        assert again.predict(X).tobytes() == model.predict(X).tobytes()
        assert again.predict_leaf(X).tobytes() == model.predict_leaf(X).tobytes()

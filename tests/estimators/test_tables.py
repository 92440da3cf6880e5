"""Tables of every kind, column names, and memory."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.exceptions import DataConversionWarning

import spinney as sp
from spinney.errors import DataError, DataTypeError

NAMES = ["age", "height", "weight", "speed"]
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_gives_the_model_of_its_array_and_its_names(kind, table, two):
    frame = FRAMES[kind](table)
    model = sp.GBMClassifier(n_estimators=5).fit(frame, two)
    plain = sp.GBMClassifier(n_estimators=5).fit(table, two)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.model_.feature_names == tuple(NAMES)
    np.testing.assert_array_equal(model.predict_proba(frame), plain.predict_proba(table))
    assert not hasattr(plain, "feature_names_in_")


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_in_another_order_are_an_error(kind, table, numbers):
    frame = FRAMES[kind](table)
    model = sp.GBMRegressor(n_estimators=2).fit(frame, numbers)
    turned = frame[NAMES[::-1]] if kind == "pandas" else frame.select(NAMES[::-1])
    advice = r"in the same order as they were in fit.\n`model_.predict` takes named columns in any order"
    with pytest.raises(DataError, match=advice):
        model.predict(turned)
    with pytest.raises(DataError, match=advice):
        next(model.staged_predict(turned))
    np.testing.assert_array_equal(model.model_.predict(turned), model.predict(frame))
    with pytest.raises(DataError, match=r"eval_set: .*\n.* same order as they were in fit\.$"):
        model.fit(frame, numbers, eval_set=(turned, numbers))


def test_columns_of_other_names_are_an_error(table, numbers):
    frame = FRAMES["pandas"](table)
    model = sp.GBMRegressor(n_estimators=2).fit(frame, numbers)
    with pytest.raises(DataError, match=r"unseen at fit time:\n- mass\n.*now missing:\n- weight$"):
        model.predict(frame.rename(columns={"weight": "mass"}))
    with pytest.raises(DataError, match=r"now missing:\n- weight$"):
        model.predict(frame.drop(columns="weight"))
    with pytest.raises(DataError, match=r"unseen at fit time:\n- mass$"):
        model.predict(frame.assign(mass=1.0))


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_two_columns_of_one_name_are_an_error(kind, table, numbers):
    twice = {
        "pandas": lambda: pd.DataFrame(table, columns=["age", "height", "age", "speed"]),
        "pyarrow": lambda: pa.Table.from_arrays(list(table.T), names=["age", "height", "age", "speed"]),
    }[kind]()
    model = sp.GBMRegressor(n_estimators=2).fit(FRAMES[kind](table), numbers)
    for use in (model.predict, lambda X: next(model.staged_predict(X)), lambda X: model.fit(X, numbers)):
        with pytest.raises(DataError, match=r"^X has more than one column"):
            use(twice)
    with pytest.raises(DataError, match="eval_set: X has more than one column"):
        model.fit(FRAMES[kind](table), numbers, eval_set=(twice, numbers))


def test_names_of_two_kinds_are_an_error(table, numbers):
    with pytest.raises(DataTypeError, match="X has \\['int', 'str'\\] as column name types"):
        sp.GBMRegressor().fit(pd.DataFrame(table, columns=["age", 1, 2, 3]), numbers)


def test_names_are_forgotten_when_fitted_without_them(table, numbers):
    model = sp.GBMRegressor(n_estimators=2).fit(FRAMES["pandas"](table), numbers)
    model.fit(table, numbers)
    assert not hasattr(model, "feature_names_in_")


def test_a_missing_name_is_warned_of(table, numbers):
    model = sp.GBMRegressor(n_estimators=2).fit(FRAMES["polars"](table), numbers)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(table)


def test_a_frame_may_stand_in_eval_set(table, numbers):
    frame = FRAMES["pandas"](table)
    model = sp.GBMRegressor(n_estimators=3).fit(
        frame[:150], numbers[:150], eval_set=(frame[150:], numbers[150:])
    )
    assert len(model.evals_result_["validation_0"]["rmse"]) == 3
    with pytest.raises(DataError, match="eval_set: The feature names should match"):
        model.fit(frame, numbers, eval_set=(frame.rename(columns={"age": "years"}), numbers))


def test_a_frame_of_several_types_is_read_once_for_all(table, two):
    frame = FRAMES["pandas"](table).assign(speed=np.arange(200), flag=table[:, 1] > 0)
    model = sp.GBMClassifier(n_estimators=3, validation_fraction=0.2).fit(frame, two)
    assert model.n_features_in_ == 5
    assert model.predict(frame).shape == (200,)


@pytest.mark.parametrize("container", [list, tuple])
def test_rows_in_lists_are_a_table(container, table, numbers):
    rows = container(container(row) for row in table.tolist())
    model = sp.GBMRegressor(n_estimators=3).fit(rows, container(numbers))
    np.testing.assert_array_equal(model.predict(rows), model.predict(table))
    with pytest.raises(DataError, match="X has 3 features, but GBMRegressor is expecting 4 features"):
        model.predict([row[:3] for row in table.tolist()])


@pytest.mark.parametrize("rows", [0, 1, 200])
def test_too_few_columns_are_an_error_of_ours_with_or_without_rows(rows, table, numbers):
    model = sp.GBMRegressor(n_estimators=2).fit(table, numbers)
    for use in (model.predict, lambda X: next(model.staged_predict(X))):
        with pytest.raises(DataError, match=r"^X has 3 features, but GBMRegressor is expecting 4 features"):
            use(table[:rows, :3])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.bool_])
def test_other_numbers_are_a_table(dtype, table, numbers):
    X = np.nan_to_num(table).astype(dtype)
    model = sp.GBMRegressor(n_estimators=3).fit(X, numbers)
    np.testing.assert_array_equal(model.predict(X), model.predict(X.astype(np.float64)))


def test_infinite_values_are_an_error_that_names_the_column(table, numbers):
    frame = FRAMES["pandas"](table)
    infinite = frame.assign(weight=np.inf)
    with pytest.raises(DataError, match='column "weight" holds an infinite value'):
        sp.GBMRegressor().fit(infinite, numbers)
    with pytest.raises(DataError, match='column "weight" holds an infinite value'):
        sp.GBMRegressor(n_estimators=2).fit(frame, numbers).predict(infinite)


def test_one_dimension_is_an_error_that_says_what_to_do(table, numbers):
    model = sp.GBMRegressor(n_estimators=2).fit(table, numbers)
    with pytest.raises(ValueError, match="Reshape your data"):
        model.predict(table[0])
    with pytest.raises(ValueError, match="Reshape your data"):
        model.fit(table[:, 0], numbers)


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_a_target_of_one_column_is_warned_of(kind, table, two):
    with pytest.warns(DataConversionWarning, match="column-vector y") as caught:
        kind(n_estimators=2).fit(table, two.reshape(-1, 1))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_a_sparse_target_is_refused_without_a_warning(kind, table, two, recwarn):
    with pytest.raises(DataTypeError, match=r"^y is a SciPy sparse csr_array; only a table may be sparse"):
        kind().fit(table, scipy.sparse.csr_array(two.reshape(-1, 1)))
    assert not recwarn.list


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_a_missing_target_is_an_error(kind, table):
    with pytest.raises(DataError, match="requires y to be passed"):
        kind().fit(table, None)


def test_the_users_arrays_are_not_copied(table, numbers, monkeypatch):
    seen = []

    class Spy(sp.Dataset):
        def __init__(self, X, *args, **options):
            seen.append(X)
            super().__init__(X, *args, **options)

    monkeypatch.setattr("spinney.estimators.boosting.Dataset", Spy)
    X = np.asfortranarray(table, dtype=np.float32)
    frame = pd.DataFrame(X, columns=NAMES, copy=False)
    for given in (X, frame):
        sp.GBMRegressor(n_estimators=2).fit(given, numbers, eval_set=(given[:50], numbers[:50]))
    assert len(seen) == 4
    assert all(np.shares_memory(panel.values, X) for read in seen for panel in read.panels)

"""Going on from a model."""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import spinney as sp
from spinney.errors import DataError, ModelFormatError, ParameterError, ParameterTypeError

RNG = np.random.default_rng(11)
ROWS = 400
X = np.where(RNG.random((ROWS, 5)) < 0.05, np.nan, RNG.normal(size=(ROWS, 5)))
NOISE = RNG.normal(size=ROWS)
Y = np.nan_to_num(X[:, 0]) ** 2 + np.nan_to_num(X[:, 1]) + 0.3 * NOISE
CLASSES = np.digitize(Y, [0.5, 1.5]).astype(float)
WEIGHT = RNG.integers(0, 4, ROWS) * 0.5
MARGIN = RNG.normal(size=ROWS)
TOWNS = np.array(["Oslo", "Rome", "Bern", "Bonn", "Kiel", "Linz", None], object)[RNG.integers(0, 7, ROWS)]
FRAME = pd.DataFrame({"size": X[:, 0], "town": TOWNS, "age": X[:, 1]})
SPARSE = sparse.csr_array(np.where(RNG.random((ROWS, 30)) < 0.1, RNG.normal(size=(ROWS, 30)), 0.0))
SMALL = {"max_leaves": 6, "min_child_samples": 5}

TRAININGS = {
    "plain": ({}, {}),
    "subsample": ({"subsample": 0.5}, {}),
    "columns drawn": ({"colsample_bytree": 0.6, "colsample_bylevel": 0.7, "colsample_bynode": 0.7}, {}),
    "weights, some of them 0": ({}, {"weight": WEIGHT}),
    "weights and subsample": ({"subsample": 0.7}, {"weight": WEIGHT}),
    "margin": ({}, {"base_margin": MARGIN}),
    "goss": ({"sampling_method": "goss", "learning_rate": 0.25}, {}),
    "gradient based, leaves of all rows": (
        {"sampling_method": "gradient_based", "subsample": 0.5, "leaf_values": "all"},
        {},
    ),
    "two classes": ({"objective": "log_loss", "scale_pos_weight": 2.0}, {"y": (Y > 1).astype(float)}),
    "three classes": ({"objective": "softmax", "num_class": 3, "subsample": 0.8}, {"y": CLASSES}),
    "exact": ({"tree_method": "exact", "subsample": 0.7}, {}),
    "approx": ({"tree_method": "approx"}, {}),
    "local": ({"tree_method": "approx", "proposal": "local"}, {}),
    "categories": ({"colsample_bytree": 0.7}, {"X": FRAME}),
    "sparse": ({}, {"X": SPARSE}),
    "absent is missing": ({}, {"X": SPARSE, "absent": "missing"}),
    "float32": ({}, {"X": X.astype(np.float32)}),
    "monotone": ({"monotone_constraints": [1, 0, 0, 0, -1]}, {}),
}


def dataset(**given):
    return sp.Dataset(given.pop("X", X), given.pop("y", Y), **given)


@pytest.mark.parametrize("name", TRAININGS)
def test_going_on_gives_the_bytes_of_one_training(name):
    params, given = TRAININGS[name]
    params = SMALL | params
    whole = sp.train(params, dataset(**given), 9)
    first = sp.train(params, dataset(**given), 5)
    assert first.rounds == 5
    assert sp.train(params, dataset(**given), 4, init_model=first).to_bytes() == whole.to_bytes()


def test_the_same_data_set_goes_on_with_any_number_of_threads():
    data = dataset()
    first = sp.train(SMALL, data, 3)
    whole = sp.train(SMALL, dataset(), 6)
    for threads in (1, 3):
        assert sp.train(SMALL | {"n_jobs": threads}, data, 3, init_model=first) == whole


def test_metrics_and_the_best_round_go_on():
    params = SMALL | {"objective": "log_loss", "learning_rate": 0.5, "early_stopping_rounds": 3}
    y = (Y + NOISE > 1).astype(float)
    train = dataset(X=X[:300], y=y[:300])
    valid = dataset(X=X[300:], y=y[300:], reference=train)
    whole, later = sp.History(), sp.History()
    full = sp.train(params, train, 60, valid={"train": train, "test": valid}, callbacks=[whole])
    start = 2
    assert start < full.best_round
    first = sp.train(params | {"early_stopping_rounds": None}, train, start)
    on = sp.train(
        params, train, 60 - start, valid={"train": train, "test": valid}, callbacks=[later], init_model=first
    )
    assert on.to_bytes() == full.to_bytes()
    for name in ("train", "test"):
        assert later.evals[name]["logloss"] == whole.evals[name]["logloss"][start:]


def test_training_goes_on_from_the_best_round():
    params = SMALL | {"learning_rate": 0.9, "early_stopping_rounds": 3}
    train = dataset(X=X[:200], y=Y[:200])
    stopped = sp.train(params, train, 60, valid={"test": dataset(X=X[200:], y=Y[200:], reference=train)})
    assert stopped.best_round < stopped.rounds
    on = sp.train(params | {"early_stopping_rounds": None}, train, 2, init_model=stopped)
    assert on.rounds == stopped.best_round + 2
    assert on.best_round is None
    np.testing.assert_array_equal(on.predict(X, rounds=stopped.best_round), stopped.predict(X))


def test_other_rows_start_from_the_scores_of_the_model():
    first = sp.train(SMALL, dataset(X=X[:200], y=Y[:200]), 4)
    later = dataset(X=X[200:], y=Y[200:])
    on = sp.train(SMALL, later, 3, init_model=first)
    np.testing.assert_array_equal(on.predict(X, rounds=4), first.predict(X))
    np.testing.assert_array_equal(on.base_score, first.base_score)
    # The new trees are those of a training that is given the model's scores as margins, but for their seeds.
    margin = first.predict_raw(X[200:])
    twin = sp.train(SMALL, dataset(X=X[200:], y=Y[200:], base_margin=margin), 3)
    np.testing.assert_array_equal(on.predict_raw(X[200:]), twin.predict_raw(X[200:], base_margin=margin))


def test_no_more_rounds_leave_the_model_as_it_is():
    first = sp.train(SMALL, dataset(), 3)
    assert sp.train(SMALL, dataset(), 0, init_model=first) == first
    nothing = sp.train(SMALL, dataset(), 0)
    assert sp.train(SMALL, dataset(), 3, init_model=nothing) == first


def test_a_file_and_an_estimator_are_gone_on_from(tmp_path):
    first = sp.train(SMALL, dataset(), 3)
    whole = sp.train(SMALL, dataset(), 5)
    first.save(tmp_path / "first.safetensors")
    fitted = sp.GBMRegressor(n_estimators=3, **SMALL).fit(X, Y)
    for start in (tmp_path / "first.safetensors", str(tmp_path / "first.safetensors"), fitted):
        assert sp.train(SMALL, dataset(), 2, init_model=start) == whole


def test_callbacks_count_the_rounds_of_the_model():
    first = sp.train(SMALL, dataset(), 3)
    told, begun = [], []

    class Listener:
        def begin(self, rounds):
            begun.append(rounds)

        def __call__(self, info):
            told.append((info.round, info.rounds, info.start, info.first))

    sp.train(SMALL, dataset(), 2, init_model=first, callbacks=[Listener()])
    assert begun == [5]
    assert told == [(4, 5, 3, True), (5, 5, 3, False)]


def test_a_history_that_another_callback_calls_starts_anew():
    history, data = sp.History(), dataset()
    first = sp.train(SMALL, data, 3, valid={"train": data}, callbacks=[lambda info: history(info)])
    sp.train(SMALL, data, 2, valid={"train": data}, callbacks=[lambda info: history(info)], init_model=first)
    assert len(history.evals["train"]["rmse"]) == 2


def test_rows_of_other_categories_are_read_as_the_model_read_its_own():
    early = pd.DataFrame({"town": ["Oslo"] * 60 + ["Rome"] * 50 + ["Bern"] * 40, "size": X[:150, 0]})
    late = pd.DataFrame({"size": X[150:300, 0], "town": ["Bern"] * 70 + ["Rome"] * 50 + ["Graz"] * 30})
    first = sp.train(SMALL, sp.Dataset(early, Y[:150]), 3)
    with pytest.raises(
        DataError, match=r"column 0 of the data set is 'size'.*'town'; give columns in its order"
    ):
        sp.train(SMALL, sp.Dataset(late, Y[150:300]), 3, init_model=first)
    in_order = late[["town", "size"]]
    with pytest.raises(DataError, match=r"column 'town' has other categories.*schema=init_model\.schema"):
        sp.train(SMALL, sp.Dataset(in_order, Y[150:300]), 3, init_model=first)
    data = sp.Dataset(late, Y[150:300], schema=first.schema)
    on = sp.train(SMALL, data, 3, init_model=first)
    assert on.schema == first.schema
    np.testing.assert_array_equal(on.predict(late, rounds=3), first.predict(late))
    margin = first.predict_raw(late)
    twin = sp.Dataset(late, Y[150:300], schema=first.schema, base_margin=margin)
    np.testing.assert_array_equal(
        on.predict_raw(late), sp.train(SMALL, twin, 3).predict_raw(late, base_margin=margin)
    )


def test_a_schema_needs_no_reference_and_must_be_one():
    data = dataset()
    with pytest.raises(ParameterError, match="schema is given beside reference"):
        sp.Dataset(X, Y, reference=data, schema=data.schema)
    with pytest.raises(TypeError, match="schema must be the schema of a model, got Model"):
        sp.Dataset(X, Y, schema=sp.train(SMALL, data, 0))
    with pytest.raises(DataError, match="X has 2 features"):
        sp.Dataset(X[:, :2], Y, schema=data.schema)


def model(params=(), **given):
    return sp.train(SMALL | dict(params), dataset(**given), 1)


REFUSED = {
    "objective": (
        {"objective": "log_loss"},
        {"y": CLASSES / 2},
        "objective='log_loss' differs from init_model's",
    ),
    "absent": ({}, {"absent": "missing"}, "absent='missing' differs from init_model's 'zero'"),
    "base score": ({"base_score": 5.0}, {}, "base_score=5 differs from that of init_model"),
    "columns": ({}, {"X": X[:, :4]}, "init_model has 5 columns, but the data set has 4"),
    "categories": ({}, {"X": X[:, :4].round().astype(object)}, "init_model has 5 columns"),
    "kinds": (
        {},
        {"X": np.nan_to_num(X).round(), "categorical": [2]},
        "column 2 is one of numbers in init_model, but categorical in the data set",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_training_of_another_kind_is_refused(name):
    params, given, message = REFUSED[name]
    with pytest.raises((ParameterError, DataError), match=message):
        sp.train(SMALL | params, dataset(**given), 1, init_model=model())


def test_other_classes_are_refused():
    first = model({"objective": "softmax", "num_class": 3}, y=CLASSES)
    with pytest.raises(ParameterError, match="num_class=4 differs from init_model's 3"):
        sp.train({"objective": "softmax", "num_class": 4}, dataset(y=CLASSES), 1, init_model=first)


def test_other_names_are_refused():
    first = model(X=FRAME[["size", "age"]])
    with pytest.raises(
        DataError, match="column 1 of the data set is 'age2', but that of init_model is 'age'"
    ):
        sp.train(
            SMALL, dataset(X=FRAME[["size", "age"]].rename(columns={"age": "age2"})), 1, init_model=first
        )


@pytest.mark.parametrize("given", [3, b"model", sp.GBMRegressor, {}])
def test_what_is_no_model_is_refused(given):
    with pytest.raises(
        ParameterTypeError, match="init_model must be a Model, a fitted estimator or the path"
    ):
        sp.train(SMALL, dataset(), 1, init_model=given)


def test_an_estimator_that_is_not_fitted_is_refused():
    with pytest.raises(ParameterTypeError, match="not a GBMRegressor that is not fitted"):
        sp.train(SMALL, dataset(), 1, init_model=sp.GBMRegressor())


def test_a_file_that_is_none_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    with pytest.raises(FileNotFoundError):
        sp.train(SMALL, dataset(), 1, init_model=path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ModelFormatError):
        sp.train(SMALL, dataset(), 1, init_model=path)


@pytest.mark.parametrize("name", ["plain", "three classes", "categories", "sparse", "weights and subsample"])
def test_a_table_that_is_gone_is_not_needed_where_the_cuts_are_the_same(name):
    params, given = TRAININGS[name]
    params, given = SMALL | params, given | {"X": given.get("X", X).copy()}
    data = dataset(**given)
    rest = data.rows // 2
    valid = sp.Dataset(given["X"][:rest], given.get("y", Y)[:rest], reference=data)
    whole = sp.train(params, data, 5, valid={"valid": valid})
    del given
    first = sp.train(params, data, 3, valid={"valid": valid})
    history = sp.History()
    assert not data.has_table
    assert sp.train(params, data, 2, valid={"valid": valid}, init_model=first, callbacks=[history]) == whole


def test_a_table_that_is_gone_is_asked_for_where_the_cuts_differ():
    first = sp.train(SMALL, sp.Dataset(X, Y), 2)
    other = sp.Dataset(X + 0.25, Y)
    sp.train(SMALL, other, 1)
    with pytest.raises(DataError, match="init_model, need the table of dataset, which is gone"):
        sp.train(SMALL, other, 2, init_model=first)
    kept = sp.Dataset(X + 0.25, Y, keep_table=True)
    sp.train(SMALL, kept, 1)
    on = sp.train(SMALL, kept, 2, init_model=first)
    assert on == sp.train(SMALL, sp.Dataset(X + 0.25, Y), 2, init_model=first)


def test_scores_beyond_what_can_be_trained_on_are_refused():
    first = model()
    forest = first.forest
    far = sp.Model(
        type(forest)(**{**vars(forest), "value": np.full_like(forest.value, 1e300)}),
        first.base_score, first.objective, first.params, first.schema,
    )  # fmt: skip
    with pytest.raises(DataError, match="init_model gives rows of dataset scores beyond"):
        sp.train(SMALL, dataset(), 1, init_model=far)


def test_the_metric_to_beat_is_that_of_the_model_gone_on_from():
    params = SMALL | {"learning_rate": 0.9, "early_stopping_rounds": 3}
    train = dataset(X=X[:200], y=Y[:200], keep_table=True)
    late = sp.Dataset(X[200:], Y[200:], reference=train, keep_table=True)
    heard = []
    old = sp.train(params, train, 40, valid={"late": late}, callbacks=[heard.append])
    assert old.best_round < old.rounds < 40
    values = [info.evals["late"]["rmse"] for info in heard]
    assert all(info.before == {} for info in heard)
    heard.clear()
    on = sp.train(params, train, 40, valid={"late": late}, init_model=old, callbacks=[heard.append])
    assert (on.best_round, on.rounds) == (old.best_round, old.rounds)
    assert on.to_bytes() == old.to_bytes()
    assert {info.before["late"]["rmse"] for info in heard} == {min(values)}
    assert copy.copy(heard[0]).before == heard[0].before


def test_without_validation_data_nothing_is_judged_before():
    train = dataset()
    old, heard = sp.train(SMALL, train, 2), []
    sp.train(SMALL, train, 1, init_model=old, callbacks=[heard.append])
    assert heard[0].before == {}

import numpy as np
import pytest

import spinney as sp
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError, SpinneyError

X = np.arange(20.0).reshape(10, 2)
Y = np.arange(10.0) % 2
DATA = sp.Dataset(X, Y)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_leaf": 3, "num_leaves": 4}, ParameterError, "max_leaves"),
        ({"learning_rat": 0.1}, ParameterError, "learning_rat.*did you mean.*learning_rate"),
        ({"learning_rate": -1}, ParameterError, "learning_rate=-1"),
        ({"learning_rate": "fast"}, ParameterTypeError, "learning_rate='fast'"),
        ({"max_leaves": 1}, ParameterError, "max_leaves=1 is not allowed"),
        ({"objective": "median"}, ParameterError, "objective='median' is unknown"),
        ({"objective": "softmax"}, ParameterError, "num_class=0 contradicts objective='softmax'"),
        ({"num_class": 3}, ParameterError, "num_class=3 contradicts objective='squared_error'"),
        ({"scale_pos_weight": 2.0}, ParameterError, "scale_pos_weight=2.0 needs objective='log_loss'"),
        (
            {"eval_metric": "accuracy"},
            ParameterError,
            "eval_metric='accuracy' does not fit objective='squared_error'",
        ),
        ({"tree_method": "fast"}, ParameterError, "tree_method='fast' is unknown"),
        (
            {"max_bin": 63},
            ParameterError,
            "max_bin = 63 differs from the Dataset's 255; give it to Dataset only",
        ),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0 is not allowed"),
        ({"subsample": 0.0}, ParameterError, "subsample=0.0 is out of range"),
        ({"early_stopping_rounds": 3}, ParameterError, "early_stopping_rounds needs validation data"),
        (None, ParameterTypeError, "None"),
        ([("max_leaves", 3)], ParameterTypeError, "list"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params, error, message):
    with pytest.raises(error, match=message):
        sp.train(params, DATA, rounds=1)


@pytest.mark.parametrize("rounds", [True, np.True_, 1.5, np.array([2])])
def test_rounds_must_be_a_whole_number(rounds):
    with pytest.raises(ParameterTypeError, match=r"^rounds=.* must be (an int|a whole number)"):
        sp.train({}, DATA, rounds=rounds)


@pytest.mark.parametrize("rounds", [-1, -1.0, np.nan, np.inf, 1e300])
def test_rounds_must_not_be_negative_nor_infinite(rounds):
    with pytest.raises(ParameterError, match=r"^rounds=.* must be"):
        sp.train({}, DATA, rounds=rounds)


@pytest.mark.parametrize("rounds", [2.0, np.float32(2), np.int8(2)])
def test_rounds_may_be_a_whole_number_of_any_kind(rounds):
    model = sp.train({}, DATA, rounds=rounds)
    assert model == sp.train({}, DATA, rounds=2)
    assert model.predict(X, rounds=rounds).tolist() == model.predict(X).tolist()
    assert sp.GBMRegressor(n_estimators=rounds).fit(X, Y).model_.rounds == 2


@pytest.mark.parametrize(("data", "kind"), [(X, "ndarray"), (None, "NoneType"), ([[1.0]], "list")])
def test_only_a_data_set_can_be_trained_on(data, kind):
    with pytest.raises(DataTypeError, match=f"dataset must be a spinney.Dataset, got {kind}"):
        sp.train({}, data)


def test_a_data_set_without_target_cannot_be_trained_on():
    with pytest.raises(DataError, match="dataset has no target: give y to Dataset"):
        sp.train({}, sp.Dataset(X))


@pytest.mark.parametrize(
    ("valid", "error", "message"),
    [
        ([DATA], DataTypeError, "valid must map names to Datasets, got list"),
        (DATA, DataTypeError, "valid must map names to Datasets, got Dataset"),
        ({"test": X}, DataTypeError, r"valid\['test'\] must be a spinney.Dataset, got ndarray"),
        ({"test": sp.Dataset(X * 2, Y)}, DataError, r"valid\['test'\] was binned apart.*reference=dataset"),
        ({"test": sp.Dataset(X, reference=DATA)}, DataError, r"valid\['test'\] has no target"),
    ],
)
def test_validation_data_that_cannot_be_used_are_refused(valid, error, message):
    with pytest.raises(error, match=message):
        sp.train({}, DATA, rounds=1, valid=valid)


def test_validation_labels_are_checked_too():
    other = sp.Dataset(X, Y + 1, reference=DATA)
    with pytest.raises(DataError, match=r"log_loss needs labels 0 and 1 .*, got y\[1\] = 2"):
        sp.train({"objective": "log_loss"}, DATA, rounds=1, valid={"test": other})


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({"objective": "log_loss"}, Y * 2, r"log_loss needs labels 0 and 1 .*, got y\[1\] = 2"),
        ({"objective": "log_loss"}, np.ones(10), "all are of one class"),
        ({"objective": "softmax", "num_class": 2}, Y * 2, r"needs labels 0 to 1, got y\[1\] = 2"),
        ({"objective": "softmax", "num_class": 4}, Y, "class 2 has no row with a weight above 0"),
        ({}, np.full(10, 1e300), r"y\[0\] = 1e\+300 is too large to train on"),
    ],
)
def test_targets_that_do_not_fit_the_objective_are_refused(params, y, message):
    with pytest.raises(DataError, match=message):
        sp.train(params, sp.Dataset(X, y), rounds=1)


def test_a_base_margin_must_have_a_column_for_each_output():
    params = {"objective": "softmax", "num_class": 2}
    with pytest.raises(DataError, match="base_margin of dataset has 1 columns, but there are 2 outputs"):
        sp.train(params, sp.Dataset(X, Y, base_margin=np.zeros(10)), rounds=1)
    with pytest.raises(DataError, match="base_margin of dataset has 2 columns, but there are 1 outputs"):
        sp.train({}, sp.Dataset(X, Y, base_margin=np.zeros((10, 2))), rounds=1)
    other = sp.Dataset(X, Y, base_margin=np.zeros((10, 2)), reference=DATA)
    with pytest.raises(
        DataError, match=r"base_margin of valid\['test'\] has 2 columns, but there are 1 outputs"
    ):
        sp.train({}, DATA, rounds=1, valid={"test": other})


@pytest.mark.parametrize("base_score", [1e39, -1e300])
def test_a_base_score_too_far_for_gradients_is_refused(base_score):
    with pytest.raises(SpinneyError, match="base_score"):
        sp.train({"base_score": base_score}, DATA, rounds=1)


def test_a_lone_class_can_be_trained_on_from_a_given_start():
    ones = sp.Dataset(X, np.ones(10))
    model = sp.train({"objective": "log_loss", "base_score": 0.0}, ones, rounds=20)
    assert model.predict(X).min() > 0.5

"""What is said about columns: refused before any work where it is wrong, kept in the model where it is right."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError
from spinney.training import driver, growers

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(300, 3)), columns=["age", "height", "weight"])
FRAME["kind"] = pd.Categorical(RNG.choice(["x", "y", "z"], 300))
Y = FRAME["age"] - FRAME["height"] ** 2
DATA = sp.Dataset(FRAME, Y)
PLAIN = sp.Dataset(FRAME[["age", "height"]].to_numpy(), Y)
ALL = {
    "monotone_constraints": {"age": 1, "height": -1},
    "interaction_constraints": [["age", "kind"], ["age", "height"]],
    "feature_weights": {"weight": 0.25, "kind": 3},
    "colsample_bynode": 0.5,
    "reg_alpha": 0.01,
    "max_delta_step": 0.9,
    "gamma": 0.001,
}

WRONG = {
    "too few directions": ({"monotone_constraints": [1, 0]}, "has 2 values, but there are 4 columns"),
    "too many directions": ({"monotone_constraints": "(1,0,0,0,0)"}, "has 5 values, but there are 4 columns"),
    "an unknown column": ({"monotone_constraints": {"hight": 1}}, "unknown column 'hight'; the columns are"),
    "a column twice": ({"monotone_constraints": {"age": 1, 0: 1}}, "names column 'age' twice"),
    "a position beyond": (
        {"monotone_constraints": {4: 1}},
        "column 4, but there are 4 columns: .* from 0 to 3",
    ),
    "a negative position": ({"monotone_constraints": {-1: 1}}, "positions count from 0"),
    "a direction of 2": ({"monotone_constraints": [2, 0, 0, 0]}, "a value must be -1, 0 or 1"),
    "half a direction": ({"monotone_constraints": {"age": 0.5}}, "a value must be -1, 0 or 1"),
    "a direction of NaN": ({"monotone_constraints": [float("nan"), 0, 0, 0]}, "a value must be -1, 0 or 1"),
    "two spellings": ({"mc": [1, 0, 0, 0], "monotone_constraints": [1, 0, 0, 0]}, "give only one"),
    "words": ({"monotone_constraints": "up"}, r"written like '\(1,0,-1\)'"),
    **{
        f"the text {text!r}": ({"monotone_constraints": text}, r"written like '\(1,0,-1\)' or '1,0,-1'")
        for text in (
            "(1,0,-1,0",
            "1,0,-1,0)",
            "[1,0,-1,0)",
            "([1,0,-1,0])",
            "((1,0,0,0))",
            "(1,,0,0)",
            "1,0,0,0,",
            "(",
            "1 0 0 0",
            "(\u0661,0,0,0)",
            "(0_1,0,0,0)",
        )
    },
    "a mixture": ({"monotone_constraints": [1, ("age", 1)]}, "mixes values by position with values by name"),
    "categories in order": ({"monotone_constraints": {"kind": 1}}, "column 'kind', which is categorical"),
    "an empty group": ({"interaction_constraints": [["age"], []]}, "empty group; leave it out"),
    "an unknown member": ({"interaction_constraints": [["age", "size"]]}, "unknown column 'size'"),
    "a member beyond": ({"interaction_constraints": [[0, 9]]}, "column 9, but there are 4 columns"),
    "groups of words": ({"interaction_constraints": "pairwise"}, "must be a list of groups"),
    "too few weights": ({"feature_weights": [1.0]}, "has 1 values, but there are 4 columns"),
    "a negative weight": ({"feature_weights": {"age": -1}}, "must be a finite number of 0 or more"),
    "a weight of NaN": ({"feature_weights": [1, 1, 1, float("nan")]}, "must be a finite number of 0 or more"),
    "an infinite weight": (
        {"feature_weights": [1, 1, 1, float("inf")]},
        "must be a finite number of 0 or more",
    ),
    "weights of zero": ({"feature_weights": [0, 0, 0, 0]}, "leaves no column to draw"),
    "weights of zero by name": (
        {"feature_weights": dict.fromkeys(FRAME.columns, 0)},
        "leaves no column to draw",
    ),
}

STRANGE = {
    "a number": ({"monotone_constraints": 1}, "must be a list of one number a column"),
    "a truth": ({"monotone_constraints": [True, 0, 0, 0]}, "must hold only numbers"),
    "a text in a list": ({"monotone_constraints": ["1", 0, 0, 0]}, "must hold only numbers"),
    "a column by a float": ({"monotone_constraints": {1.5: 1}}, "give a column's name or its position"),
    "groups of numbers": ({"interaction_constraints": [0, 1]}, "must hold groups"),
    "a group of text": ({"interaction_constraints": ["age"]}, "must hold groups"),
    "a group of floats": ({"interaction_constraints": [[0.5]]}, "give a column's name or its position"),
    "groups of one": ({"interaction_constraints": 5}, "must be a list of groups"),
    "a weight of text": ({"feature_weights": ["1", 1, 1, 1]}, "must hold only numbers"),
    "a matrix": ({"feature_weights": np.ones((4, 4))}, "must hold only numbers"),
}


@pytest.fixture
def no_work(monkeypatch):
    def refuse(*_):
        raise AssertionError("work was begun")

    monkeypatch.setattr(driver, "Booster", refuse)


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_before_any_work(case, no_work):
    params, message = WRONG[case]
    with pytest.raises(ParameterError, match=message):
        sp.train(params, DATA, rounds=1)


@pytest.mark.parametrize("case", STRANGE)
def test_what_is_of_the_wrong_kind_is_told_before_any_work(case, no_work):
    params, message = STRANGE[case]
    with pytest.raises(ParameterTypeError, match=message):
        sp.train(params, DATA, rounds=1)


def test_a_table_without_names_wants_positions(no_work):
    with pytest.raises(ParameterError, match="'age'; the table has no column names, so give positions"):
        sp.train({"monotone_constraints": {"age": 1}}, PLAIN, rounds=1)


@pytest.mark.parametrize("nothing", [None, [], {}, "", "()", "[]"])
def test_nothing_said_is_no_rule(nothing):
    assert sp.train({"monotone_constraints": nothing}, PLAIN, rounds=2) == sp.train({}, PLAIN, rounds=2)


def test_a_model_keeps_what_was_said_about_its_columns():
    model = sp.train(ALL, DATA, rounds=4)
    again = sp.Model.from_bytes(model.to_bytes())
    assert again == model
    assert again.params.monotone_constraints == (("age", 1), ("height", -1))
    assert again.params.interaction_constraints == (("age", "kind"), ("age", "height"))
    assert again.params.feature_weights == (("weight", 0.25), ("kind", 3.0))
    assert sp.train(again.params, DATA, rounds=4) == model


def test_any_number_of_threads_gives_the_same_bytes_under_all_rules(monkeypatch):
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)
    rng = np.random.default_rng(1)
    rows = 12_000
    X = np.where(rng.random((rows, 8)) < 0.05, np.nan, rng.normal(size=(rows, 8)))
    X[:, 6] = rng.integers(0, 20, rows)
    X[:, 7] = rng.random(rows) < 0.05
    y = (
        np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2] + 3 * X[:, 5])
        + X[:, 6] % 3
        - 3 * X[:, 7]
        + rng.normal(size=rows)
    )
    data = sp.Dataset(X, y, categorical=[6])
    params = {
        "monotone_constraints": [1, -1, 1, 0, 0, 1, 0, -1],
        "interaction_constraints": [[0, 1, 6], [1, 2, 3, 7], [4, 5]],
        "feature_weights": [1, 2, 3, 4, 0, 1, 5, 1],
        "colsample_bytree": 0.9,
        "colsample_bylevel": 0.8,
        "colsample_bynode": 0.8,
        "reg_alpha": 0.5,
        "max_delta_step": 0.7,
        "gamma": 0.01,
        "subsample": 0.8,
        "random_state": 1,
    }
    models = [sp.train(params | {"n_jobs": n_jobs}, data, rounds=5).to_bytes() for n_jobs in (1, 2, 3, 8)]
    assert models[1:] == models[:1] * 3
    used = sp.Model.from_bytes(models[0]).importance("split") > 0
    assert used.tolist() == [True, True, True, True, False, True, True, True]


@pytest.mark.parametrize("kind", [sp.GBMRegressor, sp.GBMClassifier])
def test_estimators_take_them_as_they_are_and_train_the_same_model(kind):
    y = Y if kind is sp.GBMRegressor else Y > 0
    estimator = kind(n_estimators=3, **ALL)
    assert clone(estimator).get_params() == estimator.get_params()
    fitted = clone(estimator).fit(FRAME, y)
    assert fitted.monotone_constraints == ALL["monotone_constraints"]
    objective = "squared_error" if kind is sp.GBMRegressor else "log_loss"
    alone = sp.train(ALL | {"objective": objective}, sp.Dataset(FRAME, np.asarray(y, float)), rounds=3)
    assert fitted.model_.forest.equal(alone.forest)


def test_an_estimator_takes_an_array_of_weights_and_tells_a_wrong_column():
    fitted = sp.GBMRegressor(
        n_estimators=2, colsample_bytree=0.5, feature_weights=np.array([0, 1, 1, 0])
    ).fit(FRAME, Y)
    assert not fitted.feature_importances_[[0, 3]].any()
    with pytest.raises(ParameterError, match="unknown column 'size'"):
        sp.GBMRegressor(monotone_constraints={"size": 1}).fit(FRAME, Y)

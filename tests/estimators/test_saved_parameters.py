"""Parameters of estimators in files: what is written, and what is left out."""

from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError
from spinney.params.parameter import draw_seed


@pytest.fixture
def path(tmp_path):
    return tmp_path / "estimator.safetensors"


def again(estimator, path):
    estimator.save(path)
    return sp.load_estimator(path)


@pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
def test_what_no_file_can_hold_is_left_out_with_a_warning(source, table, numbers, path):
    model = sp.GBMRegressor(n_estimators=1, random_state=source(3)).fit(table, numbers)
    twin = source(3)
    assert model.model_.params.random_state == draw_seed(twin)
    with pytest.warns(UserWarning, match="left out random_state, which no file can hold"):
        model.save(path)
    with pytest.warns(UserWarning, match=r"without random_state, .* call set_params\(random_state=...\)"):
        found = sp.load_estimator(path)
    assert found.random_state is None
    assert draw_seed(model.random_state) == draw_seed(twin)
    np.testing.assert_array_equal(found.predict(table), model.predict(table))


def test_parameters_that_are_arrays_and_tuples_come_back(table, numbers, path):
    model = sp.GBMRegressor(
        n_estimators=1,
        feature_weights=np.array([1.0, 2.0, 0.5, 1.0]),
        interaction_constraints=((0, 1), (2, 3)),
        categorical=np.zeros(4, bool),
        eval_metric=["rmse", "mae"],
    ).fit(table, numbers)
    found = again(model, path)
    assert found.feature_weights == [1.0, 2.0, 0.5, 1.0]
    assert found.interaction_constraints == ((0, 1), (2, 3))
    assert found.categorical == [False] * 4
    assert found.eval_metric == ["rmse", "mae"]
    assert found.fit(table, numbers).model_ == model.model_


def test_parameters_that_are_wrong_are_not_saved(table, numbers, path):
    model = sp.GBMRegressor(n_estimators=1).fit(table, numbers)
    with pytest.raises(ParameterError, match="learning_rate"):
        model.set_params(learning_rate=-1.0).save(path)


def squared(y_true, y_pred):
    return y_pred - y_true, np.ones(len(y_true))


def worst(y_true, y_pred):
    return float(np.max(np.abs(y_true - y_pred)))


@pytest.fixture
def with_functions(table, numbers, path):
    model = sp.GBMRegressor(n_estimators=2, objective=squared, eval_metric=["mae", worst])
    model.fit(table, numbers, eval_set=(table, numbers))
    with pytest.warns(UserWarning, match="left out eval_metric, objective"):
        model.save(path)
    return model


def test_an_estimator_that_lost_functions_is_not_fitted_with_others(with_functions, table, numbers, path):
    with pytest.warns(
        UserWarning,
        match=r"without eval_metric and objective, .* set_params\(eval_metric=..., objective=...\)",
    ):
        found = sp.load_estimator(path)
    np.testing.assert_array_equal(found.predict(table), with_functions.predict(table))
    with pytest.raises(
        ParameterError, match="this GBMRegressor was saved without eval_metric and objective, which"
    ):
        found.fit(table, numbers)
    np.testing.assert_array_equal(found.predict(table), with_functions.predict(table))
    found.set_params(eval_metric=None)
    with pytest.raises(ParameterError, match=r"saved without objective, .* call set_params\(objective=...\)"):
        found.fit(table, numbers)
    found.set_params(objective=squared, eval_metric=["mae", worst])
    assert found.fit(table, numbers, eval_set=(table, numbers)).model_ == with_functions.model_


def test_an_estimator_that_lost_functions_can_be_saved_again(with_functions, path, tmp_path):
    with pytest.warns(UserWarning, match="without eval_metric and objective"):
        found = sp.load_estimator(path)
    with pytest.warns(UserWarning, match="left out eval_metric, objective"):
        found.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_going_on_from_a_file_needs_no_functions_of_it(with_functions, table, numbers, path):
    more = sp.GBMRegressor(n_estimators=1, objective=squared).fit(table, numbers, init_model=path)
    assert more.n_iter_ == 3


COLUMNS = {
    "a set of names": {"categorical": {"d", "c"}},
    "a range": {"categorical": range(1, 3)},
    "an index": {"categorical": pd.Index(["c"])},
    "an array of positions": {"categorical": np.array([2])},
    "a mapping": {"categorical": {"c": 1}},
    "a tuple": {"categorical": ("c", np.str_("d"))},
    "groups that are sets": {"interaction_constraints": [{"a", "b"}, frozenset({"c"})]},
    "a set of groups": {"interaction_constraints": [range(2), np.array([2])]},
    "weights in a series": {"feature_weights": pd.Series([1.0, 2.0, 1.0, 0.5])},
    "weights by name": {"feature_weights": {"a": np.float32(2.0)}},
    "directions in a range": {"monotone_constraints": range(-1, 1), "two": True},
    "directions by name": {"monotone_constraints": {"a": 1, 1: -1}},
    "directions as text": {"monotone_constraints": "(1,0,0,-1)"},
    "pairs": {"monotone_constraints": (("a", 1), ("b", -1))},
    "fractions": {"learning_rate": Fraction(1, 4), "reg_lambda": np.float16(0.5)},
    "whole numbers of other types": {"max_leaves": np.uint8(5), "random_state": np.int64(3)},
    "a group of tuples": {"interaction_constraints": ((0, 1), (2, 3))},
    "names of metrics": {"eval_metric": ("mae", "rmse")},
    "another loss": {"objective": "reg:quantileerror", "quantile_alpha": 0.3},
    "truth values": {"bundle": np.False_, "progress": np.False_},
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", COLUMNS)
def test_what_fit_takes_is_saved_and_loaded(name, table, numbers, path):
    given = dict(COLUMNS[name])
    columns = 2 if given.pop("two", False) else 4
    frame = pd.DataFrame(np.nan_to_num(table).round(), columns=list("abcd")).astype("int64").iloc[:, :columns]
    model = sp.GBMRegressor(n_estimators=2, **given).fit(frame, numbers)
    found = again(model, path)
    assert found.fit(frame, numbers).model_ == model.model_


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "given",
    [
        {"class_weight": {np.str_("ash"): 1, "elm": np.float32(2), "oak": Fraction(1, 2)}},
        {"class_weight": MappingProxyType({"ash": 2.0})},
        {"class_weight": "balanced"},
        {"objective": "ova", "eval_metric": ["merror", "auc_ovo"]},
    ],
)
def test_what_a_classifier_takes_is_saved_and_loaded(given, table, three, path):
    labels = np.array(["ash", "elm", "oak"])[three]
    model = sp.GBMClassifier(n_estimators=2, **given).fit(table, labels)
    assert again(model, path).fit(table, labels).model_ == model.model_


def test_labels_in_class_weight_are_text_or_numbers(table, three):
    model = sp.GBMClassifier(n_estimators=1, class_weight={0: 1, ("x",): 1})
    with pytest.raises(ParameterTypeError, match=r"class_weight names \('x',\), which is no label"):
        model.fit(table, three)


def test_parameters_of_another_fit_are_saved(table, numbers, three, path):
    model = sp.GBMRegressor(n_estimators=1).fit(table, numbers)
    found = again(model.set_params(objective="quantile", quantile_alpha=0.9), path)
    assert found.get_params() == model.get_params()
    np.testing.assert_array_equal(found.predict(table), model.predict(table))
    classifier = sp.GBMClassifier(n_estimators=1).fit(table, three)
    found = again(classifier.set_params(objective="focal", focal_gamma=3.0), path)
    assert found.get_params() == classifier.get_params()
    with pytest.raises(ParameterError, match="objective='huber' belongs to GBMRegressor"):
        classifier.set_params(objective="huber").save(path)

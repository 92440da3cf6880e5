"""AdaBoost estimators in files."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import spinney as sp
from spinney.errors import DataTypeError, ModelFormatError, ParameterError
from spinney.model.loading import load_with_part, save_with_part


@pytest.mark.parametrize("kind", [sp.AdaBoostClassifier, sp.AdaBoostRegressor])
def test_what_is_loaded_is_what_was_saved(kind, table, three, tmp_path):
    frame = pd.DataFrame(table, columns=list("abcd"))
    y = np.array(["ash", "elm", "oak"])[three] if kind is sp.AdaBoostClassifier else three
    fitted = kind(max_depth=2, n_estimators=6, learning_rate=0.5, random_state=3).fit(frame, y)
    fitted.save(tmp_path / "file")
    loaded = sp.load_estimator(tmp_path / "file")
    assert type(loaded) is kind
    assert loaded.get_params() == fitted.get_params()
    assert loaded.model_ == fitted.model_
    assert sp.load(tmp_path / "file") == fitted.model_
    np.testing.assert_array_equal(loaded.predict(frame), fitted.predict(frame))
    known = {name for name in vars(fitted) if name.endswith("_")}
    assert {name for name in vars(loaded) if name.endswith("_")} == known
    for name in (known - {"model_"}) | {"estimator_weights_", "estimator_errors_", "feature_importances_"}:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    again = pickle.loads(pickle.dumps(fitted))
    assert again.model_ == fitted.model_
    assert loaded.fit(frame, y).model_ == fitted.model_


def test_an_estimator_that_was_set_after_the_fit_is_left_out(table, two, tmp_path):
    fitted = sp.AdaBoostClassifier(n_estimators=3).fit(table, two)
    fitted.set_params(estimator=DecisionTreeClassifier())
    with pytest.warns(UserWarning, match="left out estimator"):
        fitted.save(tmp_path / "file")
    with pytest.warns(UserWarning, match="saved without estimator"):
        loaded = sp.load_estimator(tmp_path / "file")
    with pytest.raises(ParameterError, match="saved without estimator"):
        loaded.fit(table, two)
    assert loaded.set_params(estimator=None).fit(table, two).model_ == fitted.model_


def test_a_subclass_is_no_kind_that_a_file_holds(table, two, tmp_path):
    class Mine(sp.AdaBoostClassifier):
        pass

    with pytest.raises(DataTypeError, match="not Mine"):
        Mine(n_estimators=2).fit(table, two).save(tmp_path / "file")


@pytest.fixture(scope="module")
def saved(table, two, tmp_path_factory):
    """A model and an estimator's part, as a file holds them."""
    path = tmp_path_factory.mktemp("adaboost") / "file"
    sp.AdaBoostClassifier(n_estimators=4).fit(table, two).save(path)
    return load_with_part(path)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"class": "GBMClassifier"}, "not that of a GBMClassifier"),
        ({"class": "RandomForestClassifier"}, "not that of a RandomForestClassifier"),
        ({"class": "AdaBoostRegressor"}, "has no classes"),
        ({"class": "os.system"}, "estimator is unknown"),
        ({"classes": None}, "classes must have a dtype and values"),
        ({"classes": {"dtype": "int64", "values": [0, 1, 2]}}, "do not fit"),
        ({"classes": {"dtype": "int64", "values": [0, 0]}}, "distinct"),
        ({"params": {"n_estimators": -3}}, "wrong parameter: n_estimators=-3"),
        ({"params": {"estimator": "evil"}}, "wrong parameter: estimator='evil'"),
        ({"params": {"objective": "softmax"}}, "has no parameter 'objective'"),
        ({"named": True}, "named must be whether"),
        ({"oob": None}, "too much or too little"),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else None,
)
def test_what_does_not_fit_is_refused(changed, message, saved, tmp_path):
    model, part = saved
    save_with_part(model, tmp_path / "file", {**part, **changed})
    with pytest.raises(ModelFormatError, match=message):
        sp.load_estimator(tmp_path / "file")


def test_a_bare_model_is_no_estimator(saved, tmp_path):
    saved[0].save(tmp_path / "bare")
    with pytest.raises(ModelFormatError, match="holds a model without an estimator"):
        sp.load_estimator(tmp_path / "bare")
    assert sp.load(tmp_path / "bare") == saved[0]


def test_boosting_by_gradients_does_not_go_on_from_it(saved, table, two):
    with pytest.raises(
        ParameterError, match="init_model is a AdaBoostModel; boosting goes on from a boosted model"
    ):
        sp.GBMClassifier(n_estimators=2).fit(table, two, init_model=saved[0])

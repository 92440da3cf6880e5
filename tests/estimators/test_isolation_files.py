"""Isolation forests in files."""

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.errors import DataTypeError, ModelFormatError
from spinney.model.loading import load_with_part, save_with_part


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"size": rng.normal(size=80), "town": rng.choice(["ash", "oak", "elm"], 80)})


@pytest.fixture(scope="module")
def forest(frame):
    return sp.IsolationForest(9, contamination=0.2, max_samples=0.5, random_state=3).fit(frame)


def test_what_is_loaded_is_what_was_saved(forest, frame, tmp_path):
    forest.save(tmp_path / "file")
    loaded = sp.load_estimator(tmp_path / "file")
    assert type(loaded) is sp.IsolationForest
    assert loaded.get_params() == forest.get_params()
    assert sp.load(tmp_path / "file") == loaded.model_ == forest.model_
    known = {name for name in vars(forest) if name.endswith("_")}
    assert {name for name in vars(loaded) if name.endswith("_")} == known
    for name in known - {"model_"}:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(forest, name))
    np.testing.assert_array_equal(loaded.predict(frame), forest.predict(frame))
    np.testing.assert_array_equal(loaded.explain_path(frame), forest.explain_path(frame))


def test_a_loaded_forest_grows_on(forest, frame, tmp_path):
    forest.save(tmp_path / "file")
    loaded = sp.load_estimator(tmp_path / "file").set_params(warm_start=True, n_estimators=14)
    whole = sp.IsolationForest(14, contamination=0.2, max_samples=0.5, random_state=3).fit(frame)
    assert loaded.fit(frame).model_ == whole.model_


def test_a_subclass_is_no_kind_that_a_file_holds(frame, tmp_path):
    class Mine(sp.IsolationForest):
        pass

    with pytest.raises(DataTypeError, match="not Mine"):
        Mine(2).fit(frame).save(tmp_path / "file")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"class": "GBMRegressor"}, "not that of a GBMRegressor"),
        ({"class": "RandomForestRegressor"}, "not that of a RandomForestRegressor"),
        ({"class": "Forest"}, "estimator is unknown: 'Forest'"),
        ({"classes": None}, "too much or too little: 'classes'"),
        ({"named": 1}, "named must be whether"),
        ({"params": {"max_depth": 3}}, "IsolationForest has no parameter 'max_depth'"),
        ({"params": {"contamination": 0.9}}, "wrong parameter: contamination=0.9"),
        ({"params": {"warm_start": "yes"}}, "wrong parameter: warm_start='yes'"),
        ({"left_out": "all"}, "left_out a list"),
    ],
)
def test_a_hostile_part_of_an_estimator_is_refused(change, message, forest, tmp_path):
    forest.save(tmp_path / "file")
    model, part = load_with_part(tmp_path / "file")
    save_with_part(model, tmp_path / "other", {**part, **change})
    with pytest.raises(ModelFormatError, match=message):
        sp.load_estimator(tmp_path / "other")
    assert sp.load(tmp_path / "other") == model


def test_a_bare_model_is_no_estimator(forest, tmp_path):
    forest.model_.save(tmp_path / "file")
    with pytest.raises(ModelFormatError, match="holds a model without an estimator"):
        sp.load_estimator(tmp_path / "file")

"""Forests and trees in files."""

import json

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.errors import DataTypeError, ModelFormatError, ParameterError
from spinney.model.loading import load_with_part, save_with_part

KINDS = [
    sp.RandomForestClassifier,
    sp.RandomForestRegressor,
    sp.ExtraTreesClassifier,
    sp.ExtraTreesRegressor,
    sp.DecisionTreeClassifier,
    sp.DecisionTreeRegressor,
]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_loaded_is_what_was_saved(kind, table, three, tmp_path):
    frame = pd.DataFrame(table, columns=list("abcd"))
    fitted = kind(max_depth=3, max_features=0.5, random_state=3).fit(frame, three)
    fitted.save(tmp_path / "file")
    loaded = sp.load_estimator(tmp_path / "file")
    assert type(loaded) is kind
    assert loaded.get_params() == fitted.get_params()
    assert loaded.model_ == fitted.model_
    assert sp.load(tmp_path / "file") == fitted.model_
    np.testing.assert_array_equal(loaded.predict(frame), fitted.predict(frame))
    known = {name for name in vars(fitted) if name.endswith("_")}
    assert {name for name in vars(loaded) if name.endswith("_")} == known
    for name in known - {"model_"}:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))


def test_labels_of_several_outputs_and_scores_come_back(table, two, three, tmp_path):
    y = np.column_stack([np.array(["ash", "oak"])[two], np.array(["x", "y", "z"])[three]])
    fitted = sp.RandomForestClassifier(20, oob_score=True).fit(table, y)
    fitted.save(tmp_path / "file")
    loaded = sp.load_estimator(tmp_path / "file")
    assert [one.tolist() for one in loaded.classes_] == [["ash", "oak"], ["x", "y", "z"]]
    assert loaded.n_classes_ == [2, 3]
    assert loaded.oob_score_ == fitted.oob_score_
    np.testing.assert_array_equal(loaded.tree_oob_scores_, fitted.tree_oob_scores_)
    np.testing.assert_array_equal(loaded.predict(table), fitted.predict(table))


@pytest.mark.parametrize("kind", [sp.RandomForestClassifier, sp.ExtraTreesRegressor, sp.GBMClassifier])
def test_threads_and_progress_bars_leave_no_trace_in_the_file(kind, table, two, tmp_path):
    contents = set()
    for n_jobs in (1, 2, 3, 8):
        fitted = kind(n_estimators=3, n_jobs=n_jobs, random_state=1).fit(table, two)
        if hasattr(fitted, "verbose"):
            fitted.set_params(verbose=n_jobs % 2)
        fitted.save(tmp_path / "file")
        contents.add((tmp_path / "file").read_bytes())
    assert len(contents) == 1
    loaded = sp.load_estimator(tmp_path / "file")
    assert loaded.n_jobs is None
    assert getattr(loaded, "verbose", 0) == 0


@pytest.mark.parametrize(
    ("kind", "name"),
    [(sp.RandomForestClassifier, "oob_decision_function_"), (sp.RandomForestRegressor, "oob_prediction_")],
)
def test_what_rows_are_told_out_of_bag_is_not_in_the_file_and_the_error_says_so(
    kind, name, table, two, tmp_path
):
    fitted = kind(20, oob_score=True).fit(table, two)
    fitted.save(tmp_path / "file")
    loaded = sp.load_estimator(tmp_path / "file")
    with pytest.raises(AttributeError, match=f"loaded from a file, which holds oob_score_ .* but not {name}"):
        getattr(loaded, name)
    np.testing.assert_array_equal(getattr(loaded.fit(table, two), name), getattr(fitted, name))
    with pytest.raises(AttributeError, match=f"has no {name}: fit it with oob_score=True"):
        getattr(loaded.set_params(oob_score=False).fit(table, two), name)


def test_a_function_is_left_out_and_asked_for_before_another_fit(table, two, tmp_path):
    fitted = sp.RandomForestClassifier(20, oob_score=lambda y, p: 0.5).fit(table, two)
    with pytest.warns(UserWarning, match="left out oob_score"):
        fitted.save(tmp_path / "file")
    with pytest.warns(UserWarning, match="saved without oob_score"):
        loaded = sp.load_estimator(tmp_path / "file")
    assert loaded.oob_score_ == 0.5
    with pytest.raises(ParameterError, match="saved without oob_score"):
        loaded.fit(table, two)
    assert loaded.set_params(oob_score=False).fit(table, two).model_ == fitted.model_


def test_a_subclass_is_no_kind_that_a_file_holds(table, two, tmp_path):
    class Mine(sp.DecisionTreeClassifier):
        pass

    with pytest.raises(DataTypeError, match="not Mine"):
        Mine().fit(table, two).save(tmp_path / "file")


@pytest.fixture(scope="module")
def saved(table, two, tmp_path_factory):
    """A model and an estimator's part, as a file holds them."""
    path = tmp_path_factory.mktemp("forests") / "file"
    sp.RandomForestClassifier(20, oob_score=True).fit(table, two).save(path)
    return load_with_part(path)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"class": "GBMClassifier"}, "not that of a GBMClassifier"),
        ({"class": "RandomForestRegressor"}, "no parameter 'class_weight'|has no classes"),
        ({"class": "os.system"}, "estimator is unknown"),
        ({"class": "DecisionTreeClassifier", "params": {}}, "cannot have 20 trees"),
        ({"classes": None}, "must be a list with the labels"),
        ({"classes": []}, "do not fit"),
        ({"classes": [{"dtype": "int64", "values": [0, 1, 2]}]}, "do not fit"),
        ({"classes": [{"dtype": "int64", "values": [0, 0]}]}, "distinct"),
        ({"oob": 3}, "scores out of bag"),
        ({"oob": {"score": 1.0, "trees": [1.0]}}, "for each of 20 trees"),
        ({"oob": {"score": "high", "trees": [1.0] * 20}}, "must be a number"),
        ({"params": {"n_estimators": -3}}, "wrong parameter: n_estimators=-3"),
        ({"params": {"criterion": "poisson"}}, "wrong parameter: criterion='poisson'"),
        ({"params": {"objective": "softmax"}}, "has no parameter 'objective'"),
        ({"named": True}, "named must be whether"),
        ({"evals": {}}, "too much or too little"),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else None,
)
def test_what_does_not_fit_is_refused(changed, message, saved, tmp_path):
    model, part = saved
    save_with_part(model, tmp_path / "file", {**part, **changed})
    with pytest.raises(ModelFormatError, match=message):
        sp.load_estimator(tmp_path / "file")


def test_a_forest_has_no_part_of_boosting(saved, table, two, tmp_path):
    boosted = sp.GBMClassifier(n_estimators=2).fit(table, two)
    save_with_part(boosted.model_, tmp_path / "file", saved[1])
    with pytest.raises(ModelFormatError, match="too much or too little"):
        sp.load_estimator(tmp_path / "file")
    saved[0].save(tmp_path / "bare")
    with pytest.raises(ModelFormatError, match="holds a model without an estimator"):
        sp.load_estimator(tmp_path / "bare")


def test_boosting_does_not_go_on_from_a_forest(saved, table, two, tmp_path):
    model, part = saved
    save_with_part(model, tmp_path / "file", part)
    with pytest.raises(TypeError, match="init_model is a RandomForestClassifier"):
        sp.GBMClassifier(n_estimators=2).fit(table, two, init_model=tmp_path / "file")
    with pytest.raises(ParameterError, match="init_model is a forest"):
        sp.GBMClassifier(n_estimators=2).fit(table, two, init_model=model)

"""Parameters, fitted state, threads, and life among scikit-learn's tools."""

import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError

KINDS = [sp.GBMClassifier, sp.GBMRegressor]
METHODS = ["predict", "predict_proba", "decision_function"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_native_model_is_the_same(kind, table, two):
    objective = "log_loss" if kind is sp.GBMClassifier else "squared_error"
    params = {
        "objective": objective,
        "learning_rate": 0.3,
        "subsample": 0.7,
        "random_state": 3,
        "max_bin": 20,
        "target_stats": 100,
    }
    native = sp.train(params, sp.Dataset(table, two, max_bin=20), rounds=7)
    fitted = kind(n_estimators=7, learning_rate=0.3, subsample=0.7, random_state=3, max_bin=20).fit(
        table, two
    )
    assert fitted.model_ == native


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("learning_rate", -1.0),
        ("max_leaves", 1),
        ("grow_policy", "sideways"),
        ("tree_method", "sorted"),
        ("subsample", 1.5),
        ("max_bin", 1),
        ("eval_metric", "mlogloss"),
        ("early_stopping_rounds", -2),
        ("random_state", -1),
        ("n_jobs", 0),
    ],
)
def test_a_value_out_of_range_is_an_error_that_names_the_parameter(kind, name, value, table, two):
    with pytest.raises(ParameterError, match=f"{name}="):
        kind(**{name: value}).fit(table, two)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 1.5),
        ("n_estimators", [10]),
        ("reg_lambda", "1"),
        ("random_state", "a"),
        ("progress", "no"),
    ],
)
def test_a_value_of_the_wrong_type_is_an_error_that_names_the_parameter(kind, name, value, table, two):
    with pytest.raises(ParameterTypeError, match=f"{name}="):
        kind(**{name: value}).fit(table, two)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["max_depth", "max_leaves"])
def test_none_means_no_limit_and_stays_what_was_given(kind, name, table, two):
    endless = kind(n_estimators=2, min_child_samples=5, **{name: None})
    assert clone(endless).get_params()[name] is None
    zero = kind(n_estimators=2, min_child_samples=5, **{name: 0})
    assert endless.fit(table, two).model_ == zero.fit(table, two).model_
    assert endless.get_params()[name] is None


def test_other_spellings_are_for_native_training_only():
    with pytest.raises(TypeError, match="eta"):
        sp.GBMRegressor(eta=0.1)


def test_scale_pos_weight_is_for_two_classes(table, three):
    with pytest.raises(ParameterError, match=r"scale_pos_weight=2.0"):
        sp.GBMClassifier(scale_pos_weight=2.0).fit(table, three)


@pytest.mark.parametrize("kind", KINDS)
def test_before_fit_nothing_can_be_predicted(kind, table):
    for method in METHODS:
        if hasattr(kind, method):
            with pytest.raises(NotFittedError):
                getattr(kind(), method)(table)
    assert not hasattr(kind(), "feature_importances_")


def test_a_fit_that_fails_leaves_no_model_behind(table, two):
    model = sp.GBMClassifier(n_estimators=2).fit(table, two)
    with pytest.raises(ParameterError):
        model.set_params(learning_rate=-1.0).fit(table, two + 5)
    with pytest.raises(NotFittedError):
        model.predict(table)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"subsample": 0.5, "colsample_bytree": 0.5, "validation_fraction": 0.2}]
)
def test_any_number_of_threads_gives_the_same_bytes(kind, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50))
    y = (X[:, 0] + rng.normal(size=2000) > 0).astype(int)
    files = {kind(n_estimators=4, n_jobs=n, **options).fit(X, y).model_.to_bytes() for n in (1, 2, 3)}
    assert len(files) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_decide_what_is_drawn(kind, table, two):
    def model(seed):
        return kind(n_estimators=3, subsample=0.5, random_state=seed).fit(table, two).model_

    assert model(None) == model(0) == model(np.int64(0))
    assert model(1) != model(0)
    source = np.random.RandomState(4)
    assert model(source) != model(source)
    assert model(np.random.RandomState(4)) == model(np.random.RandomState(4))


@pytest.mark.parametrize("kind", KINDS)
def test_importances_are_shares_of_the_gain(kind, table, two):
    model = kind(n_estimators=10).fit(table, two)
    gain = model.model_.importance("total_gain")
    np.testing.assert_allclose(model.feature_importances_, gain / gain.sum())
    assert model.feature_importances_.argmax() in (0, 1)


def test_importances_without_a_split_are_zero(table):
    model = sp.GBMRegressor(n_estimators=2).fit(table, np.ones(len(table)))
    assert model.feature_importances_.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimator_survives_a_pickle(kind, table, two):
    model = kind(n_estimators=5, validation_fraction=0.2).fit(pd.DataFrame(table, columns=list("abcd")), two)
    again = pickle.loads(pickle.dumps(model))
    frame = pd.DataFrame(table, columns=list("abcd"))
    assert again.model_ == model.model_
    assert again.evals_result_ == model.evals_result_
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


@pytest.mark.parametrize("kind", KINDS)
def test_a_clone_has_the_parameters_and_no_fit(kind, table, two):
    model = kind(learning_rate=0.2, eval_metric=["mae"] if kind is sp.GBMRegressor else ["auc", "error"])
    model.set_params(n_estimators=3).fit(table, two)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "model_")


def test_a_grid_search_chooses(table, two):
    search = GridSearchCV(
        sp.GBMClassifier(n_estimators=5), {"max_leaves": [2, 15], "class_weight": [None, "balanced"]}, cv=2
    )
    search.fit(table, two)
    assert set(search.best_params_) == {"max_leaves", "class_weight"}
    assert search.best_estimator_.predict(table).shape == (200,)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_a_grid_search_passes_fit_its_arguments(table, numbers):
    search = GridSearchCV(
        sp.GBMRegressor(n_estimators=50, early_stopping_rounds=2), {"max_leaves": [2, 4]}, cv=2
    )
    search.fit(table, numbers, eval_set=[(table, numbers)])
    assert search.best_estimator_.best_iteration_ >= 1


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_pipeline_hands_on_frames(output, table, numbers):
    pipeline = make_pipeline(StandardScaler(), sp.GBMRegressor(n_estimators=5)).set_output(transform=output)
    frame = pd.DataFrame(table, columns=list("abcd"))
    pipeline.fit(frame, numbers)
    assert pipeline[-1].feature_names_in_.tolist() == list("abcd")
    assert pipeline.score(frame, numbers) > 0.3


def test_a_pipeline_of_arrays_scores(table, three):
    pipeline = make_pipeline(StandardScaler(), sp.GBMClassifier(n_estimators=5)).fit(table, three)
    assert pipeline.score(table, three) > 0.6


def test_cross_validation_in_worker_processes_gives_the_same_scores(table, two):
    model = sp.GBMClassifier(n_estimators=5)
    alone = cross_val_score(model, table, two, cv=3)
    with joblib.parallel_backend("loky", n_jobs=2):
        np.testing.assert_array_equal(cross_val_score(model, table, two, cv=3), alone)


def test_progress_is_shown_when_asked_for(table, numbers, capsys):
    sp.GBMRegressor(n_estimators=2).fit(table, numbers)
    assert capsys.readouterr() == ("", "")
    sp.GBMRegressor(n_estimators=2, progress=True).fit(table, numbers)
    assert "2/2" in capsys.readouterr().out


def test_the_repr_shows_what_was_changed():
    assert repr(sp.GBMRegressor(max_leaves=7)) == "GBMRegressor(max_leaves=7)"


def test_importing_spinney_leaves_scikit_learn_alone():
    script = """
import sys, spinney
assert "sklearn" not in sys.modules
spinney.GBMRegressor
assert "sklearn" in sys.modules
assert not {"sklearn.model_selection", "sklearn.ensemble", "sklearn.metrics", "numba"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

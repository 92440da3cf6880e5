"""Predictions of fewer rounds, leaves, and which importance is told."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError


@pytest.fixture(scope="module")
def regressor(table, numbers):
    return sp.GBMRegressor(n_estimators=6, max_leaves=5).fit(table, numbers)


@pytest.fixture(scope="module")
def binary(table, two):
    return sp.GBMClassifier(n_estimators=6, max_leaves=5).fit(table, two)


@pytest.fixture(scope="module")
def several(table, three):
    return sp.GBMClassifier(n_estimators=6, max_leaves=5).fit(table, three)


@pytest.mark.parametrize("rounds", [0, 2, 6])
def test_the_first_rounds_predict_alone(rounds, regressor, binary, several, table):
    np.testing.assert_array_equal(
        regressor.predict(table, rounds=rounds), regressor.model_.predict(table, rounds)
    )
    raw = binary.model_.predict_raw(table, rounds)
    np.testing.assert_array_equal(binary.decision_function(table, rounds=rounds), raw)
    np.testing.assert_array_equal(binary.predict(table, rounds=rounds), raw > 0)
    shares = several.model_.predict(table, rounds)
    np.testing.assert_array_equal(several.predict_proba(table, rounds=rounds), shares)
    np.testing.assert_array_equal(several.predict(table, rounds=rounds), shares.argmax(axis=1))


def test_a_tree_fewer_gives_another_prediction(regressor, table):
    assert (regressor.predict(table, rounds=5) != regressor.predict(table)).any()


def test_a_fit_of_fewer_rounds_predicts_the_same(regressor, table, numbers):
    short = sp.GBMRegressor(n_estimators=4, max_leaves=5).fit(table, numbers)
    np.testing.assert_array_equal(regressor.predict(table, rounds=4), short.predict(table))


def test_stages_end_at_the_rounds_asked_for(regressor, several, table):
    stages = list(regressor.staged_predict(table, rounds=4))
    assert len(stages) == 4
    np.testing.assert_array_equal(stages[-1], regressor.predict(table, rounds=4))
    for kind in ("predict", "predict_proba", "decision_function"):
        stages = list(getattr(several, f"staged_{kind}")(table, rounds=3))
        assert len(stages) == 3
        np.testing.assert_array_equal(stages[-1], getattr(several, kind)(table, rounds=3))


def test_rounds_past_the_best_one_can_be_asked_for(table, numbers):
    model = sp.GBMRegressor(
        n_estimators=200, learning_rate=0.5, early_stopping_rounds=3, validation_fraction=0.3
    )
    model.fit(table, numbers)
    best, fitted = model.best_iteration_, model.n_iter_
    assert best < fitted
    np.testing.assert_array_equal(model.predict(table), model.predict(table, rounds=best))
    assert (model.predict(table, rounds=fitted) != model.predict(table)).any()
    assert model.apply(table).shape == (len(table), best)
    assert model.apply(table, rounds=fitted).shape == (len(table), fitted)
    assert len(list(model.staged_predict(table, rounds=fitted))) == fitted


@pytest.mark.parametrize(
    ("rounds", "kind", "message"),
    [
        (7, ParameterError, "rounds=7 is out of range: it must be from 0 to 6"),
        (-1, ParameterError, "rounds=-1 is out of range"),
        (True, ParameterTypeError, "rounds=True must be an int, not a bool"),
        (2.5, ParameterTypeError, "rounds=2.5 must be a whole number"),
        ("3", ParameterTypeError, "rounds='3' must be an int, not a str"),
        (np.nan, ParameterError, "rounds=nan must be a finite number"),
    ],
)
@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "apply", "staged_predict"]
)
def test_rounds_that_no_model_has_are_refused(method, rounds, kind, message, binary, table):
    with pytest.raises(kind, match=message):
        list(getattr(binary, method)(table, rounds=rounds))


def test_stages_of_raw_scores_are_decision_functions(binary, several, table):
    for model in (binary, several):
        stages = list(model.staged_decision_function(table))
        assert len(stages) == 6
        for done, stage in enumerate(stages, start=1):
            np.testing.assert_array_equal(stage, model.decision_function(table, rounds=done))


def test_stages_of_raw_scores_start_from_margins(several, table):
    margin = np.random.default_rng(3).normal(size=(len(table), 3))
    *_, last = several.staged_decision_function(table, base_margin=margin, rounds=2)
    np.testing.assert_array_equal(last, several.decision_function(table, base_margin=margin, rounds=2))


def test_leaves_hold_what_trees_add(several, table):
    leaves = several.apply(table)
    assert leaves.shape == (len(table), 18)
    assert leaves.dtype == np.int32
    forest, scores = several.model_.forest, np.tile(several.model_.base_score, (len(table), 1))
    for t in range(forest.trees):
        scores[:, t % 3] += forest.tree(t).value[leaves[:, t]]
        assert (forest.tree(t).feature[leaves[:, t]] == -1).all()
    np.testing.assert_array_equal(scores, several.decision_function(table))
    np.testing.assert_array_equal(several.apply(table, rounds=2), leaves[:, :6])


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_leaves_need_a_fitted_estimator(kind, table):
    with pytest.raises(NotFittedError):
        kind().apply(table)


def test_leaves_need_the_columns_of_fit(regressor, table):
    with pytest.raises(ValueError, match="expecting 4 features"):
        regressor.apply(table[:, :2])


@pytest.mark.parametrize("kind", ["gain", "total_gain", "split", "cover", "total_cover"])
def test_importances_are_shares_of_the_kind_asked_for(kind, regressor, table, numbers):
    model = sp.GBMRegressor(n_estimators=6, max_leaves=5, importance_type=kind).fit(table, numbers)
    assert model.model_ == regressor.model_
    found = regressor.model_.importance(kind)
    np.testing.assert_array_equal(model.feature_importances_, found / found.sum())


def test_importances_are_shares_of_the_whole_gain_by_default(regressor):
    gain = regressor.model_.importance("total_gain")
    np.testing.assert_array_equal(regressor.feature_importances_, gain / gain.sum())


def test_xgboosts_weight_counts_splits(regressor, table, numbers):
    model = sp.GBMRegressor(n_estimators=6, max_leaves=5, importance_type="weight").fit(table, numbers)
    splits = model.model_.importance("split")
    np.testing.assert_array_equal(model.feature_importances_, splits / splits.sum())


@pytest.mark.parametrize("kind", ["gains", None, 1])
def test_an_unknown_importance_is_refused_before_training(kind, table, numbers):
    called = []
    with pytest.raises((ParameterError, ParameterTypeError), match="importance_type"):
        sp.GBMRegressor(importance_type=kind).fit(table, numbers, callbacks=[called.append])
    assert called == []


def test_raw_scores_of_numbers_are_there_too(regressor, table, numbers):
    np.testing.assert_array_equal(regressor.predict_raw(table), regressor.predict(table))
    counts = np.abs(numbers).round()
    model = sp.GBMRegressor(n_estimators=2, objective="poisson").fit(table, counts)
    given = {"rounds": 1, "base_margin": np.linspace(0, 1, len(table))}
    np.testing.assert_allclose(
        np.exp(model.predict_raw(table, **given)), model.predict(table, **given), rtol=1e-12
    )

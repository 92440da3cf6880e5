"""Predictions round by round, and starting scores."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import spinney as sp
from spinney.errors import DataError, SpinneyError


def test_stages_of_a_regressor_are_its_predictions_with_fewer_rounds(table, numbers):
    model = sp.GBMRegressor(n_estimators=6).fit(table, numbers)
    stages = list(model.staged_predict(table))
    assert len(stages) == 6
    for done, stage in enumerate(stages, start=1):
        np.testing.assert_array_equal(stage, model.model_.predict(table, rounds=done))
    np.testing.assert_array_equal(stages[-1], model.predict(table))


@pytest.mark.parametrize("target", ["two", "three"])
def test_the_last_stage_of_a_classifier_is_its_prediction(target, table, request):
    y = request.getfixturevalue(target)
    model = sp.GBMClassifier(n_estimators=6).fit(table, y)
    *_, labels = model.staged_predict(table)
    *_, shares = model.staged_predict_proba(table)
    np.testing.assert_array_equal(labels, model.predict(table))
    np.testing.assert_array_equal(shares, model.predict_proba(table))


def test_stages_end_at_the_best_round(table, numbers):
    model = sp.GBMRegressor(
        n_estimators=200, learning_rate=0.5, early_stopping_rounds=3, validation_fraction=0.3
    )
    model.fit(table, numbers)
    stages = list(model.staged_predict(table))
    assert len(stages) == model.best_iteration_ < model.n_iter_
    np.testing.assert_array_equal(stages[-1], model.predict(table))


def test_stages_may_be_written_to(table, numbers):
    model = sp.GBMRegressor(n_estimators=3).fit(table, numbers)
    kept = [stage.copy() for stage in model.staged_predict(table)]
    for stage, before in zip(model.staged_predict(table), kept, strict=True):
        np.testing.assert_array_equal(stage, before)
        stage[:] = 0


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_stages_need_a_fitted_estimator(kind, table):
    with pytest.raises(NotFittedError):
        next(kind().staged_predict(table))


def test_rows_start_from_their_margins(table, numbers):
    margin = np.linspace(-3, 3, len(numbers))
    model = sp.GBMRegressor(n_estimators=5).fit(table, numbers, base_margin=margin)
    moved = sp.GBMRegressor(n_estimators=5, base_score=0.0).fit(table, numbers - margin)
    np.testing.assert_allclose(
        model.predict(table, base_margin=margin), margin + moved.predict(table), rtol=1e-6
    )
    *_, last = model.staged_predict(table, base_margin=margin)
    np.testing.assert_array_equal(last, model.predict(table, base_margin=margin))


def test_many_classes_have_a_margin_each(table, three):
    margin = np.random.default_rng(0).normal(size=(len(three), 3))
    model = sp.GBMClassifier(n_estimators=3).fit(table, three, base_margin=margin)
    *_, last = model.staged_predict_proba(table, base_margin=margin)
    np.testing.assert_array_equal(last, model.predict_proba(table, base_margin=margin))
    np.testing.assert_array_equal(
        model.predict(table, base_margin=margin),
        model.decision_function(table, base_margin=margin).argmax(axis=1),
    )
    with pytest.raises(ValueError, match="base_margin"):
        sp.GBMClassifier(n_estimators=3).fit(table, three, base_margin=margin[:, :2])
    for flat in (margin[:, 0], list(margin[:, 0])):
        with pytest.raises(DataError, match=r"base_margin has one dimension; it must be of shape \(200, 3\)"):
            sp.GBMClassifier(n_estimators=3).fit(table, three, base_margin=flat)


def test_what_is_wrong_is_told_before_the_first_stage(table, numbers):
    model = sp.GBMRegressor(n_estimators=2).fit(table, numbers)
    for method in (
        model.staged_predict,
        sp.GBMClassifier(n_estimators=2).fit(table, numbers > 0).staged_predict_proba,
    ):
        for given in ({"rounds": 3}, {"base_margin": [1.0]}):
            with pytest.raises(SpinneyError):
                method(table, **given)
        with pytest.raises(DataError):
            method(table[:, :2])

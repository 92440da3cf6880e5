"""A target of a single class, as folds without a rare label have it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.multioutput import MultiOutputClassifier

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError

OAKS = np.full(200, "oak")


@pytest.mark.parametrize("y", [OAKS, OAKS.tolist(), np.zeros(200, int), np.ones(200), np.ones(200, bool)])
def test_that_class_is_predicted_and_certain_as_of_scikit_learns_forest(y, table):
    model = sp.GBMClassifier().fit(table, y)
    forest = RandomForestClassifier(n_estimators=2).fit(table, y)
    assert model.classes_.tolist() == forest.classes_.tolist()
    assert model.n_classes_ == 1
    np.testing.assert_array_equal(model.predict(table), forest.predict(table))
    np.testing.assert_array_equal(model.predict_proba(table), forest.predict_proba(table))
    assert model.predict_proba(table).shape == (200, 1)
    assert model.score(table, y) == 1.0


def test_the_model_has_no_trees_and_can_be_kept(table, tmp_path):
    frame = pd.DataFrame(table, columns=list("abcd"))
    model = sp.GBMClassifier().fit(frame, OAKS)
    assert (model.model_.rounds, model.n_iter_, model.n_estimators_) == (0, 0, 0)
    assert model.best_iteration_ is None
    assert model.feature_importances_.tolist() == [0, 0, 0, 0]
    assert list(model.staged_predict(frame)) == list(model.staged_predict_proba(frame)) == []
    assert model.decision_function(frame).tolist() == [-40.0] * 200
    model.model_.save(tmp_path / "model")
    assert sp.load(tmp_path / "model") == model.model_
    assert model.model_.predict(frame).max() < 1e-17
    assert pickle.loads(pickle.dumps(model)).predict(frame).tolist() == OAKS.tolist()


@pytest.mark.parametrize(
    "params",
    [
        {"class_weight": "balanced"},
        {"class_weight": {"oak": 3.0}},
        {"class_weight": {"ash": 3.0}},
        {"scale_pos_weight": 5.0},
        {"base_score": 2.0},
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"early_stopping_rounds": 3, "validation_fraction": 0.2},
        {"subsample": 0.5},
        {"progress": True},
    ],
    ids=str,
)
def test_no_parameter_changes_that(params, table):
    model = sp.GBMClassifier(**params).fit(table, OAKS)
    assert model.predict(table).tolist() == OAKS.tolist()
    np.testing.assert_array_equal(model.decision_function(table), -40.0)
    for name in params.keys() & {"base_score", "scale_pos_weight", "tree_method"}:
        assert getattr(model.model_.params, name) == params[name]


def test_what_is_wrong_is_told_as_ever(table):
    with pytest.raises(ParameterError, match="learning_rate="):
        sp.GBMClassifier(learning_rate=-1.0).fit(table, OAKS)
    with pytest.raises(ParameterError, match="monotone_constraints names the unknown column 'age'"):
        sp.GBMClassifier(monotone_constraints={"age": 1}).fit(table, OAKS)
    with pytest.raises(ParameterTypeError, match="callbacks must be a list of callables"):
        sp.GBMClassifier().fit(table, OAKS, callbacks=[3])
    with pytest.raises(ParameterError, match="early_stopping_rounds=3 needs validation data"):
        sp.GBMClassifier(n_estimators=9, early_stopping_rounds=3).fit(table, OAKS)
    with pytest.raises(DataError, match="class_weight leaves the class 'oak' without a row"):
        sp.GBMClassifier(class_weight={"oak": 0}).fit(table, OAKS)


def test_validation_data_may_have_that_class_only(table):
    model = sp.GBMClassifier(early_stopping_rounds=2).fit(table, OAKS, eval_set=(table, OAKS))
    assert model.evals_result_ == {}
    with pytest.raises(
        DataError, match="eval_set: y holds the label 'ash', which no training row has; the classes are 'oak'"
    ):
        sp.GBMClassifier().fit(table, OAKS, eval_set=(table, np.full(200, "ash")))


def test_a_history_of_an_earlier_fit_is_empty_afterwards(table, two):
    history, model = sp.History(), sp.GBMClassifier(n_estimators=2)
    model.fit(table, two, eval_set=(table, two), callbacks=[history])
    assert history.evals == model.evals_result_ != {}
    model.fit(table, OAKS, eval_set=(table, OAKS), callbacks=[history])
    assert history.evals == model.evals_result_ == {}


def test_margins_cannot_make_another_class_of_it(table):
    margin = np.linspace(-3, 3, 200)
    model = sp.GBMClassifier().fit(table, OAKS, base_margin=margin)
    assert model.predict(table, base_margin=margin).tolist() == OAKS.tolist()
    assert model.predict_proba(table, base_margin=margin).tolist() == [[1.0]] * 200
    np.testing.assert_array_equal(model.decision_function(table, base_margin=margin), margin)


def test_a_margin_takes_the_place_of_the_certainty_that_weights_made(table, two):
    margin = np.linspace(-3, 3, 200)
    model = sp.GBMClassifier().fit(table, two, (two == 1).astype(float), base_margin=margin)
    assert model.predict_proba(table)[:, 1].tolist() == [1.0] * 200
    shares = model.predict_proba(table, base_margin=margin)[:, 1]
    np.testing.assert_allclose(shares, 1 / (1 + np.exp(-margin)), rtol=1e-14)


def test_a_fit_of_more_classes_afterwards_is_as_good_as_new(table, two):
    model = sp.GBMClassifier(n_estimators=3).fit(table, OAKS).fit(table, two)
    assert model.model_ == sp.GBMClassifier(n_estimators=3).fit(table, two).model_
    assert model.predict_proba(table).shape == (200, 2)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 4.0}])
@pytest.mark.parametrize("left", [0, 1])
def test_weights_that_leave_one_of_two_classes_make_it_certain(left, class_weight, table, two):
    model = sp.GBMClassifier(class_weight=class_weight).fit(table, two, (two == left).astype(float))
    assert model.classes_.tolist() == [0, 1]
    assert model.n_iter_ == 0
    assert set(model.predict(table)) == {left}
    np.testing.assert_allclose(model.predict_proba(table), np.tile(np.eye(2)[left], (200, 1)), atol=1e-17)


@pytest.mark.parametrize("left", [0, 1, 2])
def test_weights_that_leave_one_of_three_classes_make_it_certain(left, table, three):
    model = sp.GBMClassifier().fit(table, three, (three == left).astype(float), eval_set=(table, three))
    assert set(model.predict(table)) == {left}
    np.testing.assert_allclose(model.predict_proba(table), np.tile(np.eye(3)[left], (200, 1)), atol=1e-17)
    assert pickle.loads(pickle.dumps(model)).model_ == model.model_


def test_a_label_that_nobody_has_is_one_of_many_outputs(table, two):
    targets = np.column_stack([two, np.zeros(200, int)])
    many = MultiOutputClassifier(sp.GBMClassifier(n_estimators=3, class_weight={1: 10.0})).fit(table, targets)
    assert many.predict(table)[:, 1].tolist() == [0] * 200
    assert [shares.shape for shares in many.predict_proba(table)] == [(200, 2), (200, 1)]


def test_folds_without_a_rare_label_count_in_cross_validation(table):
    y = np.where(np.arange(200) < 150, 0, 1)
    folds = KFold(4)
    scores = cross_val_score(sp.GBMClassifier(n_estimators=3), table, y, cv=folds, error_score="raise")
    assert scores[-1] == 0.0
    with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
        shares = cross_val_predict(
            sp.GBMClassifier(n_estimators=3), table, y, cv=folds, method="predict_proba"
        )
    assert shares[150:].tolist() == [[1.0, 0.0]] * 50


@pytest.mark.parametrize("y", [np.zeros(200), np.ones(200)])
def test_native_training_wants_two_classes(y, table):
    with pytest.raises(DataError, match="rows of both classes"):
        sp.train({"objective": "log_loss"}, sp.Dataset(table, y))

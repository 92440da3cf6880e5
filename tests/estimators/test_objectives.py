"""Losses of the estimators: which belong to which, what scikit-learn is told, and functions."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

import spinney as sp
from spinney.errors import DataError, OwnFunctionError, ParameterError, ParameterTypeError
from spinney.estimators.custom import CLASSIFICATION, REGRESSION

OF_NUMBERS = [name for name in REGRESSION if name != "aft"]  # which takes intervals
FEW = {"n_estimators": 8, "max_leaves": 6}


@pytest.fixture(scope="module")
def weights(table):
    return np.random.default_rng(3).random(len(table))


@pytest.mark.parametrize("objective", OF_NUMBERS)
def test_a_regressor_trains_what_train_trains(table, numbers, objective):
    y = np.exp(numbers / 4)
    regressor = sp.GBMRegressor(objective=objective, **FEW).fit(table, y)
    model = sp.train({"objective": objective, "max_leaves": 6}, sp.Dataset(table, y), 8)
    assert regressor.model_.forest.value.tolist() == model.forest.value.tolist()
    assert regressor.predict(table).tolist() == model.predict(table).tolist()


@pytest.mark.parametrize("objective", ["softmax", "one_vs_rest"])
def test_a_classifier_trains_what_train_trains(table, three, objective):
    classifier = sp.GBMClassifier(objective=objective, **FEW).fit(table, three)
    params = {"objective": objective, "num_class": 3, "max_leaves": 6}
    model = sp.train(params, sp.Dataset(table, three), 8)
    assert classifier.predict_proba(table).tolist() == model.predict(table).tolist()
    assert classifier.score(table, three) > 0.8


def test_two_classes_need_one_score_whatever_the_objective(table, two):
    plain = sp.GBMClassifier(**FEW).fit(table, two)
    for objective in ("log_loss", "softmax", "one_vs_rest"):
        assert sp.GBMClassifier(objective=objective, **FEW).fit(table, two).model_ == plain.model_


def test_other_libraries_names_of_objectives_are_taken(table, numbers):
    fitted = sp.GBMRegressor(objective="reg:quantileerror", quantile_alpha=0.9, **FEW).fit(table, numbers)
    assert (fitted.model_.objective, fitted.model_.params.quantile_alpha) == ("quantile", 0.9)
    assert fitted.objective == "reg:quantileerror"


@pytest.mark.parametrize("objective", [*CLASSIFICATION, "binary:logistic"])
def test_a_loss_of_classes_in_the_regressor_is_sent_to_the_classifier(table, numbers, objective):
    with pytest.raises(ParameterError, match=f"objective='{objective}' belongs to GBMClassifier"):
        sp.GBMRegressor(objective=objective).fit(table, numbers)


@pytest.mark.parametrize("objective", REGRESSION)
def test_a_loss_of_numbers_in_the_classifier_is_sent_to_the_regressor(table, two, objective):
    with pytest.raises(ParameterError, match=f"objective='{objective}' belongs to GBMRegressor"):
        sp.GBMClassifier(objective=objective).fit(table, two)


@pytest.mark.parametrize("objective", ["log_loss", "focal"])
def test_a_loss_of_two_classes_refuses_three(table, three, objective):
    with pytest.raises(ParameterError, match=f"objective='{objective}' is for two classes, but y has 3"):
        sp.GBMClassifier(objective=objective).fit(table, three)


@pytest.mark.parametrize(
    ("objective", "error", "message"),
    [
        ("median", ParameterError, "objective='median' is unknown"),
        (3, ParameterTypeError, "objective=3 must be a function or a str"),
        ("own", ParameterError, "give the function itself"),
    ],
)
@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_what_is_no_objective_is_refused(table, two, kind, objective, error, message):
    with pytest.raises(error, match=message):
        kind(objective=objective).fit(table, two)


@pytest.mark.parametrize(
    ("objective", "wrong", "message"),
    [
        ("poisson", -1.0, r"objective poisson needs y of 0 or more, got y\[5\] = -1"),
        ("tweedie", -1.0, r"objective tweedie needs y of 0 or more, got y\[5\] = -1"),
        ("gamma", 0.0, r"objective gamma needs y of more than 0, got y\[5\] = 0"),
        ("squared_log_error", -1.0, r"objective squared_log_error needs y of more than -1, got y\[5\] = -1"),
        ("poisson", np.nan, "Input y contains NaN. The first is in row 5"),
    ],
)
def test_a_target_outside_the_domain_of_a_loss_is_refused(table, numbers, objective, wrong, message):
    y = np.exp(numbers / 4)
    y[5] = wrong
    with pytest.raises(DataError, match=message):
        sp.GBMRegressor(objective=objective).fit(table, y)


@pytest.mark.parametrize("objective", OF_NUMBERS)
def test_weights_that_are_negative_or_all_zero_are_refused(table, numbers, objective):
    y = np.exp(numbers / 4)
    with pytest.raises(DataError, match="sample_weight is negative in row 0"):
        sp.GBMRegressor(objective=objective).fit(table, y, sample_weight=np.full(200, -1.0))
    with pytest.raises(DataError, match="sample_weight holds only zeros"):
        sp.GBMRegressor(objective=objective).fit(table, y, sample_weight=np.zeros(200))


def test_a_level_outside_its_range_is_refused_when_fitting(table, numbers):
    with pytest.raises(ParameterError, match=r"quantile_alpha=1\.5 is out of range"):
        sp.GBMRegressor(objective="quantile", quantile_alpha=1.5).fit(table, numbers)


def test_scikit_learn_is_told_which_targets_a_loss_takes():
    told = {one: sp.GBMRegressor(objective=one).__sklearn_tags__().target_tags for one in REGRESSION}
    assert {one for one, tags in told.items() if tags.positive_only} == {
        "squared_log_error", "poisson", "gamma", "tweedie",
    }  # fmt: skip
    assert sp.GBMRegressor(objective="count:poisson").__sklearn_tags__().target_tags.positive_only
    assert not sp.GBMRegressor(objective=abs).__sklearn_tags__().target_tags.positive_only
    many = {one: sp.GBMClassifier(objective=one).__sklearn_tags__().classifier_tags for one in CLASSIFICATION}
    assert {one for one, tags in many.items() if tags.multi_class} == {"softmax", "one_vs_rest"}
    assert sp.GBMClassifier().__sklearn_tags__().classifier_tags.multi_class


def test_focal_loss_knows_the_weights_of_classes(table, two):
    plain = sp.GBMClassifier(objective="focal", **FEW).fit(table, two).predict_proba(table)[:, 1]
    for given in ({"scale_pos_weight": 5.0}, {"class_weight": {1: 5.0}}, {"focal_alpha": 0.9}):
        found = sp.GBMClassifier(objective="focal", **FEW, **given).fit(table, two)
        assert found.predict_proba(table)[:, 1].mean() > plain.mean()


def squared(y_true, y_pred):
    return y_pred - y_true, np.ones(len(y_true))


def squared_weighing(y_true, y_pred, weight):
    return (y_pred - y_true) * weight, weight


def logistic(y_true, y_pred):
    p = expit(y_pred)
    return p - y_true, p * (1 - p)


def test_a_function_gets_the_target_first_and_weights_apply_in_both_forms(table, numbers, weights):
    named = sp.GBMRegressor(base_score=0.0, **FEW).fit(table, numbers, weights).predict(table)
    for function in (squared, squared_weighing):
        own = sp.GBMRegressor(objective=function, **FEW).fit(table, numbers, weights)
        np.testing.assert_allclose(own.predict(table), named, rtol=1e-6, atol=1e-8)


def test_weights_apply_to_arrays_of_objects_too(table, numbers, weights):
    def plain(y_true, y_pred):
        return y_pred - y_true, np.ones(len(y_true))

    def objects(y_true, y_pred):
        return tuple(part.astype(object) for part in plain(y_true, y_pred))

    fitted = [
        sp.GBMRegressor(objective=f, n_estimators=5).fit(table, numbers, sample_weight=weights)
        for f in (plain, objects)
    ]
    assert fitted[0].model_ == fitted[1].model_


def test_a_function_that_takes_weights_gets_ones_where_there_are_none(table, numbers):
    plain = sp.GBMRegressor(objective=squared, **FEW).fit(table, numbers)
    assert sp.GBMRegressor(objective=squared_weighing, **FEW).fit(table, numbers).model_ == plain.model_


def test_a_function_of_a_classifier_sees_places_of_classes_and_predicts_classes(table, two):
    labels = np.array(["ash", "oak"])[two]
    own = sp.GBMClassifier(objective=logistic, **FEW).fit(table, labels)
    named = sp.GBMClassifier(base_score=0.0, **FEW).fit(table, labels)
    np.testing.assert_allclose(own.decision_function(table), named.decision_function(table), rtol=1e-5)
    assert own.predict(table).tolist() == named.predict(table).tolist()
    assert [set(stage) <= {"ash", "oak"} for stage in own.staged_predict(table)] == [True] * 8


def test_scores_of_a_function_have_no_probabilities(table, two):
    own = sp.GBMClassifier(objective=logistic, **FEW).fit(table, two)
    assert not hasattr(own, "predict_proba")
    assert not hasattr(own, "staged_predict_proba")
    assert hasattr(sp.GBMClassifier(), "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        own.predict_proba(table)


def test_a_class_that_stands_alone_is_predicted_with_a_function_too(table):
    alone = sp.GBMClassifier(objective=logistic, **FEW).fit(table, np.full(200, "ash"))
    assert set(alone.predict(table)) == {"ash"}
    assert alone.n_iter_ == 0


def test_the_model_decides_whether_there_are_probabilities(table, two):
    known = sp.GBMClassifier(**FEW).fit(table, two)
    shares = known.predict_proba(table)
    known.set_params(objective=logistic)
    np.testing.assert_array_equal(known.predict_proba(table), shares)
    own = sp.GBMClassifier(objective=logistic, **FEW).fit(table, two)
    assert not hasattr(own.set_params(objective=None), "predict_proba")
    assert not hasattr(sp.GBMClassifier(objective=logistic), "predict_proba")


def test_what_is_no_objective_has_tags_all_the_same():
    for odd in (np.array(["x", "y"]), ["poisson"], 3):
        assert not sp.GBMRegressor(objective=odd).__sklearn_tags__().target_tags.positive_only
        assert sp.GBMClassifier(objective=odd).__sklearn_tags__().classifier_tags.multi_class


def failing(y_true, y_pred):
    raise KeyError("no such thing")


def short(y_true, y_pred):
    return y_pred[1:], y_pred[1:]


def test_what_goes_wrong_in_a_function_is_told_with_its_name(table, numbers, weights):
    with pytest.raises(
        OwnFunctionError, match="the objective 'failing' failed with KeyError: 'no such thing'"
    ):
        sp.GBMRegressor(objective=failing, **FEW).fit(table, numbers)
    for weight in (None, weights):
        with pytest.raises(
            OwnFunctionError, match=r"the gradients of the objective 'short' have shape \(199,\)"
        ):
            sp.GBMRegressor(objective=short, **FEW).fit(table, numbers, weight)


def test_estimators_with_functions_are_cloned_and_pickled(table, numbers):
    own = sp.GBMRegressor(objective=squared, **FEW).fit(np.nan_to_num(table), numbers)
    assert clone(own).objective is squared
    assert pickle.loads(pickle.dumps(own)).model_ == own.model_
    assert len(cross_val_predict(clone(own), np.nan_to_num(table), numbers, cv=2)) == 200


def test_a_target_must_not_be_written_to(table, numbers):
    def writing(y_true, y_pred):
        y_true[0] = 0.0

    with pytest.raises(OwnFunctionError, match=r"'writing' failed with ValueError: .*read-only"):
        sp.GBMRegressor(objective=writing, **FEW).fit(table, numbers)

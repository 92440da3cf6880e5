"""Validation data, early stopping, and what `fit` says about them."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spinney as sp
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError

OFTEN = {"n_estimators": 200, "learning_rate": 0.5, "min_child_samples": 2}


@pytest.fixture
def halves(table, numbers):
    return (table[:120], numbers[:120]), (table[120:], numbers[120:])


def test_metrics_of_every_round_are_kept(halves):
    train, other = halves
    model = sp.GBMRegressor(n_estimators=7, eval_metric=["rmse", "mae"]).fit(*train, eval_set=[other, train])
    assert list(model.evals_result_) == ["validation_0", "validation_1"]
    for values in model.evals_result_.values():
        assert list(values) == ["rmse", "mae"]
        assert [len(one) for one in values.values()] == [7, 7]
    last = np.sqrt(np.mean((model.predict(other[0]) - other[1]) ** 2))
    assert model.evals_result_["validation_0"]["rmse"][-1] == pytest.approx(last, rel=1e-12)


def test_without_validation_data_there_are_no_metrics(halves):
    model = sp.GBMRegressor(n_estimators=3).fit(*halves[0])
    assert model.evals_result_ == {}
    assert model.best_iteration_ is None
    assert (model.n_iter_, model.n_estimators_) == (3, 3)


def test_a_single_pair_may_stand_alone(halves):
    train, other = halves
    fit = sp.GBMRegressor(n_estimators=4).fit
    alone = fit(*train, eval_set=other).evals_result_
    assert alone == fit(*train, eval_set=[other]).evals_result_
    assert alone == fit(*train, eval_set=(other,)).evals_result_
    assert alone == fit(*train, eval_set=[list(other)]).evals_result_


def test_training_data_as_validation_data_are_the_same_as_a_copy_of_them(halves):
    X, y = halves[0]
    fit = sp.GBMRegressor(n_estimators=4).fit
    own = fit(X, y, eval_set=[(X, y)]).evals_result_
    copied = fit(X, y, eval_set=[(X.copy(), y.copy())]).evals_result_
    assert own["validation_0"]["rmse"] == pytest.approx(copied["validation_0"]["rmse"], rel=1e-9)


def test_validation_data_do_not_change_the_model(halves):
    train, other = halves
    fit = sp.GBMRegressor(n_estimators=4).fit
    assert fit(*train, eval_set=[other]).model_ == fit(*train).model_


def test_weights_of_validation_rows_count(halves):
    train, (X, y) = halves
    weight = np.arange(len(y)) % 3
    weighed = sp.GBMRegressor(n_estimators=4).fit(*train, eval_set=(X, y), eval_sample_weight=weight)
    again = np.repeat(np.arange(len(y)), weight)
    repeated = sp.GBMRegressor(n_estimators=4).fit(*train, eval_set=[(X[again], y[again])])
    expected = repeated.evals_result_["validation_0"]["rmse"]
    assert weighed.evals_result_["validation_0"]["rmse"] == pytest.approx(expected, rel=1e-12)
    listed = sp.GBMRegressor(n_estimators=4).fit(
        *train, eval_set=[(X, y), (X, y)], eval_sample_weight=[None, weight]
    )
    assert listed.evals_result_["validation_1"] == weighed.evals_result_["validation_0"]


def test_early_stopping_keeps_the_best_round(halves):
    (X, y), other = halves
    noise = np.random.default_rng(0).normal(
        size=len(y)
    )  # without it, every round makes the error a little smaller
    model = sp.GBMRegressor(early_stopping_rounds=5, **OFTEN).fit(X, y + noise, eval_set=other)
    errors = model.evals_result_["validation_0"]["rmse"]
    assert model.best_iteration_ == int(np.argmin(errors)) + 1
    assert model.n_estimators_ == model.best_iteration_
    assert model.n_iter_ == len(errors) == model.best_iteration_ + 5
    best = np.sqrt(np.mean((model.predict(other[0]) - other[1]) ** 2))
    assert best == pytest.approx(min(errors), rel=1e-12)


def test_the_last_metric_of_the_last_pair_decides(halves):
    train, other = halves
    model = sp.GBMRegressor(early_stopping_rounds=5, eval_metric=["mae", "rmse"], **OFTEN)
    model.fit(*train, eval_set=[train, other])
    assert model.best_iteration_ == int(np.argmin(model.evals_result_["validation_1"]["rmse"])) + 1


def test_early_stopping_of_a_classifier_can_go_up(table, three, two):
    model = sp.GBMClassifier(early_stopping_rounds=5, eval_metric="auc", **OFTEN)
    model.fit(table[:120], two[:120], eval_set=(table[120:], two[120:]))
    assert model.best_iteration_ == int(np.argmax(model.evals_result_["validation_0"]["auc"])) + 1
    assert model.n_iter_ < 200


def test_early_stopping_without_validation_data_is_an_error(table, two):
    with pytest.raises(
        ParameterError, match=r"early_stopping_rounds=3 needs validation data.*eval_set.*validation_fraction"
    ):
        sp.GBMClassifier(n_estimators=9, early_stopping_rounds=3).fit(table, two)


def test_a_fraction_and_an_eval_set_contradict_each_other(table, two):
    with pytest.raises(ParameterError, match=r"validation_fraction=0.2 contradicts eval_set"):
        sp.GBMClassifier(validation_fraction=0.2).fit(table, two, eval_set=(table, two))


@pytest.mark.parametrize("value", [0, -0.1, 1.5, np.nan])
def test_a_fraction_out_of_range_is_an_error(value, table, two):
    with pytest.raises(ParameterError, match="validation_fraction="):
        sp.GBMClassifier(validation_fraction=value).fit(table, two)


def test_a_fraction_that_is_no_number_is_an_error(table, two):
    with pytest.raises(ParameterTypeError, match="validation_fraction='a'"):
        sp.GBMClassifier(validation_fraction="a").fit(table, two)


def test_labels_that_were_not_trained_on_are_an_error(table, two):
    y = np.where(two == 1, "oak", "ash")
    other = np.array(["elm", *y[1:]])
    with pytest.raises(DataError, match=r"eval_set\[1\]: y holds the label 'elm', which no training row has"):
        sp.GBMClassifier(n_estimators=2).fit(table, y, eval_set=[(table, y), (table, other)])


def test_validation_labels_need_not_hold_every_class(table, three):
    few = three > 0
    model = sp.GBMClassifier(n_estimators=3).fit(table, three, eval_set=(table[few], three[few]))
    losses = -np.log(model.predict_proba(table[few])[np.arange(few.sum()), three[few]])
    assert model.evals_result_["validation_0"]["mlogloss"][-1] == pytest.approx(losses.mean(), rel=1e-9)


@pytest.mark.parametrize("value", [np.zeros((3, 2)), "ab", {"X": 1}])
def test_an_eval_set_of_another_kind_is_an_error(value, table, two):
    with pytest.raises(DataTypeError, match="eval_set must be a pair"):
        sp.GBMClassifier().fit(table, two, eval_set=value)


def test_an_eval_set_of_other_than_pairs_is_an_error(table, two):
    with pytest.raises(DataTypeError, match=r"eval_set\[0\] must be a pair \(X, y\), got a ndarray"):
        sp.GBMClassifier().fit(table, two, eval_set=[table, two])
    with pytest.raises(DataTypeError, match=r"eval_set\[1\] must be a pair \(X, y\), got a tuple of 3"):
        sp.GBMClassifier().fit(table, two, eval_set=[(table, two), (table, two, two)])


def test_what_is_wrong_with_validation_data_is_told_with_their_place(table, two):
    fit = sp.GBMClassifier(n_estimators=2).fit
    with pytest.raises(DataError, match=r"eval_set\[0\]: X has 3 features, but GBMClassifier is expecting 4"):
        fit(table, two, eval_set=[(table[:, :3], two)])
    with pytest.raises(DataError, match=r"eval_set: column 2 holds an infinite value"):
        fit(table, two, eval_set=(np.where(np.arange(4) == 2, np.inf, table), two))
    with pytest.raises(DataError, match="eval_set: y has 3 values, but X has 200 rows"):
        fit(table, two, eval_set=(table, two[:3]))
    with pytest.raises(DataTypeError, match="eval_set: column 0 of X holds text"):
        fit(table, two, eval_set=(np.full(table.shape, "a", dtype=object), two))


def test_weights_without_an_eval_set_are_an_error(table, two):
    with pytest.raises(ParameterError, match="eval_sample_weight is given without an eval_set"):
        sp.GBMClassifier().fit(table, two, eval_sample_weight=[two])


def test_a_list_of_pairs_needs_a_list_of_weights(table, two):
    with pytest.raises(DataError, match=r"eval_sample_weight must be a list .* for each of the 1 pairs"):
        sp.GBMClassifier().fit(table, two, eval_set=[(table, two)], eval_sample_weight=two)
    with pytest.raises(DataError, match=r"eval_base_margin must be a list .* got a list of 2"):
        sp.GBMClassifier().fit(table, two, eval_set=[(table, two)], eval_base_margin=[two, two])


def test_validation_data_may_have_scikit_learns_names(halves):
    train, (X, y) = halves
    weight = np.linspace(0, 2, len(y))
    params = {"early_stopping_rounds": 5, **OFTEN}
    pair = sp.GBMRegressor(**params).fit(*train, eval_set=(X, y), eval_sample_weight=weight)
    named = sp.GBMRegressor(**params).fit(*train, X_val=X, y_val=y, sample_weight_val=weight)
    assert named.model_ == pair.model_
    assert named.evals_result_ == pair.evals_result_
    assert named.best_iteration_ == pair.best_iteration_ < named.n_iter_


def test_validation_data_are_given_whole_and_in_one_form(table, two):
    fit = sp.GBMClassifier().fit
    with pytest.raises(ParameterError, match="X_val is given, but y_val is not"):
        fit(table, two, X_val=table)
    with pytest.raises(ParameterError, match="y_val is given, but X_val is not"):
        fit(table, two, y_val=two)
    with pytest.raises(ParameterError, match="sample_weight_val is given without X_val and y_val"):
        fit(table, two, sample_weight_val=two)
    with pytest.raises(ParameterError, match="X_val and y_val are given beside eval_set"):
        fit(table, two, X_val=table, y_val=two, eval_set=(table, two))
    with pytest.raises(ParameterError, match="eval_sample_weight is given without an eval_set"):
        fit(table, two, X_val=table, y_val=two, eval_sample_weight=two)
    with pytest.raises(ParameterError, match=r"validation_fraction=0.2 contradicts .* X_val and y_val"):
        sp.GBMClassifier(validation_fraction=0.2).fit(table, two, X_val=table, y_val=two)


def test_what_is_wrong_with_validation_data_is_told_with_scikit_learns_names(table, two):
    fit = sp.GBMClassifier(n_estimators=2).fit
    with pytest.raises(DataError, match="X_val and y_val: y has 3 values, but X has 200 rows"):
        fit(table, two, X_val=table, y_val=two[:3])
    with pytest.raises(DataError, match="X_val and y_val: y holds the label 6, which no training row has"):
        fit(table, two, X_val=table, y_val=two + 6)
    with pytest.raises(DataError, match="X_val and y_val: sample_weight_val has 3 values"):
        fit(table, two, X_val=table, y_val=two, sample_weight_val=[1, 2, 3])
    with pytest.raises(DataError, match=r"eval_set\[0\]: eval_sample_weight is negative in row 0"):
        fit(table, two, eval_set=[(table, two)], eval_sample_weight=[-np.ones(200)])
    with pytest.raises(DataError, match="eval_set: eval_base_margin has 3 values"):
        fit(table, two, eval_set=(table, two), eval_base_margin=[1, 2, 3])


def test_a_pipeline_transforms_validation_data_as_well(halves):
    (X, y), (X_val, y_val) = halves
    with config_context(enable_metadata_routing=True):
        last = sp.GBMRegressor(n_estimators=4).set_fit_request(X_val=True, y_val=True)
        pipeline = make_pipeline(StandardScaler(), last, transform_input=["X_val"])
        pipeline.fit(X, y, X_val=X_val, y_val=y_val)
    scaled = pipeline[:-1].transform
    by_hand = sp.GBMRegressor(n_estimators=4).fit(scaled(X), y, eval_set=(scaled(X_val), y_val))
    assert last.evals_result_ == by_hand.evals_result_


def test_callbacks_see_every_round_and_may_end_it(halves):
    train, other = halves
    seen = []

    def stop_at_three(info):
        seen.append(info.evals["validation_0"]["rmse"])
        return info.round == 3

    model = sp.GBMRegressor(n_estimators=10).fit(*train, eval_set=other, callbacks=[stop_at_three])
    assert model.n_iter_ == 3
    assert seen == model.evals_result_["validation_0"]["rmse"]


@pytest.mark.parametrize("labels", [[1, 2], ["ash", "oak"], [7, 9]])
def test_no_number_of_ours_stands_for_a_class_where_rows_are_of_one(labels, table, two):
    y = np.array(labels)[two]
    model = sp.GBMClassifier(eval_metric="auc", n_estimators=2)
    with pytest.raises(
        DataError, match=r"^eval_set: eval_metric='auc' .* 0, all are of one class; give rows"
    ):
        model.fit(table, y, eval_set=(table[two == 1], y[two == 1]))
    light = np.where(two == 1, 1e290, 1e-300)
    nothing = "all are of one class, or weigh nothing beside those of it"
    with pytest.raises(DataError, match=f"^eval_set: eval_metric='auc' .*{nothing}; give rows"):
        model.fit(table, y, eval_set=(table, y), eval_sample_weight=light)
    with pytest.raises(DataError, match=f"{nothing}$"):
        model.fit(table, y, light)


@pytest.mark.parametrize("given", [[3], 3, "bar"], ids=repr)
def test_callbacks_that_are_none_are_shown_as_they_were_given(given, table, two):
    with pytest.raises(ParameterTypeError) as told:
        sp.GBMClassifier(n_estimators=2).fit(table, two, callbacks=given)
    assert str(told.value) == f"callbacks must be a list of callables, got {given!r}"


def test_a_list_of_one_will_do_for_a_single_pair(table, three):
    data, weight = (table, three), np.arange(len(table)) % 3
    margin = np.random.default_rng(0).normal(size=(len(table), 3))
    fit = sp.GBMClassifier(n_estimators=2).fit
    plain = fit(*data, eval_set=data, eval_sample_weight=weight, eval_base_margin=margin).evals_result_
    for one in ([weight], (weight,), [list(weight)]):
        given = {"eval_sample_weight": one, "eval_base_margin": [margin], "eval_class_weight": [None]}
        assert fit(*data, eval_set=data, **given).evals_result_ == plain
    lone = (table[:1], three[:1])
    fit(*data, eval_set=lone, eval_sample_weight=[2.0], eval_base_margin=margin[:1].tolist())


def test_weights_of_classes_are_for_classifiers(halves):
    alone = {"eval_set": halves[1], "eval_class_weight": "balanced"}
    for given in (alone, {"eval_set": [halves[1]], "eval_class_weight": ["balanced"]}):
        with pytest.raises(ParameterError, match=r"^eval_class_weight='balanced' is for classifiers"):
            sp.GBMRegressor().fit(*halves[0], **given)


def test_callbacks_of_another_library_are_told(halves):
    class Stopping:
        def __call__(self, env):
            raise AssertionError

    Stopping.__module__ = "lightgbm.callback"
    with pytest.raises(
        ParameterTypeError, match="which is made for lightgbm; here early_stopping_rounds is a parameter"
    ):
        sp.GBMRegressor().fit(*halves[0], callbacks=[Stopping()])

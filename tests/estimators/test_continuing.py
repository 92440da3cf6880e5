"""Fits that go on from a model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError

SMALL = {"max_leaves": 5, "min_child_samples": 5, "subsample": 0.7}


def regressor(rounds, **given):
    return sp.GBMRegressor(n_estimators=rounds, **SMALL | given)


def classifier(rounds, **given):
    return sp.GBMClassifier(n_estimators=rounds, **SMALL | given)


@pytest.fixture(scope="module")
def words(three):
    return np.array(["ash", "elm", "oak"])[three]


def test_a_fit_goes_on_from_a_model_an_estimator_and_a_file(table, numbers, tmp_path):
    whole = regressor(7).fit(table, numbers)
    first = regressor(4).fit(table, numbers)
    first.save(tmp_path / "estimator.safetensors")
    first.model_.save(tmp_path / "model.safetensors")
    starts = [first, first.model_, tmp_path / "estimator.safetensors", str(tmp_path / "model.safetensors")]
    for start in starts:
        on = regressor(3).fit(table, numbers, init_model=start)
        assert on.model_ == whole.model_
        assert on.n_iter_ == 7
    np.testing.assert_array_equal(on.predict(table), whole.predict(table))
    np.testing.assert_array_equal(on.predict(table, rounds=4), first.predict(table))


def test_an_estimator_may_go_on_from_itself(table, numbers):
    model = regressor(3).fit(table, numbers)
    assert model.fit(table, numbers, init_model=model).model_ == regressor(6).fit(table, numbers).model_


def test_a_classifier_keeps_its_labels(table, words):
    whole = classifier(6).fit(table, words)
    on = classifier(2).fit(table, words, init_model=classifier(4).fit(table, words))
    assert on.model_ == whole.model_
    assert on.classes_.tolist() == ["ash", "elm", "oak"]


def test_later_rows_may_lack_a_class_but_not_have_another(table, words):
    first = classifier(3).fit(table, words)
    some = words != "elm"
    weight = np.linspace(1, 2, some.sum())
    on = classifier(2).fit(table[some], words[some], sample_weight=weight, init_model=first)
    assert on.classes_.tolist() == ["ash", "elm", "oak"]
    assert on.predict_proba(table).shape == (len(table), 3)
    np.testing.assert_array_equal(on.predict_proba(table, rounds=3), first.predict_proba(table))
    with pytest.raises(DataError, match="y holds the label 'fir', which no training row has"):
        classifier(2).fit(table, np.where(some, words, "fir"), init_model=first)


def test_rows_of_one_class_go_on_from_two(table, two):
    first = classifier(3).fit(table, two)
    on = classifier(2).fit(table[two == 1], two[two == 1], init_model=first)
    assert on.n_iter_ == 5
    assert on.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(on.predict(table, rounds=3), first.predict(table))


def test_a_single_class_stays_certain(table):
    first = classifier(3).fit(table, ["ash"] * len(table))
    on = classifier(3).fit(table, ["ash"] * len(table), init_model=first)
    assert on.n_iter_ == 0
    assert on.predict(table[:2]).tolist() == ["ash", "ash"]


def test_a_bare_model_needs_as_many_classes(table, words, two):
    first = classifier(2).fit(table, words).model_
    assert classifier(1).fit(table, words, init_model=first).n_iter_ == 3
    with pytest.raises(ParameterError, match="differs from init_model's 'softmax'"):
        classifier(1).fit(table, two, init_model=first)


def test_an_estimator_of_another_kind_is_refused(table, numbers, two, tmp_path):
    other = classifier(1).fit(table, two)
    other.save(tmp_path / "other.safetensors")
    for start in (other, tmp_path / "other.safetensors"):
        with pytest.raises(ParameterTypeError, match="init_model is a GBMClassifier; a GBMRegressor goes on"):
            regressor(1).fit(table, numbers, init_model=start)
    with pytest.raises(
        ParameterError, match="objective='squared_error' differs from init_model's 'log_loss'"
    ):
        regressor(1).fit(table, numbers, init_model=other.model_)
    with pytest.raises(ParameterTypeError, match="not a GBMRegressor that is not fitted"):
        regressor(1).fit(table, numbers, init_model=regressor(1))


def test_columns_must_be_those_of_the_model(table, numbers):
    frame = pd.DataFrame(table, columns=list("abcd"))
    first = regressor(1).fit(frame, numbers)
    with pytest.raises(DataError, match="init_model has 4 columns, but the data set has 3"):
        regressor(1).fit(table[:, :3], numbers, init_model=first)
    with pytest.raises(DataError, match=r"column 0 of the data set is 'b'.*give columns in its order"):
        regressor(1).fit(frame[list("bacd")], numbers, init_model=first)


def test_a_model_without_names_takes_those_of_later_rows(table, numbers):
    first = regressor(2).fit(table, numbers)
    on = regressor(1).fit(pd.DataFrame(table, columns=list("abcd")), numbers, init_model=first)
    assert on.model_.feature_names == tuple("abcd")
    assert on.model_.forest.equal(regressor(3).fit(table, numbers).model_.forest)


def test_later_rows_are_read_by_the_categories_of_the_model(numbers):
    early = pd.DataFrame({"town": ["Oslo"] * 60 + ["Rome"] * 40, "size": numbers[:100] + 1})
    late = pd.DataFrame({"town": ["Rome"] * 70 + ["Graz"] * 30, "size": numbers[100:] - 1})
    first = regressor(2).fit(early, numbers[:100])
    on = regressor(2).fit(late, numbers[100:], init_model=first, eval_set=(early, numbers[:100]))
    assert on.model_.schema == first.model_.schema
    np.testing.assert_array_equal(on.predict(late, rounds=2), first.predict(late))
    assert len(on.evals_result_["validation_0"]["rmse"]) == 2
    assert on.evals_result_["validation_0"]["rmse"][-1] == pytest.approx(
        np.sqrt(np.mean((on.predict(early) - numbers[:100]) ** 2))
    )


def test_margins_stay_where_rows_start(table, numbers):
    margin = np.linspace(-2, 2, len(table))
    given = {"base_margin": margin, "eval_set": (table, numbers), "eval_base_margin": margin}
    whole = regressor(6).fit(table, numbers, **given)
    first = regressor(4).fit(table, numbers, **given)
    on = regressor(2).fit(table, numbers, **given, init_model=first)
    assert on.model_ == whole.model_
    assert on.evals_result_["validation_0"]["rmse"] == whole.evals_result_["validation_0"]["rmse"][4:]
    for model in (first, on):
        found = np.sqrt(np.mean((model.predict(table, base_margin=margin) - numbers) ** 2))
        assert model.evals_result_["validation_0"]["rmse"][-1] == pytest.approx(found)


def test_warm_start_goes_on_with_the_rounds_that_are_missing(table, numbers, words):
    model = regressor(3, warm_start=True).fit(table, numbers)
    model.set_params(n_estimators=5).fit(table, numbers)
    assert model.model_ == regressor(5).fit(table, numbers).model_
    with pytest.warns(UserWarning, match="without increasing n_estimators does not fit new trees") as caught:
        assert model.fit(table, numbers).n_iter_ == 5
    assert caught[0].filename == __file__
    labels = classifier(2, warm_start=True).fit(table, words)
    labels.set_params(n_estimators=4).fit(table, words)
    assert labels.model_ == classifier(4).fit(table, words).model_


def test_without_warm_start_a_fit_starts_anew(table, numbers):
    model = regressor(3).fit(table, numbers)
    assert model.set_params(n_estimators=2).fit(table, numbers).n_iter_ == 2
    assert clone(regressor(3, warm_start=True).fit(table, numbers)).fit(table, numbers).n_iter_ == 3


def test_warm_start_needs_as_many_rounds_as_there_are(table, numbers):
    model = regressor(3, warm_start=True).fit(table, numbers)
    before = model.model_
    with pytest.raises(
        ParameterError, match="n_estimators=2 is less than the 3 rounds that the estimator has"
    ):
        model.set_params(n_estimators=2).fit(table, numbers)
    assert model.model_ is before


def test_warm_start_and_init_model_contradict_each_other(table, numbers):
    model = regressor(3, warm_start=True).fit(table, numbers)
    with pytest.raises(ParameterError, match="init_model contradicts warm_start=True"):
        model.fit(table, numbers, init_model=model.model_)


def test_a_warm_start_that_fails_keeps_the_trees(table, numbers):
    model = regressor(3, warm_start=True).fit(table, numbers)
    expected, names = model.predict(table), sorted(vars(model))
    with pytest.raises(DataError, match="the fitted model has 4 columns"):
        model.set_params(n_estimators=5).fit(table[:, :2], numbers)
    assert sorted(vars(model)) == names
    np.testing.assert_array_equal(model.predict(table), expected)


def test_any_other_fit_that_fails_leaves_nothing_fitted(table, numbers):
    model = regressor(3).fit(table, numbers)
    with pytest.raises(ParameterError):
        model.set_params(n_estimators=0).fit(table, numbers)
    assert not hasattr(model, "model_")
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert [name for name in vars(model) if name.endswith("_")] == []


def test_a_warm_start_of_no_more_rounds_keeps_what_is_known(table, numbers):
    given = {"eval_set": (table[100:], numbers[100:]), "eval_names": ["late"]}
    model = regressor(40, learning_rate=0.9, early_stopping_rounds=3).fit(table[:100], numbers[:100], **given)
    best, values = model.best_iteration_, model.evals_result_["late"]["rmse"]
    assert best < model.n_iter_
    model.set_params(warm_start=True, n_estimators=best)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        model.fit(table[:100], numbers[:100], **given)
    assert (model.n_iter_, model.best_iteration_) == (best, best)
    assert model.evals_result_ == {"late": {"rmse": values[:best]}}
    assert model.best_score_ == {"late": {"rmse": min(values)}}


def stopping(table, numbers, rounds, patience=3, **given):
    """A regressor that goes on, and what its fit is given: the first rows, and the last as validation data."""
    model = regressor(rounds, learning_rate=0.9, early_stopping_rounds=patience, warm_start=True, **given)
    return model, {"X": table[:100], "y": numbers[:100], "eval_set": (table[100:], numbers[100:])}


def test_a_warm_start_after_early_stopping_keeps_the_score_to_beat(table, numbers):
    model, given = stopping(table, numbers, 40)
    model.fit(**given)
    best, score, values = model.best_iteration_, model.best_score_, model.evals_result_
    assert best < model.n_iter_ < 40
    for rounds in (60, 80):
        model.set_params(n_estimators=rounds).fit(**given)
        assert (model.best_iteration_, model.best_score_, model.evals_result_) == (best, score, values)


@pytest.mark.parametrize("patience", [3, 100])
def test_fits_that_go_on_come_to_what_one_fit_does_with_early_stopping(patience, table, numbers, tmp_path):
    whole, given = stopping(table, numbers, 30, patience)
    whole.fit(**given)
    parts, _ = stopping(table, numbers, 1, patience)
    for rounds in range(1, 30, 4):
        parts.set_params(n_estimators=max(rounds, parts.fit(**given).n_estimators_ + 1))
    parts.set_params(n_estimators=30).fit(**given)
    assert parts.model_ == whole.model_
    assert parts.evals_result_ == whole.evals_result_
    parts.save(tmp_path / "parts.safetensors")
    assert sp.load_estimator(tmp_path / "parts.safetensors").evals_result_ == whole.evals_result_


def test_other_validation_data_are_judged_before_the_first_new_round(table, numbers, tmp_path):
    model, given = stopping(table, numbers, 40)
    first = model.fit(**given).predict(table[150:])
    given["eval_set"] = (table[150:], first)  # no round can do better
    model.set_params(n_estimators=60).fit(**given)
    assert model.n_estimators_ == model.n_iter_ - 3
    assert model.best_score_ == {"validation_0": {"rmse": 0.0}}
    assert len(model.evals_result_["validation_0"]["rmse"]) == 4
    np.testing.assert_array_equal(model.predict(table[150:]), first)
    model.save(tmp_path / "model.safetensors")
    assert sp.load_estimator(tmp_path / "model.safetensors").best_score_ == model.best_score_


def test_metrics_of_all_rounds_stay_without_early_stopping_too(table, numbers):
    given = {"eval_set": [(table, numbers), (table[:50], numbers[:50])]}
    whole = regressor(7).fit(table, numbers, **given)
    parts = regressor(3, warm_start=True).fit(table, numbers, **given)
    parts.set_params(n_estimators=7).fit(table, numbers, **given)
    assert parts.evals_result_ == whole.evals_result_
    given["eval_set"] = (table[50:], numbers[50:])
    parts.set_params(n_estimators=9).fit(table, numbers, **given)
    assert len(parts.evals_result_["validation_0"]["rmse"]) == 2


def test_an_estimator_of_another_library_is_told_from_one_that_is_not_fitted(table, numbers):
    other = DummyRegressor().fit(table, numbers)
    with pytest.raises(ParameterTypeError, match="not a DummyRegressor, which is of another library"):
        regressor(1).fit(table, numbers, init_model=other)

    class Mine(sp.GBMRegressor):
        pass

    with pytest.raises(ParameterTypeError, match="not a Mine that is not fitted"):
        regressor(1).fit(table, numbers, init_model=Mine())


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_warm_start_is_a_truth_value(value, table, numbers):
    with pytest.raises(ParameterTypeError, match=r"warm_start=.* must be True or False"):
        regressor(1, warm_start=value).fit(table, numbers)

"""n_estimators="auto", the estimators' default."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError
from spinney.training import auto

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS = 600
FAST = {"learning_rate": 0.3, "max_leaves": 4, "n_jobs": 1}
RNG = np.random.default_rng(8)
X = RNG.uniform(-1, 1, (ROWS, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=ROWS)
KIND = np.where(Y > 0.5, "high", np.where(Y > 0, "low", "no"))


@pytest.fixture(scope="module")
def fitted():
    return sp.GBMRegressor(**FAST).fit(X, Y)


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor, sp.GBMRanker])
def test_rounds_are_found_by_default(kind):
    assert kind().n_estimators == "auto"
    assert kind().max_rounds is None


def test_a_fit_is_the_training_of_that_name(fitted):
    model = sp.train(FAST, sp.Dataset(X, Y), "auto")
    assert fitted.model_.forest.equal(model.forest)
    assert fitted.best_iteration_ == fitted.n_estimators_ == fitted.n_iter_ == model.best_round


def test_metrics_are_those_of_the_rows_held_out_up_to_the_best_round(fitted):
    values = fitted.evals_result_["validation_0"]["rmse"]
    assert len(values) == fitted.n_estimators_
    assert (
        fitted.best_score_
        == {"validation_0": {"rmse": min(values)}}
        == {"validation_0": {"rmse": values[-1]}}
    )


def test_a_fit_without_a_second_one_says_the_same_of_its_best_round(monkeypatch, fitted):
    monkeypatch.setattr(auto, "SMALL", 0)
    kept = sp.GBMRegressor(**FAST).fit(X, Y)
    best = fitted.best_iteration_
    assert (kept.best_iteration_, kept.n_iter_) == (best, best + auto.PATIENCE)
    values = kept.evals_result_["validation_0"]["rmse"]
    assert len(values) == kept.n_iter_
    assert values[:best] == fitted.evals_result_["validation_0"]["rmse"]
    assert kept.best_score_ == fitted.best_score_


def test_a_fitted_estimator_comes_back_from_its_file(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    back = sp.load_estimator(tmp_path / "model")
    assert back.n_estimators == "auto"
    assert (back.evals_result_, back.best_score_) == (fitted.evals_result_, fitted.best_score_)
    np.testing.assert_array_equal(back.predict(X), fitted.predict(X))
    assert back.fit(X, Y).model_ == fitted.model_


def test_a_number_means_that_number():
    assert sp.GBMRegressor(n_estimators=7, **FAST).fit(X, Y).n_iter_ == 7
    assert clone(sp.GBMRegressor(**FAST)).set_params(n_estimators=3).fit(X, Y).n_iter_ == 3


def test_classes_stay_what_they_are():
    found = sp.GBMClassifier(max_rounds=20, **FAST).fit(X, KIND)
    assert found.classes_.tolist() == ["high", "low", "no"]
    assert found.n_estimators_ <= 20
    assert list(found.evals_result_) == ["validation_0"]


def test_a_class_of_one_row_is_not_held_out():
    kinds = KIND.astype(object).copy()
    kinds[5] = "rare"
    assert sp.GBMClassifier(max_rounds=5, **FAST).fit(X, kinds).n_estimators_ <= 5


def test_an_eval_set_takes_the_place_of_rows_held_out():
    found = sp.GBMRegressor(**FAST).fit(X, Y, eval_set=(X[:100], Y[:100] + 1), eval_names=["late"])
    by_hand = sp.GBMRegressor(n_estimators=1000, early_stopping_rounds=25, **FAST)
    by_hand.fit(X, Y, eval_set=(X[:100], Y[:100] + 1), eval_names=["late"])
    assert found.model_.forest.equal(by_hand.model_.forest)
    assert found.evals_result_ == by_hand.evals_result_


def test_few_rows_get_a_hundred_rounds():
    found = sp.GBMRegressor(**FAST).fit(X[:200], Y[:200])
    assert (found.n_iter_, found.best_iteration_, found.evals_result_) == (100, None, {})


def test_rows_held_out_may_have_a_name():
    found = sp.GBMRegressor(**FAST).fit(X, Y, eval_names=["held"])
    assert list(found.evals_result_) == ["held"]


def test_early_stopping_needs_no_validation_data():
    found = sp.GBMRegressor(early_stopping_rounds=3, **FAST).fit(X, Y)
    assert found.best_iteration_ == found.n_estimators_
    with_more_patience = sp.GBMRegressor(early_stopping_rounds=60, **FAST).fit(X, Y)
    assert found.n_estimators_ <= with_more_patience.n_estimators_


@pytest.mark.parametrize("rounds", ["auto", 3])
def test_groups_are_held_out_whole(rounds):
    seen = []

    def spread(y_true, y_pred):
        seen.append(y_true)
        return 0.0

    groups = np.arange(ROWS) % 40
    model = sp.GBMRegressor(n_estimators=rounds, validation_fraction=0.1, eval_metric=spread, **FAST)
    model.fit(X, groups * 1.0, groups=groups)
    found, counts = np.unique(seen[0], return_counts=True)
    assert (len(found), set(counts.tolist())) == (4, {15})


def test_a_ranker_holds_out_queries():
    queries = np.arange(ROWS) % 30
    found = sp.GBMRanker(max_rounds=5, **FAST).fit(X, (queries + np.arange(ROWS)) % 3, qid=queries)
    assert list(found.evals_result_) == ["validation_0"]


def test_a_model_goes_on_for_a_hundred_rounds(fitted):
    assert sp.GBMRegressor(**FAST).fit(X, Y, init_model=fitted).n_iter_ == fitted.n_estimators_ + 100


def test_frames_and_rows_in_another_layout_give_the_same_model(fitted):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert sp.GBMRegressor(**FAST).fit(frame, Y).model_.forest.equal(fitted.model_.forest)
    assert sp.GBMRegressor(**FAST).fit(np.asfortranarray(X), Y).model_.forest.equal(fitted.model_.forest)


@pytest.mark.parametrize(
    ("params", "given", "kind", "message"),
    [
        ({"warm_start": True}, {}, ParameterError, "contradicts warm_start=True.*give a number of rounds"),
        ({"n_estimators": "many"}, {}, ParameterError, "n_estimators='many' is unknown"),
        ({"n_estimators": 0}, {}, ParameterError, "n_estimators=0 is out of range"),
        ({"n_estimators": 5, "max_rounds": 9}, {}, ParameterError, "max_rounds=9 is for n_estimators='auto'"),
        ({"max_rounds": "9"}, {}, ParameterTypeError, "max_rounds='9' must be an int"),
        ({"n_estimators": 5}, {"groups": np.arange(ROWS)}, ParameterError, "groups .* none are held out"),
        ({}, {"groups": np.arange(ROWS), "eval_set": (X, Y)}, ParameterError, "leave out eval_set"),
        ({"validation_fraction": 0.1}, {"eval_set": (X, Y)}, ParameterError, "contradicts eval_set"),
    ],
)
def test_what_makes_no_sense_is_refused_before_training(params, given, kind, message):
    called = []
    with pytest.raises(kind, match=message):
        sp.GBMRegressor(**params).fit(X, Y, callbacks=[called.append], **given)
    assert called == []


def test_a_search_that_ends_at_its_last_round_warns_as_scikit_learn_does():
    message = "n_estimators='auto' ended at 3 rounds, .* Set max_rounds= .* or a larger learning_rate=; n_estimators=3 does"
    with pytest.warns(ConvergenceWarning, match=message) as found:
        sp.GBMRegressor(max_rounds=3, **FAST).fit(X, Y)
    assert (len(found), found[0].filename) == (1, __file__)
    queries = np.arange(ROWS) % 30
    with pytest.warns(ConvergenceWarning, match="ended at 2 rounds") as found:
        sp.GBMRanker(max_rounds=2, **FAST).fit(X, queries % 3, qid=queries)
    assert found[0].filename == __file__


def test_messages_call_the_rounds_by_the_estimators_name():
    with pytest.raises(ParameterError, match="n_estimators='auto' needs a metric to stop by"):
        sp.GBMRegressor(eval_metric="none", early_stopping_rounds=3).fit(X, Y)

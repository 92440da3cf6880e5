"""n_estimators="auto", the estimators' default."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.training import round_plan

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


def test_metrics_are_those_of_the_rows_held_out_in_every_round_of_the_search(fitted):
    values = fitted.evals_result_["validation_0"]["rmse"]
    assert len(values) == fitted.n_estimators_ + round_plan.PATIENCE
    assert fitted.best_score_ == {"validation_0": {"rmse": min(values)}}
    assert values.index(min(values)) + 1 == fitted.best_iteration_


def test_what_auto_did_can_be_read(fitted):
    best, (score,) = fitted.best_iteration_, fitted.best_score_["validation_0"].values()
    assert fitted.auto_ == sp.AutoRounds(best + 25, best, 60, "rmse", score, True, "patience")
    found = sp.GBMRegressor(**FAST).fit(X[:500], Y[:500], eval_set=(X[500:], Y[500:])).auto_
    assert (found.holdout_rows, found.refitted) == (0, False)
    few = sp.GBMRegressor(**FAST).fit(X[:200], Y[:200])
    assert few.auto_ == sp.AutoRounds(100, 100, 0, None, None, False, "no hold-out")
    assert few.set_params(n_estimators=2).fit(X, Y).auto_ is None


def test_a_history_keeps_what_auto_did(fitted):
    history = sp.History()
    sp.train(FAST, sp.Dataset(X, Y), "auto", callbacks=[history])
    assert (history.auto, history.evals) == (fitted.auto_, fitted.evals_result_)
    sp.train(FAST, sp.Dataset(X, Y), 2, callbacks=[history])
    assert history.auto is None


def test_a_fitted_estimator_prints_what_auto_did(fitted):
    plain = "GBMRegressor(learning_rate=0.3, max_leaves=4, n_jobs=1)"
    assert repr(clone(fitted)) == plain
    best, score = fitted.best_iteration_, fitted.auto_.score
    assert str(fitted) == (
        f"{plain}\n# {best} rounds chosen of {best + 25} tried by rmse {score:.4g} of 60 rows held out, then refitted on all rows"
    )
    few = sp.GBMRegressor(**FAST).fit(X[:200], Y[:200])
    assert repr(few) == f"{plain}\n# 100 rounds, which no rows were held out to choose"
    assert repr(few.set_params(n_estimators=2).fit(X, Y)).count("\n") == 0


def test_scikit_learn_prints_fitted_estimators_as_before(fitted):
    assert repr(make_pipeline(fitted)) == repr(make_pipeline(clone(fitted)))
    assert "rounds chosen" in fitted._repr_html_()
    long = sp.GBMRegressor(**FAST, colsample_bytree=0.5, min_child_samples=7, reg_lambda=3.0, subsample=0.5)
    assert repr(long).splitlines()[1].startswith("             min_child_samples=7")


def test_a_fit_without_a_second_one_says_the_same_of_its_best_round(monkeypatch, fitted):
    monkeypatch.setattr(round_plan, "SMALL", 0)
    kept = sp.GBMRegressor(**FAST).fit(X, Y)
    best = fitted.best_iteration_
    assert (kept.best_iteration_, kept.n_iter_) == (best, best + round_plan.PATIENCE)
    values = kept.evals_result_["validation_0"]["rmse"]
    assert len(values) == kept.n_iter_
    assert values == fitted.evals_result_["validation_0"]["rmse"]
    assert kept.best_score_ == fitted.best_score_
    assert kept.auto_ == replace(fitted.auto_, refitted=False)


def test_a_fitted_estimator_comes_back_from_its_file(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    back = sp.load_estimator(tmp_path / "model")
    assert back.n_estimators == "auto"
    assert (back.evals_result_, back.best_score_) == (fitted.evals_result_, fitted.best_score_)
    assert (back.auto_, repr(back.set_params(n_jobs=1))) == (fitted.auto_, repr(fitted))
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


@pytest.mark.parametrize("rounds", ["auto", 3])
@pytest.mark.parametrize("by", ["parameter", "argument", "mask", "numbers"])
def test_the_last_rows_are_held_out(rounds, by):
    seen = []

    def spread(y_true, y_pred):
        seen.append(y_true)
        return 0.0

    share = {"validation_fraction": 0.1} if by in ("parameter", "argument") else {}
    chosen = {"validation": "last"} if by == "parameter" else {}
    late = np.arange(ROWS) >= 540
    given = {"argument": "last", "mask": late, "numbers": np.flatnonzero(late)}
    fit = {"validation": given[by]} if by in given else {}
    model = sp.GBMRegressor(n_estimators=rounds, eval_metric=spread, **share, **chosen, **FAST)
    model.fit(X, np.arange(ROWS) * 1.0, **fit)
    assert seen[0].tolist() == list(range(540, 600))
    assert list(model.evals_result_) == ["validation_0"]


def test_the_last_queries_are_held_out():
    queries, share = np.repeat(np.arange(30), 20), {"validation": "last", "validation_fraction": 0.1}
    for rounds in ("auto", 2):
        model = sp.GBMRanker(n_estimators=rounds, **share, **FAST).fit(X, np.arange(ROWS) % 3, qid=queries)
        same = sp.GBMRanker(n_estimators=rounds, **FAST)
        same.fit(X, np.arange(ROWS) % 3, qid=queries, validation=np.arange(540, 600))
        assert same.evals_result_ == model.evals_result_


def test_the_last_rows_of_times_are_held_out():
    times = np.column_stack([np.exp(Y), np.arange(ROWS) % 3 > 0])
    fits = [
        sp.GBMRegressor(objective="cox", validation=chosen, **FAST).fit(X, times, validation=rows)
        for chosen, rows in (("last", None), ("random", np.arange(540, 600)))
    ]
    assert fits[0].auto_ == fits[1].auto_
    assert (fits[0].auto_.holdout_rows, fits[0].auto_.metric) == (60, "cox_nloglik")
    late = np.column_stack([np.exp(Y), np.arange(ROWS) >= 540])
    for rounds in ("auto", 3):
        model = sp.GBMRegressor(objective="cox", n_estimators=rounds, **FAST)
        with pytest.raises(DataError, match="validation holds out all rows that have an event"):
            model.fit(X, late, validation=np.arange(500, 600))


def test_early_stopping_goes_by_named_rows():
    model = sp.GBMRegressor(n_estimators=80, early_stopping_rounds=3, **FAST)
    model.fit(X, Y, validation=np.arange(500, 600))
    by_hand = sp.GBMRegressor(n_estimators=80, early_stopping_rounds=3, **FAST)
    by_hand.fit(X[:500], Y[:500], eval_set=(X[500:], Y[500:]))
    assert model.best_score_ == by_hand.best_score_


def test_masks_of_rows_are_cut_by_cross_validation():
    late = np.arange(ROWS) % 10 == 0
    scores = cross_val_score(sp.GBMRegressor(**FAST), X, Y, cv=3, params={"validation": late})
    assert scores.min() > 0.3


class Squared:
    """A loss in the order of estimators, which can be judged by itself."""

    def __call__(self, y_true, y_pred):
        return y_pred - y_true, np.ones(len(y_true))

    def loss(self, y_true, y_pred, sample_weight=None):
        return np.average((y_true - y_pred) ** 2, weights=sample_weight)


@pytest.mark.parametrize("weight", [None, RNG.uniform(0.5, 2.0, ROWS)], ids=["plain", "weighted"])
def test_the_loss_of_an_own_objective_finds_the_rounds(weight):
    own = sp.GBMRegressor(objective=Squared(), **FAST).fit(X, Y, sample_weight=weight)
    named = sp.GBMRegressor(objective=Squared(), eval_metric="mse", **FAST).fit(X, Y, sample_weight=weight)
    assert own.model_.forest.equal(named.model_.forest)
    assert (own.auto_.metric, own.auto_.holdout_rows, own.auto_.tried) == ("loss", 60, named.auto_.tried)
    np.testing.assert_allclose(
        own.evals_result_["validation_0"]["loss"], named.evals_result_["validation_0"]["mse"]
    )
    few = sp.GBMRegressor(n_estimators=2, objective=Squared(), **FAST).fit(X, Y, eval_set=(X, Y))
    assert list(few.best_score_["validation_0"]) == ["loss"]


def test_classifiers_and_rankers_have_the_loss_of_their_objective():
    def lean(y_true, y_pred):
        p = 1 / (1 + np.exp(-y_pred))
        return p - y_true, p * (1 - p) + 1e-3

    lean.loss = lambda y_true, y_pred: np.mean(np.logaddexp(0, np.where(y_true, -y_pred, y_pred)))
    found = sp.GBMClassifier(objective=lean, **FAST).fit(X, np.where(Y > 0, "up", "down"))
    assert (found.auto_.metric, found.auto_.holdout_rows) == ("loss", 60)

    def ranking(y_true, y_pred):
        return y_pred - y_true, np.ones(len(y_true))

    ranking.loss = lambda y_true, y_pred: float(len(np.unique(y_true.queries)))
    queries = np.arange(ROWS) % 30
    ranker = sp.GBMRanker(objective=ranking, max_rounds=2, **FAST).fit(X, queries % 3, qid=queries)
    assert ranker.auto_.score == 3.0


@pytest.mark.parametrize("kind", [sp.GBMRegressor, sp.GBMClassifier, sp.GBMRanker])
def test_an_own_objective_without_a_metric_is_refused_before_rows_are_binned(kind, monkeypatch):
    monkeypatch.delattr("spinney.estimators.boosting._binned")
    queries = {"qid": np.arange(ROWS) % 30} if kind is sp.GBMRanker else {}
    model = kind(objective=lambda y_true, y_pred: (y_pred - y_true, np.ones(len(y_true))), **FAST)
    with pytest.raises(ParameterError, match=r"n_estimators='auto' needs a metric .* eval_metric, .* `loss`"):
        model.fit(X, np.arange(ROWS) % 2, **queries)


def test_what_auto_did_survives_pickling(fitted):
    back = pickle.loads(pickle.dumps(fitted))
    assert (back.auto_, repr(back)) == (fitted.auto_, repr(fitted))
    history = sp.History()
    sp.train(FAST, sp.Dataset(X, Y), "auto", callbacks=[history])
    assert pickle.loads(pickle.dumps(history)).auto == fitted.auto_


@pytest.mark.parametrize("validation", ["last", np.arange(ROWS) % 9 == 4], ids=["last", "mask"])
def test_rows_held_out_by_order_or_name_give_one_model_on_any_threads(validation):
    params = {**FAST, "max_rounds": 6}
    models = [
        sp.GBMClassifier(**{**params, "n_jobs": jobs}).fit(X, Y > 0, validation=validation)
        for jobs in (1, 2, 3)
    ]
    assert len({one.model_.to_bytes() for one in models}) == 1
    assert models[0].auto_ == models[1].auto_ == models[2].auto_


@pytest.mark.parametrize("rounds", ["auto", 3])
@pytest.mark.parametrize("others", [1, 2])
def test_rows_that_are_the_only_ones_of_a_class_cannot_be_held_out(rounds, others):
    target = np.array(["ash", "elm", "oak"])[
        np.where(np.arange(ROWS) < 590, np.arange(ROWS) % others, others)
    ]
    with pytest.raises(DataError, match=f"validation holds out all rows of class {others}"):
        sp.GBMClassifier(n_estimators=rounds, **FAST).fit(X, target, validation=np.arange(550, 600))


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
        ({"n_estimators": 5}, {"groups": np.arange(ROWS)}, ParameterError, "groups .* no rows are held out"),
        ({}, {"groups": np.arange(ROWS), "eval_set": (X, Y)}, ParameterError, "leave out eval_set"),
        ({"validation_fraction": 0.1}, {"eval_set": (X, Y)}, ParameterError, "contradicts eval_set"),
        ({"validation": "first"}, {}, ParameterError, "validation='first' is unknown"),
        ({"validation": [1]}, {}, ParameterTypeError, r"validation=\[1\] must be a str"),
        (
            {"validation": "last"},
            {"eval_set": (X, Y)},
            ParameterError,
            "none are held out: leave it out, or leave out eval_set",
        ),
        (
            {"validation": "last", "n_estimators": 5},
            {},
            ParameterError,
            "none are held out: .* or set validation_fraction",
        ),
        (
            {},
            {"validation": [1], "eval_set": (X, Y)},
            ParameterError,
            "validation chooses rows to hold out",
        ),
        ({"validation_fraction": 0.1}, {"validation": [1]}, ParameterError, "contradicts validation"),
        ({}, {"validation": [ROWS]}, DataError, "validation names row 600"),
        ({}, {"validation": "random"}, ParameterError, "validation='random' is unknown"),
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

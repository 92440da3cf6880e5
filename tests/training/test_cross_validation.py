"""Cross-validation: folds, history, predictions out of fold, early stopping, refusals."""

import math
import pickle
import sys

import numpy as np
import pytest
import sklearn.model_selection as selection
import xgboost

import spinney as sp
from spinney.errors import DataError, OwnFunctionError, ParameterError, ParameterTypeError

RNG = np.random.default_rng(0)
ROWS = 150
X = RNG.normal(size=(ROWS, 3))
Y = (X[:, 0] + RNG.normal(size=ROWS) > 0).astype(float)
DATA = sp.Dataset(X, Y)
PARAMS = {"objective": "log_loss", "max_leaves": 4, "min_child_samples": 5, "n_jobs": 1}
FOUND = sp.cv(PARAMS | {"eval_metric": ["auc", "logloss"]}, DATA, folds=4, rounds=5)


# --- what comes out


def test_every_row_is_tested_once_and_no_model_saw_it():
    tested = np.concatenate([fold.test for fold in FOUND.folds])
    assert sorted(tested.tolist()) == list(range(ROWS))
    for fold in FOUND.folds:
        assert sorted([*fold.train, *fold.test]) == list(range(ROWS))


def test_history_is_what_a_training_with_these_validation_data_tells():
    for k, fold in enumerate(FOUND.folds):
        train = sp.Dataset(X[fold.train], Y[fold.train], reference=DATA)
        test = sp.Dataset(X[fold.test], Y[fold.test], reference=DATA)
        history = sp.History()
        params = PARAMS | {"eval_metric": ["auc", "logloss"]}
        sp.train(params, train, rounds=5, valid={"train": train, "test": test}, callbacks=[history])
        for name in ("train", "test"):
            for metric in ("auc", "logloss"):
                assert FOUND.history[name][metric].folds[k].tolist() == history.evals[name][metric]


def test_history_has_means_and_deviations_over_folds():
    values = FOUND.history["test"]["logloss"]
    assert values.folds.shape == (4, 5)
    assert values.mean.tolist() == [math.fsum(column) / 4 for column in values.folds.T]
    assert values.std.tolist() == np.std(values.folds, axis=0).tolist()


def test_the_frame_has_the_columns_of_xgboost():
    frame = FOUND.to_frame()
    params = {"objective": "binary:logistic", "nthread": 1}
    theirs = xgboost.cv(params, xgboost.DMatrix(X, Y), 2, nfold=2, metrics=["auc", "logloss"])
    assert list(frame.columns) == list(theirs.columns)
    assert list(frame.index) == list(range(5))
    assert frame["test-auc-mean"].tolist() == FOUND.history["test"]["auc"].mean.tolist()
    assert frame["train-logloss-std"].tolist() == FOUND.history["train"]["logloss"].std.tolist()


def test_a_frame_without_pandas_is_refused_in_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ParameterError, match="pandas is not installed"):
        FOUND.to_frame()


def test_train_metrics_can_be_left_out():
    found = sp.cv(PARAMS, DATA, folds=3, rounds=2, train_metrics=False)
    assert list(found.history) == ["test"]
    assert list(found.to_frame().columns) == ["test-logloss-mean", "test-logloss-std"]


def test_predictions_out_of_fold_are_those_of_the_fold_s_model():
    for model, fold in zip(FOUND.models, FOUND.folds, strict=True):
        assert FOUND.oof[fold.test].tolist() == model.predict(X[fold.test]).tolist()


def test_a_row_that_is_never_tested_has_no_prediction_and_one_tested_twice_the_mean():
    rows = np.arange(ROWS)
    folds = [(rows[50:], rows[:30]), (rows[60:], rows[20:50])]
    found = sp.cv(PARAMS, DATA, folds, rounds=3)
    first, second = (model.predict(X) for model in found.models)
    assert np.isnan(found.oof[50:]).all()
    assert found.oof[:20].tolist() == first[:20].tolist()
    assert found.oof[30:50].tolist() == second[30:50].tolist()
    assert found.oof[20:30].tolist() == ((first + second) / 2)[20:30].tolist()


def test_many_classes_have_a_column_of_predictions_each():
    classes = np.digitize(X[:, 1], [-0.5, 0.5]).astype(float)
    params = PARAMS | {"objective": "softmax", "num_class": 3}
    found = sp.cv(params, sp.Dataset(X, classes), folds=3, rounds=2)
    assert found.oof.shape == (ROWS, 3)
    np.testing.assert_allclose(found.oof.sum(axis=1), 1.0)
    test = found.folds[2].test
    assert found.oof[test].tolist() == found.models[2].predict(X[test]).tolist()


def test_a_margin_is_where_the_scores_of_test_rows_start():
    margin = RNG.normal(size=ROWS)
    found = sp.cv(PARAMS, sp.Dataset(X, Y, base_margin=margin), folds=3, rounds=2)
    test = found.folds[0].test
    assert found.oof[test].tolist() == found.models[0].predict(X[test], base_margin=margin[test]).tolist()


def test_no_rounds_give_base_scores():
    found = sp.cv(PARAMS, DATA, folds=3, rounds=0)
    for fold in found.folds:
        np.testing.assert_allclose(found.oof[fold.test], Y[fold.train].mean())
    assert found.history == {"train": {}, "test": {}}
    assert "rounds=0" in repr(found)


def test_it_is_shown_in_a_line():
    assert repr(FOUND).startswith("CVResult(folds=4, rounds=5, auc=0.")
    assert " ± " in repr(FOUND)
    assert len(repr(FOUND)) < 120
    assert "5 rounds of 4 folds" in repr(FOUND.history["test"]["auc"])


def test_it_can_be_pickled():
    again = pickle.loads(pickle.dumps(FOUND))
    assert again.models == FOUND.models
    assert repr(again) == repr(FOUND)


# --- folds


def test_classes_are_stratified_and_sizes_even():
    labels = np.repeat([0.0, 1.0], [ROWS - 21, 21])
    found = sp.cv(PARAMS, sp.Dataset(X, labels), folds=4, rounds=1)
    ones = [int(labels[fold.test].sum()) for fold in found.folds]
    sizes = [len(fold.test) for fold in found.folds]
    assert max(ones) - min(ones) <= 1
    assert max(sizes) - min(sizes) <= 1


def test_without_strata_or_shuffling_the_first_rows_are_the_first_fold():
    found = sp.cv(PARAMS, DATA, folds=3, rounds=1, stratified=False, shuffle=False)
    assert [fold.test.tolist() for fold in found.folds] == [
        list(range(k * 50, (k + 1) * 50)) for k in range(3)
    ]


def test_seeds_shuffle():
    def tests(**given):
        return [fold.test.tolist() for fold in sp.cv(PARAMS, DATA, folds=3, rounds=0, **given).folds]

    assert tests(seed=1) == tests(seed=1)
    assert tests(seed=1) != tests(seed=2)
    other = sp.cv(PARAMS | {"random_state": 1}, DATA, folds=3, rounds=0)
    assert tests(seed=1) == [fold.test.tolist() for fold in other.folds]


def test_groups_stay_whole_classes_in_proportion():
    groups = np.array([f"group {k}" for k in RNG.integers(0, 40, ROWS)])
    found = sp.cv(PARAMS, DATA, folds=4, rounds=1, groups=groups)
    for fold in found.folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])
        assert 30 <= len(fold.test) <= 45
        assert abs(Y[fold.test].mean() - Y.mean()) < 0.1


@pytest.mark.parametrize(
    "splitter",
    [
        selection.KFold(3),
        selection.StratifiedKFold(4, shuffle=True, random_state=1),
        selection.GroupKFold(3),
        selection.TimeSeriesSplit(3),
        selection.RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_splitters_of_scikit_learn_say_the_folds(splitter):
    groups = np.arange(ROWS) // 10
    given = {"groups": groups} if isinstance(splitter, selection.GroupKFold) else {}
    found = sp.cv(PARAMS, DATA, splitter, rounds=1, **given)
    wanted = list(splitter.split(X, Y, given.get("groups")))
    assert [fold.train.tolist() for fold in found.folds] == [sorted(train.tolist()) for train, _ in wanted]
    assert [fold.test.tolist() for fold in found.folds] == [sorted(test.tolist()) for _, test in wanted]
    assert np.isnan(found.oof).any() == isinstance(splitter, selection.TimeSeriesSplit)


def test_masks_and_generators_of_pairs_are_folds():
    mask = np.arange(ROWS) % 3 == 0
    found = sp.cv(PARAMS, DATA, ((~mask, np.flatnonzero(mask)) for _ in range(1)), rounds=1)
    assert found.folds[0].test.tolist() == list(range(0, ROWS, 3))
    assert len(found.folds[0].train) == 100


# --- early stopping and callbacks


def test_early_stopping_goes_by_the_mean_over_folds():
    params = PARAMS | {"early_stopping_rounds": 4, "learning_rate": 0.5}
    found = sp.cv(params, DATA, folds=3, rounds=60)
    mean = found.history["test"]["logloss"].mean
    assert found.best_round == int(np.argmin(mean)) + 1
    assert found.rounds == len(mean) == found.best_round + 4 < 60
    assert {(model.rounds, model.best_round) for model in found.models} == {(found.rounds, found.best_round)}
    for model, fold in zip(found.models, found.folds, strict=True):
        assert found.oof[fold.test].tolist() == model.predict(X[fold.test]).tolist()
    assert f"best_round={found.best_round}, logloss={mean[found.best_round - 1]:.5}" in repr(found)


def test_folds_that_advance_together_are_those_trained_one_after_the_other():
    heard = []
    found = sp.cv(
        PARAMS | {"eval_metric": ["auc", "logloss"]}, DATA, folds=4, rounds=5, callbacks=[heard.append]
    )
    assert found.models == FOUND.models
    assert found.oof.tobytes() == FOUND.oof.tobytes()
    assert [info.evals["test"]["auc"] for info in heard] == FOUND.history["test"]["auc"].mean.tolist()
    assert [info.evals["train"]["logloss"] for info in heard] == FOUND.history["train"][
        "logloss"
    ].mean.tolist()
    assert [(info.round, info.rounds) for info in heard] == [(k, 5) for k in range(1, 6)]
    with pytest.raises(ParameterError, match="a model for each fold"):
        _ = heard[0].model


def test_a_callback_can_end_all_folds():
    found = sp.cv(PARAMS, DATA, folds=3, rounds=9, callbacks=[lambda info: info.round == 2])
    assert [model.rounds for model in found.models] == [2, 2, 2]
    assert found.best_round is None


def test_learning_rates_of_a_schedule_are_those_of_every_fold():
    rates = sp.LearningRateSchedule([0.5, 0.25])
    found = sp.cv(PARAMS, DATA, folds=3, rounds=2, callbacks=[rates])
    fold = found.folds[1]
    own = sp.Dataset(X[fold.train], Y[fold.train], reference=DATA)
    assert found.models[1] == sp.train(PARAMS, own, rounds=2, callbacks=[rates])


def test_functions_of_the_user_are_losses_and_metrics():
    def squared(scores, labels):
        return scores - labels, np.ones(len(scores))

    def far(scores, labels):
        return "far", float(np.abs(scores - labels).max()), False

    found = sp.cv({"max_leaves": 4, "n_jobs": 1}, DATA, folds=3, rounds=2, objective=squared, metrics=[far])
    test = found.folds[0].test
    raw = found.models[0].predict_raw(X[test])
    assert found.oof[test].tolist() == raw.tolist()
    assert found.history["test"]["far"].folds[0, -1] == np.abs(raw - Y[test]).max()


# --- what is refused


@pytest.mark.parametrize(
    ("folds", "kind", "message"),
    [
        (1, ParameterError, "folds=1 is too few; give 2 or more"),
        (ROWS + 1, DataError, rf"folds={ROWS + 1} is more than there are rows \({ROWS}\)"),
        ("five", ParameterTypeError, "folds='five' cannot be used; give a number, a splitter"),
        (True, ParameterTypeError, "folds=True cannot be used"),
        (None, ParameterTypeError, "folds=None cannot be used"),
        (selection.KFold, ParameterTypeError, "folds=<class .*KFold.*> cannot be used"),
        (selection.GroupKFold(3), DataError, "folds=GroupKFold.* cannot split these rows: .*groups"),
        ([], ParameterError, "folds is empty"),
        ([([0, 1, 2], [2, 3])], DataError, "fold 0: row 2 is among both the train and the test rows"),
        ([(range(50), range(60, 90)), ([0, 0, 1], [5])], DataError, "fold 1, train rows: row 0 is listed twice"),
        ([([0, 1], [ROWS])], DataError, rf"fold 0, test rows: row {ROWS} does not exist; there are rows 0 to {ROWS - 1}"),
        ([([-1, 1], [5])], DataError, "fold 0, train rows: row -1 does not exist"),
        ([([0, 1], [])], DataError, "fold 0, test rows: there are none"),
        ([([0.5, 1], [2])], DataError, "fold 0, train rows: row numbers must be whole"),
        ([([[0], [1]], [2])], DataError, r"fold 0, train rows: row numbers have shape \(2, 1\)"),
        ([([True, False], [2])], DataError, "fold 0, train rows: a mask of 2 truth values, but there are 150 rows"),
        ([[0, 1, 2]], ParameterTypeError, r"fold 0 is \[0, 1, 2\], and no pair"),
        (selection.KFold(ROWS + 1), DataError, r"folds=KFold.*cannot split these rows"),
    ],
)  # fmt: skip
def test_folds_that_make_no_sense_are_refused(folds, kind, message):
    with pytest.raises(kind, match=message):
        sp.cv(PARAMS, DATA, folds, rounds=1)


def refuse_training(monkeypatch):
    def trained(*args):
        raise AssertionError("a training was started")

    monkeypatch.setattr("spinney.training.cross_validation.Booster", trained)


def test_a_fold_to_train_on_with_one_class_is_refused_before_any_training(monkeypatch):
    refuse_training(monkeypatch)
    ones, zeros = np.flatnonzero(Y == 1), np.flatnonzero(Y == 0)
    good = np.arange(80), np.arange(80, ROWS)
    with pytest.raises(DataError, match="fold 1, train rows: objective log_loss needs rows of both classes"):
        sp.cv(PARAMS, DATA, [good, (ones, zeros)], rounds=1)


def test_a_fold_to_test_on_with_one_class_has_a_log_loss_but_no_auc():
    ones = np.flatnonzero(Y == 1)[:20]
    folds = [(np.setdiff1d(np.arange(ROWS), ones), ones)]
    found = sp.cv(PARAMS, DATA, folds, rounds=1)
    assert np.isfinite(found.history["test"]["logloss"].mean).all()
    with pytest.raises(DataError, match=r"fold 0, test rows: .*one class"):
        sp.cv(PARAMS | {"eval_metric": "auc"}, DATA, folds, rounds=1)


def test_a_class_that_one_fold_alone_has_is_refused():
    classes = np.where(np.arange(ROWS) == 7, 2.0, Y)
    params = PARAMS | {"objective": "softmax", "num_class": 3}
    with pytest.raises(DataError, match=r"fold \d, train rows: class 2 has no row with a weight above 0"):
        sp.cv(params, sp.Dataset(X, classes), folds=3, rounds=1)


@pytest.mark.parametrize("name", ["train", "test"])
def test_a_fold_whose_rows_weigh_nothing_is_refused(name):
    first, rest = np.arange(30), np.arange(30, ROWS)
    weight = np.where(np.arange(ROWS) < 30, 0.0, 1.0)
    fold = (first, rest) if name == "train" else (rest, first)
    with pytest.raises(DataError, match=f"fold 0, {name} rows: every row has weight 0"):
        sp.cv(PARAMS, sp.Dataset(X, Y, weight=weight), [fold], rounds=1)


@pytest.mark.parametrize(
    ("params", "given", "kind", "message"),
    [
        ({"eval_metric": "rmsle"}, {}, ParameterError, "rmsle"),
        ({}, {"metrics": ["mlogloss"]}, ParameterError, "mlogloss"),
        ({"eval_metric": "none", "early_stopping_rounds": 2}, {}, ParameterError, "needs a metric"),
        ({}, {"stratified": "yes"}, ParameterTypeError, "stratified='yes' must be True or False"),
        ({}, {"shuffle": 1}, ParameterTypeError, "shuffle=1 must be True or False"),
        ({}, {"train_metrics": None}, ParameterTypeError, "train_metrics=None must be True or False"),
        ({}, {"seed": -1}, ParameterError, "seed=-1 is out of range"),
        ({}, {"groups": np.zeros(3)}, DataError, r"groups has shape \(3,\); it must be \(150,\)"),
        ({}, {"groups": np.zeros(ROWS)}, DataError, r"folds=5 is more than there are groups \(1\)"),
        ({}, {"groups": np.where(np.arange(ROWS) == 4, np.nan, 1.0)}, DataError, "groups holds NaN in row 4"),
        ({}, {"groups": [None, "a"] * 75}, DataError, "groups holds values that cannot be compared"),
        ({}, {"folds": [(range(9), range(9, 99))], "groups": Y}, ParameterError, "groups is given beside folds"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(params, given, kind, message):
    with pytest.raises(kind, match=message):
        sp.cv(PARAMS | params, DATA, rounds=1, **given)


def test_a_metric_that_changes_its_name_is_refused():
    names = iter("abcdefgh")

    def fickle(scores, labels):
        return next(names), 0.0, False

    with pytest.raises(OwnFunctionError, match="must return the same name each time"):
        sp.cv(PARAMS, DATA, folds=2, rounds=1, metrics=[fickle], train_metrics=False)


def test_data_without_a_target_are_refused():
    with pytest.raises(DataError, match="dataset has no target"):
        sp.cv(PARAMS, sp.Dataset(X), rounds=1)


def test_callbacks_get_no_model_of_a_single_fold_either():
    def wants(info):
        with pytest.raises(ParameterError, match="has a model for each fold"):
            _ = info.model

    fold = (np.arange(100), np.arange(100, 150))
    found = sp.cv(
        {"max_leaves": 2},
        sp.Dataset(np.arange(150.0)[:, None], np.arange(150.0)),
        [fold],
        2,
        callbacks=[wants],
    )
    assert found.rounds == 2

"""Validation sets, early stopping, callbacks, the progress bar."""

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney import metrics
from spinney.data import Labels
from spinney.errors import DataError
from spinney.jit.team import Team
from spinney.metrics import MetricValue
from spinney.training import driver, evaluation
from spinney.training.callbacks import EarlyStopping

RNG = np.random.default_rng(0)
X = np.where(RNG.random((300, 3)) < 0.05, np.nan, RNG.normal(size=(300, 3)))
Y = (np.nan_to_num(X[:, 0]) + RNG.normal(size=300) > 0).astype(float)
Y_WORDS = np.where(Y > 0, "yes", "no")
TRAIN = sp.Dataset(X[:200], Y[:200])
TEST = sp.Dataset(X[200:], Y[200:], reference=TRAIN)
LOGISTIC = {"objective": "log_loss", "min_child_samples": 5, "learning_rate": 0.3}


def trained(params, rounds=40, **given):
    history = sp.History()
    model = sp.train(LOGISTIC | params, TRAIN, rounds, callbacks=[history], **given)
    return model, history.evals


def test_metrics_of_every_round_are_those_of_the_predictions():
    names = ["auc", "error", "logloss"]
    model, evals = trained({"eval_metric": names}, rounds=8, valid={"train": TRAIN, "test": TEST})
    assert list(evals) == ["train", "test"]
    assert list(evals["test"]) == names
    with Team(1) as team:
        for done in range(1, 9):
            raw = model.predict_raw(X[200:], rounds=done)[None]
            predictions = metrics.Predictions(raw, "logistic", team)
            for metric in metrics.metrics_of(model.params):
                assert (
                    evals["test"][metric.name][done - 1] == metric.compute(predictions, Labels(Y[200:])).value
                )


@pytest.mark.parametrize(
    ("objective", "metric"),
    [
        ({}, "rmse"),
        ({"objective": "log_loss"}, "logloss"),
        ({"objective": "softmax", "num_class": 2}, "mlogloss"),
    ],
)
def test_the_loss_itself_is_the_metric_unless_another_is_asked_for(objective, metric):
    history = sp.History()
    sp.train(objective, TRAIN, rounds=2, valid={"test": TEST}, callbacks=[history])
    assert list(history.evals["test"]) == [metric]


def test_training_stops_when_the_metric_no_longer_improves():
    model, evals = trained({"early_stopping_rounds": 4}, rounds=200, valid={"test": TEST})
    losses = evals["test"]["logloss"]
    assert model.best_round == int(np.argmin(losses)) + 1
    assert model.rounds == len(losses) == model.best_round + 4 < 200


def test_prediction_uses_the_best_round():
    model, _ = trained({"early_stopping_rounds": 4}, rounds=200, valid={"test": TEST})
    best = model.predict(X, rounds=model.best_round)
    assert model.predict(X).tolist() == best.tolist()
    assert model.predict(X, rounds=model.rounds).tolist() != best.tolist()
    short, _ = trained({}, rounds=model.best_round)
    assert short.predict(X).tolist() == best.tolist()
    assert model.predict_leaf(X).shape == (300, model.best_round)


def test_the_last_metric_of_the_last_set_decides():
    params = {"early_stopping_rounds": 3, "eval_metric": ["logloss", "auc"]}
    model, evals = trained(params, rounds=200, valid={"train": TRAIN, "test": TEST})
    assert model.best_round == int(np.argmax(evals["test"]["auc"])) + 1
    by_train, evals = trained(params, rounds=30, valid={"test": TEST, "train": TRAIN})
    assert by_train.best_round == int(np.argmax(evals["train"]["auc"])) + 1 > model.best_round


def test_training_to_the_end_keeps_the_best_round():
    model, evals = trained({"early_stopping_rounds": 1000}, rounds=60, valid={"test": TEST})
    assert model.rounds == 60
    assert model.best_round == int(np.argmin(evals["test"]["logloss"])) + 1 < 60


def test_no_rounds_have_no_best_one():
    model, evals = trained({"early_stopping_rounds": 3}, rounds=0, valid={"test": TEST})
    assert (model.rounds, model.best_round, evals) == (0, None, {})


def test_zero_patience_means_no_early_stopping():
    model, _ = trained({"early_stopping_rounds": 0}, rounds=50)
    assert (model.rounds, model.best_round) == (50, None)


@pytest.mark.parametrize(
    ("values", "higher", "min_delta", "best", "stopped"),
    [
        ([5.0, 4.0, 3.0, 3.0, 3.5], False, 0.0, 3, 5),
        ([0.5, 0.6, 0.6, 0.7, 0.1, 0.7], True, 0.0, 4, 6),
        ([5.0, 4.9, 4.8, 4.7], False, 0.15, 3, None),
        ([5.0, 4.9, 4.8, 4.7], False, 0.5, 1, 3),
        ([-1.0, -2.0, -3.0], False, 0.0, 3, None),
    ],
)
def test_early_stopping_waits_for_two_rounds_without_improvement(values, higher, min_delta, best, stopped):
    watch = EarlyStopping(2, min_delta)
    said = [
        watch.update(done, MetricValue("metric", value, higher)) for done, value in enumerate(values, start=1)
    ]
    assert watch.best_round == best
    assert [done for done, stop in enumerate(said, start=1) if stop][:1] == (
        [] if stopped is None else [stopped]
    )


@pytest.mark.parametrize(
    ("values", "stopped", "why"),
    [
        ([8.0, 4.0, 3.0, 2.9999, 2.9998], 5, "converged"),
        ([8.0, 4.0, 3.0, 2.9, 2.8], None, None),
        ([8.0, 4.0, 3.0, 3.0, 2.9998, 2.9999], None, None),  # not every round is better than the one before
        ([8.0, 3.0, 3.1, 3.2], 4, "patience"),
    ],
)
def test_early_stopping_may_end_where_every_round_gains_next_to_nothing(values, stopped, why):
    watch = EarlyStopping(2, flat=1e-3)
    said = [
        watch.update(done, MetricValue("mae", value, False)) for done, value in enumerate(values, start=1)
    ]
    assert said.index(True) + 1 == stopped if stopped else not any(said)
    assert watch.ended == why
    assert watch.best == MetricValue("mae", min(values), False)


def test_validation_columns_are_matched_by_name():
    names = ["a", "b", "c"]
    data = sp.Dataset(X[:200], Y[:200], names=names)
    frame = pd.DataFrame(X[200:], columns=names)
    found = []
    for table in (X[200:], frame, frame[["c", "a", "b"]]):
        history = sp.History()
        valid = {"test": sp.Dataset(table, Y[200:], reference=data)}
        sp.train(LOGISTIC, data, rounds=5, valid=valid, callbacks=[history])
        found.append(history.evals)
    assert found[0] == found[1] == found[2]


def test_validation_values_missing_where_training_had_none_take_the_default_direction():
    data = sp.Dataset(np.nan_to_num(X[:200]), Y[:200])
    history = sp.History()
    test = sp.Dataset(X[200:], Y[200:], reference=data)
    model = sp.train(LOGISTIC, data, rounds=5, valid={"test": test}, callbacks=[history])
    with Team(1) as team:
        predictions = metrics.Predictions(model.predict_raw(X[200:])[None], "logistic", team)
        found = metrics.get("logloss", model.params).compute(predictions, Labels(Y[200:])).value
    assert history.evals["test"]["logloss"][-1] == found


def test_validation_sets_do_not_change_the_model():
    assert trained({}, rounds=5, valid={"a": TRAIN, "b": TEST})[0] == trained({}, rounds=5)[0]


def test_a_callback_is_told_every_round():
    seen = []
    sp.train(LOGISTIC, TRAIN, rounds=3, valid={"test": TEST}, callbacks=[seen.append])
    assert [(info.round, info.rounds) for info in seen] == [(1, 3), (2, 3), (3, 3)]
    assert all(list(info.evals) == ["test"] and "logloss" in info.evals["test"] for info in seen)


def test_without_validation_data_a_callback_is_told_no_metrics():
    seen = []
    sp.train(LOGISTIC, TRAIN, rounds=2, callbacks=[seen.append])
    assert [dict(info.evals) for info in seen] == [{}, {}]


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_that_answers_true_ends_the_training(answer):
    called = []

    def stop(info):
        called.append(info.round)
        return answer if info.round == 3 else np.False_

    later = []
    model = sp.train(LOGISTIC, TRAIN, rounds=10, callbacks=[stop, later.append])
    assert model.rounds == 3
    assert called == [1, 2, 3]
    assert len(later) == 3


@pytest.mark.parametrize("answer", [None, False, 1, "stop"])
def test_any_other_answer_does_not_end_it(answer):
    assert sp.train(LOGISTIC, TRAIN, rounds=3, callbacks=[lambda info: answer]).rounds == 3


def test_an_error_in_a_callback_comes_through():
    def fail(info):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sp.train(LOGISTIC, TRAIN, rounds=3, callbacks=[fail])


def test_nothing_is_printed_unless_asked_for(capfd):
    sp.train(LOGISTIC | {"early_stopping_rounds": 2}, TRAIN, rounds=50, valid={"test": TEST})
    assert capfd.readouterr() == ("", "")


def test_a_history_starts_anew_with_each_training():
    history = sp.History()
    sp.train(LOGISTIC, TRAIN, rounds=4, valid={"test": TEST, "train": TRAIN}, callbacks=[history])
    first = history.evals
    sp.train(LOGISTIC, TRAIN, rounds=2, valid={"test": TEST}, callbacks=[history])
    assert {name: len(values["logloss"]) for name, values in first.items()} == {"test": 4, "train": 4}
    assert history.evals == {"test": {"logloss": first["test"]["logloss"][:2]}}


def test_a_history_is_empty_after_a_training_of_no_rounds():
    history = sp.History()
    for rounds in (2, 0):
        sp.train(LOGISTIC, TRAIN, rounds, valid={"test": TEST}, callbacks=[history])
    assert history.evals == {}


def test_a_history_that_is_given_twice_keeps_each_round_once():
    history, alone = sp.History(), sp.History()
    sp.train(LOGISTIC, TRAIN, 3, valid={"test": TEST}, callbacks=[history, history])
    sp.train(LOGISTIC, TRAIN, 3, valid={"test": TEST}, callbacks=[alone])
    assert history == alone


def test_a_history_that_another_callback_calls_starts_anew():
    history = sp.History()
    for _ in range(2):
        sp.train(LOGISTIC, TRAIN, 3, valid={"test": TEST}, callbacks=[lambda info: history(info)])
    assert len(history.evals["test"]["logloss"]) == 3


@pytest.mark.parametrize("rounds", [0, 2])
def test_a_callback_is_told_that_a_training_starts(rounds):
    class Notes(list):
        def begin(self, rounds):
            self.append(("begin", rounds))

        def __call__(self, info):
            self.append(info.round)

    notes = Notes()
    sp.train(LOGISTIC, TRAIN, rounds, callbacks=[notes, notes])
    assert notes == [("begin", rounds), *range(1, rounds + 1)]


def test_a_progress_bar_shows_the_rounds_and_metrics(capfd):
    sp.train(LOGISTIC, TRAIN, rounds=3, valid={"test": TEST}, progress=True)
    shown = "".join(capfd.readouterr())
    assert "3/3" in shown
    assert "logloss" in shown


def test_a_progress_bar_of_ones_own_is_a_callback(capfd):
    with sp.ProgressBar("growing") as bar:
        model = sp.train(LOGISTIC, TRAIN, rounds=2, callbacks=[bar])
    assert model == sp.train(LOGISTIC, TRAIN, rounds=2)
    assert "growing" in "".join(capfd.readouterr())


def test_a_progress_bar_counts_each_training_by_itself(capfd):
    with sp.ProgressBar() as bar:
        for rounds in (2, 5):
            sp.train(LOGISTIC, TRAIN, rounds=rounds, callbacks=[bar])
    shown = capfd.readouterr().out
    assert "2/2" in shown
    assert "5/5" in shown


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_progress_bar_shows_a_line_for_each_training_with_rounds(wrapped, capfd):
    with sp.ProgressBar() as bar:
        for rounds in (2, 0, 5):
            sp.train(LOGISTIC, TRAIN, rounds, callbacks=[lambda info: bar(info)] if wrapped else [bar, bar])
    last = capfd.readouterr().out.rstrip().splitlines()[-2:]
    assert [line.split("/")[1][0] for line in last] == ["2", "5"]


def test_a_validation_set_may_have_fewer_rows_than_there_are_classes():
    classes = np.digitize(np.nan_to_num(X[:, 0]), [-0.5, 0.5])
    data = sp.Dataset(X[:200], classes[:200])
    few = sp.Dataset(X[200:202], classes[200:202], reference=data)
    history = sp.History()
    model = sp.train(
        {"objective": "softmax", "num_class": 3}, data, 2, valid={"few": few}, callbacks=[history]
    )
    expected = -np.log(model.predict(X[200:202])[[0, 1], classes[200:202]]).mean()
    assert history.evals["few"]["mlogloss"][-1] == pytest.approx(expected, rel=1e-6)
    with pytest.raises(DataError, match="num_class = 3 is more than there are rows \\(2\\)"):
        sp.train({"objective": "softmax", "num_class": 3}, few, 1)


def test_a_wrong_label_of_a_validation_set_is_told_with_its_name():
    wrong = sp.Dataset(X[:5], np.full(5, 2.0), reference=TRAIN)
    with pytest.raises(DataError, match="valid\\['late'\\]: objective log_loss needs labels 0 and 1"):
        sp.train(LOGISTIC, TRAIN, 1, valid={"late": wrong})


LIGHT = ", or weigh nothing beside those of it;"
LONE = {
    "one class": ([1.0, 1.0, 1.0, 1.0], None, ";"),
    "the other class": ([0.0, 0.0, 0.0, 0.0], None, ";"),
    "a class of weight 0": ([1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 2.0], LIGHT),
    "a class that weighs nothing beside the other": ([1.0, 0.0, 0.0, 1.0], [1e-30, 1e300, 1.0, 0.0], LIGHT),
}


@pytest.fixture
def no_training(monkeypatch):
    def refuse(*_):
        raise AssertionError("work was begun")

    monkeypatch.setattr(driver, "Team", refuse)


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(("target", "weight", "more"), LONE.values(), ids=LONE)
@pytest.mark.parametrize("names", [["auc"], ["auc", "logloss"]])
def test_a_validation_set_of_one_class_has_no_auc(target, weight, more, names):
    lone = sp.Dataset(X[:4], target, weight=weight, reference=TRAIN)
    params = LOGISTIC | {"eval_metric": names}
    message = rf"valid\['late'\]: eval_metric='auc' needs rows of both classes .* all are of one class{more}"
    for stopping in ({}, {"early_stopping_rounds": 3}):
        with pytest.raises(DataError, match=message):
            sp.train(params | stopping, TRAIN, 5, valid={"test": TEST, "late": lone, "train": TRAIN})


@pytest.mark.usefixtures("no_training")
def test_a_watched_training_set_of_one_class_has_no_auc():
    lone = sp.Dataset(X[:4], np.ones(4))
    with pytest.raises(DataError, match=r"valid\['train'\]: eval_metric='auc' needs rows of both classes"):
        sp.train(LOGISTIC | {"eval_metric": "auc", "base_score": 0.0}, lone, 5, valid={"train": lone})


def test_other_metrics_judge_a_validation_set_of_one_class():
    lone = sp.Dataset(X[:4], np.ones(4), reference=TRAIN)
    _, evals = trained({"eval_metric": ["logloss", "error"]}, rounds=3, valid={"lone": lone})
    assert np.isfinite(evals["lone"]["logloss"]).all()


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"eval_set": (X[:4], ["yes"] * 4)}, "eval_set"),
        ({"eval_set": [(X[:200], Y_WORDS[:200]), (X[:4], ["yes"] * 4)]}, r"eval_set\[1\]"),
        ({"eval_set": (X[:2], ["yes", "no"]), "eval_sample_weight": [1.0, 0.0]}, "eval_set"),
    ],
)
def test_an_estimator_names_the_evaluation_set_of_one_class(given, where):
    gbm = sp.GBMClassifier(eval_metric="auc", early_stopping_rounds=3)
    with pytest.raises(DataError, match=rf"^{where}: eval_metric='auc' needs rows of both classes"):
        gbm.fit(X[:200], Y_WORDS[:200], **given)


@pytest.mark.usefixtures("no_training")
def test_an_estimator_says_when_it_holds_out_rows_of_one_class():
    gbm = sp.GBMClassifier(eval_metric="auc", validation_fraction=0.01)
    with pytest.raises(DataError, match=r"held out by validation_fraction=0.01: eval_metric='auc'"):
        gbm.fit(X[:100], Y_WORDS[:100])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_early_stopping_does_not_go_by_what_is_no_finite_number(monkeypatch, value):
    class Strange(metrics.Metric):
        def check(self, labels):
            """All labels have it."""

        def compute(self, predictions, labels):
            return metrics.MetricValue("logloss", value, False)

    monkeypatch.setattr(evaluation, "metrics_of", lambda config: [Strange()])
    message = rf"logloss of valid\['test'\] is {value} after round 1, which early stopping cannot use"
    with pytest.raises(DataError, match=message):
        trained({"early_stopping_rounds": 2}, valid={"test": TEST})
    assert trained({}, rounds=2, valid={"test": TEST})[0].rounds == 2

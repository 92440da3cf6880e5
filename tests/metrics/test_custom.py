"""Metrics that users write, given to `train`, and the metrics that early stopping uses."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import spinney as sp
from spinney.errors import DataError, OwnFunctionError, ParameterError, ParameterTypeError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] + RNG.normal(size=300) > 0).astype(float)
WEIGHT = RNG.random(300)
CLASSES = np.digitize(X[:, 0], [-0.5, 0.5]) * 1.0
TRAIN = sp.Dataset(X[:200], Y[:200])
TEST = sp.Dataset(X[200:], Y[200:], reference=TRAIN)
HEAVY = sp.Dataset(X[200:], Y[200:], weight=WEIGHT[200:], reference=TRAIN)
LOGISTIC = {"objective": "log_loss", "min_child_samples": 5, "learning_rate": 0.3}


def far(scores, labels):
    return "far", np.mean(np.abs(scores - labels) > 1), False


def spread(scores, labels):
    return "spread", float(np.ptp(scores)), True


def trained(params=None, rounds=4, valid=None, data=TRAIN, **given):
    history = sp.History()
    valid = {"test": TEST} if valid is None else valid
    model = sp.train(LOGISTIC | (params or {}), data, rounds, valid=valid, callbacks=[history], **given)
    return model, history.evals


def test_a_custom_metric_is_computed_after_the_named_ones():
    _, evals = trained({"eval_metric": ["auc", "error"]}, metrics=[far, "brier", spread])
    assert list(evals["test"]) == ["auc", "error", "far", "brier", "spread"]
    assert all(len(values) == 4 for values in evals["test"].values())


def test_a_custom_metric_gets_raw_scores_and_the_target():
    seen = []

    def keep(scores, labels):
        seen.append((scores, labels))
        return "keep", 0.0, False

    model, evals = trained(metrics=[keep])
    assert list(evals["test"]) == ["logloss", "keep"]
    for done, (scores, labels) in enumerate(seen, start=1):
        assert scores.tolist() == model.predict_raw(X[200:], rounds=done).tolist()
        assert labels.tolist() == labels.target.tolist() == Y[200:].tolist()
        assert (labels.weight, labels.margin, labels.rows) == (None, None, 100)
        assert isinstance(labels > 0.5, np.ndarray)
        assert type(labels.target) is np.ndarray


def test_scores_of_several_outputs_stand_by_row_and_output():
    shapes = []

    def shape(scores, labels):
        shapes.append((scores.shape, scores.argmax(axis=1).tolist()))
        return "shape", 1.0, True

    data = sp.Dataset(X, CLASSES)
    model, _ = trained(
        {"objective": "softmax", "num_class": 3}, rounds=2, valid={"own": data}, data=data, metrics=[shape]
    )
    assert shapes[-1] == ((300, 3), model.predict(X).argmax(axis=1).tolist())


@pytest.mark.parametrize(
    "function",
    [
        lambda scores, labels: ("mass", labels.weight.sum(), True),
        lambda scores, labels, w: ("mass", w.sum(), True),
        lambda scores, labels, weight=None: ("mass", weight.sum(), True),
        lambda scores, labels, *, sample_weight: ("mass", sample_weight.sum(), True),
    ],
)
def test_a_custom_metric_that_takes_weights_gets_them(function):
    _, evals = trained(valid={"heavy": HEAVY}, metrics=[function])
    assert evals["heavy"]["mass"] == [WEIGHT[200:].sum()] * 4


def test_rows_without_weights_have_none():
    _, evals = trained(metrics=[lambda scores, labels, w: ("none", float(w is None), True)])
    assert evals["test"]["none"] == [1.0] * 4


def test_a_custom_metric_cannot_change_the_training():
    def spoil(scores, labels):
        scores[:], labels[:] = 0.0, 0.0
        labels.weight[:] = 0.0
        return "spoil", 0.0, False

    data = sp.Dataset(X, Y, weight=WEIGHT)
    model, evals = trained(
        {"eval_metric": "none"}, valid={"own": data}, data=data, metrics=[spoil, "logloss"]
    )
    plain, others = trained(valid={"own": data}, data=data)
    assert model.predict(X).tolist() == plain.predict(X).tolist()
    assert evals["own"]["logloss"] == others["own"]["logloss"]


def test_early_stopping_goes_by_the_last_metric_and_its_direction():
    params = {"early_stopping_rounds": 3}
    up, evals = trained(params, rounds=12, metrics=[spread])
    assert up.best_round == int(np.argmax(evals["test"]["spread"])) + 1
    down, evals = trained(params, rounds=60, metrics=[spread, lambda s, y: ("width", np.ptp(s), False)])
    assert (down.best_round, down.rounds) == (1, 4)


def test_with_first_metric_only_early_stopping_goes_by_the_first():
    params = {"early_stopping_rounds": 3, "eval_metric": ["logloss", "auc"]}
    valid = {"train": TRAIN, "test": TEST}
    last, evals = trained(params, rounds=60, valid=valid)
    first, others = trained(params | {"first_metric_only": True}, rounds=60, valid=valid)
    assert last.best_round == int(np.argmax(evals["test"]["auc"])) + 1
    assert first.best_round == int(np.argmin(others["test"]["logloss"])) + 1
    assert first.best_round != last.best_round
    assert first.params.first_metric_only


def test_a_custom_metric_can_be_the_only_and_first_one():
    params = {"eval_metric": "none", "early_stopping_rounds": 3, "first_metric_only": True}
    model, evals = trained(params, rounds=40, metrics=[far, "auc"])
    assert list(evals["test"]) == ["far", "auc"]
    assert model.best_round == int(np.argmin(evals["test"]["far"])) + 1


def test_no_metric_at_all_leaves_nothing_to_stop_by():
    assert trained({"eval_metric": "none"})[1] == {}
    with pytest.raises(ParameterError, match="early_stopping_rounds needs a metric, but eval_metric='none'"):
        trained({"eval_metric": "none", "early_stopping_rounds": 3})


def test_custom_metrics_do_not_stand_in_the_model():
    model, _ = trained(metrics=[far])
    assert model == trained()[0]


def test_an_error_in_a_custom_metric_names_it_and_keeps_its_cause():
    def shaky(scores, labels):
        return "shaky", scores[10**6], False

    with pytest.raises(OwnFunctionError, match="the metric 'shaky' failed with IndexError: ") as caught:
        trained(metrics=[shaky])
    assert isinstance(caught.value.__cause__, IndexError)
    assert isinstance(caught.value, ValueError)


def test_an_interrupt_in_a_custom_metric_comes_through():
    def stopped(scores, labels):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(metrics=[stopped])


WRONG = {
    "a lone number": (0.5, r"must return \(name, value, higher_is_better\), not 0.5"),
    "nothing": (None, r"must return \(name, value, higher_is_better\), not None"),
    "a pair": (("odd", 0.5), r"must return \(name, value, higher_is_better\), not \('odd', 0.5\)"),
    "no name": ((3, 0.5, True), "must return its name first, not 3"),
    "no direction": (("odd", 0.5, "up"), "must return True or False last, .* not 'up'"),
    "an array": (("odd", np.zeros(3), True), r"one number as its value, not an array of shape \(3,\)"),
    "text": (("odd", "0.5", True), "must return a number as its value, not '0.5'"),
    "a truth value": (("odd", True, True), "must return a number as its value, not True"),
    "NaN": (("odd", np.nan, True), "the metric 'odd' gave NaN"),
}


@pytest.mark.parametrize(("answer", "message"), WRONG.values(), ids=WRONG)
def test_what_a_custom_metric_must_return_is_in_the_message(answer, message):
    def odd(scores, labels):
        return answer

    with pytest.raises(OwnFunctionError, match=message):
        trained(metrics=[odd])


def test_a_number_without_dimensions_is_a_value():
    _, evals = trained(
        metrics=[lambda s, y: ("zero", np.array(0.25), False), lambda s, y: ["one", 1, np.True_]]
    )
    assert (evals["test"]["zero"][0], evals["test"]["one"][0]) == (0.25, 1.0)


def test_two_metrics_of_one_name_are_refused():
    with pytest.raises(OwnFunctionError, match="two metrics are called 'logloss'"):
        trained(metrics=[lambda scores, labels: ("logloss", 0.0, False)])


@pytest.mark.parametrize("given", [far, "auc", 3])
def test_custom_metrics_come_in_a_list(given):
    with pytest.raises(ParameterTypeError, match="metrics must be a list of functions or names"):
        trained(metrics=given)


def test_a_custom_metric_is_a_function_or_a_name():
    with pytest.raises(ParameterTypeError, match="metrics must be functions or names, got 3"):
        trained(metrics=[far, 3])
    with pytest.raises(ParameterError, match="eval_metric='mlogloss' does not fit objective='log_loss'"):
        trained(metrics=["mlogloss"])
    with pytest.raises(ParameterError, match="names the metric 'auc' twice"):
        trained({"eval_metric": "auc"}, metrics=[far, "auc"])


def test_early_stopping_does_not_use_an_infinite_value():
    with pytest.raises(DataError, match=r"endless of valid\['test'\] is inf after round 1"):
        trained({"early_stopping_rounds": 2}, metrics=[lambda s, y: ("endless", np.inf, False)])


def regression(metric, target, weight=None):
    data = sp.Dataset(X, Y)
    other = sp.Dataset(X[: len(target)], target, weight=weight, reference=data)
    history = sp.History()
    model = sp.train({"eval_metric": metric}, data, 3, valid={"late": other}, callbacks=[history])
    return model, history.evals["late"]


def test_a_regression_of_zeros_and_ones_has_an_auc():
    model, evals = regression(["auc", "average_precision"], Y)
    assert evals["auc"][-1] == pytest.approx(roc_auc_score(Y, model.predict(X)), rel=1e-12)
    expected = average_precision_score(Y, model.predict(X))
    assert evals["average_precision"][-1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "target", "message"),
    [
        ("auc", [0.0, 1.0, 2.0], r"'auc' needs targets that are 0 or 1, got y\[2\] = 2"),
        ("auc", [0.0, 0.0, 0.0], "'auc' needs rows of both classes"),
        ("rmsle", [0.0, -1.0], r"'rmsle' needs targets that are above -1, got y\[1\] = -1"),
    ],
)
def test_a_target_without_such_a_metric_is_refused_with_the_name_of_its_data(metric, target, message):
    with pytest.raises(DataError, match=rf"valid\['late'\]: eval_metric={message}"):
        regression(metric, target)


def test_rows_of_weight_zero_may_have_any_target():
    _, evals = regression("rmsle", [0.0, 1.0, -5.0], weight=[1.0, 1.0, 0.0])
    assert np.isfinite(evals["rmsle"]).all()


@pytest.mark.parametrize("metric", ["auc", "auc_ovr", "auc_ovo", "average_precision"])
def test_areas_of_many_classes_need_rows_of_all(metric):
    data = sp.Dataset(X, CLASSES)
    few = sp.Dataset(X[:50], np.minimum(CLASSES[:50], 1.0), reference=data)
    params = {"objective": "softmax", "num_class": 3, "eval_metric": metric}
    with pytest.raises(
        DataError, match=rf"valid\['few'\]: eval_metric='{metric}' needs rows of all 3 classes"
    ):
        sp.train(params, data, 3, valid={"few": few})


def test_metrics_of_classes_need_a_target_of_classes_where_the_loss_is_a_function():
    data = sp.Dataset(np.arange(4.0).reshape(-1, 1), [0.0, 1.0, 2.0, 0.5])

    def loss(scores, labels):
        return np.zeros(scores.shape), np.ones(scores.shape)

    for classes, wrong in ((0, r"from 0 to 1, got y\[2\] = 2"), (3, r"from 0 to 2, got y\[3\] = 0.5")):
        params = {"num_class": classes, "eval_metric": ["accuracy"]}
        with pytest.raises(
            DataError, match=f"eval_metric='accuracy' needs targets that are whole .* {wrong}"
        ):
            sp.train(params, data, 1, objective=loss, valid={"seen": data})

"""Losses that users wrote, as functions given to `train`."""

import json
from functools import partial

import numpy as np
import pytest

import spinney as sp
from spinney.errors import ModelFormatError, OwnFunctionError, ParameterError, ParameterTypeError
from spinney.model.boosted import Model
from spinney.model.header import read

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = X[:, 0] * 2 + X[:, 1] ** 2 + 0.1 * RNG.normal(size=300)
WEIGHT = RNG.random(300)
CLASSES = np.digitize(Y, [0.0, 1.5]) * 1.0
DATA = sp.Dataset(X, Y)
WEIGHTED = sp.Dataset(X, Y, weight=WEIGHT)
FEW = {"max_leaves": 6}


def squared(scores, labels):
    weight = np.ones(len(scores)) if labels.weight is None else labels.weight
    return (scores - labels.target) * weight, weight


def softmax(scores, labels):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    hit = labels.target[:, None] == np.arange(scores.shape[1])
    return p - hit, scores.shape[1] / (scores.shape[1] - 1) * p * (1 - p)


@pytest.mark.parametrize("data", [DATA, WEIGHTED], ids=["plain", "weighted"])
def test_a_function_with_the_gradients_of_a_named_loss_grows_its_trees(data):
    start = {"base_score": 0.5} | FEW
    named = sp.train({"objective": "squared_error"} | start, data, 8)
    custom = sp.train(start, data, 8, objective=squared)
    assert custom.forest.threshold.tolist() == named.forest.threshold.tolist()
    np.testing.assert_allclose(custom.predict(X), named.predict(X), rtol=1e-6)


def test_labels_are_the_target_and_have_weights():
    def by_attribute(scores, labels):
        return (scores - labels.target) * labels.weight, labels.weight

    def as_array(scores, labels):
        return (scores - labels) * labels.weight, labels.weight

    attribute, array = (sp.train(FEW, WEIGHTED, 3, objective=f) for f in (by_attribute, as_array))
    assert attribute == array


def test_a_function_may_stand_among_the_parameters_under_any_spelling():
    beside = sp.train(FEW, DATA, 3, objective=squared)
    assert sp.train({"objective": squared} | FEW, DATA, 3) == beside
    assert sp.train({"loss": squared} | FEW, DATA, 3) == beside


def test_scores_of_several_outputs_are_rows_by_outputs():
    data = sp.Dataset(X, CLASSES)
    seen = []

    def loss(scores, labels):
        seen.append((scores.shape, len(labels), labels.weight, labels.margin))
        return softmax(scores, labels)

    custom = sp.train({"num_class": 3, "base_score": 0.0} | FEW, data, 5, objective=loss)
    named = sp.train({"objective": "softmax", "num_class": 3, "base_score": 0.0} | FEW, data, 5)
    assert seen == [((300, 3), 300, None, None)] * 5
    assert custom.outputs == 3
    np.testing.assert_allclose(custom.predict(X), named.predict_raw(X), rtol=1e-5, atol=1e-6)


def test_scores_start_at_zero_or_at_what_is_given():
    assert sp.train(FEW, DATA, 0, objective=squared).base_score.tolist() == [0.0]
    margin = sp.Dataset(X, Y, base_margin=Y)
    seen = []

    def loss(scores, labels):
        seen.append((scores.tolist(), labels.margin[:, 0].tolist()))
        return squared(scores, labels)

    sp.train(FEW, margin, 1, objective=loss)
    assert seen == [(Y.tolist(), Y.tolist())]


def test_a_model_of_a_function_predicts_raw_scores_and_has_no_other_objective_in_its_file(tmp_path):
    model = sp.train(FEW, DATA, 4, objective=squared)
    model.save(tmp_path / "custom.safetensors")
    again = sp.load(tmp_path / "custom.safetensors")
    assert again == model
    assert again.objective == "own"
    assert again.predict(X).tolist() == model.predict_raw(X).tolist() == again.predict_raw(X).tolist()
    assert json.loads(model.to_json())["objective"] == "own"
    assert repr(model).startswith("Model(objective='own'")


@pytest.mark.parametrize("name", ["squared", "own ", "", "__import__('os')"])
def test_a_file_with_an_unknown_objective_is_refused(name):
    model = sp.train(FEW, DATA, 1, objective=squared)
    described = json.loads(model.to_json())
    del described["trees"], described["base_score"]
    assert Model.FILE.read_fields(read(json.dumps(described)))["objective"] == "own"
    described["params"]["objective"] = name
    with pytest.raises(ModelFormatError, match="wrong parameter: objective"):
        Model.FILE.read_fields(read(json.dumps(described)))


def test_weights_of_any_size_are_handed_over_as_they_were_given():
    for factor in (1e-200, 1.0, 1e200):
        data = sp.Dataset(X, Y, weight=WEIGHT * factor)
        seen = []

        def loss(scores, labels, seen=seen):
            seen.append(labels.weight)
            return squared(scores, labels)

        custom = sp.train({"reg_lambda": 0.0, "min_child_weight": 0.0} | FEW, data, 3, objective=loss)
        np.testing.assert_allclose(seen[0], WEIGHT * factor, rtol=1e-15)
        assert np.abs(custom.predict(X) - Y).mean() < np.abs(Y).mean()


@pytest.mark.parametrize("factor", [1e-25, 1e25])
def test_huge_and_tiny_gradients_train_as_well(factor):
    def loss(scores, labels):
        return (scores - labels.target) * factor, np.full(len(scores), factor)

    plain = sp.train({"reg_lambda": 0.0, "min_child_weight": 0.0} | FEW, DATA, 5, objective=squared)
    scaled = sp.train({"reg_lambda": 0.0, "min_child_weight": 0.0} | FEW, DATA, 5, objective=loss)
    np.testing.assert_allclose(scaled.predict(X), plain.predict(X), rtol=1e-3, atol=1e-3)


def test_a_model_does_not_depend_on_the_threads():
    made = [sp.train({"n_jobs": jobs} | FEW, WEIGHTED, 3, objective=squared) for jobs in (1, 2)]
    assert made[0] == made[1]


def test_named_metrics_are_of_raw_scores_and_there_is_none_by_default():
    history = sp.History()
    valid = {"train": DATA}
    model = sp.train(
        FEW | {"eval_metric": "rmse"}, DATA, 3, objective=squared, valid=valid, callbacks=[history]
    )
    rmse = np.sqrt(np.mean((model.predict(X) - Y) ** 2))
    assert history.evals["train"]["rmse"][-1] == pytest.approx(rmse)
    sp.train(FEW, DATA, 3, objective=squared, valid=valid, callbacks=[history])
    assert history.evals.get("train", {}) == {}


def test_early_stopping_of_a_function_needs_a_metric():
    with pytest.raises(ParameterError, match="needs a metric, but an objective of your own has none"):
        sp.train({"early_stopping_rounds": 2}, DATA, 3, objective=squared, valid={"train": DATA})


class Squared:
    """A function that has its loss."""

    def __call__(self, scores, labels):
        return squared(scores, labels)

    @staticmethod
    def loss(scores, labels):
        return np.sqrt(np.average((scores - labels) ** 2, weights=labels.weight))


@pytest.mark.parametrize("data", [DATA, WEIGHTED], ids=["plain", "weighted"])
def test_the_loss_of_a_function_is_its_metric_where_none_is_named(data):
    history = sp.History()
    params = {**FEW, "early_stopping_rounds": 2}
    model = sp.train(params, data, 40, objective=Squared(), valid={"all": data}, callbacks=[history])
    found = history.evals["all"]["loss"]
    named = {**params, "eval_metric": "rmse"}
    same = sp.train(named, data, 40, objective=squared, valid={"all": data}, callbacks=[history])
    np.testing.assert_allclose(found, history.evals["all"]["rmse"])
    assert model.forest.equal(same.forest)
    sp.train(named, data, 3, objective=Squared(), valid={"all": data}, callbacks=[history])
    assert list(history.evals["all"]) == ["rmse"]
    assert list(sp.cv(FEW, data, folds=3, rounds=2, objective=Squared()).history["test"]) == ["loss"]


def test_the_loss_of_a_function_finds_the_rounds():
    seen, history, fast = [], sp.History(), {**FEW, "learning_rate": 0.3}

    def loss(scores, labels, weight):
        seen.append(weight)
        return float(np.average((scores - labels) ** 2, weights=weight))

    def custom(scores, labels):
        return squared(scores, labels)

    custom.loss = loss
    found = sp.train(fast, WEIGHTED, "auto", objective=custom, callbacks=[history])
    assert (history.auto.metric, history.auto.holdout_rows, history.auto.refitted) == ("loss", 30, True)
    assert len(seen) == history.auto.tried
    assert len(seen[0]) == 30
    named = sp.train({**fast, "eval_metric": "mse"}, WEIGHTED, "auto", objective=squared)
    assert found.forest.equal(named.forest)


def test_a_loss_that_gives_no_number_is_refused():
    def custom(scores, labels):
        return squared(scores, labels)

    custom.loss = lambda scores, labels: (scores - labels) ** 2
    with pytest.raises(OwnFunctionError, match="the metric 'loss' must return one number"):
        sp.train(FEW, DATA, 2, objective=custom, valid={"all": DATA})
    custom.loss = 3
    with pytest.raises(ParameterError, match="an objective of your own has none"):
        sp.train(FEW, DATA, "auto", objective=custom)


@pytest.mark.parametrize("how", [{}, {"valid": {"all": DATA}}, {"validation": "last"}], ids=str)
def test_rounds_of_a_function_without_a_metric_cannot_be_found(how):
    calls = []

    def custom(scores, labels):
        calls.append(len(scores))
        return squared(scores, labels)

    with pytest.raises(
        ParameterError, match=r"rounds='auto' needs a metric .* eval_metric, .* `loss` .* number of rounds"
    ):
        sp.train(FEW, DATA, "auto", objective=custom, **how)
    assert calls == []


def test_a_function_that_shall_have_no_metric_does_the_usual_rounds():
    history = sp.History()
    custom = {**FEW, "eval_metric": "none"}
    assert sp.train(custom, DATA, "auto", objective=squared, callbacks=[history]).rounds == 100
    assert history.auto.stopped_by == "no hold-out"


def failing(scores, labels):
    return 1 / 0


def changing(scores, labels):
    scores[0] = 1.0


def changing_target(scores, labels):
    labels.target[0] = 1.0


def answering(found):
    """A function of the name `answer` that gives this."""

    def answer(scores, labels):
        return found

    return answer


ONES = np.ones(300)
HOLED = np.where(np.arange(300) == 7, np.nan, 1.0)
WRONG = {
    "an error": (failing, "the objective 'failing' failed with ZeroDivisionError: division by zero"),
    "an error of a partial": (partial(failing), "the objective 'failing' failed with ZeroDivisionError"),
    "scores changed": (changing, "the objective 'changing' failed with ValueError: .*read-only"),
    "target changed": (changing_target, "'changing_target' failed with ValueError: .*read-only"),
    "nothing": (answering(None), "'answer' must return two arrays, gradients and hessians, not a NoneType"),
    "an array": (answering(ONES), "must return two arrays, gradients and hessians, not a ndarray"),
    "three": (answering((ONES, ONES, ONES)), "must return two arrays, .*, not 3 values"),
    "too few": (answering((ONES[1:], ONES)), r"the gradients of .* have shape \(299,\); it must be \(300,\)"),
    "a column": (answering((ONES, ONES[:, None])), r"the hessians of .* have shape \(300, 1\); it must be"),
    "text": (answering((ONES, ["a"] * 300)), "the hessians of the objective 'answer' must be numbers"),
    "NaN": (answering((HOLED, ONES)), "the gradients of .* hold nan in row 7; they must be finite"),
    "infinity": (answering((ONES, ONES * np.inf)), "the hessians of .* hold inf in row 0"),
    "too large": (answering((ONES * 1e31, ONES)), r"hold 1e\+31 in row 0; they must be finite and within"),
    "negative": (answering((ONES, -HOLED)), "the hessians of .* hold nan in row 7"),
    "below zero": (answering((ONES, -ONES)), "the hessians of .* hold -1 in row 0; they must be 0 or more"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_in_a_function_has_its_name(name):
    function, message = WRONG[name]
    with pytest.raises(OwnFunctionError, match=message):
        sp.train(FEW, DATA, 1, objective=function)


def test_the_error_of_a_function_can_be_followed_to_its_cause():
    with pytest.raises(OwnFunctionError) as caught:
        sp.train(FEW, DATA, 1, objective=failing)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_objective_is_given_once():
    with pytest.raises(
        ParameterError, match="params have loss='poisson' and there is a function, objective="
    ):
        sp.train({"loss": "poisson"}, DATA, 1, objective=squared)
    with pytest.raises(ParameterError, match="and there is a function, objective="):
        sp.train({"objective": squared}, DATA, 1, objective=squared)


def test_a_name_in_the_place_of_a_function_is_refused_with_its_place():
    with pytest.raises(ParameterTypeError, match=r"objective='poisson' must be a function.*name in params"):
        sp.train({}, DATA, 1, objective="poisson")


def test_the_name_of_a_custom_objective_is_no_objective_to_train():
    with pytest.raises(ParameterError, match="to train one, give the function: objective=f"):
        sp.train({"objective": "own"}, DATA, 1)


def test_hessians_that_ignore_huge_weights_are_refused():
    data = sp.Dataset(X, Y, weight=np.full(len(Y), 1e50))
    with pytest.raises(OwnFunctionError, match=r"too small.*rows weigh up to about"):
        sp.train(FEW, data, 3, objective=lambda scores, labels: (scores - labels, np.ones(len(labels))))


def test_scores_that_a_function_keeps_do_not_change():
    kept = []

    def loss(scores, labels):
        kept.append((scores, scores.sum()))
        return squared(scores, labels)

    sp.train(FEW, DATA, 3, objective=loss)
    assert all(scores.sum() == total for scores, total in kept)
    assert len({total for _, total in kept}) == 3


@pytest.mark.parametrize("values", [ONES * 1j, np.ma.masked_array(ONES, ONES > 0)], ids=["complex", "masked"])
def test_what_is_no_real_number_is_no_gradient(values):
    with pytest.raises(OwnFunctionError, match=r"the gradients of .* must be numbers, not"):
        sp.train(FEW, DATA, 3, objective=lambda scores, labels: (values, ONES))

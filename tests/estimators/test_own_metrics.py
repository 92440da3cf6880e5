"""Metrics as names, functions and scorers in an estimator; names, weights and best values of validation data."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.base import clone

import spinney as sp
from spinney.errors import DataError, OwnFunctionError, ParameterError, ParameterTypeError

FEW = {"n_estimators": 4, "min_child_samples": 5}


def worst(y_true, y_pred):
    return float(np.max(np.abs(y_true - y_pred)))


def hits(y_true, y_pred, weight):
    return "hits", float(np.average((y_pred > 0.5) == y_true, weights=weight)), True


@pytest.fixture
def halves(table, numbers):
    return (table[:120], numbers[:120]), (table[120:], numbers[120:])


@pytest.fixture
def named(table, two):
    y = np.where(two == 1, "oak", "ash")
    return (table[:120], y[:120]), (table[120:], y[120:])


@pytest.fixture
def classes(table, three):
    y = np.array(["ash", "elm", "oak"])[three]
    return (table[:120], y[:120]), (table[120:], y[120:])


def last(model, name, where="validation_0"):
    return model.evals_result_[where][name][-1]


def test_a_function_that_gives_a_number_is_called_by_its_name(halves):
    train, other = halves
    model = sp.GBMRegressor(eval_metric=worst, **FEW).fit(*train, eval_set=other)
    assert list(model.evals_result_["validation_0"]) == ["worst"]
    assert last(model, "worst") == worst(other[1], model.predict(other[0]))


def test_names_functions_and_scorers_may_be_mixed_and_keep_their_order(named):
    train, other = named
    scorer = sk.make_scorer(sk.log_loss, greater_is_better=False, response_method="predict_proba")
    model = sp.GBMClassifier(eval_metric=[hits, "auc", scorer, sk.brier_score_loss], **FEW)
    model.fit(*train, eval_set=other)
    values = model.evals_result_["validation_0"]
    assert list(values) == ["hits", "auc", "neg_log_loss", "brier_score_loss"]
    shares = model.predict_proba(other[0])
    assert last(model, "hits") == pytest.approx(model.score(*other), rel=1e-12)
    assert last(model, "neg_log_loss") == pytest.approx(-sk.log_loss(other[1], shares), rel=1e-12)
    assert last(model, "brier_score_loss") == pytest.approx(
        sk.brier_score_loss(other[1] == "oak", shares[:, 1]), rel=1e-12
    )


@pytest.mark.parametrize(
    "name", ["accuracy", "roc_auc", "f1_macro", "balanced_accuracy", "neg_brier_score", "average_precision"]
)
def test_a_scorer_sees_a_classifier_of_two_labels(name, named):
    train, other = named
    y = [part[1] == "oak" for part in named]
    scorer = sk.get_scorer(name)
    model = sp.GBMClassifier(eval_metric=[scorer], **FEW).fit(train[0], y[0], eval_set=(other[0], y[1]))
    (values,) = model.evals_result_["validation_0"].values()
    assert values[-1] == pytest.approx(scorer(model, other[0], y[1]), rel=1e-12)


@pytest.mark.parametrize("name", ["accuracy", "roc_auc_ovo", "neg_log_loss", "f1_macro"])
def test_a_scorer_sees_a_classifier_of_three_labels(name, classes):
    train, other = classes
    scorer = sk.get_scorer(name)
    model = sp.GBMClassifier(eval_metric=scorer, **FEW).fit(*train, eval_set=other)
    (values,) = model.evals_result_["validation_0"].values()
    assert values[-1] == pytest.approx(scorer(model, *other), rel=1e-12)


def test_a_scorer_sees_a_regressor_and_the_weights(halves):
    train, other = halves
    weight = np.arange(len(other[1])) % 3
    scorer = sk.get_scorer("neg_mean_absolute_error")
    model = sp.GBMRegressor(eval_metric=["mae", scorer], **FEW)
    model.fit(*train, eval_set=other, eval_sample_weight=weight)
    expected = scorer(model, *other, sample_weight=weight)
    assert last(model, "neg_mean_absolute_error") == pytest.approx(expected, rel=1e-12)
    assert last(model, "mae") == pytest.approx(-expected, rel=1e-12)


def test_functions_of_scikit_learn_get_the_weights(halves):
    train, other = halves
    weight = np.arange(len(other[1])) % 3
    functions = [partial(sk.mean_pinball_loss, alpha=0.3), sk.mean_squared_error, worst]
    model = sp.GBMRegressor(eval_metric=functions, **FEW)
    model.fit(*train, eval_set=other, eval_sample_weight=weight)
    predicted = model.predict(other[0])
    for function in functions[:2]:
        name = getattr(function, "__name__", "mean_pinball_loss")
        assert last(model, name) == pytest.approx(
            function(other[1], predicted, sample_weight=weight), rel=1e-12
        )
    assert last(model, "worst") == worst(other[1], predicted)


def test_scorers_of_one_function_have_names_of_their_own(classes):
    train, other = classes
    scorers = [sk.get_scorer(name) for name in ("f1_macro", "f1_micro", "roc_auc_ovr", "roc_auc_ovo")]
    model = sp.GBMClassifier(eval_metric=scorers, **FEW).fit(*train, eval_set=other)
    values = model.evals_result_["validation_0"]
    assert list(values) == [
        "f1_score(average='macro')",
        "f1_score(average='micro')",
        "roc_auc_score(multi_class='ovr')",
        "roc_auc_score(multi_class='ovo')",
    ]
    for scorer, found in zip(scorers, values.values(), strict=True):
        assert found[-1] == pytest.approx(scorer(model, *other), rel=1e-12)


def test_functions_of_one_name_are_told_apart(halves):
    train, other = halves
    levels = [partial(sk.mean_pinball_loss, alpha=alpha) for alpha in (0.1, 0.9)]
    model = sp.GBMRegressor(eval_metric=[*levels, lambda y, f: 1.0, lambda y, f: 2.0], **FEW)
    model.fit(*train, eval_set=other)
    assert list(model.best_score_["validation_0"]) == [
        "mean_pinball_loss(alpha=0.1)",
        "mean_pinball_loss(alpha=0.9)",
        "<lambda>",
        "<lambda>_2",
    ]

    def mse(y_true, y_pred):
        return 5.0

    model = sp.GBMRegressor(eval_metric=["mse", mse], **FEW).fit(*train, eval_set=other)
    assert model.best_score_["validation_0"]["mse_2"] == 5.0


def test_a_metric_that_is_given_twice_is_told_before_training(halves):
    def never(info):
        raise AssertionError

    r2 = [sk.get_scorer("r2"), sk.get_scorer("r2")]
    for twice, name in (([worst, worst], "worst"), (r2, "r2_score")):
        with pytest.raises(ParameterError, match=f"eval_metric holds the metric '{name}' twice"):
            sp.GBMRegressor(eval_metric=twice).fit(*halves[0], eval_set=halves[1], callbacks=[never])


def test_a_metric_keeps_its_name(halves):
    said = iter("abcd")

    def changing(y_true, y_pred):
        return next(said), 1.0, False

    with pytest.raises(OwnFunctionError, match="the metric 'changing' gave another name than before, 'b'"):
        sp.GBMRegressor(eval_metric=changing, **FEW).fit(*halves[0], eval_set=halves[1])


def test_a_scorer_without_weights_is_not_given_any(halves):
    train, other = halves
    scorer = sk.get_scorer("neg_max_error")
    model = sp.GBMRegressor(eval_metric=scorer, **FEW)
    model.fit(*train, eval_set=other, eval_sample_weight=np.arange(len(other[1])) % 3)
    assert last(model, "neg_max_error") == scorer(model, *other)


def logistic(y_true, y_pred):
    assert y_true.dtype == np.int64
    p = 1 / (1 + np.exp(-y_pred))
    return p - y_true, p * (1 - p)


def softmax(y_true, y_pred):
    p = np.exp(y_pred)
    p /= p.sum(axis=1, keepdims=True)
    return p - np.eye(3)[y_true], p * (1 - p)


def test_metrics_of_classes_judge_a_loss_of_ones_own(named, classes):
    names = ["accuracy", "error", "f1", "balanced_accuracy"]
    for loss, (train, other) in ((logistic, named), (softmax, classes)):
        model = sp.GBMClassifier(objective=loss, eval_metric=names, **FEW).fit(*train, eval_set=other)
        found = model.best_score_["validation_0"]
        predicted = model.predict(other[0])
        assert found["accuracy"] == pytest.approx(np.mean(predicted == other[1]), rel=1e-12)
        assert list(found.values())[1] == pytest.approx(1 - found["accuracy"], rel=1e-12)
        assert found["balanced_accuracy"] == pytest.approx(
            sk.balanced_accuracy_score(other[1], predicted), rel=1e-12
        )
        told = {"pos_label": "oak"} if loss is logistic else {"average": "macro"}
        assert found["f1"] == pytest.approx(sk.f1_score(other[1], predicted, **told), rel=1e-12)


def test_a_loss_of_ones_own_has_no_probabilities_for_a_scorer(named):
    train, other = named
    given = {"objective": logistic, **FEW}
    model = sp.GBMClassifier(eval_metric=sk.get_scorer("roc_auc"), **given).fit(*train, eval_set=other)
    assert last(model, "roc_auc_score") > 0.5
    with pytest.raises(OwnFunctionError, match="'neg_log_loss' failed with ParameterError: it needs prob"):
        sp.GBMClassifier(eval_metric=sk.get_scorer("neg_log_loss"), **given).fit(*train, eval_set=other)


def test_probabilities_of_three_classes_and_numbers_of_labels_reach_a_function(classes):
    train, other = classes

    def share(y_true, y_pred):
        assert type(y_true) is np.ndarray
        return "share", float(y_pred[np.arange(len(y_true)), y_true].mean()), True

    model = sp.GBMClassifier(eval_metric=share, **FEW).fit(*train, eval_set=other)
    places = np.searchsorted(model.classes_, other[1])
    expected = model.predict_proba(other[0])[np.arange(len(places)), places].mean()
    assert last(model, "share") == pytest.approx(expected, rel=1e-12)


def test_early_stopping_goes_by_a_function_or_a_scorer(halves):
    train, other = halves
    often = {"n_estimators": 100, "learning_rate": 0.5, "min_child_samples": 2, "early_stopping_rounds": 5}
    low = sp.GBMRegressor(eval_metric=["rmse", worst], **often).fit(*train, eval_set=other)
    assert low.best_iteration_ == int(np.argmin(low.evals_result_["validation_0"]["worst"])) + 1
    r2 = sk.get_scorer("r2")
    high = sp.GBMRegressor(eval_metric=[r2, worst], first_metric_only=True, **often).fit(
        *train, eval_set=other
    )
    assert high.best_iteration_ == int(np.argmax(high.evals_result_["validation_0"]["r2_score"])) + 1
    assert high.best_score_["validation_0"]["r2_score"] == max(high.evals_result_["validation_0"]["r2_score"])


def test_an_estimator_with_functions_can_be_cloned_shown_and_pickled(halves):
    train, other = halves
    scorer = sk.get_scorer("r2")
    model = sp.GBMRegressor(eval_metric=["mae", worst, scorer], **FEW).fit(*train, eval_set=other)
    again = clone(model)
    assert again.get_params()["eval_metric"][:2] == ["mae", worst]
    assert "worst" in repr(model)
    assert again.fit(*train, eval_set=other).evals_result_ == model.evals_result_
    kept = pickle.loads(pickle.dumps(model))
    assert kept.eval_metric[1] is worst
    assert kept.predict(other[0]).tolist() == model.predict(other[0]).tolist()


def test_the_model_of_an_estimator_holds_no_functions(halves, tmp_path):
    train, other = halves
    model = sp.GBMRegressor(eval_metric=[worst], **FEW).fit(*train, eval_set=other)
    model.model_.save(tmp_path / "model.safetensors")
    assert sp.load(tmp_path / "model.safetensors") == model.model_
    assert model.model_.params.eval_metric == ("none",)


def test_what_goes_wrong_in_a_function_names_it(named):
    train, other = named

    def broken(y_true, y_pred):
        return {}["nothing"]

    with pytest.raises(OwnFunctionError, match="the metric 'broken' failed with KeyError: 'nothing'") as told:
        sp.GBMClassifier(eval_metric=["auc", broken], **FEW).fit(*train, eval_set=other)
    assert isinstance(told.value.__cause__, KeyError)
    scorer = sk.make_scorer(sk.mean_gamma_deviance)
    with pytest.raises(OwnFunctionError, match="the metric 'mean_gamma_deviance' failed with "):
        sp.GBMClassifier(eval_metric=scorer, **FEW).fit(*train, eval_set=other)


@pytest.mark.parametrize("answer", [None, "0.5", ("a", 1.0), np.zeros(2), np.nan])
def test_what_a_function_must_give_is_told(answer, halves):
    train, other = halves

    def odd(y_true, y_pred):
        return answer

    with pytest.raises(OwnFunctionError, match="the metric 'odd' "):
        sp.GBMRegressor(eval_metric=odd, **FEW).fit(*train, eval_set=other)


def test_metrics_are_names_and_functions(halves, named):
    with pytest.raises(ParameterTypeError, match="eval_metric must hold names and functions, found 3"):
        sp.GBMRegressor(eval_metric=[worst, 3]).fit(*halves[0], eval_set=halves[1])
    with pytest.raises(ParameterError, match="eval_metric='accuracy' does not fit objective='squared_error'"):
        sp.GBMRegressor(eval_metric=[worst, "accuracy"]).fit(*halves[0], eval_set=halves[1])
    lone = (named[0][0][:3], ["oak"] * 3)
    with pytest.raises(DataError, match=r"^eval_set: eval_metric='auc' needs rows of both classes"):
        sp.GBMClassifier(eval_metric=[hits, "auc"]).fit(*named[0], eval_set=lone)


def test_validation_data_have_the_names_they_are_given(halves):
    train, other = halves
    model = sp.GBMRegressor(**FEW).fit(*train, eval_set=[train, other], eval_names=["seen", "new"])
    assert list(model.evals_result_) == list(model.best_score_) == ["seen", "new"]
    held = sp.GBMRegressor(validation_fraction=0.2, **FEW).fit(*train, eval_names=["held"])
    assert list(held.evals_result_) == ["held"]


@pytest.mark.parametrize(
    ("names", "kind", "message"),
    [
        (["one"], ParameterError, r"eval_names=\['one'\] has 1 names, but there are 2 sets"),
        (["one", "one"], ParameterError, "holds a name twice"),
        ("ab", ParameterTypeError, "eval_names must be a list of str, got 'ab'"),
        (["one", 2], ParameterTypeError, "eval_names must be a list of str"),
    ],
)
def test_names_of_validation_data_fit_them(names, kind, message, halves):
    with pytest.raises(kind, match=message):
        sp.GBMRegressor(**FEW).fit(*halves[0], eval_set=list(halves), eval_names=names)


def test_names_without_validation_data_are_an_error(halves):
    with pytest.raises(ParameterError, match="has 1 names, but there are 0 sets"):
        sp.GBMRegressor(**FEW).fit(*halves[0], eval_names=["late"])


def test_the_best_values_are_those_of_the_rounds_that_predictions_use(halves):
    train, other = halves
    model = sp.GBMRegressor(eval_metric=["mae", "rmse"], **FEW).fit(*train, eval_set=other)
    assert model.best_score_ == {"validation_0": {name: last(model, name) for name in ("mae", "rmse")}}
    stopped = sp.GBMRegressor(n_estimators=100, learning_rate=0.5, early_stopping_rounds=3)
    stopped.fit(*train, eval_set=other)
    assert stopped.best_score_["validation_0"]["rmse"] == min(stopped.evals_result_["validation_0"]["rmse"])
    assert sp.GBMRegressor(**FEW).fit(*train).best_score_ == {}


def test_a_classifier_of_one_class_has_no_best_values(table):
    model = sp.GBMClassifier(eval_metric=[hits, "accuracy"]).fit(
        table, np.ones(len(table)), eval_set=(table, np.ones(len(table)))
    )
    assert model.best_score_ == {}


def test_weights_of_classes_count_in_validation_data(named):
    train, (X, y) = named
    fit = sp.GBMClassifier(eval_metric=["error", "balanced_accuracy", "accuracy"], **FEW).fit
    weighed = fit(*train, eval_set=(X, y), eval_class_weight={"oak": 3.0})
    weight = np.where(y == "oak", 3.0, 1.0)
    assert weighed.evals_result_ == fit(*train, eval_set=(X, y), eval_sample_weight=weight).evals_result_
    even = fit(*train, eval_set=[(X, y), (X, y)], eval_class_weight=["balanced", None])
    assert last(even, "accuracy") == pytest.approx(last(even, "balanced_accuracy"), rel=1e-12)
    assert last(even, "accuracy", "validation_1") != pytest.approx(last(even, "accuracy"), rel=1e-6)
    listed = fit(*train, eval_set=(X, y), eval_class_weight=["balanced"], eval_sample_weight=weight)
    assert last(listed, "accuracy") == pytest.approx(last(even, "accuracy"), rel=1e-12)


def test_weights_of_classes_of_the_training_data_do_not_fall_on_validation_data(named):
    train, _ = named
    model = sp.GBMClassifier(eval_metric="accuracy", **FEW)
    own = model.fit(*train, eval_set=train, eval_class_weight="balanced").evals_result_
    assert (
        own["validation_0"]["accuracy"]
        != model.fit(*train, eval_set=train).evals_result_["validation_0"]["accuracy"]
    )


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ("even", ParameterTypeError, "eval_class_weight='even' must be 'balanced', None, or a dict"),
        ({"oak": -1.0}, DataError, r"eval_set: eval_class_weight\['oak'\]=-1.0 must be finite and 0 or more"),
        (
            {"oak": 0.0, "ash": 0.0},
            DataError,
            "eval_set: eval_class_weight=.* leaves no row a weight above 0",
        ),
    ],
)
def test_wrong_weights_of_classes_are_told(given, kind, message, named):
    with pytest.raises(kind, match=message):
        sp.GBMClassifier(**FEW).fit(*named[0], eval_set=named[1], eval_class_weight=given)


def test_weights_of_classes_are_for_classifiers_with_validation_data(halves, named):
    with pytest.raises(
        ValueError, match="eval_class_weight='balanced' is for classifiers: GBMRegressor has no classes"
    ):
        sp.GBMRegressor(**FEW).fit(*halves[0], eval_set=halves[1], eval_class_weight="balanced")
    with pytest.raises(ParameterError, match="eval_class_weight is given without an eval_set"):
        sp.GBMClassifier(**FEW).fit(*named[0], eval_class_weight="balanced")

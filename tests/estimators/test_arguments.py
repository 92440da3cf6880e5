"""Arguments that a method does not have."""

import inspect

import pytest
from sklearn import config_context

import spinney as sp
from spinney.errors import ParameterTypeError

PARAMETER = "it is a parameter; give it to the constructor or to set_params as {}=..."
FIT = {
    "init_score": "it is called base_margin here",
    "eval_init_score": "it is called eval_base_margin here",
    "base_margin_eval_set": "it is called eval_base_margin here",
    "sample_weight_eval_set": "it is called eval_sample_weight here",
    "xgb_model": "it is called init_model here",
    "weight": "it is called sample_weight here",
    "eval_metric": PARAMETER.format("eval_metric"),
    "early_stopping_rounds": PARAMETER.format("early_stopping_rounds"),
    "categorical_feature": PARAMETER.format("categorical"),
    "num_leaves": PARAMETER.format("max_leaves"),
    "verbose": "nothing is printed unless it is requested",
    "eval_sets": "did you mean eval_set?",
    "feature_name": "`help(GBMRegressor.fit)` lists every argument",
}
PREDICT = {
    "num_iteration": "use the first so many rounds with rounds=n",
    "iteration_range": "use the first so many rounds with rounds=n",
    "ntree_limit": "use the first so many rounds with rounds=n",
    "pred_leaf": "`apply` gives the leaf of each row in each tree",
    "init_score": "it is called base_margin here",
    "round": "did you mean rounds?",
}


@pytest.fixture(scope="module")
def fitted(table, numbers):
    return sp.GBMRegressor(n_estimators=1).fit(table, numbers)


@pytest.mark.parametrize("name", FIT)
def test_a_foreign_argument_of_fit_is_refused_with_what_is_right(name, fitted, table, numbers):
    with pytest.raises(ParameterTypeError) as refused:
        fitted.fit(table, numbers, **{name: 1})
    assert str(refused.value).startswith(f"GBMRegressor.fit has no argument {name}")
    assert FIT[name] in str(refused.value)
    assert fitted.predict(table).shape == (200,)


@pytest.mark.parametrize("name", PREDICT)
def test_a_foreign_argument_of_predict_is_refused_with_what_is_right(name, fitted, table):
    for method in ("predict", "staged_predict"):
        with pytest.raises(ParameterTypeError) as refused:
            getattr(fitted, method)(table, **{name: 1})
        assert str(refused.value).startswith(f"GBMRegressor.{method} has no argument {name}")
        assert PREDICT[name] in str(refused.value)


@pytest.mark.parametrize("name", ["raw_score", "output_margin"])
def test_raw_scores_have_methods_of_their_own(name, fitted, table, two):
    with pytest.raises(ParameterTypeError, match="`predict_raw` gives raw scores"):
        fitted.predict(table, **{name: True})
    classifier = sp.GBMClassifier(n_estimators=1).fit(table, two)
    for method in (classifier.predict, classifier.predict_proba):
        with pytest.raises(ParameterTypeError, match="`decision_function` gives raw scores"):
            method(table, **{name: True})


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_signatures_hold_what_there_is(kind):
    for method in ("fit", "predict", "apply", "staged_predict"):
        parameters = inspect.signature(getattr(kind(), method)).parameters.values()
        assert not any(one.kind == one.VAR_KEYWORD for one in parameters)
    with config_context(enable_metadata_routing=True):
        routed = kind().set_fit_request(sample_weight=True).set_predict_request(base_margin=True)
        assert routed.get_metadata_routing().fit.requests["sample_weight"] is True

"""Scorers that only an estimator could answer are refused before any work."""

import numpy as np
import pytest
from sklearn import metrics as sk

import spinney as sp
from spinney.errors import ParameterTypeError

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] > 0).astype(int)


def own_scorer(estimator, X, y):
    return estimator.score(X, y)


def scorers(model):
    return [sk.check_scoring(model), sk.check_scoring(model, scoring=["r2", "neg_max_error"]), own_scorer]


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (sp.GBMClassifier(n_estimators=1), "accuracy"),
        (sp.GBMRegressor(n_estimators=1), "r2"),
        (sp.GBMRegressor(n_estimators=1, objective="quantile"), "pinball"),
        (sp.GBMRegressor(n_estimators=1, objective="cox"), "concordance"),
        (sp.GBMRanker(n_estimators=1), "ndcg"),
    ],
    ids=["classes", "numbers", "quantiles", "times", "ranks"],
)
def test_by_fit_which_names_a_metric_instead(model, named):
    given = {"group": [60]} if isinstance(model, sp.GBMRanker) else {}
    for scorer in scorers(model):
        for metric in (scorer, [named, scorer]):
            model.set_params(eval_metric=metric)
            with pytest.raises(
                ParameterTypeError, match=f"takes an estimator.* such as '{named}', a function of"
            ):
                model.fit(X, Y + 1, **given)
    model.set_params(eval_metric=named).fit(X, Y + 1, **given)


def test_by_train_and_cross_validation():
    data = sp.Dataset(X, Y)
    for scorer in (*scorers(sp.GBMRegressor()), sk.make_scorer(sk.r2_score)):
        for call in (sp.train, sp.cv):
            with pytest.raises(ParameterTypeError, match=r"metrics holds .* a scorer.*\(scores, labels\)"):
                call({}, data, 1, metrics=[scorer])


def test_by_a_forest_as_its_out_of_bag_score():
    for scorer in (*scorers(sp.GBMRegressor()), sk.get_scorer("accuracy")):
        with pytest.raises(ParameterTypeError, match=r"oob_score=.* is a scorer.*\(y_true, y_pred\)"):
            sp.RandomForestClassifier(2, oob_score=scorer).fit(X, Y)


def test_by_permutation_importance():
    model = sp.GBMRegressor(n_estimators=1).fit(X, Y)
    for scorer in scorers(model):
        with pytest.raises(ParameterTypeError, match=r"metric=.* takes an estimator.*\(y, prediction\)"):
            sp.permutation_importance(model, X, Y, metric=scorer)
        with pytest.raises(ParameterTypeError, match=r"metric=.* is a scorer.*give a name"):
            sp.bootstrap_interval(scorer, Y, Y)

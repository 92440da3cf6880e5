"""Seeds as numbers, and drawn from NumPy's sources of random numbers."""

import numpy as np
import pytest
from sklearn.base import clone

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import Config

RNG = np.random.default_rng(8)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
LARGEST = 2**31 - 1

DRAWS = {
    np.random.RandomState: lambda source: int(source.randint(LARGEST)),
    np.random.default_rng: lambda source: int(source.integers(LARGEST)),
}
ESTIMATORS = {
    "GBMClassifier": {"n_estimators": 2, "subsample": 0.5},
    "GBMRegressor": {"n_estimators": 2, "subsample": 0.5},
    "GBMRanker": {"n_estimators": 2, "subsample": 0.5},
    "RandomForestClassifier": {"n_estimators": 2},
    "RandomForestRegressor": {"n_estimators": 2},
    "ExtraTreesClassifier": {"n_estimators": 2},
    "ExtraTreesRegressor": {"n_estimators": 2},
    "DecisionTreeClassifier": {"max_features": 1},
    "DecisionTreeRegressor": {"max_features": 1},
    "IsolationForest": {"n_estimators": 2},
    "AdaBoostClassifier": {"n_estimators": 2},
    "AdaBoostRegressor": {"n_estimators": 2},
}


def made(name, seed):
    return getattr(sp, name)(**ESTIMATORS[name], random_state=seed)


def fitted(model):
    model.fit(X, Y, **({"group": [30, 30]} if isinstance(model, sp.GBMRanker) else {}))
    return (
        model.model_.params.random_state
        if hasattr(model.model_, "params")
        else model.model_.config.random_state
    )


@pytest.mark.parametrize("source", DRAWS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_each_fit_draws_one_seed_and_the_next_goes_on(name, source):
    given, twin = source(3), source(3)
    model = made(name, given)
    copy = clone(model)  # has a source of its own in the same state
    assert model.get_params()["random_state"] is given
    seeds = [DRAWS[source](twin) for _ in range(2)]
    assert [fitted(model), fitted(model)] == seeds
    assert fitted(copy) == seeds[0]
    assert DRAWS[source](given) == DRAWS[source](twin)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_none_is_0_and_what_is_no_seed_is_told(name):
    assert fitted(made(name, None)) == fitted(made(name, 0)) == 0
    for seed in ("oak", [1], True):
        with pytest.raises(
            ParameterTypeError, match=r"random_state=.* must be an int, RandomState, Generator or None"
        ):
            fitted(made(name, seed))
    with pytest.raises(ParameterError, match="random_state=-1 is out of range"):
        fitted(made(name, -1))


@pytest.mark.parametrize("source", DRAWS)
def test_functions_draw_one_seed(source):
    data, twin = sp.Dataset(X, Y), source(5)
    seed = DRAWS[source](twin)
    forest = sp.RandomForestClassifier(3).fit(X, Y)
    boosted = sp.GBMRegressor(n_estimators=2).fit(X, Y)
    calls = [
        lambda given: sp.train({"seed": given, "subsample": 0.5}, data, 2).predict(X),
        lambda given: sp.cv({"random_state": given, "subsample": 0.5}, data, 2, 2).oof,
        lambda given: sp.cv({}, data, 2, 2, seed=given).oof,
        lambda given: sp.split(data, valid=0.2, seed=given)[1].labels().target,
        lambda given: forest.permutation_importance(X, Y, random_state=given).importances,
        lambda given: sp.permutation_importance(boosted, X, Y, repeats=1, seed=given).importances,
        lambda given: [sp.bootstrap_interval("rmse", Y, X[:, 0], repeats=5, seed=given).low],
        lambda given: [sp.bias_variance(boosted, X, Y, repeats=5, seed=given).variance],
    ]
    after = DRAWS[source](twin)
    for call in calls:
        given = source(5)
        np.testing.assert_array_equal(call(given), call(seed))
        assert DRAWS[source](given) == after
        np.testing.assert_array_equal(call(0), call(None))


@pytest.mark.parametrize("source", DRAWS)
def test_a_forest_that_goes_on_keeps_the_seed_that_was_drawn(source):
    model = made("RandomForestRegressor", source(3)).set_params(warm_start=True).fit(X, Y)
    model.set_params(n_estimators=4).fit(X, Y)
    whole = made("RandomForestRegressor", source(3)).set_params(n_estimators=4).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


@pytest.mark.parametrize("source", DRAWS)
def test_boosting_that_goes_on_holds_out_the_rows_of_the_first_fit(source):
    rules = {"subsample": 0.5, "validation_fraction": 0.3, "warm_start": True}
    model = sp.GBMClassifier(n_estimators=2, **rules, random_state=source(3)).fit(X, Y)
    first = model.evals_result_["validation_0"]["logloss"]
    model.set_params(n_estimators=4).fit(X, Y)
    whole = sp.GBMClassifier(n_estimators=4, **rules, random_state=source(3)).fit(X, Y)
    assert model.evals_result_ == whole.evals_result_
    assert model.evals_result_["validation_0"]["logloss"][:2] == first
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_a_configuration_holds_the_seed_that_was_drawn():
    config = Config(random_state=np.random.default_rng(2))
    assert config.random_state == np.random.default_rng(2).integers(LARGEST)
    assert Config(**config.to_dict()) == config

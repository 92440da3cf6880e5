"""`preset` and `models` of estimators."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import spinney as sp
from spinney.errors import ParameterError
from spinney.params import Config
from spinney.params.common import PRESETS
from spinney.training import round_plan

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS = 600
FAST = {"learning_rate": 0.3, "max_leaves": 4, "models": 3, "n_jobs": 1}
RNG = np.random.default_rng(12)
X = RNG.uniform(-1, 1, (ROWS, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=ROWS)
KIND = np.where(Y > 0.5, "high", np.where(Y > 0, "low", "no"))


@pytest.fixture(scope="module")
def fitted():
    return sp.GBMRegressor(preset="best", **FAST).fit(X, Y)


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor, sp.GBMRanker])
def test_one_model_is_trained_by_default(kind):
    assert (kind().preset, kind().models) == ("default", None)


def test_a_fit_is_the_training_of_these_parameters(fitted):
    model = sp.train({"preset": "best", "target_stats": 100, **FAST}, sp.Dataset(X, Y))
    assert fitted.model_ == model
    assert model.params.subsample == PRESETS["best"]["subsample"]


def test_parameters_that_have_their_defaults_count_as_not_given():
    found = clone(sp.GBMRegressor(n_estimators=1, preset="best", learning_rate=0.1, subsample=0.9))
    assert found.get_params()["learning_rate"] == 0.1
    found, told = found.fit(X, Y), Config.parse({"preset": "best"})
    assert found.model_.params.learning_rate == told.learning_rate
    assert found.model_.params.subsample == 0.9
    assert found.n_iter_ == told.models
    assert found.set_params(models=1).fit(X, Y).n_iter_ == 1


def test_metrics_are_those_of_the_search_of_the_first_model(fitted):
    first = sp.GBMRegressor(preset="best", **{**FAST, "models": 2}).fit(X, Y)
    values = fitted.evals_result_["validation_0"]["rmse"]
    assert (first.evals_result_, first.auto_) == (fitted.evals_result_, fitted.auto_)
    assert fitted.best_score_ == {"validation_0": {"rmse": min(values)}}
    assert len(values) == fitted.auto_.tried == int(np.argmin(values)) + 1 + round_plan.PATIENCE
    assert fitted.auto_.chosen < fitted.n_iter_ == fitted.n_estimators_
    assert fitted.best_iteration_ is None
    assert repr(fitted).splitlines()[-1].startswith("# first model: ")


def test_metrics_of_several_models_of_a_number_of_rounds_end_at_the_best_of_the_first(tmp_path):
    params = {**FAST, "n_estimators": 60, "models": 2, "early_stopping_rounds": 5}
    found = sp.GBMRegressor(**params).fit(X[:500], Y[:500], eval_set=(X[500:], Y[500:]))
    values = found.evals_result_["validation_0"]["rmse"]
    assert (
        found.best_score_ == {"validation_0": {"rmse": min(values)}} == {"validation_0": {"rmse": values[-1]}}
    )
    assert found.auto_ is None
    found.save(tmp_path / "model")
    assert sp.load_estimator(tmp_path / "model").best_score_ == found.best_score_


def test_a_fitted_mean_comes_back_from_its_file(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    back = sp.load_estimator(tmp_path / "model")
    assert (back.preset, back.models) == ("best", 3)
    assert (back.evals_result_, back.best_score_) == (fitted.evals_result_, fitted.best_score_)
    np.testing.assert_array_equal(back.predict(X), fitted.predict(X))
    assert back.fit(X, Y).model_ == fitted.model_


def test_every_model_stops_by_an_eval_set():
    found = sp.GBMRegressor(preset="best", **FAST).fit(X[:500], Y[:500], eval_set=(X[500:], Y[500:]))
    data = sp.Dataset(X[:500], Y[:500])
    valid = {"validation_0": sp.Dataset(X[500:], Y[500:], reference=data)}
    assert found.model_.forest.equal(sp.train({"preset": "best", **FAST}, data, valid=valid).forest)
    assert len(found.evals_result_["validation_0"]["rmse"]) == found.auto_.tried
    assert (found.auto_.holdout_rows, found.auto_.refitted) == (0, False)


def test_early_stopping_rounds_are_the_patience_of_every_model():
    lengths = []

    class Heard:
        def begin(self, rounds):
            lengths.append(0)

        def __call__(self, info):
            lengths[-1] += 1

    found = sp.GBMRegressor(preset="best", early_stopping_rounds=4, **FAST).fit(X, Y, callbacks=[Heard()])
    assert found.n_iter_ == sum(lengths) - 4 * 3


def test_a_number_of_rounds_is_that_of_every_model():
    found = sp.GBMRegressor(n_estimators=4, preset="best", **FAST).fit(X, Y)
    assert found.n_iter_ == 12
    assert found.evals_result_ == {}


def test_probabilities_and_stages_are_those_of_a_model():
    found = sp.GBMClassifier(preset="best", max_rounds=3, **FAST).fit(X, KIND)
    stages = list(found.staged_predict_proba(X))
    assert len(stages) == found.n_iter_
    np.testing.assert_array_equal(stages[-1], found.predict_proba(X))
    np.testing.assert_allclose(stages[-1].sum(axis=1), 1.0)


def test_a_target_of_one_class_leaves_nothing_to_average():
    found = sp.GBMClassifier(preset="best").fit(X, np.full(ROWS, "yes"))
    assert found.n_iter_ == 0
    assert found.predict(X[:2]).tolist() == ["yes", "yes"]


def test_estimators_are_cross_validated_with_their_means():
    scores = cross_val_score(sp.GBMRegressor(preset="best", max_rounds=20, **FAST), X, Y, cv=2)
    assert scores.min() > 0.3


@pytest.mark.parametrize("given", [{"models": 2}, {"preset": "best"}])
def test_a_mean_cannot_be_gone_on_with(fitted, given):
    with pytest.raises(ParameterError, match="contradicts warm_start=True"):
        sp.GBMRegressor(n_estimators=2, warm_start=True, **given).fit(X, Y)
    with pytest.raises(ParameterError, match="contradicts init_model"):
        sp.GBMRegressor(n_estimators=2, **given).fit(X, Y, init_model=fitted)


@pytest.mark.parametrize(("rate", "patience"), [(0.05, 50), (0.5, round_plan.PATIENCE)])
def test_best_waits_longer(rate, patience):
    assert round_plan.patience_of(Config.parse({"preset": "best", "learning_rate": rate})) == patience


@pytest.mark.parametrize(("rate", "rounds"), [(0.05, 200), (0.1, 100), (0.5, 60)])
def test_few_rows_have_more_rounds_at_a_lower_rate(rate, rounds):
    found = sp.GBMRegressor(learning_rate=rate, max_leaves=4).fit(X[:100], Y[:100])
    assert found.n_iter_ == rounds

"""Regressors of several targets, or of several levels of a quantile."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import d2_pinball_score, r2_score

import spinney as sp
from spinney.errors import DataError, ModelFormatError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = np.column_stack([X[:, 0] + X[:, 1], np.abs(X[:, 2])]) + 0.1 * RNG.normal(size=(200, 2))
SMALL = {"n_estimators": 8, "max_leaves": 5, "learning_rate": 0.3, "min_child_samples": 5}
LEVELS = [0.1, 0.5, 0.9]


@pytest.fixture(scope="module")
def fitted():
    return sp.GBMRegressor(**SMALL).fit(X, Y)


@pytest.fixture(scope="module")
def quantiles():
    return sp.GBMRegressor(**SMALL, objective="quantile", quantile_alpha=LEVELS).fit(X, Y[:, 0])


def test_every_column_has_the_trees_of_a_regressor_of_its_own(fitted):
    alone = [sp.GBMRegressor(**SMALL).fit(X, Y[:, k]).predict(X) for k in range(2)]
    assert np.array_equal(fitted.predict(X), np.column_stack(alone))
    assert sp.GBMRegressor(**SMALL).fit(X, pd.DataFrame(Y)).model_ == fitted.model_
    assert fitted.apply(X).shape == (200, 16)


def test_the_score_is_the_mean_of_the_columns(fitted):
    assert fitted.score(X, Y) == r2_score(Y, fitted.predict(X))


def test_evaluation_and_held_out_rows_judge_all_columns():
    estimator = sp.GBMRegressor(**SMALL, early_stopping_rounds=3)
    estimator.fit(X[:150], Y[:150], eval_set=[(X[150:], Y[150:])])
    error = np.sqrt(np.mean(np.square(estimator.predict(X[150:]) - Y[150:])))
    assert estimator.best_score_["validation_0"]["rmse"] == pytest.approx(error)
    held = sp.GBMRegressor(**SMALL, validation_fraction=0.2, eval_metric=["r2", r2_score]).fit(X, Y)
    found = held.best_score_["validation_0"]
    assert found["r2"] == pytest.approx(found["r2_score"])
    with pytest.raises(
        DataError, match=r"eval_set\[0\]: y has 1 column, but that of the training rows has 2"
    ):
        sp.GBMRegressor(**SMALL).fit(X, Y, eval_set=[(X, Y[:, 0])])


def test_a_function_as_loss_trains_all_columns(fitted):
    def squares(y_true, y_pred):
        return y_pred - y_true, np.ones(y_true.shape)

    weight = np.arange(200) % 3 * 1.0
    own = sp.GBMRegressor(**SMALL, objective=squares).fit(X, Y, sample_weight=weight)
    named = sp.GBMRegressor(**SMALL, base_score=0.0).fit(X, Y, sample_weight=weight)
    assert np.array_equal(own.predict(X), named.predict(X))


def test_files_and_more_rounds_keep_all_columns(fitted, tmp_path):
    path = tmp_path / "several.safetensors"
    fitted.save(path)
    found = sp.load_estimator(path)
    assert np.array_equal(found.predict(X), fitted.predict(X))
    longer = sp.GBMRegressor(**SMALL | {"n_estimators": 10}).fit(X, Y)
    assert np.array_equal(
        found.set_params(warm_start=True, n_estimators=10).fit(X, Y).predict(X), longer.predict(X)
    )


def test_predictions_of_levels_do_not_cross(quantiles):
    said = quantiles.predict(X)
    assert said.shape == (200, 3)
    assert np.array_equal(said, np.sort(quantiles.predict_raw(X), axis=1))
    stages = list(quantiles.staged_predict(X))
    assert all((np.diff(one, axis=1) >= 0).all() for one in stages)
    assert np.array_equal(stages[-1], said)


def test_the_score_of_quantiles_is_the_explained_pinball_loss(quantiles):
    y, weight = Y[:, 0], np.arange(200) % 4 * 1.0
    said = quantiles.predict(X)
    wanted = [
        d2_pinball_score(y, said[:, k], alpha=level, sample_weight=weight) for k, level in enumerate(LEVELS)
    ]
    assert quantiles.score(X, y, sample_weight=weight) == pytest.approx(np.mean(wanted))
    one = sp.GBMRegressor(**SMALL, objective="quantile", quantile_alpha=0.8).fit(X, y)
    assert one.score(X, y) == d2_pinball_score(y, one.predict(X), alpha=0.8)
    both = sp.GBMRegressor(**SMALL, objective="quantile", quantile_alpha=0.8).fit(X, Y)
    assert both.score(X, Y) == d2_pinball_score(Y, both.predict(X), alpha=0.8)


@pytest.mark.parametrize("form", [tuple, np.array], ids=["tuple", "array"])
def test_levels_are_kept_as_given_and_saved(quantiles, form, tmp_path):
    estimator = clone(sp.GBMRegressor(**SMALL, objective="quantile", quantile_alpha=form(LEVELS)))
    estimator.fit(X, Y[:, 0])
    assert estimator.model_ == quantiles.model_
    estimator.save(tmp_path / "levels.safetensors")
    found = sp.load_estimator(tmp_path / "levels.safetensors")
    assert list(found.quantile_alpha) == LEVELS
    assert np.array_equal(found.predict(X), quantiles.predict(X))


def test_levels_take_one_column():
    with pytest.raises(ParameterError, match="several levels and num_target=2"):
        sp.GBMRegressor(objective="quantile", quantile_alpha=LEVELS).fit(X, Y)


def test_tags_tell_which_regressors_take_several_targets():
    def tells(**params):
        return sp.GBMRegressor(**params).__sklearn_tags__().target_tags.multi_output

    assert tells()
    assert tells(objective="quantile")
    assert not tells(objective=lambda y_true, y_pred: (y_pred - y_true, np.ones_like(y_pred)))
    assert not tells(objective="quantile", quantile_alpha=LEVELS)


def test_a_file_of_labels_is_no_regressor(fitted, tmp_path):
    from spinney.estimators.files import _restored

    labels = sp.GBMClassifier(**SMALL).fit(X, (Y > 0).astype(int))
    part = {
        "class": "GBMRegressor",
        "params": {},
        "left_out": [],
        "classes": None,
        "named": False,
        "evals": {},
    }
    with pytest.raises(ModelFormatError, match="a GBMRegressor has no objective 'log_loss'"):
        _restored(part, labels.model_)
    with pytest.raises(ModelFormatError, match="a GBMClassifier of 2 labels"):
        _restored(part | {"class": "GBMClassifier"}, fitted.model_)

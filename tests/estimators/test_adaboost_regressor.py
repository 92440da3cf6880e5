"""AdaBoost for numbers: the rounds of AdaBoost.R2 step by step, and when they end."""

import math

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.metrics import r2_score

import spinney as sp

LOSSES = {"linear": lambda e: e, "square": lambda e: e**2, "exponential": lambda e: 1 - np.exp(-e)}


@pytest.mark.parametrize("loss", LOSSES)
def test_errors_and_weights_follow_from_what_the_trees_say(loss, table, numbers):
    boosted = sp.AdaBoostRegressor(n_estimators=6, loss=loss, resample=False, learning_rate=0.7).fit(
        table, numbers
    )
    weight = np.full(200, 1 / 200)
    for t, tree in enumerate(boosted):
        error = np.abs(tree.predict(table) - numbers)
        losses = LOSSES[loss](error / error.max())
        mean = (weight * losses).sum()
        assert boosted.estimator_errors_[t] == pytest.approx(mean, rel=1e-9)
        beta = mean / (1 - mean)
        assert boosted.estimator_weights_[t] == pytest.approx(0.7 * math.log(1 / beta), rel=1e-9)
        weight = weight * beta ** (0.7 * (1 - losses))
        weight /= weight.sum()


@pytest.mark.slow
@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_it_learns_as_scikit_learns_twin_does(loss, resample, table, numbers):
    X = np.nan_to_num(table)
    train, test = slice(0, 140), slice(140, None)
    theirs = [
        ensemble.AdaBoostRegressor(n_estimators=40, loss=loss, random_state=seed).fit(
            X[train], numbers[train]
        )
        for seed in range(3)
    ]
    ours = [
        sp.AdaBoostRegressor(n_estimators=40, loss=loss, random_state=seed, resample=resample).fit(
            X[train], numbers[train]
        )
        for seed in range(3)
    ]
    mine, other = (np.mean([one.score(X[test], numbers[test]) for one in kind]) for kind in (ours, theirs))
    assert mine > other - 0.1


def test_the_median_by_weight_is_predicted_and_staged(table, numbers):
    boosted = sp.AdaBoostRegressor(n_estimators=7).fit(table, numbers)
    said = np.column_stack([tree.predict(table) for tree in boosted])
    stages = list(boosted.staged_predict(table))
    for t, found in enumerate(stages, 1):
        wanted = []
        for row in said[:, :t]:
            order = np.argsort(row)
            up_to = np.cumsum(boosted.estimator_weights_[order])
            wanted.append(row[order[np.argmax(up_to >= up_to[-1] / 2)]])
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(stages[-1], boosted.predict(table))
    scores = list(boosted.staged_score(table, numbers))
    assert scores == [r2_score(numbers, found) for found in stages]
    assert scores[-1] == boosted.score(table, numbers)


def test_boosting_ends_with_a_tree_that_makes_no_mistake():
    X = np.arange(6.0).reshape(-1, 1)
    y = np.where(X[:, 0] > 2, 7.0, -1.0)
    boosted = sp.AdaBoostRegressor(resample=False).fit(X, y)
    assert len(boosted) == 1
    assert boosted.estimator_weights_.tolist() == [1.0]
    assert boosted.estimator_errors_.tolist() == [0.0]
    assert boosted.predict(X).tolist() == y.tolist()


def test_a_first_tree_of_half_the_loss_stays_alone():
    # One leaf between two numbers is as far from each.
    boosted = sp.AdaBoostRegressor(resample=False).fit(np.zeros((4, 1)), [0.0, 0.0, 2.0, 2.0])
    assert len(boosted) == 1
    assert boosted.estimator_errors_.tolist() == [1.0]
    assert boosted.predict([[0.0]]).tolist() == [1.0]
    assert boosted.feature_importances_.tolist() == [0.0]


def test_a_later_tree_of_half_the_loss_is_dropped_and_boosting_ends():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    boosted = sp.AdaBoostRegressor(n_estimators=300, max_depth=1).fit(X, y)
    assert 1 < len(boosted) < 300
    assert (boosted.estimator_errors_ < 0.5).all()
    assert len(boosted.estimator_weights_) == len(boosted)


def test_trees_see_drawn_rows_unless_they_are_weighted(table, numbers):
    drawn = sp.AdaBoostRegressor(n_estimators=3).fit(table, numbers)
    again = sp.AdaBoostRegressor(n_estimators=3, random_state=0).fit(table, numbers)
    other = sp.AdaBoostRegressor(n_estimators=3, random_state=1).fit(table, numbers)
    assert drawn.model_ == again.model_ != other.model_
    forest = drawn.model_.forest
    assert forest.weight.sum() == 3 * 200
    assert forest.count.sum() < 3 * 160
    whole = sp.AdaBoostRegressor(n_estimators=3, resample=False).fit(table, numbers).model_.forest
    assert whole.count.sum() == 3 * 200
    assert whole.weight.sum() == pytest.approx(3)


@pytest.mark.parametrize("resample", [False, True])
def test_any_number_of_threads_writes_the_same_bytes(resample):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(9000, 25))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=9000)
    made = [
        sp.AdaBoostRegressor(n_estimators=3, resample=resample, n_jobs=n_jobs).fit(X, y).model_
        for n_jobs in (1, 2, 3, 8)
    ]
    assert len({model.to_bytes() for model in made}) == 1
    found = {made[0].predict(X, n_jobs=n_jobs).tobytes() for n_jobs in (1, 2, 3)}
    assert len(found) == 1

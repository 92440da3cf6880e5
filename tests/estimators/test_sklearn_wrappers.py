"""scikit-learn's own ensembles, calibration and searches around our estimators."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import randint
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv as enable_halving_search_cv
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV

import spinney as sp


def rows(count=150, seed=0):
    """Numbers with gaps, and a target of numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 4))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=count)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, score


X, NUMBERS = rows()
LABELS = np.where(NUMBERS > 0.2, "yes", "no")
BOOSTED = sp.GBMClassifier(n_estimators=5, max_leaves=5, learning_rate=0.3, n_jobs=1)
GROWN = sp.RandomForestClassifier(n_estimators=5, max_depth=4, random_state=0, n_jobs=1)
BOOSTED_NUMBERS = sp.GBMRegressor(n_estimators=5, max_leaves=5, learning_rate=0.3, n_jobs=1)
GROWN_NUMBERS = sp.ExtraTreesRegressor(n_estimators=5, max_depth=4, random_state=0, n_jobs=1)
PAIR = [("boosting", BOOSTED), ("forest", GROWN)]
NUMBER_PAIR = [("boosting", BOOSTED_NUMBERS), ("trees", GROWN_NUMBERS)]
GRID = {"n_estimators": [2, 6], "learning_rate": [0.05, 0.3]}

CLASSIFIERS = {
    "bagging": lambda jobs: BaggingClassifier(BOOSTED, n_estimators=3, random_state=0, n_jobs=jobs),
    "bagged forests": lambda jobs: BaggingClassifier(GROWN, n_estimators=3, random_state=0, n_jobs=jobs),
    "voting": lambda jobs: VotingClassifier(PAIR, voting="soft", n_jobs=jobs),
    "stacking": lambda jobs: StackingClassifier(PAIR, LogisticRegression(), cv=3, n_jobs=jobs),
    "stacked under ours": lambda jobs: StackingClassifier(PAIR, BOOSTED, cv=3, passthrough=True, n_jobs=jobs),
    "calibrated": lambda jobs: CalibratedClassifierCV(BOOSTED, cv=3, n_jobs=jobs),
    "calibrated forest": lambda jobs: CalibratedClassifierCV(GROWN, cv=3, method="isotonic", ensemble=False, n_jobs=jobs),
    "grid": lambda jobs: GridSearchCV(BOOSTED, GRID, cv=3, n_jobs=jobs),
    "grid of forests": lambda jobs: GridSearchCV(GROWN, {"max_depth": [1, 4]}, cv=3, n_jobs=jobs),
    "randomized": lambda jobs: RandomizedSearchCV(
        BOOSTED, {"n_estimators": randint(2, 8)}, n_iter=3, cv=3, random_state=0, n_jobs=jobs
    ),
    "halving": lambda jobs: HalvingGridSearchCV(
        BOOSTED, {"max_leaves": [2, 3, 6]}, cv=3, resource="n_estimators", max_resources=9, random_state=0, n_jobs=jobs
    ),
}  # fmt: skip
REGRESSORS = {
    "bagging": lambda jobs: BaggingRegressor(BOOSTED_NUMBERS, n_estimators=3, random_state=0, n_jobs=jobs),
    "voting": lambda jobs: VotingRegressor(NUMBER_PAIR, n_jobs=jobs),
    "stacking": lambda jobs: StackingRegressor(NUMBER_PAIR, Ridge(), cv=3, n_jobs=jobs),
    "grid": lambda jobs: GridSearchCV(BOOSTED_NUMBERS, GRID, cv=3, scoring="r2", n_jobs=jobs),
}


def test_every_wrapper_predicts_the_same_from_two_processes():
    """All in one test, because processes take seconds to start."""
    for name, make in CLASSIFIERS.items():
        shares = [make(jobs).fit(X, LABELS).predict_proba(X) for jobs in (1, 2)]
        np.testing.assert_array_equal(*shares, err_msg=name)
    for name, make in REGRESSORS.items():
        numbers = [make(jobs).fit(X, NUMBERS).predict(X) for jobs in (1, 2)]
        np.testing.assert_array_equal(*numbers, err_msg=name)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_wrapper_of_classifiers_learns(name):
    fitted = CLASSIFIERS[name](1).fit(X, LABELS)
    assert fitted.predict_proba(X).shape == (150, 2)
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.score(X, LABELS) > 0.7


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_wrapper_of_regressors_learns(name):
    assert REGRESSORS[name](1).fit(X, NUMBERS).score(X, NUMBERS) > 0.3


def test_a_bag_of_boosted_models_is_the_mean_of_models_on_its_samples():
    bag = CLASSIFIERS["bagging"](1).fit(X, LABELS)
    shares = np.mean([one.predict_proba(X) for one in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict_proba(X), shares)
    assert len({one.model_.to_bytes() for one in bag.estimators_}) == 3


def test_rows_drawn_by_weight_are_the_same_for_ours_and_others():
    bag = BaggingRegressor(BOOSTED_NUMBERS, n_estimators=2, random_state=0)
    weight = np.where(np.arange(150) < 100, 1.0, 0.0)
    weighted = bag.fit(X, NUMBERS, sample_weight=weight).predict(X)
    assert not np.array_equal(weighted, bag.fit(X, NUMBERS).predict(X))


def test_wrappers_that_pass_tables_on_keep_words_and_names():
    frame = pd.DataFrame(
        {"size": NUMBERS.round(1), "kind": pd.Categorical(np.where(X[:, 3] > 0, "oak", "ash"))}
    )
    labels = np.where((X[:, 3] > 0) & (NUMBERS > 0), "both", "other")
    for name in ("voting", "stacking", "calibrated", "grid"):
        fitted = CLASSIFIERS[name](1).fit(frame, labels)
        assert fitted.score(frame, labels) > 0.9
    searched = CLASSIFIERS["grid"](1).fit(frame, labels).best_estimator_
    assert searched.feature_names_in_.tolist() == ["size", "kind"]
    assert searched.model_.schema.categories is not None


def test_searches_name_parameters_inside_wrappers():
    bag = BaggingClassifier(BOOSTED, n_estimators=2, random_state=0)
    search = GridSearchCV(bag, {"estimator__max_leaves": [2, 6]}, cv=3).fit(X, LABELS)
    assert search.best_params_ == {"estimator__max_leaves": 6}
    voting = (
        VotingClassifier(PAIR, voting="soft")
        .set_params(boosting__n_estimators=9, forest="drop")
        .fit(X, LABELS)
    )
    np.testing.assert_array_equal(
        voting.predict_proba(X),
        clone(BOOSTED).set_params(n_estimators=9).fit(X, LABELS).predict_proba(X),
    )


def test_a_search_finds_what_trying_by_hand_finds():
    search = CLASSIFIERS["halving"](1).fit(X, LABELS)
    assert search.best_params_["n_estimators"] == 9
    best = clone(BOOSTED).set_params(**search.best_params_).fit(X, LABELS)
    assert search.best_estimator_.model_ == best.model_
    grid = CLASSIFIERS["grid"](1).fit(X, LABELS)
    assert grid.best_estimator_.get_params()["n_estimators"] == grid.best_params_["n_estimators"]
    assert grid.cv_results_["mean_test_score"].max() == grid.best_score_

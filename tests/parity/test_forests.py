"""Forests and trees score as scikit-learn's twins do on rows not seen, within the noise of five seeds."""

from functools import cache

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from sklearn import datasets
from sklearn.model_selection import train_test_split

import spinney as sp

SEEDS = range(5)
TREES = {"RandomForest": {"n_estimators": 50}, "ExtraTrees": {"n_estimators": 50}, "DecisionTree": {}}
# Beside the noise, what a few of the rows that judge are worth.
SLACK = {"digits": 0.005, "breast_cancer": 0.01, "waves": 0.005, "diabetes": 0.02, "hills": 0.005}


def waves():
    """Three classes that follow waves and a product; half of the columns say nothing."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1200, 10)).astype(np.float32)
    scores = np.stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2], X[:, 3] - 0.3 * X[:, 4]], axis=1)
    return X, np.argmax(scores + 0.3 * rng.gumbel(size=scores.shape), axis=1)


def hills():
    """Numbers that follow waves and a product, no few of them so large that they alone would decide the score."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 8)).astype(np.float32)
    return X, np.sin(2 * X[:, 0]) + np.clip(X[:, 1] * X[:, 2], -1, 1) + 0.3 * rng.normal(size=len(X))


@cache
def table(name):
    if name in ("waves", "hills"):
        return {"waves": waves, "hills": hills}[name]()
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X.astype(np.float32), y


@cache
def scores(library, family, name, method=None):
    """Accuracy, or R², of one forest for each seed; a seed is a split as well."""
    X, y = table(name)
    kind = "Regressor" if name in ("diabetes", "hills") else "Classifier"
    module = {"spinney": sp, "sklearn": sklearn.tree if family == "DecisionTree" else sklearn.ensemble}
    given = TREES[family] | ({} if method is None else {"tree_method": method})
    found = []
    for seed in SEEDS:
        train, other, target, judge = train_test_split(X, y, random_state=seed)
        forest = getattr(module[library], family + kind)(random_state=seed, **given)
        found.append(forest.fit(train, target).score(other, judge))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["hist", "exact"])
@pytest.mark.parametrize("family", TREES)
@pytest.mark.parametrize("name", SLACK)
def test_held_out_scores_are_those_of_scikit_learn(name, family, method):
    apart = scores("spinney", family, name, method) - scores("sklearn", family, name)
    noise = 3.0 * apart.std(ddof=1) / np.sqrt(len(apart))
    assert abs(apart.mean()) <= noise + SLACK[name]


def test_a_forest_is_far_better_than_its_tree_where_trees_are_noisy():
    for name in ("digits", "waves", "hills"):
        assert (
            scores("spinney", "RandomForest", name, "hist") > scores("spinney", "DecisionTree", name, "hist")
        ).all()

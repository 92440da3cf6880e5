"""AdaBoost scores as scikit-learn's twins do on rows not seen, within the noise of four splits."""

from functools import cache

import numpy as np
import pytest
import sklearn.ensemble
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import spinney as sp

SEEDS = range(4)
# By table: depth of the trees, how many of them, and beside the noise, what a few of the rows that judge are worth.
CASES = {
    "breast_cancer": (1, 50, 0.01),
    "wine": (2, 30, 0.02),
    "digits": (5, 20, 0.01),
    "diabetes": (3, 30, 0.02),
}


@cache
def scores(library, name, resample=None):
    """Accuracy, or R², for each seed; a seed is a split as well."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    depth, trees, _ = CASES[name]
    number = name == "diabetes"
    found = []
    for seed in SEEDS:
        train, other, target, judge = train_test_split(X, y, random_state=seed)
        if library == "spinney":
            kind = sp.AdaBoostRegressor if number else sp.AdaBoostClassifier
            boosted = kind(n_estimators=trees, max_depth=depth, random_state=seed, resample=resample)
        else:
            kind = sklearn.ensemble.AdaBoostRegressor if number else sklearn.ensemble.AdaBoostClassifier
            tree = (DecisionTreeRegressor if number else DecisionTreeClassifier)(max_depth=depth)
            boosted = kind(tree, n_estimators=trees, random_state=seed)
        found.append(boosted.fit(train, target).score(other, judge))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_scores_are_as_good_as_those_of_the_twin(name, resample):
    ours, theirs = scores("spinney", name, resample), scores("sklearn", name)
    noise = (ours - theirs).std(ddof=1) / np.sqrt(len(SEEDS))
    assert (ours - theirs).mean() > -2.5 * noise - CASES[name][2], (ours, theirs)

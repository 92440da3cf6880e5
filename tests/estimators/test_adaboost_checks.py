"""Every check that scikit-learn has for estimators."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    estimator_checks_generator,
)

import spinney as sp

ESTIMATORS = [
    sp.AdaBoostClassifier(n_estimators=5),
    sp.AdaBoostClassifier(n_estimators=5, max_depth=2, resample=True),
    sp.AdaBoostRegressor(n_estimators=5),
    sp.AdaBoostRegressor(n_estimators=5, loss="square", resample=False),
    sp.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=5),
    sp.AdaBoostRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=5),
]
# scikit-learn excuses its own twins from these: weighted rows and repeated rows are drawn otherwise, and a median of few trees
# falls on another tree for the least change of a weight.
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


def checks():
    """Estimators with their checks, and a name for each."""
    for estimator in ESTIMATORS:
        excused = EXCUSED if estimator.resample else ()
        for place, (one, check) in enumerate(estimator_checks_generator(estimator)):
            name = check.func.__name__
            if name not in excused:
                yield pytest.param(one, check, id=f"{estimator!r}-{place}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_check_passes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [ESTIMATORS[0], ESTIMATORS[2]], ids=lambda one: type(one).__name__)
def test_column_names_are_kept_and_compared_as_scikit_learn_wants(estimator):
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


def mean_decisions(X, y, weight, rows):
    """Mean over seeds of the votes of trees on drawn rows."""
    made = [
        sp.AdaBoostClassifier(n_estimators=6, max_depth=2, resample=True, random_state=seed).fit(
            X[rows], y[rows], weight
        )
        for seed in range(40)
    ]
    return np.mean([one.decision_function(X) for one in made], axis=0)


def test_weights_of_drawn_rows_act_as_repeated_rows_do_in_the_mean():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + rng.normal(size=150) > 0
    weight = np.where(y, 4, 1)
    weighted = mean_decisions(X, y, weight, slice(None))
    repeated = mean_decisions(X, y, None, np.repeat(np.arange(150), weight))
    neither = mean_decisions(X, y, None, slice(None))
    assert np.abs(weighted - repeated).mean() < 0.4 * np.abs(neither - repeated).mean()

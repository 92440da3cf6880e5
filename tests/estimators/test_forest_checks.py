"""Every check that scikit-learn has for estimators."""

import functools

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    estimator_checks_generator,
)

import spinney as sp

ESTIMATORS = [
    sp.RandomForestClassifier(5),
    sp.RandomForestRegressor(5),
    sp.ExtraTreesClassifier(5),
    sp.ExtraTreesRegressor(5),
    sp.DecisionTreeClassifier(),
    sp.DecisionTreeRegressor(),
    sp.RandomForestClassifier(5, tree_method="exact"),
    sp.RandomForestRegressor(5, tree_method="exact", criterion="absolute_error"),
    sp.DecisionTreeClassifier(tree_method="exact", criterion="entropy"),
]
# scikit-learn excuses its own forests from these: bags of weighted rows and of repeated rows are not the same.
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


def checks():
    """Estimators with their checks, and a name for each."""
    for estimator in ESTIMATORS:
        for place, (one, check) in enumerate(estimator_checks_generator(estimator)):
            name = check.func.__name__
            if not (getattr(estimator, "bootstrap", False) and name in EXCUSED):
                yield pytest.param(one, check, id=f"{estimator!r}-{place}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_check_passes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS[:6], ids=lambda estimator: type(estimator).__name__)
def test_column_names_are_kept_and_compared_as_scikit_learn_wants(estimator):
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


def by_seed(make, X, y, weight):
    """What forests of eight seeds say of each row."""
    forests = [make(random_state=seed).fit(X, y, weight) for seed in range(8)]
    return np.array([f.predict_proba(X)[:, 1] if hasattr(f, "classes_") else f.predict(X) for f in forests])


def trees_by_seed(make, X, y, weight):
    """The same of scikit-learn's trees, each on uniform draws of the rows: a row's weight times how often it was drawn."""
    found = []
    for seed in range(8):
        rng, said = np.random.default_rng(seed), []
        for tree in range(60):
            drawn = np.bincount(rng.integers(0, len(X), len(X)), minlength=len(X)) * weight
            one = make(random_state=tree).fit(X, y, drawn)
            said.append(one.predict_proba(X)[:, 1] if hasattr(one, "classes_") else one.predict(X))
        found.append(np.mean(said, axis=0))
    return np.array(found)


def distance(one, other):
    """Mean distance of two forests' predictions, in units of what chance alone lets one expect."""
    error = np.sqrt((one.var(axis=0, ddof=1) + other.var(axis=0, ddof=1)) / len(one))
    return np.abs(one.mean(axis=0) - other.mean(axis=0)).mean() / (np.sqrt(2 / np.pi) * error.mean())


@pytest.mark.parametrize(
    ("forest", "tree"),
    [(sp.RandomForestClassifier, DecisionTreeClassifier), (sp.RandomForestRegressor, DecisionTreeRegressor)],
)
def test_weights_multiply_what_uniform_bags_have_of_the_rows(forest, tree):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 3))
    noise = X[:, 0] + rng.normal(size=150) > 0
    y = noise if forest is sp.RandomForestClassifier else X[:, 0] + noise
    weight = np.where(noise, 4, 1)
    columns = "sqrt" if forest is sp.RandomForestClassifier else None
    make = functools.partial(forest, 60, max_depth=3)
    ours = by_seed(make, X, y, weight)
    theirs = trees_by_seed(functools.partial(tree, max_depth=3, max_features=columns), X, y, weight)
    # What two rows are told goes up and down together, so the mean distance may be twice what is expected.
    assert distance(ours, theirs) < 2
    assert distance(ours, by_seed(make, X, y, None)) > 6

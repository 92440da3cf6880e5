"""Every check that scikit-learn has for estimators."""

import numpy as np
import pytest
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


def repeated_and_weighted(make, X, y, weight):
    """Mean predictions over seeds, by weights, by repeated rows, and by neither."""
    said = [[], [], []]
    for seed in range(8):
        for found, (rows, given) in zip(
            said, [(slice(None), weight), (np.repeat(np.arange(len(X)), weight), None), (slice(None), None)],
            strict=True,
        ):  # fmt: skip
            forest = make(random_state=seed).fit(X[rows], y[rows], given)
            found.append(forest.predict_proba(X)[:, 1] if hasattr(forest, "classes_") else forest.predict(X))
    return [np.mean(found, axis=0) for found in said]


@pytest.mark.parametrize("kind", [sp.RandomForestClassifier, sp.RandomForestRegressor])
def test_weights_of_drawn_rows_act_as_repeated_rows_do_in_the_mean(kind):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 3))
    noise = X[:, 0] + rng.normal(size=150) > 0
    y = noise if kind is sp.RandomForestClassifier else X[:, 0] + noise
    weight = np.where(noise, 4, 1)
    weighted, repeated, neither = repeated_and_weighted(
        lambda **given: kind(60, max_depth=3, **given), X, y, weight
    )
    assert np.abs(weighted - repeated).mean() < 0.3 * np.abs(neither - repeated).mean()

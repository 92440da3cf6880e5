"""Every check that scikit-learn has for estimators, of the ranker."""

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    estimator_checks_generator,
)

import spinney as sp

ESTIMATORS = [sp.GBMRanker(), sp.GBMRanker(objective="rank_xendcg", n_estimators=20, min_child_samples=1)]
# A row that is there twice takes two places of the list, and moves the others down. One of weight 2 takes one place.
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


def checks():
    """Estimators with their checks, and a name for each."""
    for estimator in ESTIMATORS:
        for place, (one, check) in enumerate(estimator_checks_generator(estimator)):
            if check.func.__name__ not in EXCUSED:
                yield pytest.param(one, check, id=f"{estimator.objective}-{place}-{check.func.__name__}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_check_passes(estimator, check):
    check(estimator)


def test_column_names_are_kept_and_compared_as_scikit_learn_wants():
    check_dataframe_column_names_consistency("GBMRanker", sp.GBMRanker())

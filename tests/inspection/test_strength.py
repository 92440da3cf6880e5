import math
from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from sklearn_forests import converted, model_of
from spinney.data import read_table
from spinney.errors import DataError, ParameterError
from spinney.inspection.strength import ClassDiagnosis, NumberDiagnosis, diagnose


def naive_classes(predicted, target, used, classes):
    """Strength, correlation and margins, by loops over rows and trees; `predicted` and `used` are (trees, rows)."""
    trees, rows = predicted.shape
    margins, rivals = np.full(rows, np.nan), np.full(rows, -1)
    for row in range(rows):
        votes = [0] * classes
        for tree in range(trees):
            votes[predicted[tree, row]] += used[tree, row]
        wrong = [j for j in range(classes) if j != target[row]]
        rivals[row] = max(wrong, key=lambda j: votes[j]) if wrong else -1
        if sum(votes):
            margins[row] = (votes[target[row]] - (votes[rivals[row]] if wrong else 0)) / sum(votes)
    deviations = []
    for tree in range(trees):
        raw = [
            int(predicted[tree, row] == target[row]) - int(predicted[tree, row] == rivals[row])
            for row in range(rows)
            if used[tree, row]
        ]
        if raw:
            deviations.append(np.std(raw))
    evaluated = margins[~np.isnan(margins)]
    spread = np.mean(deviations) ** 2
    return evaluated.mean(), evaluated.var() / spread if spread else math.nan, margins


@pytest.mark.parametrize("out_of_bag", [False, True])
@pytest.mark.parametrize("name", ["classes", "two classes", "outputs", "few trees", "weights"])
def test_strength_correlation_and_margins_are_those_of_loops(forest, name, out_of_bag):
    case = forest(name)
    found = diagnose(case.model, case.table, case.target, out_of_bag=out_of_bag)
    assert isinstance(found, list) == (case.model.outputs > 1)
    used = case.out if out_of_bag else np.ones_like(case.out)
    for k, one in enumerate(found if isinstance(found, list) else [found]):
        strength, correlation, margins = naive_classes(
            case.predictions()[:, :, k], case.target[:, k], used, case.model.classes[k]
        )
        assert isinstance(one, ClassDiagnosis)
        np.testing.assert_allclose(one.margins, margins, rtol=1e-12)
        assert one.strength == pytest.approx(strength, rel=1e-12)
        assert one.correlation == pytest.approx(correlation, rel=1e-9)
        bound = correlation * (1 - strength**2) / strength**2 if strength > 0 else math.inf
        assert one.bound == pytest.approx(bound, rel=1e-9)
        assert one.error == pytest.approx(np.nanmean(np.where(np.isnan(margins), np.nan, margins < 0)))
        assert out_of_bag or one.error <= one.bound  # Breiman's theorem
        assert (one.rows, one.trees) == ((~np.isnan(margins)).sum(), case.model.trees)


def test_the_numbers_of_an_example_worked_by_hand():
    # Four rows of class 0 0 1 1. Two trees predict just that, a third one 0 1 1 0.
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    grow = partial(RandomForestClassifier, 1, bootstrap=False, max_features=None, random_state=0)
    case, other = converted(grow(), X, [0, 0, 1, 1]), converted(grow(), X, [0, 1, 1, 0])
    right, wrong = case.sklearn.estimators_[0], other.sklearn.estimators_[0]
    case.sklearn.estimators_ = [right, right, wrong]
    model = model_of(case.sklearn, X, case.target, classes=(2,))
    found = diagnose(model, case.table, case.target)
    # Margins 1, 1/3, 1, 1/3: mean 2/3, variance 1/9. Raw margins of the trees: 1 everywhere twice, deviation 0; and 1 -1 1 -1,
    # deviation 1: their mean is 1/3, its square 1/9.
    np.testing.assert_allclose(found.margins, [1, 1 / 3, 1, 1 / 3])
    assert found.strength == pytest.approx(2 / 3)
    assert found.correlation == pytest.approx(1.0)
    assert found.bound == pytest.approx(5 / 4)
    assert repr(found) == (
        "ClassDiagnosis(strength=0.6667, correlation=1, bound=1.25, error=0; 4 rows, 3 trees)"
    )


def test_a_forest_that_is_always_right_has_strength_1_and_no_error():
    X = np.arange(12.0)[:, None]
    case = converted(RandomForestClassifier(4, bootstrap=False, random_state=0), X, np.arange(12) % 3)
    found = diagnose(case.model, case.table, case.target)
    assert (found.strength, found.bound, found.error) == (1.0, 0.0, 0.0)
    assert math.isnan(found.correlation)


def test_a_forest_of_one_class_is_always_right(forest):
    case = forest("one class")
    found = diagnose(case.model, case.table, case.target, out_of_bag=True)
    assert (found.strength, found.bound) == (1.0, 0.0)


def test_the_raw_margins_of_a_single_tree_agree_with_themselves(forest):
    case = forest("one tree")
    assert diagnose(case.model, case.table, case.target).correlation == pytest.approx(1.0)


def test_a_forest_that_is_mostly_wrong_has_no_bound(forest):
    case = forest("two classes")
    found = diagnose(case.model, case.table, 1 - case.target)
    assert found.strength < 0
    assert found.bound == math.inf


@pytest.mark.parametrize("out_of_bag", [False, True])
@pytest.mark.parametrize("name", ["numbers", "two numbers", "few numbers"])
def test_errors_and_correlation_of_numbers_are_those_of_loops(forest, name, out_of_bag):
    case = forest(name)
    found = diagnose(case.model, case.table, case.target, out_of_bag=out_of_bag)
    used = case.out if out_of_bag else np.ones_like(case.out)
    residuals = case.target[None] - case.predictions()
    for k, one in enumerate(found if isinstance(found, list) else [found]):
        by_tree = [
            np.mean([r[row, k] ** 2 for row in np.flatnonzero(j)])
            for r, j in zip(residuals, used, strict=True)
        ]
        by_row = [residuals[used[:, row], row, k].mean() for row in range(70) if used[:, row].any()]
        error, tree_error = np.mean(np.square(by_row)), np.mean(by_tree)
        assert isinstance(one, NumberDiagnosis)
        assert one.error == pytest.approx(error, rel=1e-12)
        assert one.tree_error == pytest.approx(tree_error, rel=1e-12)
        assert one.correlation == pytest.approx(error / np.mean(np.sqrt(by_tree)) ** 2, rel=1e-12)
        assert one.bound == pytest.approx(one.correlation * tree_error, rel=1e-12)
        assert one.error <= one.bound
        assert (one.rows, one.trees) == (len(by_row), case.model.trees)


def test_a_forest_of_numbers_without_error_has_no_correlation_and_bound_0():
    X = np.arange(5.0)[:, None]
    case = converted(RandomForestRegressor(3, bootstrap=False, random_state=0), X, np.arange(5.0))
    found = diagnose(case.model, case.table, case.target)
    assert (found.error, found.tree_error, found.bound) == (0.0, 0.0, 0.0)
    assert math.isnan(found.correlation)
    assert repr(found).startswith(
        "NumberDiagnosis(error=0, tree_error=0, correlation=nan, bound=0; 5 rows, 3 trees"
    )


def test_other_rows_than_those_of_training_are_predicted_by_all_trees(forest):
    case = forest("classes")
    few = diagnose(case.model, case.table.take(np.arange(70) < 9), case.target[:9])
    assert np.array_equal(few.margins, diagnose(case.model, case.table, case.target).margins[:9])


def test_what_cannot_be_evaluated_is_refused(forest):
    case = forest("no bags")
    with pytest.raises(ParameterError, match=r"a diagnosis out of bag needs .* bootstrap=True"):
        diagnose(case.model, case.table, case.target, out_of_bag=True)
    with pytest.raises(DataError, match="X has no rows"):
        diagnose(case.model, read_table(np.zeros((0, 4)), allow_empty=True), case.target[:0])
    case = forest("classes")
    with pytest.raises(DataError, match="X has 9"):
        diagnose(case.model, case.table.take(np.arange(70) < 9), case.target[:9], out_of_bag=True)


@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_threads_change_no_bit(forest, name):
    case = forest(name)
    found = [
        diagnose(case.model, case.table, case.target, out_of_bag=True, n_jobs=jobs) for jobs in (1, 2, 3)
    ]
    assert len({(one.correlation, one.bound, one.error) for one in found}) == 1

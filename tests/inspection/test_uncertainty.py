import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from sklearn_forests import converted, model_of
from spinney.errors import ParameterError
from spinney.inspection.uncertainty import (
    class_uncertainty,
    deviation,
    jackknife_interval,
    jackknife_variance,
)


def naive_jackknife(predicted, out, corrected):
    """The estimate of Wager, Hastie and Efron, row by row; `predicted` is (trees, rows), `out` (trees, training rows)."""
    trees, rows = out.shape
    found = np.empty(predicted.shape[1])
    for row in range(predicted.shape[1]):
        mean = predicted[:, row].mean()
        apart = [predicted[out[:, i], row].mean() - mean for i in range(rows) if out[:, i].any()]
        found[row] = (rows - 1) * np.mean(np.square(apart))
        if corrected:
            chance = (1 - 1 / rows) ** rows
            spread = sum((predicted[tree, row] - mean) ** 2 for tree in range(trees))
            found[row] -= rows / trees**2 * (1 - chance) / chance * spread
    return found


def test_certain_classes_have_no_uncertainty_and_equal_ones_the_most():
    shares = np.array([[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.25, 0.25]])
    found = class_uncertainty(shares)
    np.testing.assert_allclose(found.variance, [[0, 0, 0], [2 / 9] * 3, [0.25, 0.1875, 0.1875]])
    np.testing.assert_allclose(found.entropy, [0.0, math.log(3), 1.5 * math.log(2)])
    assert not np.signbit(found.entropy).any()


@pytest.mark.parametrize("name", ["numbers", "two numbers"])
def test_the_deviation_is_that_of_the_trees(forest, name):
    case = forest(name)
    expected = case.predictions().std(axis=0)
    expected = expected if case.model.outputs > 1 else expected[:, 0]
    np.testing.assert_allclose(deviation(case.model, case.table), expected, rtol=1e-9, atol=1e-12)


def test_the_deviation_keeps_its_digits_far_from_0():
    X, rng = np.arange(40.0)[:, None], np.random.default_rng(0)
    case = converted(RandomForestRegressor(9, random_state=0), X, 1e9 + rng.normal(size=40))
    np.testing.assert_allclose(
        deviation(case.model, case.table), case.predictions().std(axis=0)[:, 0], rtol=1e-5, atol=1e-6
    )


@pytest.mark.kernels
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("name", ["numbers", "two numbers", "few numbers"])
def test_the_jackknife_is_that_of_loops(forest, name, corrected):
    case = forest(name)
    found = jackknife_variance(case.model, case.table, corrected=corrected).reshape(70, -1)
    for output in range(case.model.outputs):
        expected = naive_jackknife(case.predictions()[:, :, output], case.out, corrected)
        expected[expected < 0] = np.nan
        np.testing.assert_allclose(found[:, output], expected, rtol=1e-9, atol=1e-12)
    assert corrected or not np.isnan(found).any()


def test_training_rows_beyond_one_block_count_as_well(forest, monkeypatch):
    case = forest("numbers")
    whole = jackknife_variance(case.model, case.table)
    monkeypatch.setattr("spinney.inspection.uncertainty.BLOCK_ROWS", 24)
    monkeypatch.setattr("spinney.inspection.forest_leaves.CELLS", 4 * 12 * 33)
    assert np.array_equal(jackknife_variance(case.model, case.table), whole, equal_nan=True)


@pytest.mark.kernels
def test_the_numbers_of_a_jackknife_worked_by_hand(forest):
    # Two trees, two training rows: the first tree saw row 0 twice and predicts 3, the second row 1 twice and predicts 7.
    X = np.array([[0.0], [1.0]])
    case = converted(RandomForestRegressor(2, random_state=0), X, [3.0, 7.0])
    case.bags[:] = [[2, 0], [0, 2]]
    for tree, value in zip(case.sklearn.estimators_, (3.0, 7.0), strict=True):
        tree.fit(X, [value, value])
    case.model = model_of(case.sklearn, X, case.target, classes=())
    forest(case)
    # The mean is 5. Without row 0 it is 7, without row 1 it is 3: (2 - 1) / 2 * (4 + 4) = 4.
    assert jackknife_variance(case.model, case.table, corrected=False).tolist() == [4.0, 4.0]
    # A row is out of a bag with chance 1/4: the correction is 2 / 4 * 3 * (4 + 4) = 12, more than the estimate.
    assert np.isnan(jackknife_variance(case.model, case.table)).all()


def test_trees_that_agree_leave_no_variance(forest):
    case = forest(
        converted(RandomForestRegressor(5, random_state=0), np.arange(9.0)[:, None], np.full(9, 2.5))
    )
    assert jackknife_variance(case.model, case.table).tolist() == [0.0] * 9
    assert jackknife_interval(case.model, case.table, np.full(9, 2.5)).tolist() == [[2.5, 2.5]] * 9


@pytest.mark.parametrize("name", ["numbers", "two numbers"])
def test_intervals_stand_around_the_prediction_by_normal_quantiles(forest, name):
    case = forest(name)
    predicted = case.sklearn.predict(case.matrix)
    reach = 1.6448536269514722 * np.sqrt(jackknife_variance(case.model, case.table))
    found = jackknife_interval(case.model, case.table, predicted, level=0.9)
    assert found.shape == (*predicted.shape, 2)
    np.testing.assert_allclose(found[..., 0], predicted - reach)
    np.testing.assert_allclose(found[..., 1], predicted + reach)


def test_the_jackknife_needs_bags_two_trees_and_a_level_between_0_and_1(forest):
    X = np.arange(9.0)[:, None]
    case = forest(converted(RandomForestRegressor(3, bootstrap=False, random_state=0), X, X[:, 0]))
    with pytest.raises(ParameterError, match=r"the jackknife needs rows .* bootstrap=True"):
        jackknife_variance(case.model, case.table)
    case = forest(converted(RandomForestRegressor(1, random_state=0), X, X[:, 0]))
    with pytest.raises(ParameterError, match="two trees at least"):
        jackknife_variance(case.model, case.table)
    for level in (95, 0.0, "most"):
        with pytest.raises(
            ParameterError, match=r"level=.* is out of range: it must be a number above 0 and below 1"
        ):
            jackknife_interval(case.model, case.table, X[:, 0], level=level)


def test_threads_change_no_bit(forest, monkeypatch):
    monkeypatch.setattr("spinney.inspection.uncertainty.SHARE_PRODUCTS", 1)
    case = forest("two numbers")
    alone = jackknife_variance(case.model, case.table, n_jobs=1)
    spread = deviation(case.model, case.table, n_jobs=1)
    for n_jobs in (2, 3):
        assert np.array_equal(
            jackknife_variance(case.model, case.table, n_jobs=n_jobs), alone, equal_nan=True
        )
        assert np.array_equal(deviation(case.model, case.table, n_jobs=n_jobs), spread)

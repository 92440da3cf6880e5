"""AdaBoost's formulas: worked numbers, and what follows from them."""

import math

import pytest

import spinney as sp
from spinney.errors import ParameterError


def test_an_error_of_three_tenths_gives_the_worked_numbers():
    step = sp.adaboost_step(0.3)
    assert round(step.alpha, 4) == 0.4236
    assert round(step.right, 4) == 0.6547
    assert round(step.wrong, 4) == 1.5275


def test_rows_that_were_wrong_have_half_of_the_weight_afterwards():
    for error in (0.01, 0.3, 0.49):
        step = sp.adaboost_step(error)
        wrong, right = error * step.wrong, (1 - error) * step.right
        assert wrong == pytest.approx(right)


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_alpha_is_zero_where_a_tree_guesses(classes):
    assert sp.adaboost_step(1 - 1 / classes, classes).alpha == pytest.approx(0, abs=1e-15)
    assert sp.adaboost_step(0.9 - 1 / classes, classes).alpha > 0


def test_more_classes_add_half_of_their_logarithm_to_alpha():
    more = sp.adaboost_step(0.3, 5).alpha - sp.adaboost_step(0.3).alpha
    assert more == pytest.approx(0.5 * math.log(4))


def test_a_mean_loss_gives_beta_and_the_weight_in_the_median():
    step = sp.adaboost_r2_step(0.2)
    assert step.beta == 0.25
    assert step.weight == pytest.approx(math.log(4))
    assert sp.adaboost_r2_step(0.5).weight == 0


@pytest.mark.parametrize("error", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_an_error_that_no_step_can_follow_is_refused(error):
    with pytest.raises(ParameterError, match="must be above 0 and below 1"):
        sp.adaboost_step(error)
    with pytest.raises(ParameterError, match="must be above 0 and below 1"):
        sp.adaboost_r2_step(error)
    with pytest.raises(ParameterError, match="n_classes=1 must be 2 or more"):
        sp.adaboost_step(0.3, 1)

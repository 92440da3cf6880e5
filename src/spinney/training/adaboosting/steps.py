"""AdaBoost's formulas: what an error says about a tree's weight and about the weights of rows."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from spinney.errors import ParameterError
from spinney.jit.math import exp, log

LARGEST_POWER = math.log(
    sys.float_info.max
)  # beyond it, weights of wrong rows times e to a power are infinite


@dataclass(frozen=True)
class ClassStep:
    """What one round does where classes are predicted.

    Attributes
    ----------
    alpha : float
        ½ (ln((1 - error) / error) + ln(classes - 1)). A tree's vote, `estimator_weights_`, is twice this number times the
        learning rate, as in scikit-learn.
    right, wrong : float
        Factors on the weights of rows that the tree gets right and wrong, before weights are made to sum up to 1: e to the power
        of -alpha and of alpha.
    """

    alpha: float
    right: float
    wrong: float


@dataclass(frozen=True)
class NumberStep:
    """What one round does where numbers are predicted.

    Attributes
    ----------
    beta : float
        loss / (1 - loss), for the mean loss of the rows by weight. A row's weight is multiplied by beta to the power of 1 less
        its own loss.
    weight : float
        ln(1 / beta): the tree's weight in the median, `estimator_weights_` at a learning rate of 1.
    """

    beta: float
    weight: float


def adaboost_step(error: float, n_classes: int = 2) -> ClassStep:
    """One round of AdaBoost for classes (SAMME), by the weighted error of its tree.

    Parameters
    ----------
    error : float
        Share of the weights that belongs to rows of which the tree gets the class wrong; above 0 and below 1. At 1 - 1 /
        n_classes, the error of guessing, alpha is 0.
    n_classes : int, default=2
        Number of classes.

    Returns
    -------
    ClassStep

    Examples
    --------
    >>> step = adaboost_step(0.3)
    >>> round(step.alpha, 4), round(step.right, 4), round(step.wrong, 4)
    (0.4236, 0.6547, 1.5275)
    """
    if not 0 < error < 1:
        raise ParameterError(f"error={error!r} must be above 0 and below 1")
    if not n_classes >= 2:
        raise ParameterError(f"n_classes={n_classes!r} must be 2 or more")
    alpha = 0.5 * (float(log((1.0 - error) / error)) + float(log(n_classes - 1.0)))
    return ClassStep(alpha, float(exp(-alpha)), float(exp(alpha)))


def adaboost_r2_step(loss: float) -> NumberStep:
    """One round of AdaBoost for numbers (AdaBoost.R2), by the mean loss of the rows under its tree.

    Parameters
    ----------
    loss : float
        Sum of weight times loss over the rows, where weights sum up to 1 and losses are from 0 to 1; above 0 and below 1. From
        ½ on boosting ends.

    Returns
    -------
    NumberStep

    Examples
    --------
    >>> step = adaboost_r2_step(0.2)
    >>> step.beta, round(step.weight, 4)
    (0.25, 1.3863)
    """
    if not 0 < loss < 1:
        raise ParameterError(f"loss={loss!r} must be above 0 and below 1")
    beta = loss / (1.0 - loss)
    return NumberStep(beta, -float(log(beta)))


def guessing_error(n_classes: int) -> float:
    """The error of a classifier that guesses: boosting can use trees that are better.

    Examples
    --------
    >>> guessing_error(4)
    0.75
    """
    return 1.0 - 1.0 / n_classes


def power_of_two_to(total: float, bits: int) -> float:
    """The power of two that brings a sum above 0 between 2**(bits - 1) and 2**bits.

    Examples
    --------
    >>> power_of_two_to(3.0, 4)
    4.0
    """
    return math.ldexp(1.0, bits - math.frexp(total)[1])

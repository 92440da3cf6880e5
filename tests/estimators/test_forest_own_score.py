"""`oob_score` as a function of the user's own: what is wrong with it is told, and before trees are grown where that is known."""

import math
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import mean_poisson_deviance, roc_auc_score

import spinney as sp
from spinney.errors import OwnFunctionError, ParameterTypeError, SpinneyError
from spinney.estimators import forest_base

ROWS = 60
X = np.random.default_rng(0).normal(size=(ROWS, 3))
CLASSES, NUMBERS = (X[:, 0] > 0).astype(int), np.maximum(X[:, 0], 0.0)

COUNTS = np.where(np.arange(ROWS) % 20 == 0, 0.0, 1.0 + NUMBERS)


def forest(function, kind=sp.RandomForestRegressor):
    return kind(10, oob_score=function, random_state=0)


def failing(y_true, y_pred):
    return 1 / 0


@pytest.fixture
def growing(monkeypatch):
    """How often trees were grown."""
    grown = forest_base.grow_forest
    calls = []
    monkeypatch.setattr(forest_base, "grow_forest", lambda *given: calls.append(given) or grown(*given))
    return calls


@pytest.mark.parametrize(
    "function", [lambda: 0.5, lambda y: 0.5, lambda a, b, c: 0.5, lambda a, *, b: 0.5, object, partial(max, 1, key=3)]
)  # fmt: skip
def test_a_function_of_other_arguments_is_refused_before_growth(function, growing):
    with pytest.raises(SpinneyError, match="oob_score"):
        forest(function).fit(X, NUMBERS)
    assert not growing


def test_a_wrong_signature_is_told_as_such():
    with pytest.raises(
        ParameterTypeError, match=r"oob_score=.* must be a function of two arguments, targets"
    ):
        forest(lambda y: 0.5).fit(X, NUMBERS)


@pytest.mark.parametrize("kind", [sp.RandomForestRegressor, sp.RandomForestClassifier])
def test_a_function_that_always_fails_does_so_before_growth(kind, growing):
    said = "the oob_score function 'failing' failed with ZeroDivisionError: division by zero"
    with pytest.raises(OwnFunctionError, match=said) as caught:
        forest(failing, kind).fit(X, CLASSES)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert not growing


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (math.nan, "gave NaN"),
        ("high", "must return a number as its value, not 'high'"),
        (np.ones(3), r"not an array of shape \(3,\)"),
        (None, "not None"),
        (10**400, "no float can hold"),
    ],
)
def test_what_is_no_number_is_refused_before_growth(found, said, growing):
    with pytest.raises(OwnFunctionError, match=f"the oob_score function .*{said}"):
        forest(lambda y_true, y_pred: found).fit(X, NUMBERS)
    assert not growing


def test_a_failure_that_comes_with_real_predictions_leaves_nothing_fitted(growing):
    calls = []

    def late(y_true, y_pred):
        calls.append(len(y_pred))
        return 0.5 if len(calls) == 1 else math.nan

    estimator = forest(late)
    with pytest.raises(OwnFunctionError, match="the oob_score function 'late' gave NaN"):
        estimator.fit(X, NUMBERS)
    assert len(growing) == 1
    assert not hasattr(estimator, "model_")


@pytest.mark.parametrize(
    ("function", "kind", "target"),
    [
        (mean_poisson_deviance, sp.RandomForestRegressor, COUNTS),  # not for predictions of 0
        (lambda y_true, y_pred: float(np.corrcoef(y_true, y_pred)[0, 1]), sp.RandomForestRegressor, NUMBERS),
        (lambda y_true, y_pred: 1 / float(np.abs(y_true - y_pred).sum()), sp.RandomForestRegressor, NUMBERS),
        (roc_auc_score, sp.RandomForestClassifier, CLASSES),
        (lambda y_true, y_pred: y_pred.sort() or y_true.fill(0) or 0.5, sp.RandomForestClassifier, CLASSES),
    ],
)
def test_a_function_that_not_all_predictions_suit_is_taken(function, kind, target):
    fitted = forest(function, kind).fit(X, target)
    assert math.isfinite(fitted.oob_score_)
    assert fitted.model_ == forest(False, kind).fit(X, target).model_


def test_a_function_is_tried_on_all_outputs():
    shapes = set()

    def score(y_true, y_pred):
        shapes.add((y_true.shape, y_pred.shape))
        return 0.5

    forest(score).fit(X, np.column_stack([NUMBERS, -NUMBERS]))
    assert ((ROWS, 2), (ROWS, 2)) in shapes

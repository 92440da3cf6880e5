"""Calls of functions that users wrote: objectives, metrics, scorers, learning rates. Errors have the name of the function."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from spinney.errors import OwnFunctionError
from spinney.messages import shown

_WEIGHT_NAMES = ("weight", "weights", "sample_weight")


def name_of(function: Any) -> str:
    """The name of a function in messages and results.

    Examples
    --------
    >>> name_of(max), name_of(partial(max, 1))
    ('max', 'max')
    """
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def takes_estimator(function: Callable[..., Any]) -> bool:
    """Whether a function takes an estimator and a table, as scikit-learn's scorers do, and not predictions.

    Examples
    --------
    >>> takes_estimator(lambda estimator, X, y: 0.5), takes_estimator(lambda y_true, y_pred, weight: 0.5)
    (True, False)
    """
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
    return names[:1] == ["estimator"] or names[1:2] == ["X"]


def call_user_function(role: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a user's function; `role` is its role in messages, such as "the metric".

    Raises
    ------
    OwnFunctionError
        With the name of the function and the error that it raised.
    """
    try:
        return function(*args, **named)
    except OwnFunctionError:
        raise
    except Exception as error:
        shown_error = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise OwnFunctionError(f"{role} {name_of(function)!r} failed with {shown_error}") from error


class WithWeight:
    """A function of two arrays, called with the weights of the rows too if it takes them.

    It takes them as its third argument if it has a third one without a default, and by name if an argument is called
    weight, weights or sample_weight.

    Examples
    --------
    >>> WithWeight("the metric", lambda y_true, y_pred, sample_weight=None: sample_weight)(1, 2, 3)
    3
    >>> WithWeight("the metric", lambda y_true, y_pred: y_true + y_pred)(1, 2, 3)
    3
    """

    def __init__(self, role: str, function: Callable[..., Any]) -> None:
        self._role, self._function = role, function

    def __call__(self, first: Any, second: Any, weight: Any) -> Any:
        """Call the function."""
        if self._weight is None:
            return call_user_function(self._role, self._function, first, second)
        if self._weight == "":
            return call_user_function(self._role, self._function, first, second, weight)
        return call_user_function(self._role, self._function, first, second, **{self._weight: weight})

    @property
    def takes_weight(self) -> bool:
        """Whether the function is called with the weights."""
        return self._weight is not None

    @cached_property
    def _weight(self) -> str | None:
        """Name of the argument for weights, empty for the third one, None where there is none."""
        try:
            parameters = list(inspect.signature(self._function).parameters.values())
        except (TypeError, ValueError):
            return None
        for parameter in parameters:
            if parameter.name in _WEIGHT_NAMES and parameter.kind != parameter.POSITIONAL_ONLY:
                return parameter.name
        plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        needed = [one for one in parameters if one.kind in plain and one.default is one.empty]
        return "" if len(needed) > 2 else None


def checked_number(function: str, value: object, role: str = "the metric") -> float:
    """The value that a user's function returned, if it is a number; `function` is its name, `role` its role."""
    if isinstance(value, np.ndarray) and value.shape != ():
        raise OwnFunctionError(
            f"{role} {function!r} must return one number as its value, not an array of shape {value.shape}"
        )
    if isinstance(value, np.ndarray):
        value = value.item()
    if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_):
        raise OwnFunctionError(f"{role} {function!r} must return a number as its value, not {shown(value)}")
    try:
        number = float(value)
    except OverflowError as error:
        raise OwnFunctionError(f"{role} {function!r} gave a number that no float can hold") from error
    if math.isnan(number):
        raise OwnFunctionError(f"{role} {function!r} gave NaN; it must return a number")
    return number

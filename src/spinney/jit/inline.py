"""Functions that kernels call."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


class Inline:
    """A function that kernels call; compiled into each of them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__

    def __call__(self, *args: Any) -> Any:
        """Run the function as plain Python."""
        return self.function(*args)


class Intrinsic(Inline):
    """A function with a machine instruction behind it; the Python body stands in where nothing is compiled."""


def inline(function: Callable[..., Any]) -> Inline:
    """Declare a function that kernels call."""
    return Inline(function)


def filled(frame: Inline, **formulas: Inline) -> Inline:
    """Make a function of a frame: one that calls formulas by names which its own module does not define."""
    function = frame.function
    assert isinstance(function, FunctionType)
    made = FunctionType(function.__code__, {**function.__globals__, **formulas}, function.__name__)
    made.__doc__, made.__module__ = function.__doc__, function.__module__
    return Inline(made)

"""Functions that kernels call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


class Hole(Inline):
    """The name of a function that a frame calls and that is not known yet."""


def hole(what: str) -> Inline:
    """Declare a function that a frame calls: `filled` or `framed` puts another in its place."""

    def missing(*args: Any) -> Any:
        raise TypeError(f"a frame was not filled: {what}")

    missing.__doc__ = what
    return Hole(missing)


def filled(frame: Inline, **functions: Inline) -> Inline:
    """Make a function of a frame: one that calls holes, or other frames, which `functions` replace by name."""
    function = frame.function
    made = with_functions(function, function.__name__, functions)
    made.__module__ = function.__module__
    return Inline(made)


def with_functions(frame: Callable[..., Any], name: str, functions: Mapping[str, Inline]) -> FunctionType:
    """A copy of a frame that calls other functions by the names of its holes."""
    assert isinstance(frame, FunctionType)
    names = frame.__globals__
    for hole_name in functions:
        if not isinstance(names.get(hole_name), Inline):
            raise TypeError(f"{frame.__module__} declares no hole {hole_name}")
    made = FunctionType(frame.__code__, {**names, **functions}, name)
    made.__doc__ = frame.__doc__
    return made


def open_holes(function: Callable[..., Any]) -> list[str]:
    """Names of the holes that a function, or one that it calls, still has."""
    seen: set[int] = set()
    found: list[str] = []

    def look(function: Callable[..., Any]) -> None:
        if id(function) in seen or not isinstance(function, FunctionType):
            return
        seen.add(id(function))
        for name in function.__code__.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, Hole):
                found.append(name)
            elif isinstance(value, Inline):
                look(value.function)

    look(function)
    return found

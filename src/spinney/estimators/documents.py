"""The estimators' docstrings: their Parameters section is written from the table of parameters."""

from __future__ import annotations

import inspect
from typing import TypeVar

from spinney.estimators.parameters import ESTIMATORS
from spinney.params import numpydoc

C = TypeVar("C", bound=type)


def documented(cls: C) -> C:
    """Put the Parameters section where a class's docstring says `{parameters}`."""
    section = numpydoc(ESTIMATORS[cls.__name__].values())
    cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace("{parameters}", section)
    return cls

"""Checks of plain arguments."""

from __future__ import annotations

import numbers

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown


def count_of(name: str, value: object, least: int = 1) -> int:
    """A whole number of repetitions.

    Examples
    --------
    >>> count_of("repeats", 5)
    5
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ParameterTypeError(f"{name}={shown(value)} must be a whole number")
    number = int(value)
    if not least <= number < 2**31:
        raise ParameterError(
            f"{name}={shown(number)} is out of range: it must be {least} or more, below 2**31"
        )
    return number

"""What losses and metrics of ranking know beyond numbers: the gain of each relevance, and how far down a list they look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params.short import shown

# Places of the gain table where none is given: gains of more relevances would be beyond 31 bits. LightGBM's number.
RELEVANCES = 31
SMALLEST_GAIN, LARGEST_GAIN = 1e-30, 1e30
DEEPEST = 2**31 - 1
# The hessians of pairs are small: with 5, as elsewhere, NDCG of 150 queries was lower by .003 to .008 in 3 of 4 problems.
RANKING_LAMBDA = 1.0  # reg_lambda, where none is given


def gains_of(label_gain: tuple[float, ...] | None) -> tuple[float, ...]:
    """The gain of each relevance: those given, else 2**relevance - 1.

    Examples
    --------
    >>> gains_of(None)[:4], gains_of((0.0, 1.0, 2.0))
    ((0.0, 1.0, 3.0, 7.0), (0.0, 1.0, 2.0))
    """
    return tuple(2.0**i - 1.0 for i in range(RELEVANCES)) if label_gain is None else label_gain


def gains(value: object, said: object) -> tuple[float, ...]:
    """Check `label_gain`.

    Examples
    --------
    >>> gains([0, 1, 3], "")
    (0.0, 1.0, 3.0)
    """
    found: list[float] = []
    for place, gain in enumerate(_items(value, said, "the gains of relevance 0, 1, 2, ...")):
        if not isinstance(gain, Real) or isinstance(gain, bool):
            raise ParameterTypeError(f"{said} must hold only numbers; found {shown(gain)} at place {place}")
        number = _float(gain)
        if number != 0.0 and not SMALLEST_GAIN <= number <= LARGEST_GAIN:
            raise ParameterError(
                f"{said} holds {shown(gain)} at place {place}; a gain must be 0, or from {SMALLEST_GAIN:g} to {LARGEST_GAIN:g}"
            )
        if found and number < found[-1]:
            raise ParameterError(
                f"{said} falls from {found[-1]:g} to {number:g} at place {place}; more relevant rows must not gain less"
            )
        found.append(number + 0.0)
    if not found or found[-1] == 0.0:
        raise ParameterError(f"{said} leaves nothing to gain: the last gain must be above 0")
    return tuple(found)


def depths(value: object, said: object) -> tuple[int, ...]:
    """Check `eval_at`; a number alone is a list of one.

    Examples
    --------
    >>> depths(10, ""), depths([1, 5], "")
    ((10,), (1, 5))
    """
    found: list[int] = []
    for depth in _items([value] if isinstance(value, Real) else value, said, "places such as [5, 10]"):
        number = _float(depth) if isinstance(depth, Real) and not isinstance(depth, bool) else math.nan
        if not number.is_integer():
            raise ParameterTypeError(f"{said} must hold whole numbers; found {shown(depth)}")
        if not 1 <= number <= DEEPEST:
            raise ParameterError(f"{said} holds {shown(depth)}; a list is judged down to place 1 or beyond")
        if int(number) in found:
            raise ParameterError(f"{said} holds {shown(depth)} twice; give it once")
        found.append(int(number))
    if not found:
        raise ParameterError(f"{said} is empty; give places such as [5, 10], or None to judge whole lists")
    return tuple(found)


def _float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _items(value: object, said: object, right: str) -> Sequence[object]:
    listed = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(listed, Sequence) or isinstance(listed, str | bytes | bytearray):
        raise ParameterTypeError(
            f"{said} must be a list, {right}; found an object of type {type(value).__name__}"
        )
    return listed

"""JSON from a stranger: what Python's reader lets pass but a model file must not hold is refused."""

from __future__ import annotations

import json
import math
from reprlib import repr as short_repr

from spinney.errors import ModelFormatError

# The deepest thing a model file holds is an estimator's parameter that is a tuple of tuples: eight levels.
DEEPEST = 8
# No whole number in a model file needs more digits than a signed 64-bit one.
MOST_DIGITS = 20


def parse(text: str, what: str) -> object:
    """Read JSON text of a model file.

    Parameters
    ----------
    text : str
        The JSON text.
    what : str
        What it is, for the error.

    Returns
    -------
    object
        Dictionaries, lists, strings, finite numbers, booleans and None.

    Raises
    ------
    ModelFormatError
        The text is not JSON, names a key twice, nests too deeply, or holds NaN, an infinity, a number too
        long or a string that is not text.

    Examples
    --------
    >>> parse('{"rounds": 3}', "the header")
    {'rounds': 3}
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_int=_whole_number,
            parse_float=_finite_number,
            parse_constant=_no_constant,
        )
        _check_contents(value)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{what} is not sound JSON: {error}") from error
    return value


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    seen = dict(pairs)
    if len(seen) < len(pairs):
        raise ValueError("a key is given twice")
    return seen


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number has {len(digits)} digits")
    return int(digits)


def _finite_number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {short_repr(digits)} is too large")
    return number


def _no_constant(name: str) -> float:
    raise ValueError(f"it holds {name}")


def _check_contents(value: object) -> None:
    """Refuse broken text and deep nesting, level by level so that the check needs no deep stack itself."""
    level = [value]
    for _ in range(DEEPEST):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item)
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, str):
                item.encode()  # half of a surrogate pair is no text, and no file could hold it
        level = below
    if level:
        raise ValueError(f"it nests more than {DEEPEST} levels deep")

"""The source of `generated.py`: constructors with real signatures, which tools, scikit-learn and readers see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spinney.estimators.families import EVERY
from spinney.params import Row

_HEAD = '''\
"""The estimators' constructors, made of the tables that `families.py` lists.

This file is written by `python -m spinney.estimators > src/spinney/estimators/generated.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.estimators.names import keep, named
'''

# The type of a parameter in Python, by its type in words where the words are no type.
_TYPES: Mapping[str, str] = {
    "str or callable": "str | Callable[..., Any]",
    "str, callable or None": "str | Callable[..., Any] | None",
    "str or sequence of str": "str | Sequence[str] | None",
    "str, callable, or list of them": "str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None",
    "sequence of int, mapping or None": "Sequence[int] | Mapping[str | int, int] | str | None",
    "sequence of float, mapping or None": "ArrayLike | Mapping[str | int, float] | None",
    "sequence of float or None": "ArrayLike | None",
    "sequence of int, int or None": "int | Sequence[int] | None",
    "sequence of sequences or None": "Sequence[Sequence[str | int]] | str | None",
    "dict, 'balanced' or None": "Mapping[Any, float] | str | None",
    "'auto' or list of str, int or bool": "str | Sequence[str | int] | NDArray[np.bool_]",
    "int, RandomState, Generator or None": "int | np.random.RandomState | np.random.Generator | None",
    "int, float or None": "int | float | None",
    "int, float or str": "int | float | str",
    "int, float, str or None": "int | float | str | None",
    "float or sequence of float": "float | ArrayLike",
    "estimator or None": "Any",
    "bool or callable": "bool | Callable[..., float]",
    "dict, list of dicts, str or None": "Mapping[Any, float] | Sequence[Mapping[Any, float]] | str | None",
}


def source() -> str:
    """The source of `generated.py`."""
    return "\n".join([_HEAD, *(line for item in EVERY.items() for line in _class(*item))])


def _class(estimator: str, rows: Mapping[str, Row]) -> Iterator[str]:
    yield f"\nclass {estimator}Parameters:"
    yield f'    """The constructor of {estimator}."""\n'
    yield "    @named"
    yield "    def __init__(\n        self,"
    for place, (name, row) in enumerate(rows.items()):
        # As in scikit-learn, the number of trees or the estimator to boost may stand without its name.
        if place == int(next(iter(rows)) in ("n_estimators", "estimator")):
            yield "        *,"
        kind = _TYPES.get(row.kind) or row.kind.replace(" or ", " | ")
        yield f"        {name}: {kind} = {_written(row.default)},"
    yield "    ) -> None:\n        keep(self, locals())\n"


def _written(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)

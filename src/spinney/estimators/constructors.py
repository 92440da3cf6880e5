"""The source of `generated.py`: constructors with real signatures, which tools, scikit-learn and readers see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spinney.estimators.families import EVERY
from spinney.params import Parameter

_HEAD = '''\
"""The estimators' constructors, made of the tables that `families.py` lists.

This file is written by `python -m spinney.estimators > src/spinney/estimators/generated.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.estimators.base import keep, named
'''


def source() -> str:
    """The source of `generated.py`."""
    return "\n".join([_HEAD, *(line for item in EVERY.items() for line in _class(*item))])


def _class(estimator: str, parameters: Mapping[str, Parameter[Any]]) -> Iterator[str]:
    yield f"\nclass {estimator}Parameters:"
    yield f'    """The constructor of {estimator}."""\n'
    yield "    @named"
    yield "    def __init__(\n        self,"
    for place, (name, parameter) in enumerate(parameters.items()):
        # As in scikit-learn, the number of trees or the estimator to boost may stand without its name.
        if place == int(next(iter(parameters)) in ("n_estimators", "estimator")):
            yield "        *,"
        yield f"        {name}: {parameter.annotation} = {_source(parameter.default)},"
    yield "    ) -> None:\n        keep(self, locals())\n"


def _source(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)

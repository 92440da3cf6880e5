"""A loss of the user's own on its way into a training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.labels import LabelVector
from spinney.errors import ParameterError, ParameterTypeError
from spinney.objectives import Function
from spinney.params import Config
from spinney.params.names import spellings
from spinney.params.objectives import OWN
from spinney.params.validate import shown
from spinney.training.own import WithWeight, call_own, checked_number, name_of


class OwnObjective:
    """A function `f(scores, labels) -> g, h`; what goes wrong in it is told with its name.

    Examples
    --------
    >>> OwnObjective(max).__name__
    'max'
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = name_of(function)

    def __call__(self, scores: NDArray[np.float64], labels: LabelVector) -> object:
        """Call the function."""
        return call_own("the objective", self._function, scores, labels)

    @property
    def metric(self) -> Callable[..., Any] | None:
        """The loss itself as a metric, where the function has it; see `loss_of`."""
        loss = loss_of(self._function)
        if loss is None:
            return None
        call = WithWeight("the metric", loss)

        def metric(scores: NDArray[np.float64], labels: LabelVector) -> tuple[str, float, bool]:
            return loss.__name__, checked_number(loss.__name__, call(scores, labels, labels.weight)), False

        return metric


def loss_of(objective: object) -> Callable[..., Any] | None:
    """What an objective of the user's own has as its attribute `loss`, by that name; None where it has no such function.

    Examples
    --------
    >>> loss_of(max) is None
    True
    """
    found = getattr(objective, "loss", None)
    if not callable(objective) or not callable(found):
        return None

    @wraps(found)
    def loss(*args: Any, **named: Any) -> Any:
        return found(*args, **named)

    loss.__name__ = "loss"
    return loss


def with_function(
    params: Mapping[str, object] | Config, objective: Any
) -> tuple[Mapping[str, object] | Config, Function | None]:
    """Parameters that hold no function, and the function where there is one, be it in them or given beside them.

    Raises
    ------
    ParameterTypeError
        What is given beside them is no function.
    ParameterError
        The objective is given twice.

    Examples
    --------
    >>> params, function = with_function({"loss": max, "eta": 0.3}, None)
    >>> params, function.__name__
    ({'eta': 0.3, 'objective': 'own'}, 'max')
    """
    if objective is not None and not callable(objective):
        raise ParameterTypeError(
            f"objective={shown(objective)} must be a function, f(scores, labels) -> g, h; give a name in params"
        )
    if isinstance(params, Config) or not isinstance(params, Mapping):
        if isinstance(params, Config) and objective is not None and params.objective != OWN:
            raise ParameterError(
                f"params say objective={params.objective!r} and there is a function, objective={shown(objective)}; give only one"
            )
        return params, None if objective is None else OwnObjective(objective)
    named = [name for name in params if _is_objective(name)]
    if objective is not None and named:
        raise ParameterError(
            f"params say {named[0]}={shown(params[named[0]])} and there is a function, objective={shown(objective)}; give only "
            "one"
        )
    function: Any = objective
    if len(named) == 1 and callable(params[named[0]]):
        function = params[named[0]]
    if function is None:
        return params, None
    return {name: value for name, value in params.items() if name not in named} | {
        "objective": OWN
    }, OwnObjective(function)


def _is_objective(name: object) -> bool:
    row = spellings().get(name) if isinstance(name, str) else None
    return row is not None and row.name == "objective"

"""Losses that are functions of users: `objective=f` in `train`, with `f(scores, labels) -> g, h`.

The configuration of such a training has `objective="own"` (`with_function` in `params/boosting.py`). `CustomObjective` calls the
function in each round and checks the gradients and hessians that it returns. `loss_of` and `loss_metric` are for functions with
an attribute `loss`, which is a metric of the training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.kernels.records import Gradients
from spinney.data.labels import LabelVector
from spinney.errors import OwnFunctionError, ParameterError
from spinney.jit import Bound
from spinney.jit.team import Team
from spinney.objectives.base import Fill, Objective
from spinney.objectives.kernels.common import LARGEST, find_largest
from spinney.params import Config, ObjectiveInfo, outputs_of
from spinney.user_functions import WithWeight, call_user_function, checked_number, name_of

# Below it float32 has no digits left.
SMALLEST = 1e-37

Function = Callable[[NDArray[np.float64], LabelVector], object]
"""A loss that a user wrote: `f(scores, labels) -> g, h`."""


class CustomObjective(Objective):
    """Gradients from a function of the user. A model that was loaded has no function: it predicts raw scores."""

    def __init__(self, info: ObjectiveInfo, config: Config, function: Function | None = None) -> None:
        super().__init__(info, config)
        self._function = function

    @property
    def outputs(self) -> int:
        """As many as the parameters have."""
        return outputs_of(self.config)

    @property
    def targets(self) -> int:
        """As many as the parameters have."""
        return self.config.num_target

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """Zero: the loss itself is unknown."""
        return np.zeros(self.outputs)

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """Only the largest of what `filler` writes."""
        job: Bound = find_largest.bind(gradients)
        return job

    def filler(self, labels: Labels, gradients: Gradients, team: Team) -> Fill:
        """A function that calls the user's, checks what it returns, and writes it. Weights are left to the user's function."""
        function, unit = self._function, gradients.unit
        if function is None:
            raise ParameterError(
                "objective='own' is the name in models whose loss was a function; to train one, give the function: objective=f"
            )
        name = repr(name_of(function))
        scores = gradients.scores.reshape(self.outputs, labels.rows)
        pairs = gradients.pairs.reshape(self.outputs, labels.rows, 2)
        weight = None if labels.weight is None else labels.weight * unit
        given = _read_only(replace(labels, weight=weight).for_functions())
        largest = self.gradients(labels, gradients, team.size)

        def fill(seed: int) -> None:
            copied = np.array(scores[0] if self.outputs == 1 else scores.T)  # the function may keep it
            copied.flags.writeable = False
            returned = call_user_function("the objective", function, copied, given)
            for part, (what, values) in enumerate(_pair(returned, name)):
                checked = _checked(values, copied.shape, f"{what} of the objective {name}", unit, part == 1)
                pairs[:, :, part] = checked.T
            team.run(largest)

        return fill


def _read_only(labels: LabelVector) -> LabelVector:
    """Labels that a function cannot change: it is called with the same ones in each round."""
    for array in (labels, labels.weight, labels.margin, labels.queries):
        if array is not None:
            array.flags.writeable = False
    return labels


def _pair(returned: object, name: str) -> list[tuple[str, object]]:
    """Gradients and hessians, each with its name for messages."""
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        found = (
            f"{len(returned)} values"
            if isinstance(returned, tuple | list)
            else f"a {type(returned).__name__}"
        )
        raise OwnFunctionError(
            f"the objective {name} must return two arrays, gradients and hessians, not {found}"
        )
    return [("the gradients", returned[0]), ("the hessians", returned[1])]


def _checked(
    values: Any, shape: tuple[int, ...], what: str, unit: float, hessian: bool
) -> NDArray[np.float64]:
    """Values as (rows, outputs), divided by the unit of weights."""
    given = np.asanyarray(values)
    if given.dtype.kind not in "biufO" or np.ma.is_masked(given):
        kind = "masked values" if np.ma.is_masked(given) else f"{given.dtype}"
        raise OwnFunctionError(f"{what} must be numbers, not {kind}")
    try:
        array = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OwnFunctionError(f"{what} must be numbers: {error}") from error
    if array.shape != shape:
        raise OwnFunctionError(f"{what} have shape {array.shape}; it must be {shape}, that of the scores")
    largest = np.abs(array).max()
    with np.errstate(over="ignore", under="ignore"):
        array = array / unit
    weighted = (
        ""
        if unit == 1.0
        else f", as rows weigh up to about {unit:g}; the function is to multiply by their weights"
    )
    wrong = ~(np.abs(array) <= LARGEST)
    if wrong.any():
        place = _first(wrong)
        raise OwnFunctionError(
            f"{what} hold {array[place] * unit:g} in row {place[0]}; they must be finite and within ±{LARGEST * unit:g}{weighted}"
        )
    if hessian and np.abs(array).max() < SMALLEST < largest:
        raise OwnFunctionError(f"{what} are too small, {largest:g} at most{weighted}")
    if hessian and array.min() < 0:
        place = _first(array < 0)
        raise OwnFunctionError(
            f"{what} hold {array[place] * unit:g} in row {place[0]}; they must be 0 or more, so put a small number in its place"
        )
    return array.reshape(len(array), -1)


def _first(wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    """Index of the first value that is wrong."""
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def loss_of(objective: object) -> Callable[..., Any] | None:
    """The attribute `loss` of a user's function, by that name; None where there is no such function.

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


def loss_metric(objective: object) -> Callable[..., Any] | None:
    """That loss as a custom metric, f(scores, labels), of which lower values are better; None where there is none."""
    loss = loss_of(objective)
    if loss is None:
        return None
    call = WithWeight("the metric", loss)

    def metric(scores: NDArray[np.float64], labels: LabelVector) -> tuple[str, float, bool]:
        return loss.__name__, checked_number(loss.__name__, call(scores, labels, labels.weight)), False

    return metric

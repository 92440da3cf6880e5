"""A loss that is a function of the user's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.labels import LabelVector
from spinney.errors import OwnFunctionError, ParameterError
from spinney.jit import Bound
from spinney.jit.team import Team
from spinney.objectives.base import Fill, Objective
from spinney.objectives.kernels.bounds import LARGEST
from spinney.objectives.kernels.largest import find_largest
from spinney.objectives.kernels.records import Gradients
from spinney.params import Config, ObjectiveRow, outputs_of

# Below it float32 has no digits left.
SMALLEST = 1e-37

Function = Callable[[NDArray[np.float64], LabelVector], object]


class Own(Objective):
    """Gradients from a function, `f(scores, labels) -> g, h`. A model that was loaded has no function: it predicts raw scores."""

    def __init__(self, row: ObjectiveRow, config: Config, function: Function | None = None) -> None:
        super().__init__(row, config)
        self._function = function

    @property
    def outputs(self) -> int:
        """As many as the user says."""
        return outputs_of(self.config)

    @property
    def targets(self) -> int:
        """As many as the user says."""
        return self.config.num_target

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """Zero: nothing is known of the loss itself."""
        return np.zeros(self.outputs)

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """Only the largest of what `filler` writes."""
        job: Bound = find_largest.bind(gradients)
        return job

    def filler(self, labels: Labels, gradients: Gradients, team: Team) -> Fill:
        """Call the function, check what it gives, and write it; weights are the function's own business."""
        function, unit = self._function, gradients.unit
        if function is None:
            raise ParameterError(
                "objective='own' is what a model says whose loss was a function; to train one, give the function: objective=f"
            )
        name = repr(getattr(function, "__name__", type(function).__name__))
        scores = gradients.scores.reshape(self.outputs, labels.rows)
        weight = None if labels.weight is None else labels.weight * unit
        given = _read_only(replace(labels, weight=weight).for_functions())
        largest = self.gradients(labels, gradients, team.size)

        def fill(seed: int) -> None:
            shown = np.array(
                scores[0] if self.outputs == 1 else scores.T
            )  # a copy, which the function may keep
            shown.flags.writeable = False
            for part, (what, values) in enumerate(_pair(function(shown, given), name)):
                checked = _checked(values, shown.shape, f"{what} of the objective {name}", unit, part == 1)
                gradients.pairs.reshape(self.outputs, labels.rows, 2)[:, :, part] = checked.T
            team.run(largest)

        return fill


def _pair(answer: object, name: str) -> list[tuple[str, object]]:
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        found = f"{len(answer)} values" if isinstance(answer, tuple | list) else f"a {type(answer).__name__}"
        raise OwnFunctionError(
            f"the objective {name} must return two arrays, gradients and hessians, not {found}"
        )
    return [("the gradients", answer[0]), ("the hessians", answer[1])]


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
    weighed = (
        ""
        if unit == 1.0
        else f", as rows weigh up to about {unit:g}; the function is to multiply by their weights"
    )
    wrong = ~(np.abs(array) <= LARGEST)
    if wrong.any():
        place = _place(wrong)
        raise OwnFunctionError(
            f"{what} hold {array[place] * unit:g} in row {place[0]}; they must be finite and within ±{LARGEST * unit:g}{weighed}"
        )
    if hessian and np.abs(array).max() < SMALLEST < largest:
        raise OwnFunctionError(f"{what} are too small, {largest:g} at most{weighed}")
    if hessian and array.min() < 0:
        place = _place(array < 0)
        raise OwnFunctionError(
            f"{what} hold {array[place] * unit:g} in row {place[0]}; they must be 0 or more, so put a small number in its place"
        )
    return array.reshape(len(array), -1)


def _read_only(labels: LabelVector) -> LabelVector:
    """Labels that a function cannot change: it gets the same ones each round."""
    for array in (labels, labels.weight, labels.margin, labels.queries):
        if array is not None:
            array.flags.writeable = False
    return labels


def _place(wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(wrong)[0])

"""Metrics that are functions of users, and the check of what these return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data import Labels
from spinney.errors import OwnFunctionError
from spinney.messages import shown
from spinney.metrics.forms import Predictions
from spinney.metrics.registry import Metric, MetricValue
from spinney.user_functions import WithWeight, checked_number, name_of


@dataclass(frozen=True)
class CustomMetric(Metric):
    """A metric that a user wrote: f(scores, labels), or f(scores, labels, weight), returns name, value and higher_is_better."""

    function: Callable[..., Any]

    def check(self, labels: Labels) -> None:
        """Any labels that the objective takes have this metric."""

    def compute(self, predictions: Predictions, labels: Labels) -> MetricValue:
        """Call the function with copies of raw scores, target and weights."""
        raw = predictions.raw
        scores = raw[0].copy() if len(raw) == 1 else np.ascontiguousarray(raw.T)
        given = labels.for_functions()
        returned = WithWeight("the metric", self.function)(scores, given, given.weight)
        return checked_value(name_of(self.function), returned)


def checked_value(function: str, returned: object) -> MetricValue:
    """What a custom metric returned, if it is a name, a number and a truth value; `function` is its name in messages.

    Examples
    --------
    >>> checked_value("far", ("far", 0.5, False))
    MetricValue(name='far', value=0.5, higher_is_better=False)
    """
    if not isinstance(returned, tuple | list) or len(returned) != 3:
        raise OwnFunctionError(
            f"the metric {function!r} must return (name, value, higher_is_better), not {shown(returned)}"
        )
    name, value, higher = returned
    if not isinstance(name, str) or not name:
        raise OwnFunctionError(f"the metric {function!r} must return its name first, not {shown(name)}")
    if not isinstance(higher, bool | np.bool_):
        raise OwnFunctionError(
            f"the metric {function!r} must return True or False last, whether higher values are better, not {shown(higher)}"
        )
    return MetricValue(name, checked_number(function, value), bool(higher))

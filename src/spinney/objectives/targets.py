"""Checks of targets: `DOMAINS` has one for each domain that a loss declares in `params/objectives.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError
from spinney.params import Config, gains_of

# Gradients are float32; a target beyond this could make one infinite.
LARGEST_TARGET = 1e30


def check_numbers(target: NDArray[np.float64], config: Config) -> None:
    """Refuse a target whose gradients would not be finite."""
    worst = int(np.argmax(np.abs(target)))
    if abs(target[worst]) > LARGEST_TARGET:
        raise DataError(
            f"y[{worst}] = {target[worst]:g} is too large to train on; bring the target within ±{LARGEST_TARGET:g}, "
            "for example by dividing it"
        )
    if 0 < abs(target[worst]) < 1 / LARGEST_TARGET:
        raise DataError(
            f"the largest value of y is {target[worst]:g}, too small to train on; bring the target to a size of about 1, "
            "for example by multiplying it"
        )


def _check_above(
    fits: Callable[[NDArray[np.float64]], NDArray[np.bool_]], needed: str
) -> Callable[[NDArray[np.float64], Config], None]:
    """A function that refuses targets with values that do not fit."""

    def check(target: NDArray[np.float64], config: Config) -> None:
        wrong = np.flatnonzero(~fits(target))
        if len(wrong):
            raise DataError(
                f"objective {config.objective} needs y of {needed}, got y[{wrong[0]}] = {target[wrong[0]]:g}"
            )
        check_numbers(target, config)

    return check


def accept(target: NDArray[np.float64], config: Config) -> None:
    """Take any target: what fits depends on the user's function."""


def check_shares(target: NDArray[np.float64], config: Config) -> None:
    """Refuse all but probabilities, which mostly are the labels 0 and 1."""
    wrong = np.flatnonzero((target < 0) | (target > 1))
    if len(wrong):
        raise DataError(
            f"objective {config.objective} needs labels 0 and 1 (or probabilities), got y[{wrong[0]}] = "
            f"{target[wrong[0]]:g}; GBMClassifier takes labels of any kind"
        )


def check_classes(target: NDArray[np.float64], config: Config) -> None:
    """Refuse all but the numbers 0 .. num_class-1."""
    wrong = np.flatnonzero((target < 0) | (target >= config.num_class) | (target != np.floor(target)))
    if len(wrong):
        raise DataError(
            f"objective {config.objective} with num_class = {config.num_class} needs labels 0 to {config.num_class - 1}, "
            f"got y[{wrong[0]}] = {target[wrong[0]]:g}"
        )


def check_relevance(target: NDArray[np.float64], config: Config) -> None:
    """Refuse all but whole numbers that have a gain."""
    last = len(gains_of(config.label_gain)) - 1
    wrong = np.flatnonzero((target < 0) | (target > last) | (target != np.floor(target)))
    if not len(wrong):
        return
    found = target[wrong[0]]
    beyond = found == np.floor(found) and found > last
    advice = "; give label_gain more places" if beyond else ""
    raise DataError(
        f"objective {config.objective} needs relevances that are whole numbers from 0 to {last}, the last one in "
        f"label_gain; got y[{wrong[0]}] = {found:g}{advice}"
    )


def check_relevant(target: NDArray[np.float64], config: Config) -> None:
    """Refuse all but 0 and 1."""
    wrong = np.flatnonzero((target != 0) & (target != 1))
    if len(wrong):
        raise DataError(
            f"objective {config.objective} needs y of 1 for relevant rows and 0 for others, got y[{wrong[0]}] = "
            f"{target[wrong[0]]:g}; rank_ndcg takes more relevances"
        )


def check_events(target: NDArray[np.float64], config: Config) -> None:
    """Refuse all but times of 0 or more, and events of 0 or 1."""
    time, event = target[:, 0], target[:, 1]
    wrong = np.flatnonzero(time < 0)
    if len(wrong):
        raise DataError(
            f"objective {config.objective} needs times of 0 or more in the first column of y, got y[{wrong[0]}, 0] = "
            f"{time[wrong[0]]:g}; give times that are negative for censored rows as one column"
        )
    wrong = np.flatnonzero((event != 0) & (event != 1))
    if len(wrong):
        raise DataError(
            f"objective {config.objective} needs events of 1 (seen) or 0 (censored) in the second column of y, got "
            f"y[{wrong[0]}, 1] = {event[wrong[0]]:g}"
        )


def check_intervals(target: NDArray[np.float64], config: Config) -> None:
    """Refuse all but intervals of times."""
    lower, upper = target[:, 0], target[:, 1]
    for wrong, needed in (
        (lower < 0, "times of 0 or more"),
        (upper < lower, "least times that are not above the largest"),
        (upper == 0, "largest times above 0"),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            raise DataError(
                f"objective {config.objective} needs {needed}, got y[{at}] = ({lower[at]:g}, {upper[at]:g})"
            )


DOMAINS: Mapping[str, Callable[[NDArray[np.float64], Config], None]] = {
    "numbers": check_numbers,
    "above -1": _check_above(lambda target: target > -1, "more than -1"),
    "0 or more": _check_above(lambda target: target >= 0, "0 or more"),
    "above 0": _check_above(lambda target: target > 0, "more than 0"),
    "shares": check_shares,
    "classes": check_classes,
    "relevance": check_relevance,
    "relevant": check_relevant,
    "events": check_events,
    "intervals": check_intervals,
    "anything": accept,
}

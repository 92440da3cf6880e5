"""The base class of losses, the checks of targets, and the links, which make predictions of scores.

`Objective` is what training and prediction use of a loss: the check of the target, the score to start from, gradients, leaf
values, the link. `LINKS` has a function for each link of `params/objectives.py`, `DOMAINS` a check for each domain of targets.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels, named_column
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.data.labels import LeafRefit
from spinney.errors import DataError
from spinney.jit import Bound, allocate
from spinney.jit.kernel import kernel_of
from spinney.jit.team import Team, run_alone
from spinney.objectives.kernels.leaf_values import LineSearch
from spinney.objectives.kernels.links import exp_all, one_vs_rest_all, sigmoid_all, softmax_all
from spinney.objectives.kernels.pointwise import flatten_hessians
from spinney.params import Config, ObjectiveInfo, gains_of, link_of, takes_targets, values_by_output

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


Fill = Callable[[int], None]
"""Fills gradients from scores, with the seed of the round for random draws."""


class Objective(ABC):
    """A loss with the parameters of a configuration."""

    def __init__(self, info: ObjectiveInfo, config: Config) -> None:
        self.info, self.config = info, config

    @property
    def outputs(self) -> int:
        """Scores per row."""
        return 1

    @property
    def targets(self) -> int:
        """Columns of the target."""
        return 1

    def check_target(self, labels: Labels) -> None:
        """Raise `DataError` where the target does not fit the loss."""
        if labels.targets != self.targets:
            given = f" (num_target={self.targets})" if takes_targets(self.info.name) else ""
            wanted = f"{self.targets} column{'s' * (self.targets > 1)}{given}"
            raise DataError(f"objective {self.info.name} needs y of {wanted}, got {labels.targets}")
        if not takes_targets(self.info.name):
            DOMAINS[self.info.domain](labels.target, self.config)
            return
        for column in range(labels.targets):
            with named_column(labels, column):
                DOMAINS[self.info.domain](labels.column(column).target, self.config)

    def prepared(self, labels: Labels) -> Labels:
        """Labels, checked, in the form that the loss and its metrics read.

        Raises
        ------
        DataError
            The target does not fit the loss.
        """
        self.check_target(labels)
        return labels

    @abstractmethod
    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """The constant score, one for each output, with the least loss."""

    @abstractmethod
    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """A job for a team: fill the pairs of `gradients` from its scores."""

    def filler(self, labels: Labels, gradients: Gradients, team: Team) -> Fill:
        """A function that fills `gradients` from its scores in each round."""
        jobs = [self.gradients(labels, gradients, team.size)]
        if self._first_order:
            jobs.append(flatten_hessians.bind(labels.arrays(), gradients))

        def fill(seed: int) -> None:
            for job in jobs:
                team.run(job)

        return fill

    def leaf_refit(self, labels: Labels, threads: int) -> LeafRefit | None:
        """A function that makes a job which computes leaf values; None where these are minus sums of gradients over hessians.

        The hessian of a row is used as its weight.
        """
        if self.info.leaf_values == "newton" and not self._first_order:
            return None
        return partial(self.refit_by_loss, labels, threads)

    def refit_by_loss(
        self,
        labels: Labels,
        threads: int,
        by_leaf: LeafRows,
        gradients: Gradients,
        steps: NDArray[np.float64],
    ) -> Bound:
        """A job: for each leaf, a line search for the constant that lowers the loss of its rows most."""
        values = self.parameters()
        search = allocate(
            LineSearch,
            reg_lambda=self.config.reg_lambda / gradients.unit,
            reg_alpha=self.config.reg_alpha / gradients.unit,
            by_leaf=by_leaf,
        )
        search_along = kernel_of(self.info.name, "line_search")
        return search_along.bind(by_leaf, gradients, labels.arrays(), values.shape[1], values, search, steps)

    def parameters(self) -> NDArray[np.float64]:
        """Parameters of the formula, outputs × values; None is NaN."""
        return np.array(values_by_output(self.config, self.info.parameters), np.float64)

    @property
    def _first_order(self) -> bool:
        """Whether trees are fitted to gradients alone, and line searches find their values."""
        return self.config.leaf_estimation == "line_search" and self.info.leaf_values == "newton"

    def link(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predictions from raw scores: (rows,) or (rows, outputs)."""
        return LINKS[link_of(self.config)](raw)


def identity(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores that are predictions."""
    return raw


class _OneScore(threading.local):
    """Memory for one score, bound once in each thread: the check of a kernel's arguments takes longer than the kernel."""

    def __init__(self) -> None:
        self.scores, self.result = np.zeros(1), np.zeros(1)
        self.job = sigmoid_all.bind(1, self.scores, self.result)


_ONE = _OneScore()


def logistic(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of the second class."""
    if raw.size == 1:
        _ONE.scores[:] = raw.reshape(1)
        run_alone(_ONE.job)
        return _ONE.result.reshape(raw.shape).copy()
    raw = np.ascontiguousarray(raw)
    result = np.empty_like(raw)
    run_alone(sigmoid_all.bind(raw.size, raw, result))
    return result


def exponential(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Predictions of scores that are their logarithms; an error where float64 cannot hold one."""
    raw = np.ascontiguousarray(raw)
    result = np.empty_like(raw)
    run_alone(exp_all.bind(raw.size, raw, result))
    if not np.isfinite(result).all():
        row = int(np.argmin(np.isfinite(result.reshape(len(raw), -1)).all(axis=1)))
        raise DataError(
            f"row {row} has the score {np.max(raw[row]):g}, whose exponential no float64 can hold; `predict_raw` gives scores "
            "themselves, and a base_margin must be a logarithm of predictions too"
        )
    return result


def softmax(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of all classes."""
    raw = np.ascontiguousarray(raw)
    result = np.empty_like(raw)
    run_alone(softmax_all.bind(raw.shape[0], raw.shape[1], raw, result))
    return result


def one_vs_rest(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of all classes, each against the rest, divided by their sum."""
    raw = np.ascontiguousarray(raw)
    result = np.empty_like(raw)
    run_alone(one_vs_rest_all.bind(raw.shape[0], raw.shape[1], raw, result))
    return result


def ascending(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of ascending levels, sorted where they would cross."""
    return np.sort(raw, axis=-1)


LINKS: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "identity": identity,
    "sorted": ascending,
    "exp": exponential,
    "logistic": logistic,
    "softmax": softmax,
    "one_vs_rest": one_vs_rest,
}

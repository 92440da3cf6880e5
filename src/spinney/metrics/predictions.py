"""Scores and predictions of some rows, in the forms in which metrics use them.

`Predictions` are computed from raw scores during training and evaluation; `GivenPredictions` are for
predictions whose raw scores are unknown. Both compute each form when a metric first uses it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.kernels.queries import Lists
from spinney.data.queries import lists_of
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.metrics.kernels.curves import DigitCounts, SortedScores, sort_scores
from spinney.metrics.kernels.predictions import (
    class_probabilities_of,
    exponentials_of,
    log_probabilities_of,
    probabilities_of,
)
from spinney.metrics.kernels.rankings import rank_lists

Floats = NDArray[np.float64]
STEP = float(np.finfo(np.float64).eps)


class Predictions:
    """Raw scores of rows, and their predictions and order.

    Parameters
    ----------
    scores : float64[outputs, rows]
        Raw scores.
    link : str
        The function that makes predictions of them: `link_of` the configuration.
    team : Team
        Threads to compute with; no result depends on their number.

    Examples
    --------
    >>> Predictions(np.array([[0.0, 40.0]]), "logistic", Team(1)).values.tolist()
    [[0.5, 1.0]]
    """

    def __init__(self, scores: Floats, link: str, team: Team) -> None:
        self.raw, self.team = scores, team
        self._link = link
        self._ranked: tuple[Labels, Lists, NDArray[np.int32]] | None = None

    @property
    def outputs(self) -> int:
        """Scores per row."""
        return len(self.raw)

    @cached_property
    def scores(self) -> Floats:
        """Scores whose probabilities are their logistic function or, of many classes, their softmax."""
        if self._link != "one_vs_rest":
            return self.raw
        logs = np.empty_like(self.raw)
        self.team.run(log_probabilities_of.bind(logs.size, self.raw, logs))
        return logs

    @cached_property
    def values(self) -> Floats:
        """Predictions, outputs × rows: numbers, the probability of the second of two classes, or those of all."""
        outputs, rows = self.raw.shape
        if self._link == "identity":
            return self.raw
        if self._link == "sorted":
            return np.sort(self.raw, axis=0)
        result = np.empty_like(self.raw)
        if self._link in ("softmax", "one_vs_rest"):
            self.team.run(class_probabilities_of.bind(rows, outputs, self.scores, result))
        else:
            link = {"logistic": probabilities_of, "exp": exponentials_of}[self._link]
            self.team.run(link.bind(self.raw.size, self.raw, result))
        return result

    def output(self, number: int) -> Predictions:
        """One of several outputs, each of which is a prediction of its own."""
        if self._link == "sorted":
            return Predictions(self.values[number : number + 1], "identity", self.team)
        return Predictions(self.raw[number : number + 1], self._link, self.team)

    @cached_property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Keys of the scores of the one output, ascending, and their rows."""
        return sorted_rows(self.raw[0], self.team)

    def ranked(self, labels: Labels) -> tuple[Lists, NDArray[np.int32]]:
        """Rows by query, and the same sorted by score within each query, the largest first."""
        if self._ranked is None or self._ranked[0] is not labels:
            lists = lists_of(labels, self.team.size)
            rows = np.empty(labels.rows, np.int32)
            self.team.run(rank_lists.bind(lists, self.raw[0], rows))
            self._ranked = (labels, lists, rows)
        return self._ranked[1:]


class GivenPredictions(Predictions):
    """Predictions whose raw scores are unknown.

    Parameters
    ----------
    predictions : float64[values, rows]
        Numbers, one value a row; or probabilities: of the second of two classes alone, or of all classes.
    kind : {"numbers", "positive", "two", "many"}
        The kind of these.
    team : Team
        Threads to compute with; no result depends on their number.

    Examples
    --------
    >>> given = GivenPredictions(np.array([[0.5, 0.0]]), "two", Team(1))
    >>> given.values.tolist(), given.scores.round(1).tolist()
    ([[0.5, 0.0]], [[0.0, -36.0]])
    """

    def __init__(self, predictions: Floats, kind: str, team: Team) -> None:
        self._kind = kind
        scores = predictions
        if kind == "two":
            # The sign of the raw score decides the class; of equal probabilities it is the first.
            second = predictions[-1:]
            first = predictions[:1] if len(predictions) == 2 else 1.0 - second
            predictions, scores = second, second - first
        super().__init__(scores, "identity", team)
        self._given = np.ascontiguousarray(predictions)

    @cached_property
    def scores(self) -> Floats:
        """Log-odds of two classes, or logarithms of probabilities; these are clipped to the precision of a float."""
        if self._kind not in ("two", "many"):
            return self.raw
        clipped = np.clip(self._given, STEP, 1.0 - STEP)
        return np.log(clipped) - np.log1p(-clipped) if self._kind == "two" else np.log(clipped)

    @cached_property
    def values(self) -> Floats:
        """The predictions, as they were given."""
        return self._given

    @cached_property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Keys of the predictions, ascending, and their rows."""
        return sorted_rows(self._given[0], self.team)


def sorted_rows(scores: Floats, team: Team) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Integer keys of scores, of the same order and equality, ascending, and their rows."""
    rows = len(scores)
    data, digits = allocate(SortedScores, rows=rows), allocate(DigitCounts, threads=team.size)
    team.run(sort_scores.bind(np.ascontiguousarray(scores), data, digits))
    begin = int(data.start[0])
    return data.keys[begin : begin + rows], data.order[begin : begin + rows]


def scaled(labels: Labels) -> Labels:
    """Labels with weights divided by a power of two, which changes no bit, so that the largest is about 1.

    Weight times loss then stays finite, and so do products of two sums of weights.
    """
    if labels.weight is None:
        return labels
    largest = int(np.frexp(labels.weight.max())[1])
    return replace(labels, weight=np.ldexp(labels.weight, -largest))

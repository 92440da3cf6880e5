"""What a training has come to for some rows: their scores, and what metrics make of these."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.kernels.queries import Lists
from spinney.data.ranking import lists_of
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.metrics.kernels.order import Digits, Sorted, sort_scores
from spinney.metrics.kernels.predictions import exponentials_of, logs_of, probabilities_of, shares_of
from spinney.metrics.kernels.rankings import rank_lists

Floats = NDArray[np.float64]
STEP = float(np.finfo(np.float64).eps)


class Outcome:
    """Raw scores of rows, and their predictions and order, made when a metric first asks.

    Parameters
    ----------
    scores : float64[outputs, rows]
        Raw scores.
    link : str
        What makes predictions of them, as `link_of` the configuration says.
    team : Team
        Threads to compute with; no result depends on how many there are.

    Examples
    --------
    >>> Outcome(np.array([[0.0, 40.0]]), "logistic", Team(1)).predictions.tolist()
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
        """Scores of which metrics make probabilities by the logistic function or, of many classes, by softmax."""
        if self._link != "one_vs_rest":
            return self.raw
        logs = np.empty_like(self.raw)
        self.team.run(logs_of.bind(logs.size, self.raw, logs))
        return logs

    @cached_property
    def predictions(self) -> Floats:
        """Predictions, outputs × rows: numbers, the probability of the second of two classes, or those of all."""
        outputs, rows = self.raw.shape
        if self._link == "identity":
            return self.raw
        if self._link == "sorted":
            return np.sort(self.raw, axis=0)
        result = np.empty_like(self.raw)
        if self._link in ("softmax", "one_vs_rest"):
            self.team.run(shares_of.bind(rows, outputs, self.scores, result))
        else:
            link = {"logistic": probabilities_of, "exp": exponentials_of}[self._link]
            self.team.run(link.bind(self.raw.size, self.raw, result))
        return result

    def output(self, place: int) -> Outcome:
        """One of several outputs that are predictions of their own."""
        if self._link == "sorted":
            return Outcome(self.predictions[place : place + 1], "identity", self.team)
        return Outcome(self.raw[place : place + 1], self._link, self.team)

    @cached_property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Keys of the scores of the one output, ascending, and their rows."""
        return sorted_rows(self.raw[0], self.team)

    def ranked(self, labels: Labels) -> tuple[Lists, NDArray[np.int32]]:
        """Rows by query, and the same with those of a query from the largest score to the least."""
        if self._ranked is None or self._ranked[0] is not labels:
            lists = lists_of(labels, self.team.size)
            rows = np.empty(labels.rows, np.int32)
            self.team.run(rank_lists.bind(lists, self.raw[0], rows))
            self._ranked = (labels, lists, rows)
        return self._ranked[1:]


class Predicted(Outcome):
    """Rows of which only the predictions are known.

    Parameters
    ----------
    predictions : float64[values, rows]
        Numbers, one value a row; or probabilities: of the second of two classes alone, or of all classes.
    kind : {"numbers", "positive", "two", "many"}
        Which of these they are.
    team : Team
        Threads to compute with; no result depends on how many there are.

    Examples
    --------
    >>> found = Predicted(np.array([[0.5, 0.0]]), "two", Team(1))
    >>> found.predictions.tolist(), found.scores.round(1).tolist()
    ([[0.5, 0.0]], [[0.0, -36.0]])
    """

    def __init__(self, predictions: Floats, kind: str, team: Team) -> None:
        self._kind = kind
        scores = predictions
        if kind == "two":
            # The sign of the raw score tells the class, the first of two that are equal.
            second = predictions[-1:]
            first = predictions[:1] if len(predictions) == 2 else 1.0 - second
            predictions, scores = second, second - first
        super().__init__(scores, "identity", team)
        self._given = np.ascontiguousarray(predictions)

    @cached_property
    def scores(self) -> Floats:
        """Logarithms of which metrics make probabilities; one below the smallest step of a float counts as that."""
        if self._kind not in ("two", "many"):
            return self.raw
        shares = np.clip(self._given, STEP, 1.0 - STEP)
        return np.log(shares) - np.log1p(-shares) if self._kind == "two" else np.log(shares)

    @cached_property
    def predictions(self) -> Floats:
        """The predictions."""
        return self._given

    @cached_property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Keys of the predictions, ascending, and their rows."""
        return sorted_rows(self._given[0], self.team)


def sorted_rows(scores: Floats, team: Team) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Numbers that are ordered and equal as the scores are, ascending, and their rows."""
    rows = len(scores)
    data, digits = allocate(Sorted, rows=rows), allocate(Digits, threads=team.size)
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

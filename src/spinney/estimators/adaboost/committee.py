"""Fitted copies of an estimator that was boosted, each with a weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.objectives.base import logistic, softmax


@dataclass(frozen=True, eq=False)
class Committee:
    """What `AdaBoostModel` is for our trees: members that vote, or whose numbers the median is taken of.

    Attributes
    ----------
    members : list of estimators
        The fitted copies.
    tree_weights, tree_errors : float64[members]
        Weight and error of each.
    labels : ndarray or None
        Labels of the classes; None where numbers are predicted.
    """

    members: list[Any]
    tree_weights: NDArray[np.float64]
    tree_errors: NDArray[np.float64]
    labels: NDArray[Any] | None

    def decision(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Votes for classes over the weight of all members; see `AdaBoostModel.decision`."""
        *_, last = self.staged(X)
        return last

    def probabilities(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """What votes for classes come to as probabilities."""
        assert self.labels is not None
        many = len(self.labels)
        if many == 1:
            return np.ones((len(decision), 1))
        if many == 2:
            second = logistic(decision)
            return np.column_stack([1.0 - second, second])
        return softmax(decision / (many - 1))

    def predict(self, X: object, n_jobs: int | None = None) -> NDArray[np.float64]:
        """The median of the members' numbers, by weight."""
        said = np.column_stack([np.asarray(member.predict(X), np.float64) for member in self.members])
        return weighted_medians(said, self.tree_weights)

    def staged(self, X: object, n_jobs: int | None = None) -> Iterator[NDArray[np.float64]]:
        """What `decision` or, for numbers, `predict` gives after one member, two members, and so on, in turn."""
        return self._staged_numbers(X) if self.labels is None else self._staged_votes(X, self.labels)

    def _staged_votes(self, X: object, labels: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
        many, total = len(labels), 0.0
        sums: Any = 0.0
        for member, weight in zip(self.members, self.tree_weights.tolist(), strict=True):
            votes = np.asarray(member.predict(X))[:, None] == labels
            sums = sums + np.where(votes, weight, -weight / max(many - 1, 1))
            total += weight
            shares = sums / total if total > 0 else np.zeros_like(sums)
            if many == 1:
                shares = np.zeros_like(sums)
            yield 2.0 * shares[:, 1] if many == 2 else shares

    def _staged_numbers(self, X: object) -> Iterator[NDArray[np.float64]]:
        said = np.column_stack([np.asarray(member.predict(X), np.float64) for member in self.members])
        for count in range(1, len(self.members) + 1):
            yield weighted_medians(said[:, :count], self.tree_weights[:count])

    def importance(self) -> NDArray[np.float64]:
        """Mean of the members' importances, by weight.

        Raises
        ------
        AttributeError
            If the members know none.
        """
        found = np.array([member.feature_importances_ for member in self.members])
        mean: NDArray[np.float64] = self.tree_weights @ found / self.tree_weights.sum()
        return mean


def weighted_medians(said: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of every row, the least number up to which there is half of the weight or more.

    Examples
    --------
    >>> weighted_medians(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 4.0])).tolist()
    [2.0]
    """
    order = np.argsort(said, axis=1, kind="stable")
    up_to = np.cumsum(weight[order], axis=1)
    place = (up_to >= 0.5 * up_to[:, -1:]).argmax(axis=1)
    rows = np.arange(len(said))
    found: NDArray[np.float64] = said[rows, order[rows, place]]
    return found

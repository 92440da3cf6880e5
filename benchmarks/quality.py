"""Held-out quality of predictions, written out here so that every library is judged by the same lines."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.losses import LOSSES, log_losses

Array = npt.NDArray[Any]


def auc(target: Array, score: Array) -> float:
    """Return the area under the ROC curve; tied scores count half."""
    values, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    positives = np.bincount(place, weights=target > 0, minlength=len(values))
    negatives = counts - positives
    below = np.cumsum(negatives) - negatives
    pairs = float(positives.sum() * negatives.sum())
    if pairs == 0.0:
        raise ValueError("auc needs both classes in the target, found one")
    return float(np.sum(positives * (below + 0.5 * negatives)) / pairs)


def log_loss(target: Array, probability: Array) -> float:
    """Return the mean negative log likelihood, of one column of probabilities or of one per class."""
    return float(np.mean(log_losses(target, probability.astype(np.float64))))


def rmse(target: Array, prediction: Array) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean((target.astype(np.float64) - prediction) ** 2)))


def ndcg(target: Array, score: Array, query: Array, depth: int) -> float:
    """Return the mean over queries of the normalised discounted gain of the first places; 1 where no row is relevant."""
    found = []
    for rows in np.split(np.arange(len(query)), np.flatnonzero(np.diff(query)) + 1):
        gains = 2.0 ** target[rows] - 1.0
        discounts = 1.0 / np.log2(2.0 + np.arange(min(depth, len(rows))))
        best = np.sort(gains)[::-1][:depth] @ discounts
        order = np.argsort(-score[rows], kind="stable")[:depth]
        found.append(gains[order] @ discounts / best if best > 0.0 else 1.0)
    return float(np.mean(found))


@dataclass(frozen=True)
class Judge:
    """The number that decides whether two libraries did equally well."""

    name: str
    tolerance: float
    bigger_is_better: bool = False

    def accepts(self, ours: float, theirs: float) -> bool:
        """Say whether ours is better than theirs, or worse by no more than the tolerance."""
        loss = theirs - ours if self.bigger_is_better else ours - theirs
        return loss <= self.tolerance


def scores(objective: str, target: Array, prediction: Array, weight: Array | None = None) -> dict[str, float]:
    """Return every quality number that fits the objective; the first one is the loss being minimised."""
    if objective == "squared_error":
        return {"rmse": rmse(target, prediction)}
    found = {LOSSES[objective].measure: LOSSES[objective].mean(target, prediction, weight)}
    if objective in ("log_loss", "focal"):
        found["auc"] = auc(target, prediction)
    if prediction.ndim == 2:
        found["accuracy"] = float(np.mean(prediction.argmax(axis=1) == target))
    return found

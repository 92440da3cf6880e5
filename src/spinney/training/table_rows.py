"""What a training asks of all rows at once: where scores start, gradients, samples, values of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.collective import ALONE, Communicator
from spinney.data import Labels, Schema
from spinney.data.kernels.records import Gradients
from spinney.data.labels import LeafRefit
from spinney.data.target_encoding import TargetEncoding
from spinney.errors import DataError, ParameterError
from spinney.jit.team import Team
from spinney.metrics import Metric, MetricValue, Predictions
from spinney.objectives import Objective
from spinney.objectives.base import Fill
from spinney.objectives.targets import LARGEST_TARGET
from spinney.params import Config, link_of
from spinney.sampling import GradientSampler, UniformSampler
from spinney.training.continuing import InitialModel
from spinney.training.evaluation import evaluate
from spinney.training.several import eligible_rows, scaled_weights, unit_of


class DrawsUniformly(Protocol):
    """Draws rows that all have the same chance."""

    def draw(self, share: float, seed: int) -> int:
        """Draw a share of all rows into the bag; returns how many of those at hand are in it."""


class DrawsByGradient(Protocol):
    """Draws rows by their gradients; see `GradientSampler`."""

    def goss(self, top_rate: float, other_rate: float, seed: int) -> int:
        """Keep the rows of largest gradients and draw some of the others."""

    def weighted(self, share: float, seed: int) -> int:
        """Draw a share of the rows, each with a chance in proportion to its gradient."""

    def gradient_based(self, share: float, reg_lambda: float, seed: int) -> int:
        """Draw a share of the rows on average and divide by the chances."""


@dataclass(frozen=True, eq=False)
class TrainingStart:
    """Where a training starts.

    Attributes
    ----------
    labels : Labels
        Of the rows at hand, with scaled weights.
    unit : float
        What penalties are divided by, because weights were.
    base_score : float64[outputs]
        Where the scores of a row begin.
    past : InitialModel, optional
        The rounds so far.
    """

    labels: Labels
    unit: float
    base_score: NDArray[np.float64]
    past: InitialModel | None


class TableRows:
    """What a training asks of all rows, where they are all at hand.

    Attributes
    ----------
    communicator : Communicator
        The ranks that hold the other rows; nobody.
    first : int
        Number of the first row at hand.
    """

    communicator: Communicator = ALONE
    first = 0

    def start(
        self,
        config: Config,
        loss: Objective,
        labels: Labels,
        past: InitialModel | None,
        schema: Schema,
        statistics: TargetEncoding | None = None,
    ) -> TrainingStart:
        """Check the labels, scale the weights and find the base score. Trees know the columns of `schema`, and `statistics`."""
        labels = loss.prepared(labels)
        check_rows(loss, labels)
        labels, divisor = scaled_weights(labels, config)
        base = first_score(config, loss, labels) if past is None else past.base_score
        return TrainingStart(labels, unit_of(config, divisor), base, past)

    def prepared(self, loss: Objective, labels: Labels) -> Labels:
        """Labels of the rows at hand in the form that the loss reads."""
        return loss.prepared(labels)

    def filler(self, loss: Objective, labels: Labels, gradients: Gradients, team: Team) -> Fill:
        """What fills gradients from scores, and their largest over all rows."""
        return loss.filler(labels, gradients, team)

    def join_largest(self, gradients: Gradients) -> None:
        """Make the largest gradients of the rows at hand those of all rows."""

    def leaf_refit(self, loss: Objective, labels: Labels, threads: int) -> LeafRefit | None:
        """What finds the values of leaves, if the loss has a rule of its own."""
        return loss.leaf_refit(labels, threads)

    def eligible(self, labels: Labels, subsample: float) -> NDArray[np.int32] | None:
        """Rows at hand that trees may see, None for all."""
        return eligible_rows(labels, subsample)

    def uniform(
        self, eligible: NDArray[np.int32], gradients: Gradients, bag: NDArray[np.int32], team: Team
    ) -> DrawsUniformly:
        """What draws rows that all have the same chance."""
        return UniformSampler(eligible, bag, team)

    def sampler(
        self, eligible: NDArray[np.int32], gradients: Gradients, bag: NDArray[np.int32], team: Team
    ) -> DrawsByGradient:
        """What draws rows by their gradients."""
        return GradientSampler(eligible, gradients.pairs, bag, team)

    def evaluate(
        self,
        metrics: list[Metric],
        name: str,
        labels: Labels,
        scores: NDArray[np.float64],
        config: Config,
        team: Team,
    ) -> list[MetricValue]:
        """The values of all metrics for the validation set of a name."""
        return evaluate(metrics, Predictions(scores, link_of(config), team), labels)


def check_start(config: Config, loss: Objective, labels: Labels) -> None:
    """Refuse rows that no training can start from."""
    check_rows(loss, labels)
    first_score(config, loss, scaled_weights(labels, config)[0])


def check_rows(loss: Objective, labels: Labels) -> None:
    """Refuse rows that are fewer than there are classes."""
    if loss.config.num_class > labels.rows:
        raise DataError(f"num_class = {loss.outputs} is more than there are rows ({labels.rows})")


def first_score(config: Config, loss: Objective, labels: Labels) -> NDArray[np.float64]:
    """Where scores start."""
    if config.base_score is not None:
        if abs(config.base_score) > LARGEST_TARGET:
            raise ParameterError(
                f"base_score = {config.base_score:g} is too large to train on; give one within ±{LARGEST_TARGET:g}"
            )
        return np.full(loss.outputs, config.base_score)
    if labels.margin is not None:
        return np.zeros(loss.outputs)
    return loss.base_score(labels)


def starting_scores(labels: Labels, base_score: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Scores before the first tree, outputs × rows."""
    outputs, margin = len(base_score), labels.margin
    scores = np.empty((outputs, labels.rows))
    scores[:] = base_score[:, None]
    if margin is not None:
        if margin.shape[1] != outputs:
            raise DataError(
                f"base_margin of {name} has {margin.shape[1]} columns, but there are {outputs} outputs"
            )
        scores[:] = margin.T
    return scores

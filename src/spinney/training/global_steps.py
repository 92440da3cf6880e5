"""The steps of a training that need the rows of all ranks: where scores start, gradients, samples, values of metrics.

With one rank they send nothing. All labels are gathered at rank 0 once: it checks them, finds the base score and chooses rows to
hold out. In each round it gets the scores of validation rows and, for losses that need all rows at once, those of training rows.

Weights are divided first, so that gradients, which are float32, stay in range (`scaled_weights`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.collective import ALONE, Communicator
from spinney.data import Labels
from spinney.data.kernels.records import Gradients
from spinney.data.labels import allocate_gradients, by_column
from spinney.errors import DataError, ParameterError
from spinney.jit.team import Team
from spinney.metrics import Metric, MetricValue, Predictions
from spinney.objectives import Objective
from spinney.objectives.base import LARGEST_TARGET, Fill
from spinney.objectives.kernels.common import find_largest
from spinney.params import Config, link_of, objective_info, takes_targets
from spinney.sampling import GradientSampler, RankSampler, UniformSampler
from spinney.training.evaluation import evaluate


def with_targets(config: Config, explicit: bool, data: BinnedData) -> Config:
    """The configuration with the number of the data set's targets, where the objective takes several and it was not given."""
    if explicit or config.num_target > 1 or not data.labels.has_target or not takes_targets(config.objective):
        return config
    return config.having(num_target=data.labels.targets)


def scaled_weights(labels: Labels, config: Config, divisor: float | None = None) -> tuple[Labels, float]:
    """Labels with weights divided so that gradients, which are float32, stay in range; and the divisor, which may be known.

    It is a power of two with which the largest weight is about 1, which changes no bit of gradients; or the mean weight, where
    only ratios of weights count. With `scale_pos_weight` every column of the target has weights of its own.
    """
    weight = labels.weight
    if config.scale_pos_weight != 1.0:
        with np.errstate(over="ignore", under="ignore"):
            positive = np.where(labels.target > 0.5, config.scale_pos_weight, 1.0)
            weight = by_column((positive.T * (1.0 if weight is None else weight)).T)
        if divisor is None and not 0.0 < weight.max() < math.inf:
            raise ParameterError(
                f"scale_pos_weight={config.scale_pos_weight:g} times the weights of the rows is 0 or infinite; bring both "
                "nearer to 1"
            )
    if weight is None:
        return labels, 1.0
    if divisor is None:
        divisor = float(np.ldexp(1.0, int(np.frexp(weight.max())[1]) - 1))
        if _only_ratios(config):
            divisor *= _mean(weight / divisor)
    return replace(labels, weight=weight / divisor), divisor


def unit_of(config: Config, divisor: float) -> float:
    """What penalties are divided by where weights were divided: by as much, or by nothing where only ratios of weights count."""
    return 1.0 if _only_ratios(config) else divisor


def _only_ratios(config: Config) -> bool:
    return objective_info(config.objective).weights == "ratios"


def _mean(weight: NDArray[np.float64]) -> float:
    """Mean of the weights above 0; rounding does not take it beyond the least and the largest.

    Examples
    --------
    >>> _mean(np.full(49, 0.1)) == 0.1
    True
    """
    counted = weight[weight > 0.0]
    return float(min(max(math.fsum(counted) / counted.size, counted.min()), counted.max()))


def check_start(config: Config, loss: Objective, labels: Labels) -> None:
    """Refuse rows that no training can start from."""
    check_rows(loss, labels)
    first_score(config, loss, scaled_weights(labels, config)[0])


def check_rows(loss: Objective, labels: Labels) -> None:
    """Refuse rows that are fewer than there are classes."""
    if loss.config.num_class > labels.rows:
        raise DataError(f"num_class = {loss.outputs} is more than there are rows ({labels.rows})")


def check_base_score(config: Config) -> None:
    """Refuse a score to start from that is too large."""
    if config.base_score is not None and abs(config.base_score) > LARGEST_TARGET:
        raise ParameterError(
            f"base_score = {config.base_score:g} is too large to train on; give one within ±{LARGEST_TARGET:g}"
        )


def check_margin(labels: Labels, outputs: int, name: str) -> None:
    """Refuse margins that are not one for each output."""
    margin = labels.margin
    if margin is not None and margin.shape[1] != outputs:
        raise DataError(
            f"base_margin of {name} has {margin.shape[1]} columns, but there are {outputs} outputs"
        )


def first_score(config: Config, loss: Objective, labels: Labels) -> NDArray[np.float64]:
    """Where scores start."""
    if config.base_score is not None:
        return np.full(loss.outputs, config.base_score)
    if labels.margin is not None:
        return np.zeros(loss.outputs)
    return loss.base_score(labels)


def starting_scores(labels: Labels, base_score: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Scores before the first tree, outputs × rows."""
    outputs, margin = len(base_score), labels.margin
    scores = np.empty((outputs, labels.rows))
    scores[:] = base_score[:, None]
    check_margin(labels, outputs, name)
    if margin is not None:
        scores[:] = margin.T
    return scores


# Losses whose gradients are computed at rank 0 from the scores of all rows.
OF_ALL_ROWS = ("cox", "own")
OF_QUERIES = ("pairs", "listwise")


class UniformDraw(Protocol):
    """Draws rows that all have the same chance."""

    def draw(self, share: float, seed: int) -> int:
        """Draw a share of all rows into the bag; returns how many of the local ones are in it."""


class GradientDraw(Protocol):
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
        Of the local rows, with scaled weights.
    all_labels : Labels, optional
        The same of the rows of all ranks, at rank 0.
    unit : float
        What penalties are divided by, because weights were.
    base_score : float64[outputs]
        Where the scores of a row begin.
    """

    labels: Labels
    all_labels: Labels | None
    unit: float
    base_score: NDArray[np.float64]

    @property
    def most_labels(self) -> Labels:
        """The labels of all rows at rank 0, elsewhere those of the local rows."""
        return self.labels if self.all_labels is None else self.all_labels


def start_training(
    config: Config,
    loss: Objective,
    labels: Labels,
    base_score: NDArray[np.float64] | None,
    first: int,
    communicator: Communicator,
) -> TrainingStart:
    """Check the labels, scale the weights and find the base score, unless it is given. Of several ranks, rank 0 does it.

    `first` is the number of the first local row in the whole table.
    """
    everything = gather_labels(labels, communicator)
    sent = None
    if everything is not None:
        everything = loss.prepared(everything)
        check_rows(loss, everything)
        everything, divisor = scaled_weights(everything, config)
        base = first_score(config, loss, everything) if base_score is None else base_score
        if communicator.size == 1:
            return TrainingStart(everything, everything, unit_of(config, divisor), base)
        sent = np.append(base, divisor)
    *scores, divisor = communicator.broadcast(sent)
    own, _ = scaled_weights(local_labels(loss, labels), config, float(divisor))
    own = replace(own, first=first)
    return TrainingStart(own, everything, unit_of(config, float(divisor)), np.array(scores))


def local_labels(loss: Objective, labels: Labels) -> Labels:
    """Labels of the local rows in the form that the loss reads; a rank may have none."""
    return loss.prepared(labels) if labels.rows else labels


def gather_labels(labels: Labels, communicator: Communicator) -> Labels | None:
    """The labels of all ranks' rows, at rank 0; None elsewhere. Queries of a rank follow those of the ranks before it."""
    if communicator.size == 1:
        return labels
    target, weight, margin = (
        None if values is None else communicator.gather_rows(values)
        for values in (labels.target, labels.weight, labels.margin)
    )
    queries = None if labels.queries is None else communicator.gather(labels.queries)
    if target is None:
        return None
    if queries is not None:
        counts = [int(own.max(initial=-1)) + 1 for own in queries]
        before = np.cumsum([0, *counts[:-1]])
        queries = [own + offset for own, offset in zip(queries, before, strict=True)]
    return Labels(by_column(target), weight, margin, None if queries is None else np.concatenate(queries))


def gather_valid(
    valid: Mapping[str, BinnedData], loss: Objective, metrics: list[Metric], communicator: Communicator
) -> dict[str, Labels | None]:
    """The labels of all rows of each validation set, at rank 0, where they are checked; None elsewhere."""
    found: dict[str, Labels | None] = {}
    for name, data in valid.items():
        what = f"valid[{name!r}]"
        everything = gather_labels(data.checked_labels(what), communicator)
        if everything is not None and communicator is not ALONE:  # alone they were checked before
            try:
                everything = loss.prepared(everything)
                for metric in metrics:
                    metric.check(everything)
            except DataError as error:
                raise DataError(f"{what}: {error}") from None
        found[name] = everything
    return found


def gradient_filler(
    loss: Objective,
    start: TrainingStart,
    gradients: Gradients,
    team: Team,
    communicator: Communicator,
) -> Fill:
    """What fills the gradients of the local rows from scores, and the largest of all ranks' rows.

    Gradients are computed where the rows are, but for losses that need all rows at once: those of Cox, of functions, and of a
    ranking without queries are computed at rank 0.
    """
    labels, form = start.labels, loss.info.form
    if communicator.size == 1:
        return loss.filler(labels, gradients, team)
    if form in OF_ALL_ROWS or (form in OF_QUERIES and labels.queries is None):
        fill = _fill_at_rank_0(loss, start, gradients, team, communicator)
    elif labels.rows:
        fill = loss.filler(labels, gradients, team)
    else:
        fill = _fill_nothing

    def fill_and_reduce(seed: int) -> None:
        fill(seed)
        if not labels.rows:
            gradients.largest[:] = 0.0
        allreduce_largest(gradients, communicator)

    return fill_and_reduce


def allreduce_largest(gradients: Gradients, communicator: Communicator) -> None:
    """Write the largest gradients of all ranks to the first block."""
    if communicator.size > 1:
        largest = gradients.largest.reshape(gradients.outputs, gradients.blocks, 2)
        found = largest.max(axis=1)
        communicator.allreduce_max(found)
        largest[:, 0] = found


def _fill_at_rank_0(
    loss: Objective, start: TrainingStart, gradients: Gradients, team: Team, communicator: Communicator
) -> Fill:
    """What computes the gradients of all rows at rank 0, and broadcasts them."""
    first = start.labels.first
    scores = gradients.scores.reshape(gradients.outputs, gradients.rows)
    pairs = gradients.pairs.reshape(gradients.outputs, gradients.rows, 2)
    largest = find_largest.bind(gradients)
    everything: Gradients | None = None
    if start.all_labels is not None:
        everything = allocate_gradients(np.zeros((gradients.outputs, start.all_labels.rows)), gradients.unit)
        fill_everything = loss.filler(start.all_labels, everything, team)

    def fill(seed: int) -> None:
        found = communicator.gather_rows(np.ascontiguousarray(scores.T))
        if everything is not None and found is not None:
            everything.scores[:] = found.T
            fill_everything(seed)
        received = communicator.broadcast(None if everything is None else everything.pairs)
        pairs[:] = received[:, first : first + gradients.rows]
        team.run(largest)

    return fill


def _fill_nothing(seed: int) -> None:
    """A rank without rows has no gradients."""


def eligible_rows(labels: Labels, subsample: float, communicator: Communicator) -> NDArray[np.int32] | None:
    """Local rows that trees may be grown on; None, at all ranks or none, for all: a row of weight 0 is as good as absent."""
    some_zero = np.array([int(labels.weight is not None and not labels.weight.all())])
    if communicator.size > 1:
        communicator.allreduce_max(some_zero)
    if some_zero[0]:
        return labels.weighted_rows()
    return np.arange(labels.rows, dtype=np.int32) if subsample < 1 else None


def uniform_sampler(
    eligible: NDArray[np.int32],
    gradients: Gradients,
    bag: NDArray[np.int32],
    team: Team,
    communicator: Communicator,
    first: int,
) -> UniformDraw:
    """What draws rows that all have the same chance."""
    if communicator.size == 1:
        return UniformSampler(eligible, bag, team)
    return RankSampler(eligible, gradients.pairs, bag, team, communicator, first)


def gradient_sampler(
    eligible: NDArray[np.int32],
    gradients: Gradients,
    bag: NDArray[np.int32],
    team: Team,
    communicator: Communicator,
    first: int,
) -> GradientDraw:
    """What draws rows by their gradients."""
    if communicator.size == 1:
        return GradientSampler(eligible, gradients.pairs, bag, team)
    return RankSampler(eligible, gradients.pairs, bag, team, communicator, first)


def evaluate_rows(
    metrics: list[Metric],
    scores: NDArray[np.float64],
    all_labels: Labels | None,
    config: Config,
    team: Team,
    communicator: Communicator,
) -> list[MetricValue]:
    """The values of all metrics for the rows of all ranks, at rank 0; nothing elsewhere."""
    if not metrics:
        return []
    if communicator.size > 1:
        found = communicator.gather_rows(np.ascontiguousarray(scores.T))
        if found is not None:
            scores = np.ascontiguousarray(found.T)
    if all_labels is None:
        return []
    return evaluate(metrics, Predictions(scores, link_of(config), team), all_labels)

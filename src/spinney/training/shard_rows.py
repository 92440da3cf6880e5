"""What a training asks of all rows, where every rank holds some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.collective import Communicator
from spinney.data import Labels, Schema
from spinney.data.kernels.records import Gradients
from spinney.data.labels import LeafRefit, allocate_gradients, by_column
from spinney.data.target_encoding import TargetEncoding
from spinney.jit.team import Team
from spinney.metrics import Metric, MetricValue, Predictions
from spinney.objectives import Objective
from spinney.objectives.base import Fill
from spinney.objectives.kernels.common import find_largest
from spinney.params import Config, link_of
from spinney.sampling import RankSampler
from spinney.training.continuing import InitialModel, so_far
from spinney.training.evaluation import evaluate
from spinney.training.several import scaled_weights, unit_of
from spinney.training.table_rows import TableRows, TrainingStart, check_rows, first_score
from spinney.tree import Tree

# Losses whose gradients are computed at rank 0 from the scores of all rows.
OF_ALL_ROWS = ("cox", "own")
OF_QUERIES = ("pairs", "listwise")


class ShardRows(TableRows):
    """What a training asks of all rows, where every rank holds some of them, and does the same steps on them.

    Rank 0 is sent the labels of all rows, once. It checks them, and finds the base score. Every round it is sent the scores of
    validation rows, and computes what metrics say. Gradients are computed where the rows are, but for losses that look at all
    rows at once: those of Cox, of functions, and of a ranking without queries are computed at rank 0.

    Parameters
    ----------
    communicator : Communicator
        The other ranks.
    first : int
        Number of this rank's first row in the whole table.
    grown : sequence of Tree
        Trees of the run that this one goes on with, those of `init_model` not among them.
    """

    def __init__(self, communicator: Communicator, first: int, grown: Sequence[Tree] = ()) -> None:
        self.communicator, self.first, self._grown = communicator, first, grown
        self._labels: Labels | None = None
        self._watched: dict[str, Labels | None] = {}

    def start(
        self,
        config: Config,
        loss: Objective,
        labels: Labels,
        past: InitialModel | None,
        schema: Schema,
        statistics: TargetEncoding | None = None,
    ) -> TrainingStart:
        """Let rank 0 check the labels of all rows, and find the base score and the unit of weights."""
        whole = gathered_labels(labels, self.communicator)
        told = None
        if whole is not None:
            whole = loss.prepared(whole)
            check_rows(loss, whole)
            self._labels, divisor = scaled_weights(whole, config)
            base = first_score(config, loss, self._labels) if past is None else past.base_score
            told = np.append(base, divisor)
        *scores, divisor = self.communicator.broadcast(told)
        own, _ = scaled_weights(self.prepared(loss, labels), config, float(divisor))
        own = replace(own, first=self.first)
        base = np.array(scores)
        if self._grown:
            trees = [*(past.trees if past is not None else ()), *self._grown]
            past = InitialModel(so_far(len(trees) // len(base), trees, base, config, schema, statistics))
        return TrainingStart(own, unit_of(config, float(divisor)), base, past)

    def prepared(self, loss: Objective, labels: Labels) -> Labels:
        """Labels of this rank's rows, which rank 0 has checked with all others."""
        return loss.prepared(labels) if labels.rows else labels

    def filler(self, loss: Objective, labels: Labels, gradients: Gradients, team: Team) -> Fill:
        """Fill the gradients of this rank's rows; the largest are those of all ranks."""
        form = loss.info.form
        if form in OF_ALL_ROWS or (form in OF_QUERIES and labels.queries is None):
            fill = self._fill_at_first(loss, gradients, team)
        elif labels.rows:
            fill = loss.filler(labels, gradients, team)
        else:
            fill = _fill_nothing

        def fill_and_join(seed: int) -> None:
            fill(seed)
            if not labels.rows:
                gradients.largest[:] = 0.0
            self.join_largest(gradients)

        return fill_and_join

    def join_largest(self, gradients: Gradients) -> None:
        """Write the largest gradients of all ranks to the first block."""
        largest = gradients.largest.reshape(gradients.outputs, gradients.blocks, 2)
        found = largest.max(axis=1)
        self.communicator.allreduce_max(found)
        largest[:, 0] = found

    def _fill_at_first(self, loss: Objective, gradients: Gradients, team: Team) -> Fill:
        """What has rank 0 compute the gradients of all rows, and spread them."""
        communicator, first = self.communicator, self.first
        scores = gradients.scores.reshape(gradients.outputs, gradients.rows)
        pairs = gradients.pairs.reshape(gradients.outputs, gradients.rows, 2)
        largest = find_largest.bind(gradients)
        whole: Gradients | None = None
        if self._labels is not None:
            whole = allocate_gradients(np.zeros((gradients.outputs, self._labels.rows)), gradients.unit)
            fill_whole = loss.filler(self._labels, whole, team)

        def fill(seed: int) -> None:
            found = communicator.gather(np.ascontiguousarray(scores.T))
            if whole is not None:
                whole.scores[:] = np.concatenate(found or []).T
                fill_whole(seed)
            spread = communicator.broadcast(None if whole is None else whole.pairs)
            pairs[:] = spread[:, first : first + gradients.rows]
            team.run(largest)

        return fill

    def leaf_refit(self, loss: Objective, labels: Labels, threads: int) -> LeafRefit | None:
        """What finds the values of leaves at rank 0, from the labels of all rows."""
        return loss.leaf_refit(labels if self._labels is None else self._labels, threads)

    def eligible(self, labels: Labels, subsample: float) -> NDArray[np.int32] | None:
        """Rows of this rank that trees may see; None at every rank or at none."""
        some_light = np.array([int(labels.weight is not None and not labels.weight.all())])
        self.communicator.allreduce_max(some_light)
        if some_light[0]:
            return labels.weighted_rows()
        return np.arange(labels.rows, dtype=np.int32) if subsample < 1 else None

    def uniform(
        self, eligible: NDArray[np.int32], gradients: Gradients, bag: NDArray[np.int32], team: Team
    ) -> RankSampler:
        """What draws rows of all ranks that have the same chance."""
        return RankSampler(eligible, gradients.pairs, bag, team, self.communicator, self.first)

    def sampler(
        self, eligible: NDArray[np.int32], gradients: Gradients, bag: NDArray[np.int32], team: Team
    ) -> RankSampler:
        """What draws rows of all ranks by their gradients."""
        return RankSampler(eligible, gradients.pairs, bag, team, self.communicator, self.first)

    def watch(self, name: str, labels: Labels, loss: Objective) -> Labels | None:
        """Send the labels of a validation set to rank 0, where they are checked and given."""
        whole = gathered_labels(labels, self.communicator)
        self._watched[name] = whole if whole is None else loss.prepared(whole)
        return self._watched[name]

    def evaluate(
        self,
        metrics: list[Metric],
        name: str,
        labels: Labels,
        scores: NDArray[np.float64],
        config: Config,
        team: Team,
    ) -> list[MetricValue]:
        """The values of all metrics for the rows of all ranks, at rank 0; nothing elsewhere."""
        if not metrics:
            return []
        found, whole = self.communicator.gather(np.ascontiguousarray(scores.T)), self._watched[name]
        if whole is None:
            return []
        every = np.ascontiguousarray(np.concatenate(found or []).T)
        return evaluate(metrics, Predictions(every, link_of(config), team), whole)


def gathered_labels(labels: Labels, communicator: Communicator) -> Labels | None:
    """The labels of all ranks' rows, at rank 0; None elsewhere. Queries of a rank follow on those of the ranks before it."""
    sent = (labels.target, labels.weight, labels.margin, labels.queries)
    found = [None if values is None else communicator.gather(values) for values in sent]
    if communicator.rank != 0:
        return None
    target, weight, margin, queries = found
    assert target is not None
    if queries is not None:
        counts = [int(own.max(initial=-1)) + 1 for own in queries]
        before = np.cumsum([0, *counts[:-1]])
        queries = [own + offset for own, offset in zip(queries, before, strict=True)]
    rest = (None if parts is None else np.concatenate(parts) for parts in (weight, margin, queries))
    return Labels(by_column(np.concatenate(target)), next(rest), next(rest), next(rest))


def _fill_nothing(seed: int) -> None:
    """A rank without rows has no gradients."""

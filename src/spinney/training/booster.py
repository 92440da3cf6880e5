"""Gradient boosting: round after round, a tree for each output.

A round computes gradients from scores, draws rows and columns, grows the trees, adds them to the scores, and computes metrics
from the scores of validation rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.collective import ALONE, Communicator
from spinney.data import Labels, Schema
from spinney.data.kernels.records import Gradients
from spinney.data.labels import allocate_gradients
from spinney.data.target_encoding import TargetEncoding
from spinney.errors import DataError, ParameterError
from spinney.growth.grower import AddTree, GrowerInputs
from spinney.growth.leaf_values import LeafValues
from spinney.jit.team import Team
from spinney.metrics import Metric, MetricValue
from spinney.model.boosted import Model
from spinney.objectives import Objective
from spinney.objectives.base import LARGEST_TARGET
from spinney.objectives.kernels.common import find_largest
from spinney.params import Config, resolve_columns
from spinney.params.common import DATA_PARAMS
from spinney.sampling import Bag
from spinney.target_encoding.duplicates import Duplicates
from spinney.target_encoding.fit import apply_target_encoding
from spinney.training import growers
from spinney.training.callbacks import SMALLEST_RATE, too_small
from spinney.training.continuation import InitialModel, continued
from spinney.training.global_steps import (
    GradientDraw,
    UniformDraw,
    allreduce_largest,
    eligible_rows,
    evaluate_rows,
    gather_valid,
    gradient_filler,
    gradient_sampler,
    local_labels,
    start_training,
    starting_scores,
    uniform_sampler,
    with_targets,
)
from spinney.tree import Tree, concatenate

_largest = np.maximum.reduce
_STEP = 0x9E3779B97F4A7C15  # between seeds: trainings whose random_state is near share none
_SEEDS = 2**62  # leaves space for what is added to a seed


@dataclass
class _ValidationSet:
    """A validation set: the labels of its rows at all ranks, at rank 0, and the scores of the local ones."""

    all_labels: Labels | None
    scores: NDArray[np.float64]
    add: AddTree | None  # None: the training set itself, whose scores move as it is trained on


class Booster:
    """One training, round after round.

    Attributes
    ----------
    config : Config
        The parameters.
    outputs : int
        Trees of a round.
    done : int
        Rounds so far, those of the model that it goes on from included.
    parts : tuple
        What `build_model` makes models of, without the memory of the training.
    has_metrics : bool
        Whether there are validation sets, and metrics of them.
    """

    def __init__(
        self,
        config: Config,
        resolved: Config,
        data: BinnedData,
        valid: Mapping[str, BinnedData],
        loss: Objective,
        metrics: list[Metric],
        team: Team,
        earlier: InitialModel | None = None,
        row_groups: NDArray[np.int64] | None = None,
        communicator: Communicator = ALONE,
        replay: Sequence[Tree] = (),
        duplicates: Duplicates | None = None,
    ) -> None:
        labels_of_valid = gather_valid(valid, loss, metrics, communicator)
        encoding = None
        if data.schema.category_counts is not None or earlier is not None:
            inputs = apply_target_encoding(
                resolved, data, valid, team, earlier, row_groups, communicator, duplicates
            )
            data, valid, resolved, encoding = inputs.data, inputs.valid, inputs.config, inputs.encoding
        self.config, self._data, self._team, self._communicator = config, data, team, communicator
        self._objective, self._metrics, self.outputs = loss, metrics, loss.outputs
        base_score = None if earlier is None else earlier.base_score
        start = start_training(config, loss, data.checked_labels(), base_score, data.first, communicator)
        labels, self._base_score = start.labels, start.base_score
        schema = data.schema if earlier is None else continued(earlier, data.schema)
        grown: list[Tree] = []
        self.parts = (grown, self._base_score, config, schema, encoding)
        self._earlier = earlier
        if replay:
            trees = [*([] if earlier is None else earlier.trees), *replay]
            self._earlier = InitialModel(build_model(len(trees) // self.outputs, trees, *self.parts[1:]))
        scores = self._starting_scores(labels, data, "dataset")
        self._gradients = allocate_gradients(scores, start.unit)
        self._kept = self._gradients
        if config.leaf_values == "all" and config.sampling_method != "uniform":
            self._kept = allocate_gradients(scores, start.unit)
        self._fill = gradient_filler(loss, start, self._gradients, team, communicator)
        values = LeafValues(
            growers.all_rows(config, labels, self._kept),
            loss.leaf_refit(start.most_labels, team.size),
            loss.info.form != "pointwise",
        )
        self._bag = Bag.of_all(labels.rows)
        self._grower = growers.get(
            GrowerInputs(data, resolved, self._gradients, self._bag, values, team, communicator)
        )
        self._eligible = eligible_rows(labels, config.subsample, communicator)
        self._valid = {
            name: self._validation_set(name, one, labels_of_valid[name]) for name, one in valid.items()
        }
        self.has_metrics = bool(valid) and bool(metrics)
        self.done = 0
        if self._earlier is not None:
            self.done = self._earlier.rounds
            grown.extend(self._earlier.trees)

    def round(self, rate: float) -> dict[str, list[MetricValue]]:
        """Do a round; returns the values of the metrics for each validation set."""
        self.done += 1
        self.parts[0].extend(self._one_round(self.done, rate))
        return self.evaluate()

    def evaluate(self) -> dict[str, list[MetricValue]]:
        """The values of the metrics for each validation set after the rounds so far."""
        return {
            name: evaluate_rows(
                self._metrics, one.scores, one.all_labels, self.config, self._team, self._communicator
            )
            for name, one in self._valid.items()
        }

    def model(self, rounds: int, best: int | None = None) -> Model:
        """The model of the first rounds."""
        return build_model(rounds, *self.parts, best)

    def scores(self, name: str) -> NDArray[np.float64]:
        """Raw scores of a validation set so far, outputs × rows, which the next round moves."""
        return self._valid[name].scores

    def _one_round(self, done: int, rate: float) -> list[Tree]:
        seed = self.config.random_state * 1_000_003 + done
        self._fill(_seed(seed, 0))
        if self._kept is not self._gradients:
            self._kept.pairs[:], self._kept.largest[:] = self._gradients.pairs, self._gradients.largest
        self._draw(done, _seed(seed, 0))
        trees = []
        for output in range(self.outputs):
            tree, by_leaf = self._grower.grow(output, _seed(seed, output + 1), rate)
            # Of NaN and others the largest is NaN.
            if not (_largest(np.abs(tree.gain)) < math.inf and _largest(np.abs(tree.cover)) < math.inf):
                raise DataError(
                    "weight times the target is beyond what can be trained on; divide the weights, or the target"
                )
            if not _largest(np.abs(tree.value)) <= LARGEST_TARGET:
                raise ParameterError(
                    f"training diverged in round {done}: the scores have grown beyond ±{LARGEST_TARGET:g}; "
                    f"learning_rate = {rate:g} is too large for this target"
                )
            trees.append(tree)
            self._grower.add(tree, by_leaf, output)
            for one in self._valid.values():
                if one.add is not None:
                    one.add(tree, output)
        return trees

    def _draw(self, done: int, seed: int) -> None:
        """Put the rows of a round into the bag."""
        config = self.config
        warming_up = config.goss_warm_up and done <= 1.0 / config.learning_rate
        if config.sampling_method == "uniform" or (config.sampling_method == "goss" and warming_up):
            if self._eligible is not None and (config.subsample < 1 or self._bag.count is None):
                self._bag.count = self._uniform.draw(config.subsample, seed)
            return
        sampler = self._sampler
        if config.sampling_method == "goss":
            self._bag.count = sampler.goss(config.top_rate, config.other_rate, seed)
        elif config.sampling_method == "weighted":
            self._bag.count = sampler.weighted(config.subsample, seed)
        else:
            self._bag.count = sampler.gradient_based(config.subsample, config.reg_lambda, seed)
        self._team.run(find_largest.bind(self._gradients))
        allreduce_largest(self._gradients, self._communicator)

    @cached_property
    def _uniform(self) -> UniformDraw:
        assert self._eligible is not None
        return uniform_sampler(self._eligible, *self._sampled)

    @cached_property
    def _sampler(self) -> GradientDraw:
        eligible = self._eligible
        if eligible is None:
            eligible = np.arange(self._data.rows, dtype=np.int32)
        return gradient_sampler(eligible, *self._sampled)

    @property
    def _sampled(self) -> tuple[Gradients, NDArray[np.int32], Team, Communicator, int]:
        """What samplers work with."""
        return self._gradients, self._bag.rows, self._team, self._communicator, self._data.first

    def _starting_scores(self, labels: Labels, data: BinnedData, what: str) -> NDArray[np.float64]:
        """Scores before the first tree of this training, outputs × rows."""
        scores = starting_scores(labels, self._base_score, what)
        if self._earlier is not None:
            self._earlier.add_to(scores, data, what, self._team)
        return scores

    def _validation_set(self, name: str, data: BinnedData, all_labels: Labels | None) -> _ValidationSet:
        what = f"valid[{name!r}]"
        labels = local_labels(self._objective, data.checked_labels(what))
        if self._communicator.size == 1:
            all_labels = labels
        if data is self._data:
            return _ValidationSet(all_labels, self._gradients.scores, None)
        scores = self._starting_scores(labels, data, what)
        return _ValidationSet(all_labels, scores, self._grower.follow(data, scores, what))


def build_model(
    rounds: int,
    trees: list[Tree],
    base_score: NDArray[np.float64],
    config: Config,
    schema: Schema,
    statistics: TargetEncoding | None = None,
    best: int | None = None,
) -> Model:
    """The model of the first rounds of a training."""
    forest = concatenate(trees[: rounds * len(base_score)])
    return Model(forest, base_score, config.objective, config, schema, best, statistics)


def config_of(params: Mapping[str, object] | Config, data: BinnedData) -> Config:
    """The parameters of a training on a data set, whose own they include."""
    config = params if isinstance(params, Config) else Config.parse(params)
    if config.learning_rate < SMALLEST_RATE:
        raise ParameterError(too_small(config.learning_rate))
    explicit = DATA_PARAMS if isinstance(params, Config) else Config.canonical(params)
    own = {name: getattr(data.params, name) for name in DATA_PARAMS}
    for name in DATA_PARAMS:
        if name in explicit and getattr(config, name) != own[name]:
            raise ParameterError(
                f"{name} = {getattr(config, name)!r} differs from the Dataset's {own[name]!r}; give it to Dataset only"
            )
    return with_targets(config.having(**own), "num_target" in explicit, data)


def resolved_config(config: Config, data: BinnedData) -> Config:
    """The parameters with columns by position instead of by name."""
    if not config.has_column_rules:
        return config
    schema = data.schema
    return resolve_columns(config, schema.names, schema.columns, schema.categorical)


def members_of(config: Config) -> list[Config]:
    """The parameters of each model of a mean: the seed is another, the first has that of the user.

    Examples
    --------
    >>> [member.random_state for member in members_of(Config(random_state=7, models=2))]
    [7, 2177342782468422684]
    """
    others = (
        replace(config, random_state=(config.random_state + place * _STEP) % _SEEDS)
        for place in range(1, config.models)
    )
    return [config, *others]


def check_members(config: Config, contradicts: str, why: str) -> None:
    """Refuse a mean of several models where there can be one training only."""
    if config.models > 1:
        source = "" if config.preset == "default" else f" of preset={config.preset!r}"
        raise ParameterError(
            f"models={config.models}{source} contradicts {contradicts}, {why}; set models=1, or leave that out"
        )


def _seed(seed: int, use: int) -> int:
    """A 63-bit seed for one use within a round."""
    return (seed * 6364136223846793005 + use * 1442695040888963407) % 2**63

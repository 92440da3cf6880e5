"""Losses of rows, classes and queries: each form of loss binds the kernels of its formula and finds the scores to start from.

`Pointwise` losses are sums over rows of a function of one score; with several outputs each is a loss by itself, of another column
of the target, or with other parameters. `Softmax` and `OneVsRest` have a score for each class. The losses of ranking, `Pairwise`
and `Listwise`, are about the order of the rows of a query: the gradient of a row depends on the scores of the others.

A loss of a new form has a kernel of its own, and a class derived from `Objective` that `_FORMS` lists.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels, named_column
from spinney.data.kernels.queries import Gains, Lists
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.data.labels import allocate_gradients
from spinney.data.queries import best_of, gains_for, lists_of
from spinney.errors import DataError
from spinney.jit import Bound, allocate
from spinney.jit.kernel import kernel_of
from spinney.jit.team import Team, run_alone
from spinney.objectives import starts
from spinney.objectives.base import Fill, Objective
from spinney.objectives.custom import CustomObjective, Function
from spinney.objectives.kernels.classes import BlockProbabilities, one_vs_rest_gradients, softmax_gradients
from spinney.objectives.kernels.leaf_values import Buckets, Selection, refit_by_quantile
from spinney.objectives.kernels.links import log_all
from spinney.objectives.kernels.ranking import (
    PairSettings,
    QueryPairs,
    QueryProbabilities,
    TargetDraw,
    rank_xendcg_gradients,
)
from spinney.objectives.starts import exact_sums
from spinney.objectives.survival import Aft, Cox
from spinney.params import Config, gains_of, objective_info, outputs_of, values_by_output


class Pointwise(Objective):
    """A loss that is a sum over rows of a function of one score."""

    @property
    def outputs(self) -> int:
        """One for each column of the target, or for each level."""
        return outputs_of(self.config)

    @property
    def targets(self) -> int:
        """As many as the parameters have."""
        return self.config.num_target

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """The constants with the least loss."""
        if self.info.start == "quantile" and labels.targets == 1:
            weighted = starts.by_size(labels) if self.info.name == "mape" else labels
            return np.array(starts.quantiles(weighted, self._levels))
        found = np.empty(self.outputs)
        for output in range(self.outputs):
            with named_column(labels, output):
                found[output] = self._start(labels.column(output), output)
        return found

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """The formula for every row."""
        return self._gradients(labels, gradients, self.parameters())

    def _gradients(self, labels: Labels, gradients: Gradients, values: NDArray[np.float64]) -> Bound:
        return kernel_of(self.info.name, "gradients").bind(
            labels.arrays(), values.shape[1], values, gradients
        )

    def refit_by_loss(
        self,
        labels: Labels,
        threads: int,
        by_leaf: LeafRows,
        gradients: Gradients,
        steps: NDArray[np.float64],
    ) -> Bound:
        """A job: for each leaf, a quantile of the residuals or, by most losses, a line search."""
        if self.info.leaf_values != "quantile":
            return super().refit_by_loss(labels, threads, by_leaf, gradients, steps)
        selection, buckets = allocate(Selection, by_leaf=by_leaf), allocate(Buckets, threads=threads)
        levels = np.array(self._levels)
        job: Bound = refit_by_quantile.bind(
            by_leaf, gradients, labels.arrays(), levels, selection, buckets, steps
        )
        return job

    @property
    def _levels(self) -> list[float]:
        """The level of the quantile that has the least loss, for each output."""
        if "quantile_alpha" not in self.info.parameters:
            return [0.5] * self.outputs
        return [level for (level,) in values_by_output(self.config, ["quantile_alpha"])]

    def _start(self, labels: Labels, output: int) -> float:
        """The constant score of an output with the least loss; `labels` have its column of the target."""
        name = self.info.name
        if self.info.start == "quantile":
            return starts.quantile(starts.by_size(labels) if name == "mape" else labels, self._levels[output])
        if self.info.domain == "shares" and self.targets > 1:
            certain = starts.certain(labels)
            if certain is not None:
                return certain
        if self.info.start == "root":
            return starts.root(labels, self._slope(labels, output), name, self.info.link == "logistic")
        return starts.STARTS[self.info.start](labels, name)

    def _slope(self, labels: Labels, output: int) -> starts.Slope:
        """The sum of gradients as a function of a constant score of an output."""
        memory = allocate_gradients(np.empty((1, labels.rows)))
        job = self._gradients(labels, memory, self.parameters()[output : output + 1])

        def slope(score: float) -> float:
            memory.scores[:] = score
            run_alone(job)
            return starts.summed(memory.pairs)

        return slope


class Multiclass(Objective):
    """A loss with a score for each class."""

    @property
    def outputs(self) -> int:
        """One score for each class."""
        return self.config.num_class

    def class_weights(self, labels: Labels) -> NDArray[np.float64]:
        """Weights of the classes, each above 0."""
        weights = exact_sums(labels.target.astype(np.int64), labels.weight, self.outputs)
        empty = np.flatnonzero(weights <= 0)
        if len(empty):
            raise DataError(
                f"class {empty[0]} has no row with a weight above 0; give rows of every class, or a smaller num_class"
            )
        return weights


class Softmax(Multiclass):
    """A score for each class, of which softmax makes probabilities."""

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """Logarithms of the shares of the classes."""
        weights = self.class_weights(labels)
        result = np.empty(self.outputs)
        log_all(self.outputs, weights / weights.sum(), result)
        return result

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """Probabilities minus labels, and their scaled variances."""
        scratch = allocate(BlockProbabilities, threads=threads)
        job: Bound = softmax_gradients.bind(labels.arrays(), gradients, scratch)
        return job


class OneVsRest(Multiclass):
    """A score for each class: the log-odds of the class against all others."""

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """Log-odds of the shares of the classes."""
        weights = self.class_weights(labels)
        total, logs = weights.sum(), np.empty(2 * self.outputs)
        log_all(2 * self.outputs, np.concatenate([weights / total, (total - weights) / total]), logs)
        return logs[: self.outputs] - logs[self.outputs :]

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """Probabilities minus labels, and their variances."""
        job: Bound = one_vs_rest_gradients.bind(labels.arrays(), gradients)
        return job


class _Ranking(Objective):
    """A loss of the order of rows within queries."""

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """Zero: a constant changes no order."""
        return np.zeros(1)


class Pairwise(_Ranking):
    """A sum over pairs of rows of a query."""

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """Sums over the pairs of each row."""
        config, lists = self.config, lists_of(labels, threads)
        # Other losses compare relevances only: gains are the relevances themselves.
        by_relevance = self.info.name == "rank_ndcg"
        table = gains_of(config.label_gain) if by_relevance else np.arange(labels.target.max() + 1).tolist()
        gains = gains_for(lists, table, config.lambdarank_truncation_level, 1)
        settings = allocate(
            PairSettings,
            truncation=config.lambdarank_truncation_level,
            norm=int(config.lambdarank_norm),
            sigmoid=config.lambdarank_sigmoid,
            levels=gains.levels,
            gains=gains.gains,
            discounts=gains.discounts,
            scale=self._scale(labels, lists, gains),
        )
        scratch = allocate(QueryPairs, threads=threads, lists=lists)
        return kernel_of(self.info.name, "gradients").bind(
            labels.arrays(), gradients, lists, settings, scratch
        )

    def _scale(self, labels: Labels, lists: Lists, gains: Gains) -> NDArray[np.float64]:
        """Factor of each query: 1 over the value of the metric for the best order before it is normalised; 0 where that is 0."""
        if self.info.name == "rank_pairwise":
            return np.ones(lists.queries)
        if self.info.name == "rank_map":
            best = np.add.reduceat(labels.target[lists.order], lists.begins[:-1])
        else:
            best = best_of(labels, lists, gains, Team(1))
        return np.divide(1.0, best, out=np.zeros(len(best)), where=best > 0.0)


class Listwise(_Ranking):
    """Cross entropy of a query's scores and a distribution that is drawn from its gains in each round."""

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """A job whose targets are drawn with seed 0."""
        return self._job(labels, gradients, threads, np.zeros(1, np.int64))

    def filler(self, labels: Labels, gradients: Gradients, team: Team) -> Fill:
        """Targets are drawn with the seed of the round."""
        seeds = np.zeros(1, np.int64)
        job = self._job(labels, gradients, team.size, seeds)

        def fill(seed: int) -> None:
            seeds[0] = seed
            team.run(job)

        return fill

    def _job(self, labels: Labels, gradients: Gradients, threads: int, seed: NDArray[np.int64]) -> Bound:
        lists, gains = lists_of(labels, threads), np.array(gains_of(self.config.label_gain))
        draw = TargetDraw(levels=len(gains), first=labels.first, seed=seed, gains=gains)
        scratch = allocate(QueryProbabilities, threads=threads, lists=lists)
        job: Bound = rank_xendcg_gradients.bind(labels.arrays(), gradients, lists, draw, scratch)
        return job


_FORMS: dict[str, type[Objective]] = {
    "pointwise": Pointwise,
    "softmax": Softmax,
    "one_vs_rest": OneVsRest,
    "pairs": Pairwise,
    "listwise": Listwise,
    "cox": Cox,
    "aft": Aft,
}


def get(config: Config, function: Function | None = None) -> Objective:
    """The objective of a configuration; a custom one is trained with the user's function.

    Examples
    --------
    >>> import numpy as np
    >>> get(Config(objective="log_loss")).link(np.array([0.0]))
    array([0.5])
    """
    info = objective_info(config.objective)
    if info.form == "own":
        return CustomObjective(info, config, function)
    return _FORMS[info.form](info, config)

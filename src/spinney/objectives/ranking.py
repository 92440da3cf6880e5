"""Losses of ranking: what they want is an order of the rows of each query, so a row's gradient depends on the others'."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.kernels.queries import Gains, Lists
from spinney.data.ranking import best_of, gains_for, lists_of
from spinney.jit import Bound, allocate
from spinney.jit.team import Team
from spinney.objectives.base import Fill, Objective, kernel_of
from spinney.objectives.kernels.pairs import Pairs, QueryPairs
from spinney.objectives.kernels.rank_xendcg import Drawn, QueryShares, rank_xendcg_gradients
from spinney.objectives.kernels.records import Gradients
from spinney.params import gains_of


class _Ranking(Objective):
    """A loss that no constant changes, so scores start from 0."""

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """Zero: what all rows have in common ranks none of them."""
        return np.zeros(1)


class Pairwise(_Ranking):
    """A sum over pairs of rows of a query."""

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """What the pairs of a row say."""
        config, lists = self.config, lists_of(labels, threads)
        # Losses that know no gains tell relevances apart all the same.
        by_relevance = self.row.name == "rank_ndcg"
        table = gains_of(config.label_gain) if by_relevance else np.arange(labels.target.max() + 1).tolist()
        gains = gains_for(lists, table, config.lambdarank_truncation_level, 1)
        known = allocate(
            Pairs,
            truncation=config.lambdarank_truncation_level,
            norm=int(config.lambdarank_norm),
            sigmoid=config.lambdarank_sigmoid,
            levels=gains.levels,
            gains=gains.gains,
            discounts=gains.discounts,
            scale=self._scale(labels, lists, gains),
        )
        scratch = allocate(QueryPairs, threads=threads, lists=lists)
        return kernel_of(self.row.name, "gradients").bind(labels.arrays(), gradients, lists, known, scratch)

    def _scale(self, labels: Labels, lists: Lists, gains: Gains) -> NDArray[np.float64]:
        """Factor on the weight of each query's pairs: 1 over what the best order has of the metric; 0 where it has nothing."""
        if self.row.name == "rank_pairwise":
            return np.ones(lists.queries)
        if self.row.name == "rank_map":
            best = np.add.reduceat(labels.target[lists.order], lists.begins[:-1])
        else:
            best = best_of(labels, lists, gains, Team(1))
        return np.divide(1.0, best, out=np.zeros(len(best)), where=best > 0.0)


class Listwise(_Ranking):
    """Cross entropy of a query's scores and what is drawn from its gains in each round."""

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """What the first seed draws."""
        return self._job(labels, gradients, threads, np.zeros(1, np.int64))

    def filler(self, labels: Labels, gradients: Gradients, team: Team) -> Fill:
        """Draw by the seed of the round."""
        seeds = np.zeros(1, np.int64)
        job = self._job(labels, gradients, team.size, seeds)

        def fill(seed: int) -> None:
            seeds[0] = seed
            team.run(job)

        return fill

    def _job(self, labels: Labels, gradients: Gradients, threads: int, seed: NDArray[np.int64]) -> Bound:
        lists, gains = lists_of(labels, threads), np.array(gains_of(self.config.label_gain))
        drawn = Drawn(levels=len(gains), first=labels.first, seed=seed, gains=gains)
        scratch = allocate(QueryShares, threads=threads, lists=lists)
        job: Bound = rank_xendcg_gradients.bind(labels.arrays(), gradients, lists, drawn, scratch)
        return job

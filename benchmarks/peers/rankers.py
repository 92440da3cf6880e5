"""LambdaMART of every library: pairs of which one row is among the first 30 places, weighed by what swapping them costs."""

from abc import abstractmethod
from typing import Any

import numpy as np

from benchmarks.peers.base import Array, WeighingPeer
from benchmarks.peers.lgbm import LightGBM
from benchmarks.peers.ours import Spinney
from benchmarks.peers.xgb import XGBoost
from benchmarks.settings import Settings

PLACES = 30  # LightGBM's default


class Ranker(WeighingPeer):
    """A library that ranks the rows of queries."""

    @abstractmethod
    def queries(self, X: Array, y: Array, query: Array, settings: Settings, mode: str) -> Any:
        """Bin the table; rows of the same query follow each other."""


class SpinneyRanker(Spinney, Ranker):
    """Our side of every ratio of ranking."""

    def queries(self, X: Array, y: Array, query: Array, settings: Settings, mode: str) -> Any:
        return self._spinney.Dataset(X, y, qid=query, max_bin=settings.bins, n_jobs=settings.threads)

    def loss(self, settings: Settings) -> dict[str, Any]:
        return {"objective": "rank_ndcg", "lambdarank_truncation_level": PLACES}


class LightGBMRanker(LightGBM, Ranker):
    """LightGBM, row-wise and column-wise."""

    name = "lightgbm-ranker"

    def queries(self, X: Array, y: Array, query: Array, settings: Settings, mode: str) -> Any:
        sizes = sizes_of(query)
        return self._lightgbm.Dataset(X, y, group=sizes, params=self._params(settings, mode)).construct()

    def loss(self, settings: Settings) -> dict[str, Any]:
        return {"objective": "lambdarank", "lambdarank_truncation_level": PLACES}


class XGBoostRanker(XGBoost, Ranker):
    """XGBoost, whose default are pairs with the first 32 places."""

    name = "xgboost-ranker"

    def queries(self, X: Array, y: Array, query: Array, settings: Settings, mode: str) -> Any:
        return self._xgboost.QuantileDMatrix(X, y, qid=query, max_bin=settings.bins, nthread=settings.threads)

    def loss(self, settings: Settings) -> dict[str, Any]:
        return {
            "objective": "rank:ndcg",
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": PLACES,
        }


def sizes_of(query: Array) -> Array:
    """Return the rows of each query, which follow each other."""
    begins = np.flatnonzero(np.diff(query, prepend=query[0] - 1))
    return np.diff(begins, append=len(query))

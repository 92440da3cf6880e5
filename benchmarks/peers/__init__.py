"""Every library taught the same four verbs: dataset, train, predict, fit.

Enters: arrays and `Settings`. Leaves: models and predictions. A peer knows nothing of timing or of cases.
"""

from collections.abc import Callable, Sequence

from benchmarks.peers.adaboost import ScikitLearnAdaBoost, SpinneyAdaBoost
from benchmarks.peers.base import Peer, PeerMissingError, WeighingPeer
from benchmarks.peers.cat import CatBoost
from benchmarks.peers.chimera import ChimeraBoost
from benchmarks.peers.forests import (
    IntelexForest,
    LightGBMForest,
    ScikitLearnForest,
    SpinneyForest,
    XGBoostForest,
)
from benchmarks.peers.isolation import Isotree, ScikitLearnIsolation, SpinneyIsolation
from benchmarks.peers.lgbm import LightGBM
from benchmarks.peers.ours import Spinney
from benchmarks.peers.rankers import LightGBMRanker, SpinneyRanker, XGBoostRanker
from benchmarks.peers.sklearn_hist import ScikitLearn
from benchmarks.peers.xgb import XGBoost

__all__ = [
    "BOOSTING",
    "OURS",
    "OUR_ADABOOST",
    "OUR_FOREST",
    "OUR_ISOLATION",
    "OUR_RANKER",
    "PEERS",
    "Peer",
    "PeerMissingError",
    "WeighingPeer",
    "load",
    "load_all",
]

OURS: Callable[[], Peer] = Spinney
OUR_FOREST: Callable[[], Peer] = SpinneyForest
OUR_ADABOOST: Callable[[], Peer] = SpinneyAdaBoost
OUR_ISOLATION: Callable[[], Peer] = SpinneyIsolation
OUR_RANKER: Callable[[], Peer] = SpinneyRanker
BOOSTING: dict[str, Callable[[], Peer]] = {
    "lightgbm": LightGBM,
    "xgboost": XGBoost,
    "catboost": CatBoost,
    "sklearn": ScikitLearn,
    "chimeraboost": ChimeraBoost,
}
FORESTS: dict[str, Callable[[], Peer]] = {
    "sklearn-forest": ScikitLearnForest,
    "intelex-forest": IntelexForest,
    "xgboost-forest": XGBoostForest,
    "lightgbm-forest": LightGBMForest,
}
ADABOOST: dict[str, Callable[[], Peer]] = {"sklearn-adaboost": ScikitLearnAdaBoost}
ISOLATION: dict[str, Callable[[], Peer]] = {
    "sklearn-isolation": ScikitLearnIsolation,
    "isotree": Isotree,
}
RANKERS: dict[str, Callable[[], Peer]] = {
    "lightgbm-ranker": LightGBMRanker,
    "xgboost-ranker": XGBoostRanker,
}
PEERS = BOOSTING | FORESTS | ADABOOST | ISOLATION | RANKERS


def load(make: Callable[[], Peer], say: Callable[[str], None]) -> Peer | None:
    """Return the peer, or None after saying why it is skipped."""
    try:
        return make()
    except PeerMissingError as missing:
        say(str(missing))
        return None


def load_all(names: Sequence[str], say: Callable[[str], None]) -> list[Peer]:
    """Return those of the named peers that are installed, and say which are not."""
    found = [load(PEERS[name], say) for name in names]
    return [peer for peer in found if peer is not None]

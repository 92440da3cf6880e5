"""AdaBoost of two libraries, with the same verbs: `rounds` of the settings are trees, `depth` is that of a tree."""

from typing import Any

from benchmarks.peers.base import library
from benchmarks.peers.forests import ForestPeer
from benchmarks.settings import Settings


class SpinneyAdaBoost(ForestPeer):
    """Our side of every ratio of AdaBoost."""

    name = "spinney"
    module = "spinney"

    def estimator(self, settings: Settings, columns: int) -> Any:
        kind = "AdaBoostRegressor" if settings.objective == "squared_error" else "AdaBoostClassifier"
        return getattr(self._module, kind)(
            n_estimators=settings.rounds,
            max_depth=settings.depth,
            n_jobs=settings.threads,
            random_state=settings.seed,
        )


class ScikitLearnAdaBoost(ForestPeer):
    """The twin: exact cuts, on one thread."""

    name = "sklearn-adaboost"
    note = "one thread"
    module = "sklearn.ensemble"

    def estimator(self, settings: Settings, columns: int) -> Any:
        kind = "Regressor" if settings.objective == "squared_error" else "Classifier"
        tree = getattr(library("sklearn.tree"), f"DecisionTree{kind}")(max_depth=settings.depth)
        return getattr(self._module, f"AdaBoost{kind}")(
            tree, n_estimators=settings.rounds, random_state=settings.seed
        )

"""Isolation forests of every library: `rounds` of the settings are trees; what is predicted is how abnormal a row is."""

from typing import Any, ClassVar

from benchmarks.peers.base import Array, Peer, library
from benchmarks.settings import Settings

SAMPLE = 256  # rows of a tree
LEVELS = 8  # the logarithm of that


class IsolationPeer(Peer):
    """A library with scikit-learn's manners."""

    module: ClassVar[str]
    separate = False

    def __init__(self) -> None:
        self._module = library(self.module)

    def dataset(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        return X, y

    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        X, y = dataset
        return self.fit(X, y, settings, mode)

    def fit(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        return self.estimator(settings).fit(X)

    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        found: Array = -model.score_samples(X)
        return found

    def estimator(self, settings: Settings) -> Any:
        """Return the estimator, not yet fitted."""
        return self._module.IsolationForest(
            n_estimators=settings.rounds,
            max_samples=SAMPLE,
            n_jobs=settings.threads,
            random_state=settings.seed,
        )


class SpinneyIsolation(IsolationPeer):
    """Our side of every ratio of isolation forests."""

    name = "spinney"
    module = "spinney"


class ScikitLearnIsolation(IsolationPeer):
    """The twin. It scores on one thread, unless joblib is told otherwise: threads share one lock for every tree."""

    name = "sklearn-isolation"
    module = "sklearn.ensemble"


class Isotree(IsolationPeer):
    """isotree with the settings of the original paper."""

    name = "isotree"
    module = "isotree"

    def estimator(self, settings: Settings) -> Any:
        return self._module.IsolationForest(
            ntrees=settings.rounds,
            sample_size=SAMPLE,
            max_depth=LEVELS,
            ndim=1,
            prob_pick_avg_gain=0.0,
            prob_pick_pooled_gain=0.0,
            missing_action="fail",
            nthreads=settings.threads,
            # Tree t is drawn with seed + t, so that neighbouring seeds share nearly all of their trees.
            random_seed=1_000 * settings.seed,
        )

    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        found: Array = model.predict(X)
        return found

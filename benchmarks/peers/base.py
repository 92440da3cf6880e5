"""What the harness asks of a library."""

import importlib
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy.typing as npt

from benchmarks.losses import LOSSES
from benchmarks.settings import Settings

Array = npt.NDArray[Any]
Fold = tuple[Array, Array]  # train and test rows
MANY_CLASSES = ("softmax", "one_vs_rest")


class PeerMissingError(Exception):
    """A library that cannot be imported here."""


def library(name: str) -> Any:
    """Import a library by name, or raise PeerMissingError with the reason."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise PeerMissingError(f"{package} is skipped, it cannot be imported: {error}") from error


class Peer(ABC):
    """One library. Its modes are ways to do the same work, of which the fastest counts."""

    name: ClassVar[str]
    note: ClassVar[str] = ""  # where its settings could not be made equal; empty where they are
    modes: ClassVar[tuple[str, ...]] = ("",)
    separate: ClassVar[bool] = True  # whether building the dataset is a step of its own

    @abstractmethod
    def dataset(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        """Bin the table, or only hold it where the library bins while training."""

    @abstractmethod
    def train(self, dataset: Any, settings: Settings, mode: str) -> Any:
        """Train on a dataset."""

    @abstractmethod
    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        """Predict probabilities (one column for two classes) or values."""

    @abstractmethod
    def fit(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        """Fit a classifier in scikit-learn's style, as a user would."""


class WeighingPeer(Peer):
    """A library that takes a weight for each row, and a raw score that it starts from."""

    @abstractmethod
    def build(
        self, X: Array, y: Array, settings: Settings, mode: str, weight: Array | None, margin: Array | None
    ) -> Any:
        """Bin the table, with weights and first scores where there are any."""

    @abstractmethod
    def predict_from(self, model: Any, X: Array, settings: Settings, margin: Array | None) -> Array:
        """Predict, from first scores where there are any."""

    def dataset(self, X: Array, y: Array, settings: Settings, mode: str) -> Any:
        return self.build(X, y, settings, mode, None, None)

    def predict(self, model: Any, X: Array, settings: Settings) -> Array:
        return self.predict_from(model, X, settings, None)

    def has(self, objective: str) -> bool:
        """Say whether the library has a loss."""
        return self.name in LOSSES[objective].names

    def loss(self, settings: Settings) -> dict[str, Any]:
        """Return the parameters that ask for the loss of the settings."""
        params = dict(LOSSES[settings.objective].names[self.name])
        if settings.objective in MANY_CLASSES:
            params["num_class"] = settings.classes
        return params


class FoldingPeer(WeighingPeer):
    """A library that cross-validates by itself."""

    @abstractmethod
    def cross_validate(self, dataset: Any, folds: list[Fold], settings: Settings, mode: str) -> float:
        """Train on every fold, compute the log loss of its test rows after each round; return the last mean over folds."""


def positive(probability: Array, settings: Settings) -> Array:
    """Return the second of two columns for two classes, and anything else as it is."""
    if settings.objective == "log_loss" and probability.ndim == 2:
        return probability[:, 1]
    return probability

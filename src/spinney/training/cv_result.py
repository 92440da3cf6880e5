"""What a cross-validation has found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ParameterError
from spinney.model.model import Model
from spinney.training.folds import Fold


def mean_of(values: list[float]) -> float:
    """Mean over folds, whatever their order.

    Examples
    --------
    >>> mean_of([1.0, 2.0, 4.5])
    2.5
    """
    return math.fsum(values) / len(values)


@dataclass(frozen=True, eq=False)
class FoldValues:
    """A metric round by round, of every fold.

    Attributes
    ----------
    folds : float64[folds, rounds]
        Its value in each fold after each round.

    Examples
    --------
    >>> FoldValues(np.array([[1.0, 2.0], [3.0, 2.0]]))
    FoldValues(2.0 ± 0.0 after 2 rounds of 2 folds)
    """

    folds: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean over the folds after each round."""
        return np.array([mean_of(values) for values in self.folds.T.tolist()])

    @property
    def std(self) -> NDArray[np.float64]:
        """Standard deviation over the folds after each round (divided by the number of folds, as in XGBoost)."""
        std: NDArray[np.float64] = self.folds.std(axis=0)
        return std

    def __repr__(self) -> str:
        folds, rounds = self.folds.shape
        last = f"{self.mean[-1]:.5} ± {self.std[-1]:.2} after " if rounds else ""
        return f"FoldValues({last}{rounds} rounds of {folds} folds)"


@dataclass(frozen=True, eq=False, repr=False)
class CVResult:
    """What `cv` gives.

    Attributes
    ----------
    models : list of Model
        The model of each fold, trained on its train rows alone.
    folds : list of Fold
        The row numbers, `train` and `test`, of each fold, ascending.
    oof : float64[rows] or float64[rows, classes]
        Predictions of each row by models that were not trained on it ("out of fold"), after `best_round` rounds: NaN for a row
        that no fold tests, the mean where several do.
    history : mapping
        history["test"]["logloss"]: a `FoldValues`, with `mean`, `std` and `folds` of a metric after every round; "train" beside
        "test", unless train_metrics=False.
    best_round : int, optional
        The round with the best mean over folds, where `early_stopping_rounds` was given; models predict with so many.
    """

    models: list[Model]
    folds: list[Fold]
    oof: NDArray[np.float64]
    history: Mapping[str, Mapping[str, FoldValues]]
    best_round: int | None = None

    @property
    def rounds(self) -> int:
        """Rounds that were trained."""
        return self.models[0].rounds

    def to_frame(self) -> Any:
        """The history as a pandas frame with XGBoost's columns: train-logloss-mean, train-logloss-std, test-logloss-mean, ...

        It has a row for every round that was trained, also for those after `best_round`.
        """
        try:
            import pandas
        except ImportError as error:
            raise ParameterError(
                "to_frame() makes a pandas frame, and pandas is not installed: install it, or use `history`"
            ) from error
        columns = {}
        for name, metrics in self.history.items():
            for metric, values in metrics.items():
                columns[f"{name}-{metric}-mean"] = values.mean
                columns[f"{name}-{metric}-std"] = values.std
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        at = self.rounds if self.best_round is None else self.best_round
        best = "" if self.best_round is None else f", best_round={self.best_round}"
        found = ""
        if at:
            found = "".join(
                f", {name}={values.mean[at - 1]:.5} ± {values.std[at - 1]:.2}"
                for name, values in self.history["test"].items()
            )
        return f"CVResult(folds={len(self.models)}, rounds={self.rounds}{best}{found})"

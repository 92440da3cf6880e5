"""How an estimator's own rules for targets and weights run on a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cluster.labels import Learnt
from spinney.data import RawLabels, Schema, Table
from spinney.estimators.boosting import GBMBase
from spinney.estimators.continuation import Continuation
from spinney.estimators.fit_inputs import naming
from spinney.params import Config
from spinney.training.holdout import Rows


@dataclass(frozen=True, eq=False)
class FitFacts:
    """What the client learns of a fit.

    Attributes
    ----------
    config : Config
        The parameters of training.
    schema : Schema, optional
        The columns of the model that it goes on from.
    learnt : mapping
        Attributes that the target gave the estimator, such as `classes_`.
    fixed : float64[outputs], optional
        Raw scores of every row where the target leaves nothing to learn.
    """

    config: Config
    schema: Schema | None
    learnt: Mapping[str, Any]
    fixed: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class FitLabels:
    """Makes labels to train on of all that belongs to the rows: the steps of a local fit.

    Attributes
    ----------
    estimator : GBMBase
        A local one with the parameters; it is not fitted.
    watched : bool
        Whether there are validation data.
    start : Continuation, optional
        What the fit goes on from.
    told : mapping
        Parameters of this fit alone.
    validation : array, optional
        Rows to hold out.
    """

    estimator: GBMBase
    watched: bool
    start: Continuation | None
    told: Mapping[str, object]
    validation: Rows = None

    def __call__(self, raw: RawLabels, table: Table, groups: NDArray[np.int64] | None) -> Learnt:
        """Give the labels; the client is told `FitFacts`."""
        estimator = self.estimator
        found = estimator._fit_inputs(
            raw, table, self.watched, self.start, self.told, groups, self.validation
        )
        learnt = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
        fixed = estimator._fixed_scores(found.labels, self.start)
        facts = FitFacts(found.config, found.schema, learnt, fixed)
        return Learnt(found.labels, facts, found.held, found.chosen)


@dataclass(frozen=True, eq=False)
class EvalLabels:
    """Makes labels of validation rows.

    Attributes
    ----------
    estimator : GBMBase
        A local one that knows its classes.
    class_weight : object
        Factors on the weights of their classes.
    targets : int
        Columns of the target of the training rows.
    config : Config
        The parameters of training.
    """

    estimator: GBMBase
    class_weight: object
    targets: int
    config: Config

    def __call__(self, raw: RawLabels, table: Table, groups: NDArray[np.int64] | None) -> Learnt:
        """Give the labels."""
        with naming(raw.where):
            labels = self.estimator._validation_labels(
                raw, self.class_weight, table.rows, self.targets, self.config
            )
        return Learnt(labels)


@dataclass(frozen=True, eq=False)
class CheckTarget:
    """Reads the target of a partition for its errors alone, which then name the partition."""

    estimator: GBMBase

    def __call__(self, y: Any, rows: int) -> None:
        """Raise what is wrong with it."""
        self.estimator._check_target(y, rows)

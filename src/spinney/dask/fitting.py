"""How an estimator's own rules for targets and weights run on a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cluster.labels import Learnt, RowLabels
from spinney.cluster.opening import Beside
from spinney.data import Labels, Schema, Table
from spinney.estimators.base import GBMBase
from spinney.estimators.continuing import Start
from spinney.estimators.evaluation import Evaluation, naming
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
    start : Start, optional
        What the fit goes on from.
    told : mapping
        Parameters of this fit alone.
    validation : array, optional
        Rows to hold out.
    """

    estimator: GBMBase
    watched: bool
    start: Start | None
    told: Mapping[str, object]
    validation: Rows = None

    def __call__(self, beside: Beside, table: Table) -> Learnt:
        """Give the labels; the client is told `FitFacts`."""
        estimator = self.estimator
        found = estimator._learnt(
            _given(beside, "", "sample_weight"), table, self.watched, self.start, self.told, beside.groups,
            self.validation,
        )  # fmt: skip
        learnt = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
        fixed = estimator._fixed_scores(found.labels, self.start)
        held = None if found.held is None else _rows(found.held)
        facts = FitFacts(found.config, found.schema, learnt, fixed)
        return Learnt(_rows(found.labels), facts, held, found.chosen)


@dataclass(frozen=True, eq=False)
class EvalLabels:
    """Makes labels of validation rows.

    Attributes
    ----------
    estimator : GBMBase
        A local one that knows its classes.
    where : str
        What the rows are called in messages.
    weight_name : str
        What their weights were given as.
    class_weight : object
        Factors on the weights of their classes.
    targets : int
        Columns of the target of the training rows.
    config : Config
        The parameters of training.
    """

    estimator: GBMBase
    where: str
    weight_name: str
    class_weight: object
    targets: int
    config: Config

    def __call__(self, beside: Beside, table: Table) -> Learnt:
        """Give the labels."""
        given = _given(beside, self.where, self.weight_name, self.class_weight)
        with naming(self.where):
            labels = self.estimator._validation_labels(given, table.rows, self.targets, self.config)
        return Learnt(_rows(labels))


@dataclass(frozen=True, eq=False)
class CheckTarget:
    """Reads the target of a partition for its errors alone, which then name the partition."""

    estimator: GBMBase

    def __call__(self, y: Any, rows: int) -> None:
        """Raise what is wrong with it."""
        self.estimator._check_target(y, rows)


def _given(beside: Beside, where: str, weight_name: str, class_weight: object = None) -> Evaluation:
    return Evaluation(
        where, None, beside.y, beside.weight, beside.margin, weight_name, class_weight, beside.group, beside.qid
    )  # fmt: skip


def _rows(labels: Labels) -> RowLabels:
    return RowLabels(labels.target, labels.weight, labels.margin, labels.queries)

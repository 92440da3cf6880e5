"""What a fit goes on from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.errors import ParameterError, ParameterTypeError
from spinney.estimators.files import read_estimator
from spinney.model.model import Model
from spinney.params import Config
from spinney.training.auto import Auto
from spinney.training.continuing import check_past, model_of

Evals = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, eq=False)
class Start:
    """What a fit goes on from.

    Attributes
    ----------
    model : Model
        Its trees come first.
    classes : ndarray, optional
        Labels of its classes, or (labels, 2) where rows have several; None where they are not known, or there are none.
    what : str
        What messages call it.
    """

    model: Model
    classes: NDArray[Any] | None
    what: str = "init_model"

    def schema_for(self, table: Table, config: Config) -> Schema:
        """The columns to bin a table by; an error where the model, the parameters and the table do not fit."""
        old = self.model.schema
        check_past(self.model, config, Schema(table.names, table.columns, old.categories), self.what)
        return old if old.names is not None else replace(old, names=table.names)


def start_of(estimator: Any, init_model: object, rounds: int | Auto) -> tuple[Start | None, int | Auto]:
    """What a fit goes on from, None where it starts anew, and how many rounds are left to do."""
    if isinstance(rounds, Auto) or not estimator.warm_start or "model_" not in vars(estimator):
        return None if init_model is None else _given_start(estimator, init_model), rounds
    if init_model is not None:
        raise ParameterError(
            "init_model contradicts warm_start=True: the estimator goes on from its own trees; give only one"
        )
    start = Start(estimator.model_, getattr(estimator, "classes_", None), "the fitted model")
    done = start.model.rounds_to_use()
    if rounds < done:
        raise ParameterError(
            f"n_estimators={rounds} is less than the {done} rounds that the estimator has; with warm_start=True it counts "
            "old and new rounds"
        )
    return start, rounds - done


def _given_start(estimator: object, init_model: object) -> Start:
    if isinstance(init_model, str | os.PathLike):
        init_model = read_estimator(init_model)
    if not isinstance(init_model, Model) and hasattr(init_model, "model_"):
        mine, other = type(estimator), type(init_model)
        if not (issubclass(mine, other) or issubclass(other, mine)):
            raise ParameterTypeError(
                f"init_model is a {other.__name__}; a {mine.__name__} goes on from one of its own kind, or from a Model"
            )
    model = model_of(init_model)
    assert model is not None
    return Start(model, getattr(init_model, "classes_", None))


def with_nothing_added(model: Model, old: Model, evals: Evals) -> tuple[Model, Evals]:
    """A model that has the rounds of an old one and no more, with what is known of these: the best one, and metrics."""
    same = Model(
        model.forest,
        model.base_score,
        model.objective,
        model.params,
        model.schema,
        old.best_round,
        model.statistics,
    )
    after = old.rounds - old.rounds_to_use()
    known = {
        name: {metric: values[: len(values) - after] for metric, values in found.items()}
        for name, found in evals.items()
    }
    return same, known


@contextmanager
def fitting(estimator: Any) -> Iterator[None]:
    """A fit that fails must not leave the trees of an earlier one beside columns or classes of its own.

    It leaves nothing fitted, or, with `warm_start`, what there was before.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        warm = getattr(estimator, "warm_start", False)
        if not (isinstance(warm, bool | np.bool_) and warm):
            for name in before:
                if name.endswith("_") and not name.startswith("_"):
                    delattr(estimator, name)
        raise

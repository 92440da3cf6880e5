"""What a fit goes on from: the estimator's own model with `warm_start`, or one that is given as `init_model`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.errors import ParameterError, ParameterTypeError
from spinney.estimators.base import NO_MORE
from spinney.estimators.evaluation import best_values
from spinney.model.boosted import Model
from spinney.params import Config
from spinney.training.continuation import check_compatible, model_of
from spinney.training.round_plan import Auto

Evals = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, eq=False)
class Continuation:
    """What a fit goes on from.

    Attributes
    ----------
    model : Model
        Its trees come first.
    classes : ndarray, optional
        Labels of its classes, or (labels, 2) where rows have several; None where the model has no labels, or there are none.
    what : str
        What messages call it.
    evals : dict
        Metrics of its rounds, where they are the estimator's own.
    """

    model: Model
    classes: NDArray[Any] | None
    what: str = "init_model"
    evals: Evals = field(default_factory=dict)

    def schema_for(self, table: Table, config: Config) -> Schema:
        """The columns to bin a table by; an error where the model, the parameters and the table do not fit."""
        old = self.model.schema
        check_compatible(self.model, config, Schema(table.names, table.columns, old.categories), self.what)
        return old if old.names is not None else replace(old, names=table.names)

    def with_evals(
        self, model: Model, before: Mapping[str, Mapping[str, float]], evals: Evals
    ) -> tuple[Model, Evals]:
        """The model of a fit, and all metrics of its rounds.

        Parameters
        ----------
        model : Model
            The model of old and new rounds.
        before : mapping
            Metrics of the old rounds, on the validation data of this fit; empty where it added nothing.
        evals : dict
            Metrics of the new rounds.

        Returns
        -------
        model : Model
            If no rounds were added it has the best round of the old one.
        evals : dict
            Metrics of old rounds stand first where the validation data are the same: where the last of them is that of `before`.
            Else only the last old round has metrics, which are given if it is the best.
        """
        used, after = self.model.rounds_to_use(), self.model.rounds - self.model.rounds_to_use()
        known = {
            name: {metric: values[: len(values) - after] for metric, values in found.items()}
            for name, found in self.evals.items()
        }
        if model.rounds == used:
            parts = (model.forest, model.base_score, model.objective, model.params, model.schema)
            return Model(*parts, self.model.best_round, model.statistics), known
        if best_values(known, 0) != before:
            if model.rounds_to_use() > used:
                return model, evals
            known = {name: {one: [value] for one, value in found.items()} for name, found in before.items()}
        return model, {
            name: {one: known[name][one] + values for one, values in found.items()}
            for name, found in evals.items()
        }


def start_of(
    estimator: Any, init_model: object, rounds: int | Auto
) -> tuple[Continuation | None, int | Auto]:
    """What a fit goes on from, None where it starts anew, and how many rounds are left to do."""
    if isinstance(rounds, Auto) or not estimator.warm_start or "model_" not in vars(estimator):
        return None if init_model is None else _given_start(estimator, init_model), rounds
    if init_model is not None:
        raise ParameterError(
            "init_model contradicts warm_start=True: the estimator goes on from its own trees; give only one"
        )
    classes = getattr(estimator, "classes_", None)
    start = Continuation(estimator.model_, classes, "the fitted model", estimator.evals_result_)
    done = start.model.rounds_to_use()
    if rounds < done:
        raise ParameterError(
            f"n_estimators={rounds} is less than the {done} rounds that the estimator has; with warm_start=True it counts "
            "old and new rounds"
        )
    if rounds == done:
        warnings.warn(NO_MORE, UserWarning, stacklevel=5)
    return start, rounds - done


def _given_start(estimator: object, init_model: object) -> Continuation:
    if isinstance(init_model, str | os.PathLike):
        from spinney.estimators.files import read_estimator  # which imports what imports this module

        init_model = read_estimator(init_model)
    if not isinstance(init_model, Model) and hasattr(init_model, "model_"):
        mine, other = type(estimator), type(init_model)
        if not (issubclass(mine, other) or issubclass(other, mine)):
            raise ParameterTypeError(
                f"init_model is a {other.__name__}; a {mine.__name__} goes on from one of its own kind, or from a Model"
            )
    model = model_of(init_model)
    assert model is not None
    return Continuation(model, getattr(init_model, "classes_", None))

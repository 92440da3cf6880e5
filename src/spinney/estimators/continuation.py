"""What a fit goes on from, and checks of parameters that only estimators have."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.errors import ParameterError, ParameterTypeError
from spinney.estimators.fit_inputs import best_values
from spinney.estimators.written import UnwritableError, write_columns
from spinney.messages import shown
from spinney.model.boosted import Model
from spinney.params import Config
from spinney.params.common import AUTO, FRACTION, LAST, MAX_ROUNDS, VALIDATION, preset_values
from spinney.params.estimators import BOOSTING_ROUNDS, IMPORTANCE
from spinney.training.booster import check_members
from spinney.training.continuation import check_compatible, model_of
from spinney.training.holdout import Rows
from spinney.training.round_plan import Auto, check_share


def check_alone(estimator: Any) -> None:
    """Check what needs no table and no other parameter."""
    rounds_of(estimator)
    FRACTION.check(estimator.validation_fraction)
    VALIDATION.check(estimator.validation)
    with suppress(UnwritableError):
        write_columns(estimator.categorical)


def rounds_of(estimator: Any) -> int | Auto:
    """Rounds that an estimator is asked for, or how to find them; what a fit uses at its end is checked with them."""
    rounds = BOOSTING_ROUNDS.check(estimator.n_estimators)
    most = MAX_ROUNDS.check(estimator.max_rounds)
    IMPORTANCE.check(estimator.importance_type)
    for name in ("progress", "warm_start"):
        value = getattr(estimator, name)
        if not isinstance(value, bool | np.bool_):
            raise ParameterTypeError(f"{name}={shown(value)} must be True or False")
    if rounds == AUTO:
        if estimator.warm_start:
            raise ParameterError(
                f"n_estimators={AUTO!r} contradicts warm_start=True, which counts old and new rounds; give a number of rounds"
            )
        fraction = FRACTION.check(estimator.validation_fraction)
        return Auto(most, fraction, argument="n_estimators", validation=_last(estimator))
    if most is not None:
        raise ParameterError(
            f"max_rounds={most} is for n_estimators={AUTO!r}, but n_estimators={rounds}; leave it out"
        )
    return int(rounds)


def _last(estimator: Any) -> str | None:
    """What the parameter `validation` says of the rows to hold out; None for rows at random."""
    return LAST if VALIDATION.check(estimator.validation) == LAST else None


def holdout_of(
    estimator: Any, config: Config, watched: bool, groups: object, validation: Rows
) -> tuple[Rows, float] | None:
    """Rows to hold out before they are binned, and their share; None for none.

    Parameters
    ----------
    estimator : GBMBase
        The estimator.
    config : Config
        Its parameters.
    watched : bool
        Whether there are validation data.
    groups : object
        Groups of the rows, if given.
    validation : "last" or bool[rows], optional
        What this fit is told of them.
    """
    fraction = FRACTION.check(estimator.validation_fraction)
    check_share(fraction, validation)
    rows = _last(estimator) if validation is None else validation
    held = estimator.n_estimators == AUTO or fraction is not None or isinstance(rows, np.ndarray)
    if rows is not None and (watched or not held):
        said = f"validation={LAST!r}" if isinstance(rows, str) else "validation"
        raise ParameterError(
            f"{said} says which rows are held out, but none are: leave it out, or "
            + ("leave out eval_set, or X_val and y_val" if watched else "set validation_fraction")
        )
    if fraction is not None and watched:
        raise ParameterError(
            f"validation_fraction={fraction} contradicts eval_set, or X_val and y_val: there are validation data "
            "already, give only one"
        )
    if groups is not None and (watched or not held):
        raise ParameterError(
            "groups says which rows are held out together, but none are held out: leave it out, or set validation_fraction"
            + (" and leave out eval_set" if watched else "")
        )
    if estimator.n_estimators == AUTO:
        return None  # the training holds them out
    if config.early_stopping_rounds is not None and not held and not watched:
        raise ParameterError(
            f"early_stopping_rounds={config.early_stopping_rounds} needs validation data: give fit an eval_set, or "
            "X_val and y_val, or set validation_fraction"
        )
    return (rows, 0.0 if fraction is None else float(fraction)) if held else None


def said(estimator: Any, given: Mapping[str, object]) -> dict[str, object]:
    """Parameters without those that have their default values and that the preset may set.

    Examples
    --------
    >>> import spinney as sp
    >>> said(sp.GBMRegressor(preset="best"), {"learning_rate": 0.1, "max_leaves": 31, "models": None})
    {'max_leaves': 31}
    """
    found = dict(given)
    if found.get("models", 1) is None:  # 1, or what the preset sets
        del found["models"]
    for name in preset_values(estimator.preset, {}):
        default = inspect.signature(type(estimator)).parameters.get(name)
        if name in found and default is not None and _is_default(found[name], default.default):
            del found[name]
    return found


def _is_default(value: object, default: object) -> bool:
    return isinstance(value, Real) and value == default


def check_anew(estimator: Any, config: Config, continued: bool) -> None:
    """Refuse a mean of several models where a fit goes on from one, or the next one will."""
    if estimator.warm_start:
        check_members(config, "warm_start=True", "with which one training goes on")
    if continued:
        check_members(config, "init_model", "from which one training goes on")


Evals = dict[str, dict[str, list[float]]]
# In scikit-learn's words, by which users may filter it.
NO_MORE = "Warm-start fitting without increasing n_estimators does not fit new trees."


@dataclass(frozen=True, eq=False)
class Continuation:
    """What a fit goes on from.

    Attributes
    ----------
    model : Model
        Its trees come first.
    classes : ndarray, optional
        Labels of its classes, or (labels, 2) where rows have several; None where they are not known, or there are none.
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
        """The model that a fit came to, and all that is known of its rounds.

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
            Metrics of old rounds stand first where the validation data are the same: where the last of them is what `before`
            says. Else only the last old round is known, which is told if it is the best.
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
        from spinney.estimators.files import read_estimator  # which knows every kind of model

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

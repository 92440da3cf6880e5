"""Checks of parameters that only estimators have."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError
from spinney.estimators.written import UnwritableError, write_columns
from spinney.messages import shown
from spinney.params import Config
from spinney.params.common import AUTO, FRACTION, LAST, MAX_ROUNDS, VALIDATION, preset_values
from spinney.params.estimators import BOOSTING_ROUNDS, IMPORTANCE
from spinney.training.driver import check_members
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

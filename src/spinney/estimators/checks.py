"""Checks of parameters that only estimators have."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError
from spinney.estimators.parameters import IMPORTANCE, ROUNDS
from spinney.estimators.written import UnwritableError, write_columns
from spinney.params import Config
from spinney.params.presets import unsaid
from spinney.params.validate import checked
from spinney.training.auto import AUTO, FRACTION, MAX_ROUNDS, Auto
from spinney.training.members import check_members


def check_alone(estimator: Any) -> None:
    """Check what needs no table and no other parameter."""
    rounds_of(estimator)
    checked(FRACTION, estimator.validation_fraction)
    with suppress(UnwritableError):
        write_columns(estimator.categorical)


def rounds_of(estimator: Any) -> int | Auto:
    """Rounds that an estimator is asked for, or how to find them; what a fit uses at its end is checked with them."""
    rounds: Any = checked(ROUNDS, estimator.n_estimators)
    most: Any = checked(MAX_ROUNDS, estimator.max_rounds)
    checked(IMPORTANCE, estimator.importance_type)
    for name in ("progress", "warm_start"):
        value = getattr(estimator, name)
        if not isinstance(value, bool | np.bool_):
            raise ParameterTypeError(f"{name}={value!r} must be True or False")
    if rounds == AUTO:
        if estimator.warm_start:
            raise ParameterError(
                f"n_estimators={AUTO!r} contradicts warm_start=True, which counts old and new rounds; give a number of rounds"
            )
        fraction: Any = checked(FRACTION, estimator.validation_fraction)
        return Auto(most, fraction, called="n_estimators")
    if most is not None:
        raise ParameterError(
            f"max_rounds={most} is for n_estimators={AUTO!r}, but n_estimators={rounds}; leave it out"
        )
    return int(rounds)


def fraction_of(estimator: Any, config: Config, watched: bool, groups: object = None) -> float | None:
    """Share of the rows to hold out before they are binned, None for none; `watched` says whether there are validation data."""
    fraction: Any = checked(FRACTION, estimator.validation_fraction)
    if fraction is not None and watched:
        raise ParameterError(
            f"validation_fraction={fraction} contradicts eval_set, or X_val and y_val: there are validation data "
            "already, give only one"
        )
    if groups is not None and (watched or (fraction is None and estimator.n_estimators != AUTO)):
        raise ParameterError(
            "groups says which rows are held out together, but none are held out: leave it out, or set validation_fraction"
            + (" and leave out eval_set" if watched else "")
        )
    if estimator.n_estimators == AUTO:
        return None  # the training holds them out
    if config.early_stopping_rounds is not None and fraction is None and not watched:
        raise ParameterError(
            f"early_stopping_rounds={config.early_stopping_rounds} needs validation data: give fit an eval_set, or "
            "X_val and y_val, or set validation_fraction"
        )
    return None if fraction is None else float(fraction)


def said(estimator: Any, given: Mapping[str, object]) -> dict[str, object]:
    """Parameters without those that have their default values and that the preset may set.

    Examples
    --------
    >>> import spinney as sp
    >>> said(sp.GBMRegressor(preset="best"), {"learning_rate": 0.1, "max_leaves": 31, "models": None})
    {'max_leaves': 31}
    """
    defaults = inspect.signature(type(estimator)).parameters
    open_to_preset = {"models", *unsaid(estimator.preset, {})}
    return {
        name: value
        for name, value in given.items()
        if name not in open_to_preset or not (name in defaults and _is_default(value, defaults[name].default))
    }


def _is_default(value: object, default: object) -> bool:
    return value is None if default is None else isinstance(value, Real) and value == default


def check_anew(estimator: Any, config: Config, continued: bool) -> None:
    """Refuse a mean of several models where a fit goes on from one, or the next one will."""
    if estimator.warm_start:
        check_members(config, "warm_start=True", "with which one training goes on")
    if continued:
        check_members(config, "init_model", "from which one training goes on")

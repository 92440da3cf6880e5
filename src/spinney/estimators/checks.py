"""Checks of parameters that only estimators have."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError
from spinney.estimators.evaluation import Evaluation
from spinney.estimators.parameters import FRACTION, IMPORTANCE, ROUNDS
from spinney.estimators.written import UnwritableError, write_columns
from spinney.params import Config
from spinney.params.validate import checked


def check_alone(estimator: Any) -> None:
    """Check what needs no table and no other parameter."""
    rounds_of(estimator)
    checked(FRACTION, estimator.validation_fraction)
    with suppress(UnwritableError):
        write_columns(estimator.categorical)


def rounds_of(estimator: Any) -> int:
    """Rounds that an estimator is asked for; what a fit uses at its end is checked with them."""
    rounds: Any = checked(ROUNDS, estimator.n_estimators)
    checked(IMPORTANCE, estimator.importance_type)
    for name in ("progress", "warm_start"):
        value = getattr(estimator, name)
        if not isinstance(value, bool | np.bool_):
            raise ParameterTypeError(f"{name}={value!r} must be True or False")
    return int(rounds)


def fraction_of(estimator: Any, config: Config, watched: list[Evaluation]) -> float | None:
    """Share of the rows to hold out, None for none."""
    fraction: Any = checked(FRACTION, estimator.validation_fraction)
    if fraction is not None and watched:
        raise ParameterError(
            f"validation_fraction={fraction} contradicts eval_set, or X_val and y_val: there are validation data "
            "already, give only one"
        )
    if config.early_stopping_rounds is not None and fraction is None and not watched:
        raise ParameterError(
            f"early_stopping_rounds={config.early_stopping_rounds} needs validation data: give fit an eval_set, or "
            "X_val and y_val, or set validation_fraction"
        )
    return None if fraction is None else float(fraction)

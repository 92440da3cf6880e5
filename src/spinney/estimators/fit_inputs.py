"""What a fit needs before columns are binned: parameters, target, weights and hold-out, all checked.

`FitRules.fit_inputs` calls the checks in the order of their costs. The rows may be in memory, or on the workers of a cluster.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney import objectives
from spinney.data import Labels, RawLabels, Schema, Table, read_margin
from spinney.data.target import read_weight_and_queries
from spinney.errors import DataError, ParameterError
from spinney.estimators.base import check_categorical, check_flags
from spinney.estimators.evaluation import naming
from spinney.params import Config, check_columns, outputs_of
from spinney.params.common import AUTO, FRACTION, LAST, MAX_ROUNDS, VALIDATION, preset_values
from spinney.params.estimators import BOOSTING_ROUNDS, IMPORTANCE
from spinney.training.booster import check_members
from spinney.training.evaluation import training_metrics
from spinney.training.holdout import RowGroups, Rows, checked_rows, draw_holdout, named
from spinney.training.round_plan import Auto, check_has_metric, check_share
from spinney.training.splitting import group_numbers

if TYPE_CHECKING:
    from spinney.estimators.boosting import GBMBase
    from spinney.estimators.continuation import Continuation


@dataclass(frozen=True, eq=False)
class FitInputs:
    """What a fit has before columns are binned.

    Attributes
    ----------
    config : Config
        The parameters of training.
    schema : Schema, optional
        The columns of the model that it goes on from.
    labels : Labels
        Of the rows to train on, with the weights to train with.
    holdout : Labels, optional
        Of the rows that are held out.
    holdout_rows : bool[rows], optional
        Which rows are.
    fixed_scores : float64[outputs], optional
        Raw scores of every row where the target leaves nothing to learn.
    """

    config: Config
    schema: Schema | None
    labels: Labels
    holdout: Labels | None
    holdout_rows: NDArray[np.bool_] | None
    fixed_scores: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class FitRules:
    """The rules of a boosting estimator for targets, weights, metrics and hold-outs.

    Attributes
    ----------
    estimator : GBMBase
        One with the parameters; `fit_inputs` gives it the attributes that follow from the target.
    """

    estimator: GBMBase

    def fit_inputs(
        self,
        raw: RawLabels,
        table: Table,
        has_valid: bool,
        start: Continuation | None,
        overrides: Mapping[str, object],
        groups: object = None,
        validation: Rows = None,
    ) -> FitInputs:
        """Check the target, the weights and the parameters together, and draw the hold-out.

        Parameters
        ----------
        raw : RawLabels
            Target, weights, starting scores and queries, as the user gave them.
        table : Table
            The columns, of which only number and names are used, and the number of rows.
        has_valid : bool
            Whether there are validation data.
        start : Continuation, optional
            The model that the fit goes on from.
        overrides : mapping
            Parameters of this fit alone.
        groups : object
            Groups of the rows, if given.
        validation : "last" or array, optional
            Rows to hold out.
        """
        estimator, rows = self.estimator, table.rows
        target, from_target = estimator._fit_target(raw.y, rows, start)
        config = estimator._config({**from_target, **overrides})
        check_single_model(estimator, config, start is not None)
        schema = None if start is None else start.schema_for(table, config)
        # A wrong name, or a metric that does not fit, is an error before columns are binned.
        if config.has_column_rules:
            check_columns(config, table.names, table.columns)
        metrics = training_metrics(config, estimator._custom_metrics(config))
        if estimator.n_estimators == AUTO:
            check_has_metric("n_estimators", config, metrics)
        wanted = wanted_holdout(estimator, config, has_valid, groups, checked_rows(validation, rows))
        labels = self._labels_of(raw, target, config)
        holdout = chosen = None
        if wanted is not None:
            validation, share = wanted
            numbers = group_numbers(groups, rows)
            together = None if numbers is None else RowGroups(numbers)
            strata = estimator._strata(labels.target)
            chosen = draw_holdout(config, labels, strata, share, validation, together)
            labels, holdout = labels.take(~chosen), labels.take(chosen)
            with naming(f"the rows held out by {named(validation, share)}"):
                self._check_metrics(config, holdout)
        labels = replace(labels, weight=estimator._row_weights(labels))
        return FitInputs(config, schema, labels, holdout, chosen, estimator._fixed_scores(labels, start))

    def validation_labels(
        self, raw: RawLabels, class_weight: object, rows: int, targets: int, config: Config
    ) -> Labels:
        """The labels of validation rows; `targets` is the number of columns of the training rows' target."""
        target = self.estimator._read_target(raw.y, rows)
        given = 1 if target.ndim == 1 else target.shape[1]
        if given != targets:
            raise DataError(
                f"y has {given} column{'s' * (given > 1)}, but that of the training rows has {targets}"
            )
        labels = self._labels_of(raw, target, config, "eval_")
        labels = replace(labels, weight=self.estimator._eval_weights(class_weight, labels))
        self._check_metrics(config, labels)
        return labels

    def check_target(self, y: object, rows: int) -> None:
        """Refuse a target of some of the rows that could not be read."""
        self.estimator._check_target(y, rows)

    def _labels_of(
        self, raw: RawLabels, target: NDArray[np.float64], config: Config, before: str = ""
    ) -> Labels:
        """The labels of rows whose target was read; `before` stands before the names of arguments in messages."""
        rows = len(target)
        weight, queries = read_weight_and_queries(raw, rows, before)
        margin = read_margin(raw.base_margin, rows, outputs_of(config), what=f"{before}base_margin")
        return Labels(target, weight, margin, queries)

    def _check_metrics(self, config: Config, labels: Labels) -> None:
        """Refuse validation rows that have no such metric, before they are binned."""
        labels = objectives.get(config).prepared(labels)
        for metric in training_metrics(config, self.estimator._custom_metrics(config)):
            metric.check(labels)


def check_alone(estimator: Any) -> None:
    """Check what needs no table and no other parameter."""
    rounds_of(estimator)
    FRACTION.check(estimator.validation_fraction)
    VALIDATION.check(estimator.validation)
    check_categorical(estimator.categorical)


def rounds_of(estimator: Any) -> int | Auto:
    """How many rounds to do, or how to find their number; what a fit uses at its end is checked with them."""
    rounds = BOOSTING_ROUNDS.check(estimator.n_estimators)
    most = MAX_ROUNDS.check(estimator.max_rounds)
    IMPORTANCE.check(estimator.importance_type)
    check_flags(estimator, "progress", "warm_start")
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
    """The parameter `validation` as `training` takes it; None for rows at random."""
    return LAST if VALIDATION.check(estimator.validation) == LAST else None


def wanted_holdout(
    estimator: Any, config: Config, has_valid: bool, groups: object, validation: Rows
) -> tuple[Rows, float] | None:
    """Rows to hold out before they are binned, and their share; None for none, or if the training holds them out.

    Parameters
    ----------
    estimator : GBMBase
        The estimator.
    config : Config
        Its parameters.
    has_valid : bool
        Whether there are validation data.
    groups : object
        Groups of the rows, if given.
    validation : "last" or bool[rows], optional
        The rows that this fit is given to hold out.
    """
    fraction = FRACTION.check(estimator.validation_fraction)
    check_share(fraction, validation)
    rows = _last(estimator) if validation is None else validation
    wished = estimator.n_estimators == AUTO or fraction is not None or isinstance(rows, np.ndarray)
    if rows is not None and (has_valid or not wished):
        raise ParameterError(
            f"{named(rows, 0.0)} chooses rows to hold out, but none are held out: leave it out, or "
            + ("leave out eval_set, or X_val and y_val" if has_valid else "set validation_fraction")
        )
    if fraction is not None and has_valid:
        raise ParameterError(
            f"validation_fraction={fraction} contradicts eval_set, or X_val and y_val: there are validation data "
            "already, give only one"
        )
    if groups is not None and (has_valid or not wished):
        raise ParameterError(
            "groups are held out together, but no rows are held out: leave it out, or set validation_fraction"
            + (" and leave out eval_set" if has_valid else "")
        )
    if estimator.n_estimators == AUTO:
        return None
    if config.early_stopping_rounds is not None and not wished and not has_valid:
        raise ParameterError(
            f"early_stopping_rounds={config.early_stopping_rounds} needs validation data: give fit an eval_set, or "
            "X_val and y_val, or set validation_fraction"
        )
    return (rows, 0.0 if fraction is None else float(fraction)) if wished else None


def explicit_parameters(estimator: Any, given: Mapping[str, object]) -> dict[str, object]:
    """Parameters without those that have their default values and that the preset may set.

    Examples
    --------
    >>> import spinney as sp
    >>> given = {"learning_rate": 0.1, "max_leaves": 31, "models": None}
    >>> explicit_parameters(sp.GBMRegressor(preset="best"), given)
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


def check_single_model(estimator: Any, config: Config, continued: bool) -> None:
    """Refuse a mean of several models where a fit goes on from one, or the next one will."""
    if estimator.warm_start:
        check_members(config, "warm_start=True", "with which one training goes on")
    if continued:
        check_members(config, "init_model", "from which one training goes on")

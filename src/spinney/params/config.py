"""The table: every hyper-parameter is one field of `Config`, declared in `fields/`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from spinney.params.fields.data import DataFields
from spinney.params.fields.evaluation import EvaluationFields
from spinney.params.fields.growing import GrowingFields
from spinney.params.fields.objective import ObjectiveFields
from spinney.params.fields.presets import PresetFields
from spinney.params.fields.ranking import RankingFields
from spinney.params.fields.regularisation import RegularisationFields
from spinney.params.fields.running import RunningFields
from spinney.params.fields.sampling import SamplingFields
from spinney.params.fields.survival import SurvivalFields
from spinney.params.rows import Row, row_of
from spinney.params.validate import checked, reconciled


@dataclass(frozen=True, kw_only=True)
class Config(
    # Fields of bases stand in the opposite order: the last base has the first ones.
    RunningFields,
    PresetFields,
    EvaluationFields,
    DataFields,
    SamplingFields,
    RegularisationFields,
    GrowingFields,
    RankingFields,
    SurvivalFields,
    ObjectiveFields,
):
    """Every hyper-parameter under its canonical name, checked.

    A `Config` that exists is valid: making one, also by `dataclasses.replace`, converts and checks every
    value and how the values fit together.

    Raises
    ------
    ParameterError
        If a value is out of range or contradicts another one.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> from dataclasses import replace
    >>> config = Config(objective="binary:logistic", max_depth=-1)
    >>> config.objective, config.max_depth
    ('log_loss', 0)
    >>> replace(config, learning_rate=0.05).learning_rate
    0.05
    """

    def __post_init__(self) -> None:
        values = {row.name: checked(row, getattr(self, row.name)) for row in table()}
        for name, value in reconciled(values, _defaults()).items():
            object.__setattr__(self, name, value)

    def having(self, **values: Any) -> Config:
        """The same with some values, by canonical name; itself where it has them.

        Examples
        --------
        >>> config = Config()
        >>> config.having(max_leaves=31) is config, config.having(max_leaves=7).max_leaves
        (True, 7)
        """
        told = {name: value for name, value in values.items() if getattr(self, name) != value}
        return replace(self, **told) if told else self

    @property
    def absent_value(self) -> float:
        """The value that `absent` stands for: 0, or NaN, which is missing."""
        return math.nan if self.absent == "missing" else 0.0

    def to_dict(self, *, model_only: bool = False) -> dict[str, object]:
        """Return every value by canonical name, in types that JSON knows.

        Parameters
        ----------
        model_only : bool, default=False
            Leave out the parameters that cannot change the model, such as `n_jobs`.

        Returns
        -------
        dict
            `parse` turns it back into an equal `Config`.

        Examples
        --------
        >>> Config(eval_metric="mae").to_dict()["eval_metric"]
        ['mae']
        >>> "n_jobs" in Config(n_jobs=2).to_dict(model_only=True)
        False
        """
        return values_of(self, table(), model_only=model_only)


def values_of(config: object, rows: Iterable[Row], *, model_only: bool) -> dict[str, object]:
    """Values of a configuration by name, in types that JSON knows; of `model_only`, those that a model's file holds."""
    values = [(row, getattr(config, row.name)) for row in rows]
    if model_only:
        values = [
            (row, one)
            for row, one in values
            if row.in_model and not (row.omit_default and one == row.default)
        ]
    return {row.name: _as_lists(one) for row, one in values}


def _as_lists(value: object) -> object:
    return [_as_lists(item) for item in value] if isinstance(value, tuple) else value


@cache
def _defaults() -> dict[str, object]:
    return {row.name: row.default for row in table()}


@cache
def table() -> tuple[Row, ...]:
    """Every row of the table, in the order of the documentation.

    Returns
    -------
    tuple of Row

    Examples
    --------
    >>> [row.aliases for row in table() if row.name == "learning_rate"]
    [('eta', 'shrinkage_rate')]
    """
    return tuple(row_of(parameter) for parameter in fields(Config))


def _row(name: str) -> Row:
    return next(row for row in table() if row.name == name)


def checked_jobs(value: object) -> int | None:
    """Return the number of threads of an argument, which is checked as the parameter n_jobs.

    Examples
    --------
    >>> checked_jobs(2), checked_jobs(-1)
    (2, None)
    """
    jobs = checked(_row("n_jobs"), value)
    assert jobs is None or isinstance(jobs, int)
    return jobs


def checked_seed(value: object, name: str = "seed") -> int:
    """Return the seed of an argument, which is checked and drawn as the parameter random_state.

    Raises
    ------
    ParameterTypeError
        If it is neither a whole number nor a RandomState, a Generator or None.
    ParameterError
        If it is out of range.

    Examples
    --------
    >>> checked_seed(7), checked_seed(None)
    (7, 0)
    """
    seed = checked(replace(_row("random_state"), name=name), value)
    assert isinstance(seed, int)
    return seed

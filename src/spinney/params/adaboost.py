"""The table of AdaBoost: every hyper-parameter of boosting by weights is one field of `AdaBoostConfig`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from spinney.params.config import values_of
from spinney.params.fields.adaboost import WeightFields
from spinney.params.fields.data import BinFields, MeaningFields
from spinney.params.fields.running import RunningFields
from spinney.params.forest import ForestConfig
from spinney.params.names import named_rows, spelled
from spinney.params.rows import Row, row_of
from spinney.params.validate import checked

SAMME = "samme"


@dataclass(frozen=True, kw_only=True)
class AdaBoostConfig(
    # Fields of bases stand in the opposite order: the last base has the first ones.
    RunningFields,
    MeaningFields,
    BinFields,
    WeightFields,
):
    """Every hyper-parameter of AdaBoost under its canonical name, checked. An `AdaBoostConfig` that exists is valid.

    Raises
    ------
    ParameterError
        If a value is out of range.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> config = AdaBoostConfig(loss="square", max_depth=None)
    >>> config.of_classes, config.max_depth
    (False, 0)
    """

    def __post_init__(self) -> None:
        for row in adaboost_table():
            object.__setattr__(self, row.name, checked(row, getattr(self, row.name)))

    @property
    def of_classes(self) -> bool:
        """Whether the loss is that of classes."""
        return self.loss == SAMME

    @property
    def absent_value(self) -> float:
        """The value that `absent` stands for: 0, or NaN, which is missing."""
        return math.nan if self.absent == "missing" else 0.0

    def of_trees(self) -> ForestConfig:
        """The parameters of one tree: all rows and all columns, weighted."""
        return ForestConfig(
            criterion="gini" if self.of_classes else "squared_error",
            max_depth=self.max_depth,
            bootstrap=False,
            max_bin=self.max_bin,
            absent=self.absent,
            unseen=self.unseen,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def to_dict(self, *, model_only: bool = False) -> dict[str, object]:
        """Return every value by canonical name, in types that JSON knows; `parse_adaboost` turns it back.

        Parameters
        ----------
        model_only : bool, default=False
            Leave out the parameters that cannot change the model, such as `n_jobs`.

        Returns
        -------
        dict

        Examples
        --------
        >>> AdaBoostConfig(learning_rate=0.5).to_dict()["learning_rate"]
        0.5
        """
        return values_of(self, adaboost_table(), model_only=model_only)


@cache
def adaboost_table() -> tuple[Row, ...]:
    """Every row of the table of AdaBoost, in the order of the documentation.

    Examples
    --------
    >>> [row.range for row in adaboost_table() if row.name == "learning_rate"]
    ['> 0']
    """
    return tuple(row_of(parameter) for parameter in fields(AdaBoostConfig))


def parse_adaboost(given: Mapping[str, object]) -> AdaBoostConfig:
    """Turn what was written into a checked configuration of AdaBoost.

    Parameters
    ----------
    given : mapping
        Parameters under any accepted spelling. What is not given takes its default.

    Returns
    -------
    AdaBoostConfig

    Raises
    ------
    ParameterError
        If a name is unknown or given twice, or a value is out of range.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> parse_adaboost({"loss": "linear", "seed": 7}).random_state
    7
    """
    named = named_rows(given, spelled(adaboost_table()), {})
    values: dict[str, Any] = {row.name: checked(row, value, name) for row, name, value in named}
    return AdaBoostConfig(**values)

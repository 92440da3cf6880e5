"""The table of isolation forests: every hyper-parameter of one is a field of `IsolationConfig`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from spinney.errors import ParameterError
from spinney.params.config import values_of
from spinney.params.fields.isolation import SampleFields, StrangerFields
from spinney.params.fields.running import RunningFields
from spinney.params.names import named_rows, spelled
from spinney.params.rows import Row, row_of
from spinney.params.validate import checked

AUTO_ROWS = 256


@dataclass(frozen=True, kw_only=True)
class IsolationConfig(
    # Fields of bases stand in the opposite order: the last base has the first ones.
    RunningFields,
    StrangerFields,
    SampleFields,
):
    """Every hyper-parameter of an isolation forest, checked. An `IsolationConfig` that exists is valid.

    Raises
    ------
    ParameterError
        If a value is out of range.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> config = IsolationConfig(max_samples=0.5, contamination=0.1)
    >>> config.rows_per_tree(100), config.columns_per_tree(28)
    (50, 28)
    """

    def __post_init__(self) -> None:
        for row in isolation_table():
            object.__setattr__(self, row.name, checked(row, getattr(self, row.name)))

    @property
    def absent_value(self) -> float:
        """The value that `absent` stands for: 0, or NaN, which is missing."""
        return math.nan if self.absent == "missing" else 0.0

    def rows_per_tree(self, rows: int) -> int:
        """Number of rows that each tree sees, of so many.

        Examples
        --------
        >>> [IsolationConfig(max_samples=given).rows_per_tree(300) for given in ("auto", 0.1, 1.0, 7, 999)]
        [256, 30, 300, 7, 300]
        """
        if self.max_samples == "auto":
            return min(AUTO_ROWS, rows)
        if isinstance(self.max_samples, float):
            return max(1, int(self.max_samples * rows))
        assert isinstance(self.max_samples, int)
        return min(self.max_samples, rows)

    def columns_per_tree(self, columns: int) -> int:
        """Number of columns that are drawn for each tree, of so many.

        Raises
        ------
        ParameterError
            If `max_features` is above the number of columns.

        Examples
        --------
        >>> [IsolationConfig(max_features=given).columns_per_tree(10) for given in (1.0, 0.25, 0.01, 7)]
        [10, 2, 1, 7]
        """
        if isinstance(self.max_features, float):
            return max(1, int(self.max_features * columns))
        if self.max_features > columns:
            raise ParameterError(
                f"max_features={self.max_features} is more than the {columns} columns of X: give 1 to {columns}, or a share "
                "above 0"
            )
        return self.max_features

    def to_dict(self, *, model_only: bool = False) -> dict[str, object]:
        """Return every value by canonical name, in types that JSON knows; `parse_isolation` turns it back.

        Parameters
        ----------
        model_only : bool, default=False
            Leave out the parameters that cannot change the model, such as `n_jobs`.
        """
        return values_of(self, isolation_table(), model_only=model_only)


@cache
def isolation_table() -> tuple[Row, ...]:
    """Every row of the table of isolation forests, in the order of the documentation.

    Examples
    --------
    >>> [row.range for row in isolation_table() if row.name == "contamination"]
    ['> 0 and <= 0.5, auto']
    """
    return tuple(row_of(parameter) for parameter in fields(IsolationConfig))


def parse_isolation(given: Mapping[str, object]) -> IsolationConfig:
    """Turn what was written into a checked configuration of an isolation forest.

    Raises
    ------
    ParameterError
        If a name is unknown or given twice, or a value is out of range.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> parse_isolation({"contamination": 0.25, "seed": 7}).random_state
    7
    """
    named = named_rows(given, spelled(isolation_table()), {})
    values: dict[str, Any] = {row.name: checked(row, value, name) for row, name, value in named}
    return IsolationConfig(**values)

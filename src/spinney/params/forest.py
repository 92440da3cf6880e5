"""The table of forests: every hyper-parameter of a random forest is one field of `ForestConfig`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from spinney.errors import ParameterError
from spinney.params.by_column import placed_directions
from spinney.params.config import values_of
from spinney.params.fields.data import BinFields, MeaningFields
from spinney.params.fields.forest import BagFields, CriterionFields, ForestTreeFields
from spinney.params.fields.running import RunningFields
from spinney.params.names import named_rows, spelled
from spinney.params.rows import INT32, Row, row_of
from spinney.params.validate import checked

CLASS_CRITERIA = ("gini", "entropy")


@dataclass(frozen=True, kw_only=True)
class ForestConfig(
    # Fields of bases stand in the opposite order: the last base has the first ones.
    RunningFields,
    MeaningFields,
    BinFields,
    BagFields,
    ForestTreeFields,
    CriterionFields,
):
    """Every hyper-parameter of a forest under its canonical name, checked. A `ForestConfig` that exists is valid.

    Raises
    ------
    ParameterError
        If a value is out of range or contradicts another one.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> config = ForestConfig(criterion="log_loss", max_features="sqrt")
    >>> config.criterion, config.columns_per_split(20)
    ('entropy', 4)
    """

    def __post_init__(self) -> None:
        for row in forest_table():
            object.__setattr__(self, row.name, checked(row, getattr(self, row.name)))
        if self.class_weight != "none" and not self.of_classes:
            raise ParameterError(
                f"class_weight={self.class_weight!r} needs classes, but criterion={self.criterion!r} is for numbers"
            )
        if not self.bootstrap and isinstance(self.max_samples, float) and self.max_samples > 1:
            raise ParameterError(
                f"max_samples={self.max_samples} asks for more rows than there are, which bootstrap=False cannot draw: give a "
                "share of 1 at most, or bootstrap=True"
            )

    @property
    def of_classes(self) -> bool:
        """Whether the criterion is one for classes."""
        return self.criterion in CLASS_CRITERIA

    @property
    def draws_rows(self) -> bool:
        """Whether a tree sees a bag of drawn rows; else it sees each row once."""
        return self.bootstrap or self.max_samples is not None

    @property
    def absent_value(self) -> float:
        """The value that `absent` stands for: 0, or NaN, which is missing."""
        return math.nan if self.absent == "missing" else 0.0

    def columns_per_split(self, columns: int) -> int:
        """Number of columns that are drawn for a split, of so many.

        Raises
        ------
        ParameterError
            If `max_features` is above the number of columns.

        Examples
        --------
        >>> [ForestConfig(max_features=given).columns_per_split(10) for given in ("sqrt", "log2", 0.25, 7, None)]
        [3, 3, 2, 7, 10]
        """
        wanted = self.max_features
        if wanted is None:
            return columns
        if wanted == "sqrt":
            return max(1, math.isqrt(columns))
        if wanted == "log2":
            return max(1, columns.bit_length() - 1)
        if isinstance(wanted, float):
            return max(1, int(wanted * columns))
        assert isinstance(wanted, int)
        if wanted > columns:
            raise ParameterError(
                f"max_features={wanted} is more than the {columns} columns of X: give 1 to {columns}, a share above 0, 'sqrt', "
                "'log2' or None for all"
            )
        return wanted

    def rows_per_tree(self, rows: int) -> int:
        """Number of rows that are drawn for a tree, of so many.

        Raises
        ------
        ParameterError
            If `max_samples` is above the number of rows, and rows are drawn without replacement; or far above it.

        Examples
        --------
        >>> [ForestConfig(max_samples=given).rows_per_tree(10) for given in (None, 0.25, 1.0, 3, 1.5)]
        [10, 2, 10, 3, 15]
        """
        wanted = self.max_samples
        if wanted is None:
            return rows
        asked = wanted if isinstance(wanted, int) else max(1.0, wanted * rows)
        if self.bootstrap and asked > INT32:
            raise ParameterError(
                f"max_samples={wanted} draws {asked:.4g} of {rows} rows; give 2**31 - 1 at most"
            )
        drawn = int(asked)
        if drawn > rows and not self.bootstrap:
            raise ParameterError(
                f"max_samples={wanted} is more than the {rows} rows of X, which bootstrap=False cannot draw: give {rows} at "
                "most, or bootstrap=True"
            )
        return drawn

    def least_leaf(self, rows: int) -> int:
        """Fewest rows of a leaf, in a table of so many.

        Examples
        --------
        >>> ForestConfig(min_samples_leaf=0.01).least_leaf(150)
        2
        """
        wanted = self.min_samples_leaf
        return math.ceil(wanted * rows) if isinstance(wanted, float) else wanted

    def least_split(self, rows: int) -> int:
        """Fewest rows of a node that is split, in a table of so many: two leaves must fit as well.

        Examples
        --------
        >>> ForestConfig(min_samples_leaf=5).least_split(150)
        10
        """
        wanted = self.min_samples_split
        fewest = max(2, math.ceil(wanted * rows)) if isinstance(wanted, float) else wanted
        return max(fewest, 2 * self.least_leaf(rows))

    def placed(
        self, names: Sequence[str] | None, columns: int, categorical: Iterable[int] = ()
    ) -> ForestConfig:
        """The same with one direction a column in `monotonic_cst`, for a table that has these columns.

        Raises
        ------
        ParameterError
            If a column is unknown or named twice, there are too few or too many values, or a categorical column has a
            direction.
        """
        if self.monotonic_cst is None:
            return self
        found = placed_directions("monotonic_cst", self.monotonic_cst, names, columns, categorical)
        return replace(self, monotonic_cst=found)

    def to_dict(self, *, model_only: bool = False) -> dict[str, object]:
        """Return every value by canonical name, in types that JSON knows.

        Parameters
        ----------
        model_only : bool, default=False
            Leave out the parameters that cannot change the model, such as `n_jobs`.

        Returns
        -------
        dict
            `parse_forest` turns it back into an equal `ForestConfig`.

        Examples
        --------
        >>> ForestConfig(max_features=0.5).to_dict()["max_features"]
        0.5
        """
        return values_of(self, forest_table(), model_only=model_only)


@cache
def forest_table() -> tuple[Row, ...]:
    """Every row of the table of forests, in the order of the documentation.

    Examples
    --------
    >>> [row.range for row in forest_table() if row.name == "min_samples_leaf"]
    ['an int >= 1 and <= 2**63 - 1, a float > 0 and < 1']
    """
    return tuple(row_of(parameter) for parameter in fields(ForestConfig))


def parse_forest(given: Mapping[str, object]) -> ForestConfig:
    """Turn what was written into a checked configuration of a forest.

    Parameters
    ----------
    given : mapping
        Parameters under any accepted spelling. What is not given takes its default.

    Returns
    -------
    ForestConfig

    Raises
    ------
    ParameterError
        If a name is unknown or given twice, or a value is out of range or contradicts another one.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> parse_forest({"criterion": "gini", "seed": 7}).random_state
    7
    """
    named = named_rows(given, spelled(forest_table()), {})
    values: dict[str, Any] = {row.name: checked(row, value, name) for row, name, value in named}
    return ForestConfig(**values)

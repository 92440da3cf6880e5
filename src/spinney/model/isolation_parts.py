"""What a model of an isolation forest is made of, checked once when it is put together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from reprlib import repr as short_repr

from spinney.data import Schema
from spinney.errors import ModelFormatError, ParameterError
from spinney.model.ensemble import check_schema
from spinney.params import IsolationConfig
from spinney.tree import Forest
from spinney.tree.isolation import check_isolation, with_path_lengths


@dataclass(frozen=True, eq=False)
class IsolationParts:
    """The parts of an isolation forest. One that exists is sound: a wrong part is refused when it is put together.

    Attributes
    ----------
    forest : Forest
        The trees, through arrays that cannot be written to. A node's value is its depth and the average path length of its rows.
    params : IsolationConfig
        The parameters the forest was trained with.
    schema : Schema
        The columns of the training table.
    rows, rows_per_tree : int
        Rows of the training table, and how many of them each tree saw.
    offset : float
        A row whose score is below it is called abnormal.
    """

    forest: Forest
    params: IsolationConfig
    schema: Schema
    rows: int
    rows_per_tree: int
    offset: float

    def __post_init__(self) -> None:
        for name, found in (("rows", self.rows), ("rows_per_tree", self.rows_per_tree)):
            if type(found) is not int or not 1 <= found < 2**53:
                raise ModelFormatError(f"{name} must be a whole number from 1, not {short_repr(found)}")
        if self.rows_per_tree > self.rows:
            raise ModelFormatError(
                f"a tree cannot have seen {self.rows_per_tree} rows of a table of {self.rows}"
            )
        if type(self.offset) is not float or not (math.isfinite(self.offset) and -1.0 <= self.offset <= 0.0):
            raise ModelFormatError(f"offset must be a number from -1 to 0, not {short_repr(self.offset)}")
        check_schema(self.schema)
        check_isolation(self.forest, self.schema.columns, self.rows_per_tree, self.schema.category_counts)
        try:
            self.params.columns_per_tree(self.schema.columns)
        except ParameterError as error:
            raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
        # What was checked must stay as it was: kernels walk these arrays without looking.
        sound = with_path_lengths(self.forest, self.rows_per_tree).read_only()
        object.__setattr__(self, "forest", sound)

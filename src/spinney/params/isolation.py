"""The parameters of isolation forests: `IsolationConfig`."""

from __future__ import annotations

from dataclasses import dataclass

from spinney.errors import ParameterError
from spinney.params.common import UNSEEN, RunningParameters, TableParameters
from spinney.params.parameter import INT32, Bool, Bounds, Choice, CountOrShare, Float
from spinney.params.parameter_set import ParameterSet

AUTO_ROWS = 256


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SampleParameters(ParameterSet):
    """What a tree sees."""

    max_samples: int | float | str = CountOrShare(
        "auto",
        group="sampling",
        low=1,
        high=INT32,
        share=Bounds(low=0, high=1, low_open=True),
        choices={"auto": ()},
        doc="Rows that are drawn for each tree: so many, or a share of the rows (rounded down, at least 1). auto draws 256. "
        "Where there are fewer rows than that, each tree sees all of them.",
    )
    contamination: float | str = Float(
        "auto",
        group="evaluation",
        low=0,
        high=0.5,
        low_open=True,
        choices={"auto": ()},
        doc="Share of the training rows that is called abnormal: it sets offset_. auto sets it to -0.5, the score of a row whose "
        "path is as long as the average.",
    )
    max_features: int | float = CountOrShare(
        1.0,
        group="sampling",
        low=1,
        high=INT32,
        share=Bounds(low=0, high=1, low_open=True),
        doc="Columns that are drawn for each tree: so many, or a share of them (rounded down, at least 1).",
    )
    bootstrap: bool = Bool(
        False,
        group="sampling",
        doc="Whether the rows of a tree are drawn with replacement. A row that is drawn again counts again.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OutlierParameters(TableParameters):
    """What the values of a table mean that training did not see: by default not the most frequent ones."""

    unseen: str = Choice(
        "rarest",
        group="data",
        choices=UNSEEN,
        doc="What a category means that training did not see: a missing value, an error, or the rarest category.",
    )


@dataclass(frozen=True, kw_only=True)
class IsolationConfig(
    # Fields of bases stand in the opposite order: the last base has the first ones.
    RunningParameters,
    OutlierParameters,
    SampleParameters,
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

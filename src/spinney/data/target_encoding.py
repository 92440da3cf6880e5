"""Target encodings: columns of numbers that stand for columns of categories, made from the target during a training.

`TargetEncoding` is the part of a model that encodes any table, and `EncodedFeature` one column, or a pair of columns, that is
encoded. Both are fitted in `spinney.target_encoding.fit`. The arrays are called as in model files, `statistic_source` and so on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spinney.data.schema import MOST_COLUMNS, Schema
from spinney.data.table import Panel, Table, column_title
from spinney.errors import ModelFormatError

COUNT = -1  # in place of an output: the weight of the rows that have a category
NO_OTHER = -1  # in place of a second column
TARGET_ENCODING_DTYPES: dict[str, np.dtype[Any]] = {
    "source": np.dtype(np.int32),
    "other": np.dtype(np.int32),
    "sizes": np.dtype(np.int64),
    "seen": np.dtype(np.int64),
    "output": np.dtype(np.int32),
    "values": np.dtype(np.float64),
}

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EncodedFeature:
    """A feature that is encoded: a column of categories, or a pair of them.

    Attributes
    ----------
    columns : tuple of int
        The column, or both.
    size : int
        Number of categories, or of pairs of categories that some training row has.
    width : int
        Of a pair: the number of categories of its second column, plus one for missing values. Else 1.
    observed_pairs : int64[size], optional
        Of a pair: the keys of these pairs of categories, ascending. The key of a row is its category's number in the first
        column times the width, plus that in the second.

    Examples
    --------
    >>> pair = EncodedFeature((0, 2), 2, 4, np.array([3, 6]))
    >>> pair.number({0: np.array([1, 0, 0]), 2: np.array([2, 3, 1])}).tolist()
    [1, 0, 2]
    """

    columns: tuple[int, ...]
    size: int
    width: int = 1
    observed_pairs: Numbers | None = None

    def key(self, numbers: Mapping[int, Numbers]) -> Numbers:
        """The key of each row's pair of categories."""
        first, second = self.columns
        return numbers[first] * self.width + numbers[second]

    def number(self, numbers: Mapping[int, Numbers]) -> Numbers:
        """Number of the category, or pair, of each row: below the size, or the size where no training row has it.

        `numbers` are those of the rows' categories, by column.
        """
        if self.observed_pairs is None:
            return numbers[self.columns[0]]
        key = self.key(numbers)
        place = np.searchsorted(self.observed_pairs, key)
        found: Numbers = np.where(
            self.observed_pairs[np.minimum(place, self.size - 1)] == key, place, self.size
        )
        return found


@dataclass(frozen=True, eq=False)
class TargetEncoding:
    """Encoded columns. They stand behind those of the table: all outputs of a feature, then those of the next.

    Attributes
    ----------
    columns : int
        Columns of the table.
    counts : int64[columns]
        How many categories each of them has, 0 for a column of numbers.
    source : int32[features]
        The column of categories that is encoded, or the first of a pair.
    other : int32[features]
        The second column of a pair, which stands behind the first in the table; NO_OTHER where there is none.
    sizes : int64[features]
        Number of categories, or of pairs of categories that some training row has.
    seen : int64
        The `observed_pairs` of all pairs of columns, see `EncodedFeature`.
    output : int32[outputs]
        The class, or column of the target, of which the encoded column has the mean; or COUNT.
    values : float64
        For each encoded column: a number for every category, then one for missing values. Of a pair: one for each observed pair,
        then one for all others.

    Examples
    --------
    >>> values = [np.array([0.5, 0.1, 0.9, 0.4])]
    >>> encoding = TargetEncoding.from_features(2, np.array([0, 3]), [EncodedFeature((1,), 3)], [0], values)
    >>> encoding.values_of(0).tolist()
    [0.5, 0.1, 0.9, 0.4]
    >>> encoding.titles(("age", "city"))
    ('city: mean of y',)
    """

    columns: int
    counts: Numbers
    source: NDArray[np.int32]
    other: NDArray[np.int32]
    sizes: Numbers
    seen: Numbers
    output: NDArray[np.int32]
    values: NDArray[np.float64]

    @classmethod
    def from_features(
        cls,
        columns: int,
        counts: Numbers,
        features: Sequence[EncodedFeature],
        outputs: Sequence[int],
        values: Sequence[NDArray[np.float64]],
    ) -> Self:
        """The encoding of some features; `values` are those of each encoded column."""
        seen = [one.observed_pairs for one in features if one.observed_pairs is not None]
        return cls(
            columns,
            counts,
            np.array([one.columns[0] for one in features], np.int32),
            np.array([(*one.columns, NO_OTHER)[1] for one in features], np.int32),
            np.array([one.size for one in features], np.int64),
            np.concatenate([np.zeros(0, np.int64), *seen]),
            np.array(outputs, np.int32),
            np.concatenate(values),
        )

    @property
    def encoded_count(self) -> int:
        """Number of encoded columns."""
        return len(self.source) * len(self.output)

    @cached_property
    def features(self) -> tuple[EncodedFeature, ...]:
        """The features that are encoded."""
        sizes = np.where(self.other == NO_OTHER, 0, self.sizes)
        seen = np.split(self.seen, np.cumsum(sizes)[:-1])
        return tuple(
            EncodedFeature((first,), size)
            if second == NO_OTHER
            else EncodedFeature((first, second), size, int(self.counts[second]) + 1, pairs)
            for first, second, size, pairs in zip(
                self.source.tolist(), self.other.tolist(), self.sizes.tolist(), seen, strict=True
            )
        )

    def feature_of(self, place: int) -> EncodedFeature:
        """The feature of one of the encoded columns."""
        return self.features[place // len(self.output)]

    @cached_property
    def _starts(self) -> Numbers:
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.repeat(self.sizes + 1, len(self.output)))])

    def values_of(self, place: int) -> NDArray[np.float64]:
        """Values of one of the encoded columns, by the row's `EncodedFeature.number`."""
        return self.values[self._starts[place] : self._starts[place + 1]]

    def add_encoded(self, table: Table) -> Table:
        """A table whose categories are numbers, with the encoded columns behind its own."""
        encoded = np.empty((table.rows, self.encoded_count))
        numbers = self.numbers(table)
        for at, feature in enumerate(self.features):
            number = feature.number(numbers)
            for place in range(at * len(self.output), (at + 1) * len(self.output)):
                encoded[:, place] = self.values_of(place)[number]
        names = None if table.names is None else (*table.names, *self.titles(table.names))
        panels = (*table.panels, Panel(self.columns, encoded))
        return Table(table.rows, self.columns + self.encoded_count, names, panels)

    def numbers(self, table: Table) -> dict[int, Numbers]:
        """Number of the category of every row, in each column that is encoded."""
        found: dict[int, Numbers] = {}
        for column in sorted({column for feature in self.features for column in feature.columns}):
            panel = next(one for one in table.panels if one.first <= column < one.first + one.columns)
            values = panel.values[:, column - panel.first]
            found[column] = np.where(np.isnan(values), self.counts[column], values).astype(np.int64)
        return found

    def all_counts(self, counts: Numbers | None) -> Numbers | None:
        """Number of categories of every column, 0 for encoded ones."""
        return None if counts is None else np.concatenate([counts, np.zeros(self.encoded_count, np.int64)])

    def columns_behind(self) -> Numbers:
        """The two columns of the table behind every column, (2, all columns): those of its feature, or itself twice."""
        table = np.arange(self.columns)
        other = np.where(self.other == NO_OTHER, self.source, self.other)
        encoded = np.repeat([self.source, other], len(self.output), axis=1).astype(np.int64)
        return np.concatenate([[table, table], encoded], axis=1)

    def with_encoded(self, columns: Iterable[int], share: bool = False) -> tuple[int, ...]:
        """Some columns of the table, and the encoded columns of them alone.

        With `share` also those of a pair of which one column is among them.
        """
        chosen = tuple(columns)
        enough = any if share else all
        encoded = [
            self.columns + place
            for place in range(self.encoded_count)
            if enough(column in chosen for column in self.feature_of(place).columns)
        ]
        return (*chosen, *encoded)

    def reordered(
        self, numbers: Mapping[int, Numbers], column: int, moved: Collection[int], order: NDArray[Any]
    ) -> NDArray[np.float64] | None:
        """Values of an encoded column where rows have some columns in another order, but not all columns of its feature.

        `numbers` are those of their categories. None for any other column: all of it is in that order.
        """
        if column < self.columns:
            return None
        feature = self.feature_of(column - self.columns)
        if all(one in moved for one in feature.columns):
            return None
        parted = {one: numbers[one][order] if one in moved else numbers[one] for one in feature.columns}
        return self.values_of(column - self.columns)[feature.number(parted)]

    def titles(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Names of the encoded columns."""
        several = int(self.output.max(initial=0)) > 0
        titles = []
        for feature in self.features:
            title = " & ".join(
                column_title(None, column) if names is None else names[column] for column in feature.columns
            )
            for output in self.output.tolist():
                of = f"mean of y, {output}" if several else "mean of y"
                titles.append(f"{title}: {'rows' if output == COUNT else of}")
        return tuple(titles)

    def same(self, other: TargetEncoding) -> bool:
        """Whether both hold the same numbers."""
        mine, theirs = self.arrays(), other.arrays()
        return np.array_equal(self.counts, other.counts) and all(
            mine[name].tobytes() == theirs[name].tobytes() for name in mine
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that a file holds, by name."""
        return {name: getattr(self, name) for name in TARGET_ENCODING_DTYPES}

    def read_only(self) -> Self:
        """A copy whose arrays cannot be written to."""
        found = {name: array.copy() for name, array in self.arrays().items()}
        for array in found.values():
            array.flags.writeable = False
        return type(self)(self.columns, self.counts, **found)

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The encoding of a file's arrays, once they are checked; see `check`."""
        counts = schema.category_counts
        known = np.zeros(schema.columns, np.int64) if counts is None else counts
        found = cls(schema.columns, known, **arrays)
        found.check(schema)
        return found

    def check(self, schema: Schema, outputs: int = MOST_COLUMNS) -> None:
        """Refuse encoded columns that do not fit the columns of a schema, or a model of so many outputs."""
        counts = schema.category_counts
        if counts is None or self.columns != schema.columns or not np.array_equal(self.counts, counts):
            raise ModelFormatError("target encodings are of other columns of categories than the model has")
        for name, dtype in TARGET_ENCODING_DTYPES.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.ndim != 1:
                raise ModelFormatError(f"the array 'statistic_{name}' must be one row of {dtype}")
        self._check_features()
        if not len(self.output) or (self.output < COUNT).any() or (self.output >= outputs).any():
            raise ModelFormatError(
                f"the array 'statistic_output' must hold one number or more, each from {COUNT} to below {outputs}"
            )
        if schema.columns + len(self.source) * len(self.output) > MOST_COLUMNS:
            raise ModelFormatError("target encodings are too many columns")
        wanted = (sum(self.sizes.tolist()) + len(self.sizes)) * len(self.output)
        if len(self.values) != wanted:
            raise ModelFormatError(
                f"the array 'statistic_values' has {len(self.values)} entries; one for every category makes {wanted}"
            )
        if not np.isfinite(self.values).all():
            raise ModelFormatError("the array 'statistic_values' must hold finite numbers")

    def _check_features(self) -> None:
        """Refuse features that no table has."""
        source, other, sizes, counts = self.source, self.other, self.sizes, self.counts
        if not len(source) or len(other) != len(source) or len(sizes) != len(source):
            raise ModelFormatError(
                f"the arrays 'statistic_source', 'statistic_other' and 'statistic_sizes' have {len(source)}, {len(other)} and "
                f"{len(sizes)} entries; they must have as many, one or more"
            )
        paired = other != NO_OTHER
        for name, named in (("source", source), ("other", other[paired])):
            if (named < 0).any() or (named >= len(counts)).any() or not counts[named].all():
                raise ModelFormatError(f"the array 'statistic_{name}' must name columns of categories")
        if (other[paired] <= source[paired]).any():
            raise ModelFormatError(
                "the array 'statistic_other' must name columns behind those of 'statistic_source'"
            )
        if (sizes < 1).any() or (sizes[~paired] != counts[source[~paired]]).any():
            raise ModelFormatError("the array 'statistic_sizes' must hold the numbers of categories")
        if sum(sizes[paired].tolist()) != len(self.seen):
            raise ModelFormatError(
                f"the array 'statistic_seen' has {len(self.seen)} entries; 'statistic_sizes' make {sum(sizes[paired].tolist())}"
            )
        for one in self.features:
            if one.observed_pairs is not None:
                _check_pairs(one.observed_pairs, (int(counts[one.columns[0]]) + 1) * one.width)


def _check_pairs(keys: Numbers, pairs: int) -> None:
    """Refuse keys of pairs of categories that do not exist, or do not ascend."""
    if keys[0] < 0 or keys[-1] >= pairs or (keys[1:] <= keys[:-1]).any():
        raise ModelFormatError(
            f"the array 'statistic_seen' must ascend for every pair of columns, from 0 to below {pairs}"
        )

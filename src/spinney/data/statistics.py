"""Statistics of the target by category: columns of numbers that a training makes beside those of the table."""

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

COUNT = -1  # in the place of an output: the weight of the rows that a category has
NO_OTHER = -1  # in the place of a second column
STATISTICS_DTYPES: dict[str, np.dtype[Any]] = {
    "source": np.dtype(np.int32),
    "other": np.dtype(np.int32),
    "sizes": np.dtype(np.int64),
    "seen": np.dtype(np.int64),
    "output": np.dtype(np.int32),
    "values": np.dtype(np.float64),
}

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Source:
    """What columns are made from: a column of categories, or a pair of them.

    Attributes
    ----------
    columns : tuple of int
        The column, or both.
    size : int
        Categories, or pairs of categories that some row had.
    width : int
        Of a pair: categories of its second column, and one for missing values. Else 1.
    seen : int64[size], optional
        Of a pair: these pairs as numbers, ascending. That of a row is its category's number in the first column times the width,
        plus that in the second.

    Examples
    --------
    >>> pair = Source((0, 2), 2, 4, np.array([3, 6]))
    >>> pair.number({0: np.array([1, 0, 0]), 2: np.array([2, 3, 1])}).tolist()
    [1, 0, 2]
    """

    columns: tuple[int, ...]
    size: int
    width: int = 1
    seen: Numbers | None = None

    def key(self, numbers: Mapping[int, Numbers]) -> Numbers:
        """Pairs of categories as numbers."""
        first, second = self.columns
        return numbers[first] * self.width + numbers[second]

    def number(self, numbers: Mapping[int, Numbers]) -> Numbers:
        """What each row has, by the numbers of its categories: a number below the size, or the size for what was not seen."""
        if self.seen is None:
            return numbers[self.columns[0]]
        key = self.key(numbers)
        place = np.searchsorted(self.seen, key)
        found: Numbers = np.where(self.seen[np.minimum(place, self.size - 1)] == key, place, self.size)
        return found


@dataclass(frozen=True, eq=False)
class Statistics:
    """Columns that were made from a target. They stand behind those of the table: all outputs of a source, then of the next.

    Attributes
    ----------
    columns : int
        Columns of the table.
    counts : int64[columns]
        How many categories each of them has, 0 for a column of numbers.
    source : int32[sources]
        The column of categories that some were made from, or the first of a pair.
    other : int32[sources]
        The second column of a pair, which stands behind the first in the table; NO_OTHER where there is none.
    sizes : int64[sources]
        Categories, or pairs of categories that some row had.
    seen : int64
        For each pair of columns these pairs: see `Source`.
    output : int32[outputs]
        The class, or column of the target, whose mean is told; or COUNT.
    values : float64
        For each made column: a number for every category, then one for missing values. Of a pair: one for each that was seen,
        then one for all others.

    Examples
    --------
    >>> made = Statistics.of_sources(2, np.array([0, 3]), [Source((1,), 3)], [0], [np.array([0.5, 0.1, 0.9, 0.4])])
    >>> made.of(0).tolist()
    [0.5, 0.1, 0.9, 0.4]
    >>> made.titles(("age", "city"))
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
    def of_sources(
        cls,
        columns: int,
        counts: Numbers,
        sources: Sequence[Source],
        outputs: Sequence[int],
        values: Sequence[NDArray[np.float64]],
    ) -> Self:
        """Put them together; `values` are those of each made column."""
        seen = [source.seen for source in sources if source.seen is not None]
        return cls(
            columns,
            counts,
            np.array([source.columns[0] for source in sources], np.int32),
            np.array([(*source.columns, NO_OTHER)[1] for source in sources], np.int32),
            np.array([source.size for source in sources], np.int64),
            np.concatenate([np.zeros(0, np.int64), *seen]),
            np.array(outputs, np.int32),
            np.concatenate(values),
        )

    @property
    def made(self) -> int:
        """How many columns were made."""
        return len(self.source) * len(self.output)

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """What they were made from."""
        sizes = np.where(self.other == NO_OTHER, 0, self.sizes)
        seen = np.split(self.seen, np.cumsum(sizes)[:-1])
        return tuple(
            Source((first,), size)
            if second == NO_OTHER
            else Source((first, second), size, int(self.counts[second]) + 1, pairs)
            for first, second, size, pairs in zip(
                self.source.tolist(), self.other.tolist(), self.sizes.tolist(), seen, strict=True
            )
        )

    def source_of(self, place: int) -> Source:
        """What one of the made columns was made from."""
        return self.sources[place // len(self.output)]

    @cached_property
    def _starts(self) -> Numbers:
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.repeat(self.sizes + 1, len(self.output)))])

    def of(self, place: int) -> NDArray[np.float64]:
        """Values of one of the made columns, by what its source says of a row."""
        return self.values[self._starts[place] : self._starts[place + 1]]

    def widen(self, table: Table) -> Table:
        """A table whose categories are numbers, with the made columns behind its own."""
        made = np.empty((table.rows, self.made))
        numbers = self.numbers(table)
        for at, source in enumerate(self.sources):
            number = source.number(numbers)
            for place in range(at * len(self.output), (at + 1) * len(self.output)):
                made[:, place] = self.of(place)[number]
        names = None if table.names is None else (*table.names, *self.titles(table.names))
        panels = (*table.panels, Panel(self.columns, made))
        return Table(table.rows, self.columns + self.made, names, panels)

    def numbers(self, table: Table) -> dict[int, Numbers]:
        """Number of the category of every row, in each column that something was made from."""
        found: dict[int, Numbers] = {}
        for column in sorted({column for source in self.sources for column in source.columns}):
            panel = next(one for one in table.panels if one.first <= column < one.first + one.columns)
            values = panel.values[:, column - panel.first]
            found[column] = np.where(np.isnan(values), self.counts[column], values).astype(np.int64)
        return found

    def all_counts(self, counts: Numbers | None) -> Numbers | None:
        """Categories of every column, made ones included, which have none."""
        return None if counts is None else np.concatenate([counts, np.zeros(self.made, np.int64)])

    def sources_of_all(self) -> Numbers:
        """The two columns of the table behind every column, (2, all columns): what it was made from, or itself twice."""
        table = np.arange(self.columns)
        other = np.where(self.other == NO_OTHER, self.source, self.other)
        made = np.repeat([self.source, other], len(self.output), axis=1).astype(np.int64)
        return np.concatenate([[table, table], made], axis=1)

    def with_made(self, columns: Iterable[int], share: bool = False) -> tuple[int, ...]:
        """Some columns of the table, and what was made from them alone; or also what was made of one of them and another."""
        chosen = tuple(columns)
        enough = any if share else all
        made = [
            self.columns + place
            for place in range(self.made)
            if enough(column in chosen for column in self.source_of(place).columns)
        ]
        return (*chosen, *made)

    def reordered(
        self, numbers: Mapping[int, Numbers], column: int, moved: Collection[int], order: NDArray[Any]
    ) -> NDArray[np.float64] | None:
        """A made column of rows of which some columns, but not all that it was made from, are in another order.

        `numbers` are those of their categories. None for any other column: it is in that order as a whole.
        """
        if column < self.columns:
            return None
        source = self.source_of(column - self.columns)
        if all(one in moved for one in source.columns):
            return None
        parted = {one: numbers[one][order] if one in moved else numbers[one] for one in source.columns}
        return self.of(column - self.columns)[source.number(parted)]

    def titles(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """What the made columns are called."""
        several = int(self.output.max(initial=0)) > 0
        words = []
        for source in self.sources:
            title = " & ".join(
                column_title(None, column) if names is None else names[column] for column in source.columns
            )
            for output in self.output.tolist():
                of = f"mean of y, {output}" if several else "mean of y"
                words.append(f"{title}: {'rows' if output == COUNT else of}")
        return tuple(words)

    def same(self, other: Statistics) -> bool:
        """Whether both hold the same numbers."""
        mine, theirs = self.arrays(), other.arrays()
        return np.array_equal(self.counts, other.counts) and all(
            mine[name].tobytes() == theirs[name].tobytes() for name in mine
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file holds of them, by name."""
        return {name: getattr(self, name) for name in STATISTICS_DTYPES}

    def read_only(self) -> Self:
        """The same through arrays that cannot be written to."""
        found = {name: array.copy() for name, array in self.arrays().items()}
        for array in found.values():
            array.flags.writeable = False
        return type(self)(self.columns, self.counts, **found)

    @classmethod
    def of_schema(cls, schema: Schema, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Put together what a file holds, trusting nothing: see `check`."""
        counts = schema.category_counts
        known = np.zeros(schema.columns, np.int64) if counts is None else counts
        found = cls(schema.columns, known, **arrays)
        found.check(schema)
        return found

    def check(self, schema: Schema, outputs: int = MOST_COLUMNS) -> None:
        """Refuse columns that cannot have been made from those of a schema, for a model of so many outputs."""
        counts = schema.category_counts
        if counts is None or self.columns != schema.columns or not np.array_equal(self.counts, counts):
            raise ModelFormatError(
                "statistics of the target are of other columns of categories than the model has"
            )
        for name, dtype in STATISTICS_DTYPES.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.ndim != 1:
                raise ModelFormatError(f"the array 'statistic_{name}' must be one row of {dtype}")
        self._check_sources()
        if not len(self.output) or (self.output < COUNT).any() or (self.output >= outputs).any():
            raise ModelFormatError(
                f"the array 'statistic_output' must hold one number or more, each from {COUNT} to below {outputs}"
            )
        if schema.columns + len(self.source) * len(self.output) > MOST_COLUMNS:
            raise ModelFormatError("statistics of the target are too many columns")
        wanted = (sum(self.sizes.tolist()) + len(self.sizes)) * len(self.output)
        if len(self.values) != wanted:
            raise ModelFormatError(
                f"the array 'statistic_values' has {len(self.values)} entries; one for every category makes {wanted}"
            )
        if not np.isfinite(self.values).all():
            raise ModelFormatError("the array 'statistic_values' must hold finite numbers")

    def _check_sources(self) -> None:
        """Refuse sources that no table has."""
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
        for one in self.sources:
            if one.seen is not None:
                _check_seen(one.seen, (int(counts[one.columns[0]]) + 1) * one.width)


def _check_seen(seen: Numbers, pairs: int) -> None:
    """Refuse pairs of categories that there are not, or that do not ascend."""
    if seen[0] < 0 or seen[-1] >= pairs or (seen[1:] <= seen[:-1]).any():
        raise ModelFormatError(
            f"the array 'statistic_seen' must ascend for every pair of columns, from 0 to below {pairs}"
        )

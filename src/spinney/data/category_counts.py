"""Counting the categories of a training table, which may come in batches, and the `Schema` that follows (`find_schema`)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spinney.data.categories import (
    COVERED,
    MOST_KEPT,
    NUMBERS,
    Categories,
    Category,
    category_codes,
    kind_of,
    read_as_numbers,
)
from spinney.data.schema import Schema
from spinney.data.table import Panel, Table, column_title
from spinney.errors import DataError, DataTypeError


def find_schema(
    table: Table,
    named: Collection[int],
    weight: NDArray[np.float64] | None,
    max_bin: int,
    known: Schema | None = None,
    *,
    strict: bool = True,
) -> Schema:
    """The columns of a training table, with the categories of those that are categorical.

    Parameters
    ----------
    table : Table
        Columns of text or categories are categorical.
    named : collection of int
        Columns of whole numbers, dates, times or intervals that are categorical too.
    weight : float64[rows], optional
        Rows of weight 0 do not count.
    max_bin : int
        Up to so many categories are all kept; of more, the most frequent that together make up 99 % of the rows with
        a value, and at least so many. A column never keeps more than 65 000.
    known : Schema, optional
        The columns of a model that training continues. Categories are then counted only in columns without values there.
    strict : bool
        Whether a column of text that all reads as numbers must be among the named ones, or be of a type of categories.

    Returns
    -------
    Schema
        The columns.
    """
    if known is not None and not known.empty:
        return known
    counts = CategoryCounts(table.names, table.columns, named, None if known is None else known.empty)
    counts.add(table, weight)
    found = counts.found(max_bin, strict=strict)
    return Schema(table.names, table.columns, found) if known is None else known.filled(found)


@dataclass
class _Column:
    """The counts of a column so far."""

    counts: dict[Category, int] = field(default_factory=dict)
    panel: Panel | None = None  # the first one with categories, without its values
    declared: bool = True  # whether the type of every batch is one of categories
    empty: bool = False  # a batch held no value, and its type allows anything in others
    numbers: bool = False  # a batch held numbers


class CategoryCounts:
    """Counts the categories of a table that comes in batches. The result is that of the whole table.

    Parameters
    ----------
    names : tuple of str, or None
        Names of the columns.
    columns : int
        Number of columns.
    named : collection of int
        Columns whose numbers, dates, times or intervals are categories.
    among : collection of int, optional
        The columns to count in; without it all.

    Examples
    --------
    >>> import pandas
    >>> from spinney.data import read_table
    >>> counts = CategoryCounts(("tree",), 1, ())
    >>> for trees in (["oak", "ash"], ["ash", "elm"]):
    ...     counts.add(read_table(pandas.DataFrame({"tree": trees})), None)
    >>> counts.found(255)[0].values
    ('ash', 'elm', 'oak')
    """

    def __init__(
        self,
        names: tuple[str, ...] | None,
        columns: int,
        named: Collection[int],
        among: Collection[int] | None = None,
    ) -> None:
        self._names, self._named = names, named
        self._among = frozenset(range(columns) if among is None else among)
        self._columns = [_Column() for _ in range(columns)]
        self._sparse = False

    def add(self, table: Table, weight: NDArray[np.float64] | None) -> None:
        """Count the categories of a batch; rows of weight 0 do not count."""
        if table.sparse is not None:
            if self._named:
                raise DataTypeError(
                    "a sparse table cannot have categorical columns: give it dense, or one-hot"
                )
            self._sparse = True
            return
        counted = None if weight is None else weight > 0.0
        for panel in table.panels:
            for k in range(panel.columns):
                self._add(panel, k, counted)

    def _add(self, panel: Panel, k: int, counted: NDArray[np.bool_] | None) -> None:
        column = panel.first + k
        if column not in self._among:
            return
        known, named = self._columns[column], column in self._named
        if panel.categories is None and not named:
            if known.numbers or _has_value(panel.values[:, k]):
                self._take_numbers(column)
            elif panel.any_kind:
                known.empty = True
            return
        if panel.refused and not named:
            raise DataTypeError(f"{panel.refused}; or {self._naming(column)} if its values are categories")
        known.empty = True
        codes, values = category_codes(panel, k, self._title(column), training=True)
        if not len(values):
            return
        self._take(column, panel, panel.declared)
        if counted is not None:
            codes = codes[counted]
        often = np.bincount(codes[codes >= 0], minlength=len(values)).tolist()
        for value, count in zip(values, often, strict=True):
            known.counts[value] = known.counts.get(value, 0) + count

    def _take(self, column: int, panel: Panel, declared: bool) -> None:
        """Record the kind of a column's categories, which must be the same in every batch."""
        known = self._columns[column]
        known.declared = known.declared and declared
        if known.numbers:
            raise self._clash(column, _categories(panel), "plain numbers")
        if known.panel is None:
            some = None if panel.categories is None else panel.categories[:1]
            known.panel = replace(panel, values=panel.values[:0], categories=some)
        elif _kind(known.panel) != _kind(panel):
            raise self._clash(column, _categories(panel), _categories(known.panel))

    def _take_numbers(self, column: int) -> None:
        """Record that a column holds numbers."""
        known = self._columns[column]
        known.numbers = True
        if known.panel is not None:
            raise self._clash(column, "plain numbers", _categories(known.panel))

    def merge(self, other: CategoryCounts) -> None:
        """Add the counts of later rows.

        Examples
        --------
        >>> import pandas
        >>> from spinney.data import read_table
        >>> parts = []
        >>> for trees in (["oak", "ash"], ["ash", "elm"]):
        ...     parts.append(CategoryCounts(("tree",), 1, ()))
        ...     parts[-1].add(read_table(pandas.DataFrame({"tree": trees})), None)
        >>> parts[0].merge(parts[1])
        >>> parts[0].found(255)[0].values
        ('ash', 'elm', 'oak')
        """
        self._sparse = self._sparse or other._sparse
        for column, (known, more) in enumerate(zip(self._columns, other._columns, strict=True)):
            known.empty = known.empty or more.empty
            if more.numbers:
                self._take_numbers(column)
            if more.panel is not None:
                self._take(column, more.panel, more.declared)
            for value, count in more.counts.items():
                known.counts[value] = known.counts.get(value, 0) + count

    def numbers_as_text(self) -> dict[int, str]:
        """Columns of text that all reads as numbers, and that are neither named categorical nor of a type of categories.

        Examples
        --------
        >>> import pandas
        >>> from spinney.data import read_table
        >>> counts = CategoryCounts(("price",), 1, ())
        >>> counts.add(read_table(pandas.DataFrame({"price": ["12.5", "7"]})), None)
        >>> counts.numbers_as_text()  # and how to make numbers of it
        {0: "X['price'].astype(float)"}
        """
        return {
            column: known.panel.as_numbers
            for column, known in enumerate(self._columns)
            if known.panel is not None
            and column not in self._named
            and not known.declared
            and read_as_numbers(known.counts)
        }

    def found(self, max_bin: int, *, strict: bool = True) -> tuple[Categories | None, ...] | None:
        """The categories of each column, of which at least `max_bin` are kept; see `find_schema`.

        With `strict` text that all reads as numbers is an error, without it such text is categories.
        """
        if self._sparse:
            return None
        for column in self.numbers_as_text() if strict else ():
            raise self._refused_text(column, self._columns[column])
        found = tuple(_found(known, max_bin) for known in self._columns)
        return found if any(one is not None for one in found) else None

    def _clash(self, column: int, now: str, before: str) -> DataTypeError:
        return DataTypeError(
            f"{self._title(column)} holds {now}, but {before} in earlier rows; give one kind only"
        )

    def _title(self, column: int) -> str:
        return column_title(self._names, column)

    def _naming(self, column: int) -> str:
        return f"name it, categorical=[{(column if self._names is None else self._names[column])!r}],"

    def _refused_text(self, column: int, known: _Column) -> DataError:
        assert known.panel is not None
        texts = [str(value) for value in known.counts]
        infinite = next((text for text in texts if math.isinf(float(text))), None)
        no_number = (
            "" if infinite is None else f" ({infinite!r:.40} first made missing: numbers must be finite)"
        )
        return DataError(
            f"{self._title(column)} holds text that reads as numbers, such as {texts[0]!r:.40}; make it numbers, "
            f"as in {known.panel.as_numbers}{no_number}, or {self._naming(column)} if the text stands for categories"
        )


def _found(known: _Column, max_bin: int) -> Categories | None:
    if known.panel is None:
        # Every value is missing, and those of a column of numbers may be.
        return Categories((), 0) if known.empty and not known.numbers else None
    return _ordered(known.counts, max_bin, known.panel.text_kind)


def _kind(panel: Panel) -> str:
    return NUMBERS if panel.categories is None else kind_of(panel.categories, panel.text_kind)


def _categories(panel: Panel) -> str:
    """Content of a column of categories, for messages."""
    kind = _kind(panel)
    return "categories that are numbers" if kind == NUMBERS else kind


def _has_value(values: NDArray[np.generic]) -> bool:
    """Whether some value is not missing; mostly the first one is not."""
    if not len(values):
        return False
    return values.dtype.kind != "f" or bool(values[0] == values[0]) or not bool(np.isnan(values).all())


def _ordered(counts: dict[Category, int], max_bin: int, text_kind: str | None) -> Categories:
    """The categories that occur: the most frequent first, equally frequent ones in their own order."""
    values: Sequence[Category] = list(counts)
    often = np.fromiter(counts.values(), np.int64, len(values))
    present = np.array(sorted(np.flatnonzero(often).tolist(), key=values.__getitem__), np.int64)
    order = present[np.argsort(-often[present], kind="stable")]
    kept = len(order)
    if kept > min(max_bin, MOST_KEPT):
        share = np.cumsum(often[order]) / often.sum()
        covering = int(np.searchsorted(share, COVERED)) + 1
        kept = min(max(covering, max_bin), MOST_KEPT, kept)
    return Categories(tuple(values[code] for code in order.tolist()), kept, text_kind if kept else None)

"""Partitions → codes: drafts of columns that stand alone, then as the plan says that was agreed on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.binning.encode import ColumnCodes, Counts, arranged, count_draft, encode_columns, survey_draft
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.matrix import SparseEntries
from spinney.binning.plan import BinPlan
from spinney.cluster.opening import PartTable
from spinney.cluster.telling import telling
from spinney.cluster.travel import weighed
from spinney.data import Labels, Schema, encode
from spinney.data.sources import errors_of
from spinney.data.table import starts_of
from spinney.jit.team import Team
from spinney.params import DataParams


@dataclass(frozen=True, eq=False)
class Form:
    """What all partitions of a data set have in common.

    Attributes
    ----------
    plan : BinPlan
        Cuts, groups and codes.
    schema : Schema
        Columns and categories.
    params : DataParams
        Parameters of the data.
    from_sparse : bool
        Whether they come from sparse tables.
    no_labels : Labels
        The labels of no rows, which have the types and columns of all.
    """

    plan: BinPlan
    schema: Schema
    params: DataParams
    from_sparse: bool
    no_labels: Labels


@dataclass(frozen=True, eq=False)
class EncodedPart:
    """Rows that follow each other, as a training holds them.

    Attributes
    ----------
    codes : ColumnCodes
        Their codes by column.
    labels : Labels
        Their labels. Queries have the numbers that they have in the whole table.
    """

    codes: ColumnCodes
    labels: Labels

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.codes.groups.shape[1])


@telling
def draft_part(part: PartTable, schema: Schema, unseen: str, plan: BinPlan) -> ColumnCodes:
    """Task: codes by the first plan, every column by itself."""
    found = []
    with Team(1) as team:
        for title, table, _ in part.pieces():
            with errors_of(title):
                found.append(encode_columns(encode(table, schema.categories, unseen), plan, team))
    return join_codes(found)


@telling
def count_part(codes: ColumnCodes, plan: BinPlan) -> Counts:
    """Task: what a draft tells of its columns."""
    with Team(1) as team:
        return count_draft(codes, plan, team)


@telling
def entries_of_part(codes: ColumnCodes, plan: BinPlan, default: NDArray[np.int64]) -> SparseEntries:
    """Task: the entries of the columns that are to be listed."""
    with Team(1) as team:
        return survey_draft(codes, plan, default, team).entries


@telling
def encode_part(
    codes: ColumnCodes, labels: Labels, first: BinPlan, default: NDArray[np.int64], plan: BinPlan
) -> EncodedPart:
    """Task: codes by the final plan, with the labels of the rows."""
    if codes.from_sparse or (default != NO_DEFAULT).any():
        with Team(1) as team:
            codes = arranged(survey_draft(codes, first, default, team), plan, team)
    return EncodedPart(codes, labels)


@telling
def recut(parts: list[EncodedPart], ranges: list[tuple[int, int]]) -> EncodedPart:
    """Task: some rows of parts that follow each other as one part; a range of rows of each."""
    pieces = [_between(part, *some) for part, some in zip(parts, ranges, strict=True)]
    labels = Labels.concatenate([piece.labels for piece in pieces])
    return EncodedPart(join_codes([piece.codes for piece in pieces]), labels)


def _between(part: EncodedPart, first: int, last: int) -> EncodedPart:
    """Rows first..last-1 of a part."""
    codes = part.codes
    if (first, last) == (0, part.rows):
        return part
    inside = (codes.rows >= first) & (codes.rows < last)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(inside)])
    some = ColumnCodes(
        np.ascontiguousarray(codes.groups[:, first:last]), before[codes.starts], codes.rows[inside] - np.int32(first),
        codes.codes[inside], codes.from_sparse,
    )  # fmt: skip
    return EncodedPart(some, part.labels.between(first, last))


def join_codes(parts: list[ColumnCodes]) -> ColumnCodes:
    """Codes of rows that follow each other as one."""
    if len(parts) == 1:
        return parts[0]
    groups = np.concatenate([part.groups for part in parts], axis=1)
    counts = np.stack([np.diff(part.starts) for part in parts])
    total = starts_of(counts.sum(axis=0))
    rows, codes = np.empty(int(total[-1]), np.int32), np.empty(int(total[-1]), np.uint16)
    at, first = total[:-1].copy(), 0
    for part, own in zip(parts, counts, strict=True):
        to = np.repeat(at - part.starts[:-1], own) + np.arange(len(part.rows))
        rows[to], codes[to] = part.rows + np.int32(first), part.codes
        at += own
        first += part.groups.shape[1]
    return ColumnCodes(groups, total, rows, codes, parts[0].from_sparse)


weighed(ColumnCodes, EncodedPart, SparseEntries)

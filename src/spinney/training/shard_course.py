"""The rows of one rank, and which of them a training learns from that is to find its number of rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.part import Part
from spinney.joining import Joining
from spinney.objectives import Objective
from spinney.params import Config
from spinney.training.auto import Auto, Decision, decided, stopping_of
from spinney.training.early_stopping import EarlyStopping
from spinney.training.evaluation import Judge
from spinney.training.shard_rows import gathered_labels
from spinney.training.statistics import makes_statistics


@dataclass(frozen=True, eq=False)
class Shard:
    """The rows of a table that one rank holds.

    Attributes
    ----------
    data : Dataset
        These rows, whose codes come in blocks, by the plan of the whole table. They may be none. The rows of a query are all of
        one shard; queries are numbered within it.
    first : int
        Number of the first of them in the whole table.
    total : int
        Rows of the whole table.
    """

    data: Dataset
    first: int
    total: int

    def part(self, chosen: NDArray[np.bool_]) -> Shard:
        """Those of some rows of the table, which have numbers of their own from 0; `chosen` tells of all rows."""
        own = chosen[self.first : self.first + self.data.rows]
        first = np.count_nonzero(chosen[: self.first])
        return Shard(Part(self.data, np.flatnonzero(own)), int(first), int(np.count_nonzero(chosen)))


@dataclass(frozen=True, eq=False)
class ShardCourse:
    """What `Course` is, of the rows of a rank."""

    rounds: int
    shard: Shard
    valid: Mapping[str, Shard]
    stopping: EarlyStopping | None = None
    again: bool = False


def joined_course(
    auto: Auto,
    config: Config,
    shard: Shard,
    valid: Mapping[str, Shard],
    judges: Sequence[Judge],
    loss: Objective,
    continued: bool,
    listed: int | None,
    joining: Joining,
) -> ShardCourse:
    """The course that `course_of` finds for all rows. Rank 0 is sent all labels and decides; a bit of each row is spread.

    Parameters
    ----------
    auto : Auto
        Its groups are numbers, of some rows at each rank, which follow on those of the rank before.
    config, judges, loss, continued, listed
        As for `decided`; what they say at rank 0 counts.
    shard, valid
        This rank's rows.
    joining : Joining
        The other ranks.
    """
    whole = gathered_labels(shard.data.labels(), joining)
    groups = None if auto.groups is None else joining.gather(np.asarray(auto.groups, np.int64))
    told = None
    if whole is not None:
        loss.prepared(whole)
        auto = replace(auto, groups=None if groups is None else np.concatenate(groups))
        made = makes_statistics(config, shard.data)
        told = _bytes_of(decided(auto, config, whole, bool(valid), judges, loss, continued, listed, made))
    found = _read(joining.spread(told), shard.total)
    stopping = stopping_of(config) if found.stops else None
    if found.held is None:
        return ShardCourse(found.rounds, shard, valid, stopping)
    held = {auto.name: shard.part(found.held)}
    return ShardCourse(found.rounds, shard.part(~found.held), held, stopping, found.again)


def _bytes_of(found: Decision) -> NDArray[np.uint8]:
    """A decision as bytes; see `_read`."""
    numbers = np.array([found.rounds, found.stops, found.again], np.int64).view(np.uint8)
    return numbers if found.held is None else np.concatenate([numbers, np.packbits(found.held)])


def _read(told: NDArray[Any], rows: int) -> Decision:
    """A decision of its bytes.

    Examples
    --------
    >>> _read(_bytes_of(Decision(7, True, np.array([False, True, False]))), 3).held.tolist()
    [False, True, False]
    """
    rounds, stops, again = told[:24].copy().view(np.int64).tolist()
    held = np.unpackbits(told[24:], count=rows).astype(np.bool_) if len(told) > 24 else None
    return Decision(rounds, bool(stops), held, bool(again))

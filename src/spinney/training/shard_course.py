"""The rows of one rank, and which of them a training learns from that is to find its number of rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.part import Part
from spinney.joining import Joining
from spinney.metrics import Metric
from spinney.objectives import Objective
from spinney.params import Config
from spinney.target_encoding.fit import has_target_encoding
from spinney.training.auto import Decision, decided, draws, stopping_of
from spinney.training.auto_arguments import Auto
from spinney.training.dealing import Numbers, group_numbers
from spinney.training.early_stopping import EarlyStopping
from spinney.training.kin import Kin, check_groups, kin_of
from spinney.training.shard_rows import gathered_labels


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
    kin: Numbers | None = None
    whole_kin: Numbers | None = None  # that of all rows of the rank
    limit: str | None = None
    holdout_rows: int = 0  # of all ranks


def joined_course(
    auto: Auto,
    config: Config,
    shard: Shard,
    valid: Mapping[str, Shard],
    metrics: Sequence[Metric],
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
    config, metrics, loss, continued, listed
        As for `decided`; what they say at rank 0 counts.
    shard, valid
        This rank's rows.
    joining : Joining
        The other ranks.
    """
    whole = gathered_labels(shard.data.labels(), joining)
    kin, groups = _joined_kin(auto, config, shard, draws(auto, valid, metrics, continued), joining)
    told = None
    if whole is not None:
        loss.prepared(whole)
        made = has_target_encoding(config, shard.data)
        told = _bytes_of(
            decided(auto, config, whole, bool(valid), metrics, loss, continued, listed, made, kin)
        )
    found = _read(joining.spread(told), shard.total)
    stopping, limit = stopping_of(config) if found.stops else None, auto.limit(listed)
    if found.held is None:
        return ShardCourse(found.rounds, shard, valid, stopping, kin=groups, whole_kin=groups, limit=limit)
    held, kept = shard.part(found.held), ~found.held
    left = None if groups is None else groups[kept[shard.first : shard.first + shard.data.rows]]
    return ShardCourse(
        found.rounds, shard.part(kept), {auto.name: held}, stopping, found.again, left, groups, limit, held.total
    )  # fmt: skip


def _joined_kin(
    auto: Auto, config: Config, shard: Shard, needed: bool, joining: Joining
) -> tuple[Kin | None, Numbers | None]:
    """Which rows of all ranks belong together, at rank 0; and the groups of the rows at hand, if the user told any."""
    if auto.groups is None:
        own = kin_of(None, config, shard.data, needed, joining=joining)
        if own is None:
            return None, None
        copies = joining.gather(own.number)
        return None if copies is None else Kin(np.concatenate(copies), copies=True), None
    parts = joining.gather(np.asarray(auto.groups, np.int64))
    kin = None
    if parts is not None:
        groups = group_numbers(np.concatenate(parts), shard.total)
        assert groups is not None
        check_groups(shard.data.labels())
        kin = Kin(groups)
    spread = joining.spread(None if kin is None else kin.number)
    return kin, spread[shard.first : shard.first + shard.data.rows]


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

"""The rows of one rank, and which of them a training learns from that is to find its number of rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.collective import Communicator
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
class ShardCourse:
    """What `Course` is, of the rows of a rank."""

    rounds: int
    data: BinnedData
    valid: Mapping[str, BinnedData]
    stopping: EarlyStopping | None = None
    again: bool = False
    kin: Numbers | None = None
    whole_kin: Numbers | None = None  # that of all rows of the rank
    limit: str | None = None
    holdout_rows: int = 0  # of all ranks


def joined_course(
    auto: Auto,
    config: Config,
    data: BinnedData,
    valid: Mapping[str, BinnedData],
    metrics: Sequence[Metric],
    loss: Objective,
    continued: bool,
    listed: int | None,
    communicator: Communicator,
) -> ShardCourse:
    """The course that `course_of` finds for all rows. Rank 0 is sent all labels and decides; a bit of each row is spread.

    Parameters
    ----------
    auto : Auto
        Its groups are numbers, of some rows at each rank, which follow on those of the rank before.
    config, metrics, loss, continued, listed
        As for `decided`; what they say at rank 0 counts.
    data, valid
        This rank's rows.
    communicator : Communicator
        The other ranks.
    """
    whole = gathered_labels(data.checked_labels(), communicator)
    kin, groups = _joined_kin(auto, config, data, draws(auto, valid, metrics, continued), communicator)
    told = None
    if whole is not None:
        loss.prepared(whole)
        made = has_target_encoding(config, data)
        told = _bytes_of(
            decided(auto, config, whole, bool(valid), metrics, loss, continued, listed, made, kin)
        )
    found = _read(communicator.broadcast(told), data.table_rows)
    stopping, limit = stopping_of(config) if found.stops else None, auto.limit(listed)
    if found.held is None:
        return ShardCourse(found.rounds, data, valid, stopping, kin=groups, whole_kin=groups, limit=limit)
    held, kept = data.take_from_table(found.held), ~found.held
    left = None if groups is None else groups[kept[data.first : data.first + data.rows]]
    return ShardCourse(
        found.rounds, data.take_from_table(kept), {auto.name: held}, stopping, found.again, left, groups, limit, held.table_rows
    )  # fmt: skip


def _joined_kin(
    auto: Auto, config: Config, data: BinnedData, needed: bool, communicator: Communicator
) -> tuple[Kin | None, Numbers | None]:
    """Which rows of all ranks belong together, at rank 0; and the groups of the rows at hand, if the user told any."""
    if auto.groups is None:
        own = kin_of(None, config, data, needed, communicator=communicator)
        if own is None:
            return None, None
        copies = communicator.gather(own.number)
        return None if copies is None else Kin(np.concatenate(copies), copies=True), None
    parts = communicator.gather(np.asarray(auto.groups, np.int64))
    kin = None
    if parts is not None:
        groups = group_numbers(np.concatenate(parts), data.table_rows)
        assert groups is not None
        check_groups(data.checked_labels())
        kin = Kin(groups)
    spread = communicator.broadcast(None if kin is None else kin.number)
    return kin, spread[data.first : data.first + data.rows]


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

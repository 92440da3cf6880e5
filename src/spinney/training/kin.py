"""Rows that belong together: a training neither holds them out apart nor tells one of the other's target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.collective import ALONE, Communicator
from spinney.data import Labels
from spinney.errors import ParameterError
from spinney.params import Config
from spinney.target_encoding.duplicates import HELD_TOGETHER, find_duplicates
from spinney.target_encoding.fit import encoded_columns
from spinney.training.dealing import group_numbers


@dataclass(frozen=True, eq=False)
class Kin:
    """Which rows belong together.

    Attributes
    ----------
    number : int64[rows]
        Rows of one number do, whatever the numbers are.
    copies : bool
        Whether they are copies of each other, which nobody has told.
    """

    number: NDArray[np.int64]
    copies: bool = False

    @property
    def told(self) -> NDArray[np.int64] | None:
        """The numbers, if the user told them: statistics of the target find copies themselves, among the rows that they see."""
        return None if self.copies else self.number

    def labels(self, labels: Labels) -> Labels:
        """Labels whose queries are the rows that belong together."""
        numbers = np.unique(self.number, return_inverse=True)[1].astype(np.int64)
        return Labels(labels.target, labels.weight, queries=numbers)


def kin_of(
    groups: object,
    config: Config,
    data: BinnedData,
    needed: bool,
    communicator: Communicator = ALONE,
) -> Kin | None:
    """Rows that are held out together or not at all: groups, or copies of each other; see `find_duplicates`.

    Copies are looked for only if that is `needed`. Where several ranks hold the rows, those at hand are told of.
    """
    labels = data.checked_labels()
    if groups is not None:
        check_groups(labels)
        numbers = group_numbers(groups, labels.rows)
        assert numbers is not None
        return Kin(numbers)
    if not needed or labels.queries is not None:
        return None
    copies = find_duplicates(
        data, labels, encoded_columns(config, data), communicator=communicator, least=HELD_TOGETHER
    )
    return None if copies is None else Kin(copies, copies=True)


def check_groups(labels: Labels) -> None:
    """Refuse groups of rows that have queries."""
    if labels.queries is not None:
        raise ParameterError("groups contradicts queries, which are held out whole anyway; leave it out")

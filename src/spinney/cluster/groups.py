"""Groups of rows that are held out together: their numbers, of all rows on one worker, 8 bytes each."""

from __future__ import annotations

from typing import Any

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spinney.cluster.given import check_computed, computed
from spinney.cluster.label_info import array_of, check_label_info, label_info
from spinney.cluster.telling import result, telling
from spinney.training.splitting import group_numbers


def grouped(client: Client, groups: Any, rows: int) -> Future:
    """The numbers of the groups that so many rows are of.

    Parameters
    ----------
    client : Client
        Who computes.
    groups : dask array or series, or list of delayed arrays
        A group for each row, in any partitions.
    rows : int
        How many rows there are.

    Raises
    ------
    DataError
        There are more or fewer groups, or one is missing.
    """
    parts = computed(client, groups, "groups")
    numbers = client.submit(numbers_of, parts, rows, pure=False)
    try:
        result(client, client.submit(count, numbers, pure=False))
    except Exception:
        check_computed({"groups": parts})
        raise
    return numbers


@telling
def numbers_of(parts: list[Any], rows: int) -> NDArray[np.int64]:
    """Task: the number of each row's group."""
    arrays = [array_of(part, "groups") for part in parts]
    some = [k for k, array in enumerate(arrays) if array is None or len(array)]
    infos = [label_info(parts[k], "groups") for k in some]
    check_label_info("groups", infos, [f"partition {k}" for k in some])
    found = [array for array in arrays if array is not None]
    numbers = group_numbers(np.concatenate(found), rows)
    assert numbers is not None
    return numbers


@telling
def count(numbers: NDArray[np.int64]) -> int:
    """Task: how many there are."""
    return len(numbers)

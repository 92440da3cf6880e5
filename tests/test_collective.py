"""Collective calls: of one rank, which nothing is sent for, and those that every communicator makes of its own four."""

import numpy as np
import pytest

from rank_data import Meeting, on_ranks, raised
from spinney.collective import ALONE


def test_one_rank_keeps_its_own_arrays():
    values = np.arange(3)
    ALONE.allreduce_sum(values)
    ALONE.allreduce_max(values)
    assert values.tolist() == [0, 1, 2]
    assert ALONE.gather(values)[0] is values
    assert ALONE.gather_rows(values) is values
    assert ALONE.broadcast(values) is values
    given = {"any": object()}
    assert ALONE.broadcast_object(given) is given


@pytest.mark.parametrize("size", [1, 3])
def test_objects_of_rank_0_reach_all_ranks(size):
    given = [True, None, 0.1, {"name": [["auc", float("inf"), True]]}, "größe"]
    meeting = Meeting(size)
    found = raised(
        on_ranks(meeting, lambda ranks: ranks.broadcast_object(given if ranks.rank == 0 else "ignored"))
    )
    assert found == [given] * size
    assert meeting.joins == 1


def test_rows_of_all_ranks_are_gathered_at_rank_0_in_order():
    found = raised(
        on_ranks(Meeting(3), lambda ranks: ranks.gather_rows(np.full((ranks.rank, 2), ranks.rank)))
    )
    assert found[0].tolist() == [[1, 1], [2, 2], [2, 2]]
    assert found[1:] == [None, None]

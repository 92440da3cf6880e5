from hypothesis import given
from hypothesis import strategies as st

from spinney.dask.run import assign_partitions, assign_workers


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20), st.integers(1, 20), st.booleans())
def test_every_partition_goes_to_one_rank_and_ranks_keep_the_order(
    rows: list[int], size: int, first_table: bool
) -> None:
    size = min(size, len(rows)) if first_table else size
    ranges = assign_partitions(rows, size, min_partitions=int(first_table))
    assert [part for range_ in ranges for part in range_] == list(range(len(rows)))
    assert len(ranges) == size
    assert not first_table or all(len(range_) > 0 for range_ in ranges)


def test_ranks_hold_about_equally_many_rows() -> None:
    assert assign_partitions([10] * 8, 4) == [range(0, 2), range(2, 4), range(4, 6), range(6, 8)]
    assert assign_partitions([1000, 1, 1, 1], 2, min_partitions=1) == [range(0, 1), range(1, 4)]
    assert assign_partitions([1, 1, 1, 1000], 2, min_partitions=1) == [range(0, 3), range(3, 4)]
    assert assign_partitions([0, 0, 5], 3, min_partitions=1) == [range(0, 1), range(1, 2), range(2, 3)]


def test_a_table_of_few_partitions_leaves_ranks_without() -> None:
    ranges = assign_partitions([5, 5], 5)
    assert sorted(len(range_) for range_ in ranges) == [0, 0, 0, 1, 1]


def test_a_rank_is_where_most_of_its_rows_are() -> None:
    assert assign_workers([{"b": 5, "a": 4}, {"b": 6}], ["a", "b"]) == ["a", "b"]


def test_workers_that_are_gone_or_hold_nothing_are_no_hindrance() -> None:
    assert assign_workers([{"gone": 5}, {"b": 1}, {}], ["a", "b", "c", "d"]) == ["a", "b", "c"]

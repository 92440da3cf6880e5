"""Finished rounds that another run goes on from: only the first ones of a training, with a tree for each output."""

import pytest

from spinney.errors import ParameterError
from spinney.training.checkpoint import NOTHING_DONE, Checkpoint, RoundRecord


def records(*numbers, refit=False, trees=2, member=0):
    return tuple(RoundRecord(number, [None] * trees, {}, refit, member=member) for number in numbers)


def test_rounds_of_members_and_of_their_search_and_refit_are_apart():
    search, refit = records(4, 5, 6), records(4, 5, refit=True)
    checkpoint = Checkpoint((*search, *refit))
    assert checkpoint.of(refit=False, start=3, most=9, outputs=2) == list(search)
    assert checkpoint.of(refit=True, start=3, most=2, outputs=2) == list(refit)
    other = records(4, member=1)
    checkpoint = Checkpoint((*search, *refit, *other))
    assert checkpoint.of(0, refit=False, start=3, most=9, outputs=2) == list(search)
    assert checkpoint.of(1, refit=False, start=3, most=9, outputs=2) == list(other)
    assert checkpoint.of(1, refit=True, start=3, most=9, outputs=2) == []
    assert NOTHING_DONE.of(refit=True, start=3, most=0, outputs=2) == []


@pytest.mark.parametrize(
    ("found", "start", "most"),
    [((5,), 3, 9), ((4, 6), 3, 9), ((5, 4), 3, 9), ((4, 5, 6), 3, 2), ((4,), 4, 9)],
)
def test_rounds_that_are_not_the_first_ones_are_refused(found, start, most):
    with pytest.raises(ParameterError, match=rf"must have the first of them, from {start + 1} on"):
        Checkpoint(records(*found)).of(refit=False, start=start, most=most, outputs=2)


def test_rounds_without_a_tree_for_each_output_are_refused():
    with pytest.raises(ParameterError, match="every round of the checkpoint must have 3 trees"):
        Checkpoint(records(1)).of(refit=False, start=0, most=9, outputs=3)

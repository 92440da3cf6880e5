"""Trees grown on some rows of a table are those of a table that has these rows alone."""

import numpy as np
import pytest

from problems import TREE_ARRAYS, gradients, gradients_record, grown, random_problem
from spinney.binning.take import take_codes
from spinney.growth.grower import HistGrower
from spinney.growth.kernels.walk import BATCH, WINDOW, batch_from
from spinney.growth.subset import subset_of
from spinney.jit.team import Team
from spinney.params import parse
from spinney.sampling import Bag


def tree_of(dataset, matrix, pairs, params, bag, threads, rows=None, others=None):
    """A tree, the scores that it moved, and those of other rows that walked it."""
    scores = np.zeros((1, len(pairs)))
    seen = Bag.of_all(len(pairs))
    if bag is not None:
        seen.rows[: len(bag)], seen.count = bag, len(bag)
    config = parse(params)
    with Team(threads) as team:
        grower = HistGrower(
            matrix, dataset.cuts, config, gradients_record(scores, pairs), seen, team, rows=rows
        )
        walked = np.zeros(dataset.rows if others is None else len(others))
        job = grower.walk(dataset.matrix, walked, others)
        tree = grown(grower, 5, config.learning_rate)
        team.run(job)
    return tree, scores[0], walked


@pytest.mark.kernels
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("bagged", [False, True], ids=["all rows", "a bag"])
@pytest.mark.parametrize("seed", range(8))
def test_tree_and_scores_are_those_of_a_table_of_these_rows(seed, bagged, threads):
    _, dataset, _, params, _ = random_problem(seed)
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(dataset.rows) < 0.7).astype(np.int32)
    if not len(rows):
        rows = np.zeros(1, np.int32)
    pairs = gradients(rng, len(rows), None)
    bag = np.flatnonzero(rng.random(len(rows)) < 0.6).astype(np.int32) if bagged else None
    if bag is not None and not len(bag):
        bag = np.zeros(1, np.int32)
    taken = take_codes(dataset.matrix, rows)
    one, moved, all_walked = tree_of(dataset, taken, pairs, params, bag, threads)
    two, again, walked = tree_of(dataset, dataset.matrix, pairs, params, bag, threads, rows, rows)
    for name in (*TREE_ARRAYS, "value", "gain", "cover"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert moved.tobytes() == again.tobytes() == walked.tobytes()
    assert walked.tolist() == all_walked[rows].tolist()


@pytest.mark.kernels
@pytest.mark.parametrize("gap", [1, 3, 9, 40_000, WINDOW, WINDOW + 1])
def test_batches_have_every_row_once_and_lie_within_a_window(gap):
    rows = np.cumsum(np.full(2 * BATCH + 7 if gap < 10 else 9, gap)).astype(np.int32)
    subset = subset_of(rows, int(rows[-1]) + 1)
    at, seen = 2, []
    while at < len(rows):
        first, count = batch_from(at, len(rows), subset)
        assert first == rows[at]
        assert 1 <= count <= BATCH
        assert rows[at + count - 1] - first < WINDOW
        seen.extend(rows[at : at + count])
        at += count
    assert seen == rows[2:].tolist()
    assert batch_from(5, 5 + BATCH + 1, subset_of(None, 10**6)) == (5, BATCH)

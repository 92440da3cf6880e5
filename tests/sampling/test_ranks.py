"""Rows drawn where ranks hold them: always those that one process draws of the whole table."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from rank_data import Meeting, on_ranks, raised
from spinney.jit.team import Team
from spinney.sampling import GradientSampler, RankSampler, UniformSampler

METHODS = ("draw", "goss", "weighted", "gradient_based")
CUTS = {
    "one rank": (0, 90),
    "halves": (0, 45, 90),
    "odd": (0, 1, 38, 90),
    "the first is empty": (0, 0, 50, 90),
    "empty ones": (0, 41, 41, 41, 90, 90),
    "one row at each end": (0, 1, 89, 90),
}


def gradients_of(rows, outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    shape = (outputs, rows)
    return np.stack([rng.normal(size=shape), rng.uniform(0.1, 1, shape)], axis=2).astype(np.float32)


def far_apart(pairs):
    return pairs * 10 ** np.linspace(-35, 35, pairs.shape[1])[:, None]


def one_huge(pairs):
    return pairs * np.where(np.arange(pairs.shape[1]) == 7, 1e30, 1.0)[:, None]


def one_alone(pairs):
    return pairs * (np.arange(pairs.shape[1]) == pairs.shape[1] - 1)[:, None]


GRADIENTS = {
    "any": lambda pairs: pairs,
    "alike": np.ones_like,
    "few": np.round,
    "zero": np.zeros_like,
    "tiny": lambda pairs: pairs * 1e-38,
    "vast": lambda pairs: pairs * 1e35,
    "far apart": far_apart,
    "one huge": one_huge,
    "all zero but the last": one_alone,
}


def drawn_of_all(method, pairs, args, eligible):
    """The rows that are drawn of the whole table, and its gradients afterwards."""
    pairs = np.array(pairs, np.float32, copy=True)
    bag = np.full(pairs.shape[1], -1, np.int32)
    with Team(1) as team:
        sampler = (
            UniformSampler(eligible, bag, team)
            if method == "draw"
            else GradientSampler(eligible, pairs, bag, team)
        )
        count = getattr(sampler, method)(*args)
    return bag[:count].tolist(), pairs


class RowsOfRank:
    """The rows begin .. end - 1 of a table, and what draws of them."""

    def __init__(self, pairs, eligible, begin, end, communicator, team):
        mine = eligible[(eligible >= begin) & (eligible < end)]
        self.begin = begin
        self.pairs = np.array(pairs[:, begin:end], np.float32, copy=True)
        self.bag = np.full(end - begin, -1, np.int32)
        own = (mine - begin).astype(np.int32)
        self.sampler = RankSampler(own, self.pairs, self.bag, team, communicator, begin)

    def drawn(self, method, args):
        count = getattr(self.sampler, method)(*args)
        return (self.bag[:count] + self.begin).tolist()


def drawn_by_ranks(method, pairs, args, eligible, bounds, threads=1):
    """For each rank the rows that it draws, and its gradients afterwards."""

    def work(communicator):
        begin, end = bounds[communicator.rank : communicator.rank + 2]
        with Team(threads) as team:
            mine = RowsOfRank(pairs, eligible, begin, end, communicator, team)
            return mine.drawn(method, args), mine.pairs

    return raised(on_ranks(Meeting(len(bounds) - 1), work))


def assert_ranks_draw_what_is_drawn_of_all(method, pairs, args, eligible=None, *, bounds, threads=1):
    rows = pairs.shape[1]
    eligible = np.arange(rows, dtype=np.int32) if eligible is None else np.asarray(eligible, np.int32)
    bag, after = drawn_of_all(method, pairs, args, eligible)
    found = drawn_by_ranks(method, pairs, args, eligible, bounds, threads)
    for (begin, end), (rows_of_rank, _) in zip(itertools.pairwise(bounds), found, strict=True):
        assert rows_of_rank == [row for row in bag if begin <= row < end]
    assert np.concatenate([own for _, own in found], axis=1).tobytes() == after.tobytes()
    return bag


def arguments(method, share, seed):
    """Arguments of a draw of about a share of the rows."""
    return {
        "draw": (share, seed),
        "goss": (share / 2, share / 2, seed),
        "weighted": (share, seed),
        "gradient_based": (share, 1.5, seed),
    }[method]


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("method", METHODS)
def test_ranks_draw_the_rows_of_the_whole_table_wherever_it_is_cut(method, cuts):
    for share, seed in ((0.4, 0), (0.1, 2**40), (0.9, 7)):
        args = arguments(method, share, seed)
        assert_ranks_draw_what_is_drawn_of_all(method, gradients_of(90, seed=3), args, bounds=CUTS[cuts])


@pytest.mark.kernels
@pytest.mark.parametrize("kind", GRADIENTS)
@pytest.mark.parametrize("method", METHODS[1:])
def test_gradients_of_every_kind_draw_the_same_rows_on_ranks(method, kind):
    for outputs in (1, 3):
        pairs = GRADIENTS[kind](gradients_of(60, outputs).astype(float)).astype(np.float32)
        args = arguments(method, 0.3, 5)
        assert_ranks_draw_what_is_drawn_of_all(method, pairs, args, bounds=(0, 11, 11, 60), threads=2)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_any_rows_on_any_ranks_draw_as_the_whole_table_does(data):
    rows = data.draw(st.integers(1, 40), "rows")
    eligible = sorted(data.draw(st.sets(st.integers(0, rows - 1), min_size=1), "eligible"))
    inner = sorted(data.draw(st.lists(st.integers(0, rows), max_size=4), "cuts"))
    pairs = gradients_of(rows, data.draw(st.integers(1, 2), "outputs"), data.draw(st.integers(0, 9), "table"))
    pairs = GRADIENTS[data.draw(st.sampled_from(sorted(GRADIENTS)), "kind")](pairs.astype(float))
    method = data.draw(st.sampled_from(METHODS), "method")
    args = arguments(method, data.draw(st.floats(0.01, 1.0), "share"), data.draw(st.integers(0, 99), "seed"))
    assert_ranks_draw_what_is_drawn_of_all(
        method, pairs.astype(np.float32), args, eligible, bounds=(0, *inner, rows)
    )


@pytest.mark.kernels
def test_rows_of_uniform_draws_are_those_of_the_oracle():
    found = drawn_by_ranks(
        "draw", gradients_of(50), (0.4, 2**63 - 1), np.arange(50, dtype=np.int32), (0, 3, 20, 50)
    )
    assert [row for rows, _ in found for row in rows] == oracles.chosen_by_key(
        range(50), 20, 2**63 - 1, oracles.ROWS
    )


@pytest.mark.parametrize("method", METHODS)
def test_draws_do_not_depend_on_the_threads_of_a_rank(method):
    # Rounded, so that the last row wanted is one of many of the same size, on several ranks and threads.
    pairs = np.round(gradients_of(20_000, 2))
    eligible = np.flatnonzero(np.random.default_rng(1).random(20_000) < 0.8)
    bounds = (0, 1, 7_001, 15_000, 20_000)
    for threads in (1, 2, 5):
        assert_ranks_draw_what_is_drawn_of_all(
            method, pairs, arguments(method, 0.2, 3), eligible, bounds=bounds, threads=threads
        )


def test_of_equal_gradients_the_first_rows_of_the_table_are_kept():
    for top_rate, kept in ((0.3, [3, 0, 0]), (0.6, [4, 2, 0]), (0.8, [4, 4, 0])):
        found = drawn_by_ranks(
            "goss", np.ones((1, 10, 2)), (top_rate, 0.1, 0), np.arange(10, dtype=np.int32), (0, 4, 8, 10)
        )
        # The one row that is drawn stands for several, and is multiplied by their number.
        assert [np.flatnonzero(own[0, :, 0] == 1.0).tolist() for _, own in found] == [
            list(range(count)) for count in kept
        ]


@pytest.mark.parametrize("method", METHODS)
def test_all_rows_are_drawn_at_a_share_of_one(method):
    pairs = gradients_of(40)
    bag = assert_ranks_draw_what_is_drawn_of_all(
        method,
        pairs,
        (1.0, 0.0, 3) if method == "goss" else arguments(method, 1.0, 3),
        bounds=(0, 13, 13, 40),
    )
    if method != "gradient_based":
        assert bag == list(range(40))
    bag = assert_ranks_draw_what_is_drawn_of_all(
        "draw", pairs, (1.0, 3), eligible=[2, 12, 13, 39], bounds=(0, 13, 13, 40)
    )
    assert bag == [2, 12, 13, 39]


@pytest.mark.parametrize("method", ["draw", "weighted"])
def test_the_smallest_share_draws_one_row_of_all_ranks(method):
    owners = set()
    for seed in range(12):
        bag = assert_ranks_draw_what_is_drawn_of_all(
            method, gradients_of(30), (1e-9, seed), bounds=(0, 10, 20, 30)
        )
        assert len(bag) == 1
        owners.add(bag[0] // 10)
    assert owners == {0, 1, 2}


@pytest.mark.parametrize(
    ("eligible", "bounds"),
    [
        (range(12), (0, 5, 12)),
        (range(12), (0, 0, 0, 5, 12)),
        ([8, 11], (0, 5, 12)),
        ([4], (0, 4, 5, 12)),
    ],
)
def test_where_chance_draws_no_row_the_first_one_that_may_be_is_taken(eligible, bounds):
    bag = assert_ranks_draw_what_is_drawn_of_all(
        "gradient_based", np.zeros((1, 12, 2)), (0.5, 1.0, 0), list(eligible), bounds=bounds
    )
    assert bag == [next(iter(eligible))]


def test_one_row_in_all_is_drawn_by_the_rank_that_has_it():
    for method in METHODS:
        bag = assert_ranks_draw_what_is_drawn_of_all(
            method, gradients_of(1), arguments(method, 0.5, 0), bounds=(0, 0, 1, 1)
        )
        assert bag == [0]


def test_rows_that_may_not_be_drawn_keep_their_gradients():
    pairs = gradients_of(30)
    eligible = [row for row in range(30) if row % 3]
    for method in METHODS:
        found = drawn_by_ranks(
            method, pairs, arguments(method, 0.2, 1), np.array(eligible, np.int32), (0, 10, 30)
        )
        after = np.concatenate([own for _, own in found], axis=1)
        assert after[:, ::3].tobytes() == pairs[:, ::3].tobytes()


def test_a_sampler_draws_again_as_a_new_one_would():
    pairs, eligible, bounds = gradients_of(50), np.arange(50, dtype=np.int32), (0, 20, 50)

    def work(communicator):
        begin, end = bounds[communicator.rank : communicator.rank + 2]
        with Team(2) as team:
            mine = RowsOfRank(pairs, eligible, begin, end, communicator, team)
            found = []
            for method in (*METHODS, *METHODS[::-1]):
                mine.pairs[:] = pairs[:, begin:end]
                found.append((mine.drawn(method, arguments(method, 0.3, 4)), mine.pairs.tobytes()))
            return found

    for rank, found in enumerate(raised(on_ranks(Meeting(2), work))):
        begin, end = bounds[rank : rank + 2]
        for method, (rows, after) in zip((*METHODS, *METHODS[::-1]), found, strict=True):
            bag, expected = drawn_of_all(method, pairs, arguments(method, 0.3, 4), eligible)
            assert rows == [row for row in bag if begin <= row < end]
            assert after == np.ascontiguousarray(expected[:, begin:end]).tobytes()


def collective_calls(method, args, pairs):
    """Collective calls of a first draw, and of a second one with the same gradients."""
    meeting, bounds = Meeting(3), (0, 6, 6, pairs.shape[1])
    eligible = np.arange(pairs.shape[1], dtype=np.int32)

    def work(communicator):
        begin, end = bounds[communicator.rank : communicator.rank + 2]
        with Team(1) as team:
            mine = RowsOfRank(pairs, eligible, begin, end, communicator, team)
            before = [meeting.joins]
            for _ in range(2):
                mine.pairs[:] = pairs[:, begin:end]
                mine.drawn(method, args)
                before.append(meeting.joins)
        return before

    # Rank 0 counts, and no call goes on without it.
    first, between, last = raised(on_ranks(meeting, work))[0]
    return between - first, last - between


@pytest.mark.parametrize(
    ("method", "args", "kind", "calls"),
    [
        ("draw", (0.4, 1), "any", 4),
        ("draw", (1.0, 1), "any", 0),
        ("goss", (0.2, 0.2, 1), "any", 8),
        ("goss", (0.0, 0.2, 1), "any", 4),
        ("goss", (1.0, 0.2, 1), "any", 4),
        ("weighted", (0.4, 1), "any", 4),
        # The search ends at once where no gradient is left, and after a second turn where all are the same.
        ("gradient_based", (0.4, 1.0, 1), "zero", 3),
        ("gradient_based", (0.4, 0.0, 1), "alike", 4),
    ],
)
def test_a_draw_takes_a_few_collective_calls_and_the_first_one_more(method, args, kind, calls):
    pairs = GRADIENTS[kind](gradients_of(20)).astype(np.float32)
    assert collective_calls(method, args, pairs) == (calls + 1, calls)
    if method != "gradient_based":
        # The number of calls does not depend on the gradients.
        for other in ("zero", "few"):
            assert collective_calls(method, args, GRADIENTS[other](gradients_of(20)))[1] == calls

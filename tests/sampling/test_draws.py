import itertools

import numpy as np
import pytest

import oracles
from spinney.jit.team import Team
from spinney.sampling import UniformSampler, draw_columns, random_order
from spinney.sampling.kernels import purposes


def drawn(rows, share, seed, threads=1):
    """The rows drawn of some, or of so many."""
    eligible = np.arange(rows, dtype=np.int32) if isinstance(rows, int) else np.asarray(rows, np.int32)
    bag = np.full(len(eligible), -1, np.int32)
    with Team(threads) as team:
        return bag[: UniformSampler(eligible, bag, team).draw(share, seed)]


@pytest.mark.kernels
@pytest.mark.parametrize("seed", [0, 1, 2**40, 2**63 - 1])
def test_rows_and_columns_are_those_of_the_oracle(seed):
    for threads in (1, 3):
        assert drawn(50, 0.4, seed, threads).tolist() == oracles.chosen_by_key(
            range(50), 20, seed, oracles.ROWS
        )
    assert draw_columns(30, 7, seed).tolist() == oracles.chosen(range(30), 7, seed, oracles.COLUMNS)


def test_the_numbers_of_purposes_stay_and_no_two_are_the_same():
    found = {name: number for name, number in vars(purposes).items() if name.startswith("PURPOSE_")}
    assert found == {
        "PURPOSE_ROUNDING": oracles.ROUNDING,
        "PURPOSE_ROWS": oracles.ROWS,
        "PURPOSE_COLUMNS": oracles.COLUMNS,
        "PURPOSE_OTHERS": 4,
        "PURPOSE_WEIGHTED": 5,
        "PURPOSE_CHANCE": 6,
        "PURPOSE_TREE": 7,
        "PURPOSE_BAG": 8,
        "PURPOSE_SUBSET": 9,
        "PURPOSE_SPLIT": 10,
        "PURPOSE_CUT": 11,
        "PURPOSE_LEVEL": oracles.LEVEL,
        "PURPOSE_NODE": oracles.NODE,
        "PURPOSE_SHUFFLE": 12,
        "PURPOSE_FEW": 13,
        "PURPOSE_SIDE": 14,
        "PURPOSE_SET": 15,
        "PURPOSE_HEAVY": 16,
        "PURPOSE_PLACE": 17,
        "PURPOSE_TARGETS": 18,
        "PURPOSE_FOLDS": 20,
        "PURPOSE_TOLD": 21,
        "PURPOSE_MARK": 22,
        "PURPOSE_HALF": 23,
        "PURPOSE_ABSENT": 24,
        "PURPOSE_ORDER": 25,
    }
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize("share", [0.001, 0.4, 0.97])
def test_any_number_of_threads_draws_the_same_rows(share):
    alone = drawn(30_000, share, 3)
    for threads in (2, 3, 8):
        assert drawn(30_000, share, 3, threads).tolist() == alone.tolist()


@pytest.mark.parametrize("bounds", [[0, 1000], [0, 1, 400, 999, 1000], [0, 250, 500, 750, 1000]])
def test_blocks_of_rows_drawn_apart_are_the_rows_drawn_together(bounds):
    # How many rows a block gets is all that it needs to know of the others.
    together = drawn(1000, 0.4, 8)
    for begin, end in itertools.pairwise(bounds):
        expected = [row for row in together.tolist() if begin <= row < end]
        if expected:
            assert drawn(range(begin, end), len(expected) / (end - begin), 8).tolist() == expected


def test_a_larger_share_holds_the_rows_of_a_smaller_one():
    assert set(drawn(500, 0.2, 4).tolist()) < set(drawn(500, 0.6, 4).tolist())


@pytest.mark.parametrize(
    ("rows", "share", "count"), [(10, 0.3, 3), (1, 0.01, 1), (7, 1.0, 7), (1000, 1e-9, 1), (8, 0.99, 8)]
)
def test_the_number_of_rows_is_exact_and_never_zero(rows, share, count):
    for seed in range(20):
        found = drawn(rows, share, seed)
        assert len(found) == count
        assert np.all(np.diff(found) > 0)
        assert 0 <= found.min() <= found.max() < rows


def test_only_eligible_rows_are_drawn_and_none_twice():
    eligible = np.arange(3, 100, 7, dtype=np.int32)
    found = drawn(eligible, 0.5, 5)
    assert len(found) == 7
    assert set(found.tolist()) <= set(eligible.tolist())
    assert len(set(found.tolist())) == 7


def test_every_row_is_drawn_equally_often():
    hits = np.zeros(20)
    for seed in range(2000):
        hits[drawn(20, 0.25, seed)] += 1
    # 500 expected; the standard deviation is 19.
    assert hits.min() > 420
    assert hits.max() < 580


def test_every_pair_of_columns_is_drawn_equally_often():
    pairs = np.zeros((5, 5))
    for seed in range(2000):
        one, other = draw_columns(5, 2, seed)
        pairs[one, other] += 1
    # 200 expected; the standard deviation is 13.
    assert pairs[np.triu_indices(5, 1)].min() > 140
    assert pairs[np.triu_indices(5, 1)].max() < 260


def test_the_same_seed_draws_the_same_and_another_one_does_not():
    assert drawn(200, 0.5, 9).tolist() == drawn(200, 0.5, 9).tolist()
    assert drawn(200, 0.5, 9).tolist() != drawn(200, 0.5, 10).tolist()


@pytest.mark.kernels
def test_every_order_of_rows_is_as_likely_as_any_other():
    found = [tuple(random_order(3, seed).tolist()) for seed in range(600)]
    for order in itertools.permutations(range(3)):
        assert 60 < found.count(order) < 140


@pytest.mark.kernels
@pytest.mark.parametrize("seed", [0, 9, 2**63 - 1])
def test_an_order_of_rows_is_that_of_the_oracle(seed):
    order = []
    for i in range(50):
        j = ((oracles.random_bits(seed, purposes.PURPOSE_FOLDS, i) >> 32) * (i + 1)) >> 32
        order.append(i)
        order[i], order[j] = order[j], order[i]
    assert random_order(50, seed).tolist() == order

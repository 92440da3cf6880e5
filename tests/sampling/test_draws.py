import numpy as np
import pytest

import oracles
from spinney.sampling import draw_columns, draw_rows


def drawn(rows, share, seed):
    bag = np.full(rows, -1, np.int32)
    return bag[: draw_rows(np.arange(rows, dtype=np.int32), share, seed, bag)]


@pytest.mark.kernels
@pytest.mark.parametrize("seed", [0, 1, 2**40, 2**63 - 1])
def test_rows_and_columns_are_those_of_the_oracle(seed):
    assert drawn(50, 0.4, seed).tolist() == oracles.chosen(range(50), 20, seed, oracles.ROWS)
    assert draw_columns(30, 7, seed).tolist() == oracles.chosen(range(30), 7, seed, oracles.COLUMNS)


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
    bag = np.zeros(100, np.int32)
    count = draw_rows(eligible, 0.5, 5, bag)
    assert count == 7
    assert set(bag[:count].tolist()) <= set(eligible.tolist())
    assert len(set(bag[:count].tolist())) == count


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

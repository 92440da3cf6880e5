"""Trees that see few rows have finer steps of gradients: weights are as good as copies, and bytes stay the same everywhere."""

import numpy as np
import pytest

import spinney as sp
from block_data import in_blocks
from rank_data import raised, train_on_ranks
from spinney.growth.kernels.packing import SMALL_BAG


def table(seed, rows, columns=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=rows)


def of_weights_and_of_copies(objective, seed, most):
    """Predictions of models of 60 rows of distinct values that have weights, and of these rows repeated."""
    X, y = table(seed, 60)
    y = (y > 0).astype(float) if objective == "log_loss" else y
    times = np.random.default_rng(seed).integers(1, most + 1, 60)
    # The fewest rows of a leaf count rows, whatever they weigh.
    params = {"objective": objective, "min_child_samples": 1}
    weighted = sp.train(params, sp.Dataset(X, y, weight=times), rounds=100)
    repeated = sp.train(params, sp.Dataset(np.repeat(X, times, axis=0), np.repeat(y, times)), rounds=100)
    assert weighted.forest.nodes > 300
    return weighted.predict(X), repeated.predict(X)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [2, 3])
def test_a_weight_is_as_good_as_so_many_copies_of_a_row(seed, most):
    weighted, repeated = of_weights_and_of_copies("squared_error", seed, most)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_a_weight_is_as_good_as_so_many_copies_of_a_row_of_two_classes(seed):
    weighted, repeated = of_weights_and_of_copies("log_loss", seed, 2)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-4)


@pytest.mark.parametrize("rows", [60, SMALL_BAG, SMALL_BAG + 1])
def test_few_rows_give_the_same_bytes_on_any_threads_in_blocks_and_on_ranks(rows):
    X, y = table(rows, rows)
    dataset = sp.Dataset(X, y, max_bin=40, weight=np.random.default_rng(0).random(rows))
    params = {"max_bin": 40, "max_leaves": 12, "min_child_samples": 3}
    expected = sp.train(params | {"n_jobs": 1}, dataset, rounds=4)
    for threads in (2, 3):
        assert sp.train(params | {"n_jobs": threads}, dataset, rounds=4) == expected
        assert sp.train(params | {"n_jobs": threads}, in_blocks(dataset, seed=threads), rounds=4) == expected
    # What a rank holds is fewer rows than a tree sees.
    cuts = [0, rows // 3, rows // 2, rows]
    found = raised(train_on_ranks(params | {"n_jobs": 1}, dataset, 4, cuts=cuts))
    assert found == [expected] * 3


def test_a_few_rows_drawn_from_many_give_the_same_bytes_on_any_threads_in_blocks_and_on_ranks():
    X, y = table(0, 3000)
    dataset = sp.Dataset(X, y, max_bin=40)
    params = {"max_bin": 40, "max_leaves": 12, "subsample": 0.2}
    expected = sp.train(params | {"n_jobs": 1}, dataset, rounds=4)
    for threads in (2, 3):
        assert sp.train(params | {"n_jobs": threads}, dataset, rounds=4) == expected
        assert sp.train(params | {"n_jobs": threads}, in_blocks(dataset, seed=threads), rounds=4) == expected
    found = raised(train_on_ranks(params | {"n_jobs": 1}, dataset, 4, cuts=[0, 700, 3000]))
    assert found == [expected] * 2

"""How the work on a node is shared out never shows in a tree, also where most columns have died."""

import numpy as np
import pytest
import scipy.sparse

import problems
import spinney as sp
from spinney.growth.kernels.schedule import SHARE_ROWS
from spinney.training import sharing

PARAMS = {"max_leaves": 40, "min_child_samples": 20, "learning_rate": 0.3}


def with_many_levels(rows, levels, front, back):
    """One-hot columns of which few have rows enough for a leaf, with lone columns before and after them."""
    rng = np.random.default_rng(rows)
    level = np.minimum(rng.geometric(8 / levels, rows), levels) - 1
    hot = scipy.sparse.csr_array((np.ones(rows), (np.arange(rows), level)), shape=(rows, levels))
    sides = [scipy.sparse.csr_array(rng.normal(size=(rows, n))) for n in (front, back) if n]
    y = np.sin(level) + sum(side.toarray()[:, 0] for side in sides) + 0.3 * rng.normal(size=rows)
    return scipy.sparse.hstack(
        [*sides[: 1 if front else 0], hot, *sides[1 if front else 0 :]], format="csr"
    ), y


@pytest.mark.parametrize(("front", "back"), [(3, 0), (0, 3), (2, 5), (0, 0)])
@pytest.mark.parametrize("rows", [700, 4 * SHARE_ROWS])
def test_dead_columns_are_left_out_without_a_trace(monkeypatch, rows, front, back):
    monkeypatch.setattr(sharing, "SHARE_VALUES", 0)
    X, y = with_many_levels(rows, 400, front, back)
    plain = sp.train(PARAMS | {"n_jobs": 1}, sp.Dataset(X.toarray(), y, bundle=False), 4).forest
    bundled, sparse = sp.Dataset(X, y), sp.Dataset(X, y, bundle=False)
    assert bundled.describe()["bundles"] >= 1
    for data in (bundled, sparse):
        for n_jobs in (1, 2, 3, 8):
            assert sp.train(PARAMS | {"n_jobs": n_jobs}, data, 4).forest.equal(plain)


@pytest.mark.parametrize(
    "more",
    [{"colsample_bytree": 0.4}, {"colsample_bynode": 0.4}, {"monotone_constraints": [1, 0, -1] + [1] * 100 + [0] * 300},
     {"interaction_constraints": [list(range(50)), list(range(50, 403))]}, {"min_child_samples": 1_500}],
    ids=lambda more: next(iter(more)),
)  # fmt: skip
def test_rules_about_columns_hold_in_runs_too(monkeypatch, more):
    monkeypatch.setattr(sharing, "SHARE_VALUES", 0)
    X, y = with_many_levels(3_000, 400, 3, 0)
    plain = sp.train(PARAMS | more | {"n_jobs": 1}, sp.Dataset(X.toarray(), y, bundle=False), 4).forest
    for n_jobs in (1, 2, 3):
        assert sp.train(PARAMS | more | {"n_jobs": n_jobs}, sp.Dataset(X, y), 4).forest.equal(plain)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("max_bin", [255, 700])
@pytest.mark.parametrize("threads", [1, 2])
def test_nodes_of_fewer_rows_than_bins_give_the_tree_of_the_oracle(threads, max_bin, missing):
    rng = np.random.default_rng(max_bin)
    X = rng.normal(size=(700, 3)).round(2)
    X[rng.random(X.shape) < missing] = np.nan
    pairs = problems.gradients(rng, 700)
    params = {"max_leaves": 60, "min_child_samples": 2, "max_bin": max_bin}
    dataset = sp.Dataset(X, max_bin=max_bin)
    fast, _ = problems.fast_tree(dataset, pairs, params, threads=threads)
    problems.assert_same_tree(fast, problems.slow_tree(dataset, pairs, params))
    assert (fast.count < dataset.matrix.bins.min()).mean() > 0.8

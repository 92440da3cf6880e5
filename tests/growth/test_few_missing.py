"""A handful of missing values does not decide where missing and unseen values go: they follow the larger side."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import category_oracle
import problems
import spinney as sp
from spinney.params import Config

METHODS = ("hist", "exact", "approx")
LEAST = 20


def numbers(missing, rows=400):
    """A step at a quarter of the rows; missing rows have the target of the smaller side, and more of it."""
    x = np.arange(rows, dtype=float)
    y = np.where(x < rows // 4, 4.0, 0.0)
    x[rows // 4 - missing : rows // 4] = np.nan
    y[np.isnan(x)] = 8.0
    return x.reshape(-1, 1), y


def stump(X, y, **params):
    return sp.train(
        {"max_leaves": 2, "min_child_samples": LEAST} | params, sp.Dataset(X, y, keep_table=True), 1
    )


@pytest.mark.kernels
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("missing", "side"), [(1, "larger"), (LEAST - 1, "larger"), (LEAST, "own"), (LEAST + 5, "own")]
)
def test_missing_numbers_decide_only_where_they_could_fill_a_leaf(method, missing, side):
    X, y = numbers(missing)
    of_gap, of_smaller, of_larger = stump(X, y, tree_method=method).predict([[np.nan], [0.0], [399.0]])
    assert of_smaller > of_larger
    assert of_gap == (of_larger if side == "larger" else of_smaller)


@pytest.mark.kernels
@pytest.mark.parametrize("method", METHODS)
def test_the_larger_side_is_found_when_it_is_the_left_one(method):
    X, y = numbers(3)
    of_gap, of_smaller, of_larger = stump(-X, y, tree_method=method).predict([[np.nan], [0.0], [-399.0]])
    assert of_gap == of_larger != of_smaller


def test_missing_entries_of_a_sparse_matrix_follow_the_same_rule():
    X, y = numbers(5)
    rows = np.flatnonzero(~np.isnan(X[:, 0]))
    stored = scipy.sparse.csc_matrix((X[rows, 0], (rows, np.zeros(len(rows), int))), shape=X.shape)
    dense = stump(X, y)
    sparse = sp.train(
        {"max_leaves": 2, "min_child_samples": LEAST}, sp.Dataset(stored, y, absent="missing"), 1
    )
    assert sparse.forest.equal(dense.forest)


@pytest.mark.parametrize("levels", [3, 12, 70])
@pytest.mark.parametrize("missing", [2, LEAST - 1, 40])
def test_the_set_of_categories_is_that_of_the_oracle(levels, missing):
    rng = np.random.default_rng([levels, missing])
    codes = rng.integers(0, levels, 1_000)
    y = np.round(rng.normal(size=levels)[codes] * 8 + rng.normal(size=1_000) * 4)
    gone = rng.choice(1_000, missing, replace=False)
    codes[gone], y[gone] = -1, 60.0
    text = np.array([f"c{code:02}" if code >= 0 else None for code in codes], dtype=object)
    params = {"base_score": 0.0, "reg_lambda": 1.0, "cat_smooth": 1.0, "min_data_per_group": 1}
    model = stump(pd.DataFrame({"c": text}), y, **params)
    order = model.schema.categories[0].numbers
    code = np.array([-1 if value is None else order[value] for value in text])
    sums = [
        (float(-y[code == b].sum()), float((code == b).sum()), int((code == b).sum()))
        for b in range(-1, levels)
    ]
    noise = category_oracle.noise_of(y, np.ones(len(y)))
    best = category_oracle.best_split(
        sums[1:], sums[0], Config.parse(params | {"min_child_samples": LEAST}), noise
    )
    tree = model.forest.tree(0)
    assert set(tree.sets.members(0)) == best[1]
    assert bool(tree.default_left[0]) == best[2]


def test_an_unseen_category_goes_with_most_rows_not_with_a_few_missing_ones():
    rng = np.random.default_rng(5)
    colour = np.array([f"c{k}" for k in range(10)], dtype=object)[rng.integers(0, 10, 2_000)]
    y = np.where(np.isin(colour, ["c1", "c2"]), 1.0, 0.0)
    colour[:3], y[:3] = None, 1.0
    strange = pd.DataFrame({"c": ["c99", None, "c5", "c1"]})
    model = sp.train({"objective": "log_loss"}, sp.Dataset(pd.DataFrame({"c": colour}), y), 20)
    unseen, gap, usual, rare = model.predict(strange)
    assert unseen == gap == usual
    assert rare > 0.8 > 0.2 > usual


@pytest.mark.parametrize("seed", range(4))
def test_any_number_of_threads_sends_few_missing_values_the_same_way(seed):
    rng = np.random.default_rng(seed)
    X = problems.table(rng, 300, 4)
    X[rng.random(X.shape) < 0.01] = np.nan
    y = rng.normal(size=300)
    models = [sp.train({"n_jobs": jobs}, sp.Dataset(X, y), 3) for jobs in (1, 2, 3)]
    assert models[0].forest.equal(models[1].forest)
    assert models[0].forest.equal(models[2].forest)

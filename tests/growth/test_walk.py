"""Rows that walk a tree reach the leaves that the rows which grew it are in, however the columns are kept."""

import numpy as np
import pytest
import scipy.sparse

import spinney as sp
from problems import gradients_record, grown
from spinney.growth.grower import HistGrower
from spinney.growth.kernels.spine import SPINE
from spinney.growth.kernels.walk import BATCH
from spinney.jit.team import Team
from spinney.params import parse
from spinney.sampling import Bag


def grow_and_walk(table, params, threads, gradients=None, **given):
    """Scores of the rows that grew a tree, and of the same rows after walking it."""
    data = sp.Dataset(table, **given)
    if gradients is None:
        gradients = np.random.default_rng(3).normal(size=data.rows)
    pairs = np.stack([gradients, np.ones(data.rows)], axis=1).astype(np.float32)
    with Team(threads) as team:
        moved, walked = np.zeros((2, 1, data.rows))
        config = parse(params | {"max_bin": data.max_bin})
        one = HistGrower(
            data.matrix, data.cuts, config, gradients_record(moved, pairs), Bag.of_all(data.rows), team
        )
        walk = one.walk(data.matrix, walked)
        tree = grown(one, seed=1)
        team.run(walk)
    return tree, moved[0], walked[0]


def one_hot(rows, rng, missing):
    """Exclusive columns of few and of many values; some stored values may be missing."""
    owner = rng.integers(0, 40, rows)
    values = np.where(owner < 8, rng.integers(-3, 4, rows), 1).astype(float)
    if missing:
        values[rng.random(rows) < 0.2] = np.nan
    return scipy.sparse.csr_array((values, (np.arange(rows), owner)), shape=(rows, 40))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH + 5])
def test_any_number_of_rows(rows, threads):
    rng = np.random.default_rng(rows)
    table = np.where(rng.random((rows, 4)) < 0.1, np.nan, rng.normal(size=(rows, 4)))
    tree, grown, walked = grow_and_walk(table, {"max_leaves": 60, "min_child_samples": 1}, threads)
    assert grown.tobytes() == walked.tobytes()
    assert len(tree.value) > 60 or rows < 60


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("missing", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("bundle", [True, False], ids=["bundled", "plain"])
def test_bundled_and_sparse_columns(bundle, missing, absent):
    table = one_hot(2 * BATCH + 3, np.random.default_rng(5), missing)
    params = {"max_leaves": 80, "min_child_samples": 1, "min_child_weight": 0.0, "reg_lambda": 0.1}
    tree, grown, walked = grow_and_walk(table, params, 2, bundle=bundle, absent=absent)
    assert grown.tobytes() == walked.tobytes()
    assert len(tree.value) > 40


def test_the_last_of_65_535_bins_and_missing_values():
    rows = 70_000
    table = np.arange(rows, dtype=float).reshape(-1, 1)
    table[::7] = np.nan
    tree, grown, walked = grow_and_walk(table, {"max_leaves": 500, "min_child_samples": 1}, 2, max_bin=65_536)
    assert grown.tobytes() == walked.tobytes()
    assert len(tree.value) > 500


def mean_depth(tree):
    """Splits that an average row of the training passes."""
    inner = tree.feature >= 0
    return tree.count[inner].sum() / tree.count[0]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("levels", [60, 600], ids=["bytes", "words"])
@pytest.mark.parametrize("kind", ["zero", "missing", "gaps", "dense"])
def test_trees_like_chains(kind, levels, threads):
    rows = BATCH + 4_000
    rng = np.random.default_rng(levels)
    owner = rng.integers(0, levels, rows)
    # Some values below 0, so that the few rows of a split are now on the left, now on the right.
    values = np.where(owner % 3 == 0, -1.0, 1.0)
    if kind == "gaps":
        values[rng.random(rows) < 0.1] = np.nan
    table = scipy.sparse.csr_array((values, (np.arange(rows), owner)), shape=(rows, levels))
    absent = "missing" if kind == "missing" else "zero"
    given = {} if kind == "dense" else {"absent": absent}
    gradients = np.sin(owner) * 3.0 ** (owner % 7)
    params = {"max_leaves": 50, "min_child_samples": 1, "min_child_weight": 0.0, "reg_lambda": 0.0}
    tree, grown, walked = grow_and_walk(
        table.toarray() if kind == "dense" else table, params, threads, gradients, **given
    )
    assert mean_depth(tree) > 15
    assert len(np.unique(walked)) > 20
    assert grown.tobytes() == walked.tobytes()


def test_the_longest_spine_there_can_be():
    levels = SPINE + 60
    owner = np.repeat(np.arange(levels), 3)
    table = scipy.sparse.csr_array((np.ones(len(owner)), (np.arange(len(owner)), owner)))
    gradients = 2.0 ** -(owner / 40) * 1000
    params = {"max_leaves": levels, "min_child_samples": 1, "min_child_weight": 0.0, "reg_lambda": 0.0}
    tree, grown, walked = grow_and_walk(table, params, 2, gradients)
    assert grown.tobytes() == walked.tobytes()
    assert tree.depth > SPINE


@pytest.mark.kernels
def test_a_small_chain():
    owner = np.repeat(np.arange(20), 6)
    table = scipy.sparse.csr_array((np.ones(120), (np.arange(120), owner)))
    params = {"max_leaves": 20, "min_child_samples": 1, "min_child_weight": 0.0, "reg_lambda": 0.0}
    tree, grown, walked = grow_and_walk(table, params, 1, 2.0 ** -(owner / 4) * 100)
    assert mean_depth(tree) > 8
    assert grown.tobytes() == walked.tobytes()

"""Diagnostics of forests that spinney has grown itself: their bags are drawn anew, and must be those of the training."""

from functools import cache

import numpy as np
import pytest

from spinney.data import ForestTarget
from spinney.dataset import Dataset
from spinney.inspection.leaf_neighbours import predict_quantiles
from spinney.inspection.out_of_bag import bags_of, out_of_bag
from spinney.inspection.permutation import out_of_bag_importance
from spinney.inspection.strength import diagnose
from spinney.model.forest import ForestModel
from spinney.params import ForestConfig
from spinney.training.forest import train_forest

ROWS = 300
DRAWS = {
    "bootstrap": {},
    "few draws": {"max_samples": 0.3},
    "no replacement": {"max_samples": 0.5, "bootstrap": False},
}


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 5)).round(1)
    return X, X[:, 0] * 2 + X[:, 1] + rng.normal(size=ROWS) * 0.3


@cache
def trained(draws, classes=False):
    """A forest and its training table."""
    X, y = problem()
    target = ForestTarget((y > 0).astype(np.int64)[:, None], (2,)) if classes else ForestTarget(y[:, None])
    config = ForestConfig(
        criterion="gini" if classes else "squared_error", max_features=None, min_samples_leaf=2, random_state=7,
        keep_leaf_rows=not classes, **DRAWS[draws],
    )  # fmt: skip
    dataset = Dataset(X, bundle=False)
    return train_forest(config, dataset.binned, target, trees=8), dataset.binned.raw.table(), target.values


@pytest.mark.parametrize("draws", DRAWS)
def test_a_leaf_predicts_the_mean_of_the_rows_of_its_bag(draws):
    model, table, target = trained(draws)
    bags, leaves, known = bags_of(model, ROWS, "a test"), model.leaf_numbers(table), model.leaf_rows
    for tree, leaf in enumerate(leaves.T):
        counts = bags.counts(tree)
        first, last = model.forest.leaf_start[tree : tree + 2]
        sums = np.bincount(leaf, counts * target[:, 0], minlength=last - first)
        weights = np.bincount(leaf, counts, minlength=last - first)
        np.testing.assert_allclose(model.forest.value[first:last], sums / weights, rtol=1e-6)
        for number in range(last - first):
            entries = slice(known.start[first + number], known.start[first + number + 1])
            inside = np.flatnonzero((leaf == number) & (counts > 0))
            assert known.rows[entries].tolist() == inside.tolist()
            assert known.counts[entries].tolist() == counts[inside].tolist()


@pytest.mark.parametrize("draws", DRAWS)
def test_trees_are_worse_on_rows_that_they_did_not_see(draws):
    for classes in (False, True):
        model, table, target = trained(draws, classes)
        found = out_of_bag(model, table, target)
        seen = diagnose(model, table, target).error
        unseen = diagnose(model, table, target, out_of_bag=True).error
        assert 0.7 < found.score() < 1
        assert np.nanmean(found.tree_scores) < found.score()
        assert seen < unseen


def test_the_columns_that_make_the_target_are_the_important_ones():
    model, table, target = trained("bootstrap")
    found = out_of_bag_importance(model, table, target)
    assert np.argsort(found.importances_mean)[::-1][:2].tolist() == [0, 1]
    assert (abs(found.importances_mean[2:]) < 0.05).all()


def test_quantiles_hold_their_share_of_the_targets_and_survive_a_file():
    model, table, target = trained("bootstrap")
    loaded = ForestModel.from_bytes(model.to_bytes())
    found = predict_quantiles(loaded, table, [0.05, 0.5, 0.95])
    assert np.array_equal(found, predict_quantiles(model, table, [0.05, 0.5, 0.95]))
    inside = (target[:, 0] >= found[:, 0]) & (target[:, 0] <= found[:, 2])
    assert 0.85 < inside.mean() <= 1
    assert (np.diff(found, axis=1) >= 0).all()

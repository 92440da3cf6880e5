"""Compact forests of any shape, and the plainest walk down them."""

import numpy as np

from spinney.data import Schema
from spinney.data.categories import Categories
from spinney.model.forest import ForestModel
from spinney.params import ForestConfig
from spinney.tree import CompactForest, GrownTree


def random_tree(rng, splits, cuts, classes, outputs=1, weights="whole", categories=()):
    """A tree of so many splits. `cuts` has the number of cuts of each column, `categories` that of categories, or 0."""
    children = np.zeros(2 * splits, np.int32)
    waiting, split, leaf = [(splits, None)], 0, 0
    while waiting:
        size, place = waiting.pop()
        if size == 0:
            if place is not None:
                children[place] = ~leaf
            leaf += 1
            continue
        if place is not None:
            children[place] = split
        left = int(rng.integers(size))
        waiting += [(size - 1 - left, 2 * split + 1), (left, 2 * split)]
        split += 1
    column = rng.integers(len(cuts), size=splits).astype(np.int32)
    counts = np.array(categories if len(categories) else [0] * len(cuts))
    cut, sets = np.zeros(splits, np.int32), []
    for i in range(splits):
        many = int(counts[column[i]])
        if many:
            cut[i] = len(sets)
            sets.append(rng.integers(-(2**62), 2**62, (many + 63) // 64))
        else:
            cut[i] = rng.integers(cuts[column[i]])
    value, weight = random_leaves(rng, splits + 1, classes, outputs, weights)
    return GrownTree(
        column, cut, rng.integers(2, size=splits).astype(np.uint8), children, rng.random(splits), value.reshape(-1), weight,
        rng.integers(1, 5, splits + 1), sets,
    )  # fmt: skip


def random_leaves(rng, leaves, classes, outputs, weights):
    """Values and weights of leaves: those of classes add up to the weight."""
    weight = rng.integers(1, 20, leaves).astype(float) if weights == "whole" else rng.random(leaves) + 0.1
    if not classes:
        return rng.normal(size=(leaves, outputs)), weight
    parts = []
    for many in classes:
        chosen = rng.integers(many, size=(2, leaves))
        share = np.floor(weight / 3) if weights == "whole" else weight / 3
        part = np.zeros((leaves, many))
        np.add.at(part, (np.arange(leaves), chosen[0]), share)
        np.add.at(part, (np.arange(leaves), chosen[1]), weight - share)
        parts.append(part)
    return np.concatenate(parts, axis=1), weight


def cuts_of(rng, cuts):
    """So many ascending cuts for each column: some whole numbers, some not."""
    columns = [np.sort(rng.permutation(4 * many)[:many]) / 2 - many for many in cuts]
    return np.concatenate([[0], np.cumsum(cuts)]).astype(np.int64), np.concatenate([[], *columns])


def random_forest(seed, splits, columns=4, cuts=7, classes=(2,), outputs=1, weights="whole", categories=()):
    """Trees of these numbers of splits."""
    rng = np.random.default_rng(seed)
    many = [0 if len(categories) and categories[c] else cuts for c in range(columns)]
    start, values = cuts_of(rng, many)
    grown = [random_tree(rng, size, many, classes, outputs, weights, categories) for size in splits]
    return CompactForest.of(grown, start, values, sum(classes) if classes else outputs)


def random_model(
    seed, splits, columns=4, classes=(2,), outputs=1, categories=(), names=None, absent="zero", **more
):
    """A forest model of such a forest; category c of a column is the number 10 * c."""
    forest = random_forest(
        seed, splits, columns, classes=classes, outputs=outputs, categories=categories, **more
    )
    known = None
    if len(categories):
        known = tuple(
            Categories(tuple(10 * c for c in range(many)), many) if many else None for many in categories
        )
    config = ForestConfig(criterion="gini" if classes else "squared_error", absent=absent)
    return ForestModel(forest, config, Schema(names, columns, known), classes, outputs, rows=100)


def random_table(seed, rows, columns=4, missing=0.1, categories=(), dtype=np.float64):
    """Values on cuts, between them and outside; of categorical columns the categories of `random_model`."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-20, 20, (rows, columns)) / 4
    for c, many in enumerate(categories):
        if many:
            X[:, c] = 10 * rng.integers(many, size=rows)
    X[rng.random(X.shape) < missing] = np.nan
    return X.astype(dtype)


def leaves(forest, X, categories=()):
    """Leaf of every row in each tree."""
    found = np.zeros((len(X), forest.trees), np.int32)
    for t in range(forest.trees):
        first, last = forest.split_start[t : t + 2].tolist()
        for row, values in enumerate(X.tolist()):
            at = 0 if last > first else -1
            while at >= 0:
                i = first + at
                at = int(forest.children[2 * i + (0 if _left(forest, i, values, categories) else 1)])
            found[row, t] = ~at
    return found


def _left(forest, i, values, categories):
    column, cut = int(forest.column[i]), int(forest.cut[i])
    x = values[column]
    if x != x:
        return forest.default_left[i] == 1
    if len(categories) and categories[column]:
        word = int(forest.set_bits[forest.set_start[cut] + (int(x) // 10 >> 6)])
        return (word >> (int(x) // 10 & 63)) & 1 == 1
    return x <= forest.cuts[forest.cut_start[column] + cut]


def means(forest, X, shares, categories=()):
    """Values of every row, added tree after tree."""
    sums = np.zeros((len(X), forest.values))
    for t, leaf in enumerate(leaves(forest, X, categories).T):
        value = forest.value.reshape(-1, forest.values)[forest.leaf_start[t] + leaf].astype(float)
        weight = forest.weight[forest.leaf_start[t] + leaf].astype(float)
        sums += value / weight[:, None] if shares else value
    return sums / forest.trees

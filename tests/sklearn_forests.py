"""Forests of scikit-learn as forests of spinney: the same trees, the same bags."""

from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from spinney.data import Schema, read_table
from spinney.data.table import as_matrix
from spinney.model.forest import ForestModel
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.params import ForestConfig
from spinney.tree import CompactForest, GrownTree


@dataclass
class Converted:
    """A forest of scikit-learn, the same as a model, its training table and targets, and its bags, (trees, rows)."""

    sklearn: object
    model: ForestModel
    table: object
    target: np.ndarray
    bags: np.ndarray

    @property
    def out(self):
        """Which rows each tree has not seen, (trees, rows)."""
        return self.bags == 0

    @property
    def matrix(self):
        return as_matrix(self.table)

    @property
    def shares(self):
        """What each tree says of the classes of each training row: of each output (trees, rows, classes)."""
        said = [tree.predict_proba(self.matrix) for tree in self.sklearn.estimators_]
        by_output = said if self.model.outputs > 1 else [[one] for one in said]
        return [np.array([tree[output] for tree in by_output]) for output in range(self.model.outputs)]

    def predictions(self, X=None):
        """What each tree predicts, (trees, rows, outputs): class numbers or numbers."""
        X = self.matrix if X is None else X
        said = np.array([tree.predict(X) for tree in self.sklearn.estimators_])
        said = said.reshape(len(said), len(X), -1)
        return said.astype(np.int64) if self.model.classes else said


def converted(forest, X, y, weight=None, keep_leaf_rows=False):
    """Fit a forest of scikit-learn to float32 values and convert it."""
    X = np.asarray(X, np.float32).astype(np.float64)  # what scikit-learn's trees compare
    forest.fit(X, y, sample_weight=weight)
    target = np.asarray(y).reshape(len(X), -1)
    classes = ()
    if is_classifier(forest):
        labels = forest.classes_ if target.shape[1] > 1 else [forest.classes_]
        classes = tuple(len(known) for known in labels)
        target = np.column_stack([np.searchsorted(*pair) for pair in zip(labels, target.T, strict=True)])
    else:
        target = target.astype(np.float64)
    bags = bags_of(forest, len(X))
    kept = leaf_rows_of(forest, X, bags, target, weight) if keep_leaf_rows else None
    return Converted(forest, model_of(forest, X, target, classes, kept), read_table(X), target, bags)


def model_of(forest, X, target, classes, leaf_rows=None):
    """The trees of a fitted forest as a model."""
    config = ForestConfig(
        criterion="gini" if classes else "squared_error",
        bootstrap=forest.bootstrap,
        max_samples=forest.max_samples,
        keep_leaf_rows=leaf_rows is not None,
    )
    return ForestModel(
        forest=compact_of([tree.tree_ for tree in forest.estimators_], X.shape[1], classes),
        config=config, schema=Schema(None, X.shape[1]), classes=classes,
        outputs=target.shape[1], rows=len(X), leaf_rows=leaf_rows,
    )  # fmt: skip


def bags_of(forest, rows):
    """How often each tree of a forest has each row."""
    if not forest.bootstrap:
        return np.ones((len(forest.estimators_), rows), np.int32)
    return np.array([np.bincount(drawn, minlength=rows) for drawn in forest.estimators_samples_], np.int32)


def compact_of(trees, columns, classes):
    """The trees of scikit-learn, which stand in preorder, as a compact forest."""
    used = [
        np.unique(np.concatenate([tree.threshold[tree.feature == column] for tree in trees]))
        for column in range(columns)
    ]
    start = np.concatenate([[0], np.cumsum([len(cuts) for cuts in used])])
    values = sum(classes) if classes else trees[0].value.shape[1]
    grown = [_grown(tree, used, classes) for tree in trees]
    return CompactForest.of(grown, start, np.concatenate(used), values)


def _grown(tree, cuts, classes):
    leaf = tree.children_left < 0
    number = np.where(leaf, ~(np.cumsum(leaf) - 1), np.cumsum(~leaf) - 1)
    inner = np.flatnonzero(~leaf)
    value = tree.value[leaf][:, :, 0]
    if classes:
        shares = [tree.value[leaf, output, :known] for output, known in enumerate(classes)]
        value = np.concatenate(shares, axis=1) * tree.weighted_n_node_samples[leaf, None]
        value = np.where(abs(value - value.round()) < 1e-9, value.round(), value)
    children = np.stack([number[tree.children_left[inner]], number[tree.children_right[inner]]], axis=1)
    cut = [np.searchsorted(cuts[tree.feature[i]], tree.threshold[i]) for i in inner]
    return GrownTree(
        column=tree.feature[inner].astype(np.int32), cut=np.array(cut, np.int32),
        default_left=np.zeros(len(inner), np.uint8), children=children.ravel().astype(np.int32),
        gain=np.zeros(len(inner)), value=np.ascontiguousarray(value, np.float64).ravel(),
        weight=tree.weighted_n_node_samples[leaf].astype(np.float64),
        count=tree.n_node_samples[leaf].astype(np.int64),
    )  # fmt: skip


def leaf_rows_of(forest, X, bags, targets, weight):
    """The rows of each tree's bag by leaf."""
    lists = []
    for tree, nodes, bag in zip(forest.estimators_, forest.apply(X).T, bags, strict=True):
        leaf = np.cumsum(tree.tree_.children_left < 0)[nodes] - 1
        inside = np.flatnonzero(bag)
        order = inside[np.argsort(leaf[inside], kind="stable")]
        sizes = np.bincount(leaf[inside], minlength=tree.tree_.n_leaves)
        lists.append((np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), order.astype(np.int32)))
    return TrainingRowsByLeaf.of(lists, lambda tree: bags[tree], targets, weight)


def _table(rows, columns, seed):
    """Few distinct values, so that trees meet ties."""
    return np.random.default_rng(seed).integers(0, 6, size=(rows, columns)) / 2.0


def _labels(X, classes, seed):
    noise = np.random.default_rng(seed).normal(size=len(X))
    return np.digitize(X[:, 0] + X[:, 1] * 0.5 + noise, np.linspace(0.5, 3.0, classes - 1))


@cache
def case(name):
    """A small forest of a kind, converted."""
    X = _table(70, 4, seed=1)
    number = X[:, 0] * 2 + X[:, 1] + np.random.default_rng(2).normal(size=len(X))
    one, two = _labels(X, 3, seed=3), _labels(X[:, 2:], 2, seed=4)
    classifier = partial(RandomForestClassifier, random_state=5, max_depth=4)
    regressor = partial(RandomForestRegressor, random_state=6, min_samples_leaf=3)
    made = {
        "classes": lambda: converted(classifier(13), X, one),
        "two classes": lambda: converted(classifier(9), X, two),
        "outputs": lambda: converted(classifier(11), X, np.column_stack([one, two])),
        "one class": lambda: converted(classifier(5), X, np.zeros(70, int)),
        "few trees": lambda: converted(classifier(3), X, one),
        "one tree": lambda: converted(classifier(1), X, one),
        "no bags": lambda: converted(classifier(3, bootstrap=False), X, one),
        "weights": lambda: converted(classifier(7), X, one, weight=np.linspace(0.1, 2.3, 70)),
        "numbers": lambda: converted(regressor(12), X, number, keep_leaf_rows=True),
        "two numbers": lambda: converted(
            regressor(10), X, np.column_stack([number, X[:, 3] - number]), keep_leaf_rows=True
        ),
        "weighted numbers": lambda: converted(
            regressor(6), X, number, weight=np.arange(70.0) % 4, keep_leaf_rows=True
        ),
        "one tree of numbers": lambda: converted(regressor(1), X, number),
        "few numbers": lambda: converted(regressor(3), X, number),
    }
    return made[name]()

"""Tables for trees of forests, as the grower, its oracle and scikit-learn see them."""

from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from forest_follower import GrownSplit
from forest_oracle import Problem, path_of_child

KEY = 20_260_101  # of a root; any number


def problem_of(X, y, weight=None, classes=(), categorical=()):
    """Codes of a table in which every value has a bin of its own."""
    values = [np.unique(x[~np.isnan(x)]) for x in X.T]
    codes = [np.where(np.isnan(x), len(v), np.searchsorted(v, x)) for x, v in zip(X.T, values, strict=True)]
    weight = np.ones(len(y), int) if weight is None else weight
    bins = [len(v) for v in values]
    return Problem(np.array(codes).T, bins, values, np.reshape(y, (len(y), -1)), weight, classes, categorical)


def table_of(seed, rows=50, columns=4, missing=0.0):
    """Random numbers that scikit-learn's float32 holds exactly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)).astype(np.float32).astype(np.float64)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def target_of(criterion, X, seed, outputs=1, classes=3):
    """A target that the first columns tell something about."""
    rng = np.random.default_rng(seed)
    known = np.nan_to_num(X)
    targets = []
    for k in range(outputs):
        signal = known[:, k] + known[:, (k + 1) % X.shape[1]] ** 2 + rng.normal(size=len(X))
        if criterion in ("gini", "entropy"):
            targets.append(np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes)))
        elif criterion == "poisson":
            targets.append(rng.poisson(np.exp(signal / 3)).astype(float))
        else:
            targets.append(signal)
    return np.stack(targets, axis=1)


def weights_of(rows, seed, most=1000):
    """Whole weights, some of them 0; those up to 1000 make equal scores unlikely."""
    return np.random.default_rng(seed).integers(0, most + 1, rows)


def scikit_learn_tree(problem, X, rules):
    """The tree that scikit-learn grows by the same rules."""
    twin = DecisionTreeClassifier if problem.classes else DecisionTreeRegressor
    directions = [rules.monotone.get(column, 0) for column in range(problem.columns)]
    estimator = twin(
        criterion=rules.criterion, max_depth=rules.max_depth or None, min_samples_split=rules.least_split,
        min_samples_leaf=rules.least_leaf, min_weight_fraction_leaf=rules.least_weight / int(problem.weight.sum()),
        min_impurity_decrease=rules.least_decrease, max_leaf_nodes=rules.max_leaves or None, ccp_alpha=rules.ccp_alpha,
        monotonic_cst=directions if rules.monotone else None, random_state=0,
    )  # fmt: skip
    return estimator.fit(X, problem.target, sample_weight=problem.weight).tree_


def splits_of_scikit_learn(tree, problem, key=KEY):
    """{key of a node: GrownSplit} of a tree of scikit-learn."""
    found, waiting = {}, [(0, key)]
    while waiting:
        node, key = waiting.pop()
        if tree.children_left[node] < 0:
            continue
        column = int(tree.feature[node])
        cut = int(np.searchsorted(problem.values[column], tree.threshold[node], side="right")) - 1
        found[key] = GrownSplit(column, cut, bool(tree.missing_go_to_left[node]))
        waiting.append((tree.children_left[node], path_of_child(key, 0)))
        waiting.append((tree.children_right[node], path_of_child(key, 1)))
    return found


def leaves_of_scikit_learn(tree, problem):
    """Value of every leaf from left to right, as a leaf of ours holds it."""
    values, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if tree.children_left[node] >= 0:
            waiting += [tree.children_right[node], tree.children_left[node]]
            continue
        value = tree.value[node]
        if problem.classes:
            shares = np.concatenate([value[k, :classes] for k, classes in enumerate(problem.classes)])
            values.append(shares * tree.weighted_n_node_samples[node])
        else:
            values.append(value[:, 0])
    return np.array(values)


@dataclass(frozen=True, eq=False)
class PlainTree:
    """A tree of a forest of ours as plain lists. A split's child is a split's number, or ~number of a leaf."""

    column: list
    threshold: list  # a number, or the set of categories that go left
    default_left: list
    children: list
    gain: list
    value: np.ndarray
    weight: np.ndarray
    count: np.ndarray

    def leaf_of(self, x):
        """Number of the leaf that a row of values reaches."""
        node = 0 if self.column else ~0
        while node >= 0:
            value, threshold = x[self.column[node]], self.threshold[node]
            if isinstance(threshold, frozenset):
                left = self.default_left[node] if np.isnan(value) else int(value) in threshold
            else:
                left = self.default_left[node] if np.isnan(value) else value <= threshold
            node = self.children[2 * node + (0 if left else 1)]
        return ~node

    def depths(self):
        """Depth of every leaf."""
        depths, waiting = {}, [(0 if self.column else ~0, 0)]
        while waiting:
            node, depth = waiting.pop()
            if node < 0:
                depths[~node] = depth
            else:
                waiting += [(child, depth + 1) for child in self.children[2 * node : 2 * node + 2]]
        return [depths[leaf] for leaf in range(len(self.weight))]


def plain_tree(forest, t):
    """Tree t of a compact forest."""
    splits = slice(int(forest.split_start[t]), int(forest.split_start[t + 1]))
    leaves = slice(int(forest.leaf_start[t]), int(forest.leaf_start[t + 1]))
    thresholds = []
    for column, cut in zip(forest.column[splits].tolist(), forest.cut[splits].tolist(), strict=True):
        first, end = forest.cut_start[column : column + 2].tolist()
        if end > first:
            thresholds.append(float(forest.cuts[first + cut]))
        else:
            words = forest.set_bits[forest.set_start[cut] : forest.set_start[cut + 1]].tolist()
            bits = range(64 * len(words))
            thresholds.append(frozenset(bit for bit in bits if words[bit // 64] >> (bit % 64) & 1))
    return PlainTree(
        column=forest.column[splits].tolist(),
        threshold=thresholds,
        default_left=forest.default_left[splits].astype(bool).tolist(),
        children=forest.children[2 * splits.start : 2 * splits.stop].tolist(),
        gain=forest.gain[splits].tolist(),
        value=forest.value.reshape(forest.leaves, -1)[leaves].astype(float),
        weight=forest.weight[leaves].astype(float),
        count=forest.count[leaves].astype(int),
    )


def splits_of_ours(tree, problem, key=KEY):
    """{key of a node: GrownSplit} of a tree of ours."""
    found, waiting = {}, [(0 if tree.column else ~0, key)]
    while waiting:
        node, key = waiting.pop()
        if node < 0:
            continue
        column, cut = tree.column[node], tree.threshold[node]
        if not isinstance(cut, frozenset):
            cut = int(np.searchsorted(problem.values[column], cut, side="right")) - 1
        found[key] = GrownSplit(column, cut, tree.default_left[node])
        waiting += [(tree.children[2 * node + side], path_of_child(key, side)) for side in (0, 1)]
    return found

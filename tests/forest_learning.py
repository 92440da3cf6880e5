"""Growing trees of forests, and what their oracle sees of the same table."""

import itertools

import numpy as np
from scipy.sparse import csr_array

from forest_oracle import Problem
from forest_problems import problem_of
from oracles import bins_of_matrix
from spinney import Dataset
from spinney.data.target import ForestTarget
from spinney.growth.forest.grower import ForestGrower
from spinney.growth.forest.table import bin_values, binned_table, ranked_table
from spinney.jit.team import Team
from spinney.params import ForestConfig
from spinney.tree.compact import CompactForest

SEED = 11


def seen_by(method, X, y, weight=None, classes=(), categorical=(), max_bin=255, absent=None):
    """A data set, and the problem that its trees solve: bins with the values that stand for them, or values themselves.

    With `absent` the table is sparse, and zeros or missing values are not stored.
    """
    table = X
    if absent is not None:
        stored = np.nonzero(X != 0 if absent == "zero" else ~np.isnan(X))
        table = csr_array((X[stored], stored), shape=X.shape)
    dataset = Dataset(
        table, bundle=False, categorical=list(categorical), max_bin=max_bin, absent=absent, keep_table=True
    )
    if method == "exact":
        problem = problem_of(X, y, weight, classes, categorical)
        if not categorical:
            return dataset, problem
    starts, values = bin_values(dataset.cuts)
    values = [values[a:b] for a, b in itertools.pairwise(starts)]
    codes, bins = bins_of_matrix(dataset.binned.matrix()), dataset.cuts.bins.tolist()
    if method == "exact":
        for column in set(range(X.shape[1])) - set(categorical):
            codes[:, column], bins[column] = problem.codes[:, column], problem.bins[column]
            values[column] = problem.values[column]
    weight = np.ones(len(y), int) if weight is None else weight
    return dataset, Problem(codes, bins, values, np.reshape(y, (len(y), -1)), weight, classes, categorical)


def forest_of(dataset, problem, rules, method="hist", trees=1, threads=1, **parameters):
    """The forest that is grown by the rules of an oracle."""
    directions = tuple(rules.monotone.get(column, 0) for column in range(problem.columns))
    config = ForestConfig(
        criterion=rules.criterion, splitter=rules.splitter, max_depth=rules.max_depth, tree_method=method,
        min_samples_split=rules.least_split, min_samples_leaf=rules.least_leaf,
        min_weight_fraction_leaf=rules.least_weight / int(problem.weight.sum()), max_features=rules.max_features or None,
        min_impurity_decrease=rules.least_decrease, max_leaf_nodes=rules.max_leaves, ccp_alpha=rules.ccp_alpha,
        monotonic_cst=directions if rules.monotone else None, **{"bootstrap": False, "random_state": SEED, **parameters},
    )  # fmt: skip
    kind = np.int64 if problem.classes else np.float64
    target = ForestTarget(np.ascontiguousarray(problem.target, kind), problem.classes)
    if method == "exact":
        table = ranked_table(
            dataset.binned.matrix(), dataset.cuts, dataset.binned.raw.sorted_columns(threads)
        )
    else:
        table = binned_table(dataset.binned.matrix(), dataset.cuts)
    with Team(threads) as team:
        grower = ForestGrower(config, table, target, problem.weight.astype(float), team)
        grown, cut_start, cuts = grower.grow_forest(0, trees)
    return CompactForest.of(grown, cut_start, cuts, values=target.leaf_values)

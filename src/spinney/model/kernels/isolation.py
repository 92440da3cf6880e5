"""Scores of an isolation forest, and what each column did to the length of a row's paths."""

import numpy as np

from spinney.jit import Member, f64, i32, i64, kernel, out, record
from spinney.jit.math import exp


@record
class Parents:
    """Nodes of a forest from their leaves up, counted over all trees."""

    trees: i64
    nodes: i64
    columns: i64
    starts: i64["trees + 1"]
    parent: i32["nodes"]  # -1: a root
    feature: i32["nodes"]
    saved: f64["nodes"]  # by the split above the node


@kernel
def score_paths(rows: i64, factor: f64, lengths: out(f64["rows"])):
    """Turn lengths of paths into scores, where they stand: -exp(-factor * length)."""
    for i in range(rows):
        lengths[i] = -exp(-factor * lengths[i])


@kernel
def explain_leaves(
    team: Member, rows: i64, forest: Parents, leaves: i32["rows * forest.trees"], shares: out(f64["rows * forest.columns"])
):
    """Add up, by column, what the splits above each row's leaves saved: the mean over all trees."""
    trees = forest.trees
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        at = i * forest.columns
        for t in range(trees):
            node = forest.starts[t] + np.int64(leaves[i * trees + t])
            above = np.int64(forest.parent[node])
            while above >= 0:
                shares[at + forest.feature[above]] += forest.saved[node]
                node = above
                above = np.int64(forest.parent[node])
        for c in range(forest.columns):
            shares[at + c] /= float(trees)

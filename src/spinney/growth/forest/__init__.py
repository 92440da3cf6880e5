"""The trees of a forest from bins and targets.

Enters: a binned matrix or ranks, targets, weights, parameters. Leaves: grown trees.
Does not depend on models, files or estimators. `grower.py` owns the memory and calls the kernels; `kernels/` grows.

Trees of a forest do not depend on each other, are grown deep, and few columns are searched at a node. So they have a grower of
their own, which moves rows together with their codes (`kernels/records.py`) and grows depth first (`kernels/grow.py`).

A node's split depends on its rows and its path from the root alone, and not on the thread that splits it or when. Its *key* is
made of the tree's seed and of the turns from the root; columns and drawn cuts are random bits of (key, purpose, draw).

`tree_method="exact"` is the same kernels on other codes: the rank of a value among the distinct ones of its column (`table.py`).
"""

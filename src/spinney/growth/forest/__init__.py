"""The trees of a forest from bins and targets.

Enters: a binned matrix or ranks, targets, weights, parameters. Leaves: grown trees.
Does not depend on models, files or estimators. `grower.py` owns the memory and calls the kernels; `kernels/` grows.
"""

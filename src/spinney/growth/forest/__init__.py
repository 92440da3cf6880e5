"""The trees of a forest from bins and targets.

Enters: a binned matrix or ranks, targets, weights, parameters. Leaves: grown trees.
Must not know: models, files, estimators. `learner.py` owns the memory and calls the kernels; `kernels/` grows.
"""

"""Columns of numbers → small bin numbers.

Enters: a `Table`. Leaves: a `Dataset`: cuts, the binned matrix, target, weights; the raw table is not kept.
Must not know: gradients, trees, how a model is trained.
"""

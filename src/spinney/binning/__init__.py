"""Columns of numbers → small bin numbers.

Enters: a `Table`. Leaves: a `Dataset`: cuts, a plan, the binned matrix, target, weights; sorted columns and fine bins on demand.
Must not know: gradients, trees, how a model is trained.
"""

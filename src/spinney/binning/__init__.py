"""Columns of numbers → small bin numbers.

Enters: a `Table` and labels. Leaves: `BinnedData`: cuts, a plan, codes, labels; sorted columns and fine bins on demand.
Does not depend on gradients, trees or how a model is trained.
"""

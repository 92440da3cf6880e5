"""Kernels of losses: gradients and hessians, leaf values that a loss computes itself, predictions from scores.

`pointwise` has the formulas of losses of one score and their frame; `classes`, `ranking` and `survival` have the other losses.
`leaf_values` finds quantiles and does line searches, `links` makes predictions of scores, `common` is for all of them.
"""

"""The kernels of prediction.

`walk` predicts rows of values, and `sparse` the stored entries of a sparse table. `compact_walk` turns either into codes, walks
the deep trees of a compact forest with them, and sums the values of leaves. `heaps` walks trees of few levels, `medians` finds
weighted medians over trees. `records` is what they share.
"""

"""The kernels of prediction.

`walk` takes rows of values, `sparse` the stored entries of a sparse table. For the deep trees of a compact forest, `coded` turns
either into codes, `deep` walks them and `leaf_sums` adds up what it finds.
"""

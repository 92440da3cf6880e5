"""The trees of an isolation forest.

Enters: a table of numbers and categories, parameters. Leaves: trees that split few rows at random, as flat node arrays.
Does not depend on models, files or estimators. `grower.py` gathers the values of each tree's rows, owns the memory and calls the
kernel; `kernels/` grows.
"""

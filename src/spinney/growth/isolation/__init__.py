"""The trees of an isolation forest.

Enters: a table of numbers and categories, parameters. Leaves: trees that part few rows at random, as flat node arrays.
Must not know: models, files, estimators. `sample.py` gathers the values of each tree's rows, `learner.py` owns the memory and
calls the kernel, `kernels/` grows.
"""

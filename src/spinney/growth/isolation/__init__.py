"""The trees of an isolation forest.

Enters: a table of numbers and categories, parameters. Leaves: trees that split few rows at random, as flat node arrays.
Does not depend on models, files or estimators. `grower.py` gathers the values of each tree's rows, owns the memory and calls the
kernel; `kernels/` grows.

A tree sees 256 rows by default, so it needs no bins. Its rows are drawn in a time that does not depend on how many there are
(`sampling/bags.py`), and one thread parts them at random while they are in cache. A node's value is the length of the paths that
end there; it follows from the node's number of rows (`tree/isolation.py`).
"""

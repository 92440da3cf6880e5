"""The loops that turn data sets into models.

Enters: a `Dataset` or its `BinnedData`, parameters; for a forest its target.
Leaves: a `Model`, a `ForestModel` or an `AdaBoostModel`.
Does not depend on scikit-learn, files or the command line.
"""

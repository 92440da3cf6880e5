"""scikit-learn's faces of forests and single trees.

Enters: tables, targets of one output or several, constructor parameters. Leaves: fitted estimators that hold a `ForestModel`.
Must not know: how trees grow, how bags are drawn. An estimator checks, translates and calls `training`.

`kinds.py` names the estimators, `base.py` is what they share, `ensemble.py` what only forests have, `tree.py` what only single
trees have, `classifier.py` and `regressor.py` what their targets mean, `parameters.py` which parameters each has, `weights.py`
factors of classes, `growing.py` growing all trees or some more, `trees.py` views of single trees, `pruning.py` the path of
cost-complexity pruning, `files.py` what a file knows beside the model.
"""

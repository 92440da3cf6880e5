"""scikit-learn's faces of the engine.

Enters: tables, targets and constructor parameters as scikit-learn hands them over. Leaves: fitted estimators that hold a
`Model`, `ForestModel` or `AdaBoostModel`, and predictions in the user's own labels.
Must not know: how trees grow, what a bin is. An estimator checks, translates and calls `training`.

`gbm.py` names the estimators, `base.py` is what they share, `row_by_row.py` how those of rows without queries are fitted,
`parameters.py` which parameters each has, `names.py` what is said about other names, `generated.py` the constructors, which
`constructors.py` writes, `documents.py` the docstrings, `samples.py` rows on their way into a data set, `evaluation.py` the
forms of `eval_set`, `own_functions.py` metrics that are functions, `holdout.py` drawing validation rows or queries, `labels.py`
classes, `objectives.py` which losses belong to which, `staged.py` predictions round by round, `continuing.py` what a fit goes
on from, `files.py` estimators in files, `written.py` what stands in them.
`forests/` has random forests, extra trees and single trees, `adaboost/` boosting by weights; `families.py` lists them all.
"""

"""scikit-learn's faces of the engine.

Enters: tables, targets and constructor parameters as scikit-learn hands them over. Leaves: fitted estimators that hold a
`Model`, `ForestModel` or `AdaBoostModel`, and predictions in the user's own labels.
Must not know: how trees grow, what a bin is. An estimator checks, translates and calls `training`.

`gbm.py` names the estimators. `base.py` has what every estimator does with parameters and names, `boosting.py` what those of
boosting share, `classifier.py`, `regressor.py` and `ranker.py` what each adds. `fit_inputs.py` has rows on their way into a data
set and the forms of `eval_set`, `continuation.py` what a fit goes on from, `custom.py` losses and metrics that are functions.
`parameters.py` lists the parameters of each, `generated.py` has the constructors, which `constructors.py` writes, `documents.py`
the docstrings. `files.py` saves and loads estimators, `written.py` has what stands in their files.
`forests/` has random forests, extra trees and single trees, `adaboost/` boosting by weights; `families.py` lists them all.
"""

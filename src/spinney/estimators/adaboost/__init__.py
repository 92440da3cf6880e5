"""scikit-learn's faces of AdaBoost.

Enters: tables, a target of one output, constructor parameters. Leaves: fitted estimators that hold an `AdaBoostModel`, or the
fitted copies of an estimator that was given.
Must not know: how trees grow, how rows are drawn. An estimator checks, translates and calls `training`.

`kinds.py` names the estimators, `base.py` is what they share, `classifier.py` and `regressor.py` what their targets mean,
`parameters.py` which parameters each has, `copies.py` boosts estimators that are not our trees, `committee.py` is what comes of
it, `files.py` what a file knows beside the model.
"""

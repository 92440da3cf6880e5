"""scikit-learn's interface to the engine.

Inputs: tables, targets and constructor parameters as scikit-learn has them. Outputs: fitted estimators that hold a `Model`,
`ForestModel`, `AdaBoostModel` or `IsolationModel`, and predictions in the user's own labels.
Must not depend on: how trees grow, how rows are drawn, what a bin is. An estimator checks, translates and calls `training`.

`base.py` has what every estimator does with parameters, names and columns. Boosting: `classifier.py`, `regressor.py` and
`ranker.py` on `boosting.py`, with `evaluation.py` (validation data), `fit_inputs.py` (checks and hold-out before columns are
binned), `continuation.py` (what a fit goes on from) and `custom.py` (losses and metrics that are functions). Forests:
`forests.py` on `forest_targets.py`, `forest_ensemble.py`, `forest_base.py` and `forest_trees.py`. `adaboost.py`, with
`adaboost_copies.py` for estimators that are not our trees, and `isolation.py` are a family each.
`parameters.py` lists the parameters of each, of which `constructors.py` writes `generated.py` and the docstrings. `files.py`
saves and loads estimators, with the values of `json_values.py`.
"""

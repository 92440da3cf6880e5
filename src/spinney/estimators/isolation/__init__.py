"""scikit-learn's face of the isolation forest.

Enters: tables, constructor parameters. Leaves: a fitted `IsolationForest` that holds an `IsolationModel`, and scores.
Must not know: how trees grow. `forest.py` is the estimator, `parameters.py` which parameters it has, `files.py` what a file knows
beside the model.
"""

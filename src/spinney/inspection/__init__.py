"""How good a finished model is, what it owes its quality to, and what else its trees show.

Enters: models, estimators, tables, targets, predictions. Leaves: importances of columns, intervals of metrics, bias and variance;
of forests out-of-bag predictions and scores, strength and correlation, uncertainty, quantiles and proximities. No result depends
on threads. Must not depend on: how trees grow, how a metric is computed, the estimators.

`permutation.py` has the importance of shuffled columns, `bootstrap.py` intervals, `bias_variance.py` bias and variance. A
`ScoredModel` (`scored_model.py`) is a model or estimator with a table; its values are predictions of a `PredictionKind`, of which
`scoring.py` computes metrics; `scorers.py` calls scikit-learn's scorers. `shuffled_scores.py` and its kernel walk only those rows
again whose path splits by a shuffled column. Of forests alone: `out_of_bag.py`, `strength.py`, `uncertainty.py`,
`leaf_neighbours.py`, on what `forest_leaves.py` reads: a few trees at a time, always in their order.
"""

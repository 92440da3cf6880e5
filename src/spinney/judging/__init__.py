"""How good a model is, and what it owes its quality to.

Enters: models, estimators, tables, targets, predictions. Leaves: importances of columns, intervals of metrics, bias and variance.
Must not know: how trees grow, how a metric is computed.

`permutation.py` has the importance of shuffled columns, `intervals.py` the bootstrap, `decomposition.py` bias and variance.
`subjects.py` says what can be judged and what its values mean, `scales.py` how a metric judges such values, `walks.py` and
`kernels/` walk only those rows again that a shuffled column can move, `replacing.py` writes shuffled columns into a table of any
kind, `columns.py` reads which columns are meant, `predictions.py` what predictions without a model mean, `arguments.py` plain
numbers.
"""

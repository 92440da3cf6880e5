"""The loops that turn data sets into models.

Enters: a `Dataset` or its `BinnedData`, parameters; for a forest its target.
Leaves: a `Model`, a `ForestModel`, an `AdaBoostModel` or an `IsolationModel`.
Does not depend on scikit-learn, files or the command line.

`train`, `cv`, "auto", several members, continuing a model and the ranks of a cluster have one driver (`driver`). `round_plan` and
`holdout` decide the number of rounds and the rows to hold out, `booster` trains round by round, `global_steps` has the steps
that need the rows of all ranks, `growers` the grower of each `tree_method`. `callbacks`, `evaluation`, `checkpoint` and
`continuation` are what their names are; `splitting` and `cross_validation` are for folds; `forest`, `adaboost` and `isolation`
train the other models.

Words: a *member* is a model of a mean of several, each with a seed of its own; a *hold-out* is the rows that a training keeps
back for validation; *row groups* are rows that are held out together.
"""
